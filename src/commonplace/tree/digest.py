"""What a digest of a day, week, month or year knows: threads with their best sentences, decisions, questions, dates.

`digest_day.make_day_digest` makes one from the units of a day, `merge_digests` makes that of a week, month or year from
those of its days, `digest_page.render_digest` writes the page. A digest has a bounded size, however much was written,
and goes into the index as JSON. The same units give the same digest, in whatever order they come. Nothing here reads or
writes a file.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from heapq import nlargest, nsmallest
from itertools import chain
from typing import Any, NamedTuple

ASKED, SAID, DECIDED, DUE = "asked", "said", "decided", "due"
MOST_THREADS, MOST_THREADS_MERGED = 40, 100
MOST_OTHERS = 1_000  # threads that are only counted
MOST_LINES = 20  # decisions, questions, dates, and new people of a day
MOST_LINES_MERGED = 80
MOST_ASKED, MOST_SAID, MOST_PEOPLE = 3, 4, 8  # of a thread
_MOST_SAID_MERGED = 8
_MOST_SOURCES = 100
_MOST_ANSWERED = 2_000
_QUESTION_WEIGHT = 40  # of a thread with a question to the user that is open
_DAYS_WEIGHT = 8  # of a thread for each doubling of the days it was there
_FORMAT = 1


class DigestLine(NamedTuple):
    """One sentence, word for word, with who wrote it and the unit that has it."""

    text: str
    who: str  # as shown; "you" is the user
    unit: str
    time: str  # UTC
    score: int  # what it tells, compared with other sentences
    kind: str = SAID  # or ASKED, DECIDED, DUE
    thread: str = ""  # of a line that is not in its thread's lists
    title: str = ""  # of that thread
    day: str = ""  # when it was said, in the user's zone; of a date ahead, that date


class DigestPerson(NamedTuple):
    """Somebody, and how many messages they wrote."""

    id: str  # as behind `person:` in the label of a unit
    name: str
    messages: int


class DigestThread(NamedTuple):
    """A thread, or a channel, with what was asked and said in it."""

    id: str
    title: str
    source: str
    file: str  # of its first message, as the index names it: /tree/SOURCE/2026-11/lunch
    kind: str  # email, chat, document
    messages: int  # of messages or sections
    people: tuple[DigestPerson, ...]  # who wrote most, first
    others: int  # people who are not named
    first: str  # when its first and its last message in the window were, in UTC
    last: str
    first_day: str  # the same, in the user's zone
    last_day: str
    weight: int  # how much it matters, compared with other threads
    asked: tuple[DigestLine, ...] = ()  # best first
    said: tuple[DigestLine, ...] = ()


class DayDigest(NamedTuple):
    """What happened on a day; or in several, of which `day` is the last."""

    day: date
    messages: int = 0  # without bulk mail
    bulk: int = 0  # messages that are only counted
    sources: tuple[tuple[str, int], ...] = ()  # messages without bulk mail by source, most first
    threads: tuple[DigestThread, ...] = ()  # most important first
    others: tuple[str, ...] = ()  # threads that had no room
    decisions: tuple[DigestLine, ...] = ()  # best first
    questions: tuple[DigestLine, ...] = ()  # to the user, without an answer; best first
    dates: tuple[DigestLine, ...] = ()  # ahead; best first
    people: tuple[DigestPerson, ...] = ()  # who wrote for the first time, most messages first
    answered: tuple[tuple[str, str], ...] = ()  # threads in which the user wrote, and when last

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing at all."""
        return not (self.messages or self.bulk)

    def to_json(self) -> str:
        """Return it as JSON, in short: the same digest gives the same text."""
        threads = [
            [*thread[:6], [[*person] for person in thread.people], *thread[7:13], *map(_pack_lines, thread[13:])]
            for thread in self.threads
        ]
        fields = [
            _FORMAT, self.day.isoformat(), self.messages, self.bulk, self.sources, threads, self.others,
            *map(_pack_lines, (self.decisions, self.questions, self.dates)), self.people, self.answered,
        ]  # fmt: skip
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> DayDigest:
        """Return the digest that `to_json` wrote. Raises ValueError for anything else: make it anew."""
        try:
            number, day, messages, bulk, sources, threads, others, *lists, people, answered = json.loads(text)
            if number != _FORMAT:
                raise ValueError("another format")
            decisions, questions, dates = map(_unpack_lines, lists)
            return cls(
                day=date.fromisoformat(day),
                messages=messages,
                bulk=bulk,
                sources=_unpack_pairs(sources),
                threads=tuple(
                    DigestThread._make([*row[:6], _unpack_people(row[6]), *row[7:13], *map(_unpack_lines, row[13:])])
                    for row in threads
                ),
                others=tuple(others),
                decisions=decisions,
                questions=questions,
                dates=dates,
                people=_unpack_people(people),
                answered=_unpack_pairs(answered),
            )
        except (TypeError, LookupError, RecursionError) as error:
            raise ValueError("no digest of this version") from error


def merge_digests(days: Iterable[DayDigest], until: date) -> DayDigest:
    """Return the digest of several days, each given once, in any order; `until` is the last day of their window.

    A question that the user answered later in the window is no longer open, and a date that has passed is not ahead.
    """
    parts = sorted(days, key=lambda part: part.day)
    answered = dict[str, str]()
    for part in parts:
        for thread, time in part.answered:
            answered[thread] = max(time, answered.get(thread, ""))
    last_day = until.isoformat()
    questions = choose_lines(
        (line for part in parts for line in part.questions if line.time >= answered.get(line.thread, "")),
        MOST_LINES_MERGED,
    )
    threads, others = _merge_threads(parts, questions)
    return DayDigest(
        day=until,
        messages=sum(part.messages for part in parts),
        bulk=sum(part.bulk for part in parts),
        sources=count_most(chain.from_iterable(part.sources for part in parts), _MOST_SOURCES),
        threads=threads,
        others=others,
        decisions=choose_lines(chain.from_iterable(part.decisions for part in parts), MOST_LINES_MERGED),
        questions=questions,
        dates=choose_lines((line for part in parts for line in part.dates if line.day > last_day), MOST_LINES_MERGED),
        people=merge_people(chain.from_iterable(part.people for part in parts))[:MOST_LINES_MERGED],
        answered=tuple(sorted(nlargest(_MOST_ANSWERED, answered.items(), key=lambda item: (item[1], item[0])))),
    )


def choose_lines(lines: Iterable[DigestLine], most: int) -> tuple[DigestLine, ...]:
    """Return the best lines, best first; one that says the same as a better one is left out."""
    chosen: dict[str, DigestLine] = {}
    for line in nsmallest(2 * most, lines, key=_rank_line):
        chosen.setdefault(f"{line.day if line.kind == DUE else ''}{line.text.casefold()}", line)
    return tuple(chosen.values())[:most]


def merge_people(people: Iterable[DigestPerson]) -> tuple[DigestPerson, ...]:
    """Return people with their messages added up, who wrote most first; each by the name that was used most."""
    found: dict[str, list[DigestPerson]] = {}
    for person in people:
        found.setdefault(person.id, []).append(person)
    merged = [
        DigestPerson(ident, _choose_name(group), sum(person.messages for person in group))
        for ident, group in found.items()
    ]
    return tuple(sorted(merged, key=lambda person: (-person.messages, person.name, person.id)))


def count_most(counts: Iterable[tuple[str, int]], most: int) -> tuple[tuple[str, int], ...]:
    """Return the sums of what is counted by name, most first."""
    sums = Counter[str]()
    for name, number in counts:
        sums[name] += number
    return tuple(nsmallest(most, sums.items(), key=lambda item: (-item[1], item[0])))


def rank_threads(
    threads: Iterable[DigestThread], questions: Iterable[DigestLine], most: int
) -> tuple[DigestThread, ...]:
    """Return the threads that matter most, first of them those that do most."""
    asking = {line.thread for line in questions}
    return tuple(
        nsmallest(
            most,
            threads,
            key=lambda thread: (-thread.weight - _QUESTION_WEIGHT * (thread.id in asking), thread.first, thread.id),
        )
    )


def _merge_threads(
    parts: Sequence[DayDigest], questions: Sequence[DigestLine]
) -> tuple[tuple[DigestThread, ...], tuple[str, ...]]:
    """Return the threads of several days, which come in their order, and the ids of those that have no room."""
    groups: dict[str, list[DigestThread]] = {}
    for part in parts:
        for thread in part.threads:
            groups.setdefault(thread.id, []).append(thread)
    # Only what is shown is merged in full: a year may have 15,000 threads.
    weighed = [
        group[0] if len(group) == 1 else group[0]._replace(weight=_weigh_group(group)) for group in groups.values()
    ]
    chosen = rank_threads(weighed, questions, MOST_THREADS_MERGED)
    shown = {thread.id for thread in chosen}
    others = sorted({*groups, *chain.from_iterable(part.others for part in parts)} - shown)
    return tuple(_merge_thread(groups[thread.id], thread.weight) for thread in chosen), tuple(others[:MOST_OTHERS])


def _weigh_group(group: Sequence[DigestThread]) -> int:
    """Return how much a thread matters that was there on several days."""
    return max(thread.weight for thread in group) + round(_DAYS_WEIGHT * math.log2(len(group)))


def _merge_thread(group: Sequence[DigestThread], weight: int) -> DigestThread:
    if len(group) == 1:
        return group[0]
    people = merge_people(chain.from_iterable(thread.people for thread in group))
    asked = choose_lines(chain.from_iterable(thread.asked for thread in group), MOST_ASKED)
    said = choose_lines(chain.from_iterable(thread.said for thread in group), _MOST_SAID_MERGED)
    return group[0]._replace(
        title=next((thread.title for thread in group if thread.title), ""),
        messages=sum(thread.messages for thread in group),
        people=people[:MOST_PEOPLE],
        others=max(len(people) - MOST_PEOPLE, 0) + max(thread.others for thread in group),
        first=min(thread.first for thread in group),
        last=max(thread.last for thread in group),
        first_day=min(thread.first_day for thread in group),
        last_day=max(thread.last_day for thread in group),
        weight=weight,
        asked=asked,
        said=said,
    )


def _choose_name(group: Sequence[DigestPerson]) -> str:
    if len(group) == 1:
        return group[0].name
    names = count_most(((person.name, person.messages) for person in group), len(group))
    return names[0][0]


def _rank_line(line: DigestLine) -> tuple[int, str, str, str]:
    return -line.score, line.time, line.unit, line.text


def _pack_lines(lines: Sequence[DigestLine]) -> list[list[object]]:
    """Return lines as JSON has them: without what is empty at their end."""
    packed = []
    for line in lines:
        values = [*line]
        while values[-1] == "":
            values.pop()
        packed.append(values)
    return packed


def _unpack_lines(rows: Iterable[Sequence[Any]]) -> tuple[DigestLine, ...]:
    return tuple(DigestLine(*row) for row in rows)


def _unpack_people(rows: Iterable[Sequence[Any]]) -> tuple[DigestPerson, ...]:
    return tuple(DigestPerson(*row) for row in rows)


def _unpack_pairs(rows: Iterable[Sequence[Any]]) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in rows)
