"""How well recall finds what answers a question: the share found, how early, how fast, and what it costs in tokens.

Every set is stored and asked through the book, as a user would. Beside it stand plain ways to search the same texts.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.bench.data import Asked, Shelf
from commonplace.book import Book
from commonplace.model.errors import EmbedderMissing
from commonplace.text.tokens import estimate_tokens

DEPTH = 10


class Result(NamedTuple):
    """One way to search, over one set."""

    name: str
    questions: int
    any5: float
    fraction5: float
    fraction10: float
    all10: float
    mrr: float
    ndcg10: float
    false_answers: float | None  # share of the unanswerable that got one
    newer_first: float | None  # share of the updated where the newer came before the older
    p50_ms: float
    tokens: float  # returned, on average
    categories: Mapping[str, float]  # fraction5 by category
    nearest: Mapping[str, float]  # the same, with what is named as nearest where nothing is found


class Said(NamedTuple):
    """What one way to search says to a question."""

    hits: Sequence[tuple[str, str]]  # keys and texts, best first
    nearest: Sequence[str] = ()  # keys that are named where nothing is found


Search = Callable[[str], Said]


def fill(book: Book, shelf: Shelf) -> None:
    book.store_many(shelf.items)
    with contextlib.suppress(EmbedderMissing):  # asked by words alone, or told when it is asked by meaning
        book.embed()
    book.recall("warm up", scope=shelf.scope)


def through_the_book(book: Book, shelf: Shelf, mode: str) -> Search:
    def search(question: str) -> Said:
        found = book.recall(question, scope=shelf.scope, limit=DEPTH, mode=mode)
        return Said([(hit.key, hit.text) for hit in found.hits], [item.key for item in found.nearest])

    return search


def measure(name: str, shelves: Sequence[tuple[Shelf, Search]]) -> Result:
    rows: list[tuple[Asked, list[str], float, int]] = []
    named: dict[str, list[float]] = {}
    for shelf, search in shelves:
        for asked in shelf.asked:
            start = time.perf_counter()
            found = search(asked.question)
            spent = (time.perf_counter() - start) * 1000
            keys = list(dict.fromkeys(key for key, _ in found.hits))[:DEPTH]
            rows.append((asked, keys, spent, sum(estimate_tokens(text) for _, text in found.hits)))
            if asked.evidence:
                named.setdefault(asked.category, []).append(_fraction(asked, keys or found.nearest, 5))
    answerable = [row for row in rows if row[0].evidence]
    lone = [row for row in rows if not row[0].evidence]
    updated = [row for row in answerable if row[0].older is not None]
    categories: dict[str, list[float]] = {}
    for asked, keys, _, _ in answerable:
        categories.setdefault(asked.category, []).append(_fraction(asked, keys, 5))
    return Result(
        name=name,
        questions=len(rows),
        any5=_mean([float(_fraction(asked, keys, 5) > 0) for asked, keys, _, _ in answerable]),
        fraction5=_mean([_fraction(asked, keys, 5) for asked, keys, _, _ in answerable]),
        fraction10=_mean([_fraction(asked, keys, 10) for asked, keys, _, _ in answerable]),
        all10=_mean([float(asked.evidence <= set(keys)) for asked, keys, _, _ in answerable]),
        mrr=_mean([_reciprocal(asked, keys) for asked, keys, _, _ in answerable]),
        ndcg10=_mean([_ndcg(asked, keys) for asked, keys, _, _ in answerable]),
        false_answers=_mean([float(bool(keys)) for _, keys, _, _ in lone]) if lone else None,
        newer_first=_mean([float(_newer_first(asked, keys)) for asked, keys, _, _ in updated]) if updated else None,
        p50_ms=statistics.median([spent for _, _, spent, _ in rows] or [0.0]),
        tokens=_mean([float(tokens) for _, _, _, tokens in rows]),
        categories={name: _mean(values) for name, values in sorted(categories.items())},
        nearest={name: _mean(values) for name, values in sorted(named.items())},
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _fraction(asked: Asked, keys: Sequence[str], depth: int) -> float:
    return len(asked.evidence & set(keys[:depth])) / len(asked.evidence)


def _reciprocal(asked: Asked, keys: Sequence[str]) -> float:
    return next((1 / place for place, key in enumerate(keys, start=1) if key in asked.evidence), 0.0)


def _ndcg(asked: Asked, keys: Sequence[str]) -> float:
    gained = sum(1 / math.log2(place + 2) for place, key in enumerate(keys) if key in asked.evidence)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(len(asked.evidence), DEPTH)))


def _newer_first(asked: Asked, keys: Sequence[str]) -> bool:
    newer = min((keys.index(key) for key in asked.evidence if key in keys), default=DEPTH + 1)
    older = keys.index(asked.older) if asked.older in keys else DEPTH
    return newer < older
