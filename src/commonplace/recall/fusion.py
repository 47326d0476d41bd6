"""From what words and meaning found to one relevance: a weighted sum, each part from 0 to 1. And the passage to show.

Every weight stands in one table, and `make bench-recall` prints what each is worth. Entries of a conversation are
judged against each other, with what was said around them; a lone note by itself, so that the same number says the same
whatever else was found, and nothing found is an answer too.

What is shown of a long entry is the stretch of whole lines that has most of the question's words, and marks where
something was left out. The whole text is one `show` away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.tokens import estimate_tokens
from commonplace.text.words import QueryTerms, normalize_words

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


class ScoredEntry(NamedTuple):
    """An entry that words or meaning found, with what each said of it; None where it said nothing."""

    no: int
    folder: str
    thread: str | None
    words: float
    cosine: float | None


def scaled(found: Iterable[ScoredEntry]) -> dict[int, dict[str, float]]:
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


def scale(found: Iterable[ScoredEntry]) -> tuple[float, float]:
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


LONG = 2_400  # characters: up to here a text is shown whole
_SHOWN = 1_600
LEFT_OUT = "[...]"
_SOURCE = 12  # tokens: the line that says where a hit is from
_MARKS = 6  # tokens: what was left out before and after
_SMALLEST = 8  # characters that are shown in however small a budget


def passage(text: str, terms: QueryTerms, budget: int | None = None) -> str:
    """The text, or the best stretch of it; with a budget of tokens, one that it has room for beside its source."""
    shown = text if len(text) <= LONG else _stretch(text, terms, _SHOWN, len, _SHOWN // 4)
    if budget is None or cost(shown) <= budget or len(text) <= _SMALLEST:
        return shown
    room = budget - _SOURCE - _MARKS
    return _stretch(text, terms, room, estimate_tokens, min(max(_SMALLEST, room // 2), _SHOWN // 4))


def cost(shown: str) -> int:
    """How many tokens a hit takes that shows this."""
    return estimate_tokens(shown) + _SOURCE


def _stretch(text: str, terms: QueryTerms, room: int, measure: Callable[[str], int], longest: int) -> str:
    """The piece that has most of the words, and of those around it as many as there is room for."""
    pieces = _pieces(text, longest)
    weights = [_weight(piece, terms) for piece in pieces]
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
    head = f"{LEFT_OUT}\n" if first > 0 else ""
    tail = f"\n{LEFT_OUT}" if last + 1 < len(pieces) else ""
    return f"{head}{shown}{tail}"


def _pieces(text: str, longest: int) -> list[str]:
    """Lines with their ends; one that is too long is cut at spaces."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        while len(line) > longest:
            at = line.rfind(" ", 0, longest) + 1 or longest
            pieces.append(line[:at])
            line = line[at:]  # noqa: PLW2901 - what is left of it
        pieces.append(line)
    return pieces


def _weight(piece: str, terms: QueryTerms) -> float:
    words: Sequence[Sequence[str]] = terms.words
    plain = normalize_words(piece)
    return float(sum(any(part in plain for part in word) for word in words))
