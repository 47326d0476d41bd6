"""Opening the index: migrations, and a new start when the file is damaged, foreign or of a later version.

Nothing here is worth keeping: what cannot be used is moved aside under another name, and the notes are read again.
Commits are not synced; a power cut costs at most a rebuild.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from commonplace.index.port import Transaction
from commonplace.index.sqlite.rows import SqliteTransaction
from commonplace.model.errors import StorageError
from commonplace.model.space import Space
from commonplace.text.named_sql import parse_queries

log = logging.getLogger("commonplace.index")

APPLICATION_ID = 0x436F6D50  # "ComP": tells our file from any other database
_MIGRATIONS = ("migration_1",)
_BUSY_SECONDS = 10.0


def _named(file: str) -> dict[str, str]:
    return parse_queries(files("commonplace.index.sqlite").joinpath(file).read_text(encoding="utf-8"))


class SqliteIndex:
    """One connection per process, shared by its threads; several processes share the file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.queries = _named("queries.sql")
        self.rebuilt = False  # whether it began empty, so that every file has to be read
        self._lock = threading.RLock()
        self._depth = 0
        self.connection = self._open()

    def close(self) -> None:
        with self._lock:
            self.connection.close()

    @contextmanager
    def transaction(self, space: Space) -> Iterator[Transaction]:
        with self._lock:
            outer = self._depth == 0
            self._depth += 1
            try:
                if outer:
                    self._execute("BEGIN IMMEDIATE")
                try:
                    yield SqliteTransaction(self.connection, self.queries, space)
                    if outer:
                        self._execute("COMMIT")
                except BaseException:
                    if outer and self.connection.in_transaction:  # some errors have rolled it back already
                        self._execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise StorageError(f"The index could not be used ({error}).", hint=_HINT) from error
            finally:
                self._depth -= 1

    @contextmanager
    def reading(self, space: Space) -> Iterator[Transaction]:
        with self._lock:
            try:
                yield SqliteTransaction(self.connection, self.queries, space)
            except sqlite3.Error as error:
                raise StorageError(f"The index could not be read ({error}).", hint=_HINT) from error

    def _execute(self, statement: str) -> None:
        self.connection.execute(statement)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise StorageError("The index is in use and did not become free.", hint=_HINT) from error
            log.warning("event=index_recovered reason=%s", type(error).__name__)
            self._move_aside()
        try:
            return self._connect()
        except sqlite3.Error as error:
            raise StorageError(f"The index cannot be opened ({error}).", hint=_HINT) from error

    def _connect(self) -> sqlite3.Connection:
        if self.path != ":memory:":
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "temp_store = MEMORY", "cache_size = -8000"):
                connection.execute(f"PRAGMA {pragma}")
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the schema up to date; each step records itself in its own transaction."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version > len(_MIGRATIONS) or (tables and owner != APPLICATION_ID):
            raise sqlite3.DatabaseError("of another program or a later version")
        steps = _named("schema.sql")
        for number, name in enumerate(_MIGRATIONS, start=1):
            if number <= version:
                continue
            connection.execute("BEGIN IMMEDIATE")
            (now,) = connection.execute("PRAGMA user_version").fetchone()
            if now < number:  # another process may have been first
                self.rebuilt = self.rebuilt or number == 1
                for statement in _statements(steps[name]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")

    def _move_aside(self) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + suffix, f"{self.path}.unusable-{stamp}{suffix}")


def _statements(script: str) -> list[str]:
    """A script cut into statements, as SQLite itself sees where one ends."""
    found, waiting = [], ""
    for line in script.splitlines(keepends=True):
        waiting += line
        if sqlite3.complete_statement(waiting):
            found.append(waiting)
            waiting = ""
    return found


_HINT = "Delete the index file: it is built again from the notes. `commonplace status` says where it is."
