"""The state's file and its connections, for several threads and processes.

`sqlite.py` runs its queries here. It gets a connection to a state of this version, or a typed error. A damaged or
foreign file stops no command: it is renamed, never deleted, and a new state is begun. Each migration and its number are
one transaction. A file in good order is opened without a lock; one process at a time begins, migrates or moves a state.

Reading needs no writing, and waits for no lock: where the file cannot be opened or read now (a full or read-only disk,
a disk error, another process), a copy of it in memory is read, or an empty state. Writing raises a typed error then.

The file is made here and not by SQLite, so that other users cannot read it even for an instant; SQLite gives the same
mode to the files it makes beside it. No file that SQLite has open is ever opened here: closing it would end SQLite's
locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat as st
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from commonplace.index.sqlite_file import (
    BESIDE,
    BRIEF,
    check_room,
    connect_memory,
    copy_file,
    explain,
    file_uri,
    identity,
    is_damaged,
    is_no_damage,
    load_queries,
)
from commonplace.model import times
from commonplace.model.errors import InvalidField, StateUnusable, StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space

log = Log("commonplace.state")
APPLICATION_ID = 0x43504C53  # "CPLS", as schema.sql has it
MIGRATIONS: tuple[str, ...] = ("schema.sql", "schema_2.sql")  # the first is number 1
WAIT = 5.0
_LIGHT_WAIT = 0.5  # of what is written for a reader, such as that it has read
_REST = 1.0  # seconds until a reader of a copy tries the file again
Identity = tuple[int, int]
sql = partial(load_queries, __file__)  # the queries of one of this package's .sql files, by name


def connect(path: str, mode: AccessMode) -> sqlite3.Connection:
    """Return a connection to the state at this path, or to one without a file; a new one begins now."""
    if not path:
        return _begin_in_memory()
    connection = _connect(path, mode.wait)
    if connection is None or _version(connection) != len(MIGRATIONS):
        if connection is not None:
            connection.close()
        _make_folder(os.path.dirname(path))
        with _alone(path, mode.wait):
            connection = _connect(path, mode.wait)
            if connection is None:
                _move_aside(path, "not_a_state")
                _make(path)
                connection = _plain(path, mode.wait)
            try:
                _migrate(connection)
            except BaseException:
                connection.close()
                raise
    connection.execute(f"PRAGMA synchronous = {'FULL' if mode.lasting else 'NORMAL'}")
    connection.execute("PRAGMA fullfsync = ON")  # for macOS, where a plain sync stops at the disk's own memory
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _begin_in_memory() -> sqlite3.Connection:
    in_memory = connect_memory()
    _migrate(in_memory)
    return in_memory


def copy_state(path: str) -> sqlite3.Connection | None:
    """Return a state in memory with what the one at this path holds; None if that cannot be read."""
    copy = copy_file(path)
    if copy is not None:
        try:
            if _is_ours(copy):
                _migrate(copy)
                return copy
        except (sqlite3.Error, StateUnusable):
            pass
        copy.close()
    return None


def set_aside(path: str, broken: Identity | None) -> None:
    """Move the file at this path away, if it is still the one that was found broken."""
    with _alone(path, WAIT):
        if broken is not None and identity(path) == broken:
            _move_aside(path, "corrupt")


def _connect(path: str, wait: float) -> sqlite3.Connection | None:
    """Return a connection to a state of ours, or to a file about to become one; None when this path has neither."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not st.S_ISREG(found.st_mode) or found.st_size == 0:
        return None
    try:
        connection = _plain(path, wait)
    except sqlite3.OperationalError:
        if identity(path) is None:  # moved aside just now
            return None
        raise
    ours = False
    try:
        ours = _is_ours(connection)
    except sqlite3.Error as error:
        if not is_damaged(error):
            raise
    finally:
        if not ours:
            connection.close()
    return connection if ours else None


def _plain(path: str, wait: float) -> sqlite3.Connection:
    check_room(os.path.dirname(path))
    # mode=rw: SQLite must not make the file, and not anew where another process moved it just now.
    where = file_uri(path, "mode=rw")
    return sqlite3.connect(where, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)


def _is_ours(connection: sqlite3.Connection) -> bool:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # a damaged file shows here
    version = _version(connection)
    if mark == APPLICATION_ID:
        if version > len(MIGRATIONS):
            raise StateUnusable(
                f"The state was made by a newer Commonplace: it has version {version}, this one knows"
                f" {len(MIGRATIONS)}.",
                hint="Upgrade Commonplace, or move state.db away: losing it loses no memory.",
            )
        return version > 0
    return (mark, version, tables) == (0, 0, 0)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _migrate(connection: sqlite3.Connection) -> None:
    """Run the migrations that are missing. After an error, close the connection: that takes the last one back."""
    connection.execute("PRAGMA journal_mode = WAL")
    for number in range(_version(connection) + 1, len(MIGRATIONS) + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in sql(MIGRATIONS[number - 1]).values():
            connection.execute(statement)
        if number == 1:
            connection.execute("INSERT INTO about VALUES ('born', ?)", (times.now(),))
        connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute("COMMIT")


@contextlib.contextmanager
def _alone(path: str, wait: float) -> Iterator[None]:
    """Hold the lock for beginning or moving this state: that of an empty database, which ends with its process."""
    guard = f"{path}-opening"
    _make(guard)
    connection = _plain(guard, wait)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")  # nothing is written: no journal beside it
        connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()


def _make(path: str) -> None:
    """Make an empty file that only its owner can read; one that is there is left as it is."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _make_folder(path: str) -> None:
    if not os.path.isdir(path):
        _make_folder(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _move_aside(path: str, reason: str) -> None:
    """Rename the file at this path and what SQLite left beside it, as one set; an empty file can stay."""
    found = [(path + end, end) for end in ("", *BESIDE) if os.path.lexists(path + end)]
    if found and found[0][0] == path and st.S_ISREG(os.lstat(path).st_mode) and os.lstat(path).st_size == 0:
        del found[0]
    if not found:
        return
    aside = base = f"{path}.aside-{times.compact_time(times.now())}"
    number = 1
    while any(os.path.lexists(aside + end) for end in ("", *BESIDE)):
        number += 1
        aside = f"{base}-{number}"
    for old, end in found:
        os.rename(old, aside + end)
    log.warning("event=state_recovered reason=%s kept=%s", reason, os.path.basename(aside))


Answer = TypeVar("Answer")
_ATTEMPTS = 5


class AccessMode(Enum):
    """The ways to use the database. Each has a connection of its own, so that none waits for another's thread."""

    READ = "read"  # waits a moment at most
    WRITE = "write"  # what is committed has reached the disk
    WRITE_LIGHT = "write light"  # a power cut may take it back, so it need not wait for the disk
    WRITE_SOON = "write soon"  # light, and does not wait for another process either: it can be done later

    @property
    def wait(self) -> float:
        """Seconds to wait for another process."""
        if self is AccessMode.WRITE_LIGHT:
            return _LIGHT_WAIT
        return WAIT if self is AccessMode.WRITE else BRIEF

    @property
    def lasting(self) -> bool:
        """Whether a commit waits for the disk."""
        return self in (AccessMode.READ, AccessMode.WRITE)


QueryRunner = Callable[..., list[Any]]
"""Runs a named query on the rows of a space: name, space, and the values by name."""


def _run_query(connection: sqlite3.Connection, query: str, space: Space, **values: object) -> list[Any]:
    named = {"tenant": space.tenant, "owner": space.owner, **values}
    return connection.execute(sql("queries.sql")[query], named).fetchall()


class _SharedConnection:
    """One connection, opened when it is first needed, used by one thread at a time."""

    def __init__(self, path: str, mode: AccessMode) -> None:
        self._path, self._mode = path, mode
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: Identity | None = None
        self._retry_at: float | None = None  # of a copy: when to try the file again
        self.problem: StorageError | None = None  # why what the file holds cannot be read

    def run(self, work: Callable[[QueryRunner], Answer]) -> Answer:
        with self._lock:
            connection = self._connected()
            runner = partial(_run_query, connection)
            is_read = self._mode is AccessMode.READ
            if self._path and not is_read:
                check_room(os.path.dirname(self._path))
            # Outside a transaction each of the sixty queries of a recall would lock and release the file.
            connection.execute("BEGIN" if is_read else "BEGIN IMMEDIATE")
            try:
                answer = work(runner)
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            return answer

    def empty_log(self) -> bool:
        with self._lock:
            is_busy, *_ = self._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_busy

    def close(self) -> Identity | None:
        """Close the file; return which one it was."""
        with self._lock:
            return self._close()

    def _close(self) -> Identity | None:
        file, connection = self._file, self._connection
        self._file = self._connection = self._retry_at = None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        return file

    def use_copy(self, why: Exception | None = None) -> None:
        """Read a copy of the file for a while, or an empty state; for READ alone."""
        with self._lock:
            self._open_copy(why)

    def _open_copy(self, why: Exception | None) -> sqlite3.Connection:
        self._close()
        self.problem = None
        is_sound = why is None or is_no_damage(why)
        self._connection = copy_state(self._path) if is_sound else None
        if self._connection is None:
            self._connection = _begin_in_memory()
            if why is not None and os.path.lexists(self._path):
                self.problem = explain(why, self._path, "The state could not be read")
        self._retry_at = time.monotonic() + _REST
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and self._retry_at is not None and time.monotonic() < self._retry_at:
            return self._connection
        try:
            return self._connect()
        except (sqlite3.Error, OSError) as error:
            if self._mode is not AccessMode.READ or not self._path or not is_no_damage(error):
                raise
            log.info("event=state_copied error=%s", type(error).__name__)
            return self._open_copy(error)

    def _connect(self) -> sqlite3.Connection:
        # A file that was moved or replaced is noticed here: what is written to it would be lost.
        found = identity(self._path)
        for _ in range(_ATTEMPTS):
            if self._connection is not None and self._file == found and self._retry_at is None:
                return self._connection
            self._close()
            self._connection = connect(self._path, self._mode)
            self.problem = None
            self._file, found = found, identity(self._path)  # another one by now? then that is the one to use
        raise StateUnusable("The state is replaced again and again while it is being opened.")


class Database:
    """An open state; a new one begins now. Without a path it has no file, and a forked child begins an empty one."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = os.path.abspath(path) if path is not None else ""
        self._closed = False
        self._connections: dict[AccessMode, _SharedConnection] = {}
        self._inherited: list[dict[AccessMode, _SharedConnection]] = []
        self._pid = 0
        with map_errors("opening the state", self._path):
            self._shared(AccessMode.READ).run(lambda _: None)

    def run(self, mode: AccessMode, work: Callable[[QueryRunner], Answer]) -> Answer:
        """Return what `work` returns; it is run again, on a new state, when the file turns out to be broken."""
        with map_errors("reading the state" if mode is AccessMode.READ else "writing the state", self._path):
            is_read = mode is AccessMode.READ
            try:
                return self._shared(mode).run(work)
            except sqlite3.DatabaseError as error:
                failure = error
                if not self._path or not (is_damaged(error) or (is_read and is_no_damage(error))):
                    raise
            if is_damaged(failure):
                files = {name: connection.close() for name, connection in self._connections.items()}
                try:
                    set_aside(self._path, files[mode])
                    return self._shared(mode).run(work)
                except (sqlite3.Error, OSError):
                    if not is_read:
                        raise
            self._shared(mode).use_copy(failure)
            return self._shared(mode).run(work)

    @property
    def problem(self) -> StorageError | None:
        """Why what the file holds could not be read; None almost always."""
        return self._connections[AccessMode.READ].problem

    def empty_log(self) -> bool:
        """Write the log of changes into the file and cut it, so that deleted text leaves the disk.

        What another process is reading stays until the next time: then return False.
        """
        with map_errors("cutting the state's log", self._path):
            return self._shared(AccessMode.WRITE).empty_log()

    def detach(self) -> None:
        """Close the files; what is read comes from a copy in memory for a while."""
        if self._path:
            self._shared(AccessMode.READ).use_copy()
            for connection in self._connections.values():
                if connection is not self._connections[AccessMode.READ]:
                    connection.close()

    def close(self) -> None:
        """Close every connection of this process."""
        if self._pid == os.getpid():
            for connection in self._connections.values():
                connection.close()
        self._closed = True

    def _shared(self, mode: AccessMode) -> _SharedConnection:
        if self._closed:
            raise StateUnusable("The state is closed.", hint="Open the book again.")
        if self._pid != os.getpid():
            # SQLite forbids a forked child even to close what it inherited: keep that, untouched, and begin anew.
            self._inherited.append(self._connections)
            self._connections = self._new_connections()
            self._pid = os.getpid()
        return self._connections[mode]

    def _new_connections(self) -> dict[AccessMode, _SharedConnection]:
        if not self._path:
            return dict.fromkeys(AccessMode, _SharedConnection("", AccessMode.WRITE))  # reads and writes take turns
        return {mode: _SharedConnection(self._path, mode) for mode in AccessMode}


@contextmanager
def map_errors(doing: str, path: str) -> Iterator[None]:
    """Raise a StorageError for every error of SQLite or the system, saying what was being done.

    A text that is not Unicode, which SQLite cannot keep, is an InvalidField.
    """
    try:
        yield
    except UnicodeEncodeError:
        raise InvalidField("A text for the state is not Unicode.", hint="Send valid Unicode text.") from None
    except (sqlite3.Error, OSError) as error:
        known = explain(error, path, f"While {doing}") if is_no_damage(error) else None
        if known is not None and type(known) is not StorageError:
            raise known from error
        if isinstance(error, OSError):
            cause = errno.errorcode.get(error.errno or 0, "OSError")
        else:
            cause = getattr(error, "sqlite_errorname", type(error).__name__)
        raise StateUnusable.during(doing, cause) from error
