"""A script of operations on a book, with the root kept as it is at every point of every index commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from commonplace import Book
from tests.stateful.books import leave, notes, open_book

WORDS = ("quartz", "basalt", "granite", "marble", "obsidian", "pumice", "slate", "shale", "gneiss", "chalk", "flint")
Operation = Callable[[Book, Path], object]


@dataclass(frozen=True, slots=True)
class Point:
    """Where a process may be killed: inside which operation, at which moment of a commit, and what it leaves."""

    operation: int
    moment: str
    root: Path


@dataclass(slots=True)
class Watch:
    """Keeps the root at every point, or at every so many."""

    root: Path
    kept: Path
    step: int
    reached_points: int = 0
    operation: int = 0
    points: list[Point] = field(default_factory=list)

    def reached(self, moment: str) -> None:
        self.reached_points += 1
        if self.reached_points % self.step:
            return
        place = self.kept / f"{len(self.points):04d}"
        self.points.append(Point(self.operation, moment, leave(self.root, place)))


def _watched(watch: Watch) -> type[sqlite3.Connection]:
    class Watched(sqlite3.Connection):
        def execute(self, sql: str, /, *arguments: Any) -> sqlite3.Cursor:
            verb = sql.split(None, 1)[0]
            if verb in ("BEGIN", "COMMIT"):
                watch.reached(f"before {verb}")
            done = super().execute(sql, *arguments)
            if verb == "COMMIT":
                watch.reached("after COMMIT")
            return done

    return Watched


def script() -> list[Operation]:
    """Every verb that changes something, and hands that change files past the book."""
    return [
        lambda book, _: book.store("Quartz is the first fact.", key="first", tags=["stone"]),
        lambda book, _: book.store("Basalt was added to it.", key="first"),
        lambda book, _: book.store("Granite holds everywhere.", key="rock/hard", scope="global", type="user"),
        lambda book, _: book.store("Marble replaced the others.", key="first", mode="replace", summary="Marble"),
        lambda book, _: book.store_many([{"content": f"Obsidian number {n}.", "key": f"o-{n}"} for n in range(25)]),
        lambda book, _: book.undo("first"),
        lambda _, root: by_hand(root / "memories/global/mine.md", "# mine\n\nPumice, written by hand.\n"),
        lambda book, _: book.store("Slate joins a note made by hand.", key="mine", scope="global"),
        lambda book, _: book.forget("o-3"),
        lambda book, _: book.recall("obsidian"),
        lambda book, _: book.store("Shale is in the place of what was forgotten.", key="o-3"),
        lambda book, _: book.consolidate(["o-4", "o-5"], "Gneiss out of two.", key="both"),
        lambda book, _: book.forget("o-6"),
        lambda book, _: book.restore("o-6"),
        lambda book, _: book.link("o-7", "contradicts", "o-8"),
        lambda book, _: book.forget("o-9", purge=True),
        lambda _, root: by_hand(root / "memories/global/rock/hard.md", "Chalk instead.\n"),
        lambda book, _: book.forget("o-10"),
        lambda book, _: book.forget("o-10", purge=True),
        lambda book, _: book.recall("gneiss"),
        lambda book, _: book.clear("global"),
        lambda book, _: book.store("Flint is the last.", scope="global"),
    ]


def by_hand(path: Path, text: str) -> None:
    """As an editor saves: a new file in the place of the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    saved = path.with_name(f"{path.name}~")
    saved.write_text(text, encoding="utf-8")
    saved.replace(path)


def play(root: Path, kept: Path, step: int = 1) -> tuple[list[Point], list[dict[str, bytes]]]:
    """Run the script; answers the points (one of so many), and the notes before the first and after each operation."""
    watch = Watch(root, kept, step)
    root.mkdir()
    real = sqlite3.connect

    def connect(path: str, *arguments: Any, **named: Any) -> sqlite3.Connection:
        if str(path).endswith("index.db"):
            named["factory"] = _watched(watch)
        connection: sqlite3.Connection = real(path, *arguments, **named)
        return connection

    states: list[dict[str, bytes]] = [{}]
    with patch.object(sqlite3, "connect", connect), open_book(root) as book:
        for number, operation in enumerate(script(), start=1):
            watch.operation = number
            operation(book, root)
            states.append(notes(root))
    return watch.points, states
