"""What the POSIX disk and the Windows disk have in common: open files, folders, and the thread that syncs.

disk.py and disk_windows.py say how a file is opened; what is done with it is here: new files, lock files, log files,
reading, syncing. These three modules are the only ones that change files.

Syncing takes about as long as all the rest of a store, and Python waits for it without holding the interpreter. So one
thread of a book does the syncing, while the caller goes on with what does not depend on it. commit.py publishes nothing
before what it needs is synced, and acknowledges nothing before all of it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as st
import sys
import time
from _queue import SimpleQueue  # `queue` would load more, and every hook loads this module
from collections.abc import Sequence
from functools import partial
from threading import Lock, Thread

from commonplace.model.lazy import Log
from commonplace.vault.disk_port import FILE_MODE, Action, DiskFile, LockFile, LogFile
from commonplace.vault.port import FileKind, FolderEntry, Stat

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = Log("commonplace.vault")

_LOCK_BYTE = 1 << 30  # Windows forbids reading a locked byte, so lock one beyond the end of every file
_LINE_WRITE_SECONDS = 2.0  # longer than writing one line ever takes
_NOT_SYNCABLE = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
# Plain names, because looking up an enum member costs time for every file of a book.
_FILE, _FOLDER, _OTHER = FileKind.FILE, FileKind.FOLDER, FileKind.OTHER


def make_stat(found: os.stat_result) -> Stat:
    """Return the vault's stat of a file from the system's."""
    mode = found.st_mode
    kind = _FILE if st.S_ISREG(mode) else _FOLDER if st.S_ISDIR(mode) else _OTHER
    return Stat(kind, found.st_size, found.st_mtime_ns, found.st_ino, mode & 0o777)


def list_entries(folder: int | str) -> list[FolderEntry]:
    """Return the names and stats of an open folder or a path, without those that vanish while it is listed."""
    entries: list[FolderEntry] = []
    is_windows = os.name == "nt"
    with os.scandir(folder) as found:
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


class OpenFile:
    """A file descriptor that is closed at most once."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def close(self) -> None:
        """Close the file; does nothing when it is closed already."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()  # for a book that was never closed

    def is_gone(self) -> bool:
        """Return whether the file has no name any more, because another process removed it."""
        return os.fstat(self._fd).st_nlink == 0


class OsFile(OpenFile):
    """A file being written."""

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


class OsLockFile(OpenFile):
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


class OsLogFile(OpenFile):
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


def _set_lock(fd: int, *, hold: bool, wait: bool = False) -> None:
    """Take or release the lock of a file; only Windows can wait for it. Raises OSError when another process has it."""
    if sys.platform == "win32":
        mode = msvcrt.LK_UNLCK if not hold else msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
        os.lseek(fd, _LOCK_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, mode, 1)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB if hold else fcntl.LOCK_UN)


class OsFolder:
    """A folder whose files can be read, created and locked; each system says how it opens and removes a file."""

    def _open(self, name: str, flags: int) -> int:
        """Open a file and return its descriptor. Raises OSError for a link."""
        raise NotImplementedError

    def _open_own(self, name: str, flags: int) -> int:
        """Open a file to write it in place. Raises OSError unless it is a regular file with no second name.

        A hard link from elsewhere would let that write change a foreign file.
        """
        fd = self._open(name, flags)
        try:
            found = os.fstat(fd)
            refuse_irregular(name, found)
            if found.st_nlink > 1:
                raise OSError(errno.ELOOP, "has another name", name)
        except OSError:
            os.close(fd)
            raise
        return fd

    def remove(self, name: str) -> None:
        """Remove a file."""
        raise NotImplementedError

    def read(self, name: str, limit: int | None = None) -> tuple[bytes, Stat]:
        """Return the bytes and the stat of a file. Raises OSError for anything but a regular file, and for one of more
        than `limit` bytes, of which nothing is read."""
        fd = self._open(name, os.O_RDONLY)
        try:
            found = os.fstat(fd)
            refuse_irregular(name, found)
            size = found.st_size
            if limit is not None and size > limit:
                raise OSError(errno.EFBIG, f"{size:,} bytes", name)
            data = os.read(fd, size + 1)
            if len(data) != size:
                parts, size = [data], len(data)
                while (limit is None or size <= limit) and (more := os.read(fd, 1 << 20)):
                    parts.append(more)
                    size += len(more)
                data = b"".join(parts)
            return data, make_stat(found)
        finally:
            os.close(fd)

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        """Create a file and return it open. Raises FileExistsError where there is one."""
        fd = self._open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            if mode != FILE_MODE and sys.platform != "win32":
                os.fchmod(fd, mode)
        except OSError:
            os.close(fd)
            self.remove(name)
            raise
        return OsFile(fd)

    def open_lock(self, name: str) -> LockFile:
        """Open a lock file, making it if needed."""
        return OsLockFile(self._open_own(name, os.O_RDWR | os.O_CREAT))

    def open_log(self, name: str) -> LogFile:
        """Open a log file for appending, at the start of a line, making it if needed."""
        log_file = OsLogFile(self._open_own(name, os.O_RDWR | os.O_APPEND | os.O_CREAT))
        try:
            log_file.end_line()
        except OSError:
            log_file.close()
            raise
        return log_file

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        """Put other bytes at these offsets of a file, and sync it."""
        fd = self._open_own(name, os.O_RDWR)
        try:
            for at, data in changes:
                os.lseek(fd, at, os.SEEK_SET)
                os.write(fd, data)
            sync(fd)
        finally:
            os.close(fd)


class OsDisk:
    """A root folder, and one thread that syncs for the whole book, started with its first job."""

    def __init__(self, root: str) -> None:
        self._jobs: SimpleQueue[Action | None] = SimpleQueue()
        self._pid = 0
        self._guard, self._guard_pid = Lock(), os.getpid()
        self._root = os.path.realpath(root)  # the root itself may be a link, nothing below it

    def start_job(self, action: Action) -> Action:
        """Queue an action and return what waits for it. Runs it at once where no thread can be started."""
        result: SimpleQueue[BaseException | None] = SimpleQueue()
        job = partial(_run_job, action, result)
        with self._own_guard():
            if self._pid != os.getpid():  # the first job, or a forked child, which has no thread of its parent
                jobs = SimpleQueue[Action | None]()
                try:
                    Thread(target=_run_jobs, args=(jobs,), name="commonplace-disk", daemon=True).start()
                except RuntimeError:  # too many threads, or the interpreter is shutting down
                    job()
                    return partial(_wait, result)
                self._jobs, self._pid = jobs, os.getpid()
            self._jobs.put(job)
        return partial(_wait, result)

    def _own_guard(self) -> Lock:
        """Return the guard of this process: a forked child's may have been held by a thread that it does not have."""
        if self._guard_pid != os.getpid():
            self._guard, self._guard_pid = Lock(), os.getpid()
        return self._guard

    def close(self) -> None:
        """End the thread after the jobs it has; a later job starts a new one."""
        with self._own_guard():
            if self._pid == os.getpid():
                self._jobs.put(None)
            self._pid = 0

    def __del__(self) -> None:
        self._jobs.put(None)  # for a book that was never closed: its thread must end


def _run_jobs(jobs: SimpleQueue[Action | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # or the job, and all it holds, would stay alive until the next one comes


def _run_job(action: Action, result: SimpleQueue[BaseException | None]) -> None:
    try:
        action()
    except BaseException as error:  # noqa: BLE001 - raised again by `_wait`
        result.put(error)
    else:
        result.put(None)


def _wait(result: SimpleQueue[BaseException | None]) -> None:
    error = result.get()
    if error is not None:
        raise error
