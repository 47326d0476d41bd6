"""What a whole book costs: one store, bulk writes, the check at open and the rebuild."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from commonplace.book import Book
from tests.bench.measure import WORK, Duration, Measure, Row, alternate, once
from tests.bench.scratch_books import Bench, embed_whole, notes, project, texts

SYNC_MS = 1.0  # what a sync takes at least on a disk that really syncs


class Floor:
    """The same bytes in two files, replaced as a careful program would, and nothing else."""

    def __init__(self, folder: Path, sizes: tuple[int, int]) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.data = [b"x" * size for size in sizes]

    def __call__(self, turn: int) -> None:
        opened = []
        for number, data in enumerate(self.data):
            temp = self.folder / f".tmp-{turn}-{number}"
            fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(fd, data)
            opened.append((fd, temp))
        for fd, _ in opened:
            os.fsync(fd)
        for number, (fd, temp) in enumerate(opened):
            os.close(fd)
            os.rename(temp, self.folder / f"file-{number}")
        fd = os.open(self.folder, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


def bulk(bench: Bench) -> list[Row]:
    """One call with many memories, against the same bytes."""
    bench.root(bench.large)
    folder = bench.folder / "bulk-floor"
    folder.mkdir()
    floor = once(lambda: _write_all(folder, bench.large))
    return [Measure(f"store_many of {bench.large:,}", floor, bench.filling_ms[bench.large], 3.0)]


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


def store(bench: Bench) -> list[Row]:
    """Store through the book, one by one; a book of its own, so that no other measure sees what they add."""
    small, large = bench.folder / "small-stores", bench.folder / "large-stores"
    floor = Floor(small / "data" / "floor", (450, 2_300))
    new = iter(texts(40 * bench.rounds + 100, seed=11))

    def create(book: Book) -> None:
        text = next(new)
        book.store(text, key=f"new-{hashlib.sha256(text.encode()).hexdigest()[:12]}")

    with Book.open(small, project="bench/small") as few, Book.open(large, project="bench/large") as many:
        for book, count in ((few, 100), (many, bench.large)):
            book.store_many({"content": text, "key": f"fact-{n:06d}"} for n, text in enumerate(texts(count)))
        actions = (
            lambda _: create(few),
            lambda turn: few.store(next(new), key=f"fact-{turn % 100:06d}"),
            lambda turn: few.store(next(new), key=f"fact-{turn % 100:06d}", mode="replace"),
            lambda _: create(many),
        )
        work_ms = alternate(bench.rounds, *actions, clock=WORK)
        with slow_syncs():
            floor_ms, create_ms, append_ms, replace_ms, large_ms = alternate(bench.rounds, floor, *actions)
    sync = f"sync {SYNC_MS:g} ms"
    names = ("create", "append", "mode=replace", f"create, {bench.large:,} in one folder")
    return [
        Measure(f"Book.store (create), 100 in one folder, {sync}", floor_ms, create_ms, 1.8),
        Measure(f"Book.store (append), 100 in one folder, {sync}", floor_ms, append_ms, 1.8),
        Measure(f"Book.store mode=replace, 100 in one folder, {sync}", floor_ms, replace_ms, 2.5),
        Measure(f"Book.store (create), {bench.large:,}, against 100", create_ms, large_ms, 1.3),
        *(Duration(f"CPU of a store ({name})", ms, None) for name, ms in zip(names, work_ms, strict=True)),
    ]


@contextmanager
def slow_syncs() -> Iterator[None]:
    """Let every sync, the floor's too, take a millisecond at least, as on a disk that really syncs. Where a sync costs
    next to nothing, a store would be measured against next to nothing."""
    sync = os.fsync

    def slow(fd: int) -> None:
        start = time.perf_counter()
        sync(fd)
        time.sleep(max(0.0, SYNC_MS / 1_000 - (time.perf_counter() - start)))

    with mock.patch.object(os, "fsync", slow):
        yield


def opening(bench: Bench) -> list[Row]:
    """The check of every file at open, and the rebuild of the index from nothing."""
    root, large = bench.root(bench.large), bench.large
    files = root / "memories" / "project"
    with bench.book(large) as book:
        keep, folder = notes(book)
        scan_ms, check_ms = alternate(7, lambda _: scan(files), lambda _: keep.freshen(folder))
    read_ms = once(lambda: [hashlib.sha256(path.read_bytes()).digest() for path in files.rglob("*.md")])
    rows_ms, words_ms, all_ms = rebuilt(root, large)
    return [
        Measure(f"change check of {large:,} files", scan_ms, check_ms, 2.0),
        Measure(f"rebuild of {large:,}: rows, entries and pages", read_ms, rows_ms, 20.0),
        Measure(f"rebuild of {large:,}, to the first recall by words", read_ms, words_ms, 20.0),
        Measure(f"rebuild of {large:,}, to the first recall by meaning", read_ms, all_ms, 20.0),
    ]


def scan(files: Path) -> None:
    for folder, _names, _files in os.walk(files):
        with os.scandir(folder) as found:
            for item in found:
                item.stat(follow_symlinks=False)


def rebuilt(root: Path, count: int) -> tuple[float, float, float]:
    """From no index at all: until the files are read, until words are found, until all of it is."""
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        (root / ".commonplace" / name).unlink(missing_ok=True)
    with Book.open(root, project=project(count)) as book:
        keep, folder = notes(book)
        rows_ms = once(lambda: keep.freshen(folder))
        words_ms = once(lambda: book.recall("staging database port", mode="lexical"))
        meaning_ms = once(lambda: book.recall("staging database port"))
        embed_whole(book)  # for what is measured next
    return rows_ms, rows_ms + words_ms, rows_ms + words_ms + meaning_ms


def journal(bench: Bench) -> list[Row]:
    """The newest entries of a journal of 100,000 lines against reading its timeline once, as plain bytes."""
    task = {"worker": "bench", "description": "Measure it", "result": "done"}
    root = bench.folder / "journals"
    with Book.open(root, project="bench/journal") as book:
        for number in range(120):
            book.record_run({"run_id": f"r{number}", "finished": "2026-01-01", "tasks": [task] * 5})
        folder = root / "journal" / book.context.journal().name
        text = (folder / "event-2026-01-01.md").read_bytes()
        days = [f"event-2025-{1 + n // 28:02d}-{1 + n % 28:02d}.md" for n in range(1 + 100_000 // text.count(b"\n"))]
        for name in days:
            (folder / name).write_bytes(text)
        whole_ms, recent_ms = alternate(
            20, lambda _: [(folder / name).read_bytes() for name in days], lambda _: book.recent_memory()
        )
    return [Measure("recent_memory, 100,000 lines, against reading them", whole_ms, recent_ms, 0.5)]
