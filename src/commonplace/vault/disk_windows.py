"""The disk seam on Windows, which has no descriptors of folders: paths, checked for links at every step.

A rename goes through MoveFileEx with write-through, which returns when the folder is on the medium, so `sync` of a
folder has nothing left to do. Virus scanners and indexers hold files open for moments: a sharing violation is tried
again for a second before it becomes an error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as st
import sys
import time
from collections.abc import Callable, Sequence

from commonplace.vault.disk import (
    _lock_on,
    _log_on,
    _OsFile,
    _overwrite,
    _read_all,
    _refuse_other,
    _scanned,
    _stat,
)
from commonplace.vault.disk_port import FILE_MODE, DiskFile, DiskFolder, LockFile, LogFile
from commonplace.vault.port import FolderEntry, Stat, Survey, surveyed
from commonplace.vault.sync_thread import SyncThread

_REPLACE_EXISTING = 0x1
_WRITE_THROUGH = 0x8
_SHARING = frozenset({5, 32, 33})  # access denied, sharing violation, lock violation
_LINK_TAGS = frozenset({0xA000000C, 0xA0000003})  # symbolic link, mount point; OneDrive's placeholders are fine
_TRIES = 20


def with_retries(action: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> None:
    """Do it; when another program holds the file for a moment, again, for about a second in all."""
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
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - Windows only

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        if not kernel.MoveFileExW(ctypes.c_wchar_p(source), ctypes.c_wchar_p(target), ctypes.c_uint32(flags)):
            raise ctypes.WinError(ctypes.get_last_error())


def _refuse_link(path: str) -> os.stat_result:
    found = os.lstat(path)
    if st.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) in _LINK_TAGS:
        raise OSError(errno.ELOOP, "a link", path)
    return found


class WindowsFolder:
    def __init__(self, path: str) -> None:
        self._path = path

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name)

    def scan(self) -> list[FolderEntry]:
        with os.scandir(self._path) as found:
            return _scanned(found)

    def survey(self, ending: str) -> Survey:
        return surveyed(self.scan(), ending)

    def glance(self) -> None:
        """Nobody looks while we load."""

    def stat(self, name: str) -> Stat | None:
        try:
            return _stat(os.lstat(self._at(name)))
        except FileNotFoundError:
            return None

    def read(self, name: str) -> tuple[bytes, Stat]:
        _refuse_link(self._at(name))
        fd = os.open(self._at(name), os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0))
        try:
            found = os.fstat(fd)
            _refuse_other(name, found)
            return _read_all(fd, found.st_size), _stat(found)
        finally:
            os.close(fd)

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        return _OsFile(os.open(self._at(name), flags, FILE_MODE), mode)

    def link(self, name: str, folder: DiskFolder, to: str) -> bool:
        # Without REPLACE_EXISTING a move fails where something is: create-only, in one step.
        assert isinstance(folder, WindowsFolder)  # noqa: S101 - one disk, one kind of folder
        with_retries(lambda: _move(self._at(name), folder._at(to), _WRITE_THROUGH))
        return False

    def rename(self, name: str, folder: DiskFolder, to: str) -> None:
        assert isinstance(folder, WindowsFolder)  # noqa: S101 - one disk, one kind of folder
        with_retries(lambda: _move(self._at(name), folder._at(to), _REPLACE_EXISTING | _WRITE_THROUGH))

    def remove(self, name: str) -> None:
        with_retries(lambda: os.unlink(self._at(name)))

    def make_folder(self, name: str) -> None:
        os.mkdir(self._at(name))

    def remove_folder(self, name: str) -> None:
        os.rmdir(self._at(name))

    def open_lock(self, name: str) -> LockFile:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        with contextlib.suppress(FileNotFoundError):
            _refuse_link(self._at(name))
        return _lock_on(os.open(self._at(name), flags, FILE_MODE), name)

    def open_log(self, name: str) -> LogFile:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        with contextlib.suppress(FileNotFoundError):
            _refuse_link(self._at(name))
        return _log_on(os.open(self._at(name), flags, FILE_MODE), name)

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        _refuse_link(self._at(name))
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        _overwrite(os.open(self._at(name), flags), name, changes)

    def sync(self) -> None:
        """Nothing to do: every move above was written through."""

    def close(self) -> None:
        """Nothing is held open."""


class WindowsDisk:
    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._beside = SyncThread()
        self.begin, self.close = self._beside.begin, self._beside.close

    def open(self, parts: Sequence[str]) -> DiskFolder:
        if not os.path.isdir(self._root):
            raise FileNotFoundError(errno.ENOENT, "no such folder", self._root)
        path = self._root
        for name in parts:
            path = os.path.join(path, name)
            if not st.S_ISDIR(_refuse_link(path).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "not a folder", name)
        return WindowsFolder(path)
