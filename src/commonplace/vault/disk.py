"""The only module that changes files (with disk_windows.py, its twin where descriptors of folders do not exist).

How each thing of the seam (vault/seam.py) is done on POSIX, macOS and Windows: folders that are opened name by name
without ever following a link, files that are made new and synced, renames. The order in which these are used is in
vault.local.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as st
import sys
import time
from collections.abc import Iterable, Sequence

from commonplace.model.lazy import Log
from commonplace.vault.disk_port import FILE_MODE, FOLDER_MODE, Disk, DiskFile, DiskFolder, LockFile, LogFile
from commonplace.vault.port import FileKind, FolderEntry, FolderGlance, Stat, Survey
from commonplace.vault.prestat import look, taken
from commonplace.vault.sync_thread import SyncThread

log = Log("commonplace.vault")

# Absent where the system has no such thing; 0 then asks for nothing.
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)

_LOCK_BYTE = 1 << 30  # Windows locks bytes, and forbids reading them: lock one that is not there
_HALF_WRITTEN = 2.0  # seconds: no write of a line takes as long
_NOT_SYNCABLE = frozenset({errno.EINVAL, errno.ENOTSUP, getattr(errno, "EOPNOTSUPP", errno.ENOTSUP)})


_FILE, _FOLDER, _OTHER = (
    FileKind.FILE,
    FileKind.FOLDER,
    FileKind.OTHER,
)  # looking members up costs, at every file of a book


def _stat(found: os.stat_result) -> Stat:
    mode = found.st_mode
    kind = _FILE if st.S_ISREG(mode) else _FOLDER if st.S_ISDIR(mode) else _OTHER
    return Stat(kind, found.st_size, found.st_mtime_ns, found.st_ino, mode & 0o777)


def _sync(fd: int) -> None:
    """Everything of this file on the medium; a file system that cannot say so is a warning, an error is an error."""
    try:
        if sys.platform == "darwin":
            import fcntl  # noqa: PLC0415 - POSIX only

            with contextlib.suppress(OSError):  # not on network volumes; fsync below decides
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
                return
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NOT_SYNCABLE:
            raise
        log.warning("event=sync_unsupported errno=%s", errno.errorcode.get(error.errno or 0, "?"))


def _refuse_other(name: str, found: os.stat_result) -> None:
    if not st.S_ISREG(found.st_mode):
        raise OSError(errno.ELOOP, "not a regular file", name)


class _OsFile:
    def __init__(self, fd: int, mode: int) -> None:
        self._fd = fd
        if mode != FILE_MODE and sys.platform != "win32":
            try:
                os.fchmod(fd, mode)
            except OSError:
                os.close(fd)
                raise

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def start_sync(self) -> None:
        # On Linux this starts writing the file out, so that ext4 and others commit several in one transaction. A hint:
        # whatever comes of it, sync() decides.
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def sync(self) -> None:
        _sync(self._fd)

    def stat(self) -> Stat:
        return _stat(os.fstat(self._fd))

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class _OsLock:
    """A whole-file lock of the operating system: it goes with the process that held it, however that ended."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def try_hold(self) -> bool:
        try:
            if sys.platform == "win32":
                import msvcrt  # noqa: PLC0415 - Windows only

                os.lseek(self._fd, _LOCK_BYTE, os.SEEK_SET)
                msvcrt.locking(self._fd, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl  # noqa: PLC0415 - POSIX only

                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True

    def release(self) -> None:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - Windows only

            os.lseek(self._fd, _LOCK_BYTE, os.SEEK_SET)
            msvcrt.locking(self._fd, msvcrt.LK_UNLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - POSIX only

            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def is_gone(self) -> bool:
        return os.fstat(self._fd).st_nlink == 0

    def read(self) -> bytes:
        os.lseek(self._fd, 0, os.SEEK_SET)
        return os.read(self._fd, 400)

    def write(self, data: bytes) -> None:
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, data)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()  # of a book that nobody closed


class _OsLog:
    """Opened for appending, so that the system puts each write at the end, however many processes write. Windows only
    seeks there: it takes a lock for as long as that."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def is_empty(self) -> bool:
        return os.fstat(self._fd).st_size == 0

    def is_gone(self) -> bool:
        return os.fstat(self._fd).st_nlink == 0

    def append(self, line: bytes) -> None:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - Windows only

            os.lseek(self._fd, _LOCK_BYTE, os.SEEK_SET)
            msvcrt.locking(self._fd, msvcrt.LK_LOCK, 1)
            try:
                written = os.write(self._fd, line)
            finally:
                os.lseek(self._fd, _LOCK_BYTE, os.SEEK_SET)
                msvcrt.locking(self._fd, msvcrt.LK_UNLCK, 1)
        else:
            written = os.write(self._fd, line)
        if written != len(line):
            raise OSError(errno.ENOSPC, "only a part could be written")

    def end_line(self) -> None:
        """Begin a new line where a full disk, or the power, cut the last one off. One that is half because somebody is
        just writing it is left alone: a file grows page by page."""
        found = os.fstat(self._fd)
        if found.st_size and abs(time.time() - found.st_mtime) > _HALF_WRITTEN:
            os.lseek(self._fd, found.st_size - 1, os.SEEK_SET)
            if os.read(self._fd, 1) != b"\n":
                self.append(b"\n")

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()  # of a book that nobody closed


def _check_own(fd: int, name: str) -> None:
    """What is written in place must be ours: a file, and with no second name somewhere. Else it is closed."""
    try:
        found = os.fstat(fd)
        _refuse_other(name, found)
        if found.st_nlink > 1:
            raise OSError(errno.ELOOP, "has another name", name)
    except OSError:
        os.close(fd)
        raise


def _lock_on(fd: int, name: str) -> LockFile:
    _check_own(fd, name)
    return _OsLock(fd)


def _log_on(fd: int, name: str) -> LogFile:
    _check_own(fd, name)
    log_file = _OsLog(fd)
    try:
        log_file.end_line()
    except OSError:
        log_file.close()
        raise
    return log_file


def _overwrite(fd: int, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
    _check_own(fd, name)
    try:
        for at, data in changes:
            os.lseek(fd, at, os.SEEK_SET)
            os.write(fd, data)
        _sync(fd)
    finally:
        os.close(fd)


def _scanned(found: Iterable[os.DirEntry[str]]) -> list[FolderEntry]:
    """What is in a folder; a name that vanished since the listing began is left out."""
    items: list[FolderEntry] = []
    windows = os.name == "nt"
    for item in found:
        try:
            # Windows: the entry's own stat has no inode, and the path is a real one.
            found_now = os.lstat(item.path) if windows else item.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        items.append(FolderEntry(item.name, _stat(found_now)))
    return items


class PosixFolder:
    """A folder held by its descriptor, so that renaming or linking it elsewhere cannot lead a write astray."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def scan(self) -> list[FolderEntry]:
        with os.scandir(self._fd) as found:
            return _scanned(found)

    def survey(self, ending: str) -> Survey:
        return Survey(*look(self._fd, ending))

    def glance(self) -> FolderGlance | None:
        seen = taken(self._fd)
        return FolderGlance(*seen) if seen is not None else None

    def stat(self, name: str) -> Stat | None:
        try:
            return _stat(os.stat(name, dir_fd=self._fd, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def read(self, name: str) -> tuple[bytes, Stat]:
        fd = os.open(name, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC, dir_fd=self._fd)
        try:
            found = os.fstat(fd)
            _refuse_other(name, found)
            return _read_all(fd, found.st_size), _stat(found)
        finally:
            os.close(fd)

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC
        fd = os.open(name, flags, FILE_MODE, dir_fd=self._fd)
        try:
            return _OsFile(fd, mode)
        except OSError:
            os.unlink(name, dir_fd=self._fd)
            raise

    def link(self, name: str, folder: DiskFolder, to: str) -> bool:
        assert isinstance(folder, PosixFolder)  # noqa: S101 - one disk, one kind of folder
        os.link(name, to, src_dir_fd=self._fd, dst_dir_fd=folder._fd, follow_symlinks=False)
        return True

    def rename(self, name: str, folder: DiskFolder, to: str) -> None:
        assert isinstance(folder, PosixFolder)  # noqa: S101 - one disk, one kind of folder
        os.rename(name, to, src_dir_fd=self._fd, dst_dir_fd=folder._fd)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._fd)

    def make_folder(self, name: str) -> None:
        os.mkdir(name, FOLDER_MODE, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._fd)

    def open_lock(self, name: str) -> LockFile:
        flags = os.O_RDWR | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        return _lock_on(os.open(name, flags, FILE_MODE, dir_fd=self._fd), name)

    def open_log(self, name: str) -> LogFile:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        return _log_on(os.open(name, flags, FILE_MODE, dir_fd=self._fd), name)

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        _overwrite(os.open(name, os.O_RDWR | _NOFOLLOW | _NONBLOCK | _CLOEXEC, dir_fd=self._fd), name, changes)

    def sync(self) -> None:
        _sync(self._fd)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _read_all(fd: int, size: int) -> bytes:
    data = os.read(fd, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while more := os.read(fd, 1 << 20):
        parts.append(more)
    return b"".join(parts)


_FOLDER_FLAGS = os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC


def _link_or(fd: int, name: str) -> OSError:
    """Why a name is not a folder: a link, which is refused, or a file."""
    found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    number = errno.ENOTDIR if st.S_ISREG(found.st_mode) else errno.ELOOP
    return OSError(number, os.strerror(number), name)


class PosixDisk:
    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)  # the root itself may be a link; nothing below it
        self._beside = SyncThread()
        self.begin, self.close = self._beside.begin, self._beside.close

    def open(self, parts: Sequence[str]) -> DiskFolder:
        fd = os.open(self._root, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
        for name in parts:
            outer = fd
            try:
                fd = os.open(name, _FOLDER_FLAGS, dir_fd=outer)
            except NotADirectoryError:  # what Linux says of a link to a folder, too
                raise _link_or(outer, name) from None
            finally:
                os.close(outer)
        return PosixFolder(fd)


def _make_root(root: str) -> None:
    """Make the root and the folders above it that are missing, each of them durable before it is used."""
    above = os.path.dirname(root)
    if os.path.isdir(root):
        return
    if above != root:
        _make_root(above)
    with contextlib.suppress(FileExistsError):  # another process was first
        os.mkdir(root, FOLDER_MODE)
    if os.name != "nt":
        fd = os.open(above, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
        try:
            _sync(fd)
        finally:
            os.close(fd)


def open_disk(root: str, *, make: bool = False) -> Disk:
    """The disk below a root folder, as this platform does it."""
    if make:
        _make_root(os.path.abspath(root))
    if os.name == "nt":
        from commonplace.vault.disk_windows import WindowsDisk  # noqa: PLC0415 - Windows only

        return WindowsDisk(root)
    return PosixDisk(root)


def append_line(folder: str, name: str, line: bytes, most: int) -> None:
    """One more line in a log that only its owner can read. At so many bytes it becomes NAME.1, and a new one begins."""
    path = os.path.join(folder, name)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC, FILE_MODE)
    try:
        found = os.fstat(fd)
        _refuse_other(name, found)
        os.write(fd, line)
    finally:
        os.close(fd)
    if found.st_size + len(line) >= most:
        os.replace(path, f"{path}.1")
