"""The state's database, for several threads and processes: who may use which connection when, and what happens when
the file under it is gone, replaced or broken."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from enum import Enum
from threading import Lock
from typing import Any, TypeVar

from commonplace.model.errors import StateUnusable
from commonplace.state import opening
from commonplace.state.sqlite_errors import is_broken, mapped

Answer = TypeVar("Answer")
_ATTEMPTS = 5


class Way(Enum):
    """The ways to use the database. Each has a connection of its own, so that none waits for another's thread."""

    READ = "read"  # waits for nobody
    WRITE = "write"  # what is committed has reached the disk
    WRITE_LIGHT = "write light"  # a power cut may take it back, so it need not wait for the disk
    WRITE_SOON = "write soon"  # light, and does not wait for another process either: it can be done later

    @property
    def wait(self) -> float:
        return 0.05 if self is Way.WRITE_SOON else opening.WAIT

    @property
    def lasting(self) -> bool:
        return self in (Way.READ, Way.WRITE)


class Run:
    """The named queries, on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, query: str, **values: object) -> list[Any]:
        return self._connection.execute(opening.sql("queries.sql")[query], values).fetchall()


class _Lane:
    """One connection, opened when it is first needed, used by one thread at a time."""

    def __init__(self, path: str, way: Way) -> None:
        self._path, self._way = path, way
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: opening.Identity | None = None

    def connect(self, born: str | None) -> None:
        with self._lock:
            self._connected(born)

    def run(self, work: Callable[[Run], Answer]) -> Answer:
        with self._lock:
            connection = self._connected()
            if self._way is Way.READ:
                return work(Run(connection))
            connection.execute("BEGIN IMMEDIATE")
            try:
                answer = work(Run(connection))
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            return answer

    def empty_log(self) -> None:
        with self._lock:
            self._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> opening.Identity | None:
        """Let go of the file; answers which one it was."""
        with self._lock:
            return self._close()

    def _close(self) -> opening.Identity | None:
        file, connection = self._file, self._connection
        self._file = self._connection = None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        return file

    def _connected(self, born: str | None = None) -> sqlite3.Connection:
        # A file that was taken away or replaced is noticed here: what is written to it would reach nobody.
        found = opening.identity(self._path)
        for _ in range(_ATTEMPTS):
            if self._connection is not None and self._file == found:
                return self._connection
            self._close()
            self._connection = opening.connect(self._path, born=born, wait=self._way.wait, lasting=self._way.lasting)
            self._file, found = found, opening.identity(self._path)  # another one by now? then that is the one to use
        raise StateUnusable("The state is replaced again and again while it is being opened.")


class _MemoryLane(_Lane):
    """The one connection to a state without a file: reads and writes take turns."""

    def __init__(self) -> None:
        super().__init__("", Way.WRITE)

    def _connected(self, born: str | None = None) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = opening.connect_in_memory(born)
        return self._connection


class Database:
    """An open state. A new one begins at `born`, or else now."""

    def __init__(self, path: str | os.PathLike[str], born: str | None = None) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self._closed = False
        self._lanes: dict[Way, _Lane] = {}
        self._inherited: list[dict[Way, _Lane]] = []
        self._pid = 0
        with mapped("opening the state"):
            self._lane(Way.READ).connect(born)

    def run(self, way: Way, work: Callable[[Run], Answer]) -> Answer:
        """What `work` answers; it is run again, on a new state, when the file turns out to be broken."""
        with mapped("reading the state" if way is Way.READ else "writing the state"):
            try:
                return self._lane(way).run(work)
            except sqlite3.DatabaseError as error:
                if not is_broken(error):
                    raise
            files = {name: lane.close() for name, lane in self._lanes.items()}
            opening.set_aside(self._path, files[way])
            return self._lane(way).run(work)

    def empty_log(self) -> None:
        """Write the log of changes into the file and cut it, so that what was deleted is on the disk no more; as far
        as nobody is reading."""
        with mapped("cutting the state's log"):
            self._lane(Way.WRITE).empty_log()

    def close(self) -> None:
        if self._pid == os.getpid():
            for lane in self._lanes.values():
                lane.close()
        self._closed = True

    def _lane(self, way: Way) -> _Lane:
        if self._closed:
            raise StateUnusable("The state is closed.", hint="Open the book again.")
        if self._pid != os.getpid():
            # SQLite forbids a forked child even to close what it inherited: keep that, untouched, and begin anew.
            self._inherited.append(self._lanes)
            self._lanes = self._new_lanes()
            self._pid = os.getpid()
        return self._lanes[way]

    def _new_lanes(self) -> dict[Way, _Lane]:
        return {way: _Lane(self._path, way) for way in Way}


class MemoryDatabase(Database):
    """An open state without a file. A forked child begins with an empty one."""

    def __init__(self, born: str | None = None) -> None:
        super().__init__("", born)

    def run(self, way: Way, work: Callable[[Run], Answer]) -> Answer:
        """Return what `work` answers. There is no file that could be broken."""
        with mapped("using the state"):
            return self._lane(way).run(work)

    def _new_lanes(self) -> dict[Way, _Lane]:
        return dict.fromkeys(Way, _MemoryLane())
