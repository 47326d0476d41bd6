"""Opening the index: migrations, and a new start when the file is damaged, foreign or of a later version.

A file that cannot be used is moved aside under another name, and the notes are read again. What an earlier version of
the schema knew of memories is carried over, to be compared with the files: it may be the only copy of a text that was
replaced outside. Commits are not synced; a power cut costs at most a rebuild.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import RLock

from commonplace.index.port import Transaction
from commonplace.index.sqlite.convert import DamagedRow
from commonplace.index.sqlite.schema import APPLICATION_ID, BESIDE, VERSION, is_in_the_way, load_queries
from commonplace.index.sqlite.transaction import SqliteTransaction
from commonplace.model.errors import DiskFull, StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space

log = Log("commonplace.index")

_SCHEMA = "tables"
_BUSY_SECONDS = 10.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


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
        """Close the connection."""
        with self._lock:
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

    def scrub(self) -> None:
        """Leave nothing of what was removed: not in free pages, the log, or a file that was moved aside."""
        with self._lock:
            try:
                for name in ("drop_empty_tallies", "merge_words"):
                    self._execute(self.queries[name])
                self._execute("VACUUM")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except sqlite3.Error as error:
                raise self._map_error(error, "scrubbed") from error
        folder, name = os.path.split(self.path)
        with contextlib.suppress(OSError):
            for other in os.listdir(folder):
                if other.startswith(f"{name}.unusable-"):
                    with contextlib.suppress(OSError):  # a folder that was in the way: nothing of ours is in it
                        os.unlink(os.path.join(folder, other))

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
        return all(statement.rstrip(" ;\n") in found for statement in made)

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
        deadline = time.monotonic() + _BUSY_SECONDS
        try:
            while (connection := self._connect_unless_busy(deadline)) is None:
                time.sleep(0.005)
            return connection
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

    def _connect_unless_busy(self, deadline: float) -> sqlite3.Connection | None:
        """Return a connection; None to try again. SQLite does not wait by itself where several begin a new index."""
        try:
            return self._connect()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            if time.monotonic() >= deadline:
                raise StorageError("The index is in use and did not become free.", hint=_HINT) from error
            return None

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
            transaction.put_earlier(row, connection.execute(steps["earlier_entries"], (space, *row[:2])))
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
    """Return the statements of a script, cut where SQLite itself sees the end of one."""
    found, waiting = [], ""
    for line in script.splitlines(keepends=True):
        waiting += line
        if sqlite3.complete_statement(waiting):
            found.append(waiting)
            waiting = ""
    return found


_FULL = "The index could not be {}: the disk, or your quota on it, is full."
_AGAIN = "Do it again: the index was damaged, and is built anew from the notes."
_HINT = "Delete the index file: it is built again from the notes. `commonplace status` says where it is."
