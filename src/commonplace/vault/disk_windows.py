"""The disk of Windows, which has no descriptors of folders: it uses paths, and checks each step of them for links.

A rename is a MoveFileEx with write-through, which returns when the folder is on the medium, so `sync` of a folder has
nothing left to do. Virus scanners and indexers hold files open for a moment: a sharing violation is retried for a
second before it becomes an error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as st
import sys
import time
from collections.abc import Callable, Sequence
from typing import Self

from commonplace.vault.disk_files import OsDisk, OsFolder, list_entries, make_stat
from commonplace.vault.disk_port import FILE_MODE, DiskFolder
from commonplace.vault.port import FolderEntry, Stat, Survey, survey_entries

if sys.platform == "win32":
    import ctypes

_REPLACE_EXISTING = 0x1
_WRITE_THROUGH = 0x8
_SHARING = frozenset({5, 32, 33})  # access denied, sharing violation, lock violation
_LINK_TAGS = frozenset({0xA000000C, 0xA0000003})  # symbolic link, mount point; OneDrive's placeholders are fine
_TRIES = 20
_FLAGS: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


def with_retries(action: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> None:
    """Run the action, again for about a second while another program holds the file.

    Raises the last OSError when that does not help, and any other error at once.
    """
    for attempt in range(_TRIES):
        try:
            action()
        except OSError as error:
            if getattr(error, "winerror", None) not in _SHARING or attempt == _TRIES - 1:
                raise
            pause(0.005 * (attempt + 1))
        else:
            return


def _move(source: str, target: str, flags: int) -> None:
    """Move a file with MoveFileEx. Raises OSError with the number that Windows gives."""
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        if not kernel.MoveFileExW(ctypes.c_wchar_p(source), ctypes.c_wchar_p(target), ctypes.c_uint32(flags)):
            raise ctypes.WinError(ctypes.get_last_error())


def _refuse_link(path: str) -> os.stat_result:
    """Return the stat of a path. Raises OSError (ELOOP) when it is a link or a mount point."""
    found = os.lstat(path)
    if st.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) in _LINK_TAGS:
        raise OSError(errno.ELOOP, "a link", path)
    return found


class WindowsFolder(OsFolder):
    """A folder known by its path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name)

    def _open(self, name: str, flags: int) -> int:
        """Open a file. Raises OSError for a link, and FileNotFoundError where there is none and none is made."""
        path = self._at(name)
        with contextlib.suppress(FileNotFoundError):
            _refuse_link(path)
        return os.open(path, flags | _FLAGS, FILE_MODE)

    def scan(self) -> list[FolderEntry]:
        """Return every entry of the folder, in no order."""
        return list_entries(self._path)

    def survey(self, ending: str) -> Survey:
        """Return a line for each file whose name has this ending, and the names of the folders."""
        return survey_entries(self.scan(), ending)

    def take_prestat(self) -> None:
        """Return None: there is no prestat on Windows."""

    def stat(self, name: str) -> Stat | None:
        """Return the stat of an entry, None if there is none."""
        try:
            return make_stat(os.lstat(self._at(name)))
        except FileNotFoundError:
            return None

    def link(self, name: str, folder: Self, to: str) -> bool:
        """Move a file and return False. Raises OSError where there is a file."""
        # Without REPLACE_EXISTING the move fails where a file exists: create-only, in one step.
        with_retries(lambda: _move(self._at(name), folder._at(to), _WRITE_THROUGH))
        return False

    def rename(self, name: str, folder: Self, to: str) -> None:
        """Move a file to another name, replacing the file there."""
        with_retries(lambda: _move(self._at(name), folder._at(to), _REPLACE_EXISTING | _WRITE_THROUGH))

    def remove(self, name: str) -> None:
        """Remove a file."""
        with_retries(lambda: os.unlink(self._at(name)))

    def make_folder(self, name: str) -> None:
        """Make a folder."""
        os.mkdir(self._at(name))

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._at(name))

    def sync(self) -> None:
        """Do nothing: every move was written through."""

    def close(self) -> None:
        """Do nothing: no folder is held open."""


class WindowsDisk(OsDisk):
    """The folders below a root."""

    def open(self, parts: Sequence[str]) -> DiskFolder:
        """Open the folder at these names below the root. Raises OSError for a link on the way."""
        if not os.path.isdir(self._root):
            raise FileNotFoundError(errno.ENOENT, "no such folder", self._root)
        path = self._root
        for name in parts:
            path = os.path.join(path, name)
            if not st.S_ISDIR(_refuse_link(path).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "not a folder", name)
        return WindowsFolder(path)
