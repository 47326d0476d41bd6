"""The vault port: named files with revisions, changed in groups that are durable before they are acknowledged.

local.py implements it on a disk. What every implementation promises, and tests/vault/conformance.py checks:

- `apply` is the only way to change a book. When it returns, every change in it survives a power cut. When it raises
  before the first change is visible, nothing has changed; a reader never sees half of a file.
- The changes of a group name each path once, and none below another, so the order in which they are read does not
  matter.
- `apply` lets the caller do other work while the medium is busy, if it has any.
- Changes become visible in the order given, and those of one folder are durable before those of the next are visible.
- A `Write` or `Delete` that names a revision fails with RevisionMismatch when the file has another one. ABSENT means
  that there must be no file, and holds against every other process, with or without a lock.
- `lock` gives one writer per name, across processes, and never makes a reader wait.
- Every call carries a space and a view, and nothing outside them is read, written or revealed: a path outside the view
  raises OutsideView. No OSError leaves a vault: each becomes a CommonplaceError.
"""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from commonplace.model.errors import InvalidPath, LinkRefused, NotFound, TooLarge, Unreadable
from commonplace.model.names import revision_of
from commonplace.model.scope import Space
from commonplace.model.times import format_seconds
from commonplace.vault.paths import KEEPER, BookPath, View, is_temp

UNUSABLE = (LinkRefused, Unreadable, TooLarge)
"""What is raised for one file or folder that cannot be read, although others can: a link, no permission, a bad sector,
too many bytes. It costs itself only: whoever reads many files passes over it, and `doctor` names it."""
ABSENT: Final = "absent"
ANY: Final = "any"


class FileKind(StrEnum):
    """What a name in a folder stands for."""

    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"  # links, devices, pipes: `doctor` shows them, and they are never opened


class Stat(NamedTuple):
    """What shows that a file has changed, without reading it. A check of a book makes one for every file."""

    kind: FileKind
    size: int
    mtime_ns: int
    inode: int
    mode: int = 0o600

    @property
    def time(self) -> str:
        """Return when the file was changed last, as a timestamp; nothing for a time that cannot be one."""
        return format_seconds(self.mtime_ns // 1_000_000_000)

    @property
    def signature(self) -> str:
        """Return what a file looks like from outside as one text: comparing ten thousand texts is fast."""
        return f"{self.size} {self.mtime_ns} {self.inode}"


class Document(NamedTuple):
    """The bytes of a file, and its stat when they were read."""

    data: bytes
    stat: Stat

    @property
    def revision(self) -> str:
        """Return the hash of the bytes, computed on demand: readers of a page never ask for it."""
        return revision_of(self.data)


class Survey(NamedTuple):
    """The files of one ending in a folder, and its folders: just enough to tell what has changed."""

    lines: list[str]  # for each file its `Stat.signature`, a space and its name without the ending
    folders: list[str]

    @property
    def files(self) -> dict[str, str]:
        """Return the stat signature of each file by name."""
        named = [(line, name_in(line)) for line in self.lines]
        return {name: line[: -len(name) - 1] for line, name in named}


class FolderPrestat(NamedTuple):
    """A survey of the notes of a folder that vault/prestat.py took while this process was loading."""

    lines: str  # the lines of a survey, sorted and joined
    folders: list[str]


def name_in(line: str) -> str:
    """Return the name of the file in a line of a survey."""
    return line.split(" ", 3)[3]


class FolderEntry(NamedTuple):
    """One name in a folder."""

    name: str
    stat: Stat


class Write(NamedTuple):
    """Put these bytes at a path. `expected` is the revision to replace, ABSENT or ANY."""

    path: BookPath
    data: bytes
    expected: str = ANY


class Move(NamedTuple):
    """Move a file to a path where there is none."""

    path: BookPath
    to: BookPath


class Delete(NamedTuple):
    """Delete a file. `expected` is its revision, or ANY."""

    path: BookPath
    expected: str = ANY


Change = Write | Move | Delete


class HeldLock(NamedTuple):
    """A lock that is held. `generation` rises by one each time any process takes it."""

    name: str
    generation: int


def survey_entries(listed: Iterable[FolderEntry], ending: str) -> Survey:
    """Return a survey made from a listing: for disks without a faster way."""
    survey = Survey([], [])
    for name, stat in sorted(listed):
        if stat.kind is FileKind.FILE and name.endswith(ending):
            survey.lines.append(f"{stat.signature} {name.removesuffix(ending)}")
        elif stat.kind is FileKind.FOLDER:
            survey.folders.append(name)
    return survey


VisibleCallback = Callable[[Sequence[Stat | None]], None]
WrittenCallback = Callable[[int, int], None]


def do_nothing() -> None:
    """Do nothing: for a caller with no work of its own while the disk is busy."""


class Vault(Protocol):
    """The files of a book, for callers that carry a space and a view. The module docstring has the promises."""

    def read(self, space: Space, view: View, path: BookPath) -> Document:
        """Return a file. Raises NotFound; LinkRefused for a folder, a link or a device; TooLarge above `max_size`."""

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None:
        """Return the stat of a file or folder, None where there is neither."""

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]:
        """Return the entries of a folder that the view may see, sorted by name. Raises NotFound."""

    def survey(self, space: Space, view: View, path: BookPath, ending: str) -> Survey:
        """Return the files of a folder whose names have this ending, and its folders. Raises NotFound.

        It is faster than `list_folder`: a command may check ten thousand files before it answers.
        """

    def take_prestat(self, space: Space, path: BookPath) -> FolderPrestat | None:
        """Return, once, what vault/prestat.py saw of a folder while this process was loading; None if it did not look.

        It may be older than the index, so it can prove only that nothing has changed. Raises NotFound.
        """

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None] | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        """Make the changes durable, then return the new stat of each Write (None for the others).

        `meanwhile` is called while the new texts are being synced and none is visible; `visible` gets the stats of all
        when they are visible and their folders are being synced; `written` is told how many of many new texts are
        written. What one of them raises is raised. Raises RevisionMismatch, AlreadyExists or NotFound when a file is
        not as its change expects.
        """

    def append(self, space: Space, path: BookPath, lines: bytes) -> None:
        """Append whole lines to a file, which is made if needed. They are not synced: a power cut may take them."""

    def lock(self, space: Space, name: str, timeout: float) -> AbstractContextManager[HeldLock]:
        """Return a context manager that holds the lock of a name. Entering it raises LockTimeout."""

    def can_lock(self, space: Space) -> bool:
        """Return whether the locks of this file system exclude anyone; True where that cannot be tried."""

    def sweep(self, space: Space, path: BookPath) -> int:
        """Remove the temporary files that a killed writer left in a folder, and return their number.

        Call it under the folder's lock: the files of a living writer look the same.
        """

    def list_temp_files(self, space: Space, path: BookPath) -> list[FolderEntry]:
        """Return the files that `sweep` would remove."""


def check_group(view: View, changes: Sequence[Change]) -> None:
    """Refuse a group of changes that no vault may apply.

    Raises OutsideView for a path the view may not write, and InvalidPath for a path that is no place for a file or is
    named twice.
    """
    named: set[tuple[str, ...]] = set()
    for change in changes:
        paths = (change.path, change.to) if isinstance(change, Move) and change.to != change.path else (change.path,)
        for path in paths:
            view.check_write(path)
            if not path.parts or is_temp(path.name):
                raise InvalidPath(f"{path} is not a place for a file.")
            if path.parts in named:
                raise InvalidPath(f"{path} is named twice in one group of changes.")
            named.add(path.parts)
    if any(parts[:depth] in named for parts in named for depth in range(1, len(parts))):
        raise InvalidPath("One group of changes names a path both as a file and as a folder.")


class VaultHandle(NamedTuple):
    """The files of one space, as the book itself sees them."""

    vault: Vault
    space: Space

    def read(self, path: BookPath) -> Document:
        """Return a file. Raises NotFound where there is none, LinkRefused for what is not a file."""
        return self.vault.read(self.space, KEEPER, path)

    def read_text(self, path: BookPath) -> str | None:
        """Return the text of a file, None where there is none. Bytes that are not UTF-8 become lone surrogates."""
        try:
            return self.read(path).data.decode("utf-8", "surrogateescape")
        except NotFound:
            return None

    def stat(self, path: BookPath) -> Stat | None:
        """Return what a file or folder looks like, None where there is none."""
        return self.vault.stat(self.space, KEEPER, path)

    def list_folder(self, path: BookPath) -> list[FolderEntry]:
        """Return what is in a folder, by name. Raises NotFound where there is none."""
        return self.vault.list_folder(self.space, KEEPER, path)

    def apply(self, changes: Sequence[Change]) -> None:
        """Make changes to files durable, in this order."""
        self.vault.apply(self.space, KEEPER, changes)
