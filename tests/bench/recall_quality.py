"""How well recall finds what answers a question: the share found, how early, how fast, and what is said of the hits.

Every set is stored and asked through the book, as a user would. Beside it stand two plain ways to search the same
texts: FTS5 alone, and the book's own vectors alone. Each way asks the same book in the same condition: a recall counts
its hits as used, and use raises an entry the next time, so the uses of the way before are forgotten first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from commonplace.book import Book
from commonplace.model.choices import SearchMode
from commonplace.model.errors import EmbedderMissing
from commonplace.text.words import STOP_WORDS
from tests.bench.recall_data import BookContents, DataSet, RecallQuestion, Target

DEPTH = 10
MAX_LATER_HITS = 50  # that are asked for, to see the older of two notes
MODES: tuple[SearchMode, ...] = ("hybrid", "lexical")
_WORD = re.compile(r"\w+")


class Quality(NamedTuple):
    """The figures of one way to search, over one set; shares are from 0 to 1."""

    name: str
    questions: int
    any5: float
    fraction5: float
    fraction10: float
    first: float  # share of the questions whose first hit is evidence
    mrr: float
    ndcg10: float
    newer_in_two: float | None  # share of the updates whose newer memory is among the first two
    newer_told: float | None  # the same, or one of the two names it as later
    p50_ms: float
    categories: Mapping[str, float]  # fraction5 by category


class SearchAnswer(NamedTuple):
    """What one way to search answers to a question."""

    keys: Sequence[str]  # best first
    strong: frozenset[str] = frozenset()  # those of them that are strong
    later: Mapping[str, str] = {}  # the keys that some of them name as later


class QuestionScore(NamedTuple):
    """One question with the keys that were found, and how long that took."""

    question: RecallQuestion
    answer: SearchAnswer
    ms: float

    @property
    def is_right(self) -> bool:
        """Whether the first hit is evidence."""
        return self.answer.keys[:1] != [] and self.answer.keys[0] in self.question.evidence

    @property
    def is_strong(self) -> bool:
        """Whether the first hit is strong."""
        return self.answer.keys[:1] != [] and self.answer.keys[0] in self.answer.strong

    def fraction(self, depth: int) -> float:
        """Return the share of the evidence among the first keys."""
        return len(self.question.evidence & set(self.answer.keys[:depth])) / len(self.question.evidence)

    def tells_newer(self) -> bool:
        """Return whether one of the first two hits is evidence, or names it as later."""
        return any({key, self.answer.later.get(key)} & self.question.evidence for key in self.answer.keys[:2])

    def reciprocal_rank(self) -> float:
        """Return one by the place of the first evidence; 0 if there is none."""
        places = (place for place, key in enumerate(self.answer.keys, start=1) if key in self.question.evidence)
        return 1 / next(places, math.inf)

    def ndcg(self) -> float:
        """Return the normalised discounted cumulative gain, every evidence gaining the same."""
        evidence = self.question.evidence
        gain = sum(1 / math.log2(place + 2) for place, key in enumerate(self.answer.keys) if key in evidence)
        return gain / sum(1 / math.log2(place + 2) for place in range(min(len(evidence), DEPTH)))


class Strength(NamedTuple):
    """What the strength of first hits tells, as shares; None where there is nothing to count."""

    right_if_strong: float | None
    right_if_weak: float | None
    strong_if_right: float | None
    strong_if_unanswerable: float | None  # any hit of them

    @property
    def gap(self) -> float | None:
        """How much more often strong first hits are right than weak ones."""
        if self.right_if_strong is None or self.right_if_weak is None:
            return None
        return self.right_if_strong - self.right_if_weak


class LaterCount(NamedTuple):
    """How often the older memory of an update names the newer one, and another memory one that is no update of it."""

    updates: int
    right: int
    others: int
    wrong: int


Search = Callable[[str], SearchAnswer]
FilledBooks = Sequence[tuple[BookContents, Book]]


@contextmanager
def fill_books(data: DataSet, folder: Path) -> Iterator[FilledBooks]:
    """Yield each part of a set in a book of its own below a folder; one that was filled before is opened as it is."""
    with ExitStack() as stack:
        books = []
        for number, contents in enumerate(data.books):
            digest = hashlib.sha256(json.dumps(contents.items, sort_keys=True).encode()).hexdigest()[:12]
            root = folder / f"{data.name}-{number}-{digest}"
            is_filled = root.with_suffix(".filled")
            book = stack.enter_context(Book.open(root, session=contents.name, project=contents.name))
            if not is_filled.exists():
                book.store_many(contents.items)  # after a run that was cut, what is there is left as it is
                is_filled.touch()
            with contextlib.suppress(EmbedderMissing):  # a recall by meaning says so later
                book.embed()
            book.recall("warm up", scope=contents.scope)
            books.append((contents, book))
        yield books


def compare_ways(books: FilledBooks) -> Iterator[tuple[str, list[QuestionScore]]]:
    """Yield the answers of our modes and of the plain ways; without an embedder, of those that need none."""
    has_meaning = books[0][1].context.settings.embedder != "off"
    for mode in MODES:
        if has_meaning or mode == "lexical":
            yield mode, ask_mode(books, mode)
    yield "fts5", [_ask(search, item) for one, _ in books for search in [search_by_fts5(one)] for item in one.questions]
    if has_meaning:
        plain = [(one, search_by_vectors(book)) for one, book in books]
        yield "vectors", [_ask(search, item) for one, search in plain for item in one.questions]


def ask_mode(books: FilledBooks, mode: SearchMode = "hybrid") -> list[QuestionScore]:
    """Ask all questions in one of our modes, in books whose memories have not been used yet."""
    scores = []
    for contents, book in books:
        _forget_uses(book)
        search = search_by_book(book, contents, mode)
        scores += [_ask(search, item) for item in contents.questions]
    return scores


def measure_quality(name: str, scores: Sequence[QuestionScore]) -> Quality:
    """Return the figures of some answers."""
    answerable = [score for score in scores if score.question.evidence]
    updates = [score for score in answerable if score.question.older is not None]
    categories: dict[str, list[float]] = {}
    for score in answerable:
        categories.setdefault(score.question.category, []).append(score.fraction(5))
    return Quality(
        name=name,
        questions=len(scores),
        any5=_mean([score.fraction(5) > 0 for score in answerable]) or 0.0,
        fraction5=_mean([score.fraction(5) for score in answerable]) or 0.0,
        fraction10=_mean([score.fraction(10) for score in answerable]) or 0.0,
        first=_mean([score.is_right for score in answerable]) or 0.0,
        mrr=_mean([score.reciprocal_rank() for score in answerable]) or 0.0,
        ndcg10=_mean([score.ndcg() for score in answerable]) or 0.0,
        newer_in_two=_mean([score.fraction(2) > 0 for score in updates]),
        newer_told=_mean([score.tells_newer() for score in updates]),
        p50_ms=statistics.median([score.ms for score in scores] or [0.0]),
        categories={name: _mean(found) or 0.0 for name, found in sorted(categories.items())},
    )


def get_figure(quality: Quality, target: Target) -> float:
    """Return the figure by which a set is judged, in percent."""
    share = quality.categories.get(target.figure, 0.0)
    return 100 * float(getattr(quality, target.figure, share))


def measure_strength(scores: Sequence[QuestionScore]) -> Strength:
    """Return what the strength of first hits tells."""
    found = [score for score in scores if score.question.evidence and score.answer.keys]
    return Strength(
        right_if_strong=_mean([score.is_right for score in found if score.is_strong]),
        right_if_weak=_mean([score.is_right for score in found if not score.is_strong]),
        strong_if_right=_mean([score.is_strong for score in found if score.is_right]),
        strong_if_unanswerable=_mean([bool(score.answer.strong) for score in scores if not score.question.evidence]),
    )


def count_later(books: FilledBooks) -> LaterCount:
    """Ask the questions about updates, all questions where there are none, and count the hits that name a later one."""
    updates = right = 0
    others: dict[tuple[str, str], bool] = {}
    for contents, book in books:
        newer = {item.older: item.evidence for item in contents.questions if item.older is not None}
        updates += len(newer)
        found = set()
        for item in contents.questions:
            if newer and item.older is None:
                continue
            for hit in book.recall(item.question, scope=contents.scope, limit=MAX_LATER_HITS).hits:
                later = hit.later.key if hit.later is not None else None
                if hit.key not in newer:
                    others[contents.name, hit.key] = others.get((contents.name, hit.key), False) or later is not None
                elif hit.key == item.older and later in item.evidence:
                    found.add(hit.key)
        right += len(found)
    return LaterCount(updates, right, len(others), sum(others.values()))


def add_later_counts(counts: Sequence[LaterCount]) -> LaterCount:
    """Return the sum of some counts."""
    return LaterCount(*(sum(column) for column in zip(LaterCount(0, 0, 0, 0), *counts, strict=True)))


def search_by_book(book: Book, contents: BookContents, mode: SearchMode) -> Search:
    """Return a search through recall."""

    def search(question: str) -> SearchAnswer:
        hits = book.recall(question, scope=contents.scope, limit=DEPTH, mode=mode).hits
        later = {hit.key: hit.later.key for hit in hits if hit.later is not None}
        return SearchAnswer([hit.key for hit in hits], frozenset(hit.key for hit in hits if hit.strong), later)

    return search


def search_by_fts5(contents: BookContents) -> Search:
    """Return a search by SQLite's full text alone: porter, any of the words, best by bm25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(key UNINDEXED, text, tokenize='porter unicode61')")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(item["key"], item["content"]) for item in contents.items])

    def search(question: str) -> SearchAnswer:
        words = _WORD.findall(question.lower())
        match = " OR ".join(f'"{word}"' for word in [word for word in words if word not in STOP_WORDS] or words)
        if not match:
            return SearchAnswer([])
        found = connection.execute("SELECT key FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return SearchAnswer([key for (key,) in found])

    return search


def search_by_vectors(book: Book) -> Search:
    """Return a search by the vectors that a book has stored, nearest to the question first."""
    context = book.context
    semantic = context.semantic_index()
    with context.memories.index.reading(context.memories.space) as reading:
        rows = [row for row in reading.vectors(semantic._model, 0) if row.data]
        names = {item.no: item.name for item in reading.candidates([row.no for row in rows])}
    matrix = np.array([np.frombuffer(row.data, np.int8) for row in rows], np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)

    def search(question: str) -> SearchAnswer:
        order = np.argsort(-(matrix @ semantic.embed_question(question)), kind="stable")[:DEPTH]
        return SearchAnswer([names[rows[at].no] for at in order])

    return search


def _ask(search: Search, question: RecallQuestion) -> QuestionScore:
    start = time.perf_counter()
    answer = search(question.question)
    ms = (time.perf_counter() - start) * 1000
    return QuestionScore(question, answer._replace(keys=list(dict.fromkeys(answer.keys))), ms)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _forget_uses(book: Book) -> None:
    context = book.context
    with context.memories.index.reading(context.memories.space) as index:
        ids = [row.id for folder in index.folders("/memories") for row in index.rows(folder).values()]
    context.state.forget_uses(context.memories.space, ids)
