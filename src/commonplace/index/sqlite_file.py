"""A SQLite file of a book: what is damage and what is not, and a copy in memory for a reader that cannot write.

The index and the state open their files with it. A full disk, a lock, a lack of file handles or of permission is not
damage: the file is sound, is never moved away for it, and what it holds can usually still be read.

Their queries are in .sql files, which `load_queries` reads: SQL stays SQL, and is looked up by name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sqlite3
import sys
from functools import cache

from commonplace.model.errors import (
    SYSTEM_ERRORS,
    DiskFull,
    LockTimeout,
    ReadOnly,
    StorageError,
    TooManyFiles,
    WriteFailed,
)
from commonplace.model.lazy import lazy
from commonplace.text.naming import quote

BESIDE = ("-wal", "-shm", "-journal")  # the files that SQLite keeps beside a database
BRIEF = 0.1  # seconds that a reader waits for another process
_ROOM = 65_536  # bytes: see `check_room`
_HANDLES = frozenset({errno.EMFILE, errno.ENFILE})
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_DAMAGE = frozenset(
    {
        *_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
    }
)  # fmt: skip
_QUERY_NAME = lazy(r"^-- name: *(\w+) *$", re.M | re.ASCII)


@cache
def load_queries(package_file: str, name: str) -> dict[str, str]:
    """Return the queries of a .sql file beside a module, by name, in order."""
    with open(os.path.join(os.path.dirname(package_file), name), encoding="utf-8") as file:
        return parse_queries(file.read())


def parse_queries(text: str) -> dict[str, str]:
    """Return queries by name, in order. Each begins with a line `-- name: word` and ends at the next such line; before
    the first there are only comments."""
    _, *parts = _QUERY_NAME.split(text)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def error_code(error: BaseException) -> int:
    """Return SQLite's code for an error, without what it adds for a special case; 0 for any other error."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def is_busy(error: BaseException) -> bool:
    """Return whether another process or thread uses the file just now."""
    return error_code(error) in _BUSY


def is_damaged(error: BaseException) -> bool:
    """Return whether the file itself is at fault: damaged, or no database at all."""
    return error_code(error) in _DAMAGED


def is_no_damage(error: BaseException) -> bool:
    """Return whether an error says something of the machine or of other processes, and nothing of the file's bytes."""
    return isinstance(error, OSError) or error_code(error) in _NO_DAMAGE


def explain(error: BaseException, path: str, what: str) -> StorageError:
    """Return our error for one that is not damage; `what` is such as "The index could not be opened"."""
    code = error_code(error)
    number = (error.errno if isinstance(error, OSError) else None) or _errno_now(path)
    if code in _BUSY:
        return LockTimeout(f"{what}: another process is writing to it.")
    if number in _HANDLES:
        return TooManyFiles(f"{what}: too many files are open.")
    if code == sqlite3.SQLITE_FULL or SYSTEM_ERRORS.get(number) is DiskFull:
        return DiskFull(f"{what}: the disk, or your quota on it, is full.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM) or SYSTEM_ERRORS.get(number) is ReadOnly:
        return ReadOnly(f"{what}: it is read-only.")
    if code == sqlite3.SQLITE_IOERR or number == errno.EIO:
        return WriteFailed(f"{what}: the disk reported an error.")
    return StorageError(f"{what} ({error}).")


def _errno_now(path: str) -> int:
    """Return the error that the system gives now for what SQLite needs; 0 for none. SQLite itself does not tell."""
    folder = os.path.dirname(path)
    try:
        with open(os.devnull, "rb"):  # another file: closing the database's own would end SQLite's locks
            pass
        if sys.platform != "win32":
            found = os.statvfs(folder)
            if (found.f_files and not found.f_ffree) or (found.f_blocks and not found.f_bavail):
                return errno.ENOSPC
        return 0 if os.access(folder, os.W_OK) else errno.EACCES
    except OSError as error:
        return error.errno or 0


def check_room(folder: str) -> None:
    """Raise SQLite's error for a full disk if it has no room for the files that SQLite keeps beside a database.

    SQLite maps one of them into memory, and touches one byte in 4,096 to have room for it. Where the blocks of a file
    system are smaller than that, a full disk would kill the process (SIGBUS) instead of giving an error.
    """
    if sys.platform != "win32":
        try:
            found = os.statvfs(folder)
        except OSError:
            return  # SQLite will tell
        if found.f_blocks and found.f_bavail * found.f_frsize < _ROOM:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error


def file_uri(path: str, options: str) -> str:
    """Return the address of a database file for SQLite, with options such as mode=rw."""
    place = os.path.abspath(path).replace(os.sep, "/")
    return f"file:///{quote(place.removeprefix('/'), safe='/:')}?{options}"


def identity(path: str) -> tuple[int, int] | None:
    """Return which file is at this path now, by device and inode; None when there is none, or it cannot be told."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def connect_memory() -> sqlite3.Connection:
    """Return a new, empty database in memory, for all threads of this process."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, cached_statements=256)


def copy_file(path: str, wait: float = BRIEF) -> sqlite3.Connection | None:
    """Return a database in memory with what a file holds; None if that cannot be read.

    A file without a log beside it is whole. It is read without SQLite's locks and the files they need, and given up if
    another process began to write meanwhile. One with a log is read as usual.
    """
    before = _signature(path)
    if before is None:
        return None
    if before[0] == 0:
        copy = _copy_through(file_uri(path, "immutable=1"), wait)
        if _signature(path) == before:
            return copy
        if copy is not None:
            copy.close()
    if not os.path.exists(f"{path}-shm"):
        try:
            check_room(os.path.dirname(path))
        except sqlite3.Error:
            return None
    return _copy_through(file_uri(path, "mode=ro"), wait)


def _signature(path: str) -> tuple[int, int, int, int] | None:
    """Return the size of a database's log, and what its file looks like; None if it cannot be told."""
    try:
        found = os.lstat(path)
        log_size = 0
        for end in ("-wal", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                log_size += os.lstat(path + end).st_size
    except OSError:
        return None
    return log_size, found.st_ino, found.st_size, found.st_mtime_ns


def _copy_through(uri: str, wait: float) -> sqlite3.Connection | None:
    try:
        source = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)
    except sqlite3.Error:
        return None
    with contextlib.closing(source):
        return copy_connection(source)


def copy_connection(source: sqlite3.Connection) -> sqlite3.Connection | None:
    """Return a database in memory with what a connection can read; None if that fails."""
    memory = connect_memory()
    try:
        source.execute("BEGIN")
        try:
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()  # or a lock would be waited for without end
            source.backup(memory)
        finally:
            source.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError):
        memory.close()
        return None
    return memory
