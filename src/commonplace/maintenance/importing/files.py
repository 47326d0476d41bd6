"""The files of a source: listed and read, never changed, and never anything outside the source.

The source itself may be a link, for the caller named it; below it no link is followed and nothing but plain files is
opened. What was listed is what is read: a file that became another one meanwhile is left. Hidden folders (.git,
.obsidian) are not looked into.
"""

import errno
import os
import stat as st
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from commonplace.maintenance.importing.items import SourceFile, left
from commonplace.model.errors import NotFound, SourceRefused, TooManyFiles, Unreadable
from commonplace.model.results import LeftItem
from commonplace.model.times import stamp

MAX_FILE = 64_000_000
MAX_BYTES = 256_000_000
MAX_FILES = 100_000
MAX_LEVELS = 12
HEAD = 16_384
_JUNCTION = 0xA0000003  # what Windows calls a mount point: a link to a folder


class Listed(NamedTuple):
    name: str
    path: str
    about: os.stat_result


class Source(NamedTuple):
    """What is at a place that somebody named."""

    given: str  # as it was named, made absolute
    path: str  # where that leads
    is_folder: bool
    files: tuple[Listed, ...]  # of a single file, that one
    left: tuple[LeftItem, ...]

    @property
    def is_personal(self) -> bool:
        """Whether it is among the user's settings: directly in a hidden folder of the home (~/.claude), or in one of
        ~/.config. Not deeper: there may be clones of what others wrote."""
        folder = self.given if self.is_folder else os.path.dirname(self.given)
        home = os.path.abspath(os.path.expanduser("~"))
        if not _same_drive(folder, home):
            return False
        first, *rest = os.path.relpath(folder, home).split(os.sep)
        hidden = first.startswith(".") and first not in (os.curdir, os.pardir)
        return hidden and len(rest) == (1 if first == ".config" else 0)


def look_at(source: str | os.PathLike[str], book: str) -> Source:
    """List what is there. Nothing of the book itself is a source."""
    name = os.fspath(source)
    if not name:
        raise NotFound("No source was named.", hint="Name a file or a folder.")
    try:
        given = os.path.abspath(os.path.expanduser(name))
        path = os.path.realpath(given)
        about = os.stat(path)
    except (OSError, ValueError) as error:
        raise _refusal(name, error) from None
    own = os.path.realpath(book)
    if _same_drive(path, own) and os.path.commonpath([path, own]) in (path, own):
        raise SourceRefused("The source is this book, or in it, or around it.", hint="Name another folder or file.")
    if st.S_ISDIR(about.st_mode):
        files, skipped = _walk(path)
        return Source(given, path, is_folder=True, files=tuple(files), left=tuple(skipped))
    if not st.S_ISREG(about.st_mode):
        raise SourceRefused(f"{name!a} is neither a file nor a folder.")
    return Source(given, path, is_folder=False, files=(Listed(os.path.basename(path), path, about),), left=())


def read_files(files: Iterable[Listed]) -> tuple[list[SourceFile], list[LeftItem]]:
    """The texts of these files, and which could not be read."""
    read: list[SourceFile] = []
    skipped: list[LeftItem] = []
    total = 0
    for file in files:
        if file.about.st_size > MAX_FILE:
            skipped.append(left(file.name, "too_large", f"({file.about.st_size:,} bytes; {MAX_FILE:,} is the most)"))
            continue
        total += file.about.st_size
        if total > MAX_BYTES:
            raise SourceRefused(f"The source has more than {MAX_BYTES:,} bytes.", hint="Import it in parts.")
        data = _bytes(file, MAX_FILE, skipped)
        if data is None:
            continue
        try:
            read.append(SourceFile(file.name, data.decode("utf-8-sig"), _modified(file.about)))
        except UnicodeDecodeError:
            skipped.append(left(file.name, "not_utf8"))
    return read, skipped


def head_of(file: Listed) -> str:
    """How a file begins; empty where it cannot be read."""
    data = _bytes(file, HEAD, [])
    return (data or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _walk(root: str) -> tuple[list[Listed], list[LeftItem]]:
    files: list[Listed] = []
    skipped: list[LeftItem] = []
    waiting: list[tuple[tuple[str, ...], str]] = [((), root)]
    while waiting:
        parts, folder = waiting.pop()
        below: list[tuple[tuple[str, ...], str]] = []
        for entry, about in _entries(folder, "/".join(parts), skipped):
            inside = (*parts, entry.name)
            name = "/".join(inside).encode("utf-8", "backslashreplace").decode()
            if st.S_ISDIR(about.st_mode) and getattr(about, "st_reparse_tag", 0) != _JUNCTION:
                if len(inside) >= MAX_LEVELS:
                    skipped.append(left(name, "too_deep"))
                elif not entry.name.startswith("."):
                    below.append((inside, entry.path))
            elif st.S_ISREG(about.st_mode):
                files.append(Listed(name, entry.path, about))
            else:
                skipped.append(left(name, "link"))
        waiting += reversed(below)
        if len(files) > MAX_FILES:
            raise SourceRefused(f"The source has more than {MAX_FILES:,} files.", hint="Name the folder more exactly.")
    return sorted(files, key=lambda file: file.name), skipped


def _entries(folder: str, name: str, skipped: list[LeftItem]) -> list[tuple[os.DirEntry[str], os.stat_result]]:
    try:
        with os.scandir(folder) as found:
            listed = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        if not name:
            raise _refusal(folder, error) from None
        skipped.append(left(name, "unreadable"))
        return []
    entries: list[tuple[os.DirEntry[str], os.stat_result]] = []
    for entry in listed:
        try:
            # Not the entry's own: that one knows no inode on Windows, by which we tell that a file is still the same.
            entries.append((entry, os.stat(entry.path, follow_symlinks=False)))
        except OSError:
            skipped.append(left(f"{name}/{entry.name}".lstrip("/"), "unreadable"))
    return entries


def _bytes(file: Listed, limit: int, skipped: list[LeftItem]) -> bytes | None:
    try:
        with open(file.path, "rb") as stream:
            if not os.path.samestat(os.fstat(stream.fileno()), file.about):
                skipped.append(left(file.name, "link", "(it changed while we looked)"))
                return None
            return stream.read(limit)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise TooManyFiles from None
        skipped.append(left(file.name, "unreadable"))
        return None


def _modified(about: os.stat_result) -> str | None:
    try:
        return stamp(datetime.fromtimestamp(about.st_mtime, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0].lower() == os.path.splitdrive(other)[0].lower()


def _refusal(given: str, error: OSError | ValueError) -> Exception:
    if isinstance(error, PermissionError):
        return Unreadable(f"The permissions of this machine do not let you read {given!a}.")
    said = error.strerror if isinstance(error, OSError) else "not a path"
    return NotFound(f"{given!a} cannot be read: {said}.", hint="Check the path.")
