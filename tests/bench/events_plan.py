"""Which mails the mailbox of `events_maker` has: who writes when, in which thread, and what is planted in it.

First everything that is planted gets its days, then ordinary mails fill the days up, then machines. Nothing is worded
here, except for the planted sentences.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from tests.bench.events_text import (
    LANGUAGES,
    MOSTLY_ONE,
    ONE_AUTHOR,
    ONE_DAY,
    PLANTED,
    TOPICS,
    PlantedText,
    TopicText,
)
from tests.bench.events_truth import MailRole, Place, berlin_time, from_berlin
from tests.bench.mailbox_text import MailPerson, Quotable, make_people

REGULARS, NEWCOMERS = 26, 12
MIN_ORDINARY, MAX_ORDINARY = 3, 15  # mails of people on a day that has an event, without the events
_PLACES: tuple[Place, ...] = ("first", "middle", "last")
_TOPIC_THREADS = (4, 3, 3, 3, 3)  # messages
_TOPIC_DAYS = 56  # from the first day of a topic to its last thread: with the replies less than 60
_MAX_DAY = 25  # ordinary mails on a day without an event
_FOREIGN = LANGUAGES[1:]
_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
}
_AuthorDraw = Callable[[int], list[MailPerson]]  # of a thread of so many messages


@dataclass
class PlannedThread:
    """A conversation: what is known of it before, and what grows while it is written."""

    number: int
    title: str  # "" for any
    members: list[MailPerson]
    language: str = "en"
    ids: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # sentences, so that none is there twice
    last: Quotable | None = None


class PlantedSentence(NamedTuple):
    """A sentence that a mail must have, and where; one without a text is made of a topic."""

    text: str
    place: Place = "any"
    topic: TopicText | None = None


@dataclass
class PlannedMail:
    """A mail of a person that is to be written."""

    when: datetime
    thread: PlannedThread
    author: MailPerson
    role: MailRole = "talk"
    sentences: tuple[PlantedSentence, ...] = ()
    has_questions: bool = True  # whether its ordinary sentences may ask something
    text: PlantedText | None = None  # what its role is about
    topic: str = ""
    copies: tuple[MailPerson, ...] = ()  # who only gets a copy


class MailboxPlan:
    """All that is planned for a mailbox."""

    def __init__(self, rng: random.Random, *, end: date, months: int) -> None:
        self.rng = rng
        self.end, self.start = end, end - timedelta(days=round(months * 30.44))
        people = make_people(rng, 1 + REGULARS + NEWCOMERS)
        self.owner, self.regulars, self.newcomers = people[0], people[1 : 1 + REGULARS], people[1 + REGULARS :]
        self.mails: list[PlannedMail] = []
        self.machines: list[datetime] = []
        self.load: Counter[date] = Counter()  # ordinary mails of people by day
        self.event_days: Counter[date] = Counter()
        self.threads = 0

    def days(self) -> list[date]:
        """Return every day of the mailbox."""
        return [self.start + timedelta(days=number) for number in range((self.end - self.start).days + 1)]

    def plant_events(self, count: int) -> None:
        """Plant so many events, each in a thread of its own, on days of which some have two."""
        texts = self._draw_events(count)
        days = self._draw_event_days(count)
        self.event_days.update(days)
        mondays = [number for number, day in enumerate(days) if day.weekday() == 0]
        late = self.rng.sample(mondays, min(2, len(mondays), count // 10))  # in UTC these are in the week before
        others = [number for number in range(count) if number not in mondays]
        late += self.rng.sample(others, min(len(others), count // 10 - len(late)))
        for number, (text, day) in enumerate(zip(texts, days, strict=True)):
            minutes = self.rng.randint(10, 50) if number in late else self.rng.randint(8 * 60, 18 * 60)
            self._plant_event(text, from_berlin(day, minutes), _PLACES[number % 3])

    def _draw_events(self, count: int) -> list[PlantedText]:
        foreign = [text for text in PLANTED["events"] if text.language != "en"]
        english = [text for text in PLANTED["events"] if text.language == "en"]
        few = round(count / 10)
        chosen = [text for language in _FOREIGN for text in foreign if text.language == language]
        turn = [chosen[number % 3 * 3 + number // 3] for number in range(min(few, len(chosen)))]  # of each language
        if count - len(turn) > len(english):
            raise ValueError(f"at most {len(english) + len(chosen)} events are written, not {count}")
        texts = [*turn, *self.rng.sample(english, count - len(turn))]
        self.rng.shuffle(texts)
        return texts

    def _draw_event_days(self, count: int) -> list[date]:
        days = [day for day in self.days()[12:] if day != self.end]
        working = [day for day in days if day.weekday() < 5]
        weekend = [day for day in days if day.weekday() >= 5]
        twice, resting = count // 8, min(3, count // 20)
        chosen = self.rng.sample(working, count - twice - resting)
        doubles = self.rng.sample(chosen, twice)
        return sorted([*chosen, *doubles, *self.rng.sample(weekend, resting)])

    def _plant_event(self, text: PlantedText, when: datetime, place: Place) -> None:
        author = self.rng.choice(self.regulars)
        thread = self.open_thread([self.owner, author], self.rng.choice((0, 1, 1, 2, 3)), text.title, text.language)
        if text.kind == "answer":
            asked = when - timedelta(minutes=self.rng.randint(20, 300))
            self.add(
                PlannedMail(asked, thread, self.owner, sentences=(PlantedSentence(text.other),), has_questions=False)
            )
        else:
            self._add_talk(thread, when, self.rng.choice((0, 0, 1, 1, 2)), -1, author)
        sentence = say_date(text, when)
        planted = (PlantedSentence(sentence, place),)
        self.add(
            PlannedMail(when, thread, author, role="event", sentences=planted, text=text._replace(sentence=sentence))
        )
        self._add_talk(thread, when, self.rng.choice((0, 0, 1, 1, 2)), 1, author)

    def _add_talk(self, thread: PlannedThread, when: datetime, count: int, direction: int, author: MailPerson) -> None:
        """Add ordinary mails to a thread, in the hours before or after another mail of it."""
        for _ in range(count):
            when = self._awake(when + direction * timedelta(minutes=self.rng.randint(15, 900)), direction)
            others = [member for member in thread.members if member is not author]
            author = self.rng.choice(others)
            if self._has_room(berlin_time(when).date()):
                self.add(PlannedMail(when, thread, author))

    def _awake(self, when: datetime, direction: int) -> datetime:
        """Return a time, moved to an hour in which people write where it is at night."""
        local = berlin_time(when)
        if 7 <= local.hour < 21:
            return when
        hours = {-1: (local.hour - 19) % 24 or 1, 1: (9 - local.hour) % 24 or 1}[direction]
        return when + direction * timedelta(hours=hours)

    def _has_room(self, day: date) -> bool:
        limit = MAX_ORDINARY if self.event_days[day] else _MAX_DAY
        return self.start <= day <= self.end and self.load[day] < limit

    def plant_topics(self, count: int) -> None:
        """Plant the first so many topics in the last weeks, each in five threads of several people."""
        for topic in TOPICS[:count]:
            last = self.end - timedelta(days=self.rng.randint(4, 18))
            self._plant_name(topic, last, self._draw_authors, "topic")

    def _plant_name(self, topic: TopicText, last: date, draw: _AuthorDraw, role: MailRole) -> None:
        days = [last - timedelta(days=number) for number in range(_TOPIC_DAYS)]
        working = [day for day in days if day.weekday() < 4 and self.load[day] < MAX_ORDINARY - 3]
        drawn = sorted(self.rng.sample(working, len(_TOPIC_THREADS)))
        for number, (size, day) in enumerate(zip(_TOPIC_THREADS, drawn, strict=True)):
            authors = draw(size)
            unique = {author.number: author for author in [self.owner, *authors]}
            title = topic.name if number < 2 and topic.kind in {"name", "ticket"} and role == "topic" else ""
            thread = self.open_thread([*unique.values()], 0 if len(unique) > 2 else 1, title)
            when = from_berlin(day, self.rng.randint(8 * 60, 14 * 60))
            for author in authors:
                while not self._has_room(berlin_time(when).date()):
                    when += timedelta(hours=19)
                when = self._awake(when, 1)
                sentences = tuple(PlantedSentence("", "any", topic) for _ in range(self.rng.choice((1, 1, 2))))
                self.add(PlannedMail(when, thread, author, role=role, sentences=sentences, topic=topic.name))
                when = self._awake(when + timedelta(minutes=self.rng.randint(20, 600)), 1)

    def _draw_authors(self, size: int) -> list[MailPerson]:
        """Return who writes in a thread, different people; the owner in some."""
        authors = self.rng.sample(self.regulars, size)
        if self.rng.random() < 0.5:
            authors[1] = self.owner
        return authors

    def plant_decoys(self) -> None:
        """Plant names that are no topics: of one author, of mostly one, and of one thread on one day."""
        lone, most, *few = self.rng.sample(self.regulars, 5)
        last = self.end - timedelta(days=12)
        work = {name: TopicText(name, "name", "work") for name in (ONE_AUTHOR, MOSTLY_ONE, ONE_DAY)}
        self._plant_name(work[ONE_AUTHOR], last, lambda size: [lone] * size, "decoy")
        self._plant_name(
            work[MOSTLY_ONE], last, lambda size: [most, self.rng.choice(few), *[most] * (size - 2)], "decoy"
        )
        free = [day for day in self.days()[-60:-10] if day.weekday() < 5 and not self.event_days[day]]
        day = min(free, key=lambda one: (self.load[one], one))
        members = self.rng.sample(self.regulars, 5)
        thread = self.open_thread([self.owner, *members], 0)
        for number in range(14):
            when = from_berlin(day, 9 * 60 + number * 35 + self.rng.randint(0, 20))
            sentences = (PlantedSentence("", "any", work[ONE_DAY]),)
            self.add(PlannedMail(when, thread, members[number % 5], role="decoy", sentences=sentences, topic=ONE_DAY))

    def plant_questions(self) -> None:
        """Plant questions to the owner with and without an answer, and questions to others."""
        for text, day in self._give_days("open"):
            author = self.rng.choice(self.regulars)
            self._ask(text, day, author, [self.owner], "open")
        for text, day in self._give_days("answered"):
            author = self.rng.choice(self.regulars)
            thread = self._ask(text, day, author, [self.owner], "answered")
            when = from_berlin(day, self.rng.randint(14 * 60, 18 * 60))
            answer = (PlantedSentence(text.other, "first"),)
            self.add(PlannedMail(when, thread, self.owner, role="answer", sentences=answer, has_questions=False))
        for text, day in self._give_days("others"):
            author, target = self.rng.sample(self.regulars, 2)
            asked = text._replace(sentence=text.sentence.replace("{first}", target.first))
            self._ask(asked, day, author, [target], "others", copies=(self.owner,))

    def _ask(
        self,
        text: PlantedText,
        day: date,
        author: MailPerson,
        to: list[MailPerson],
        role: MailRole,
        copies: tuple[MailPerson, ...] = (),
    ) -> PlannedThread:
        thread = self.open_thread([author, *to], 0)
        when = from_berlin(day, self.rng.randint(8 * 60, 12 * 60))
        sentences = (PlantedSentence(text.sentence, self.rng.choice(_PLACES)),)
        self.add(
            PlannedMail(
                when, thread, author, role=role, sentences=sentences, text=text, has_questions=False, copies=copies
            )
        )
        return thread

    def plant_dates(self) -> None:
        """Plant dates that are ahead of their mail, and some that are past."""
        roles: tuple[MailRole, ...] = ("dates", "past")
        for role in roles:
            for text, day in self._give_days(role):
                author = self.rng.choice(self.regulars)
                thread = self.open_thread([self.owner, author], 2)
                when = from_berlin(day, self.rng.randint(8 * 60, 18 * 60))
                said = text._replace(sentence=say_date(text, when))
                sentences = (PlantedSentence(said.sentence, self.rng.choice(_PLACES)),)
                self.add(
                    PlannedMail(when, thread, author, role=role, sentences=sentences, text=said, has_questions=False)
                )

    def _give_days(self, part: str) -> list[tuple[PlantedText, date]]:
        days = [day for day in self.days()[10:] if day.weekday() < 5 and self.load[day] < MAX_ORDINARY - 2]
        texts = PLANTED[part]
        return [*zip(texts, self.rng.sample(days, len(texts)), strict=True)]

    def plant_newcomers(self) -> None:
        """Let people write for the first time, long after the others."""
        days = [day for day in self.days()[45:-2] if day.weekday() < 5 and self.load[day] < MAX_ORDINARY - 2]
        for person, day in zip(self.newcomers, self.rng.sample(days, len(self.newcomers)), strict=True):
            thread = self.open_thread([self.owner, person], 1)
            when = from_berlin(day, self.rng.randint(8 * 60, 17 * 60))
            self.add(PlannedMail(when, thread, person, role="newcomer", has_questions=False))
            self._add_talk(thread, when, self.rng.randint(0, 3), 1, person)

    def plan_machines(self) -> None:
        """Add several mails of machines on each day that has an event, and some on the others."""
        for day in self.days():
            count = self.rng.randint(3, 7) if self.event_days[day] else self.rng.randint(0, 3)
            self.machines += [from_berlin(day, self.rng.randint(4 * 60, 1_430)) for _ in range(count)]

    def fill(self, *, messages: int, threads: int) -> None:
        """Add ordinary mails until there are so many messages, in so many threads."""
        wanted = messages - len(self.mails) - len(self.machines)
        slots: list[date] = []
        for day in sorted(self.event_days):
            slots += [day] * max(0, self.rng.randint(MIN_ORDINARY, MAX_ORDINARY) - self.load[day])
        self.rng.shuffle(slots)
        least = sum(max(0, MIN_ORDINARY - self.load[day]) for day in self.event_days)
        if wanted < max(least, REGULARS):
            raise ValueError(f"{messages} messages are too few for what is planted: {messages - wanted + least} are")
        slots = self._keep_least(slots)[:wanted]
        others = [day for day in self.days() if not self.event_days[day]]
        weights = [1.0 if day.weekday() < 5 else 0.12 for day in others]
        slots += self.rng.choices(others, weights, k=wanted - len(slots))
        self._fill_threads(sorted(slots), threads)

    def _keep_least(self, slots: Sequence[date]) -> list[date]:
        """Return slots with those first without which a day would have too few mails."""
        needed = Counter({day: max(0, MIN_ORDINARY - self.load[day]) for day in self.event_days})
        first: list[date] = []
        later: list[date] = []
        for day in slots:
            (first if needed[day] > 0 else later).append(day)
            needed[day] -= 1
        return [*first, *later]

    def _fill_threads(self, slots: Sequence[date], threads: int) -> None:
        """Write on each of the days, in a thread that goes on or in a new one; everybody begins one early."""
        moments = sorted(from_berlin(day, self.rng.randint(7 * 60, 20 * 60)) for day in slots)
        going: list[tuple[datetime, PlannedThread, MailPerson]] = []
        opened = 0
        for number, when in enumerate(moments):
            going = [one for one in going if when - one[0] < timedelta(days=6)]
            chance = (threads - opened) / (len(moments) - number)
            if not going or opened < REGULARS or self.rng.random() < chance:
                first = self.regulars[opened % REGULARS]
                language = self.rng.choice(_FOREIGN) if self.rng.random() < 0.1 else LANGUAGES[0]
                thread = self.open_thread([self.owner, first], self.rng.choice((0, 1, 1, 2, 3)), "", language)
                author = first
                opened += 1
            else:
                at = self.rng.randrange(len(going))
                _, thread, before = going.pop(at)
                author = self.rng.choice([member for member in thread.members if member is not before])
            self.add(PlannedMail(when, thread, author))
            going.append((when, thread, author))

    def open_thread(self, members: list[MailPerson], more: int, title: str = "", language: str = "en") -> PlannedThread:
        """Return a new thread of some people and so many more."""
        rest = [person for person in self.regulars if person not in members]
        self.threads += 1
        return PlannedThread(self.threads - 1, title, [*members, *self.rng.sample(rest, more)], language)

    def add(self, mail: PlannedMail) -> None:
        """Add a mail, at a second of its minute."""
        mail.when += timedelta(seconds=self.rng.randrange(60))
        self.mails.append(mail)
        if mail.role != "event":
            self.load[berlin_time(mail.when).date()] += 1


def say_date(text: PlantedText, when: datetime) -> str:
    """Return the sentence of a planted text with the date that it names, in one of four ways of writing dates."""
    day = named_date(text, when)
    month = _MONTHS[text.language if text.language in _MONTHS else "en"].split()[day.month - 1]
    ways = (f"{day.day} {month}", f"{month} {day.day}", f"{day:%A}, {day.day} {month}", str(day))
    if text.language == "de":
        ways = (f"{day.day}. {month}",) * 4
    return text.sentence.replace("{date}", ways[len(text.sentence) % 4])


def named_date(text: PlantedText, when: datetime) -> date:
    """Return the day that a planted text names, if it has a {date}."""
    return berlin_time(when).date() + timedelta(days=text.days)
