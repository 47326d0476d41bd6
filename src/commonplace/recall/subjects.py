"""What a note is about, as far as numbers, identifiers and names tell: web-01 is not web-02, staging not production.

A sentence says before its verb what it is about, and behind it what is so. In "Staging listens on port 6000" the number
is a value, which a later note may correct; in "Port 6000 is for staging" it is the subject. Verbs are known in English,
and the commonest of a few other languages; where none is known, the first three words are taken for the subject.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import STOP_WORDS, normalize_words, stem

_SENTENCE = lazy(r"(?<=[.!?;])\s+|\n+")
_ENDING = lazy(r"['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*|:|=|->|→")
_CODE = lazy(r".*[\d_./:@#+]|[a-z]{2,}[A-Z][a-z]")  # on-call is a word, and so are iOS and PyPI
_PART = lazy(r"\d+|[^\W\d_]+")
_LETTER = lazy(r"[^\W_]{2,} [^\W\d_](?![\w'’])")  # a letter alone, with the word before it
_FIRST = 3  # words, where no verb is known
_MOST = 20  # words among which a verb is looked for
_VERBS = frozenset(
    """
    is are was were isn aren wasn has have had hasn haven will won would can cannot could must should may might does do
    did doesn don didn means uses use runs listens lives lies stands sits stays needs takes goes go comes come begins
    belongs costs holds keeps keep gets got moved allows serves contains includes expires reads writes fixes adds says
    said became becomes returns fails failed lasts covers replaces replaced wants likes prefers owns sends puts put
    ist sind war hat hatte kostet steht est sont sono es era tiene jest это : = -> →
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_BEFORE_VERBS = frozenset(("i", "we", "you", "he", "she", "it", "they"))
_BEHIND_VERBS = frozenset(("a", "an", "the", "on", "at", "to", "by", "with", "our", "my", "its"))


class NoteSubjects(NamedTuple):
    name: str
    text: str


class _Lead(NamedTuple):
    """What a sentence begins with, before its verb."""

    said: str
    written: tuple[str, ...]  # its numbers and identifiers
    words: frozenset[str]  # the stems of its other telling words


class Named:
    """The numbers and identifiers that a question names. Texts are compared as `_spoken`, each cut up once."""

    def __init__(self, question: str) -> None:
        asked = _spoken(question).split()
        self._words = {stem(word) for word in asked if word not in STOP_WORDS}
        self._things = _written(question)
        self._lettered = {
            f" {word} {letter} "
            for word, letter in pairwise(asked)
            if len(letter) == 1 and letter.isalpha() and word not in STOP_WORDS
        }
        self._known: dict[str, str] = {}
        self._begins: dict[str, tuple[list[str], str]] = {}

    def __bool__(self) -> bool:
        return bool(self._things or self._lettered)

    def are_in(self, note: NoteSubjects) -> bool:
        """Whether a note has any of them."""
        text = f"{self._said(note.name)}{self._said(note.text)}"
        return any(thing in text for thing in (*self._things, *self._lettered))

    def tell_apart(self, hit: NoteSubjects, other: NoteSubjects) -> bool:
        """Whether a hit is about something that the question names, and another note is not.

        That is so if the question names what is in the hit and not in the other: before the verb; or behind it, if the
        hit begins with a number or identifier that the other lacks, or with no word that it has.
        """
        text, elsewhere = self._said(hit.text), f"{self._said(other.name)}{self._said(other.text)}"
        named = [thing for thing in (*self._things, *self._letters(hit.text)) if thing not in elsewhere]
        there = [thing for thing in named if thing in text]
        if not there:  # what only the name has is what the note is about; else a name often has the value too
            return any(thing in self._said(hit.name) for thing in named)
        words = {stem(word) for word in elsewhere.split()}
        leads = [_lead(part) for part in _SENTENCE.split(hit.text) if any(thing in _spoken(part) for thing in there)]
        return any(
            any(thing in lead.said for thing in there)
            or any(thing not in elsewhere for thing in lead.written)
            or (lead.words and lead.words.isdisjoint(words))
            for lead in leads
        )

    def tell_by_name(self, hit: NoteSubjects, other: NoteSubjects) -> bool:
        """Whether two notes begin with the same words up to the verb but for one, which the question names and the
        other note lacks: staging listens, production listens."""
        (begin, verb), (theirs, other_verb) = self._begun(hit.text), self._begun(other.text)
        if len(begin) != len(theirs) or verb != other_verb:
            return False
        differing = [word for word, another in zip(begin, theirs, strict=True) if word != another]
        if len(differing) != 1 or (name := stem(differing[0])) not in self._words:
            return False
        return name not in {stem(word) for word in f"{self._said(other.name)}{self._said(other.text)}".split()}

    def begin_alike(self, hit: NoteSubjects, other: NoteSubjects) -> bool:
        """Whether two notes begin with the same words up to the same verb, and something is told by them: my passport
        is here, my passport is there."""
        (begin, verb), (theirs, other_verb) = self._begun(hit.text), self._begun(other.text)
        return bool(verb) and (begin, verb) == (theirs, other_verb) and bool(self._first(hit.text))

    def begin_apart(self, hit: NoteSubjects, other: NoteSubjects) -> bool:
        """Whether each of two notes begins with a word that the other lacks, and the question names that of the hit, or
        a number that only the hit has: what Maria drinks is not what Jonas drinks, nor port 6000 of whom port 443."""
        first, second = self._first(hit.text), self._first(other.text)
        text, elsewhere = self._said(hit.text), self._said(other.text)
        named = first in self._words or any(thing in text and thing not in elsewhere for thing in self._things)
        return named and first != second and not (self._has(other, first) or self._has(hit, second))

    def _first(self, text: str) -> str:
        words, _ = self._begun(text)
        return next((stem(word) for word in _spoken(" ".join(words)).split() if word not in STOP_WORDS), "")

    def _has(self, note: NoteSubjects, word: str) -> bool:
        return word in {stem(part) for part in f"{self._said(note.name)}{self._said(note.text)}".split()}

    def _begun(self, text: str) -> tuple[list[str], str]:
        """What `_begin` says of a text, bare."""
        if text not in self._begins:
            words, verb = _begin(text)
            self._begins[text] = [normalize_words(word) for word in words], verb
        return self._begins[text]

    def _letters(self, text: str) -> list[str]:
        """What a capital letter names in a text, with the word before it, as far as the question has both."""
        if not any(pair in self._said(text) for pair in self._lettered):
            return []
        pairs = [_spoken(pair) for pair in _LETTER.findall(text) if pair[-1].isupper() and pair[-1] != "I"]
        return [pair for pair in pairs if pair in self._lettered]

    def _said(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = _spoken(text)
        return self._known[text]


def begins_within(text: str, other: str) -> bool:
    """Whether another text has the numbers and identifiers that a text begins with."""
    said = _spoken(other)
    return all(thing in said for thing in _lead(text).written)


def are_named_apart(one: str, other: str) -> bool:
    """Whether each of two texts begins with an identifier that the other lacks. A number alone may be what is said: 8
    workers run, and 12 do later."""
    return _names_more(one, other) and _names_more(other, one)


def _names_more(text: str, other: str) -> bool:
    said = _spoken(other)
    return any(thing not in said and any(map(str.isalpha, thing)) for thing in _lead(text).written)


def _spoken(text: str) -> str:
    """A text as its words and numbers with a space around each, so that `in` tells whether a thing is in it."""
    parts = (part.lstrip("0") or "0" for part in _PART.findall(normalize_words(_ENDING.sub("", text))))
    return f" {' '.join(parts)} "


def _written(text: str) -> list[str]:
    """The numbers and identifiers of a text, and those that stand together also as one: 3 2 is not 2 3."""
    tokens = _TOKEN.findall(_ENDING.sub("", text))
    together = [f"{one} {other}" for one, other in pairwise(tokens) if _is_written(one) and _is_written(other)]
    return [_spoken(thing) for thing in (*filter(_is_written, tokens), *together)]


def _is_written(token: str) -> bool:
    return token[0].isalnum() and _CODE.match(token) is not None


def _lead(sentence: str) -> _Lead:
    begin, _ = _begin(sentence)
    plain = {stem(normalize_words(word)) for word in begin if not _is_written(word) and word.lower() not in STOP_WORDS}
    return _Lead(_spoken(" ".join(begin)), tuple(map(_spoken, filter(_is_written, begin))), frozenset(plain))


def _begin(text: str) -> tuple[list[str], str]:
    """The words of a text's first sentence before its verb, and the verb; "" where none is known."""
    tokens = _TOKEN.findall(_ENDING.sub("", _SENTENCE.split(text, 1)[0]))
    words = ["", *map(str.lower, tokens[:_MOST]), ""]
    for at, (before, word, behind) in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if word in _VERBS or before in _BEFORE_VERBS or (at and behind in _BEHIND_VERBS and _is_formed(word)):
            return tokens[:at], word
    return tokens[:_FIRST], ""


def _is_formed(word: str) -> bool:
    """Whether a word may be a verb by its ending."""
    return word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "us")))
