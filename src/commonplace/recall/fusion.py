"""From what words and meaning found to one relevance: a weighted sum, each part from 0 to 1.

Every weight stands in one table, and `make bench` prints what each is worth. Entries of a
conversation are judged against each other, with what was said around them; a lone note by itself, so that the same
number says the same whatever else was found, and nothing found is an answer too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from commonplace.model.patterns import lazy

_QUESTION = lazy(r"\?[\s\"'”’)]*\Z")
_NUMBER = lazy(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|once|twice|half|double)\b"
)
_TIME = lazy(
    r"\b(?:\d{4}|\d{1,2}:\d\d|january|february|march|april|may|june|july|august|september|october|november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|yesterday|today|tomorrow|tonight|ago|last|next|week|"
    r"weekend|month|year|years|days|weeks|months|morning|evening|summer|winter|spring|autumn|fall)\b"
)
SHORT = 25  # words: a longer text with a question mark at its end also says something

CONVERSATION: Mapping[str, float] = {
    "words": 0.28,
    "thread_words": 0.22,
    "meaning": 0.25,
    "meaning_before": 0.06,
    "meaning_after": 0.09,
    "thread_meaning": 0.08,
    "author": 0.12,
    "question": -0.14,
    "answer_type": 0.13,
    "when": 0.12,
}
LONE: Mapping[str, float] = {"said": 0.45, "cosine": 0.55, "when": 0.1}
LONE_FOREIGN: Mapping[str, float] = {"coverage": 0.5, "said": 0.25, "cosine": 0.25, "when": 0.1}  # beyond Latin
# Whether there is an answer among lone notes: how good the best is, and how much of the question the best say together.
ANSWERED: Mapping[str, float] = {"best": 0.67, "together": 0.33}
LONE_ROUGH: Mapping[str, float] = {"words": 0.3, "meaning": 0.7}  # before anybody looked at the text
WORDS_ONLY: Mapping[str, float] = {
    "words": 0.6,
    "thread_words": 0.4,
    "author": 0.16,
    "question": -0.11,
    "answer_type": 0.11,
    "when": 0.12,
}


class Found(NamedTuple):
    """An entry that words or meaning found, with what each said of it; None where it said nothing."""

    no: int
    folder: str
    thread: str | None
    words: float
    cosine: float | None


def scaled(found: Iterable[Found]) -> dict[int, dict[str, float]]:
    """Each entry's words and meaning from 0 to 1 over all that were found, and the best of its conversation."""
    entries = list(found)
    most = max([entry.words for entry in entries], default=0.0) or 1.0
    low, spread = scale(entries)
    parts: dict[int, dict[str, float]] = {}
    best_words: dict[tuple[str, str], float] = {}
    best_meaning: dict[tuple[str, str], float] = {}
    for no, folder, thread, own, cosine in entries:
        words = own / most
        meaning = (cosine - low) / spread if cosine is not None else 0.0
        parts[no] = {"words": words, "meaning": meaning}
        if cosine is not None:
            parts[no]["cosine"] = cosine
        if thread is not None:
            place = (folder, thread)
            best_words[place] = max(best_words.get(place, 0.0), words)
            best_meaning[place] = max(best_meaning.get(place, 0.0), meaning)
    for entry in entries:
        if entry.thread is not None:
            place = (entry.folder, entry.thread)
            parts[entry.no] |= {"thread_words": best_words[place], "thread_meaning": best_meaning[place]}
    return parts


def scale(found: Iterable[Found]) -> tuple[float, float]:
    """The lowest cosine among them, and how far the highest is from it."""
    cosines = [entry.cosine for entry in found if entry.cosine is not None]
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
    return low, (high - low) or 1.0


def weighed(parts: Mapping[str, float], weights: Mapping[str, float]) -> float:
    total, part = 0.0, parts.get
    for name, weight in weights.items():
        total += weight * part(name, 0.0)
    return total


def roughly(parts: Mapping[str, float], thread: str | None) -> float:
    """How good an entry seems before anybody looked at its text. One without a vector is judged by its words."""
    if "cosine" in parts:
        return weighed(parts, LONE_ROUGH if thread is None else CONVERSATION)
    return parts["words"] if thread is None else weighed(parts, WORDS_ONLY)


def is_short_question(text: str) -> bool:
    return "?" in text and _QUESTION.search(text) is not None and len(text.split()) <= SHORT


def has_number(text: str) -> bool:
    return _NUMBER.search(text.lower()) is not None


def has_time(text: str) -> bool:
    return _TIME.search(text.lower()) is not None
