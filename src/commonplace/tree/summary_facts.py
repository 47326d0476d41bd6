"""The names, numbers, days and links of a text, for telling which of them another text lacks.

`validate` asks with every sentence that a model wrote. What can be told without knowing a language is told: a number is
the same however it is written (1,500 and 1500), a day is the same in words and in figures, a name is a word with a
capital. Not told: numbers in words, names in scripts without capitals, and, where nouns have capitals as in German,
names of one word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import APOSTROPHE_ENDING, STOP_WORDS, fold_text
from commonplace.tree.cues import find_cues
from commonplace.tree.entities import take_dates
from commonplace.tree.sentences import split_sentences

_LINK = lazy(r"(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"“”`|\\^{}]+")
_LINK_START = lazy(r"(?i)\A(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?")
_LINK_ENDS = ".,;:!?'*_)]>/"
_ADDRESS_SIGNS = lazy(r"@|\w\.\w*[^\W\d]")  # of a host, an address, a handle or a file
_CODE_SIGNS = lazy(r"[@#_=\\{}|]|\w\.\w*[^\W\d]|\w:\w*[^\W\d]")
_FILE_PATH = lazy(r"(?:\A|[^\w/<.~])[.~]{0,2}/\w|\w/[\w.-]+/\w")  # and/or is none
_SHORT_FORM = lazy(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}\Z")  # e.g, z.B, p.m
_DATE_LIKE = lazy(r"(?<![\w.,/-])\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?![\w/-]|\.\d)")
_NUMBER = lazy(r"\d+(?:[.,:'_]\d+)*")
_SPACED = lazy(r"(?<!\d)\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\d)")
_EAST_DAY = lazy(r"(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_LETTERS = lazy(r"[^\W\d_]+")
_HAS_YEAR = lazy(r"\d{4}")
_DIGIT = lazy(r"\d")
_EDGES = " .,;:!?…()[]{}<>\"'“”„‟‘’«»*_~`|/\\-–—#="
_SENTENCE_ENDS = frozenset(".!?:…")
_QUOTES = str.maketrans("‘’ʼ", "'''")
_BLANK = " ; "
_MIN_ROOT, _MAX_ENDING = 4, 3  # letters
_ENOUGH_WORDS, _MOST_CAPITALS = 30, 1 / 5  # of the words within sentences: with more, nouns have capitals

UNKNOWN_LINK, UNKNOWN_DATE = "unknown_link", "unknown_date"
UNKNOWN_NUMBER, UNKNOWN_NAME = "unknown_number", "unknown_name"


class FactCheck(NamedTuple):
    """What a text says that the input lacks."""

    reason: str = ""  # of the first thing that it surely lacks
    is_doubtful: bool = False  # it may have a name that the input lacks


class _Word(NamedTuple):
    """A word with a capital, or a break between such words."""

    parts: tuple[str, ...]  # its runs of letters that have a capital; none for any other word
    is_start: bool = False  # of a sentence, where every word has a capital
    joins: bool = False  # with the word before it: nothing but a space is between


class InputFacts:
    """The facts of an input: its texts, who wrote them, and when."""

    def __init__(self) -> None:
        self._links: set[str] = set()
        self._days: set[str] = set()
        self._months: set[int] = set()
        self._numbers: set[str] = set()
        self._words: set[str] = set()
        self._pairs: set[tuple[str, str]] = set()
        self._names: set[str] = set()
        self._texts: list[str] = []
        self._capitals = self._others = 0
        self._latest = ""

    def add_text(self, text: str, occurred: str = "") -> None:
        """Add a text, and the days that it names, seen from when it was written."""
        plain = _normalize(text)
        self._texts.append(fold_text(plain))
        self._links.update(_name_link(match.group()) for match in _LINK.finditer(plain))
        self._numbers.update(_find_numbers(_LINK.sub(_BLANK, plain)))
        self._add_day(occurred)
        self._latest = max(self._latest, occurred)
        for sentence in split_sentences(plain):
            named = [day for day, _ in take_dates(sentence, occurred)[0]]
            for day in (*named, *find_cues(sentence, occurred).dates):
                self._add_day(day)
        self._add_words(plain)
        for line in plain.split("\n"):
            for word in _read_words(line):
                self._capitals += bool(word.parts) and not word.is_start
                self._others += not word.parts and not word.is_start
                if not word.is_start:
                    self._names.update(map(fold_text, word.parts))

    def add_name(self, name: str) -> None:
        """Add the name of somebody who wrote some of it."""
        plain = _normalize(name)
        self._texts.append(fold_text(plain))
        self._numbers.update(_find_numbers(plain))
        self._names.update(self._add_words(plain))

    def check(self, text: str) -> FactCheck:
        """Return what a text says that the input lacks."""
        plain = _normalize(text)
        for link in _LINK.finditer(plain):
            if _name_link(link.group()) not in self._links:
                return FactCheck(UNKNOWN_LINK)
        plain = _LINK.sub(_BLANK, plain)
        days, plain = take_dates(plain, self._latest)
        east = [(f"0000-{int(match[1]):02}-{int(match[2]):02}", "") for match in _EAST_DAY.finditer(plain)]
        if not all(self._has_day(day, surface) for day, surface in [*days, *east]):
            return FactCheck(UNKNOWN_DATE)
        plain = _EAST_DAY.sub(_BLANK, plain)
        for match in _DATE_LIKE.finditer(plain):
            if not self._has(match.group()):
                return FactCheck(UNKNOWN_NUMBER if match[1] == "." else UNKNOWN_DATE)
        plain = _DATE_LIKE.sub(_BLANK, APOSTROPHE_ENDING.sub("", plain))
        tokens = []
        for token in plain.split():
            word = token.strip(_EDGES)
            is_code = _is_code(word) or _FILE_PATH.search(token) is not None
            if is_code and not self._has(word):
                return FactCheck(UNKNOWN_LINK if _ADDRESS_SIGNS.search(word) else UNKNOWN_NAME)
            tokens.append(_BLANK.strip() if is_code else token)
        rest = " ".join(tokens)
        if not all(self._has_number(match.group()) for match in _NUMBER.finditer(_join_spaced(rest, self._numbers))):
            return FactCheck(UNKNOWN_NUMBER)
        return self._check_names(rest)

    def _check_names(self, text: str) -> FactCheck:
        nouns_have_capitals = (
            self._capitals + self._others >= _ENOUGH_WORDS
            and self._capitals > (self._capitals + self._others) * _MOST_CAPITALS
        )
        is_doubtful = False
        before: _Word | None = None
        for word in _read_words(text):
            if not word.parts:
                before = None
                continue
            # "Yesterday Ann" is no name of two words.
            is_run = before is not None and word.joins and not (before.is_start and not self._is_name(before))
            for at, part in enumerate(word.parts):
                if self._has_word(part):
                    continue
                is_surely_name = part[1:] != part[1:].lower()  # NASA, GitHub
                if nouns_have_capitals and not is_surely_name:
                    is_doubtful = is_doubtful or is_run
                elif (is_surely_name or not word.is_start or at) and not self._is_form_of_name(part):
                    return FactCheck(UNKNOWN_NAME)
                else:
                    is_doubtful = is_doubtful or fold_text(part) not in STOP_WORDS
            if is_run and before is not None and not nouns_have_capitals:
                is_doubtful = is_doubtful or not self._has_pair(before.parts[-1], word.parts[0])
            before = word
        return FactCheck("", is_doubtful)

    def _has_word(self, part: str) -> bool:
        folded = fold_text(part)
        return folded in self._words or bool(self._months & _read_month(folded))

    def _is_form_of_name(self, part: str) -> bool:
        """Return whether a word may be a name of the input with another ending, as Slavic languages have them."""
        folded = fold_text(part)
        for name in self._names:
            length = max(len(name), len(folded))
            root = max(_MIN_ROOT, length - _MAX_ENDING)
            if length > _MIN_ROOT and name[:root] == folded[:root]:
                return True
        return False

    def _is_name(self, word: _Word) -> bool:
        return fold_text(word.parts[-1]) in self._names

    def _has_pair(self, first: str, second: str) -> bool:
        """Return whether two words stand side by side in the input, in either order."""
        one, other = fold_text(first), fold_text(second)
        return one == other or (one, other) in self._pairs or (other, one) in self._pairs

    def _has(self, word: str) -> bool:
        """Return whether the input has a word as it is, and not only within a longer one."""
        folded = fold_text(word)
        found = re.compile(rf"(?<![\w.-]){re.escape(folded)}(?![\w-]|\.\w)")
        return any(folded in text and found.search(text) for text in self._texts)

    def _has_day(self, day: str, surface: str) -> bool:
        if _HAS_YEAR.search(surface):
            return day in self._days
        return any(known[5:] == day[5:] for known in self._days)

    def _has_number(self, number: str) -> bool:
        return not self._numbers.isdisjoint(_number_forms(number))

    def _add_day(self, day: str) -> None:
        if len(day) >= 10:
            self._days.add(day[:10])
            self._months.add(int(day[5:7]))
            self._numbers.add(day[:4])

    def _add_words(self, text: str) -> list[str]:
        words = [fold_text(word) for word in _LETTERS.findall(text)]
        self._words.update(words)
        long = [word for word in words if len(word) > 1]
        self._pairs.update(pairwise(long))
        return words


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def _name_link(found: str) -> str:
    """Return a link without its scheme and what punctuation follows it."""
    return _LINK_START.sub("", found.rstrip(_LINK_ENDS)).casefold()


def _is_code(word: str) -> bool:
    """Return whether a word has to be in the input as it is: an address, a file, a ticket, a handle."""
    if _SHORT_FORM.match(word):
        return False
    return _CODE_SIGNS.search(word) is not None or (_DIGIT.search(word) is not None and word != word.lower())


def _find_numbers(text: str) -> Iterator[str]:
    """Yield every number of a text, in each way in which it can be meant."""
    for match in _NUMBER.finditer(text):
        yield from _number_forms(match.group())
    for match in _SPACED.finditer(text):
        yield from _number_forms(match.group().replace(" ", ""))


def _join_spaced(text: str, known: Iterable[str]) -> str:
    """Return a text with the spaces in `1 500` removed, where the input has that number."""
    return _SPACED.sub(lambda match: joined if (joined := match.group().replace(" ", "")) in known else match[0], text)


def _number_forms(number: str) -> set[str]:
    """Return what a number can mean, plainly: `1.500` is 1500 or 1.5, as people write it in one country or another."""
    digits = "".join(str(unicodedata.digit(sign)) if sign.isdigit() else sign for sign in number)
    pieces = re.split(r"\D", digits)
    if len(pieces) == 1:
        return {_strip_zeros(digits)}
    if ":" in digits:
        plain = [_strip_zeros(piece) for piece in pieces]
        hour = {plain[0]} if set(plain[1:]) == {"0"} else set()
        return {":".join(plain)} | hour
    forms = set()
    if all(len(piece) == 3 for piece in pieces[1:]):
        forms.add(_strip_zeros("".join(pieces)))
    signs = re.findall(r"\D", digits)
    if signs[-1] not in signs[:-1] and all(len(piece) == 3 for piece in pieces[1:-1]):
        fraction = pieces[-1].rstrip("0")
        forms.add(_strip_zeros("".join(pieces[:-1])) + (f".{fraction}" if fraction else ""))
    return forms or {".".join(map(_strip_zeros, pieces))}


def _strip_zeros(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _read_words(line: str) -> Iterator[_Word]:
    """Yield the words of a line; those with a capital have the parts that have one."""
    is_start, may_join = True, False
    for token in line.split():
        word = token.strip(_EDGES)
        if word:
            parts = tuple(part for part in _LETTERS.findall(word) if len(part) > 1 and part != part.lower())
            yield _Word(parts, is_start, may_join and token[0] == word[0])
            is_start = False
        is_start = is_start or token[-1] in _SENTENCE_ENDS
        may_join = bool(word) and token[-1] == word[-1]


def _read_month(name: str) -> set[int]:
    """Return the number of a month by its name; none for any other word."""
    return {int(day[5:7]) for day, _ in take_dates(f"1 {name} 2000", "")[0]}
