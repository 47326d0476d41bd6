"""The members of a zip as files to be read from, in place: their names are labels and no paths, and what they unpack
to is limited. Of a zip that holds nothing but zips, these are read: they are copied into a temporary file without a
name.

`open_files` in named_files calls `open_zip`.
"""

from __future__ import annotations

import errno
import io
import os
import stat as st
import struct
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, suppress
from datetime import UTC, datetime
from functools import partial
from typing import IO, BinaryIO, cast

from commonplace.model.errors import SourceRefused, Unreadable
from commonplace.model.times import format_seconds, format_time
from commonplace.vault.source_files import (
    BUFFER,
    MAX_RATIO,
    READ_ERRORS,
    ZIP_HINT,
    NamedFiles,
    SourceEntry,
    UnlistedPath,
    buffer_stream,
    explain_unreadable,
    open_listed,
)

MAX_MEMBERS = 100_000  # of a zip
_MAX_DIRECTORY = 64_000_000  # bytes of the list of members in a zip
_MAX_IN_MEMORY = 64_000_000  # bytes of zips in a zip; if they have more, they are in a file on disk
_SMALL = 1_000_000  # bytes that a zip member may have at any ratio: a short text of one letter packs to nothing
_MAC_FOLDER = "__MACOSX"  # where macOS puts its own records into a zip
_UNPACK_HINT = "Unpack it, and name the folder."
_UTC_TIME = 0x5455  # the extra field of a zip member that has its time in UTC


def open_zip(given: str, entry: SourceEntry) -> NamedFiles:
    """Open a zip, or the zips in it where it holds nothing else. Raises Unreadable and SourceRefused."""
    listed = (entry.stat.st_dev, entry.stat.st_ino)
    try:
        stream = open(entry.path, "rb", opener=partial(open_listed, listed=listed))  # noqa: SIM115 - see close
    except (OSError, ValueError) as error:
        raise explain_unreadable(entry.name, error) from None
    try:
        files = _ZipFiles(given, _ZipBytes(stream, 0, entry.stat.st_size))
    except READ_ERRORS as error:
        stream.close()
        message = f"{entry.name!a} is not a zip that can be read: {error}."
        raise SourceRefused(message, hint=ZIP_HINT) from None
    except BaseException:
        stream.close()
        raise
    if not files.names or not all(name.lower().endswith(".zip") for name in files.names):
        return files
    with closing(files):
        return _ZipsInZip(files)


class _ZipFiles(NamedFiles):
    """The members of a zip. `density` is how many bytes on disk a byte of the zip is: below 1 in another zip.

    Raises an error of READ_ERRORS for what is no zip, and SourceRefused for one made to fill memory.
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
        except READ_ERRORS as error:
            raise explain_unreadable(name, error) from None
        return buffer_stream(stream, name, self._limit(info))

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
                while data := stream.read(BUFFER):
                    self._copies.write(data)
        except Unreadable:
            return None
        except OSError as error:
            message = f"{name!a} cannot be copied to be read: {error.strerror or error}."
            raise SourceRefused(message, hint=_UNPACK_HINT) from None
        size = self._copies.tell() - start
        try:
            return _ZipFiles(self.given, _ZipBytes(self._copies, start, size), outer.density(name), known)
        except READ_ERRORS:
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
