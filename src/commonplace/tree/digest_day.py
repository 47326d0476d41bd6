"""Make the digest of a day from its units: which threads matter, who wrote, what was decided and asked of the user.

Whoever calls `make_day_digest` knows the user's addresses, and which people have written before. `digest_sentences`
says how much each sentence tells. Nothing here reads or writes a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date, timedelta
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash
from commonplace.text.words import fold_text, has_phrase
from commonplace.tree.admission import is_admitted, is_one_of
from commonplace.tree.digest import (
    ASKED,
    DECIDED,
    DUE,
    MOST_ASKED,
    MOST_LINES,
    MOST_OTHERS,
    MOST_PEOPLE,
    MOST_SAID,
    MOST_THREADS,
    DayDigest,
    DigestLine,
    DigestPerson,
    DigestThread,
    choose_lines,
    count_most,
    merge_people,
    rank_threads,
)
from commonplace.tree.digest_sentences import (
    UnitSentence,
    choose_different,
    find_name_words,
    read_sentences,
    score_sentences,
    show_name,
    to_line,
)
from commonplace.tree.entities import name_person
from commonplace.tree.subjects import strip_prefixes
from commonplace.tree.units import TreeUnit

YOU = DigestPerson("", "you", 0)
_MAX_TEXT, _MAX_TITLE = 240, 120  # characters that are kept of a sentence and a title
_WRITTEN_DATE = 30  # points more
_MOST_AHEAD = timedelta(days=800)  # a later date is rarely one that anybody waits for
_MOST_ASKED_OF_UNIT = 2  # questions to the user
_MOST_RECIPIENTS = 20  # of a message, whose names are known
_BEFORE_SECTION = " › "  # between the title of a document and the headings of a section
_CALLED = lazy(r"(?:@?(?P<first>\w+),|.*,\s@?(?P<last>\w+)\s?[?!.]+\Z)")
_HAS_DIGIT = lazy(r"\d")
_Scored = tuple[int, UnitSentence]


class _ThreadFindings(NamedTuple):
    """What a thread gives to a digest."""

    thread: DigestThread
    decisions: Sequence[DigestLine]
    questions: Sequence[DigestLine]
    dates: Sequence[DigestLine]
    answered: str  # when the user wrote last


def make_day_digest(
    units: Iterable[TreeUnit], day: date, *, me: Mapping[str, frozenset[str]], is_new: Callable[[str], bool]
) -> DayDigest:
    """Return the digest of the units of a day, in any order.

    `me` has the user's addresses and names by source, folded; `is_new` says of a person, named as the label of a unit
    is behind `person:`, whether they had never written before that day. What is not admitted is only counted.
    """
    all_units = sorted({unit.id: unit for unit in units}.values(), key=_order_unit)
    admitted = [unit for unit in all_units if is_admitted(unit.signals)]
    reader = _DayReader(admitted, day, me)
    groups: dict[str, list[TreeUnit]] = {}
    for unit in admitted:
        groups.setdefault(_name_group(unit), []).append(unit)
    found = [reader.read_thread(ident, group) for ident, group in groups.items()]
    questions = choose_lines((line for item in found for line in item.questions), MOST_LINES)
    threads = rank_threads((item.thread for item in found), questions, MOST_THREADS)
    messages = [unit for unit in admitted if unit.part == 1]
    return DayDigest(
        day=day,
        messages=len(messages),
        bulk=sum(unit.part == 1 for unit in all_units) - len(messages),
        sources=count_most(((unit.source, 1) for unit in messages), MOST_LINES),
        threads=threads,
        others=tuple(sorted(groups.keys() - {thread.id for thread in threads})[:MOST_OTHERS]),
        decisions=choose_lines((line for item in found for line in item.decisions), MOST_LINES),
        questions=questions,
        dates=choose_lines((line for item in found for line in item.dates), MOST_LINES),
        people=tuple(person for person in reader.count_writers() if is_new(person.id))[:MOST_LINES],
        answered=tuple(sorted((item.thread.id, item.answered) for item in found if item.answered)),
    )


def _order_unit(unit: TreeUnit) -> tuple[str, int, int, str]:
    """Return what sorts units by time, and the sections of a document as they stand in it."""
    return unit.occurred, unit.seq or 0, unit.part, unit.id


def _name_group(unit: TreeUnit) -> str:
    """Return what joins a unit with others: its thread. All of a channel is one: its threads are those of a day."""
    if unit.kind == "chat" and unit.title:
        return f"channel-{short_hash(f'{unit.source}/{unit.title}', 16)}"
    return unit.thread or unit.id


class _DayReader:
    """Who wrote on a day, and how its threads are read."""

    def __init__(self, units: Sequence[TreeUnit], day: date, me: Mapping[str, frozenset[str]]) -> None:
        self._day, self._me = day.isoformat(), me
        self._horizon = (day + min(_MOST_AHEAD, date.max - day)).isoformat()
        self._mine = {unit.id for unit in units if self._is_mine(unit)}
        self._people = merge_people(self._find_person(unit) for unit in units if unit.part == 1)
        self._name_words = find_name_words(units, _MOST_RECIPIENTS)
        self._names = {person.id: person.name for person in self._people}

    def count_writers(self) -> Iterator[DigestPerson]:
        """Yield who wrote, without the user."""
        return (person for person in self._people if person.id)

    def _is_mine(self, unit: TreeUnit) -> bool:
        return "sent" in unit.signals or is_one_of(unit.author, self._me.get(unit.source, frozenset()))

    def _find_person(self, unit: TreeUnit) -> DigestPerson:
        if unit.id in self._mine:
            return YOU._replace(messages=1)
        return DigestPerson(name_person(unit.author), show_name(unit.author), 1)

    def _name_author(self, unit: TreeUnit) -> str:
        return YOU.name if unit.id in self._mine else self._names.get(name_person(unit.author), "")

    def read_thread(self, ident: str, units: Sequence[TreeUnit]) -> _ThreadFindings:
        """Return what the units of one thread, in order of time, tell."""
        first = units[0]
        title = next(filter(None, (strip_prefixes(unit.title) for unit in units)), "")
        title = to_line(title.partition(_BEFORE_SECTION)[0] if first.kind == "document" else title, _MAX_TITLE)
        sentences = [sentence for unit in units for sentence in read_sentences(unit, self._day)]
        scores = map(self._correct, sentences, score_sentences(sentences, title, self._name_words, self._day))
        asked: list[_Scored] = []
        said: list[_Scored] = []
        for score, sentence in zip(scores, sentences, strict=True):
            (asked if sentence.kind == ASKED else said).append((score, sentence))

        def make_lines(scored: Iterable[_Scored]) -> list[DigestLine]:
            return [self._make_line(sentence, score, ident, title) for score, sentence in scored]

        people = merge_people(
            self._find_person(unit)._replace(name=self._name_author(unit)) for unit in units if unit.part == 1
        )
        named = tuple(person for person in people if person.name)
        mine = [unit.occurred for unit in units if unit.id in self._mine]
        thread = DigestThread(
            id=ident,
            title=title,
            source=first.source,
            file=f"{first.folder}/{first.name}",
            kind=first.kind,
            messages=sum(unit.part == 1 for unit in units),
            people=named[:MOST_PEOPLE],
            others=max(0, len(named) - MOST_PEOPLE),
            first=first.occurred,
            last=units[-1].occurred,
            first_day=self._day,
            last_day=self._day,
            weight=self._weigh(units, named, said),
            asked=_leave_out_thread(make_lines(choose_different(asked, MOST_ASKED))),
            said=_leave_out_thread(make_lines(choose_different(said, MOST_SAID + len(units).bit_length() // 2))),
        )
        answered = max(mine, default="")
        to_me = [item for item in asked if item[1].unit.occurred >= answered and self._is_to_me(item[1])]
        due = [(item, day) for item in (*said, *asked) if (day := self._find_date(item[1]))]
        return _ThreadFindings(
            thread,
            make_lines(item for item in said if item[1].kind == DECIDED),
            [line for item in _choose_of_units(to_me) for line in make_lines([item])],
            [
                line._replace(kind=DUE, day=day, score=line.score + _weigh_date(item[1], day))
                for item, day in due
                for line in make_lines([item])
            ],
            answered,
        )

    def _correct(self, sentence: UnitSentence, score: int) -> int:
        """Return the score of a sentence; less if the user knows it, or nobody said it."""
        unit = sentence.unit
        return score - 6 * (unit.id in self._mine) - 15 * (unit.kind == "document")

    def _make_line(self, sentence: UnitSentence, score: int, thread: str, title: str) -> DigestLine:
        unit, text = sentence.unit, to_line(sentence.text, _MAX_TEXT)
        who = self._name_author(unit)
        return DigestLine(text, who, unit.id, unit.occurred, score, sentence.kind, thread, title, self._day)

    def _is_to_me(self, sentence: UnitSentence) -> bool:
        """Return whether the user is asked: by name, or as the one who got the message."""
        unit = sentence.unit
        if unit.id in self._mine or "replied" in unit.signals:
            return False
        me = self._me.get(unit.source, frozenset())
        names = {name for name in me if "@" not in name}
        if "mentioned" in unit.signals and _has_name(sentence.text, names):
            return True
        greeting = unit.text.lstrip().split("\n", 1)[0][:80]
        firsts = {name.split()[0] for name in names if name.strip()}
        others = [person for person in unit.recipients if not is_one_of(person, me)]
        if len(others) < len(unit.recipients) and (_has_name(greeting, firsts) or _is_called(sentence.text, firsts)):
            return True
        is_private = unit.kind == "chat" and not unit.recipients and unit.title == unit.author.name
        if "direct" not in unit.signals and not is_private:
            return False
        return not _has_name(greeting, {word for person in others for word in show_name(person).split()[:1]})

    def _find_date(self, sentence: UnitSentence) -> str:
        """Return the first day to come that a sentence names; "" if it says too little of it."""
        ahead = next((day for day in sentence.cues.dates if self._day < day <= self._horizon), "")
        return ahead if ahead and (_is_firm(sentence) or _HAS_DIGIT.search(sentence.text)) else ""

    def _weigh(self, units: Sequence[TreeUnit], people: Sequence[DigestPerson], said: Sequence[_Scored]) -> int:
        """Return how much a thread matters: what it tells, how many people wrote how much, and the user's part."""
        best = max((score + 20 * (sentence.kind == DECIDED) for score, sentence in said), default=0)
        is_near = any(unit.id in self._mine or {"direct", "mentioned"} & unit.signals for unit in units)
        points = best + 10 * math.log2(1 + len(people)) + 6 * math.log2(1 + len(units)) + 12 * is_near
        return round(points) - 30 * (units[0].kind == "document")


def _weigh_date(sentence: UnitSentence, day: str) -> int:
    """Return how much more a sentence tells as a date: one with its number is for a calendar; "by Friday" is less."""
    is_written = re.search(rf"(?<!\d)0?{int(day[-2:])}(?!\d)", sentence.text) is not None
    return 10 * _is_firm(sentence) + _WRITTEN_DATE * is_written


def _is_firm(sentence: UnitSentence) -> bool:
    return sentence.cues.promises or sentence.cues.decides


def _has_name(text: str, names: Set[str]) -> bool:
    """Return whether a text names one of these people."""
    if not names:
        return False
    folded = fold_text(text)
    return any(len(name) > 1 and has_phrase(folded, fold_text(name)) for name in names)


def _is_called(text: str, names: Set[str]) -> bool:
    """Return whether a sentence speaks to one of these people: "Ida, can you ...", "... , Ida?"."""
    found = _CALLED.match(text)
    return found is not None and _has_name(found["first"] or found["last"], names)


def _choose_of_units(scored: Iterable[_Scored]) -> Iterator[_Scored]:
    """Yield the best of each unit's sentences."""
    units: dict[str, list[_Scored]] = {}
    for item in scored:
        units.setdefault(item[1].unit.id, []).append(item)
    for items in units.values():
        yield from sorted(items, key=lambda item: (-item[0], item[1].at))[:_MOST_ASKED_OF_UNIT]


def _leave_out_thread(lines: Iterable[DigestLine]) -> tuple[DigestLine, ...]:
    """Return lines as a thread has them, which knows its own id and title, and its days."""
    return tuple(line._replace(thread="", title="", day="") for line in lines)
