"""Open what a user named to be read from: a file, a folder, or a zip. Nothing is changed.

`open_files` is for the readers of the memory tree, `walk_folder` and `open_listed` also for `import`. The named path
itself may be a link, because the user named it; below it no link is followed, and only plain files are opened. A file
that was replaced after it was listed is refused. Hidden folders (.git, .obsidian) are passed over, except a Maildir.
`zip_files` reads the members of a zip.
"""

from __future__ import annotations

import os
import stat as st
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Literal

from commonplace.model.errors import CommonplaceError, NotFound, SourceRefused, Unreadable
from commonplace.model.times import format_seconds
from commonplace.vault.source_files import (
    NamedFiles,
    SourceEntry,
    UnlistedPath,
    buffer_stream,
    explain_unreadable,
    open_listed,
)
from commonplace.vault.zip_files import open_zip

if TYPE_CHECKING:
    pass

MAX_FILES = 1_000_000  # of a folder
MAX_LEVELS = 100  # of folders in each other
_JUNCTION = 0xA0000003  # the tag of a Windows mount point: a link to a folder
_MAILDIR = frozenset({"cur", "new"})


@contextmanager
def open_files(given: str, book: str = "") -> Iterator[NamedFiles]:
    """Open a file, a folder or a zip to read from. `book` is the root of a book, which is never a source.

    Raises NotFound, Unreadable, and SourceRefused for what is no file or folder, has too many files, overlaps with the
    book, or is a zip that cannot be read.
    """
    absolute, path, stat = resolve_source(given, book)
    files: NamedFiles
    if st.S_ISREG(stat.st_mode) and path.lower().endswith(".zip"):
        files = open_zip(absolute, SourceEntry(os.path.basename(path), path, stat))
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


def _name_below(root: str, path: str) -> str:
    return path[len(root) :].lstrip(os.sep).replace(os.sep, "/").encode("utf-8", "backslashreplace").decode()


def _is_maildir(path: str) -> bool:
    """Return whether a hidden folder is one of mail: servers name the folders of an account .Sent, .Archive. A copy may
    lack one of the two, if it is empty."""
    return any(os.path.isdir(os.path.join(path, name)) for name in _MAILDIR)


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
            raise explain_unreadable(name, error) from None
        return buffer_stream(stream, name)

    def close(self) -> None:
        """Do nothing: no file is held open."""

    def _path_of(self, name: str) -> str:
        return self._paths.get(name) or os.path.join(self._root, name.replace("/", os.sep))
