"""Make the digest of a day from its units: which threads matter, and the sentences that tell most of each.

A sentence tells much if it decides, promises or names a day to come, has words of the title or words that others of the
thread use, and is neither very short nor very long. Greetings, closings, quotes, code and tables are no sentences here.
Only the beginning of a long unit is read, so a unit costs about as much as reading it from the index.

Whoever calls `make_day_digest` knows the user's addresses, and which people have written before. Nothing here reads or
writes a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash
from commonplace.text.words import DENSE_RUN, STOP_WORDS, fold_text, has_phrase
from commonplace.tree.admission import is_admitted, is_one_of
from commonplace.tree.courtesy import is_courtesy
from commonplace.tree.cues import Cues, find_cues
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
    SAID,
    DayDigest,
    DigestLine,
    DigestPerson,
    DigestThread,
    choose_lines,
    count_most,
    merge_people,
    rank_threads,
)
from commonplace.tree.entities import is_month, name_person
from commonplace.tree.sentences import split_sentences, strip_marks
from commonplace.tree.source import Person
from commonplace.tree.subjects import strip_prefixes
from commonplace.tree.units import TreeUnit

YOU = DigestPerson("", "you", 0)
_MOST_READ, _MOST_SENTENCES = 3_000, 16  # characters and sentences of a unit
_MAX_TEXT, _MAX_TITLE, _MAX_NAME = 240, 120, 60  # characters that are kept of a sentence, a title, a name
_MOST_AHEAD = timedelta(days=800)  # a later date is rarely one that anybody waits for
_MOST_ASKED_OF_UNIT = 2  # questions to the user
_FEWEST_WORDS, _FEWEST_SIGNS = 3, 6  # of a sentence; signs of one in a script without spaces
_COURTESY_WORDS = 16  # a longer sentence says something
_GREETING_WORDS, _CLOSING_WORDS, _CLOSING_LINES = 5, 4, 3
_WORD = lazy(r"[^\W\d_]+")
_DIGIT = lazy(r"\d")
_BEFORE_SECTION = " › "  # between the title of a document and the headings of a section
_URL = lazy(r"[a-z]+://\S+|www\.\S+")
_FENCE = lazy(r"(?s)```.*?(?:```|\Z)")
# What begins a quote, a table, a command, a diff, code, or a field such as "Reviewed-by: Ann".
_NO_PROSE = lazy(r"[>|$@{}<;/]|\w{1,4}>|[-=_*#]{3}|[-+](?![\s\d])|[A-Z]\w*(?:-\w+)+: ")
# A word with a capital that does not begin the sentence.
_NAME = lazy(r"(?<=[^.!?:\s] )[\"'“„«(]?([A-Z\u00c0-\u00de\u0391-\u03a9\u0400-\u042f][^\W_]+)")
_NUMBER = lazy(r"\d[\d.,:]*")
_MOST_CAPITALS = 0.2  # of the words of a thread
_MOST_RECIPIENTS = 20
_CODE_SIGN = lazy(r"[=(){};<>|_*/\\+~^&]")
_MOST_CODE, _FEWEST_LETTERS = 0.08, 0.6  # of the signs of a sentence
_LOGGED = lazy(r"\d:\d\d:\d\d")  # a time to the second: people do not write it
_PATCH = lazy(r"(?m)^(?:diff -|Index: \S|--- \S.*\n\+\+\+ \S|-----BEGIN )")
_QUESTION_MARK = lazy(r"[?？؟]")
_MOST_UNMARKED = 25  # words of a question without a mark
_SURROGATE = lazy("[\ud800-\udfff]")


class _UnitSentence(NamedTuple):
    """A sentence of a unit, with what is needed to compare it with others."""

    text: str
    words: frozenset[str]
    length: int  # words, or pairs of signs
    cues: Cues
    unit: TreeUnit
    at: int  # its number in the unit

    @property
    def kind(self) -> str:
        """What it does. What only begins like a question, and has no mark, is none if it is long or goes on."""
        cues = self.cues
        if not cues.asks or self.unit.kind == "document":
            return DECIDED if cues.decides else SAID
        is_short = self.length <= _MOST_UNMARKED and self.text[-1] not in ":：;,"
        return ASKED if is_short or _QUESTION_MARK.search(self.text) else SAID


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


def _find_name_words(units: Iterable[TreeUnit]) -> Set[str]:
    """Return the words of the names of everybody who writes or reads on a day."""
    people = {person for unit in units for person in (unit.author, *unit.recipients[:_MOST_RECIPIENTS])}
    return {word for person in people for word in _WORD.findall(person.name)}


class _DayReader:
    """Who wrote on a day, and how its threads are read."""

    def __init__(self, units: Sequence[TreeUnit], day: date, me: Mapping[str, frozenset[str]]) -> None:
        self._day, self._me = day.isoformat(), me
        self._horizon = (day + min(_MOST_AHEAD, date.max - day)).isoformat()
        self._mine = {unit.id for unit in units if self._is_mine(unit)}
        self._people = merge_people(self._find_person(unit) for unit in units if unit.part == 1)
        self._name_words = _find_name_words(units)
        self._names = {person.id: person.name for person in self._people}

    def count_writers(self) -> Iterator[DigestPerson]:
        """Yield who wrote, without the user."""
        return (person for person in self._people if person.id)

    def _is_mine(self, unit: TreeUnit) -> bool:
        return "sent" in unit.signals or is_one_of(unit.author, self._me.get(unit.source, frozenset()))

    def _find_person(self, unit: TreeUnit) -> DigestPerson:
        if unit.id in self._mine:
            return YOU._replace(messages=1)
        return DigestPerson(name_person(unit.author), _name(unit.author), 1)

    def _name_author(self, unit: TreeUnit) -> str:
        return YOU.name if unit.id in self._mine else self._names.get(name_person(unit.author), "")

    def read_thread(self, ident: str, units: Sequence[TreeUnit]) -> _ThreadFindings:
        """Return what the units of one thread, in order of time, tell."""
        first = units[0]
        title = next(filter(None, (strip_prefixes(unit.title) for unit in units)), "")
        title = _plain(title.partition(_BEFORE_SECTION)[0] if first.kind == "document" else title, _MAX_TITLE)
        sentences = [sentence for unit in units for sentence in self._read_sentences(unit)]
        scores = _score_sentences(sentences, title, self._name_words, self._day)
        asked: list[tuple[DigestLine, _UnitSentence]] = []
        said: list[tuple[DigestLine, _UnitSentence]] = []
        for sentence, score in zip(sentences, scores, strict=True):
            line = self._make_line(sentence, score, ident, title)
            (asked if line.kind == ASKED else said).append((line, sentence))
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
            weight=self._weigh(units, named, [line for line, _ in said]),
            asked=_choose_different(asked, MOST_ASKED),
            said=_choose_different(said, MOST_SAID),
        )
        return _ThreadFindings(
            thread,
            [line for line, _ in said if line.kind == DECIDED],
            self._find_questions(asked, max(mine, default="")),
            [date_line for line, sentence in (*said, *asked) for date_line in self._find_dates(line, sentence)],
            max(mine, default=""),
        )

    def _read_sentences(self, unit: TreeUnit) -> Iterator[_UnitSentence]:
        """Yield the sentences of a unit that may be shown."""
        occurred = _tell_local_time(unit) or self._day
        at = 0
        for sentence in split_sentences(_cut_greeting(unit)):
            text = strip_marks(sentence)
            words = None if _NO_PROSE.match(sentence) else _find_words(text)
            if words is not None and (len(words) > _COURTESY_WORDS or not is_courtesy(text)):
                cues = find_cues(text, occurred)
                yield _UnitSentence(text, frozenset(words) - STOP_WORDS, len(words), cues, unit, at)
                at += 1
                if at == _MOST_SENTENCES:
                    return

    def _make_line(self, sentence: _UnitSentence, score: int, thread: str, title: str) -> DigestLine:
        unit, text = sentence.unit, _plain(sentence.text, _MAX_TEXT)
        score -= 6 * (unit.id in self._mine) + 15 * (unit.kind == "document")  # the user knows it; nobody said it
        who = self._name_author(unit)
        return DigestLine(text, who, unit.id, unit.occurred, score, sentence.kind, thread, title, self._day)

    def _find_questions(self, asked: Sequence[tuple[DigestLine, _UnitSentence]], answered: str) -> Sequence[DigestLine]:
        """Return the questions to the user that they did not answer on the same day."""
        found: dict[str, list[DigestLine]] = {}
        for line, sentence in asked:
            unit = sentence.unit
            if unit.id not in self._mine and unit.occurred >= answered and self._is_to_me(sentence):
                found.setdefault(unit.id, []).append(line)
        return [line for lines in found.values() for line in choose_lines(lines, _MOST_ASKED_OF_UNIT)]

    def _is_to_me(self, sentence: _UnitSentence) -> bool:
        """Return whether the user is asked: by name, or as the one who got the message."""
        unit = sentence.unit
        if "replied" in unit.signals or unit.kind == "document":
            return False
        me = self._me.get(unit.source, frozenset())
        names = {name for name in me if "@" not in name}
        if "mentioned" in unit.signals and _has_name(sentence.text, names):
            return True
        greeting = unit.text.lstrip().split("\n", 1)[0][:80]
        firsts = {name.split()[0] for name in names if name.strip()}
        others = [person for person in unit.recipients if not is_one_of(person, me)]
        if len(others) < len(unit.recipients) and _has_name(greeting, firsts):
            return True
        is_private = unit.kind == "chat" and not unit.recipients and unit.title == unit.author.name
        if "direct" not in unit.signals and not is_private:
            return False
        return not _has_name(greeting, {word for person in others for word in _name(person).split()[:1]})

    def _find_dates(self, line: DigestLine, sentence: _UnitSentence) -> Iterator[DigestLine]:
        """Yield a line for the first day to come that a sentence names."""
        cues = sentence.cues
        ahead = next((day for day in cues.dates if self._day < day <= self._horizon), None)
        is_firm = cues.promises or cues.decides
        if ahead is not None and (is_firm or _DIGIT.search(line.text)):
            yield line._replace(kind=DUE, day=ahead, score=line.score + 10 * is_firm)

    def _weigh(self, units: Sequence[TreeUnit], people: Sequence[DigestPerson], said: Sequence[DigestLine]) -> int:
        """Return how much a thread matters: what it tells, how many people wrote how much, and the user's part."""
        best = max((line.score + 20 * (line.kind == DECIDED) for line in said), default=0)
        is_near = any(unit.id in self._mine or {"direct", "mentioned"} & unit.signals for unit in units)
        points = best + 10 * math.log2(1 + len(people)) + 6 * math.log2(1 + len(units)) + 12 * is_near
        return round(points) - 30 * (units[0].kind == "document")


def _score_sentences(sentences: Sequence[_UnitSentence], title: str, people: Set[str], today: str) -> list[int]:
    """Return what each sentence of a thread tells, in points that hold across threads. `people` are names of people,
    word by word."""
    of_title = {word for word in _split_words(title) if word not in STOP_WORDS}
    uses = Counter(word for unit_words in _gather_words(sentences) for word in unit_words)
    shared = {word for word, number in uses.items() if number > 1}
    names = [[name for name in _NAME.findall(sentence.text) if name not in people] for sentence in sentences]
    # Where every noun has a capital, as in German, it tells nothing.
    is_german = sum(map(len, names)) > _MOST_CAPITALS * sum(sentence.length for sentence in sentences)
    return [
        _score(
            sentence,
            8 * min(3, len(sentence.words & of_title))
            + 2 * min(4, len(sentence.words & shared))
            + 6 * min(4, sum(not _is_day(name) for name in found) * (not is_german))
            + 3 * min(2, len(_NUMBER.findall(sentence.text))),
            today,
        )
        for sentence, found in zip(sentences, names, strict=True)
    ]


@lru_cache(maxsize=1_000)
def _is_day(word: str) -> bool:
    """Return whether a word names a day of the week, or a month."""
    return is_month(word.lower()) or bool(find_cues(word, "2026-01-01").dates)


def _gather_words(sentences: Iterable[_UnitSentence]) -> Iterable[Set[str]]:
    """Return the words of each unit."""
    found: dict[str, set[str]] = {}
    for sentence in sentences:
        found.setdefault(sentence.unit.id, set()).update(sentence.words)
    return found.values()


def _score(sentence: _UnitSentence, detail: int, today: str) -> int:
    """Return what a sentence tells. "Agreed, we move to Aarhus" decides more than "I felt accepted": what a sentence
    decides or promises counts by its detail, which are its names and numbers, and its words of the thread."""
    cues, length = sentence.cues, sentence.length
    is_dated = bool(cues.dates) and _DIGIT.search(sentence.text) is not None
    points = detail + (16 + detail // 2) * cues.decides + (6 + detail // 2) * cues.promises
    points += (3 + 10 * is_dated) * any(day > today for day in cues.dates)
    points += min(12, len(sentence.words)) - 12 * (length < 5) - 10 * (length > 45)
    points += 2 * (sentence.at == 0)
    points -= 15 * (sentence.text[-1] in ":：")  # it only introduces what comes next
    return points - 15 * ("few-words" in sentence.unit.signals)


def _choose_different(lines: Iterable[tuple[DigestLine, _UnitSentence]], most: int) -> tuple[DigestLine, ...]:
    """Return the best lines of a thread, without those that say what a better one says."""
    chosen: list[tuple[DigestLine, _UnitSentence]] = []
    for line, sentence in sorted(lines, key=lambda item: (-item[0].score, item[0].time, item[0].unit, item[1].at)):
        words = sentence.words
        if all(10 * len(words & other.words) < 6 * min(len(words), len(other.words)) for _, other in chosen):
            chosen.append((line, sentence))
        if len(chosen) == most:
            break
    return tuple(line._replace(thread="", title="") for line, _ in chosen)


def _cut_greeting(unit: TreeUnit) -> str:
    """Return the beginning of a text without a line that only greets, and lines that only close and sign."""
    text = _FENCE.sub("\n", unit.text) if "```" in unit.text else unit.text
    patch = _PATCH.search(text) if unit.kind == "email" else None
    text = text[: patch.start()] if patch else text
    lines = text[:_MOST_READ].strip().split("\n")
    if len(lines) > 1:
        first = lines[0].strip()
        words = first.split()
        readers = {name for person in unit.recipients for name in _name(person).split()[:1]}
        is_apart = not lines[1].strip() and _has_name(first, readers)
        if len(words) <= _GREETING_WORDS and (first[-1:] in ",!，！、:–-" or is_apart):
            lines = lines[1:]
    if len(text) <= _MOST_READ:
        _cut_closing(lines, _name(unit.author))
    return "\n".join(lines)


def _cut_closing(lines: list[str], author: str) -> None:
    """Remove the last lines if they only close and sign."""
    names = {author, *author.split()} - {""}
    is_signed = False
    for _ in range(_CLOSING_LINES):
        while len(lines) > 1 and not lines[-1].strip():
            lines.pop()
        last = lines[-1].strip()
        if len(lines) < 2 or len(last.split()) > _CLOSING_WORDS:
            return
        signs = _has_name(last, names)
        if not (signs or last[-1:] in ",，" or (is_signed and last[-1:] not in ".?!。？！")):
            return
        is_signed = is_signed or signs
        lines.pop()


def _find_words(text: str) -> Sequence[str] | None:
    """Return the words of a sentence in lower case; None for what is none: too short, a link, code, numbers."""
    plain = _URL.sub("", text) if "://" in text or "www." in text else text
    words = _WORD.findall(plain.lower())
    letters = sum(map(len, words))
    if not plain.isascii() and DENSE_RUN.search(plain):
        return _split_words(plain) if letters >= _FEWEST_SIGNS else None
    signs = len(plain) - plain.count(" ")
    if len(words) < _FEWEST_WORDS or letters < _FEWEST_LETTERS * signs or (":" in plain and _LOGGED.search(plain)):
        return None
    return words if "?" in plain or len(_CODE_SIGN.findall(plain)) <= _MOST_CODE * signs else None


def _split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; of a script without spaces, its pairs of signs."""
    words = _WORD.findall(text.lower())
    if text.isascii() or not DENSE_RUN.search(text):
        return words
    return [part for word in words for part in (_pair_signs(word) if DENSE_RUN.match(word) else (word,))]


def _pair_signs(word: str) -> Sequence[str]:
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def _has_name(text: str, names: Set[str]) -> bool:
    """Return whether a text names one of these people."""
    if not names:
        return False
    folded = fold_text(text)
    return any(len(name) > 1 and has_phrase(folded, fold_text(name)) for name in names)


def _name(person: Person) -> str:
    """Return a person's name as it is shown: "Lee, Ann" is Ann Lee, and who has no name is shown by the address."""
    name = person.name or person.address.partition("@")[0]
    last, comma, first = name.partition(",")
    if comma and "," not in first and "." not in name and first.strip():
        name = f"{first} {last}"
    return _plain(name, _MAX_NAME)


def _plain(text: str, most: int) -> str:
    """Return a text on one line, as long as it may be, with characters that can be stored."""
    line = " ".join(text.split())[:most]
    return line if line.isprintable() else _SURROGATE.sub("\ufffd", line)


def _tell_local_time(unit: TreeUnit) -> str:
    """Return when a unit was by its sender's clock: "tomorrow" is theirs."""
    if not unit.offset or not unit.occurred:
        return unit.occurred
    try:
        return (datetime.fromisoformat(unit.occurred) + timedelta(minutes=unit.offset)).isoformat()
    except (ValueError, OverflowError):
        return unit.occurred
