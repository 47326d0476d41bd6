"""The disk of POSIX systems, and the choice of the disk for this system.

It does what disk_port.py describes: opens folders name by name without ever following a link, creates new files, syncs
and renames. local.py and commit.py decide the order in which these are used. Only this module, disk_windows.py (for a
system without folder descriptors) and disk_files.py, which both share, change files.
"""

from __future__ import annotations

import errno
import os
import stat as st
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Self

from commonplace.vault.disk_files import OpenFile, OsDisk, OsFolder, list_entries, make_stat, sync
from commonplace.vault.disk_port import FILE_MODE, FOLDER_MODE, Disk, DiskFolder
from commonplace.vault.paths import TEMP_PREFIX, TEMP_SUFFIX
from commonplace.vault.port import FolderEntry, FolderPrestat, Stat, Survey
from commonplace.vault.prestat import survey_folder, take_prestat

if sys.platform == "win32":
    from commonplace.vault.disk_windows import WindowsDisk

# 0 where the system does not have the flag.
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS: int = _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_ROOT_FLAGS: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class PosixFolder(OpenFile, OsFolder):
    """A folder held open by its descriptor: a write stays in it even if it is renamed or replaced by a link."""

    def scan(self) -> list[FolderEntry]:
        """Return every entry of the folder, in no order."""
        return list_entries(self._fd)

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

    def link(self, name: str, folder: Self, to: str) -> bool:
        """Give a file a second name and return True. Raises FileExistsError where there is a file."""
        os.link(name, to, src_dir_fd=self._fd, dst_dir_fd=folder._fd, follow_symlinks=False)
        return True

    def rename(self, name: str, folder: Self, to: str) -> None:
        """Move a file to another name, replacing the file there."""
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

    def sync(self) -> None:
        """Wait until the names in this folder are on the medium."""
        sync(self._fd)

    def _open(self, name: str, flags: int) -> int:
        """Open a file without following a link, and without waiting for a pipe's other end."""
        return os.open(name, flags | _FILE_FLAGS, FILE_MODE, dir_fd=self._fd)


def _not_a_folder(fd: int, name: str) -> OSError:
    """Return the error for a name that is not a folder: ENOTDIR for a file, ELOOP for a link or anything else."""
    found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    number = errno.ENOTDIR if st.S_ISREG(found.st_mode) else errno.ELOOP
    return OSError(number, os.strerror(number), name)


class PosixDisk(OsDisk):
    """The folders below a root."""

    def open(self, parts: Sequence[str]) -> DiskFolder:
        """Open the folder at these names below the root. Raises OSError for a link on the way."""
        fd = os.open(self._root, _ROOT_FLAGS)
        for name in parts:
            outer = fd
            try:
                fd = os.open(name, _ROOT_FLAGS | _NOFOLLOW, dir_fd=outer)
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
    with suppress(FileExistsError):  # another process made it first
        os.mkdir(root, FOLDER_MODE)
    if sys.platform != "win32":
        fd = os.open(above, _ROOT_FLAGS)
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
    if sys.platform == "win32":
        disk: Disk = WindowsDisk(root)
    else:
        disk = PosixDisk(root)
    return disk


def append_line(folder: str, name: str, line: bytes, most: int) -> None:
    """Append a line to a log that only its owner can read; at `most` bytes the log is renamed to NAME.1.

    Raises OSError when it cannot be written.
    """
    with closing(open_disk(folder).open(())) as place, closing(place.open_log(name)) as log_file:
        log_file.append(line)
        found = place.stat(name)
        if found and found.size >= most:
            place.rename(name, place, f"{name}.1")


def try_to_make_folder(folder: str) -> None:
    """Make a folder in this one and remove it again. Raises OSError where that cannot be done."""
    trial = os.path.join(folder, f"{TEMP_PREFIX}{os.getpid()}{TEMP_SUFFIX}")
    os.mkdir(trial)
    os.rmdir(trial)
