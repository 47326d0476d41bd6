"""Finding the folder of a scope by what `_scope.md` says, without changing anything: all that a reader needs of scopes.

It loads little, because a hook starts with it; keep.scopes has what writes.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from commonplace.keep.evidence import Evidence
from commonplace.keep.identity import Identity
from commonplace.model.errors import CommonplaceError, Conflict, LinkRefused, NotFound
from commonplace.model.names import name_fault
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.space import Space
from commonplace.text.frontmatter import split
from commonplace.vault.paths import MEMORIES, BookPath, scope_folder
from commonplace.vault.port import Kind, Vault
from commonplace.vault.view import KEEPER

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


class ProjectMatch(NamedTuple):
    """The project of a folder, after its claim was checked."""

    id: str
    stored_as: str  # the id under which its memories are stored; another than `id` after a rename
    unproved: str | None = None  # the project that the folder claims to be and could not prove to be


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
        found += [base / item.name for item in listed if item.stat.kind is Kind.FOLDER and not name_fault(item.name)]
    return found


def scope_folder_above(folder: BookPath) -> BookPath:
    """Return the folder of the scope that a folder of memories belongs to."""
    return BookPath(*folder.parts[: 3 if ScopeKind(folder.parts[1]).has_id else 2])


def match_project(keep: Files, identity: Identity) -> ProjectMatch:
    """Return the project whose memories a folder gets: the one it claims to be, if it can prove that.

    A folder that cannot is a project of its own. Nothing is taken over when the id was set by hand: whoever sets
    `COMMONPLACE_PROJECT=try-out` does not say that the project is now called that.
    """
    if identity.source == "override":
        return ProjectMatch(identity.id, identity.id)
    page = find_page(keep, identity.id)
    if page is None:
        earlier = None
        if keep.vault.stat(keep.space, KEEPER, scope_folder(Scope(ScopeKind.PROJECT, identity.id))) is None:
            earlier = _proved_earlier(keep, identity)
        return ProjectMatch(identity.id, earlier or identity.id)
    if _is_proved(identity, identity.id, page):
        return ProjectMatch(identity.id, identity.id)
    own = f"{identity.earlier[-1] if identity.earlier else identity.id}-{identity.backing.own_name()}"
    for claim in identity.earlier:
        other = find_page(keep, claim)
        if other is None or _is_proved(identity, claim, other):
            own = claim
            break
    return ProjectMatch(own, own, page.id)


def find_page(keep: Files, project_id: str) -> ScopePage | None:
    """Return the page of the project that has an id, or had it before."""
    try:
        return read_scope_page(keep, find_folder(keep, Scope(ScopeKind.PROJECT, project_id)))
    except Conflict:
        return None


def _proved_earlier(keep: Files, identity: Identity) -> str | None:
    """Return the nearest earlier id of a folder under which it has memories, if they are its own."""
    pages = [page for _, page in scope_pages(keep, ScopeKind.PROJECT)]
    for claim in identity.earlier:
        for page in pages:
            if claim in (page.id, *page.aliases) and _is_proved(identity, claim, page):
                return claim
    return None


def _is_proved(identity: Identity, claim: str, page: ScopePage) -> bool:
    """Whether a folder is the project that a page is about, which it claims to be by one of its ids."""
    if page.evidence is not None:
        return identity.backing.proves(claim, page.evidence)
    # The page is from an earlier version. Its first folder is believed, but for a marker that was never seen here, and
    # for a path that was another remote's.
    if identity.source == "marker" and claim == identity.id:
        return identity.backing.is_marker_known
    return claim == page.id or identity.source != "remote"


def scope_pages(keep: Files, kind: ScopeKind) -> list[tuple[BookPath, ScopePage]]:
    """Every folder of a kind that has a `_scope.md`."""
    base = MEMORIES / kind.value
    try:
        listed = keep.vault.list_folder(keep.space, KEEPER, base)
    except NotFound:
        return []
    found: list[tuple[BookPath, ScopePage]] = []
    for item in listed:
        if item.stat.kind is not Kind.FOLDER:
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
