"""Books of any size for the measures, each filled once in a run, and what is asked of them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from commonplace.book import Book
from commonplace.embed.port import Embedder
from commonplace.memories.lookup import scope_folders
from commonplace.memories.store import MemoryStore
from commonplace.model.choices import StoreItem
from commonplace.vault.paths import BookPath
from tests.bench.measure import once

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors

WORDS = [
    "staging", "database", "port", "deploy", "release", "branch", "review", "pytest", "flag", "cache", "token", "queue",
    "worker", "retry", "timeout", "index", "page", "schema", "migration", "backup", "restore", "metric", "alert",
    "dashboard", "region", "cluster", "node", "image", "container", "registry", "secret", "role", "policy", "audit",
    "invoice", "customer", "order", "cart", "price", "discount", "search", "filter", "sort", "upload", "download",
    "avatar", "profile",
]  # fmt: skip

_MAX_EMBEDDED = 1_000  # texts: a model takes 10 ms for each
_NOISE = 0.02  # on a vector of length one: no two are equal


def texts(count: int, seed: int = 7) -> list[str]:
    rng = random.Random(seed)
    return [f"{' '.join(rng.choices(WORDS, k=14))} number {number}." for number in range(count)]


def questions(count: int) -> list[str]:
    rng = random.Random(3)
    return [" ".join(rng.sample(WORDS, 3)) for _ in range(count)]


class Bench:
    """What the sections share: the disk that is measured, how often, how large, and the books."""

    def __init__(self, folder: Path, rounds: int, large: int, largest: int) -> None:
        self.folder, self.rounds, self.large, self.largest = folder, rounds, large, largest
        self.filling_ms: dict[int, float] = {}  # how long `store_many` took, by size

    def root(self, count: int) -> Path:
        """The root of a book with so many memories in one project."""
        root = self.folder / f"book-{count}"
        if count not in self.filling_ms:
            items: list[StoreItem] = [{"content": text, "key": f"fact-{n:06d}"} for n, text in enumerate(texts(count))]
            # How long the largest takes to fill is not measured, and on a busy disk that would be most of a run.
            syncs = mock.patch.object(os, "fsync", lambda _: None) if count > self.large else nullcontext()
            with syncs, Book.open(root, project=project(count)) as book:
                self.filling_ms[count] = once(lambda: book.store_many(items))
                embed_whole(book)
                book.recall("warm up")
        return root

    @contextmanager
    def book(self, count: int) -> Iterator[Book]:
        with Book.open(self.root(count), project=project(count)) as book:
            book.recall("warm up")
            yield book


def embed_whole(book: Book) -> None:
    """Give every entry a vector: with an embedder that takes minutes, questions alone would leave most without one.

    In a large book most are made up: what is timed does not depend on their numbers.
    """
    context = book.context
    semantic, memories = context.semantic_index(), context.memories
    model = semantic._model  # under which the book looks for them
    with memories.index.reading(memories.space) as reading:
        waiting = reading.unembedded(model, 1_000_000)
    if len(waiting) > _MAX_EMBEDDED:
        rows = make_vectors(semantic.embedder, [item.text for item in waiting])
        packed = [row.tobytes() for row in (rows * (127 / np.abs(rows).max())).round().astype(np.int8)]
        with memories.index.transaction(memories.space) as writing:
            writing.put_vectors(model, [(item.no, data) for item, data in zip(waiting, packed, strict=True)])
            # Compared with each other, made-up ones say nothing, and in a large book that takes longer than to fill it.
            writing.set_later(dict.fromkeys([item.no for item in waiting], 0))
    book.embed()


def make_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return a vector for each text: those of the first thousand, and for the others these with a little noise."""
    known = embedder.embed(texts[:_MAX_EMBEDDED])
    noise = np.random.default_rng(7).normal(0, _NOISE, (len(texts), known.shape[1])).astype(np.float32)
    noise[: len(known)] = 0
    rows: Vectors = known[np.arange(len(texts)) % len(known)] + noise
    return rows


def project(count: int) -> str:
    return f"bench/{count}"


def notes(book: Book) -> tuple[MemoryStore, BookPath]:
    """What keeps a book of ours, and the folder of its one project."""
    keep = book.context.memories
    (folder,) = [place for place in scope_folders(keep) if place.parts[1] == "project"]
    return keep, folder
