"""The vault: named files with revisions, changed in groups that are durable before they are acknowledged.

What every implementation promises, and tests/vault/conformance.py checks:

- `apply` is all the ways a book changes. When it returns, every change in it survives a power cut. When it raises
  before the first change is visible, nothing has changed; a reader never sees half of a file.
- Its changes name each path once, and none below another: every order of reading them then means the same.
- `apply_meanwhile` does the same, and lets the caller do something else while it waits for the medium.
- Changes become visible in the order given, and those of one folder are durable before those of the next are visible.
- A `Write` or `Delete` that names a revision fails with RevisionMismatch when the file has another one; ABSENT means
  that there must be none, and is safe against anybody, locked or not.
- `lock` gives one writer per name, across processes, and never makes a reader wait.
- Every call carries a space and a view, and nothing outside them is read, written or revealed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from commonplace.model.errors import InvalidPath
from commonplace.model.ids import revision_of
from commonplace.model.scope import Space
from commonplace.vault.paths import BookPath, View, is_temp

ABSENT: Final = "absent"
ANY: Final = "any"


class FileKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"  # links, devices, pipes: shown by `doctor`, never opened


class Stat(NamedTuple):
    """What tells that a file has changed without reading it. A check of a book makes one for every file."""

    kind: FileKind
    size: int
    mtime_ns: int
    inode: int
    mode: int = 0o600


class Document(NamedTuple):
    data: bytes
    stat: Stat

    @property
    def revision(self) -> str:
        """Made when it is asked for: whoever reads a page never does."""
        return revision_of(self.data)


class Survey(NamedTuple):
    lines: list[str]  # of each file one text: what it looks like from outside, and its name without the ending
    folders: list[str]

    @property
    def files(self) -> dict[str, str]:
        """What each file looks like, by name."""
        named = [(line, name_in(line)) for line in self.lines]
        return {name: line[: -len(name) - 1] for line, name in named}


class FolderGlance(NamedTuple):
    """A survey of the notes of a folder that was taken while this process was loading."""

    lines: str  # those of a survey, in order
    folders: list[str]


def looks(size: int, mtime_ns: int, inode: int) -> str:
    """A file from outside. One text, because ten thousand of them are compared before a command answers."""
    return f"{size} {mtime_ns} {inode}"


def name_in(line: str) -> str:
    """The name of the file that a line of a survey is about."""
    return line.split(" ", 3)[3]


class FolderEntry(NamedTuple):
    name: str
    stat: Stat


class Write(NamedTuple):
    """Put these bytes here. `expected` is a revision, ABSENT or ANY."""

    path: BookPath
    data: bytes
    expected: str = ANY


class Move(NamedTuple):
    """Move a file to a place where there is none."""

    path: BookPath
    to: BookPath


class Delete(NamedTuple):
    path: BookPath
    expected: str = ANY


Change = Write | Move | Delete


class HeldLock(NamedTuple):
    """A lock that is held. `generation` rises by one every time anybody takes it."""

    name: str
    generation: int


def surveyed(listed: Iterable[FolderEntry], ending: str) -> Survey:
    """A survey from a listing, where nothing faster is to be had."""
    survey = Survey([], [])
    for name, stat in sorted(listed):
        if stat.kind is FileKind.FILE and name.endswith(ending):
            survey.lines.append(f"{looks(stat.size, stat.mtime_ns, stat.inode)} {name.removesuffix(ending)}")
        elif stat.kind is FileKind.FOLDER:
            survey.folders.append(name)
    return survey


Visible = Callable[[Sequence[Stat | None]], None]


class Vault(Protocol):
    def read(self, space: Space, view: View, path: BookPath) -> Document: ...

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None: ...

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]: ...

    def survey(self, space: Space, view: View, path: BookPath, ending: str) -> Survey:
        """The files of a folder whose names end so, by name without it, and the folders in it: no more of either than
        telling a change takes, because a command may have ten thousand of them to look at before it answers."""

    def glance(self, space: Space, path: BookPath) -> FolderGlance | None:
        """What was seen of a folder while this process was loading, once; None: nobody has looked. It is older than a
        survey, and than the index may be: it can say that nothing has changed outside, and nothing else."""

    def apply(self, space: Space, view: View, changes: Sequence[Change]) -> list[Stat | None]:
        """Make the changes durable, then answer with the new stat of each Write (None for the others)."""

    def apply_meanwhile(
        self, space: Space, view: View, changes: Sequence[Change], meanwhile: Callable[[], None], visible: Visible
    ) -> None:
        """Make the changes durable. `meanwhile` is called while what is new is on its way to the medium, and nothing of
        it is visible; `visible` with the stats of all when they are, while they may yet have to become durable. What
        either raises is raised."""

    def lock(self, space: Space, name: str, timeout: float) -> AbstractContextManager[HeldLock]: ...

    def sweep(self, space: Space, path: BookPath) -> int:
        """Remove what a killed writer left half-made in this folder; call it under the folder's lock."""

    def left_over(self, space: Space, path: BookPath) -> list[FolderEntry]:
        """What `sweep` would remove."""


def check_group(view: View, changes: Sequence[Change]) -> None:
    """What every vault refuses before it looks at a file."""
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
    if len(named) > 1 and any(parts[:depth] in named for parts in named for depth in range(1, len(parts))):
        raise InvalidPath("One group of changes names a path both as a file and as a folder.")


def create(vault: Vault, space: Space, view: View, path: BookPath, data: bytes) -> None:
    vault.apply(space, view, [Write(path, data, ABSENT)])


def write(vault: Vault, space: Space, view: View, path: BookPath, data: bytes, expected: str = ANY) -> None:
    vault.apply(space, view, [Write(path, data, expected)])


def move(vault: Vault, space: Space, view: View, path: BookPath, to: BookPath) -> None:
    vault.apply(space, view, [Move(path, to)])


def delete(vault: Vault, space: Space, view: View, path: BookPath, expected: str = ANY) -> None:
    vault.apply(space, view, [Delete(path, expected)])
