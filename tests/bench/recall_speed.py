"""What a recall costs in a process that lives: against bare FTS5, bare vectors, and itself in a smaller book.

Milliseconds here are of work, not of waiting, except in the table of growth: a warm recall and its floors read nothing
from the disk.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

import numpy as np

from commonplace.book import Book
from commonplace.embed import choose_embedder
from commonplace.model.settings import load_settings
from tests.bench.measure import WORK, Growth, Measure, Row, alternate
from tests.bench.scratch_books import Bench, make_vectors, notes, questions, texts
from tests.bench.store_speed import rebuilt

Ask = Callable[[int], object]
FEWEST = 15  # rounds of what is dear


def recall(bench: Bench) -> list[Row]:
    large, largest = bench.large, bench.largest
    asked = questions(max(FEWEST, bench.rounds) + 5)
    fts, vectors = bare_fts(large, asked), bare_vectors(large, asked)
    with bench.book(large) as book:
        embedder = book.context.semantic_index().embedder
        fts_ms, vectors_ms, embed_ms, ours_ms, words_ms = alternate(
            bench.rounds,
            fts,
            vectors,
            lambda turn: embedder.embed([asked[turn]]),
            lambda turn: book.recall(asked[turn]),
            lambda turn: book.recall(asked[turn], mode="lexical"),
            clock=WORK,
        )
        rest_ms = ours_ms - embed_ms
        rows: list[Row] = [
            # The budget is three times the floor and the vector of the question, which `embed` measures.
            Measure(f"recall, warm, {large:,}, without the question's vector, against bare FTS5", fts_ms, rest_ms, 3.0),
            Measure(f"recall --mode lexical, warm, {large:,}, against bare FTS5", fts_ms, words_ms, None),
            Measure(f"recall, warm, {large:,}, against bare vectors", vectors_ms, ours_ms, None),
            Measure(f"recall, warm, {large:,}, against both, bare", fts_ms + vectors_ms, ours_ms, None),
        ]
        with bench.book(largest) as larger:
            ours_ms, larger_ms = alternate(
                max(FEWEST, bench.rounds // 3),
                lambda turn: book.recall(asked[turn]),
                lambda turn: larger.recall(asked[turn]),
                clock=WORK,
            )
        rows.append(Measure(f"recall, warm, {largest:,}, against {large:,}", ours_ms, larger_ms, 6.0))
    return rows


def bare_fts(count: int, asked: list[str]) -> Ask:
    """One bm25 query of the same words on the same texts, and nothing else."""
    bare = sqlite3.connect(":memory:")
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    bare.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts(count)])

    def ask(turn: int) -> object:
        match = " OR ".join(asked[turn].split())
        return bare.execute(
            "SELECT rowid, bm25(t) AS r FROM t WHERE t MATCH ? ORDER BY r LIMIT 10", (match,)
        ).fetchall()

    return ask


def bare_vectors(count: int, asked: list[str]) -> Ask:
    """The question's vector times the matrix of the same texts' vectors, and the ten largest."""
    embedder = choose_embedder(load_settings({}, os.environ, {}).embedder)  # as the books have it
    matrix = make_vectors(embedder, texts(count))

    def ask(turn: int) -> object:
        # Not `@`: its threads go on spinning for a while, and that would count as the work of whoever is next.
        near = np.einsum("ij,j->i", matrix, embedder.embed([asked[turn]])[0])
        best = np.argpartition(-near, 10)[:10]
        return best[np.argsort(-near[best])]

    return ask


def growth(bench: Bench) -> list[Row]:
    """The same in a tenth of the memories, in all, and in ten times as many."""
    sizes = (max(11, bench.large // 10), bench.large, bench.largest)
    rounds = max(FEWEST, bench.rounds // 5)
    asked, new = questions(rounds + 5), iter(texts((rounds + 5) * len(sizes), seed=13))

    def check(book: Book, _: int) -> None:
        keep, folder = notes(book)
        keep.freshen(folder)

    actions: Mapping[str, tuple[int, Callable[[Book, int], object]]] = {
        "change check": (3, check),
        "recall": (rounds, lambda book, turn: book.recall(asked[turn])),
        "recall --mode lexical": (rounds, lambda book, turn: book.recall(asked[turn], mode="lexical")),
        "store (create)": (rounds, lambda book, _: book.store(next(new))),
    }
    rows: list[Row] = []
    with ExitStack() as stack:
        books = [stack.enter_context(bench.book(size)) for size in sizes]
        for name, (times, action) in actions.items():
            found = alternate(times, *(partial(action, book) for book in books))
            rows.append(Growth(name, dict(zip(sizes, found, strict=True))))
    whole = {size: rebuilt(bench.root(size), size)[2] for size in sizes}
    return [*rows, Growth("rebuild, to the first recall", whole)]
