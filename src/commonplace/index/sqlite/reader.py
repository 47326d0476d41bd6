"""The schema of the index, with its versions and how an earlier one becomes this one; and the index for a hook.

A hook only reads and has no time. `SqliteIndexReader` never makes, migrates, repairs or moves a file, and hardly waits
for one that is locked. Where SQLite cannot open the file (on a full disk it has no room for the files beside it), a
copy in memory is read. What cannot be read at once is a StorageError, and the hook does without.
"""

from __future__ import annotations

import os
import sqlite3
import stat as st
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from commonplace.index.port import Transaction
from commonplace.index.sqlite.rows import decode_entry, decode_row
from commonplace.index.sqlite.transaction import SqliteTransaction
from commonplace.index.sqlite_file import BESIDE, check_room, copy_file, explain, file_uri, load_queries
from commonplace.model.errors import StorageError, TooManyFiles
from commonplace.model.scope import Space

APPLICATION_ID = 0x436F6D50  # "ComP": tells our file from any other database
VERSION = 17  # of the schema. Of one before, only what memories said is carried over: all else is read again
KEYED = 7  # the first version whose books have a key (memories/provenance.py)
_WAIT, _LONG_WAIT = 0.05, 5.0  # seconds
_MARKS = ("application_id", "user_version")


def all_statements() -> list[str]:
    """Return the statements that make an empty index from whatever one of ours there was."""
    steps = load_queries(__file__, "schema.sql")
    return [*_statements(steps["drop"]), *_statements(steps["tables"])]


def has_schema(connection: sqlite3.Connection) -> bool:
    """Return whether the tables are declared as we declare them: damage there can be an error of any kind."""
    wanted = _statements(load_queries(__file__, "schema.sql")["tables"])
    try:
        found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    made = [statement[statement.index("CREATE") :] for statement in wanted if "CREATE" in statement]
    return all(statement.rstrip(";") in found for statement in made)


def _statements(script: str) -> list[str]:
    """Return the statements of a script; each ends with a line."""
    return script.split(";\n")


def migrate(connection: sqlite3.Connection, queries: Mapping[str, str]) -> None:
    """Make the tables where there are none, or an earlier version's; their number is in the same transaction.

    Raises DatabaseError for a database of another program or a later version.
    """
    connection.execute("BEGIN")  # what is read belongs together: another process may be making the tables just now
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("COMMIT")
    if version > VERSION or (tables and owner != APPLICATION_ID):
        raise sqlite3.DatabaseError("of another program or a later version")
    if version == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    (now,) = connection.execute("PRAGMA user_version").fetchone()
    if now < VERSION:  # another process may have been first
        steps = load_queries(__file__, "schema.sql")
        for statement in [*(_statements(steps["set_apart"]) if now else ()), *all_statements()]:
            connection.execute(statement)
        if now:
            _carry_over(connection, steps, queries)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _carry_over(connection: sqlite3.Connection, steps: Mapping[str, str], queries: Mapping[str, str]) -> None:
    """Put what an earlier version knew of memories into the new tables, as rows whose files were not seen yet."""
    for space, *row in connection.execute(steps["earlier_rows"]).fetchall():
        transaction = SqliteTransaction(connection, queries, Space(*space.split("/", 1)))
        known = decode_row(row)
        entries = connection.execute(steps["earlier_entries"], (space, known.folder, known.name))
        transaction.put(known)
        transaction.set_entries(known.folder, known.name, [decode_entry(found) for found in entries])
    for statement in _statements(steps["drop_earlier"]):
        connection.execute(statement)


class SqliteIndexReader:
    """A connection for queries alone. Raises StorageError if the index cannot be opened at once."""

    def __init__(self, path: str | os.PathLike[str], *, in_memory: bool = False) -> None:
        """Open the index; `in_memory` keeps no file open."""
        self._queries = load_queries(__file__, "queries.sql")
        self._connection, owner, version = _open_or_copy(os.fspath(path), in_memory=in_memory)
        if (owner, version) != (APPLICATION_ID, VERSION):
            self._connection.close()
            raise StorageError("The index is of another program or version.")

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


def _open_or_copy(path: str, *, in_memory: bool) -> tuple[sqlite3.Connection, int, int]:
    """Return what `_open` does; from a copy in memory if that is wanted, or if SQLite cannot open the file itself."""
    try:
        if in_memory:
            raise TooManyFiles
        check_room(os.path.dirname(os.path.abspath(path)))
        return _open(path, _WAIT)
    except (StorageError, sqlite3.Error) as error:
        copy = None if is_in_the_way(path) else copy_file(path, _WAIT)
        if copy is None:
            raise explain(error.__cause__ or error, path, "The index could not be opened") from error
        return copy, *_read_marks(copy)


def _open(path: str | os.PathLike[str], wait: float) -> tuple[sqlite3.Connection, int, int]:
    """Return a read-only connection, the application id of the database, and its version."""
    place = os.path.abspath(os.fspath(path))
    if is_in_the_way(place):
        raise StorageError("The index cannot be opened: a link or special file is in its place.")
    try:
        connection = sqlite3.connect(file_uri(place, "mode=ro"), uri=True, timeout=wait, isolation_level=None)
    except sqlite3.Error as error:
        raise StorageError(f"The index cannot be opened ({type(error).__name__}).") from error
    try:
        return connection, *_read_marks(connection)
    except sqlite3.Error as error:
        connection.close()
        raise StorageError(f"The index cannot be read ({type(error).__name__}).") from error


def _read_marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id of a database, and its version."""
    owner, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS)
    return owner, version


def is_in_the_way(path: str) -> bool:
    """Return whether a link, a folder or a special file is where the index, or a file SQLite keeps beside it, belongs.

    SQLite would follow a link, and write the text of the notes wherever it leads.
    """
    for end in ("", *BESIDE):
        try:
            if not st.S_ISREG(os.lstat(path + end).st_mode):
                return True
        except FileNotFoundError:
            continue
    return False
