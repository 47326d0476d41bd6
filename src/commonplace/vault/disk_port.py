"""The disk port: what the vault needs of a disk, and the errors it makes of the system's.

disk.py and disk_windows.py implement it on an operating system; tests/crash/simdisk.py implements it in memory, to cut
the power at every call. Every method of a disk may raise OSError; none leaves the vault, because local.py and commit.py
convert them here.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, Self

from commonplace.model.errors import SYSTEM_ERRORS, CommonplaceError, StorageError, TooLarge, Unreadable, WriteFailed
from commonplace.vault.port import FolderEntry, FolderPrestat, Stat, Survey, do_nothing

_READING_WORDS = ("reading ", "listing ", "looking ")
# What a system says of one file or folder that cannot be read. Not every system has all of these numbers.
_DAMAGE = ("EACCES", "EPERM", "EROFS", "EIO", "EUCLEAN", "EBADMSG", "ESTALE", "ENODATA", "EILSEQ")
_WHILE_READING: dict[int, type[CommonplaceError]] = {
    **{getattr(errno, name): Unreadable for name in _DAMAGE if hasattr(errno, name)},
    errno.EFBIG: TooLarge,
}


def convert_os_error(error: OSError, doing: str) -> CommonplaceError:
    """Return the Commonplace error for a system error; it says what was being done, without a path of the machine."""
    number = error.errno or 0
    kind = SYSTEM_ERRORS.get(number, StorageError)
    cause = errno.errorcode.get(number, f"error {number}")
    if doing.startswith(_READING_WORDS):
        if kind is WriteFailed:
            return Unreadable(f"While {doing}: the disk reported an error ({cause}).", hint=kind.default_hint)
        kind = _WHILE_READING.get(number, kind)
    return kind.during(doing, cause)


@contextmanager
def converting_os_errors(doing: str) -> Iterator[None]:
    """Raise the Commonplace error for any OSError raised inside; `doing` is what the message says was being done."""
    try:
        yield
    except OSError as error:
        raise convert_os_error(error, doing) from error


FOLDER_MODE = 0o700
FILE_MODE = 0o600


class DiskFile(Protocol):
    """A file being written, before it has its final name."""

    def write(self, data: bytes) -> None:
        """Write all of the bytes."""

    def start_sync(self) -> None:
        """Tell the system that a sync will come: several files told before the first is synced are written together."""

    def sync(self) -> None:
        """Wait until the file is on the medium."""

    def stat(self) -> Stat:
        """Return the file's stat."""

    def close(self) -> None:
        """Close the file."""


class DiskFolder(Protocol):
    """An open folder. Names are single names, already checked; no method follows a link."""

    def scan(self) -> list[FolderEntry]:
        """Return every entry of the folder, in no order."""

    def survey(self, ending: str) -> Survey:
        """Return a line for each file whose name has this ending, and the names of the folders."""

    def take_prestat(self) -> FolderPrestat | None:
        """Return, once, what the prestat process saw of this folder; None if it did not look at it."""

    def stat(self, name: str) -> Stat | None:
        """Return the stat of an entry, None if there is none."""

    def read(self, name: str, limit: int | None = None) -> tuple[bytes, Stat]:
        """Return the bytes and the stat of a file. Raises OSError (EFBIG) for one of more than `limit` bytes."""

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        """Create a file and return it open. Raises FileExistsError where there is one."""

    def link(self, name: str, folder: Self, to: str) -> bool:
        """Give a file a second name; returns False when the platform moved it instead.

        Raises FileExistsError where there is a file.
        """

    def rename(self, name: str, folder: Self, to: str) -> None:
        """Move a file to another name, replacing the file there."""

    def remove(self, name: str) -> None:
        """Remove a file."""

    def make_folder(self, name: str) -> None:
        """Make a folder. Raises FileExistsError where there is one."""

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""

    def open_lock(self, name: str) -> LockFile:
        """Open a lock file, making it if needed."""

    def open_log(self, name: str) -> LogFile:
        """Open a log file for appending, making it if needed."""

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        """Put other bytes at these offsets of a file, and sync it. Other processes may append to it meanwhile."""

    def sync(self) -> None:
        """Wait until the names in this folder are on the medium."""

    def close(self) -> None:
        """Close the folder."""


class LogFile(Protocol):
    """A file to which any number of processes append whole lines. It is never synced."""

    def is_empty(self) -> bool:
        """Return whether the file has no bytes."""

    def is_gone(self) -> bool:
        """Return whether another process has removed the file."""

    def append(self, line: bytes) -> None:
        """Write a whole line at the end. Raises OSError when only a part of it could be written."""

    def close(self) -> None:
        """Close the file."""


class LockFile(Protocol):
    """A file that one process at a time can hold; its few bytes say which one does."""

    def try_hold(self) -> bool:
        """Take the lock without waiting; returns whether it was free."""

    def release(self) -> None:
        """Give the lock back."""

    def is_gone(self) -> bool:
        """Return whether another process has removed the file."""

    def read(self) -> bytes:
        """Return the bytes that say who holds the lock."""

    def write(self, data: bytes) -> None:
        """Replace the bytes that say who holds the lock."""

    def close(self) -> None:
        """Close the file, which releases the lock."""


Action = Callable[[], None]
StartJob = Callable[[Action], Action]
"""Starts an action; what it returns waits until the action is done, and raises what the action raised. Call it once."""


def run_at_once(action: Action) -> Action:
    """Run an action before returning: for a caller with no other work, which a second thread would only slow down."""
    action()
    return do_nothing


class Disk(Protocol):
    """The folders below one root."""

    def open(self, parts: Sequence[str]) -> DiskFolder:
        """Open the folder at these names below the root, each inside the one before."""

    def start_job(self, action: Action, /) -> Action:
        """Start an action that waits for the disk, and return at once, as StartJob says."""

    def close(self) -> None:
        """End what `start_job` uses."""
