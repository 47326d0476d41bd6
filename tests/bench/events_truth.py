"""What is known to be true of a mailbox with planted events, and the clock of its owner.

`events_maker` fills these values; `digest_quality` compares digests, summaries and topics with them. A day is always
one of the owner, who lives in Berlin; the UTC day is there where the two may differ.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Literal, NamedTuple

OWNER_ZONE = "Europe/Berlin"
Place = Literal["first", "middle", "last", "any"]
MailRole = Literal[
    "talk", "event", "topic", "decoy", "open", "answered", "others", "answer", "dates", "past", "newcomer", "machine"
]


class PlantedEvent(NamedTuple):
    """One sentence in one message that a digest should name."""

    kind: str
    language: str
    message_id: str  # with its angle brackets
    thread: int
    time: str  # UTC, with Z
    day_utc: date
    day: date
    week: str  # of the day, as ISO has it: 2026-W46
    sentence: str
    words: tuple[str, ...]  # those by which it can be recognised, in the first 160 characters
    place: Place  # of the sentence among those of the message


class PlantedTopic(NamedTuple):
    """A name that many people write about, in many threads and on many days."""

    name: str
    kind: str  # name, ticket, path, url, identifier
    message_ids: tuple[str, ...]


class DecoyName(NamedTuple):
    """A word that is no topic, and why."""

    name: str
    why: str


class PlantedQuestion(NamedTuple):
    """A question to the owner that stayed without an answer, or one that only looks so."""

    message_id: str
    day: date
    week: str
    sentence: str
    words: tuple[str, ...]
    is_answered: bool  # by the owner, on the same day
    is_to_owner: bool  # and not to somebody else with a copy for the owner

    @property
    def is_open(self) -> bool:
        """Whether the owner still owes an answer."""
        return self.is_to_owner and not self.is_answered


class PlantedDate(NamedTuple):
    """A date that a message names, ahead of it or before it."""

    message_id: str
    day: date  # of the message
    sentence: str
    words: tuple[str, ...]
    named: date

    @property
    def is_ahead(self) -> bool:
        """Whether the date is after the message."""
        return self.named > self.day


class NewPerson(NamedTuple):
    """Somebody whose first message comes long after the mailbox begins."""

    name: str
    address: str
    message_id: str
    day: date


class EventsMessage(NamedTuple):
    """What is true of one message."""

    message_id: str
    thread: int  # -1 for machines
    author: str  # address
    person: int | None  # None for machines
    time: str  # UTC, with Z
    day: date
    title: str
    own: tuple[str, ...]  # the lines its author wrote, without empty ones
    plain: str  # with signature and quotes
    role: MailRole


class EventsTruth(NamedTuple):
    """What is true of a mailbox with planted events."""

    owner: tuple[str, ...]  # addresses
    owner_name: str
    start: date
    end: date  # the last day that has mail
    regulars: tuple[str, ...]  # full names of those who write from the first month on
    events: tuple[PlantedEvent, ...]  # in order of time, as all below
    topics: tuple[PlantedTopic, ...]
    decoys: tuple[DecoyName, ...]
    questions: tuple[PlantedQuestion, ...]
    dates: tuple[PlantedDate, ...]
    newcomers: tuple[NewPerson, ...]
    messages: tuple[EventsMessage, ...]


def berlin_offset(when: datetime) -> timedelta:
    """Return how far Berlin is ahead of UTC. Windows has no zone database, so the rule stands here."""
    moment = when.astimezone(UTC)
    begin, end = (
        datetime.combine(_last_sunday(moment.year, month), datetime.min.time(), UTC) + timedelta(hours=1)
        for month in (3, 10)
    )
    return timedelta(hours=2 if begin <= moment < end else 1)


def _last_sunday(year: int, month: int) -> date:
    last = date(year, month, 31)  # March and October have 31 days
    return last - timedelta(days=last.isoweekday() % 7)


def berlin_time(when: datetime) -> datetime:
    """Return a time on the owner's clock."""
    return when.astimezone(timezone(berlin_offset(when)))


def from_berlin(day: date, minutes: int) -> datetime:
    """Return the UTC time of so many minutes after midnight on the owner's clock, outside of the hour that changes."""
    local = datetime.combine(day, datetime.min.time(), UTC) + timedelta(minutes=minutes)
    return local - berlin_offset(local - timedelta(hours=1))


def iso_week(day: date) -> str:
    """Return the ISO week of a day, such as 2026-W46."""
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"
