"""Plain ways to search the same texts, to compare with: by grep, by FTS5 alone, by vectors alone."""

from __future__ import annotations

import re
import sqlite3

from commonplace.bench.data import Shelf
from commonplace.bench.recall import DEPTH, Said, Search
from commonplace.embed.port import Embedder
from commonplace.text.words import STOP_WORDS

_WORD = re.compile(r"\w+")


def _texts(shelf: Shelf) -> list[tuple[str, str]]:
    return [(str(item["key"]), str(item["content"])) for item in shelf.items]


def _words(question: str) -> list[str]:
    words = [word for word in _WORD.findall(question.lower()) if word not in STOP_WORDS]
    return words or _WORD.findall(question.lower())


def by_grep(shelf: Shelf) -> Search:
    """Lines that have the most of the words, as they are written."""
    lowered = [(key, text, text.lower()) for key, text in _texts(shelf)]

    def search(question: str) -> Said:
        words = _words(question)
        counted = [(sum(word in low for word in words), key, text) for key, text, low in lowered]
        best = sorted((item for item in counted if item[0]), key=lambda item: -item[0])[:DEPTH]
        return Said([(key, text) for _, key, text in best])

    return search


def by_fts5(shelf: Shelf) -> Search:
    """SQLite's full text alone: porter, any of the words, best by bm25."""
    texts = _texts(shelf)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    connection.executemany(
        "INSERT INTO t (rowid, text) VALUES (?, ?)", [(n, text) for n, (_, text) in enumerate(texts)]
    )

    def search(question: str) -> Said:
        match = " OR ".join(f'"{word}"' for word in _words(question))
        if not match:
            return Said([])
        found = connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return Said([texts[number] for (number,) in found])

    return search


def by_vectors(shelf: Shelf, embedder: Embedder) -> Search:
    """One vector per text, nearest first; by the embedder that the book has too."""
    import numpy as np  # noqa: PLC0415 - only here

    texts = _texts(shelf)
    matrix = embedder.embed([text for _, text in texts])

    def search(question: str) -> Said:
        order = np.argsort(-(matrix @ embedder.embed([question])[0]), kind="stable")[:DEPTH]
        return Said([texts[number] for number in order])

    return search
