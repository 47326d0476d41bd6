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

from commonplace.vault.disk_files import (
    OsFile,
    list_entries,
    make_stat,
    open_lock_on,
    open_log_on,
    overwrite_and_close,
    read_and_close,
)
from commonplace.vault.disk_port import FILE_MODE, DiskFile, DiskFolder, LockFile, LogFile
from commonplace.vault.port import FolderEntry, Stat, Survey, survey_entries
from commonplace.vault.sync_thread import SyncThread

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
        import ctypes  # noqa: PLC0415 - Windows only

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        if not kernel.MoveFileExW(ctypes.c_wchar_p(source), ctypes.c_wchar_p(target), ctypes.c_uint32(flags)):
            raise ctypes.WinError(ctypes.get_last_error())


def _refuse_link(path: str) -> os.stat_result:
    """Return the stat of a path. Raises OSError (ELOOP) when it is a link or a mount point."""
    found = os.lstat(path)
    if st.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) in _LINK_TAGS:
        raise OSError(errno.ELOOP, "a link", path)
    return found


class WindowsFolder:
    """A folder known by its path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name)

    def scan(self) -> list[FolderEntry]:
        """Return every entry of the folder, in no order."""
        with os.scandir(self._path) as found:
            return list_entries(found)

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

    def read(self, name: str) -> tuple[bytes, Stat]:
        """Return the bytes and the stat of a file."""
        _refuse_link(self._at(name))
        return read_and_close(os.open(self._at(name), os.O_RDONLY | _FLAGS), name)

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        """Create a file and return it open. Raises FileExistsError where there is one."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS
        return OsFile(os.open(self._at(name), flags, FILE_MODE), mode)

    def link(self, name: str, folder: DiskFolder, to: str) -> bool:
        """Move a file and return False. Raises OSError where there is a file."""
        # Without REPLACE_EXISTING the move fails where a file exists: create-only, in one step.
        assert isinstance(folder, WindowsFolder)  # noqa: S101 - one disk, one kind of folder
        with_retries(lambda: _move(self._at(name), folder._at(to), _WRITE_THROUGH))
        return False

    def rename(self, name: str, folder: DiskFolder, to: str) -> None:
        """Move a file to another name, replacing the file there."""
        assert isinstance(folder, WindowsFolder)  # noqa: S101 - one disk, one kind of folder
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

    def open_lock(self, name: str) -> LockFile:
        """Open a lock file, making it if needed."""
        flags = os.O_RDWR | os.O_CREAT | _FLAGS
        with contextlib.suppress(FileNotFoundError):
            _refuse_link(self._at(name))
        return open_lock_on(os.open(self._at(name), flags, FILE_MODE), name)

    def open_log(self, name: str) -> LogFile:
        """Open a log file for appending, making it if needed."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS
        with contextlib.suppress(FileNotFoundError):
            _refuse_link(self._at(name))
        return open_log_on(os.open(self._at(name), flags, FILE_MODE), name)

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        """Put other bytes at these offsets of a file, and sync it."""
        _refuse_link(self._at(name))
        flags = os.O_RDWR | _FLAGS
        overwrite_and_close(os.open(self._at(name), flags), name, changes)

    def sync(self) -> None:
        """Do nothing: every move was written through."""

    def close(self) -> None:
        """Do nothing: no folder is held open."""


class WindowsDisk:
    """The folders below a root. One thread syncs for the whole book: `start_job` and `close` are its own."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        thread = SyncThread()
        self.start_job, self.close = thread.start_job, thread.close

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
