"""What a whole book costs: recall, growth, bulk writes, the check at open and the rebuild."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
from pathlib import Path

from commonplace.book import Book
from commonplace.keep.scopes import scope_folders
from tests.bench.measure import Measure, alternate, once
from tests.bench.stores import Floor

WORDS = [
    "staging",
    "database",
    "port",
    "deploy",
    "release",
    "branch",
    "review",
    "pytest",
    "flag",
    "cache",
    "token",
    "queue",
    "worker",
    "retry",
    "timeout",
    "index",
    "page",
    "schema",
    "migration",
    "backup",
    "restore",
    "metric",
    "alert",
    "dashboard",
    "region",
    "cluster",
    "node",
    "image",
    "container",
    "registry",
    "secret",
    "role",
    "policy",
    "audit",
    "invoice",
    "customer",
    "order",
    "cart",
    "price",
    "discount",
    "search",
    "filter",
    "sort",
    "upload",
    "download",
    "avatar",
    "profile",
]


def texts(count: int, seed: int = 7) -> list[str]:
    rng = random.Random(seed)
    return [f"{' '.join(rng.choices(WORDS, k=14))} number {number}." for number in range(count)]


def run(root: Path, rounds: int, large: int) -> list[Measure]:
    measures: list[Measure] = []
    small, big = root / "small-book", root / "large-book"
    with Book.open(small, project="bench/small") as few, Book.open(big, project="bench/large") as many:
        few.store_many({"content": text, "key": f"fact-{n:05d}"} for n, text in enumerate(texts(100)))
        measures.append(_bulk(root, many, large))
        measures += _stores(root, few, many, rounds, large)
        measures += _recalls(root, many, large, rounds)
    measures += _opening(big, large)
    measures.append(_journal(root))
    return measures


def _journal(root: Path) -> Measure:
    """The newest entries of a journal of 100,000 lines against reading its timeline once, as plain bytes."""
    task = {"worker": "bench", "description": "Measure it", "result": "done"}
    with Book.open(root / "journals", project="bench/journal") as book:
        for number in range(120):
            book.record_run({"run_id": f"r{number}", "finished": "2026-01-01", "tasks": [task] * 5})
        folder = root / "journals" / "journal" / book._desk.journal().name
        text = (folder / "event-2026-01-01.md").read_bytes()
        days = [f"event-2025-{1 + n // 28:02d}-{1 + n % 28:02d}.md" for n in range(1 + 100_000 // text.count(b"\n"))]
        for name in days:
            (folder / name).write_bytes(text)
        whole_ms, recent_ms = alternate(
            20, lambda _: [(folder / name).read_bytes() for name in days], lambda _: book.recent_memory()
        )
    return Measure("recent_memory, 100,000 lines, against reading them", whole_ms, recent_ms, 0.5)


def _bulk(root: Path, book: Book, count: int) -> Measure:
    items = [{"content": text, "key": f"fact-{n:05d}"} for n, text in enumerate(texts(count))]
    folder = root / "bulk-floor"
    folder.mkdir()
    floor = once(lambda: _write_all(folder, count))
    ours = once(lambda: book.store_many(items))
    return Measure(f"store_many of {count:,}", floor, ours, 3.0)


def _write_all(folder: Path, count: int) -> None:
    """The same number of files and about the same bytes: write all, sync all, rename all, sync the folder."""
    data = b"x" * 480
    for start in range(0, count, 500):
        opened = []
        for number in range(start, min(start + 500, count)):
            fd = os.open(folder / f".tmp-{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(fd, data)
            opened.append(fd)
        for fd in opened:
            os.fsync(fd)
            os.close(fd)
    for number in range(count):
        os.rename(folder / f".tmp-{number}", folder / f"{number}.md")
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def _stores(root: Path, few: Book, many: Book, rounds: int, large: int) -> list[Measure]:
    floor = Floor(root / "small-book" / "data" / "floor", (450, 2_300))
    new = iter(texts(10_000, seed=11))

    def create(book: Book, prefix: str) -> None:
        text = next(new)
        book.store(text, key=f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:12]}")

    floor_ms, small_ms, large_ms = alternate(rounds, floor, lambda _: create(few, "new"), lambda _: create(many, "new"))
    found = [
        Measure("Book.store (create), 100 in one folder", floor_ms, small_ms, 1.5),
        Measure(f"Book.store (create), {large:,}, against 100", small_ms, large_ms, 1.3),
    ]
    floor_ms, append_ms, replace_ms = alternate(
        rounds,
        floor,
        lambda turn: few.store(next(new), key=f"fact-{turn % 100:05d}"),
        lambda turn: few.store(next(new), key=f"fact-{turn % 100:05d}", mode="replace"),
    )
    found.append(Measure("Book.store (append), 100 in one folder", floor_ms, append_ms, 1.5))
    found.append(Measure("Book.store mode=replace, 100 in one folder", floor_ms, replace_ms, 2.5))
    return found


def _recalls(root: Path, book: Book, large: int, rounds: int) -> list[Measure]:
    """Recall in a long-lived process against one bare bm25 query of the same words on the same text."""
    bare = sqlite3.connect(root / "bare.db")
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    bare.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts(large)])
    bare.commit()
    rng = random.Random(3)
    questions = [rng.sample(WORDS, 3) for _ in range(rounds + 5)]

    def fts(turn: int) -> object:
        match = " OR ".join(questions[turn])
        return bare.execute(
            "SELECT rowid, bm25(t) AS r FROM t WHERE t MATCH ? ORDER BY r LIMIT 10", (match,)
        ).fetchall()

    book.recall("warm up")
    floor_ms, ours_ms = alternate(rounds, fts, lambda turn: book.recall(" ".join(questions[turn])))
    return [Measure(f"recall, warm, {large:,}", floor_ms, ours_ms, 3.0)]


def _opening(root: Path, large: int) -> list[Measure]:
    """The check of every file at open, and the rebuild of the index from nothing."""
    notes = root / "memories" / "project"

    def scan(_: int) -> None:
        for folder, _names, _files in os.walk(notes):
            with os.scandir(folder) as found:
                for item in found:
                    item.stat(follow_symlinks=False)

    with Book.open(root, project="bench/large") as book:
        keep = book._desk.keep
        (folder,) = [place for place in scope_folders(keep) if place.parts[1] == "project"]
        scan_ms, check_ms = alternate(7, scan, lambda _: keep.freshen(folder))
    read_ms = once(lambda: [hashlib.sha256(path.read_bytes()).digest() for path in notes.rglob("*.md")])
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        (root / ".commonplace" / name).unlink(missing_ok=True)
    with Book.open(root, project="bench/large") as book:
        keep = book._desk.keep
        rebuild_ms = once(lambda: keep.freshen(folder))
    return [
        Measure(f"change check of {large:,} files", scan_ms, check_ms, 2.0),
        Measure(f"rebuild of {large:,}", read_ms, rebuild_ms, 20.0),
    ]
