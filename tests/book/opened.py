"""A book as a test opens it, and what a test asks of it."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import cast

from commonplace import Book
from commonplace.model.choices import RoleChoice, ScopeChoice
from commonplace.model.times import shift_time

PROJECT = "github.com/acme/app"
DATABASES = ("index.db", "state.db")


def open_book(
    root: Path,
    *,
    project: str | None = PROJECT,
    agent: str | None = None,
    session: str | None = None,
    role: str = "person",
    sealed: bool | None = None,
    cwd: Path | None = None,
) -> Book:
    who = cast("RoleChoice", role)  # a test may name one that is none
    return Book.open(root, project=project, agent=agent, session=session, role=who, sealed=sealed, cwd=cwd)


def keys(book: Book, query: str = "", *, scope: ScopeChoice | None = None, limit: int = 10) -> list[str]:
    """The keys of what has words of a query, best first; by meaning, everything would be a weak match."""
    return [hit.key for hit in book.recall(query, scope=scope, limit=limit, mode="lexical").hits]


def texts(book: Book, query: str = "", *, as_of: str | None = None, limit: int = 10) -> list[str]:
    """The texts of what has words of a query, best first."""
    return [hit.text for hit in book.recall(query, as_of=as_of, limit=limit, mode="lexical").hits]


def files(root: Path, *, databases: bool = True) -> dict[str, bytes]:
    """Every file below a root with its bytes; without databases, locks and audit when these do not count."""
    found: dict[str, bytes] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            derived = name.startswith(DATABASES) or path.parent.name in ("locks", "audit")
            if path.is_file() and not path.is_symlink() and (databases or not derived):
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def holds(root: Path, text: str) -> list[str]:
    """The files below a root that have a text in them, databases and their logs included."""
    return [name for name, data in files(root).items() if text.encode() in data]


def at(book: Book, time: str) -> Book:
    """Give a book a clock that stands still: both the machine's and the one that it writes by."""
    book.context.memories.clock = book.context.memories.system_clock = lambda: time
    return book


def believed_at(book: Book, time: str) -> Book:
    """Give a book a clock that stands still, and that retention believes: it looked the day before."""
    at(book, shift_time(time, -86_400)).retire()
    return at(book, time)


def tick(book: Book, *, day: int = 1, year: int = 2026) -> None:
    """Give a book a clock that goes on by an hour each time it is read."""
    hours = itertools.count()

    def clock() -> str:
        hour = next(hours)
        return f"{year}-01-{day + hour // 24:02d}T{hour % 24:02d}:00:00Z"

    book.context.memories.clock = clock  # the one thing that a caller cannot set
