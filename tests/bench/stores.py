"""What a store costs, against replacing two files in one folder durably."""

from __future__ import annotations

import os
from pathlib import Path

from commonplace.index.memory import MemoryIndex
from commonplace.keep import life
from commonplace.keep.unit import Keep
from commonplace.model.memory import Entry, Trust
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath
from commonplace.vault.view import EVERYTHING
from tests.bench.made import Bench
from tests.bench.measure import Measure, Row, alternate

TEXT = "Integration tests need the --slow flag, and the database on port 54{:04d} must be up before they start."


class Book:
    """A book with some memories in one folder, stored to one by one."""

    def __init__(self, root: Path, name: str, memories: int) -> None:
        self.keep = Keep(LocalVault.at(root, make=True), MemoryIndex())
        self.folder = BookPath("memories", "agent", name)
        self.count = memories
        with self.keep.unit(self.folder, EVERYTHING) as unit:
            for number in range(memories):
                life.store(unit, key_of(number), entry(number), life.Labels(tags=("bench",)))
            unit.commit()

    def create(self, _: int) -> None:
        self.store(self.count)
        self.count += 1

    def append(self, turn: int) -> None:
        self.store(turn % self.count)

    def store(self, number: int) -> None:
        with self.keep.unit(self.folder, EVERYTHING) as unit:
            life.store(unit, key_of(number), entry(number), life.Labels(tags=("bench",)))
            unit.commit()

    def replace(self, turn: int) -> None:
        with self.keep.unit(self.folder, EVERYTHING) as unit:
            life.rewrite(unit, key_of(turn % self.count), [entry(turn)], life.Labels(), "bench")
            unit.commit()


def key_of(number: int) -> str:
    """Keys in no order, as people make them."""
    return f"{number * 7919 % 1_000_003:06d}-fact"


def entry(number: int) -> Entry:
    return Entry("", TEXT.format(number), trust=Trust.AGENT, author="bench")


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


def run(bench: Bench) -> list[Row]:
    root, rounds, large = bench.folder / "units", bench.rounds, bench.large
    small_book = Book(root, "small", 100)
    large_book = Book(root, "large", large)
    floor = Floor(root / "memories" / "agent" / "floor", (450, 2_300))
    labels_and_actions = [
        ("create", small_book.create, large_book.create),
        ("append", small_book.append, large_book.append),
    ]
    measures: list[Row] = []
    for label, small, big in labels_and_actions:
        floor_ms, small_ms, big_ms = alternate(rounds, floor, small, big)
        measures.append(Measure(f"unit ({label}), 100 in one folder, index in memory", floor_ms, small_ms, 1.5))
        measures.append(Measure(f"unit ({label}), {large:,}, against 100", small_ms, big_ms, 1.3))
    floor_ms, replace_ms = alternate(rounds, floor, small_book.replace)
    measures.append(Measure("unit (replace), 100 in one folder", floor_ms, replace_ms, 2.5))
    return measures
