"""What a user named, as its files: the values and the stream that plain files and the members of a zip share.

`open_files` in named_files makes one; the readers of the memory tree know it as a `FileSet`.
"""

from __future__ import annotations

import errno
import io
import os
import stat as st
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from commonplace.model.errors import CommonplaceError, TooManyFiles, Unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_RATIO = 200  # of the size of a zip member to its compressed size
ZIP_HINT = "Download or copy it again. If it is damaged, unpack what can be unpacked, and name that folder."
BUFFER = 1 << 18
_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _flag, 0)
READ_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    IndexError,
)


class SourceEntry(NamedTuple):
    """A file of a source as it was listed."""

    name: str  # its path inside the source, with `/`
    path: str
    stat: os.stat_result


class UnlistedPath(NamedTuple):
    """A path inside a source that is not read."""

    name: str
    reason: Literal["link", "not_a_file", "too_deep", "too_large", "unreadable", "bad_zip"]


class NamedFiles(ABC):
    """The files of a source: what the readers of the tree call a `FileSet`."""

    def __init__(self, given: str) -> None:
        self.given = given  # the path that the user named, made absolute
        self.names: Sequence[str] = ()  # sorted
        self.skipped: list[UnlistedPath] = []  # what is in the source and not among the names

    @abstractmethod
    def size(self, name: str) -> int:
        """Return how many bytes a file has, unpacked."""

    @abstractmethod
    def modified(self, name: str) -> str:
        """Return when a file was changed last, as a timestamp; "" if that is not known."""

    @abstractmethod
    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for reading. Opening and reading raise Unreadable, or TooManyFiles, and nothing else."""

    @abstractmethod
    def close(self) -> None:
        """Close what is held open."""


class CheckedStream(io.RawIOBase):
    """A file that is being read: its errors are ours, and it gives at most `limit` bytes."""

    def __init__(self, stream: IO[bytes], name: str, limit: int | None = None) -> None:
        self._stream, self._name, self._limit = stream, name, limit
        self._count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether it can be read from elsewhere: a zip member would be unpacked anew from its start."""
        return self._limit is None

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go on reading elsewhere."""
        if not self.seekable():
            raise io.UnsupportedOperation("seek")
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Return where the next byte is."""
        return self._stream.tell() if self._limit is None else self._count

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read into a buffer, and return how many bytes."""
        view = memoryview(buffer)
        try:
            data = self._stream.read(len(view))
        except READ_ERRORS as error:
            raise explain_unreadable(self._name, error) from None
        self._count += len(data)
        if self._limit is not None and self._count > self._limit:
            raise Unreadable(f"{self._name!a} unpacks to more than {MAX_RATIO} times its size.", hint=ZIP_HINT)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def buffer_stream(stream: IO[bytes], name: str, limit: int | None = None) -> BinaryIO:
    """Return a buffered stream that raises our errors alone; with `limit`, Unreadable after so many bytes."""
    return cast("BinaryIO", io.BufferedReader(CheckedStream(stream, name, limit), BUFFER))


def explain_unreadable(name: str, error: Exception) -> CommonplaceError:
    """Return the error for a file that could not be read: TooManyFiles if the process has too many open."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return TooManyFiles()
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Unreadable(f"{name!a} cannot be read: {reason or type(error).__name__}.")


def open_listed(path: str, flags: int, *, listed: tuple[int, int]) -> int:
    """Open a file for reading; it is the opener of `open`, with the device and inode that the file had when listed.

    Raises OSError (ELOOP) for a link, and for a file that was replaced. It never waits for the other end of a pipe.
    """
    fd = os.open(path, flags | _FLAGS)
    try:
        stat = os.fstat(fd)
        if (stat.st_dev, stat.st_ino) != listed or not st.S_ISREG(stat.st_mode):
            raise OSError(errno.ELOOP, "it was replaced", path)
    except BaseException:
        os.close(fd)
        raise
    return fd
