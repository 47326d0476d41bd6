"""Combine what words and vectors found into one relevance, and cut the passage of an entry that is shown.

A relevance is a weighted sum of parts, each from 0 to 1. All weights are in the tables below; `make bench-recall`
prints what each is worth. Entries of a conversation are scored relative to each other, with what was said around them.
A lone note is scored by itself, so that a score means the same whatever else was found, and "nothing found" is an
answer too.

The passage of a long entry is the stretch of whole lines with most of the question's words; marks show what was left
out. `commonplace show` gives the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.tokens import estimate_tokens
from commonplace.text.words import QueryTerms, normalize_words

_QUESTION_END = lazy(r"\?[\s\"'”’)]*\Z")
_NUMBER = lazy(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|once|twice|half|double)\b"
)
_TIME = lazy(
    r"\b(?:\d{4}|\d{1,2}:\d\d|january|february|march|april|may|june|july|august|september|october|november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|yesterday|today|tomorrow|tonight|ago|last|next|week|"
    r"weekend|month|year|years|days|weeks|months|morning|evening|summer|winter|spring|autumn|fall)\b"
)
MAX_QUESTION_WORDS = 25  # words: a longer text with a question mark at its end also says something
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
LONE_ROUGH: Mapping[str, float] = {"words": 0.3, "meaning": 0.7}  # before the text is read
WORDS_ONLY: Mapping[str, float] = {
    "words": 0.6,
    "thread_words": 0.4,
    "author": 0.16,
    "question": -0.11,
    "answer_type": 0.11,
    "when": 0.12,
}


class ScoredEntry(NamedTuple):
    """An entry that words or vectors found, with both scores; the cosine is None if it has no vector."""

    no: int
    folder: str
    thread: str | None
    words: float
    cosine: float | None


def scale_parts(found: Iterable[ScoredEntry]) -> dict[int, dict[str, float]]:
    """Return the word and cosine parts of each entry, scaled from 0 to 1, and the best of its conversation."""
    entries = list(found)
    most = max([entry.words for entry in entries], default=0.0) or 1.0
    low, spread = measure_cosine_range(entries)
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


def measure_cosine_range(found: Iterable[ScoredEntry]) -> tuple[float, float]:
    """Return the lowest cosine, and the distance from it to the highest (1 if there is none)."""
    cosines = [entry.cosine for entry in found if entry.cosine is not None]
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
    return low, (high - low) or 1.0


def sum_weighted(parts: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the sum of the parts, each multiplied by its weight; a missing part counts as 0."""
    total, part = 0.0, parts.get
    for name, weight in weights.items():
        total += weight * part(name, 0.0)
    return total


def score_roughly(parts: Mapping[str, float], thread: str | None) -> float:
    """Return an entry's score before its text is read; an entry without a vector is scored by its words."""
    if "cosine" in parts:
        return sum_weighted(parts, LONE_ROUGH if thread is None else CONVERSATION)
    return parts["words"] if thread is None else sum_weighted(parts, WORDS_ONLY)


def is_short_question(text: str) -> bool:
    """Return whether a text is a short question, which says nothing itself."""
    return "?" in text and _QUESTION_END.search(text) is not None and len(text.split()) <= MAX_QUESTION_WORDS


def has_number(text: str) -> bool:
    """Return whether a text has a number in digits or in English words."""
    return _NUMBER.search(text.lower()) is not None


def has_time(text: str) -> bool:
    """Return whether a text has a year, a time of day or an English word for a time."""
    return _TIME.search(text.lower()) is not None


MAX_WHOLE_LENGTH = 2_400  # characters: up to here a text is shown whole
_MAX_PASSAGE = 1_600
OMISSION_MARK = "[...]"
_SOURCE_TOKENS = 12  # tokens: the line that says where a hit is from
_MARK_TOKENS = 6  # tokens: what was left out before and after
_MIN_PASSAGE = 8  # characters that are shown in however small a budget


def cut_passage(text: str, terms: QueryTerms, budget: int | None = None) -> str:
    """Return the text, or the best stretch of a long one; with a token budget, one that fits beside its source line."""
    shown = text if len(text) <= MAX_WHOLE_LENGTH else _cut_stretch(text, terms, _MAX_PASSAGE, len, _MAX_PASSAGE // 4)
    if budget is None or estimate_hit_tokens(shown) <= budget or len(text) <= _MIN_PASSAGE:
        return shown
    room = budget - _SOURCE_TOKENS - _MARK_TOKENS
    return _cut_stretch(text, terms, room, estimate_tokens, min(max(_MIN_PASSAGE, room // 2), _MAX_PASSAGE // 4))


def estimate_hit_tokens(shown: str) -> int:
    """Return the number of tokens of a hit that shows this text, its source line included."""
    return estimate_tokens(shown) + _SOURCE_TOKENS


def _cut_stretch(text: str, terms: QueryTerms, room: int, measure: Callable[[str], int], longest: int) -> str:
    """Return the piece with most of the question's words, and as many of the pieces around it as fit."""
    pieces = _split_pieces(text, longest)
    weights = [_count_words(piece, terms) for piece in pieces]
    best = max(range(len(pieces)), key=lambda at: (weights[at], -at))
    first = last = best
    size = measure(pieces[best])
    while True:  # grow to the side that has more of the words; else twice as far down, since what follows explains more
        above = weights[first - 1] if first > 0 else -1.0
        below = weights[last + 1] if last + 1 < len(pieces) else -1.0
        if above < 0 and below < 0:
            break
        up = above > below or (above == below and 2 * (best - first) < last - best)
        size += measure(pieces[first - 1 if up else last + 1])
        if size > room:
            break
        first, last = (first - 1, last) if up else (first, last + 1)
    shown = "".join(pieces[first : last + 1]).strip("\n")
    head = f"{OMISSION_MARK}\n" if first > 0 else ""
    tail = f"\n{OMISSION_MARK}" if last + 1 < len(pieces) else ""
    return f"{head}{shown}{tail}"


def _split_pieces(text: str, longest: int) -> list[str]:
    """Return the lines of a text with their line ends; a line that is too long is cut at spaces."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        while len(line) > longest:
            at = line.rfind(" ", 0, longest) + 1 or longest
            pieces.append(line[:at])
            line = line[at:]  # noqa: PLW2901 - what is left of it
        pieces.append(line)
    return pieces


def _count_words(piece: str, terms: QueryTerms) -> float:
    """Return how many of the question's words a piece has."""
    words: Sequence[Sequence[str]] = terms.words
    plain = normalize_words(piece)
    return float(sum(any(part in plain for part in word) for word in words))
