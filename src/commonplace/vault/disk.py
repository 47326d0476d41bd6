"""The disk of POSIX systems, and the choice of the disk for this system.

It does what disk_port.py describes: opens folders name by name without ever following a link, creates new files, syncs
and renames. local.py and commit.py decide the order in which these are used. Only this module, disk_windows.py (for a
system without folder descriptors) and disk_files.py, which both share, change files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as st
from collections.abc import Sequence

from commonplace.vault.disk_files import (
    OsFile,
    list_entries,
    make_stat,
    open_lock_on,
    open_log_on,
    overwrite_and_close,
    read_and_close,
    refuse_irregular,
    sync,
)
from commonplace.vault.disk_port import FILE_MODE, FOLDER_MODE, Disk, DiskFile, DiskFolder, LockFile, LogFile
from commonplace.vault.port import FolderEntry, FolderPrestat, Stat, Survey
from commonplace.vault.prestat import survey_folder, take_prestat
from commonplace.vault.sync_thread import SyncThread

# 0 where the system does not have the flag.
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS = os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC


class PosixFolder:
    """A folder held open by its descriptor: a write stays in it even if it is renamed or replaced by a link."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def scan(self) -> list[FolderEntry]:
        """Return every entry of the folder, in no order."""
        with os.scandir(self._fd) as found:
            return list_entries(found)

    def survey(self, ending: str) -> Survey:
        """Return a line for each file whose name has this ending, and the names of the folders."""
        return Survey(*survey_folder(self._fd, ending))

    def take_prestat(self) -> FolderPrestat | None:
        """Return, once, what the prestat process saw of this folder; None if it did not look at it."""
        seen = take_prestat(self._fd)
        return FolderPrestat(*seen) if seen is not None else None

    def stat(self, name: str) -> Stat | None:
        """Return the stat of an entry, None if there is none."""
        try:
            return make_stat(os.stat(name, dir_fd=self._fd, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def read(self, name: str) -> tuple[bytes, Stat]:
        """Return the bytes and the stat of a file."""
        flags = os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        return read_and_close(os.open(name, flags, dir_fd=self._fd), name)

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        """Create a file and return it open. Raises FileExistsError where there is one."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC
        fd = os.open(name, flags, FILE_MODE, dir_fd=self._fd)
        try:
            return OsFile(fd, mode)
        except OSError:
            os.unlink(name, dir_fd=self._fd)
            raise

    def link(self, name: str, folder: DiskFolder, to: str) -> bool:
        """Give a file a second name and return True. Raises FileExistsError where there is a file."""
        assert isinstance(folder, PosixFolder)  # noqa: S101 - one disk, one kind of folder
        os.link(name, to, src_dir_fd=self._fd, dst_dir_fd=folder._fd, follow_symlinks=False)
        return True

    def rename(self, name: str, folder: DiskFolder, to: str) -> None:
        """Move a file to another name, replacing the file there."""
        assert isinstance(folder, PosixFolder)  # noqa: S101 - one disk, one kind of folder
        os.rename(name, to, src_dir_fd=self._fd, dst_dir_fd=folder._fd)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=self._fd)

    def make_folder(self, name: str) -> None:
        """Make a folder."""
        os.mkdir(name, FOLDER_MODE, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=self._fd)

    def open_lock(self, name: str) -> LockFile:
        """Open a lock file, making it if needed."""
        flags = os.O_RDWR | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        return open_lock_on(os.open(name, flags, FILE_MODE, dir_fd=self._fd), name)

    def open_log(self, name: str) -> LogFile:
        """Open a log file for appending, making it if needed."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        return open_log_on(os.open(name, flags, FILE_MODE, dir_fd=self._fd), name)

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        """Put other bytes at these offsets of a file, and sync it."""
        flags = os.O_RDWR | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        overwrite_and_close(os.open(name, flags, dir_fd=self._fd), name, changes)

    def sync(self) -> None:
        """Wait until the names in this folder are on the medium."""
        sync(self._fd)

    def close(self) -> None:
        """Close the folder; does nothing when it is closed already."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _not_a_folder(fd: int, name: str) -> OSError:
    """Return the error for a name that is not a folder: ENOTDIR for a file, ELOOP for a link or anything else."""
    found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    number = errno.ENOTDIR if st.S_ISREG(found.st_mode) else errno.ELOOP
    return OSError(number, os.strerror(number), name)


class PosixDisk:
    """The folders below a root. One thread syncs for the whole book: `start_job` and `close` are its own."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)  # the root itself may be a link, nothing below it
        thread = SyncThread()
        self.start_job, self.close = thread.start_job, thread.close

    def open(self, parts: Sequence[str]) -> DiskFolder:
        """Open the folder at these names below the root. Raises OSError for a link on the way."""
        fd = os.open(self._root, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
        for name in parts:
            outer = fd
            try:
                fd = os.open(name, _FOLDER_FLAGS, dir_fd=outer)
            except NotADirectoryError:  # Linux raises it for a link to a folder, too
                raise _not_a_folder(outer, name) from None
            finally:
                os.close(outer)
        return PosixFolder(fd)


def _make_root(root: str) -> None:
    """Make the root and the missing folders above it, each durable before the next is made."""
    above = os.path.dirname(root)
    if os.path.isdir(root):
        return
    if above != root:
        _make_root(above)
    with contextlib.suppress(FileExistsError):  # another process made it first
        os.mkdir(root, FOLDER_MODE)
    if os.name != "nt":
        fd = os.open(above, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
        try:
            sync(fd)
        finally:
            os.close(fd)


def open_disk(root: str, *, make: bool = False) -> Disk:
    """Return the disk below a root folder, made for this platform; `make` creates the root if it is missing.

    Raises OSError when the root cannot be made.
    """
    if make:
        _make_root(os.path.abspath(root))
    if os.name == "nt":
        from commonplace.vault.disk_windows import WindowsDisk  # noqa: PLC0415 - Windows only

        return WindowsDisk(root)
    return PosixDisk(root)


def append_line(folder: str, name: str, line: bytes, most: int) -> None:
    """Append a line to a log that only its owner can read; at `most` bytes the log is renamed to NAME.1.

    Raises OSError when it cannot be written.
    """
    path = os.path.join(folder, name)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC, FILE_MODE)
    try:
        found = os.fstat(fd)
        refuse_irregular(name, found)
        os.write(fd, line)
    finally:
        os.close(fd)
    if found.st_size + len(line) >= most:
        os.replace(path, f"{path}.1")
