"""What digests and topics say of a mailbox with planted events, against its truth."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from tests.bench.digest_commands import BookCommands, DigestAnswer, NodeHit, Period, TopicAnswer, read_section
from tests.bench.events_truth import EventsMessage, EventsTruth, PlantedDate, PlantedTopic

SPAN = 300  # characters in which the telling words of an event must stand
DAY_LIMIT, WEEK_LIMIT = 1_500, 4_000  # characters of a digest
_RUN = 6  # words by which a line is known to quote a message
_LEARNED_AFTER = timedelta(days=45)  # by then every regular has written


class ProofRow(NamedTuple):
    """One figure of the proof."""

    name: str
    found: str
    wanted: str
    is_met: bool | None  # None: it has no verdict
    misses: tuple[str, ...] = ()

    @classmethod
    def failed(cls, name: str, error: BaseException) -> ProofRow:
        """Return the row of a part that broke."""
        return cls(name, f"not measured: {type(error).__name__}: {str(error)[:200]}", "", is_met=False)

    def line(self) -> str:
        """Return the line of the table."""
        verdict = {True: "met", False: "MISSED", None: "-"}[self.is_met]
        return f"{self.name:<62} {self.found:<26} {self.wanted:<18} {verdict}"

    def as_dict(self) -> dict[str, object]:
        """Return the row for JSON."""
        return self._asdict()


class EventsBook:
    """A book with the mailbox, its truth, and the digests that were asked for."""

    def __init__(self, commands: BookCommands, truth: EventsTruth) -> None:
        self.commands, self.truth = commands, truth
        self._digests: dict[tuple[Period, date], DigestAnswer] = {}

    @cached_property
    def by_source(self) -> dict[str, EventsMessage]:
        """The messages by what a hit calls its source."""
        return {f"mail:{message.message_id}": message for message in self.truth.messages}

    @cached_property
    def quoted(self) -> QuotedText:
        """What every message says, to tell from which day a line is."""
        return QuotedText(self.truth.messages)

    def digest(self, period: Period, day: date) -> DigestAnswer:
        """Return the digest of the period that a day is in; asked once."""
        start = day if period == "day" else day - timedelta(days=day.weekday())
        if (period, start) not in self._digests:
            self._digests[period, start] = self.commands.digest(period, day)
        return self._digests[period, start]

    def asked(self, period: Period) -> list[tuple[set[date], DigestAnswer]]:
        """Return the digests of a kind that were asked for, each with the days that it is about."""
        length = 1 if period == "day" else 7
        return [
            ({start + timedelta(days=number) for number in range(length)}, digest)
            for (kind, start), digest in self._digests.items()
            if kind == period
        ]


class QuotedText:
    """The runs of six words in all messages, by the day on which they were written."""

    def __init__(self, messages: Iterable[EventsMessage]) -> None:
        self._messages: defaultdict[date, list[EventsMessage]] = defaultdict(list)
        self._own: set[str] = set()
        self._machines: set[str] = set()
        for message in messages:
            self._messages[message.day].append(message)
            known = self._machines if message.role == "machine" else self._own
            known.update(_runs(" ".join(message.own)))

    def find_others(self, text: str, days: set[date]) -> list[str]:
        """Return the lines that quote messages of people, but none of these days."""
        near = self._collect_runs([one for day in days for one in self._messages[day]])
        return [line for line, runs in _lines(text) if runs & self._own and not runs & near]

    def find_machines(self, text: str, days: set[date]) -> list[str]:
        """Return the lines that quote machines, and nobody of these days."""
        people = [one for day in days for one in self._messages[day] if one.role != "machine"]
        near = self._collect_runs(people)
        return [line for line, runs in _lines(text) if runs & self._machines and not runs & near]

    def _collect_runs(self, messages: Iterable[EventsMessage]) -> set[str]:
        return {run for one in messages for run in (*_runs(one.title), *_runs(one.plain))}


def _lines(text: str) -> Iterator[tuple[str, set[str]]]:
    for line in text.splitlines():
        yield line, set(_runs(line))


def _runs(text: str) -> Iterator[str]:
    words = re.findall(r"\w+", text.casefold())
    for start in range(len(words) - _RUN + 1):
        yield " ".join(words[start : start + _RUN])


def is_named(text: str, words: Sequence[str]) -> bool:
    """Return whether all telling words stand near each other in a text."""
    plain = " ".join(text.casefold().split())
    first, *others = [word.casefold() for word in words]
    for found in re.finditer(re.escape(first), plain):
        near = plain[max(0, found.start() - SPAN) : found.end() + SPAN]
        if all(word in near for word in others):
            return True
    return False


def measure_digests(book: EventsBook) -> Iterator[ProofRow]:
    """Yield what the digests of days and weeks name, and whether they keep to their time."""
    truth = book.truth
    periods: tuple[tuple[Period, int], ...] = (("day", 54), ("week", 50))
    for period, wanted in periods:
        missed = [event for event in truth.events if not is_named(book.digest(period, event.day).text, event.words)]
        misses = tuple(f"{event.day} {event.kind} {event.place}: {event.sentence}" for event in missed)
        name = f"events that the digest of their {period} names"
        found = len(truth.events) - len(missed)
        yield ProofRow(
            name,
            f"{found} of {len(truth.events)}",
            f">= {wanted} of 60",
            found * 60 >= wanted * len(truth.events),
            misses,
        )
    yield from _measure_questions(book)
    yield from _measure_dates(book)
    yield from _measure_people(book)
    yield from _measure_windows(book)


def _measure_windows(book: EventsBook) -> Iterator[ProofRow]:
    """Yield what a digest has that it should not have: other days, bulk mail, too much, or anything on an empty day."""
    lines, hits, machines, long = [], [], [], []
    limits: tuple[tuple[Period, int], ...] = (("day", DAY_LIMIT), ("week", WEEK_LIMIT))
    for period, limit in limits:
        for days, digest in book.asked(period):
            name = f"{period} of {min(days)}"
            lines += [f"{name}: {line}" for line in book.quoted.find_others(digest.text, days)]
            machines += [f"{name}: {line}" for line in book.quoted.find_machines(digest.text, days)]
            hits += [f"{name}: {ref}" for ref in _hits_outside(book, digest.hits, days)]
            long += [f"{name}: {len(digest.text)} characters"] * (len(digest.text) > limit)
    empty = book.commands.digest("day", book.truth.start - timedelta(days=40))
    asked = len(book.asked("day")) + len(book.asked("week"))
    yield ProofRow(f"lines outside their window, in {asked} digests", str(len(lines)), "0", not lines, tuple(lines))
    yield ProofRow("hits outside their window", str(len(hits)), "0", not hits, tuple(hits))
    yield ProofRow("lines that quote bulk mail", str(len(machines)), "0", not machines, tuple(machines))
    yield ProofRow(
        f"digests over {DAY_LIMIT:,} and {WEEK_LIMIT:,} characters", str(len(long)), "0", not long, tuple(long)
    )
    yield ProofRow("hits of an empty day", str(len(empty.hits)), "0", not empty.hits)
    window = book.commands.query_global(7)
    last = {datetime.now().astimezone().date() - timedelta(days=number) for number in range(9)}
    outside = _hits_outside(book, window.hits, last)
    yield ProofRow("query-global of 7 days, hits outside", str(len(outside)), "0", not outside, tuple(outside))


def _hits_outside(book: EventsBook, hits: Sequence[NodeHit], days: set[date]) -> list[str]:
    """Return the units of hits that are from no message of some days. A leaf may begin before them."""
    outside = []
    for hit in hits:
        known = [book.by_source[source] for source in hit.sources if source in book.by_source]
        if known and not any(message.day in days for message in known):
            outside.append(f"{hit.ref} {known[0].day}")
    return outside


def _measure_questions(book: EventsBook) -> Iterator[ProofRow]:
    asked = [(one, read_section(book.digest("day", one.day).text, "questions")) for one in book.truth.questions]
    listed = {question.message_id for question, text in asked if is_named(text, question.words)}
    wanted = [question for question, _ in asked if question.is_open]
    missed = tuple(f"{one.day}: {one.sentence}" for one in wanted if one.message_id not in listed)
    wrong = tuple(f"{one.day}: {one.sentence}" for one, _ in asked if not one.is_open and one.message_id in listed)
    found = f"{len(wanted) - len(missed)} of {len(wanted)}"
    yield ProofRow("open questions that their day lists", found, ">= 14 of 16", len(missed) <= 2, missed)
    yield ProofRow("answered questions, or of others, that are listed", f"{len(wrong)} of 18", "0", not wrong, wrong)


def _measure_dates(book: EventsBook) -> Iterator[ProofRow]:
    listed: dict[bool, list[PlantedDate]] = {True: [], False: []}
    for planted in book.truth.dates:
        text = read_section(book.digest("day", planted.day).text, "dates")
        if is_named(text, planted.words) or (planted.is_ahead and _has_date(text, planted.named)):
            listed[planted.is_ahead].append(planted)
    wanted = [planted for planted in book.truth.dates if planted.is_ahead]
    missed = tuple(f"{one.day}: {one.sentence}" for one in wanted if one not in listed[True])
    wrong = tuple(f"{one.day}: {one.sentence}" for one in listed[False])
    found = f"{len(listed[True])} of {len(wanted)}"
    yield ProofRow("dates ahead that their day lists", found, ">= 12 of 14", len(missed) <= 2, missed)
    yield ProofRow("past dates that are listed as ahead", f"{len(wrong)} of 6", "0", not wrong, wrong)


def _has_date(text: str, day: date) -> bool:
    forms = (str(day), f"{day.day} {day:%B}", f"{day:%B} {day.day}", f"{day.day} {day:%b}", f"{day:%b} {day.day}")
    return any(re.search(rf"(?<!\d){re.escape(form)}(?!\d)", text) for form in forms)


def _measure_people(book: EventsBook) -> Iterator[ProofRow]:
    truth = book.truth
    missed = []
    for person in truth.newcomers:
        text = read_section(book.digest("day", person.day).text, "people")
        if not (is_named(text, person.name.split()) or person.address in text):
            missed.append(f"{person.day}: {person.name}")
    wrong = []
    for days, digest in book.asked("day"):
        if min(days) > truth.start + _LEARNED_AFTER:
            text = read_section(digest.text, "people")
            new = {person.name for person in truth.newcomers if person.day in days}
            others = {*truth.regulars, truth.owner_name, *(person.name for person in truth.newcomers)} - new
            wrong += [f"{min(days)}: {name}" for name in sorted(others) if is_named(text, [name])]
    count = len(truth.newcomers)
    found = f"{count - len(missed)} of {count}"
    yield ProofRow("new people that their day lists", found, ">= 11 of 12", len(missed) <= 1, tuple(missed))
    yield ProofRow("known people that are listed as new", str(len(wrong)), "0", not wrong, tuple(wrong))


def measure_topics(book: EventsBook) -> Iterator[ProofRow]:
    """Yield how many of the planted topics are listed, and how many that are none. People are not judged."""
    listed = book.commands.topics()
    planted, decoys = book.truth.topics, {decoy.name.casefold(): decoy.why for decoy in book.truth.decoys}
    missed = tuple(topic.name for topic in planted if not any(_is_topic(one, topic) for one in listed))
    things = [one for one in listed if one.kind not in {"person", "email"}]
    wrong = [one for one in things if not any(_is_topic(one, topic) or _is_part(one, topic) for topic in planted)]
    named = tuple(f"{one.ident or one.name}: {decoys.get(one.name.casefold(), 'not planted')}" for one in wrong)
    found = f"{len(planted) - len(missed)} of {len(planted)}"
    yield ProofRow("topics found", found, ">= 11 of 12", len(missed) <= 1, missed)
    yield ProofRow("topics that are none", str(len(wrong)), "<= 2", len(wrong) <= 2, named)
    yield ProofRow("people among the topics", str(len(listed) - len(things)), "", None)


def _plain(name: str) -> str:
    return re.sub(r"^https?://|/$", "", name.casefold().strip())


def _is_topic(answer: TopicAnswer, topic: PlantedTopic) -> bool:
    return _plain(topic.name) in {_plain(answer.name), _plain(answer.ident.partition(":")[2])}


def _is_part(answer: TopicAnswer, topic: PlantedTopic) -> bool:
    """Return whether a topic is one word of a name of two: it is not found by that, nor is it wrong."""
    return topic.kind == "name" and answer.name.casefold() in topic.name.casefold().split()
