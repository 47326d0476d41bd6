"""Finding the folder of a scope by its `_scope.md` page, without changing anything.

Verbs, hooks and doctor read with it; memories/lookup.py writes. It loads few modules, because every hook starts with
it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError, Conflict, LinkRefused, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.names import find_name_fault
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.frontmatter import split
from commonplace.vault.paths import MEMORIES, BookPath, scope_folder
from commonplace.vault.port import UNUSABLE, FileKind, VaultHandle

SCOPE_PAGE = "_scope.md"
_MERGE_MARKS = lazy(r"^(?:(?:<{7}|>{7}|\|{7})(?: .*)?|={7})\r?(?:\n|\Z)", re.M)
MAX_EVIDENCE = 50  # of each kind; the newest stay


class Evidence(NamedTuple):
    """What a project recorded of the folders it was found in: root commits, markers and paths."""

    commits: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def with_more(self, other: Evidence) -> Evidence:
        """Return both together, without repeats."""
        pairs = zip(self, other, strict=True)
        return Evidence(*(tuple(dict.fromkeys(old + new))[-MAX_EVIDENCE:] for old, new in pairs))

    @property
    def stamps(self) -> frozenset[str]:
        """What tells each `.git` that the project was seen with from any other."""
        return frozenset(place.partition(" ")[0] for place in self.places if place.startswith("git-"))

    @property
    def paths(self) -> tuple[str, ...]:
        """The folders that it was seen in, as `path_id` writes them: the tops of repositories, or those without one."""
        places = [place for place in self.places if place.startswith("git-")] or self.places
        return tuple(dict.fromkeys(place.partition(" ")[2] for place in places))


class ScopePage(NamedTuple):
    """The content of a `_scope.md`."""

    kind: str
    id: str
    aliases: tuple[str, ...]
    evidence: Evidence | None = None  # None on a page written before projects recorded any
    related: tuple[str, ...] | None = None  # projects that its folders may be, or were; None if nobody looked
    elsewhere: tuple[str, ...] = ()  # `STAMP ID`: folders that claim this id and belong to another project

    @property
    def ids(self) -> tuple[str, ...]:
        """The id it has now, and those it had."""
        return (self.id, *self.aliases)


def find_folder(files: VaultHandle, scope: Scope) -> BookPath:
    """Return the folder of a scope: the one whose page has its id or alias, else the one named after the scope.

    Raises Conflict when the folder named after the scope belongs to another id.
    """
    own = scope_folder(scope)
    if scope.id is None or scope.folder_name == scope.id:
        return own
    try:
        page = read_scope_page(files, own)
    except UNUSABLE:  # the folder is named after the id, which is as good as its page
        return own
    if page is not None and scope.id in page.ids:
        return own
    pages = list_scope_pages(files, scope.kind)
    for folder, other in sorted(pages, key=lambda item: item[1].id != scope.id):  # its own, before one it was merged to
        if scope.id in other.ids:
            return folder
    if page is not None:  # two ids with the same hash must not share a folder
        raise Conflict(f"{own} belongs to another {scope.kind}.", hint="Give this one another id.")
    return own


def list_scope_folders(files: VaultHandle, top: BookPath = MEMORIES) -> list[BookPath]:
    """Return the folder of every scope that is there, or that has a folder below another top."""
    found = []
    for kind in ScopeKind:
        base = top / kind.value
        if not kind.has_id:
            found.append(base)
            continue
        with suppress(NotFound, *UNUSABLE):
            found += _list_folders(files, base)
    return found


def _list_folders(files: VaultHandle, base: BookPath) -> list[BookPath]:
    listed = files.list_folder(base)
    return [base / item.name for item in listed if item.stat.kind is FileKind.FOLDER and not find_name_fault(item.name)]


def scope_folder_above(folder: BookPath) -> BookPath:
    """Return the folder of the scope that a folder of memories belongs to."""
    return BookPath(*folder.parts[: 3 if ScopeKind(folder.parts[1]).has_id else 2])


def list_scope_pages(files: VaultHandle, kind: ScopeKind) -> list[tuple[BookPath, ScopePage]]:
    """Return every folder of a kind that has a readable `_scope.md`, with the page."""
    try:
        folders = _list_folders(files, MEMORIES / kind.value)
    except (NotFound, *UNUSABLE):
        return []
    found: list[tuple[BookPath, ScopePage]] = []
    for folder in folders:
        try:
            page = read_scope_page(files, folder)
        except CommonplaceError:
            continue
        if page is not None:
            found.append((folder, page))
    return found


def read_scope_page(files: VaultHandle, folder: BookPath) -> ScopePage | None:
    """Return the page of a scope's folder, None if there is none or it has no id. Raises Unreadable and TooLarge."""
    try:
        document = files.read(folder / SCOPE_PAGE)
    except (NotFound, LinkRefused):  # `doctor` reports what is there instead
        return None
    return parse_scope_page(document.data)


def parse_scope_page(data: bytes) -> ScopePage | None:
    """Return the content of a scope's page; None for one without an id."""
    # Two machines may both have added to it. A merge keeps the lines of both, perhaps with its marks between them.
    front, _ = split(_MERGE_MARKS.sub("", data.decode("utf-8", "surrogateescape")))
    *others, ident = front.all_texts("id") or ("",)
    if not ident:
        return None
    evidence = None
    if any(name in front.names() for name in Evidence._fields):
        evidence = Evidence(*(front.all_texts(name) for name in Evidence._fields))
    aliases = tuple(dict.fromkeys((*front.all_texts("aliases"), *(other for other in others if other != ident))))
    related = front.all_texts("related") if "related" in front.names() else None
    return ScopePage(front.text("scope"), ident, aliases, evidence, related, front.all_texts("elsewhere"))
