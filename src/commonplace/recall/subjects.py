"""Find what a note is about by its numbers, identifiers and names: web-01 is not web-02, staging is not production.

A sentence says before its verb what it is about, and after it what is true of it. In "Staging listens on port 6000" the
number is a value, which a later note may correct; in "Port 6000 is for staging" it is the subject. The verbs known are
English, with the most common ones of a few other languages; without a known verb, the first three words are taken for
the subject.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import STOP_WORDS, normalize_words, stem

_SENTENCE = lazy(r"(?<=[.!?;])\s+|\n+")
_APOSTROPHE_ENDING = lazy(r"['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*|:|=|->|→")
_IDENTIFIER = lazy(r".*[\d_./:@#+]|[a-z]{2,}[A-Z][a-z]")  # on-call is a word, and so are iOS and PyPI
_PART = lazy(r"\d+|[^\W\d_]+")
_WORD_AND_LETTER = lazy(r"[^\W_]{2,} [^\W\d_](?![\w'’])")  # a letter alone, with the word before it
_DEFAULT_SUBJECT_WORDS = 3  # words, where no verb is known
_MAX_SUBJECT_WORDS = 20  # words among which a verb is looked for
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
_AFTER_VERBS = frozenset(("a", "an", "the", "on", "at", "to", "by", "with", "our", "my", "its"))


class NoteText(NamedTuple):
    """A note as subjects are compared: its name with its tags, and its text."""

    name: str
    text: str


class _SentenceStart(NamedTuple):
    """What a sentence begins with, before its verb."""

    text: str
    identifiers: tuple[str, ...]  # its numbers and identifiers
    words: frozenset[str]  # the stems of its other telling words


class QuestionSubjects:
    """The numbers, identifiers and names of a question, to compare notes by.

    Texts are compared as `_space_words` writes them; each is converted once.
    """

    def __init__(self, question: str) -> None:
        words = _space_words(question).split()
        self._stems = {stem(word) for word in words if word not in STOP_WORDS}
        self._identifiers = _find_identifiers(question)
        self._letter_pairs = {
            f" {word} {letter} "
            for word, letter in pairwise(words)
            if len(letter) == 1 and letter.isalpha() and word not in STOP_WORDS
        }
        self._spaced: dict[str, str] = {}
        self._starts: dict[str, tuple[list[str], str]] = {}

    def __bool__(self) -> bool:
        return bool(self._identifiers or self._letter_pairs)

    def is_any_in(self, note: NoteText) -> bool:
        """Return whether a note has any of the question's numbers and identifiers."""
        text = f"{self._get_spaced(note.name)}{self._get_spaced(note.text)}"
        return any(thing in text for thing in (*self._identifiers, *self._letter_pairs))

    def is_named_apart(self, hit: NoteText, other: NoteText) -> bool:
        """Return whether a hit is about something that the question names, and another note is not.

        That is so if the question names what is in the hit and not in the other: before the verb; or after it, if the
        hit begins with a number or identifier that the other lacks, or with no word that it has.
        """
        text, elsewhere = self._get_spaced(hit.text), f"{self._get_spaced(other.name)}{self._get_spaced(other.text)}"
        named = [thing for thing in (*self._identifiers, *self._find_letter_names(hit.text)) if thing not in elsewhere]
        there = [thing for thing in named if thing in text]
        if not there:  # what only the name has is what the note is about; else a name often has the value too
            return any(thing in self._get_spaced(hit.name) for thing in named)
        words = {stem(word) for word in elsewhere.split()}
        leads = [
            _parse_start(part)
            for part in _SENTENCE.split(hit.text)
            if any(thing in _space_words(part) for thing in there)
        ]
        return any(
            any(thing in lead.text for thing in there)
            or any(thing not in elsewhere for thing in lead.identifiers)
            or (lead.words and lead.words.isdisjoint(words))
            for lead in leads
        )

    def is_apart_by_name(self, hit: NoteText, other: NoteText) -> bool:
        """Return whether two notes begin alike up to the verb but for one word, which the question names and the other
        note lacks: staging listens, production listens.
        """
        (start, verb), (other_start, other_verb) = self._get_start(hit.text), self._get_start(other.text)
        if len(start) != len(other_start) or verb != other_verb:
            return False
        differing = [word for word, another in zip(start, other_start, strict=True) if word != another]
        if len(differing) != 1 or (name := stem(differing[0])) not in self._stems:
            return False
        return name not in {
            stem(word) for word in f"{self._get_spaced(other.name)}{self._get_spaced(other.text)}".split()
        }

    def has_same_start(self, hit: NoteText, other: NoteText) -> bool:
        """Return whether two notes begin with the same telling words up to the same verb: my passport is here, my
        passport is there.
        """
        (start, verb), (other_start, other_verb) = self._get_start(hit.text), self._get_start(other.text)
        return bool(verb) and (start, verb) == (other_start, other_verb) and bool(self._find_first_word(hit.text))

    def has_other_start(self, hit: NoteText, other: NoteText) -> bool:
        """Return whether each of two notes begins with a word that the other lacks, and the question names the hit's
        word or a number that only the hit has.

        What Maria drinks is not what Jonas drinks.
        """
        first, second = self._find_first_word(hit.text), self._find_first_word(other.text)
        text, elsewhere = self._get_spaced(hit.text), self._get_spaced(other.text)
        named = first in self._stems or any(thing in text and thing not in elsewhere for thing in self._identifiers)
        return named and first != second and not (self._has_word(other, first) or self._has_word(hit, second))

    def _find_first_word(self, text: str) -> str:
        """Return the stem of the first telling word before a text's verb, or an empty string."""
        words, _ = self._get_start(text)
        return next((stem(word) for word in _space_words(" ".join(words)).split() if word not in STOP_WORDS), "")

    def _has_word(self, note: NoteText, word: str) -> bool:
        """Return whether a note's name or text has a word with this stem."""
        return word in {stem(part) for part in f"{self._get_spaced(note.name)}{self._get_spaced(note.text)}".split()}

    def _get_start(self, text: str) -> tuple[list[str], str]:
        """Return the words before a text's verb, without accents and case, and the verb; computed once per text."""
        if text not in self._starts:
            words, verb = _split_at_verb(text)
            self._starts[text] = [normalize_words(word) for word in words], verb
        return self._starts[text]

    def _find_letter_names(self, text: str) -> list[str]:
        """Return the pairs of a word and a capital letter in a text that the question has too: plan B."""
        if not any(pair in self._get_spaced(text) for pair in self._letter_pairs):
            return []
        pairs = [
            _space_words(pair) for pair in _WORD_AND_LETTER.findall(text) if pair[-1].isupper() and pair[-1] != "I"
        ]
        return [pair for pair in pairs if pair in self._letter_pairs]

    def _get_spaced(self, text: str) -> str:
        """Return `_space_words` of a text; computed once per text."""
        if text not in self._spaced:
            self._spaced[text] = _space_words(text)
        return self._spaced[text]


def has_leading_identifiers(text: str, other: str) -> bool:
    """Return whether another text has the numbers and identifiers that a text begins with."""
    spaced = _space_words(other)
    return all(thing in spaced for thing in _parse_start(text).identifiers)


def has_other_identifier(one: str, other: str) -> bool:
    """Return whether each of two texts begins with an identifier that the other lacks.

    A number alone may be the value: 8 workers run, and later 12 do.
    """
    return _has_own_identifier(one, other) and _has_own_identifier(other, one)


def _has_own_identifier(text: str, other: str) -> bool:
    """Return whether a text begins with an identifier that another lacks."""
    spaced = _space_words(other)
    return any(thing not in spaced and any(map(str.isalpha, thing)) for thing in _parse_start(text).identifiers)


def _space_words(text: str) -> str:
    """Return a text as its words and numbers with a space around each, so that `in` finds whole ones."""
    parts = (part.lstrip("0") or "0" for part in _PART.findall(normalize_words(_APOSTROPHE_ENDING.sub("", text))))
    return f" {' '.join(parts)} "


def _find_identifiers(text: str) -> list[str]:
    """Return the numbers and identifiers of a text, and neighbouring ones also as one: 3 2 is not 2 3."""
    tokens = _TOKEN.findall(_APOSTROPHE_ENDING.sub("", text))
    together = [f"{one} {other}" for one, other in pairwise(tokens) if _is_identifier(one) and _is_identifier(other)]
    return [_space_words(thing) for thing in (*filter(_is_identifier, tokens), *together)]


def _is_identifier(token: str) -> bool:
    """Return whether a token is a number or an identifier."""
    return token[0].isalnum() and _IDENTIFIER.match(token) is not None


def _parse_start(sentence: str) -> _SentenceStart:
    """Return what a sentence begins with, before its verb."""
    start, _ = _split_at_verb(sentence)
    plain = {
        stem(normalize_words(word)) for word in start if not _is_identifier(word) and word.lower() not in STOP_WORDS
    }
    return _SentenceStart(
        _space_words(" ".join(start)), tuple(map(_space_words, filter(_is_identifier, start))), frozenset(plain)
    )


def _split_at_verb(text: str) -> tuple[list[str], str]:
    """Return the words of a text's first sentence before its verb, and the verb; "" if none is known."""
    tokens = _TOKEN.findall(_APOSTROPHE_ENDING.sub("", _SENTENCE.split(text, 1)[0]))
    words = ["", *map(str.lower, tokens[:_MAX_SUBJECT_WORDS]), ""]
    for at, (before, word, behind) in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if word in _VERBS or before in _BEFORE_VERBS or (at and behind in _AFTER_VERBS and _has_verb_ending(word)):
            return tokens[:at], word
    return tokens[:_DEFAULT_SUBJECT_WORDS], ""


def _has_verb_ending(word: str) -> bool:
    """Return whether a word may be a verb by its ending."""
    return word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "us")))
