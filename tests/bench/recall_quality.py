"""How well recall finds what answers a question: the share found, how early, how fast, and what it costs in tokens.

Every set is stored and asked through the book, as a user would. Beside it stand plain ways to search the same texts:
grep, FTS5 alone, vectors alone. Each way asks the same book in the same condition: a recall counts its hits as used,
and use raises an entry the next time, so the uses of the way before are forgotten first.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np

from commonplace.book import Book
from commonplace.embed import choose_embedder
from commonplace.embed.port import Embedder
from commonplace.model.errors import EmbedderMissing
from commonplace.model.settings import load_settings
from commonplace.text.words import STOP_WORDS, estimate_tokens
from tests.bench.recall_data import BookContents, RecallQuestion

DEPTH = 10
MODES = ("hybrid", "lexical", "semantic")
_WORD = re.compile(r"\w+")


class Quality(NamedTuple):
    """The figures of one way to search, over one set."""

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


class SearchAnswer(NamedTuple):
    """What one way to search answers to a question."""

    hits: Sequence[tuple[str, str]]  # keys and texts, best first
    nearest: Sequence[str] = ()  # keys that are named where nothing is found


class QuestionScore(NamedTuple):
    """One question with the keys that were found, and what that took."""

    question: RecallQuestion
    keys: Sequence[str]
    nearest: Sequence[str]
    ms: float
    tokens: int

    def fraction(self, depth: int, keys: Sequence[str] | None = None) -> float:
        """Return the share of the evidence among the first keys."""
        found = set((self.keys if keys is None else keys)[:depth])
        return len(self.question.evidence & found) / len(self.question.evidence)

    def has_all(self) -> bool:
        """Return whether all of the evidence was found."""
        return self.question.evidence <= set(self.keys)

    def reciprocal_rank(self) -> float:
        """Return one by the place of the first evidence; 0 if there is none."""
        places = (place for place, key in enumerate(self.keys, start=1) if key in self.question.evidence)
        return 1 / next(places, math.inf)

    def ndcg(self) -> float:
        """Return the normalised discounted cumulative gain, every evidence gaining the same."""
        evidence = self.question.evidence
        gain = sum(1 / math.log2(place + 2) for place, key in enumerate(self.keys) if key in evidence)
        return gain / sum(1 / math.log2(place + 2) for place in range(min(len(evidence), DEPTH)))

    def is_newer_first(self) -> bool:
        """Return whether a correction came before what it corrects."""
        newer = min((self.keys.index(key) for key in self.question.evidence if key in self.keys), default=DEPTH + 1)
        older = self.keys.index(self.question.older) if self.question.older in self.keys else DEPTH
        return newer < older


Search = Callable[[str], SearchAnswer]
FilledBooks = Sequence[tuple[BookContents, Book]]


@contextmanager
def fill_books(contents: Sequence[BookContents], folder: str) -> Iterator[FilledBooks]:
    """Yield each part of a set in a book of its own below a folder."""
    with ExitStack() as stack:
        books = []
        for number, one in enumerate(contents):
            book = stack.enter_context(Book.open(os.path.join(folder, str(number)), session=one.name, project=one.name))
            book.store_many(one.items)
            with contextlib.suppress(EmbedderMissing):  # a recall by meaning says so later
                book.embed()
            book.recall("warm up", scope=one.scope)
            books.append((one, book))
        yield books


def compare_ways(books: FilledBooks) -> list[Quality]:
    """Return the figures of our modes and of the plain ways; without an embedder, of those that need none."""
    settings = load_settings({}, os.environ, {})
    has_meaning = settings.embedder != "off"
    contents = [one for one, _ in books]
    results = [measure_mode(mode, books, mode) for mode in MODES if has_meaning or mode == "lexical"]
    results.append(measure_quality("grep", [(one, search_by_grep(one)) for one in contents]))
    results.append(measure_quality("fts5", [(one, search_by_fts5(one)) for one in contents]))
    if has_meaning:
        embedder = choose_embedder(settings.embedder, key=settings.embedder_key)
        results.append(measure_quality("vectors", [(one, search_by_vectors(one, embedder)) for one in contents]))
    return results


def measure_mode(name: str, books: FilledBooks, mode: str) -> Quality:
    """Return the figures of one of our modes, in books whose memories have not been used yet."""
    for _, book in books:
        _forget_uses(book)
    return measure_quality(name, [(one, search_by_book(book, one, mode)) for one, book in books])


def measure_quality(name: str, searches: Sequence[tuple[BookContents, Search]]) -> Quality:
    """Ask every question and return the figures."""
    scores = [_ask(search, question) for contents, search in searches for question in contents.questions]
    answerable = [score for score in scores if score.question.evidence]
    unanswerable = [score for score in scores if not score.question.evidence]
    updated = [score for score in answerable if score.question.older is not None]
    categories: dict[str, list[QuestionScore]] = {}
    for score in answerable:
        categories.setdefault(score.question.category, []).append(score)
    by_category = sorted(categories.items())
    return Quality(
        name=name,
        questions=len(scores),
        any5=_mean([score.fraction(5) > 0 for score in answerable]),
        fraction5=_mean([score.fraction(5) for score in answerable]),
        fraction10=_mean([score.fraction(10) for score in answerable]),
        all10=_mean([score.has_all() for score in answerable]),
        mrr=_mean([score.reciprocal_rank() for score in answerable]),
        ndcg10=_mean([score.ndcg() for score in answerable]),
        false_answers=_mean([bool(score.keys) for score in unanswerable]) if unanswerable else None,
        newer_first=_mean([score.is_newer_first() for score in updated]) if updated else None,
        p50_ms=statistics.median([score.ms for score in scores] or [0.0]),
        tokens=_mean([score.tokens for score in scores]),
        categories={name: _mean([score.fraction(5) for score in found]) for name, found in by_category},
        nearest={
            name: _mean([score.fraction(5, score.keys or score.nearest) for score in found])
            for name, found in by_category
        },
    )


def search_by_book(book: Book, contents: BookContents, mode: str) -> Search:
    """Return a search through recall."""

    def search(question: str) -> SearchAnswer:
        found = book.recall(question, scope=contents.scope, limit=DEPTH, mode=mode)
        return SearchAnswer([(hit.key, hit.text) for hit in found.hits], [item.key for item in found.nearest])

    return search


def search_by_grep(contents: BookContents) -> Search:
    """Return a search for the texts with the most of the words, as they are written."""
    lowered = [(key, text, text.lower()) for key, text in _texts(contents)]

    def search(question: str) -> SearchAnswer:
        words = _words(question)
        counted = [(sum(word in low for word in words), key, text) for key, text, low in lowered]
        best = sorted((item for item in counted if item[0]), key=lambda item: -item[0])[:DEPTH]
        return SearchAnswer([(key, text) for _, key, text in best])

    return search


def search_by_fts5(contents: BookContents) -> Search:
    """Return a search by SQLite's full text alone: porter, any of the words, best by bm25."""
    texts = _texts(contents)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    connection.executemany(
        "INSERT INTO t (rowid, text) VALUES (?, ?)", [(n, text) for n, (_, text) in enumerate(texts)]
    )

    def search(question: str) -> SearchAnswer:
        match = " OR ".join(f'"{word}"' for word in _words(question))
        if not match:
            return SearchAnswer([])
        found = connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return SearchAnswer([texts[number] for (number,) in found])

    return search


def search_by_vectors(contents: BookContents, embedder: Embedder) -> Search:
    """Return a search by one vector per text, nearest first, from the embedder that the book has too."""
    texts = _texts(contents)
    matrix = embedder.embed([text for _, text in texts])

    def search(question: str) -> SearchAnswer:
        order = np.argsort(-(matrix @ embedder.embed([question])[0]), kind="stable")[:DEPTH]
        return SearchAnswer([texts[number] for number in order])

    return search


def _ask(search: Search, question: RecallQuestion) -> QuestionScore:
    start = time.perf_counter()
    found = search(question.question)
    ms = (time.perf_counter() - start) * 1000
    keys = list(dict.fromkeys(key for key, _ in found.hits))[:DEPTH]
    return QuestionScore(question, keys, found.nearest, ms, sum(estimate_tokens(text) for _, text in found.hits))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _texts(contents: BookContents) -> list[tuple[str, str]]:
    return [(str(item["key"]), str(item["content"])) for item in contents.items]


def _words(question: str) -> list[str]:
    words = [word for word in _WORD.findall(question.lower()) if word not in STOP_WORDS]
    return words or _WORD.findall(question.lower())


def _forget_uses(book: Book) -> None:
    context = book.context
    with context.memories.index.reading(context.memories.space) as index:
        ids = [row.id for folder in index.folders("/memories") for row in index.rows(folder).values()]
    context.state.forget_uses(context.memories.space, ids)
