"""Which project's memories a folder gets: the one it claims to be, if it can prove that."""

from __future__ import annotations

from typing import NamedTuple

from commonplace.model.errors import Conflict
from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.identity import Identity
from commonplace.project.ids import path_id
from commonplace.vault.paths import KEEPER, scope_folder
from commonplace.vault.scope_pages import (
    ScopePage,
    VaultAndSpace,
    find_folder,
    list_scope_pages,
    read_scope_page,
)


class ProjectMatch(NamedTuple):
    """The project of a folder, after its claim was checked."""

    id: str
    stored_as: str  # the id under which its memories are stored; another than `id` after a rename
    unproved: str | None = None  # the project that the folder claims to be and could not prove to be


def match_project(keep: VaultAndSpace, identity: Identity) -> ProjectMatch:
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
    top = path_id(identity.root)
    own = f"{top}-{identity.backing.own_name()}"
    for claim in _claims_down_to(top, identity):
        other = find_page(keep, claim)
        if other is None or _is_proved(identity, claim, other):
            own = claim
            break
    return ProjectMatch(own, own, page.id)


def _claims_down_to(top: str, identity: Identity) -> tuple[str, ...]:
    """Return the other ids of a folder without those of subfolders: all of a repository is one project."""
    earlier = identity.earlier
    return earlier[: earlier.index(top) + 1] if top in earlier else ()


def find_page(keep: VaultAndSpace, project_id: str) -> ScopePage | None:
    """Return the page of the project that has an id, or had it before."""
    try:
        return read_scope_page(keep, find_folder(keep, Scope(ScopeKind.PROJECT, project_id)))
    except Conflict:
        return None


def _proved_earlier(keep: VaultAndSpace, identity: Identity) -> str | None:
    """Return the nearest earlier id of a folder under which it has memories, if they are its own."""
    pages = [page for _, page in list_scope_pages(keep, ScopeKind.PROJECT)]
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
