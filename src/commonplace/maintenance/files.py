"""What can be said of files without reading them: names, kinds, modes, and what a killed writer left."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from commonplace.keep.pages import SUB_PAGES
from commonplace.keep.scopes import SCOPE_PAGE
from commonplace.keep.unit import Keep
from commonplace.maintenance.findings import NOTE, WARNING, Findings
from commonplace.maintenance.walk import Seen, walk, why
from commonplace.model.errors import CommonplaceError, LinkRefused
from commonplace.model.keys import is_key_name
from commonplace.model.names import fold, name_fault
from commonplace.model.scope import ScopeKind
from commonplace.vault.paths import INDEX_PAGE, MAX_LEVELS, MEMORIES, ROOT, BookPath
from commonplace.vault.port import Kind, Stat

_KINDS = {kind.value: kind for kind in ScopeKind}
_PASS, _READ, _CHANGE = 0o011, 0o044, 0o022  # group and others


@dataclass(slots=True)
class Notes:
    """The notes of every scope, as files, by the scope's folder; and the names of all else a link may lead to."""

    by_scope: dict[BookPath, dict[BookPath, Stat]] = field(default_factory=dict)
    other: list[str] = field(default_factory=list)


def check_files(keep: Keep, found: Findings, root_mode: int | None) -> Notes:
    """Look at every name in the book; answers the notes, to be read."""
    notes = Notes()
    access = _Access(found, root_mode)

    def refused(folder: BookPath, error: CommonplaceError) -> None:
        if isinstance(error, LinkRefused):  # what looks like a folder and is a link: a junction
            found.add("link", folder)
        else:
            found.add("unreadable", folder, why(error))

    for folder, inside in walk(keep, refused):
        scope = scope_of(folder)
        if scope is not None:
            notes.by_scope.setdefault(scope, {})
        for item in inside:
            access.check(item)
            _check_name(found, item, scope)
            if scope is not None and item.path is not None and is_note(item):
                notes.by_scope[scope][item.path] = item.stat
            elif item.stat.kind is Kind.FILE:
                notes.other.append(str(item).removeprefix("/"))
        if folder.is_within(MEMORIES):
            _check_same(found, inside)
        for left in keep.vault.left_over(keep.space, folder):
            found.add("left_over", f"{'' if folder == ROOT else folder}/{left.name}")
    return notes


def scope_of(folder: BookPath) -> BookPath | None:
    """The folder of the scope in which a folder may hold memories; None when it may hold none."""
    kind = _KINDS.get(folder.parts[1]) if len(folder.parts) > 1 and folder.is_within(MEMORIES) else None
    depth = 3 if kind is not None and kind.has_id else 2
    fits = depth <= len(folder.parts) <= MAX_LEVELS - 2 and all(map(is_key_name, folder.parts[depth:]))
    return BookPath(*folder.parts[:depth]) if kind is not None and fits else None


def is_note(item: Seen) -> bool:
    stem = item.name.removesuffix(".md")
    return item.stat.kind is Kind.FILE and stem != item.name and is_key_name(stem) and name_fault(item.name) is None


def _check_name(found: Findings, item: Seen, scope: BookPath | None) -> None:
    """Whether something among the memories is of the book's, and why not. Below what is ignored, all is."""
    if item.stat.kind is Kind.OTHER:
        found.add("link", item)
        return
    above = item.folder == MEMORIES or (len(item.folder.parts) == 2 and scope is None and item.folder.name in _KINDS)
    if not (scope is not None or (above and item.folder.is_within(MEMORIES))):
        return
    fault = _fault_above(item) if scope is None else _fault_in_scope(item, scope)
    if fault is None:
        return
    hidden = item.name.startswith(("_", ".")) or (item.stat.kind is Kind.FILE and not item.name.endswith(".md"))
    found.add("hidden_file" if hidden else "ignored_file", item, f"This is not a memory: {fault}.")


def _fault_above(item: Seen) -> str | None:
    """In memories/ and memories/KIND/ there are folders and an index page."""
    if item.stat.kind is Kind.FILE:
        return None if item.name == INDEX_PAGE else "it stands above the folders of the scopes"
    if item.path is None:
        return f"its name {name_fault(item.name)}"
    return None if item.folder != MEMORIES or item.name in _KINDS else "its folder is that of no scope"


def _fault_in_scope(item: Seen, scope: BookPath) -> str | None:
    if item.stat.kind is Kind.FILE:
        if item.name == INDEX_PAGE or (item.name == SCOPE_PAGE and item.folder == scope) or is_note(item):
            return None
        if not item.name.endswith(".md"):
            return "it is no Markdown file"
    elif item.name == SUB_PAGES or (item.path is not None and scope_of(item.path) is not None):
        return None
    fault = name_fault(item.name)
    if fault:
        return f"its name {fault}"
    if item.name.startswith(("_", ".")):
        return "its name starts with _ or ."
    if item.name.removesuffix(".md").casefold() == "index":
        return "its name is that of index pages"
    if item.stat.kind is Kind.FOLDER and is_key_name(item.name):
        return f"notes are at most {MAX_LEVELS - 1} levels deep"
    return f"its name {name_fault(item.name.removesuffix('.md')) or 'cannot be a key'}"


def _check_same(found: Findings, inside: list[Seen]) -> None:
    first: dict[str, Seen] = {}
    for item in inside:
        other = first.setdefault(fold(item.name), item)
        if other is not item:
            found.add("same_name", item, f"On macOS and Windows this is the same file as {other.name!a}.")


class _Access:
    """Who else may read or change what, as far as the book's own folders let them come."""

    def __init__(self, found: Findings, root_mode: int | None) -> None:
        self._found = found
        self._on = os.name != "nt" and root_mode is not None  # Windows has no such modes
        self._passable = {ROOT: root_mode or 0}
        if self._on and self._passable[ROOT] & 0o077:
            self._add("/", self._passable[ROOT], harm=bool(self._passable[ROOT] & _CHANGE))

    def check(self, item: Seen) -> None:
        mode, kind = item.stat.mode, item.stat.kind
        if not self._on or kind is Kind.OTHER:  # a link's own mode means nothing
            return
        way = self._passable.get(item.folder, 0) & _PASS
        if kind is Kind.FOLDER and item.path is not None:
            self._passable[item.path] = mode & way
        if mode & 0o077:
            harmful = (_CHANGE if kind is Kind.FOLDER else _READ | _CHANGE) & mode
            self._add(item, mode, harm=bool(harmful & (way << 1 | way << 2)))

    def _add(self, where: object, mode: int, *, harm: bool) -> None:
        """A warning where somebody can come and read or change a text; else a note."""
        what = "Other users can read or change it." if harm else "It need not let other users in."
        message = f"Its mode is {mode:04o}. {what}"
        self._found.add("open_to_others", where, message, severity=WARNING if harm else NOTE)
