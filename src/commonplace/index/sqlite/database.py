"""Open the index: `SqliteIndex` for a book, `SqliteIndexReader` for a hook, which only reads and has no time.

A damaged or foreign file, or one of a later version, stops no command: it is moved aside under another name, and the
notes are read again. What an earlier version of the schema knew of memories is carried over, to be compared with the
files: it may be the only copy of a text that was replaced outside. Commits are not synced; a power cut costs at most a
rebuild.

A reader never makes, migrates, repairs or moves a file, and hardly waits for one that is locked. What cannot be read at
once is a StorageError, and the hook does without.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat as st
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import RLock

from commonplace.index.port import Transaction
from commonplace.index.sqlite.rows import DamagedRow, decode_entry, decode_row
from commonplace.index.sqlite.transaction import SqliteTransaction
from commonplace.model.errors import DiskFull, StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space
from commonplace.text.named_sql import parse_queries
from commonplace.text.naming import quote

log = Log("commonplace.index")

_SCHEMA = "tables"
_BUSY_SECONDS = 10.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNSCRUBBED = ".unscrubbed"  # an empty file beside the index: text that was removed may still be in it


class SqliteIndex:
    """One connection per process, shared by its threads; several processes share the file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.queries = load_queries("queries.sql")
        self._lock = RLock()
        self._depth = 0
        self._file: tuple[int, int] | None = None
        self._damaged = False
        self.epoch = 0
        self.connection = self._open()

    def close(self) -> None:
        """Close the connection, and finish what a reader kept `scrub` from doing."""
        with self._lock:
            if os.path.exists(f"{self.path}{_UNSCRUBBED}"):
                with contextlib.suppress(StorageError, sqlite3.Error):
                    self.connection.execute("PRAGMA busy_timeout = 0")
                    self.scrub()
            self.connection.close()

    @contextmanager
    def transaction(self, space: Space) -> Iterator[Transaction]:
        """Open a transaction for queries and changes; one inside another joins it."""
        with self._lock:
            outer = self._depth == 0
            self._begin_anew_if_damaged()
            self._depth += 1
            try:
                if outer:
                    if self.connection.in_transaction:  # a reading around this: its moment is over
                        self._execute("COMMIT")
                    self._execute("BEGIN IMMEDIATE")
                try:
                    yield SqliteTransaction(self.connection, self.queries, space)
                    if outer:
                        self._execute("COMMIT")
                except BaseException:
                    if outer and self.connection.in_transaction:  # some errors have rolled it back already
                        self._execute("ROLLBACK")
                    raise
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise self._map_error(error, "used") from error
            finally:
                self._depth -= 1

    @contextmanager
    def reading(self, space: Space) -> Iterator[Transaction]:
        """Open a transaction for queries of one moment."""
        with self._lock:
            self._begin_anew_if_damaged()
            connection = self.connection
            try:
                # Outside a transaction SQLite ends one after every row whose length bm25 looks up: a tenth of a search.
                outer = not connection.in_transaction
                if outer:
                    connection.execute("BEGIN")
                try:
                    yield SqliteTransaction(connection, self.queries, space)
                finally:
                    if outer and connection.in_transaction:
                        connection.execute("COMMIT")
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise self._map_error(error, "read") from error

    def scrub(self) -> bool:
        """Leave nothing of what was removed: not in free pages, the log, or a file that was moved aside."""
        mark = f"{self.path}{_UNSCRUBBED}"
        with self._lock:
            try:
                is_done = self._scrub()
            except sqlite3.Error as error:
                raise self._map_error(error, "scrubbed") from error
        with contextlib.suppress(OSError):
            if is_done and os.path.exists(mark):
                os.unlink(mark)
            elif not is_done:
                os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600))
        folder, name = os.path.split(self.path)
        with contextlib.suppress(OSError):
            for other in os.listdir(folder):
                if other.startswith(f"{name}.unusable-"):
                    with contextlib.suppress(OSError):  # a folder that was in the way: nothing of ours is in it
                        os.unlink(os.path.join(folder, other))
        return is_done

    def _scrub(self) -> bool:
        """Write the file anew and cut the log; return whether no other process kept that from being done."""
        try:
            for name in ("drop_empty_tallies", "merge_words"):
                self._execute(self.queries[name])
            self._execute("VACUUM")
            # While another process reads, the pages that it sees stay in the file.
            is_busy, *_ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            return False
        return not is_busy

    @contextmanager
    def begin_anew(self, space: Space) -> Iterator[Transaction]:
        """Open a transaction on an empty index; a damaged file is moved aside first."""
        with self._lock:
            if not self._is_sound():
                self.connection.close()
                self._move_aside()
                self.connection = self._open()
            with self.transaction(space) as transaction:  # others see the old index until this is done
                for statement in _all_statements():
                    self._execute(statement)
                yield transaction

    def _begin_anew_if_damaged(self) -> None:
        """Open a new, empty index after damage was found and moved aside."""
        if self._damaged and self._depth == 0:
            self.connection.close()
            self.connection = self._open()
            self._damaged = False

    def _is_sound(self) -> bool:
        try:
            found = self.connection.execute("PRAGMA integrity_check(1)").fetchone()
        except (sqlite3.Error, UnicodeDecodeError):
            return False
        return found == ("ok",) and self._has_schema()

    def _has_schema(self) -> bool:
        """Return whether the tables are declared as we declare them: damage there can be an error of any kind."""
        wanted = _statements(load_queries("schema.sql")[_SCHEMA])
        try:
            found = {sql for (sql,) in self.connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        except (sqlite3.Error, UnicodeDecodeError):
            return False
        made = [statement[statement.index("CREATE") :] for statement in wanted if "CREATE" in statement]
        return all(statement.rstrip(";") in found for statement in made)

    def _map_error(self, error: Exception, doing: str) -> StorageError:
        """Return our error for one of SQLite's. A damaged file is moved aside, once: the next call begins anew."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        known = code in _DAMAGED or "fts5 file format" in str(error)
        known = known or (code == sqlite3.SQLITE_ERROR and not self._has_schema())
        # Text that SQLite takes for text, and Python does not; a message with such text in it.
        damaged = known or isinstance(error, (DamagedRow, UnicodeDecodeError)) or "decode to UTF-8" in str(error)
        if damaged and self._file is not None and self._file == _file_at(self.path):
            log.warning("event=index_recovered reason=%s", type(error).__name__)
            self._file = None
            self._move_aside()
        if damaged and not self._damaged:
            self._damaged = True
            self.epoch += 1  # now, and not when it is opened again: what asks next must know before it asks
        if _is_full(error):
            return DiskFull(_FULL.format(doing))
        return StorageError(f"The index could not be {doing} ({error}).", hint=_AGAIN if damaged else _HINT)

    def _execute(self, statement: str) -> None:
        self.connection.execute(statement)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect_when_free()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the latter: a message with damaged text in it
            if _is_full(error):
                raise DiskFull(_FULL.format("opened")) from error
            log.warning("event=index_recovered reason=%s", type(error).__name__)
            self._move_aside()
        try:
            return self._connect()
        except sqlite3.Error as error:
            if _is_full(error):
                raise DiskFull(_FULL.format("opened")) from error
            raise StorageError(f"The index cannot be opened ({error}).", hint=_HINT) from error

    def _connect_when_free(self) -> sqlite3.Connection:
        """Return a connection. SQLite does not wait by itself where several begin a new index."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return self._connect()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                if time.monotonic() >= deadline:
                    raise StorageError("The index is in use and did not become free.", hint=_HINT) from error
            time.sleep(0.005)

    def _connect(self) -> sqlite3.Connection:
        if self.path != ":memory:":
            if is_in_the_way(self.path):
                raise sqlite3.DatabaseError("a link or special file")
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
        self._file = _file_at(self.path)
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Make the tables where there are none, or an earlier version's; their number is in the same transaction."""
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
            steps = load_queries("schema.sql")
            for statement in [*(_statements(steps["set_apart"]) if now else ()), *_all_statements()]:
                connection.execute(statement)
            if now:
                self._carry_over(connection, steps)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")

    def _carry_over(self, connection: sqlite3.Connection, steps: Mapping[str, str]) -> None:
        """Put what an earlier version knew of memories into the new tables, as rows whose files were not seen yet."""
        for space, *row in connection.execute(steps["earlier_rows"]).fetchall():
            transaction = SqliteTransaction(connection, self.queries, Space(*space.split("/", 1)))
            known = decode_row(row)
            entries = connection.execute(steps["earlier_entries"], (space, known.folder, known.name))
            transaction.put(known)
            transaction.set_entries(known.folder, known.name, [decode_entry(found) for found in entries])
        for statement in _statements(steps["drop_earlier"]):
            connection.execute(statement)

    def _move_aside(self) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        for suffix in ("", *BESIDE):
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + suffix, f"{self.path}.unusable-{stamp}{suffix}")


def _file_at(path: str) -> tuple[int, int] | None:
    """Return which file is at this path, by device and inode; None when there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _all_statements() -> list[str]:
    """Return the statements that make an empty index from whatever one of ours there was."""
    steps = load_queries("schema.sql")
    return [*_statements(steps["drop"]), *_statements(steps[_SCHEMA])]


def _is_full(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL


def _statements(script: str) -> list[str]:
    """Return the statements of a script; each ends with a line."""
    return script.split(";\n")


_FULL = "The index could not be {}: the disk, or your quota on it, is full."
_AGAIN = "Do it again: the index was damaged, and is built anew from the notes."
_HINT = "Delete the index file: it is built again from the notes. `commonplace status` says where it is."


APPLICATION_ID = 0x436F6D50  # "ComP": tells our file from any other database
VERSION = 8  # of the schema. Of one before, only what memories said is carried over: all else is read again
KEYED = 7  # the first version whose books have a key (memories/provenance.py)
BESIDE = ("-wal", "-shm", "-journal")


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


def load_queries(file: str) -> dict[str, str]:
    """Return the queries of one of this package's .sql files, by name."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as text:
        return parse_queries(text.read())


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
    where = f"file:///{quote(place.removeprefix('/'), safe='/:')}?mode=ro"
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
