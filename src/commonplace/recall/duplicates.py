"""What is there already: the same text, or nearly.

Exact and white-space variants are always found. Nearly means most words in common, both ways; a number or a `not` that
differs makes it another fact, which is never a duplicate (port 5432 / 6000, allowed / not allowed).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.index.port import Candidate
from commonplace.model.patterns import lazy
from commonplace.text.words import index_words, stem

NEAR = 0.82
_WORD = lazy(r"[^\W_]+")
_TURNS = frozenset({"not", "no", "never", "without", "n't", "don", "doesn", "isn", "aren", "cannot", "stop", "disable"})


class Similar(NamedTuple):
    folder: str
    name: str
    similarity: float
    summary: str


def same(one: str, other: str) -> bool:
    """The same text but for white space."""
    return one == other or one.split() == other.split()


def similarity(one: str, other: str) -> float:
    """From 0 to 1: how much of both texts' words is in both; 0 when they may contradict each other."""
    left, right = _words(one), _words(other)
    if not left or not right:
        return 1.0 if same(one, other) else 0.0
    if {w for w in left ^ right if w.isdigit() or any(ch.isdigit() for ch in w) or w in _TURNS}:
        return 0.0
    return len(left & right) / len(left | right)


def near_duplicates(text: str, candidates: Sequence[Candidate], *, limit: int = 5) -> list[Similar]:
    """The memories that already say nearly this, most alike first, each once."""
    best: dict[tuple[str, str], Similar] = {}
    for candidate in candidates:
        if candidate.row is None or candidate.recorded.end is not None:
            continue
        alike = similarity(text, candidate.recorded.entry.text)
        place = (candidate.folder, candidate.name)
        if alike >= NEAR and (place not in best or best[place].similarity < alike):
            best[place] = Similar(*place, round(alike, 3), candidate.row.summary)
    return sorted(best.values(), key=lambda item: (-item.similarity, item.folder, item.name))[:limit]


def _words(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in _WORD.findall(index_words(text)))
