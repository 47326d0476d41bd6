"""Finding the folder of a scope by what `_scope.md` says, without changing anything.

It loads little, because hooks start with it; memories.scopes has what writes.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from commonplace.model.errors import CommonplaceError, Conflict, LinkRefused, NotFound
from commonplace.model.names import find_name_fault
from commonplace.model.scope import Scope, ScopeKind, Space
from commonplace.text.frontmatter import split
from commonplace.vault.paths import KEEPER, MEMORIES, BookPath, scope_folder
from commonplace.vault.port import FileKind, Vault

SCOPE_PAGE = "_scope.md"


class Files(Protocol):
    """A book's files and whose they are: a Keep, or less."""

    @property
    def vault(self) -> Vault: ...
    @property
    def space(self) -> Space: ...


class ScopePage(NamedTuple):
    """What a `_scope.md` says."""

    kind: str
    id: str
    aliases: tuple[str, ...]
    evidence: Evidence | None = None  # None on a page that was written before projects remembered any


def find_folder(keep: Files, scope: Scope) -> BookPath:
    """The folder of a scope: its own, or the one that has this id as an alias; its own when there is neither yet."""
    own = scope_folder(scope)
    if scope.id is None or scope.folder_name == scope.id:
        return own
    page = read_scope_page(keep, own)
    if page is not None and scope.id in (page.id, *page.aliases):
        return own
    for folder, other in scope_pages(keep, scope.kind):
        if scope.id in (other.id, *other.aliases):
            return folder
    if page is not None:  # two ids with one hash: nobody may land in the other's folder
        raise Conflict(f"{own} belongs to another {scope.kind}.", hint="Give this one another id.")
    return own


def list_scope_folders(vault: Vault, space: Space) -> list[BookPath]:
    """Return the folder of every scope that is there."""
    found = []
    for kind in ScopeKind:
        base = MEMORIES / kind.value
        if not kind.has_id:
            found.append(base)
            continue
        try:
            listed = vault.list_folder(space, KEEPER, base)
        except (NotFound, LinkRefused):
            continue
        found += [
            base / item.name for item in listed if item.stat.kind is FileKind.FOLDER and not find_name_fault(item.name)
        ]
    return found


def scope_folder_above(folder: BookPath) -> BookPath:
    """Return the folder of the scope that a folder of memories belongs to."""
    return BookPath(*folder.parts[: 3 if ScopeKind(folder.parts[1]).has_id else 2])


def scope_pages(keep: Files, kind: ScopeKind) -> list[tuple[BookPath, ScopePage]]:
    """Every folder of a kind that has a `_scope.md`."""
    base = MEMORIES / kind.value
    try:
        listed = keep.vault.list_folder(keep.space, KEEPER, base)
    except NotFound:
        return []
    found: list[tuple[BookPath, ScopePage]] = []
    for item in listed:
        if item.stat.kind is not FileKind.FOLDER:
            continue
        try:
            page = read_scope_page(keep, base / item.name)
        except CommonplaceError:
            continue
        if page is not None:
            found.append((base / item.name, page))
    return found


def read_scope_page(keep: Files, folder: BookPath) -> ScopePage | None:
    try:
        document = keep.vault.read(keep.space, KEEPER, folder / SCOPE_PAGE)
    except (NotFound, LinkRefused):  # what stands in its place is for `doctor` to name
        return None
    front, _ = split(document.data.decode("utf-8", "surrogateescape"))
    ident = front.text("id")
    if not ident:
        return None
    evidence = None
    if any(name in front.names() for name in Evidence._fields):
        evidence = Evidence(*(front.texts(name) for name in Evidence._fields))
    return ScopePage(front.text("scope"), ident, front.texts("aliases"), evidence)


_MOST = 50  # of each kind; the newest are kept


class Evidence(NamedTuple):
    """What a project remembers of its folders."""

    commits: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def with_more(self, other: Evidence) -> Evidence:
        """Return both together, without repeats."""
        return Evidence(*(tuple(dict.fromkeys(old + new))[-_MOST:] for old, new in zip(self, other, strict=True)))
