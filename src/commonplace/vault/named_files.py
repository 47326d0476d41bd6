"""Open what a user named to be read from: a file, a folder, or a zip. Nothing is changed.

`open_files` is for the readers of the memory tree, `walk_folder` and `open_listed` also for `import`. The named path
itself may be a link, because the user named it; below it no link is followed, and only plain files are opened. A file
that was replaced after it was listed is refused. Hidden folders (.git, .obsidian) are passed over, except a Maildir.
The members of a zip are read in place: their names are labels and no paths, and what they unpack to is limited. Of a
zip that holds nothing but zips, these are read: they are copied into a temporary file without a name.
"""

from __future__ import annotations

import errno
import io
import os
import stat as st
import struct
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import IO, TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from commonplace.model.errors import CommonplaceError, NotFound, SourceRefused, TooManyFiles, Unreadable
from commonplace.model.times import format_seconds, format_time

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_FILES = 1_000_000  # of a folder
MAX_LEVELS = 100  # of folders in each other
MAX_MEMBERS = 100_000  # of a zip
MAX_RATIO = 200  # of the size of a zip member to its compressed size
_MAX_DIRECTORY = 64_000_000  # bytes of the list of members in a zip
_MAX_IN_MEMORY = 64_000_000  # bytes of zips in a zip; if they have more, they are in a file on disk
_SMALL = 1_000_000  # bytes that a zip member may have at any ratio: a short text of one letter packs to nothing
_BUFFER = 1 << 18
_JUNCTION = 0xA0000003  # the tag of a Windows mount point: a link to a folder
_MAILDIR = frozenset({"cur", "new"})
_MAC_FOLDER = "__MACOSX"  # where macOS puts its own records into a zip
_UTC_TIME = 0x5455  # the extra field of a zip member that has its time in UTC
_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _flag, 0)
_ZIP_ERRORS = (
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


@contextmanager
def open_files(given: str, book: str = "") -> Iterator[NamedFiles]:
    """Open a file, a folder or a zip to read from. `book` is the root of a book, which is never a source.

    Raises NotFound, Unreadable, and SourceRefused for what is no file or folder, has too many files, overlaps with the
    book, or is a zip that cannot be read.
    """
    absolute, path, stat = resolve_source(given, book)
    files: NamedFiles
    if st.S_ISREG(stat.st_mode) and path.lower().endswith(".zip"):
        files = _open_zip(absolute, SourceEntry(os.path.basename(path), path, stat))
    else:
        files = _PlainFiles(absolute, path, stat)
    try:
        yield files
    finally:
        files.close()


def resolve_source(given: str, book: str) -> tuple[str, str, os.stat_result]:
    """Return a named path made absolute, the path without links, and its stat; raises what `open_files` raises."""
    if not given:
        raise NotFound("No source was named.", hint="Name a file or a folder.")
    try:
        absolute = os.path.abspath(os.path.expanduser(given))
        path = os.path.realpath(absolute)
        stat = os.stat(path)
    except (OSError, ValueError) as error:
        raise explain_error(given, error) from None
    if book:
        root = os.path.realpath(book)
        with suppress(ValueError):  # on another drive of Windows
            if os.path.commonpath([path, root]) in (path, root):
                raise SourceRefused("The source overlaps with this book.", hint="Name another folder or file.")
    if not st.S_ISDIR(stat.st_mode) and not st.S_ISREG(stat.st_mode):
        raise SourceRefused(f"{given!a} is neither a file nor a folder.", hint="Name a file or a folder.")
    return absolute, path, stat


def explain_error(given: str, error: OSError | ValueError) -> CommonplaceError:
    """Return the error for a path that cannot be looked at."""
    if isinstance(error, PermissionError):
        return Unreadable(f"You do not have permission to read {given!a}.")
    reason = error.strerror if isinstance(error, OSError) else "not a path"
    return NotFound(f"{given!a} cannot be read: {reason}.", hint="Check the path.")


def walk_folder(
    root: str, max_levels: int = MAX_LEVELS, *, special: Literal["link", "not_a_file"] = "link"
) -> Iterator[SourceEntry | UnlistedPath]:
    """Yield the plain files in a folder and below it, folder by folder, and the paths that are not read.

    `special` is the reason for pipes, sockets and devices. Raises Unreadable or NotFound if the root itself cannot be
    listed.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(entry.name for entry in found)
        except OSError as error:
            if folder == root:
                raise explain_error(root, error) from None
            yield UnlistedPath(_name_below(root, folder), "unreadable")
            continue
        subfolders = []
        for entry in entries:
            path = os.path.join(folder, entry)
            name = _name_below(root, path)
            try:
                stat = os.lstat(path)
            except OSError:
                yield UnlistedPath(name, "unreadable")
                continue
            if st.S_ISDIR(stat.st_mode) and getattr(stat, "st_reparse_tag", 0) != _JUNCTION:
                if name.count("/") + 1 >= max_levels:
                    yield UnlistedPath(name, "too_deep")
                elif not entry.startswith(".") or _is_maildir(path):
                    subfolders.append(path)
            elif st.S_ISREG(stat.st_mode):
                yield SourceEntry(name, path, stat)
            else:
                is_link = st.S_ISLNK(stat.st_mode) or st.S_ISDIR(stat.st_mode)
                yield UnlistedPath(name, "link" if is_link else special)
        waiting += reversed(subfolders)


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


def _name_below(root: str, path: str) -> str:
    return path[len(root) :].lstrip(os.sep).replace(os.sep, "/").encode("utf-8", "backslashreplace").decode()


def _is_maildir(path: str) -> bool:
    """Return whether a hidden folder is one of mail: servers name the folders of an account .Sent, .Archive."""
    return all(os.path.isdir(os.path.join(path, name)) for name in _MAILDIR)


class _CheckedStream(io.RawIOBase):
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
        except _ZIP_ERRORS as error:
            raise _unreadable(self._name, error) from None
        self._count += len(data)
        if self._limit is not None and self._count > self._limit:
            raise Unreadable(f"{self._name!a} unpacks to more than {MAX_RATIO} times its size.", hint=_ZIP_HINT)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def _buffered(stream: IO[bytes], name: str, limit: int | None = None) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(_CheckedStream(stream, name, limit), _BUFFER))


def _unreadable(name: str, error: Exception) -> CommonplaceError:
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return TooManyFiles()
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Unreadable(f"{name!a} cannot be read: {reason or type(error).__name__}.")


class _PlainFiles(NamedFiles):
    """A folder, or one file alone. Of each file only the identity is kept: there may be a million."""

    def __init__(self, given: str, path: str, stat: os.stat_result) -> None:
        super().__init__(given)
        self._is_folder = st.S_ISDIR(stat.st_mode)
        self._root = path if self._is_folder else os.path.dirname(path)
        self._listed: dict[str, tuple[int, int]] = {}
        self._paths: dict[str, str] = {}  # of those that do not follow from the name
        alone = [SourceEntry(os.path.basename(path), path, stat)]
        for entry in walk_folder(path, special="not_a_file") if self._is_folder else alone:
            if isinstance(entry, UnlistedPath):
                self.skipped.append(entry)
                continue
            name = entry.name if self._is_folder else _name_below("", entry.name)
            self._listed[name] = (entry.stat.st_dev, entry.stat.st_ino)
            if self._path_of(name) != entry.path:
                self._paths[name] = entry.path
            if len(self._listed) > MAX_FILES:
                hint = "Name a folder in it."
                raise SourceRefused(f"The source has more than {MAX_FILES:,} files.", hint=hint)
        self.names = sorted(self._listed)

    def size(self, name: str) -> int:
        """Return how many bytes a file has; 0 if it is gone."""
        with suppress(OSError):
            return os.lstat(self._path_of(name)).st_size
        return 0

    def modified(self, name: str) -> str:
        """Return when a file was changed last; "" if it is gone, or its time is none."""
        with suppress(OSError, OverflowError, ValueError):
            return format_seconds(int(os.lstat(self._path_of(name)).st_mtime))
        return ""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for reading, if it is the one that was listed."""
        if name not in self._listed:
            raise Unreadable(f"{name!a} is not in the source.")
        opener = partial(open_listed, listed=self._listed[name])
        try:
            stream = open(self._path_of(name), "rb", buffering=0, opener=opener)  # noqa: SIM115 - the caller closes it
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from None
        return _buffered(stream, name)

    def close(self) -> None:
        """Do nothing: no file is held open."""

    def _path_of(self, name: str) -> str:
        return self._paths.get(name) or os.path.join(self._root, name.replace("/", os.sep))


_ZIP_HINT = "Download or copy it again. If it is damaged, unpack what can be unpacked, and name that folder."


_UNPACK_HINT = "Unpack it, and name the folder."


def _open_zip(given: str, entry: SourceEntry) -> NamedFiles:
    """Open a zip, or the zips in it where it holds nothing else. Raises Unreadable and SourceRefused."""
    listed = (entry.stat.st_dev, entry.stat.st_ino)
    try:
        stream = open(entry.path, "rb", opener=partial(open_listed, listed=listed))  # noqa: SIM115 - see close
    except (OSError, ValueError) as error:
        raise _unreadable(entry.name, error) from None
    try:
        files = _ZipFiles(given, _ZipBytes(stream, 0, entry.stat.st_size))
    except _ZIP_ERRORS as error:
        stream.close()
        message = f"{entry.name!a} is not a zip that can be read: {error}."
        raise SourceRefused(message, hint=_ZIP_HINT) from None
    except BaseException:
        stream.close()
        raise
    if not files.names or not all(name.lower().endswith(".zip") for name in files.names):
        return files
    with closing(files):
        return _ZipsInZip(files)


class _ZipFiles(NamedFiles):
    """The members of a zip. `density` is how many bytes on disk a byte of the zip is: below 1 in another zip.

    Raises an error of _ZIP_ERRORS for what is no zip, and SourceRefused for one made to fill memory.
    """

    def __init__(self, given: str, stream: _ZipBytes, density: float = 1.0, known_members: int = 0) -> None:
        super().__init__(given)
        self._stream, self._density = stream, density
        self._zip = zipfile.ZipFile(cast("BinaryIO", stream))
        infos = self._zip.infolist()
        self.count = known_members + len(infos)
        if self.count > MAX_MEMBERS:
            raise SourceRefused(f"{given!a} has more than {MAX_MEMBERS:,} members.", hint=_UNPACK_HINT)
        if sum(info.compress_size for info in infos) > stream.size:
            raise zipfile.BadZipFile("its members overlap")
        self._members = self._list_members(infos)
        self.names = sorted(self._members)

    def _list_members(self, infos: Sequence[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Return the files in the zip by their names, without those that are made to fill the disk."""
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = _read_member_name(info)
            parts = name.split("/")
            if not name or info.is_dir() or parts[0] == _MAC_FOLDER:
                continue
            if any(part.startswith(".") for part in parts[:-1]) and parts[-2] not in ("cur", "new"):
                continue
            mode = info.external_attr >> 16
            if st.S_IFMT(mode) not in (0, st.S_IFREG):
                self.skipped.append(UnlistedPath(name, "link" if st.S_ISLNK(mode) else "not_a_file"))
                continue
            if members.pop(name, None) is not None:  # the later one counts, as for every program that unpacks
                self.skipped.append(UnlistedPath(name, "bad_zip"))
            if info.file_size > self._limit(info):
                self.skipped.append(UnlistedPath(name, "too_large"))
                continue
            members[name] = info
        return members

    def _limit(self, info: zipfile.ZipInfo) -> int:
        """Return how many bytes a member may unpack to."""
        return max(_SMALL, int(MAX_RATIO * info.compress_size * self._density))

    def density(self, name: str) -> float:
        """Return how many bytes on disk a byte of a member is."""
        info = self._members[name]
        return self._density * min(1.0, info.compress_size / max(1, info.file_size))

    def size(self, name: str) -> int:
        """Return how many bytes a member has, as the zip says."""
        return self._members[name].file_size if name in self._members else 0

    def modified(self, name: str) -> str:
        """Return when a member was changed last: in UTC where the zip says so, else by this machine's clock."""
        return _read_member_time(self._members[name]) if name in self._members else ""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a member for reading. It cannot be sought in, and stops at a forged size."""
        info = self._members.get(name)
        if info is None:
            raise Unreadable(f"{name!a} is not in the source.")
        if info.flag_bits & 0x1:
            raise Unreadable(f"{name!a} is encrypted.", hint="Unpack the zip with its password, and name the folder.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # What bzip2 and lzma make of a few bytes has no bound that Python keeps.
            raise Unreadable(f"{name!a} is compressed in an unusual way.", hint=_UNPACK_HINT)
        try:
            stream = self._zip.open(info)
        except _ZIP_ERRORS as error:
            raise _unreadable(name, error) from None
        return _buffered(stream, name, self._limit(info))

    def close(self) -> None:
        """Close the zip, and the file that it is."""
        self._zip.close()
        self._stream.close_file()


class _ZipsInZip(NamedFiles):
    """The members of the zips in a zip, as INNER.zip/NAME. Zips in these are files like any other.

    A zip is read from its end, and in a zip every step back would unpack it anew: so there is a copy of the inner ones,
    in memory or in a temporary file that has no name. What they unpack to is limited by their size in the outer zip.
    """

    def __init__(self, outer: _ZipFiles) -> None:
        super().__init__(outer.given)
        self.skipped = outer.skipped
        self._places: dict[str, tuple[_ZipFiles, str]] = {}
        self._copies = tempfile.SpooledTemporaryFile(_MAX_IN_MEMORY)  # noqa: SIM115 - see close
        known = 0
        try:
            for name in outer.names:
                inner = self._open_inner(outer, name, known)
                if inner is None:
                    self.skipped.append(UnlistedPath(name, "bad_zip"))
                    continue
                known = inner.count
                self._places.update({f"{name}/{member}": (inner, member) for member in inner.names})
                self.skipped += [UnlistedPath(f"{name}/{left.name}", left.reason) for left in inner.skipped]
        except BaseException:
            self.close()
            raise
        self.names = sorted(self._places)

    def _open_inner(self, outer: _ZipFiles, name: str, known: int) -> _ZipFiles | None:
        """Copy an inner zip, and open the copy; None if it is damaged. Raises SourceRefused if there is no room."""
        start = self._copies.seek(0, os.SEEK_END)
        try:
            with outer.open(name) as stream:
                while data := stream.read(_BUFFER):
                    self._copies.write(data)
        except Unreadable:
            return None
        except OSError as error:
            message = f"{name!a} cannot be copied to be read: {error.strerror or error}."
            raise SourceRefused(message, hint=_UNPACK_HINT) from None
        size = self._copies.tell() - start
        try:
            return _ZipFiles(self.given, _ZipBytes(self._copies, start, size), outer.density(name), known)
        except _ZIP_ERRORS:
            return None

    def size(self, name: str) -> int:
        """Return how many bytes a member has, as its zip says."""
        inner, member = self._places.get(name, (None, ""))
        return inner.size(member) if inner is not None else 0

    def modified(self, name: str) -> str:
        """Return when a member was changed last, as its zip says."""
        inner, member = self._places.get(name, (None, ""))
        return inner.modified(member) if inner is not None else ""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a member for reading."""
        inner, member = self._places.get(name, (None, ""))
        if inner is None:
            raise Unreadable(f"{name!a} is not in the source.")
        return inner.open(member)

    def close(self) -> None:
        """Remove the copies."""
        self._copies.close()


class _ZipBytes(io.RawIOBase):
    """The bytes of a zip: a part of a file. Only the list of its members is read at once; a forged one is refused."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file, self._start, self.size, self._at = file, start, size, 0

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes."""
        if size > _MAX_DIRECTORY:
            raise zipfile.BadZipFile("its list of members is too long")
        left = max(0, self.size - self._at)
        self._file.seek(self._start + self._at)
        data = self._file.read(left if size < 0 else min(size, left))
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go on reading elsewhere."""
        at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        if at < 0:
            raise OSError(errno.EINVAL, "Invalid argument")
        self._at = at
        return at

    def tell(self) -> int:
        """Return where the next byte is."""
        return self._at

    def seekable(self) -> bool:
        """Return True."""
        return True

    def close_file(self) -> None:
        """Close the file, of which other zips may be parts, too."""
        self._file.close()


def _read_member_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member as a label: with `/`, and without what would lead out of a folder."""
    name = info.filename
    if not info.flag_bits & 0x800:  # macOS writes UTF-8 without saying so
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", ".", ".."))


def _read_member_time(info: zipfile.ZipInfo) -> str:
    extra = info.extra
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == _UTC_TIME and length >= 5 and len(extra) >= 9 and extra[4] & 1:
            return format_seconds(struct.unpack_from("<l", extra, 5)[0])
        extra = extra[4 + length :]
    try:
        moment = datetime(*info.date_time)  # noqa: DTZ001 - it has no time zone
        return "" if moment.year <= 1980 else format_time(moment.astimezone(UTC))  # 1980: no time was written
    except (ValueError, OverflowError, OSError):
        return ""
