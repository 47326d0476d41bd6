"""The state's file: begun, brought up to this version, and moved aside where it is no state of ours.

What it promises: a connection to a state of this version, or a typed error. A damaged or foreign file never stops
anybody: it is renamed, never deleted, and a new state is begun. Each migration and its number are one transaction. A
file in good order is opened without a lock; beginning, migrating and moving aside are done by one process at a time.

The file is made here and not by SQLite, so that nobody else could read it for an instant; SQLite gives the same mode to
the files it makes beside it. No file that SQLite has open is ever opened here: closing it would end SQLite's locks.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat as st
from collections.abc import Iterator, Sequence
from functools import cache

from commonplace.model import times
from commonplace.model.errors import StateUnusable
from commonplace.model.log import Log
from commonplace.state.sqlite_errors import is_broken
from commonplace.text.named_sql import parse_queries
from commonplace.text.percent import quote

log = Log("commonplace.state")

APPLICATION_ID = 0x43504C53  # "CPLS", as schema.sql has it
MIGRATIONS: tuple[str, ...] = ("schema.sql",)  # the first is number 1
BESIDE = ("-wal", "-shm", "-journal")
WAIT = 5.0

Identity = tuple[int, int]


@cache
def sql(name: str) -> dict[str, str]:
    """The queries of one of this room's .sql files."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return parse_queries(file.read())


def identity(path: str) -> Identity | None:
    """Which file stands at this path now; None when there is none."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino)


def connect(path: str, *, born: str | None = None, wait: float = WAIT, lasting: bool = True) -> sqlite3.Connection:
    """A connection to the state at this path, begun at `born` if there was none. What is committed through a lasting
    one has reached the disk."""
    connection = _connect(path, wait)
    if connection is None or _version(connection) != len(MIGRATIONS):
        if connection is not None:
            connection.close()
        _make_folder(os.path.dirname(path))
        with _alone(path):
            connection = _connect(path, wait)
            if connection is None:
                _move_aside(path, "not_a_state")
                _make(path)
                connection = _plain(path, wait)
            try:
                _migrate(connection, born)
            except BaseException:
                connection.close()
                raise
    connection.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
    connection.execute("PRAGMA fullfsync = ON")  # for macOS, where a plain sync stops at the disk's own memory
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def connect_in_memory(born: str | None = None) -> sqlite3.Connection:
    """Return a connection to a new state that has no file."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _migrate(connection, born)
    return connection


def set_aside(path: str, broken: Identity | None) -> None:
    """Move the file at this path away, if it is still the one that was found broken."""
    with _alone(path):
        if broken is not None and identity(path) == broken:
            _move_aside(path, "corrupt")


def _connect(path: str, wait: float) -> sqlite3.Connection | None:
    """A connection to a state of ours, or to a file about to become one; None when this path has neither."""
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
        if not is_broken(error):
            raise
    finally:
        if not ours:
            connection.close()
    return connection if ours else None


def _plain(path: str, wait: float) -> sqlite3.Connection:
    # mode=rw: SQLite must not make the file, and not anew where somebody took it away just now.
    place = os.path.abspath(path).replace(os.sep, "/")
    where = f"file://{'' if place.startswith('/') else '/'}{quote(place, safe='/:')}?mode=rw"
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


def _migrate(connection: sqlite3.Connection, born: str | None) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    for number in range(_version(connection) + 1, len(MIGRATIONS) + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _apply(connection, number, list(sql(MIGRATIONS[number - 1]).values()))
            if number == 1:
                connection.execute("INSERT INTO about VALUES ('born', ?)", (born or times.now(),))
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


def _apply(connection: sqlite3.Connection, number: int, statements: Sequence[str]) -> None:
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {number:d}")


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """Nobody else is beginning or moving this state: the lock of an empty database, which a killed process lets go."""
    guard = f"{path}-opening"
    _make(guard)
    connection = _plain(guard, WAIT)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")  # nothing is written: no journal beside it
        connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()


def _make(path: str) -> None:
    """An empty file that only its owner can read; one that is there is left as it is."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _make_folder(path: str) -> None:
    if not os.path.isdir(path):
        _make_folder(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _move_aside(path: str, reason: str) -> None:
    """Rename what stands at this path and what SQLite left beside it, as one set; an empty file can stay."""
    found = [(path + end, end) for end in ("", *BESIDE) if os.path.lexists(path + end)]
    if found and found[0][0] == path and st.S_ISREG(os.lstat(path).st_mode) and os.lstat(path).st_size == 0:
        del found[0]
    if not found:
        return
    aside = base = f"{path}.aside-{times.compact(times.now())}"
    number = 1
    while any(os.path.lexists(aside + end) for end in ("", *BESIDE)):
        number += 1
        aside = f"{base}-{number}"
    for old, end in found:
        os.rename(old, aside + end)
    log.warning("event=state_recovered reason=%s kept=%s", reason, os.path.basename(aside))
