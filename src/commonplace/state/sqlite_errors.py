"""Errors of SQLite and the system about the state's file, as ours. No sqlite3.Error leaves this package."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.model.errors import (
    DiskFull,
    LockTimeout,
    ReadOnly,
    StateUnusable,
    StorageError,
    TooManyFiles,
    WriteFailed,
)

_BY_CODE: dict[int, type[StorageError]] = {
    sqlite3.SQLITE_BUSY: LockTimeout,
    sqlite3.SQLITE_LOCKED: LockTimeout,
    sqlite3.SQLITE_FULL: DiskFull,
    sqlite3.SQLITE_READONLY: ReadOnly,
    sqlite3.SQLITE_PERM: ReadOnly,
    sqlite3.SQLITE_IOERR: WriteFailed,
}
_BY_NUMBER: dict[int, type[StorageError]] = {
    errno.ENOSPC: DiskFull,
    errno.EDQUOT: DiskFull,
    errno.EROFS: ReadOnly,
    errno.EACCES: ReadOnly,
    errno.EPERM: ReadOnly,
    errno.EMFILE: TooManyFiles,
    errno.ENFILE: TooManyFiles,
    errno.EIO: WriteFailed,
}
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_broken(error: sqlite3.Error) -> bool:
    """Return whether the file itself is at fault: damaged, or no database at all."""
    return _code(error) & 0xFF in _BROKEN


@contextmanager
def map_errors(doing: str) -> Iterator[None]:
    """Raise a StorageError for every error of SQLite or the system, saying what was being done."""
    try:
        yield
    except sqlite3.Error as error:
        kind = _BY_CODE.get(_code(error) & 0xFF, StateUnusable)
        raise _describe(kind, doing, getattr(error, "sqlite_errorname", type(error).__name__)) from error
    except OSError as error:
        kind = _BY_NUMBER.get(error.errno or 0, StateUnusable)
        raise _describe(kind, doing, errno.errorcode.get(error.errno or 0, "OSError")) from error


def _code(error: sqlite3.Error) -> int:
    found: int = getattr(error, "sqlite_errorcode", 0)  # errors of Python's own module have none
    return found


def _describe(kind: type[StorageError], doing: str, said: str) -> StorageError:
    if kind is LockTimeout:
        return kind(f"While {doing}: another process kept the state locked for too long ({said}).")
    words = (kind.__doc__ or "").strip()
    return kind(f"While {doing}: {words[:1].lower()}{words[1:]} ({said})")
