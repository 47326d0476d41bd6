"""Helpers for the tests of the state in a file: open, look inside, fill, find what was moved aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from unittest import mock

from commonplace.model import times
from commonplace.model.scope import LOCAL
from commonplace.state.sqlite import SqliteState
from tests.state.conformance import BORN, at


@contextmanager
def opened(path: Path, created_at: str | None = None) -> Iterator[SqliteState]:
    """Open a state; where it is new, it begins at this time."""
    with closing(open_at(created_at, lambda: SqliteState(path))) as state:
        yield state


def open_at(when: str | None, opening: Callable[[], SqliteState]) -> SqliteState:
    """Open a state while the clock shows this time."""
    with mock.patch.object(times, "now", lambda: when) if when else nullcontext():
        return opening()


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        found: list[tuple[object, ...]] = connection.execute(sql).fetchall()
        connection.commit()
        return found


def filled(path: Path) -> bytes:
    """A state with enough in it to have many pages, closed; answers its bytes."""
    with opened(path, created_at=BORN) as state:
        state.set_fact(LOCAL, "fact", "kept")
        for number in range(50):
            state.spool_put(LOCAL, "k", "payload " * 200, at(number))
    return path.read_bytes()


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("state.db.aside-*"))
