"""Open files of the operating system: what the POSIX disk and the Windows disk have in common.

Everything here works on a file descriptor that disk.py or disk_windows.py has opened: new files, lock files, log files,
reading, syncing. These three modules are the only ones that change files.
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
from commonplace.vault.disk_port import FILE_MODE, LockFile, LogFile
from commonplace.vault.port import FileKind, FolderEntry, Stat

log = Log("commonplace.vault")

_LOCK_BYTE = 1 << 30  # Windows forbids reading a locked byte, so lock one beyond the end of every file
_LINE_WRITE_SECONDS = 2.0  # longer than writing one line ever takes
_NOT_SYNCABLE = frozenset({errno.EINVAL, errno.ENOTSUP, getattr(errno, "EOPNOTSUPP", errno.ENOTSUP)})
# Plain names, because looking up an enum member costs time for every file of a book.
_FILE, _FOLDER, _OTHER = FileKind.FILE, FileKind.FOLDER, FileKind.OTHER


def make_stat(found: os.stat_result) -> Stat:
    """Return the vault's stat of a file from the system's."""
    mode = found.st_mode
    kind = _FILE if st.S_ISREG(mode) else _FOLDER if st.S_ISDIR(mode) else _OTHER
    return Stat(kind, found.st_size, found.st_mtime_ns, found.st_ino, mode & 0o777)


def list_entries(found: Iterable[os.DirEntry[str]]) -> list[FolderEntry]:
    """Return the names and stats of a folder's entries, without those that vanished since the listing began."""
    entries: list[FolderEntry] = []
    is_windows = os.name == "nt"
    for item in found:
        try:
            # On Windows the entry's own stat has no inode; its path is a real one.
            found_now = os.lstat(item.path) if is_windows else item.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        entries.append(FolderEntry(item.name, make_stat(found_now)))
    return entries


def sync(fd: int) -> None:
    """Wait until everything of this file or folder is on the medium.

    Logs a warning where the file system cannot sync; raises OSError when syncing fails.
    """
    try:
        if sys.platform == "darwin":
            import fcntl  # noqa: PLC0415 - POSIX only

            with contextlib.suppress(OSError):  # network volumes refuse it: there fsync decides
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
                return
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NOT_SYNCABLE:
            raise
        log.warning("event=sync_unsupported errno=%s", errno.errorcode.get(error.errno or 0, "?"))


def refuse_irregular(name: str, found: os.stat_result) -> None:
    """Raise OSError (ELOOP) for anything but a regular file."""
    if not st.S_ISREG(found.st_mode):
        raise OSError(errno.ELOOP, "not a regular file", name)


def read_and_close(fd: int, name: str) -> tuple[bytes, Stat]:
    """Return the bytes and the stat of a regular file, and close it. Raises OSError for any other kind of file."""
    try:
        found = os.fstat(fd)
        refuse_irregular(name, found)
        return _read_all(fd, found.st_size), make_stat(found)
    finally:
        os.close(fd)


def _read_all(fd: int, size: int) -> bytes:
    data = os.read(fd, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while more := os.read(fd, 1 << 20):
        parts.append(more)
    return b"".join(parts)


def overwrite_and_close(fd: int, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
    """Put other bytes at these offsets of a file, sync it and close it.

    Raises OSError unless the file is ours alone.
    """
    _check_own(fd, name)
    try:
        for at, data in changes:
            os.lseek(fd, at, os.SEEK_SET)
            os.write(fd, data)
        sync(fd)
    finally:
        os.close(fd)


def open_lock_on(fd: int, name: str) -> LockFile:
    """Return the lock file on this descriptor. Closes it and raises OSError unless the file is ours alone."""
    _check_own(fd, name)
    return OsLockFile(fd)


def open_log_on(fd: int, name: str) -> LogFile:
    """Return the log file on this descriptor, at the start of a line.

    Closes it and raises OSError unless the file is ours alone.
    """
    _check_own(fd, name)
    log_file = OsLogFile(fd)
    try:
        log_file.end_line()
    except OSError:
        log_file.close()
        raise
    return log_file


def _check_own(fd: int, name: str) -> None:
    """Close the file and raise OSError unless it is a regular file with no second name.

    It is about to be written in place, so a hard link from elsewhere would let that write change a foreign file.
    """
    try:
        found = os.fstat(fd)
        refuse_irregular(name, found)
        if found.st_nlink > 1:
            raise OSError(errno.ELOOP, "has another name", name)
    except OSError:
        os.close(fd)
        raise


class _OpenFile:
    """A file descriptor that is closed at most once."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def close(self) -> None:
        """Close the file; does nothing when it is closed already."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def is_gone(self) -> bool:
        """Return whether the file has no name any more, because another process removed it."""
        return os.fstat(self._fd).st_nlink == 0


class OsFile(_OpenFile):
    """A file being written."""

    def __init__(self, fd: int, mode: int) -> None:
        super().__init__(fd)
        if mode != FILE_MODE and sys.platform != "win32":
            try:
                os.fchmod(fd, mode)
            except OSError:
                os.close(fd)
                raise

    def write(self, data: bytes) -> None:
        """Write all of the bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def start_sync(self) -> None:
        """Ask Linux to start writing the file out, so that ext4 and others commit several files in one transaction.

        It is a hint: its errors are ignored, because `sync` decides.
        """
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def sync(self) -> None:
        """Wait until the file is on the medium."""
        sync(self._fd)

    def stat(self) -> Stat:
        """Return the file's stat."""
        return make_stat(os.fstat(self._fd))


class OsLockFile(_OpenFile):
    """A whole-file lock of the operating system, which releases it when the process ends, however it ends."""

    def try_hold(self) -> bool:
        """Take the lock without waiting; returns whether it was free."""
        try:
            _set_lock(self._fd, hold=True)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True

    def release(self) -> None:
        """Give the lock back."""
        _set_lock(self._fd, hold=False)

    def read(self) -> bytes:
        """Return the bytes that say who holds the lock."""
        os.lseek(self._fd, 0, os.SEEK_SET)
        return os.read(self._fd, 400)

    def write(self, data: bytes) -> None:
        """Replace the bytes that say who holds the lock."""
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, data)

    def __del__(self) -> None:
        self.close()  # for a book that was never closed


class OsLogFile(_OpenFile):
    """A file opened for appending: the system puts each write at the end, however many processes write.

    Windows only seeks to the end, so there each write takes a lock.
    """

    def is_empty(self) -> bool:
        """Return whether the file has no bytes."""
        return os.fstat(self._fd).st_size == 0

    def append(self, line: bytes) -> None:
        """Write a whole line at the end. Raises OSError (ENOSPC) when only a part of it could be written."""
        if sys.platform == "win32":
            _set_lock(self._fd, hold=True, wait=True)
            try:
                written = os.write(self._fd, line)
            finally:
                _set_lock(self._fd, hold=False)
        else:
            written = os.write(self._fd, line)
        if written != len(line):
            raise OSError(errno.ENOSPC, "only a part could be written")

    def end_line(self) -> None:
        """Start a new line where a full disk or a power cut left half of one.

        A line that another process may still be writing is left alone: a file grows page by page.
        """
        found = os.fstat(self._fd)
        if found.st_size and abs(time.time() - found.st_mtime) > _LINE_WRITE_SECONDS:
            os.lseek(self._fd, found.st_size - 1, os.SEEK_SET)
            if os.read(self._fd, 1) != b"\n":
                self.append(b"\n")

    def __del__(self) -> None:
        self.close()  # for a book that was never closed


def _set_lock(fd: int, *, hold: bool, wait: bool = False) -> None:
    """Take or release the lock of a file; only Windows can wait for it. Raises OSError when another process has it."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - Windows only

        mode = msvcrt.LK_UNLCK if not hold else msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
        os.lseek(fd, _LOCK_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, mode, 1)
    else:
        import fcntl  # noqa: PLC0415 - POSIX only, and commands that only read do without

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB if hold else fcntl.LOCK_UN)
