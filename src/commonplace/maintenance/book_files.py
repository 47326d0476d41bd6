"""The files of a book as they are on disk: walk and read them all, and check names, kinds and modes.

`doctor` and `scan` walk a book with `walk_book`, which shows also what the index and recall ignore: odd names, links,
hidden files. It opens nothing but folders, follows no link and always ends, because a path has at most 12 levels.
`check_files` reports what is wrong with files that nobody has to read for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from commonplace.maintenance.findings import NOTE, WARNING, FindingList
from commonplace.memories.pages import SUB_PAGES
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError, InvalidPath, LinkRefused, NotFound, TooManyFiles
from commonplace.model.names import find_name_fault, fold_name, is_key_name
from commonplace.model.scope import ScopeKind
from commonplace.vault.paths import INDEX_PAGE, KEEPER, MAX_LEVELS, MEMORIES, PRIVATE, ROOT, BookPath
from commonplace.vault.port import Document, FileKind, Stat
from commonplace.vault.scope_pages import SCOPE_PAGE

UNUSABLE_DATABASES = ("index.db.unusable-", "state.db.aside-")  # how the names of replaced databases start
_TOP_NAMES = ("index.md", "system", MEMORIES.name, "data", "journal", "tree", PRIVATE.name)
_SCOPE_KINDS = {kind.value: kind for kind in ScopeKind}
_ENTER, _READ, _CHANGE = 0o011, 0o044, 0o022  # mode bits of the group and of others

ErrorHandler = Callable[[BookPath, CommonplaceError], None]
"""Called with each file or folder that cannot be read, and why."""


class FolderItem(NamedTuple):
    """A file, folder or link. `path` is None where no book path can lead: the name is odd, or it is too deep."""

    folder: BookPath
    name: str
    stat: Stat
    path: BookPath | None

    @property
    def is_file(self) -> bool:
        """Whether this is a plain file."""
        return self.stat.kind is FileKind.FILE

    @property
    def is_note(self) -> bool:
        """Whether this is a file with the name of a memory."""
        stem = self.name.removesuffix(".md")
        return self.is_file and stem != self.name and is_key_name(stem) and find_name_fault(self.name) is None

    def __str__(self) -> str:
        return _full_name(self.folder, self.name)


def walk_book(keep: MemoryStore, on_error: ErrorHandler) -> Iterator[tuple[BookPath, list[FolderItem]]]:
    """Yield every folder of the book with its items, parents before children.

    At the root, only the book's own names are shown: a person may keep other things there (.git, .obsidian).
    """
    waiting = [ROOT]
    while waiting:
        folder = waiting.pop()
        try:
            listing = keep.vault.list_folder(keep.space, KEEPER, folder)
        except NotFound:
            continue
        except TooManyFiles:
            raise  # not a fault of this folder: the process has no file handle left
        except CommonplaceError as error:
            on_error(folder, error)
            continue
        if folder == ROOT:
            listing = [one for one in listing if one.name in _TOP_NAMES]
        items = [_folder_item(folder, one.name, one.stat) for one in listing]
        yield folder, items
        waiting += [
            item.path for item in reversed(items) if item.path is not None and item.stat.kind is FileKind.FOLDER
        ]


def _folder_item(folder: BookPath, name: str, stat: Stat) -> FolderItem:
    try:
        return FolderItem(folder, name, stat, folder / name)
    except InvalidPath:
        return FolderItem(folder, name, stat, None)


def _full_name(folder: BookPath, name: str) -> str:
    return f"{'' if folder == ROOT else folder}/{name}"


def read_file(keep: MemoryStore, path: BookPath, on_error: ErrorHandler) -> Document | None:
    """Return a file, or None where it is gone or cannot be read."""
    try:
        return keep.vault.read(keep.space, KEEPER, path)
    except NotFound:  # deleted since it was listed
        return None
    except TooManyFiles:
        raise
    except CommonplaceError as error:
        on_error(path, error)
        return None


def describe_error(error: CommonplaceError) -> str:
    """Return why something cannot be read, in the operating system's words where it gave some."""
    cause = error.__cause__
    reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else error.message
    return f"This cannot be read: {reason}."


# Checks of names, kinds and modes


@dataclass(slots=True)
class BookFiles:
    """The notes of every scope, by the scope's folder, and the paths of all other files."""

    notes: dict[BookPath, dict[BookPath, Stat]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)


def check_files(keep: MemoryStore, findings: FindingList, root_mode: int | None) -> BookFiles:
    """Check the name, kind and mode of everything in the book, and return its files."""
    files = BookFiles()
    access = _AccessCheck(findings, root_mode)

    def on_error(folder: BookPath, error: CommonplaceError) -> None:
        if isinstance(error, LinkRefused):  # a Windows junction: listed as a folder, but a link
            findings.add("link", folder)
        else:
            findings.add("unreadable", folder, describe_error(error))

    for folder, items in walk_book(keep, on_error):
        scope = _find_scope(folder)
        if scope is not None:
            files.notes.setdefault(scope, {})
        for item in items:
            access.check(item)
            _check_name(findings, item, scope)
            if scope is not None and item.path is not None and item.is_note:
                files.notes[scope][item.path] = item.stat
            elif item.is_file:
                files.others.append(str(item).removeprefix("/"))
        if folder.is_within(MEMORIES):
            _check_same_names(findings, items)
        for leftover in keep.vault.list_temp_files(keep.space, folder):
            findings.add("left_over", _full_name(folder, leftover.name))
    return files


def _find_scope(folder: BookPath) -> BookPath | None:
    """Return the scope folder that this folder belongs to; None where it may hold no memories."""
    kind = _SCOPE_KINDS.get(folder.parts[1]) if len(folder.parts) > 1 and folder.is_within(MEMORIES) else None
    if kind is None:
        return None
    depth = 3 if kind.has_id else 2
    fits = depth <= len(folder.parts) <= MAX_LEVELS - 2 and all(map(is_key_name, folder.parts[depth:]))
    return BookPath(*folder.parts[:depth]) if fits else None


def _check_name(findings: FindingList, item: FolderItem, scope: BookPath | None) -> None:
    """Report what stands among the memories and can be none. Inside an ignored folder nothing more is reported."""
    if item.stat.kind is FileKind.OTHER:
        findings.add("link", item)
        return
    if scope is not None:
        fault = _find_fault_in_scope(item, scope)
    elif item.folder == MEMORIES or (item.folder.parent == MEMORIES and item.folder.name in _SCOPE_KINDS):
        fault = _find_fault_above_scopes(item)
    else:
        return
    if fault is not None:
        is_hidden = item.name.startswith(("_", ".")) or (item.is_file and not item.name.endswith(".md"))
        findings.add("hidden_file" if is_hidden else "ignored_file", item, f"This is not a memory: {fault}.")


def _find_fault_above_scopes(item: FolderItem) -> str | None:
    """Return what is wrong with an item of memories/ or memories/KIND/: only folders and an index page belong there."""
    if item.is_file:
        return None if item.name == INDEX_PAGE else "it is above the folders of the scopes"
    if item.path is None:
        return f"its name {find_name_fault(item.name)}"
    return None if item.folder != MEMORIES or item.name in _SCOPE_KINDS else "its folder belongs to no scope"


def _find_fault_in_scope(item: FolderItem, scope: BookPath) -> str | None:
    if item.is_file:
        if item.name == INDEX_PAGE or (item.name == SCOPE_PAGE and item.folder == scope) or item.is_note:
            return None
        if not item.name.endswith(".md"):
            return "it is not a Markdown file"
    elif item.name == SUB_PAGES or (item.path is not None and _find_scope(item.path) is not None):
        return None
    fault = find_name_fault(item.name)
    if fault:
        return f"its name {fault}"
    if item.name.startswith(("_", ".")):
        return "its name starts with _ or ."
    if item.name.removesuffix(".md").casefold() == "index":
        return "its name is reserved for index pages"
    if item.stat.kind is FileKind.FOLDER and is_key_name(item.name):
        return f"notes are at most {MAX_LEVELS - 1} levels deep"
    return f"its name {find_name_fault(item.name.removesuffix('.md')) or 'cannot be a key'}"


def _check_same_names(findings: FindingList, items: list[FolderItem]) -> None:
    by_name: dict[str, FolderItem] = {}
    for item in items:
        first = by_name.setdefault(fold_name(item.name), item)
        if first is not item:
            findings.add("same_name", item, f"On macOS and Windows this is the same file as {first.name!a}.")


class _AccessCheck:
    """Reports what other users may read or change, as far as the folders above let them in."""

    def __init__(self, findings: FindingList, root_mode: int | None) -> None:
        self._findings = findings
        self._is_on = os.name != "nt" and root_mode is not None  # Windows has no such modes
        self._folder_modes = {ROOT: root_mode or 0}  # each combined with those of the folders above
        if self._is_on and self._folder_modes[ROOT] & 0o077:
            self._report("/", self._folder_modes[ROOT], is_harmful=bool(self._folder_modes[ROOT] & _CHANGE))

    def check(self, item: FolderItem) -> None:
        """Report an item whose mode lets other users in. Folders must come before what is in them."""
        mode, kind = item.stat.mode, item.stat.kind
        if not self._is_on or kind is FileKind.OTHER:  # a link's own mode means nothing
            return
        may_enter = self._folder_modes.get(item.folder, 0) & _ENTER
        if kind is FileKind.FOLDER and item.path is not None:
            self._folder_modes[item.path] = mode & may_enter
        if mode & 0o077:
            harmful = (_CHANGE if kind is FileKind.FOLDER else _READ | _CHANGE) & mode
            self._report(item, mode, is_harmful=bool(harmful & (may_enter << 1 | may_enter << 2)))

    def _report(self, where: object, mode: int, *, is_harmful: bool) -> None:
        """Add a warning where another user can read or change a text; else a note."""
        effect = "Other users can read or change it." if is_harmful else "It need not let other users in."
        message = f"Its mode is {mode:04o}. {effect}"
        self._findings.add("open_to_others", where, message, severity=WARNING if is_harmful else NOTE)
