"""Find the sentences of a unit that a digest may show, and how much each tells.

A sentence tells much by its detail: names and numbers, words of the title, words that others of its thread use. What it
decides or promises makes that detail count more. Greetings, closings, quotes, code and tables are no sentences here.
`digest_day` calls this for every unit of a day, so only the beginning of a long text is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import DENSE_RUN, STOP_WORDS
from commonplace.tree.courtesy import is_courtesy
from commonplace.tree.cues import Cues, find_cues
from commonplace.tree.digest import ASKED, DECIDED, SAID
from commonplace.tree.entities import read_month_names
from commonplace.tree.sentences import split_sentences, strip_marks
from commonplace.tree.source import Person
from commonplace.tree.units import TreeUnit

_MOST_READ, _MOST_SENTENCES = 3_000, 16  # characters and sentences of a unit
_FEWEST_WORDS, _FEWEST_SIGNS = 3, 6  # of a sentence; signs of one in a script without spaces
_MOST_COURTESY, _MOST_UNMARKED = 16, 25  # words of a courtesy, and of a question without a mark
_MAX_NAME = 60  # characters
_SAME_VOICE = 6  # points less for each sentence of the same person in a thread
_WORD, _NUMBER, _HAS_DIGIT = lazy(r"[^\W\d_]+"), lazy(r"\d[\d.,:]*"), lazy(r"\d")
# A word with a capital that does not begin the sentence. It starts with the class and looks behind: that is faster.
_NAME = lazy(r"[A-Z\u00c0-\u00de\u0391-\u03a9\u0400-\u042f](?<=[^.!?:\s]\s.|\s[\"'“„«(].)[^\W_]+")
_MOST_NAMES = 0.2  # of the words of a thread
_URL = lazy(r"[a-z]+://\S+|www\.\S+")
_FENCE = lazy(r"(?s)```.*?(?:```|\Z)")
_PATCH = lazy(r"(?m)^(?:diff -|Index: \S|--- \S.*\n\+\+\+ \S|-----BEGIN )")
# What stands for a picture, or begins a quote, a table, a command, a diff, code, or a field such as "Reviewed-by: Ann".
_NO_PROSE = lazy(
    r"\[[^\]]*\]\W*\Z|@(?![^\W\d]\w*[\s,:])|[>|${}<;/]|\w{1,4}>|[-=_*#]{3}|[-+](?![\s\d])|[A-Z]\w*(?:-\w+)+: "
)
_LOGGED = lazy(r"\d:\d\d:\d\d")  # a time to the second: people do not write it
_CODE_SIGN = lazy(r"[=(){};<>|_*/\\+~^&]")
_MOST_CODE, _FEWEST_LETTERS = 0.08, 0.6  # of the signs of a sentence
_QUESTION_MARK = lazy(r"[?？؟]")
_SURROGATE = lazy("[\ud800-\udfff]")


class UnitSentence(NamedTuple):
    """A sentence of a unit, with what is needed to compare it with others."""

    text: str
    words: frozenset[str]  # that tell something
    length: int  # in words, or pairs of signs
    cues: Cues
    unit: TreeUnit
    at: int  # its number in the unit
    kind: str  # ASKED, DECIDED or SAID


def read_sentences(unit: TreeUnit, today: str) -> Iterator[UnitSentence]:
    """Yield the sentences of a unit that may be shown; `today` counts for one without a time."""
    occurred = _tell_local_time(unit) or today
    text = _FENCE.sub("\n", unit.text) if "```" in unit.text else unit.text
    patch = _PATCH.search(text) if unit.kind == "email" else None
    text = (text[: patch.start()] if patch else text).strip()
    found = split_sentences(text[:_MOST_READ])
    at = 0
    for sentence in found if len(text) <= _MOST_READ else found[:-1]:
        plain = strip_marks(sentence)
        words = None if _NO_PROSE.match(sentence) else _find_words(plain)
        if words is not None and (len(words) > _MOST_COURTESY or not is_courtesy(plain)):
            cues = find_cues(plain, occurred)
            telling = frozenset(words) - STOP_WORDS
            yield UnitSentence(plain, telling, len(words), cues, unit, at, _find_kind(plain, len(words), cues, unit))
            at += 1
            if at == _MOST_SENTENCES:
                return


def _find_kind(text: str, length: int, cues: Cues, unit: TreeUnit) -> str:
    """Return what a sentence does. What only begins like a question is none if it is long or goes on; a document asks
    nobody."""
    if not cues.asks or unit.kind == "document":
        return DECIDED if cues.decides else SAID
    is_short = length <= _MOST_UNMARKED and text[-1] not in ":：;,"
    return ASKED if is_short or _QUESTION_MARK.search(text) else SAID


def score_sentences(sentences: Sequence[UnitSentence], title: str, people: Set[str], today: str) -> list[int]:
    """Return what each sentence of a thread tells, in points that hold across threads.

    `people` are the names of those who write and read on that day, word by word: they are no detail.
    """
    of_title = frozenset(split_words(title)) - STOP_WORDS
    units: dict[str, set[str]] = {}
    for sentence in sentences:
        units.setdefault(sentence.unit.id, set()).update(sentence.words)
    uses = Counter(word for words in units.values() for word in words) if len(units) > 1 else Counter[str]()
    shared = {word for word, number in uses.items() if number > 1}
    names = [[name for name in _NAME.findall(sentence.text) if name not in people] for sentence in sentences]
    # Where every noun has a capital, as in German, it tells nothing.
    is_german = sum(map(len, names)) > _MOST_NAMES * sum(sentence.length for sentence in sentences)
    scores = []
    for sentence, found in zip(sentences, names, strict=True):
        number_of_names = 0 if is_german else sum(not _is_day(name) for name in found)
        detail = 8 * min(3, len(sentence.words & of_title)) + 2 * min(4, len(sentence.words & shared))
        detail += 6 * min(4, number_of_names) + 3 * min(2, len(_NUMBER.findall(sentence.text)))
        scores.append(_score(sentence, detail, today))
    return scores


def _score(sentence: UnitSentence, detail: int, today: str) -> int:
    """Return what a sentence tells. "Agreed, we move to Aarhus" decides more than "I felt accepted"."""
    cues, length = sentence.cues, sentence.length
    points = detail + (16 + detail // 2) * cues.decides + (6 + detail // 2) * (cues.promises + cues.reports)
    if cues.dates and cues.dates[-1] > today:
        points += 13 if _HAS_DIGIT.search(sentence.text) else 3
    points += min(12, len(sentence.words)) - 12 * (length < 5) - 10 * (length > 45) + 2 * (sentence.at == 0)
    points -= 15 * (sentence.text[-1] in ":：")  # it only introduces what comes next
    return points - 15 * ("few-words" in sentence.unit.signals)


@lru_cache(maxsize=1_000)
def _is_day(word: str) -> bool:
    """Return whether a word names a day of the week, or a month."""
    return word.lower() in read_month_names() or bool(find_cues(word, "2026-01-01").dates)


def choose_different(scored: Iterable[tuple[int, UnitSentence]], most: int) -> list[tuple[int, UnitSentence]]:
    """Return the best sentences of a thread with their scores: of different people rather than of one, and none that
    says what a better one says."""
    left = sorted(scored, key=lambda item: (-item[0], item[1].unit.occurred, item[1].unit.id, item[1].at))
    chosen: list[tuple[int, UnitSentence]] = []
    voices = Counter[Person]()
    while left and len(chosen) < most:
        best = max(left, key=lambda item: item[0] - _SAME_VOICE * voices[item[1].unit.author])
        left.remove(best)
        words = best[1].words
        if all(10 * len(words & other.words) < 6 * min(len(words), len(other.words)) for _, other in chosen):
            chosen.append(best)
            voices[best[1].unit.author] += 1
    return chosen


def _find_words(text: str) -> Sequence[str] | None:
    """Return the words of a sentence in lower case; None for what is none: too short, a link, code, numbers."""
    plain = _URL.sub("", text) if "://" in text or "www." in text else text
    words = _WORD.findall(plain.lower())
    letters = sum(map(len, words))
    if not plain.isascii() and DENSE_RUN.search(plain):
        return split_words(plain) if letters >= _FEWEST_SIGNS else None
    signs = len(plain) - plain.count(" ")
    if len(words) < _FEWEST_WORDS or letters < _FEWEST_LETTERS * signs or (":" in plain and _LOGGED.search(plain)):
        return None
    return words if "?" in plain or len(_CODE_SIGN.findall(plain)) <= _MOST_CODE * signs else None


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; of a script without spaces, its pairs of signs."""
    words = _WORD.findall(text.lower())
    if text.isascii() or not DENSE_RUN.search(text):
        return words
    return [part for word in words for part in (_pair_signs(word) if DENSE_RUN.match(word) else (word,))]


def _pair_signs(word: str) -> Sequence[str]:
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def find_name_words(units: Iterable[TreeUnit], most_recipients: int) -> Set[str]:
    """Return the words of the names of everybody who writes units, and of their first recipients."""
    people = {person.name for unit in units for person in (unit.author, *unit.recipients[:most_recipients])}
    return {word for name in people for word in _WORD.findall(name)}


def show_name(person: Person) -> str:
    """Return a person's name as it is shown: "Lee, Ann" is Ann Lee, and who has no name is shown by the address."""
    name = person.name or person.address.partition("@")[0]
    last, comma, first = name.partition(",")
    if comma and "," not in first and "." not in name and first.strip():
        name = f"{first} {last}"
    return to_line(name, _MAX_NAME)


def to_line(text: str, most: int) -> str:
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
