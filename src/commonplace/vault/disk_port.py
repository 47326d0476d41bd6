"""What a disk can do, and nothing of how; and what the operating system said, in our words.

vault/disk.py does it on an operating system. tests/crash/simdisk.py does the same in memory, to cut the power at every
call. No OSError leaves the vault.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from commonplace.model.errors import (
    AlreadyExists,
    CommonplaceError,
    DiskFull,
    InvalidPath,
    LinkRefused,
    LockUnsupported,
    NotFound,
    ReadOnly,
    StorageError,
    TooManyFiles,
    Unreadable,
    WriteFailed,
)
from commonplace.vault.port import FolderEntry, FolderGlance, Stat, Survey
from commonplace.vault.sync_thread import StartedJob

_BY_NUMBER: dict[int, type[CommonplaceError]] = {
    errno.ENOENT: NotFound,
    errno.EEXIST: AlreadyExists,
    errno.ENOTDIR: NotFound,
    errno.EISDIR: LinkRefused,
    errno.ELOOP: LinkRefused,
    errno.ENXIO: LinkRefused,
    errno.ENOSPC: DiskFull,
    errno.EDQUOT: DiskFull,
    errno.EFBIG: DiskFull,
    errno.EROFS: ReadOnly,
    errno.EACCES: ReadOnly,
    errno.EPERM: ReadOnly,
    errno.EMFILE: TooManyFiles,
    errno.ENFILE: TooManyFiles,
    errno.ENAMETOOLONG: InvalidPath,
    errno.EINVAL: InvalidPath,
    errno.ENOLCK: LockUnsupported,
    errno.EIO: WriteFailed,
}
_LOOKING = ("reading ", "listing ", "looking ")


def as_our_error(error: OSError, doing: str) -> CommonplaceError:
    """The error of ours that says the same, with what was being done and without any path of the machine."""
    number = error.errno or 0
    kind = _BY_NUMBER.get(number, StorageError)
    if kind is ReadOnly and doing.startswith(_LOOKING):
        kind = Unreadable
    said = (kind.__doc__ or "").strip()
    return kind(f"While {doing}: {said[:1].lower()}{said[1:]} ({errno.errorcode.get(number, f'error {number}')})")


@contextmanager
def mapped(doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise as_our_error(error, doing) from error


FOLDER_MODE = 0o700
FILE_MODE = 0o600


class DiskFile(Protocol):
    """A file being made: nobody can see it under its final name yet."""

    def write(self, data: bytes) -> None: ...

    def start_sync(self) -> None:
        """Tell the system that a sync will come. Several files told before the first is synced share their way."""

    def sync(self) -> None: ...
    def stat(self) -> Stat: ...
    def close(self) -> None: ...


class DiskFolder(Protocol):
    """An open folder. Names are single names, already checked; nothing here follows a link."""

    def scan(self) -> list[FolderEntry]: ...
    def survey(self, ending: str) -> Survey: ...
    def glance(self) -> FolderGlance | None: ...
    def stat(self, name: str) -> Stat | None: ...
    def read(self, name: str) -> tuple[bytes, Stat]: ...
    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile: ...
    def link(self, name: str, folder: DiskFolder, to: str) -> bool:
        """A second name for a file, where nothing may be; False when the platform moved it instead."""

    def rename(self, name: str, folder: DiskFolder, to: str) -> None: ...
    def remove(self, name: str) -> None: ...
    def make_folder(self, name: str) -> None: ...
    def remove_folder(self, name: str) -> None: ...
    def open_lock(self, name: str) -> LockFile: ...
    def open_log(self, name: str) -> LogFile: ...
    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        """Other bytes in the place of some that are there, whoever is adding to the file meanwhile; then synced."""

    def sync(self) -> None: ...
    def close(self) -> None: ...


class LogFile(Protocol):
    """A file to which any number of processes add whole lines, and nobody syncs it."""

    def is_empty(self) -> bool: ...
    def is_gone(self) -> bool: ...
    def append(self, line: bytes) -> None: ...
    def close(self) -> None: ...


class LockFile(Protocol):
    """A file that one process at a time can hold; its few bytes say who does."""

    def try_hold(self) -> bool: ...
    def release(self) -> None: ...
    def is_gone(self) -> bool: ...
    def read(self) -> bytes: ...
    def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...


class Disk(Protocol):
    def open(self, parts: Sequence[str]) -> DiskFolder:
        """The folder at the end of a path below the root, each step opened inside the one before."""

    def begin(self, action: Callable[[], None], /) -> StartedJob:
        """Begin something that waits for the disk, while the caller goes on."""

    def close(self) -> None: ...
