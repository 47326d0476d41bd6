"""The index of an open book, in a SQLite file. (A hook opens the same file with `SqliteIndexReader`, in reader.py.)

A damaged or foreign file, or one of a later version, stops no command: it is moved aside under another name, and the
notes are read again. What an earlier version of the schema knew of memories is carried over, to be compared with the
files: it may be the only copy of a text that was replaced outside. Commits are not synced; a power cut costs at most a
rebuild.

Reading never needs writing. Where the file cannot be opened, read or brought up to date now (a full or read-only disk,
another process that writes, a disk error, no file handles), a `SqliteIndex` goes on with a copy of it in memory, or
with an empty one, and `problem` says why. Readers bring that up to date from the notes. It is for readers alone: a
writer opens the file again, or fails.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import RLock

from commonplace.index.port import T, Transaction
from commonplace.index.sqlite.reader import all_statements, has_schema, is_in_the_way, migrate
from commonplace.index.sqlite.rows import DamagedRow
from commonplace.index.sqlite.transaction import SqliteTransaction
from commonplace.index.sqlite_file import (
    BESIDE,
    BRIEF,
    check_room,
    connect_memory,
    copy_connection,
    copy_file,
    error_code,
    explain,
    identity,
    is_busy,
    is_damaged,
    is_no_damage,
    load_queries,
)
from commonplace.model.errors import StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space

log = Log("commonplace.index")

_BUSY_SECONDS = 10.0  # that a writer waits for another process
_REST = 1.0  # seconds until a reader tries the file again
_MAX_COPY = 100_000_000  # bytes: a larger index is not copied into memory while it can be read
_AGAIN = "Do it again: the index was damaged, and is built anew from the notes."
_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # the latter: text that SQLite takes for text, and Python does not
_OPEN_ERRORS = (*_ERRORS, OSError)
SCRUB_SECONDS = 0.5  # that `scrub` waits for other processes: what it cannot do then is done by the next that closes
_UNSCRUBBED = ".unscrubbed"  # an empty file beside the index: text that was removed may still be in it


class SqliteIndex:
    """One connection per process, shared by its threads; several processes share the file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._folder = os.path.dirname(os.path.abspath(self.path))
        self.queries = load_queries(__file__, "queries.sql")
        self.epoch = 0
        self._inherited: list[sqlite3.Connection] = []
        self._begin_process()

    def _begin_process(self) -> None:
        """Open the index for this process."""
        self._lock, self._pid = RLock(), os.getpid()
        self._depth = 0
        self._wait = BRIEF
        self._file: tuple[int, int] | None = None
        self._damaged = False
        self.problem: StorageError | None = None
        self.is_stale = False
        self._is_copy = False
        self._retry_at = 0.0
        self._open_or_copy()

    def _open_or_copy(self) -> None:
        """Open the file, or a copy in memory if that is not possible now."""
        try:
            self.connection = self._open(BRIEF)
        except StorageError as error:
            self._use_copy(error)

    def _held(self) -> AbstractContextManager[object]:
        """Return the lock of this process.

        A forked child may have inherited it from a thread that it does not have, and SQLite forbids it even to close
        the connection: it keeps that untouched, and begins anew.
        """
        if self._pid != os.getpid():
            self._inherited.append(self.connection)
            self.epoch += 1
            self._begin_process()
        return self._lock

    def close(self) -> None:
        """Close the connection, and finish what a reader kept `scrub` from doing."""
        with self._held():
            if self.problem is None and os.path.exists(f"{self.path}{_UNSCRUBBED}"):
                with contextlib.suppress(StorageError, sqlite3.Error):
                    self._scrub(0)
            self.connection.close()

    @contextmanager
    def transaction(self, space: Space, wait: float | None = None) -> Iterator[Transaction]:
        """Open a transaction for queries and changes; one inside another joins it.

        It waits for another process that writes, `wait` seconds if not as long as usual. Raises StorageError.
        """
        with self._held():
            try:
                if self._depth == 0:
                    self.attach(wait)
                    self._set_wait(_BUSY_SECONDS if wait is None else wait)
                with self._begin("BEGIN IMMEDIATE", space) as transaction:
                    yield transaction
            except _ERRORS as error:
                raise self._map_error(error, "used") from error

    @contextmanager
    def _begin(self, statement: str, space: Space) -> Iterator[Transaction]:
        """Open a transaction, or join the one that is open. Raises SQLite's own errors."""
        outer = self._depth == 0
        self._begin_anew_if_damaged()
        self._depth += 1
        try:
            if outer:
                if self.connection.in_transaction:  # a reading around this: its moment is over
                    self._execute("COMMIT")
                if self._file is not None:
                    check_room(self._folder)
                self._execute(statement)
            try:
                yield SqliteTransaction(self.connection, self.queries, space)
                if outer:
                    self._execute("COMMIT")
            except BaseException:
                if outer and self.connection.in_transaction:  # some errors have rolled it back already
                    self._execute("ROLLBACK")
                raise
        finally:
            self._depth -= 1

    def refresh(self, space: Space, work: Callable[[Transaction], T]) -> T:
        """Run work that brings the index up to date, for a reader, and return what it returns.

        The file is locked only if the work changes something. Where it cannot be written now, the work is done again,
        on a copy in memory. Raises StorageError if the index is too large for that.
        """
        with self._held():
            if self.problem is not None and self._depth == 0 and time.monotonic() >= self._retry_at:
                with contextlib.suppress(StorageError):
                    self.attach(BRIEF)
            for statement in ("BEGIN", "BEGIN IMMEDIATE"):  # the second waits a moment, where another process writes
                try:
                    self._set_wait(BRIEF)
                    with self._begin(statement, space) as transaction:
                        return work(transaction)
                except _ERRORS as error:
                    failure: Exception = error
                    if not is_busy(error):
                        break
            problem = self._map_error(failure, "refreshed")
            if self._depth or not is_no_damage(failure):
                raise problem from failure
            self._use_copy(problem, self.connection)
            with self._begin("BEGIN", space) as transaction:
                return work(transaction)

    @contextmanager
    def reading(self, space: Space) -> Iterator[Transaction]:
        """Open a transaction for queries of one moment. After an error that is not damage, the next reads a copy."""
        with self._held():
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
            except _ERRORS as error:
                problem = self._map_error(error, "read")
                if self._depth == 0 and is_no_damage(error):
                    with contextlib.suppress(StorageError):
                        self._use_copy(problem, self.connection)
                raise problem from error

    def detach(self, problem: StorageError) -> None:
        """Go on with a copy in memory, if this is not one: the files take handles that a reader needs."""
        with self._held(), contextlib.suppress(StorageError):
            if self._depth == 0:
                self._use_copy(problem, self.connection)

    def attach(self, wait: float | None = None) -> None:
        """Use the file again, where a copy in memory was used instead. Raises the StorageError why that cannot be."""
        with self._held():
            if self.problem is None or self._depth:
                return
            self._retry_at = time.monotonic() + _REST
            try:
                connection = self._open(_BUSY_SECONDS if wait is None else wait)
            except StorageError as error:
                self.problem = error
                raise
            before, self.connection = self.connection, connection
            self.problem, self.is_stale, self._is_copy = None, False, False
            self.epoch += 1
            _close_unused(before)

    def _use_copy(self, problem: StorageError, before: sqlite3.Connection | None = None) -> None:
        """Go on with a copy in memory of what `before`, or else the file, holds; with an empty index if that fails.

        Raises the problem if this is a copy already, and if the index is so large that it is better read as it is.
        """
        if self.path == ":memory:" or self._is_copy:
            raise problem
        self.problem, self._retry_at = problem, time.monotonic() + _REST
        self.is_stale = before is not None and _size(before) > _MAX_COPY
        if self.is_stale:
            raise problem
        copy = copy_connection(before) if before is not None else None
        if copy is None and not self._damaged:
            copy = copy_file(self.path)
        try:
            self.connection = self._prepare(copy or connect_memory())
        except _ERRORS:  # what was copied is not an index
            self.connection = self._prepare(connect_memory())
        log.warning("event=index_copied code=%s", problem.code)
        self._is_copy, self._wait, self._file = True, BRIEF, None
        self.epoch += 1
        _close_unused(before)

    def scrub(self) -> bool:
        """Leave nothing of what was removed: not in free pages, the log, or a file that was moved aside."""
        with self._held():
            self.attach()
            try:
                is_done = self._scrub(SCRUB_SECONDS)
            except sqlite3.Error as error:
                raise self._map_error(error, "scrubbed") from error
        folder, name = os.path.split(self.path)
        with contextlib.suppress(OSError):
            for other in os.listdir(folder):
                if other.startswith(f"{name}.unusable-"):
                    with contextlib.suppress(OSError):  # a folder that was in the way: nothing of ours is in it
                        os.unlink(os.path.join(folder, other))
        return is_done

    def _scrub(self, wait: float) -> bool:
        """Write the file anew and cut the log; return whether no other process kept that from being done. If one did, a
        mark beside the file says so."""
        self._set_wait(wait)
        is_done, mark = self._write_anew(), f"{self.path}{_UNSCRUBBED}"
        with contextlib.suppress(OSError):
            if is_done and os.path.exists(mark):
                os.unlink(mark)
            elif not is_done:
                os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600))
        return is_done

    def _write_anew(self) -> bool:
        try:
            for name in ("drop_empty_tallies", "drop_unused_labels", "drop_unused_names", "merge_words"):
                self._execute(self.queries[name])
            self._execute("VACUUM")
            # While another process reads, the pages that it sees stay in the file.
            is_read, *_ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            return False
        return not is_read

    @contextmanager
    def begin_anew(self, space: Space) -> Iterator[Transaction]:
        """Open a transaction on an empty index; a damaged file is moved aside first."""
        with self._held():
            self.attach()
            if not self._is_sound():
                self.connection.close()
                try:
                    self._move_aside()
                except OSError as error:
                    raise explain(error, self.path, "The index could not be moved aside") from error
                self.connection = self._open(_BUSY_SECONDS)
            with self.transaction(space) as transaction:  # others see the old index until this is done
                for statement in all_statements():
                    self._execute(statement)
                yield transaction

    def _begin_anew_if_damaged(self) -> None:
        """Open a new, empty index after damage was found and moved aside."""
        if self._damaged and self._depth == 0:
            _close_unused(self.connection)
            self.problem, self.is_stale, self._is_copy = None, False, False
            self._open_or_copy()
            self._damaged = False

    def _is_sound(self) -> bool:
        try:
            found = self.connection.execute("PRAGMA integrity_check(1)").fetchone()
        except _ERRORS:
            return False
        return found == ("ok",) and has_schema(self.connection)

    def _map_error(self, error: Exception, doing: str) -> StorageError:
        """Return our error for one of SQLite's. A damaged file is moved aside, once: the next call begins anew."""
        what = f"The index could not be {doing}"
        if isinstance(error, sqlite3.ProgrammingError):  # Python's own, for a closed connection
            return StorageError(f"{what}: the book is closed.", hint="Open the book again.")
        if is_no_damage(error):
            return explain(error, self.path, what)
        damaged = (
            is_damaged(error)
            or "fts5 file format" in str(error)
            or (error_code(error) == sqlite3.SQLITE_ERROR and not has_schema(self.connection))
            # Text that SQLite takes for text, and Python does not; a message with such text in it.
            or isinstance(error, (DamagedRow, UnicodeDecodeError))
            or "decode to UTF-8" in str(error)
        )
        if damaged and self._file is not None and self._file == identity(self.path):
            log.warning("event=index_recovered reason=%s", type(error).__name__)
            self._file = None
            with contextlib.suppress(OSError):  # a disk that cannot be written: then the next call reads the notes
                self._move_aside()
        if damaged and not self._damaged:
            self._damaged = True
            self.epoch += 1  # now, and not when it is opened again: what asks next must know before it asks
        return StorageError(f"{what} ({error}).", hint=_AGAIN if damaged else None)

    def _execute(self, statement: str) -> None:
        self.connection.execute(statement)

    def _set_wait(self, seconds: float) -> None:
        """Set how long SQLite waits for another process."""
        if self._wait != seconds:
            self._wait = seconds
            self._execute(f"PRAGMA busy_timeout = {round(seconds * 1000):d}")

    def _open(self, wait: float) -> sqlite3.Connection:
        """Return a connection to the file, made where there is none, anew where it is damaged. Raises StorageError."""
        try:
            try:
                return self._connect_when_free(wait)
            except _OPEN_ERRORS as error:
                if is_no_damage(error):
                    raise
                log.warning("event=index_recovered reason=%s", type(error).__name__)
            self._move_aside()
            return self._connect(wait)
        except _OPEN_ERRORS as error:
            raise explain(error, self.path, "The index could not be opened") from error

    def _connect_when_free(self, wait: float) -> sqlite3.Connection:
        """Return a connection. SQLite does not wait by itself where several begin a new index."""
        deadline = time.monotonic() + wait
        while True:
            try:
                return self._connect(wait)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise
            time.sleep(0.005)

    def _connect(self, wait: float) -> sqlite3.Connection:
        if self.path == ":memory:":
            return self._prepare(connect_memory())
        if is_in_the_way(self.path):
            raise sqlite3.DatabaseError("a link or special file")
        check_room(self._folder)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        self._prepare(connection)
        self._file, self._wait = identity(self.path), wait
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Set up a new connection, which is closed if that fails."""
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "temp_store = MEMORY", "cache_size = -8000"):
                connection.execute(f"PRAGMA {pragma}")
            migrate(connection, self.queries)
        except BaseException:
            connection.close()
            raise
        return connection

    def _move_aside(self) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        for suffix in ("", *BESIDE):
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + suffix, f"{self.path}.unusable-{stamp}{suffix}")


def _size(connection: sqlite3.Connection) -> int:
    """Return how many bytes a database has; 0 if it cannot be read."""
    try:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    except sqlite3.Error:
        return 0
    return int(pages * size)


def _close_unused(connection: sqlite3.Connection | None) -> None:
    """Close a connection that is used no more, unless a reading around this one still holds it."""
    if connection is not None and not connection.in_transaction:
        connection.close()
