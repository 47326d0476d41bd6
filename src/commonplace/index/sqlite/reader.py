"""The index for a hook, which only reads and has no time.

It never makes, migrates, repairs or moves a file, and hardly waits for one that is locked. What cannot be read at once
is a StorageError, and the hook does without.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.index.port import Transaction
from commonplace.index.sqlite.schema import APPLICATION_ID, VERSION, is_in_the_way, load_queries
from commonplace.index.sqlite.transaction import SqliteTransaction
from commonplace.model.errors import StorageError
from commonplace.model.scope import Space
from commonplace.text.naming import quote

_WAIT, _LONG_WAIT = 0.05, 5.0  # seconds
_MARKS = ("application_id", "user_version")


class SqliteIndexReader:
    """A connection for queries alone. Raises StorageError if the index cannot be opened at once."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._connection, owner, version = _open(path, _WAIT)
        if (owner, version) != (APPLICATION_ID, VERSION):
            self._connection.close()
            raise StorageError("The index is of another program or version.")
        self._queries = load_queries("queries.sql")

    @contextmanager
    def reading(self, space: Space) -> Iterator[Transaction]:
        """Open a transaction for queries of one moment."""
        try:
            self._connection.execute("BEGIN")  # all answers are of one moment
            yield SqliteTransaction(self._connection, self._queries, space)
            self._connection.execute("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StorageError(f"The index cannot be read ({type(error).__name__}).") from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def is_from_before(path: str | os.PathLike[str], version: int) -> bool:
    """Return whether there is an index of ours at a path, with an earlier version of the schema than this one."""
    try:
        connection, owner, found = _open(path, _LONG_WAIT)
    except StorageError:
        return False
    connection.close()
    return owner == APPLICATION_ID and found < version


def _open(path: str | os.PathLike[str], wait: float) -> tuple[sqlite3.Connection, int, int]:
    """Return a read-only connection, the application id of the database, and its version."""
    place = os.path.abspath(os.fspath(path))
    if is_in_the_way(place):
        raise StorageError("The index cannot be opened: a link or special file is in its place.")
    place = place.replace(os.sep, "/")
    where = f"file://{'' if place.startswith('/') else '/'}{quote(place, safe='/:')}?mode=ro"
    try:
        connection = sqlite3.connect(where, uri=True, timeout=wait, isolation_level=None)
    except sqlite3.Error as error:
        raise StorageError(f"The index cannot be opened ({type(error).__name__}).") from error
    try:
        owner, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS)
    except sqlite3.Error as error:
        connection.close()
        raise StorageError(f"The index cannot be read ({type(error).__name__}).") from error
    return connection, owner, version
