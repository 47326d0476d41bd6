"""Which project's memories a folder gets: the one it claims to be, if it proves that, or the one that it was before.

A claim is looked up first; this is all that happens in a folder that is known. A repository whose claim no project has
is compared with what every project remembers: if its `.git` was seen with a project, or has the project's root commit,
the remote was renamed, or the repository moved. It keeps its memories then, unless another folder still is that
project: two repositories with one history are a fork, and two projects.

What a folder may be, and does not prove to be, is named, so that a person can decide; see `verbs/project_change.py`.
Every way into a book asks here, hooks included: no program is started and nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError, Conflict
from commonplace.model.names import fold_name, short_hash
from commonplace.model.scope import LOCAL, Scope, ScopeKind
from commonplace.project.git import find_objects
from commonplace.project.identity import COMMIT, Backing, Identity, identify, path_id
from commonplace.state.port import State
from commonplace.text.naming import unquote_to_bytes
from commonplace.vault.paths import BookPath, scope_folder
from commonplace.vault.port import UNUSABLE, VaultHandle
from commonplace.vault.scope_pages import Evidence, ScopePage, find_folder, list_scope_pages, read_scope_page


class ProjectMatch(NamedTuple):
    """The project of a folder, after its claim was checked."""

    id: str
    stored_as: str  # the id under which its memories are stored; another than `id` after a rename
    hints: tuple[str, ...] = ()  # other projects that the folder claims to be, shares its history with, or was
    guesses: tuple[str, ...] = ()  # projects that it may be, by signs too weak to tell an agent
    proof: str = ""  # as `Backing.find_proof` says; "" for a folder that is new
    alias: str = ""  # another id that leads to the project from now on
    is_refused: bool = False  # whether the folder claims a project that it could not prove to be

    @property
    def unproved(self) -> str | None:
        """The first project that the folder may be and does not prove to be."""
        return self.hints[0] if self.hints else None


class KnownRepositories:
    """The root commits of the repositories on this machine, by the stamp of their `.git`, as the state remembers them.

    `ask_git` finds one that is not remembered; a hook has none.
    """

    def __init__(self, state: State | None, ask_git: Callable[[str], str | None] | None = None) -> None:
        self._state, self._ask_git = state, ask_git

    def has_seen(self, stamp: str) -> bool:
        """Return whether a `.git` was seen on this machine, and not only where the book was before."""
        return self._state is not None and self._state.get_fact(LOCAL, f"root/{stamp}") is not None

    def root_commit(self, backing: Backing) -> str | None:
        """Return the root commit of a folder's repository, None where it is not known."""
        if not backing.git_folder:
            return None
        name = f"root/{backing.stamp}"
        known = self._state.get_fact(LOCAL, name) if self._state is not None else None
        if known and find_objects(backing.git_folder, [known]):
            return known
        found = self._ask_git(backing.git_folder) if self._ask_git is not None else None
        if found and self._state is not None:
            with suppress(CommonplaceError):  # then it is asked again
                self._state.set_fact(LOCAL, name, found, lasting=False)
        return found


def match_project(files: VaultHandle, identity: Identity, repositories: KnownRepositories) -> ProjectMatch:
    """Return the project whose memories a folder gets.

    Nothing is taken over when the id was set by hand: a `COMMONPLACE_PROJECT=try-out` does not say that the project is
    now called that.
    """
    if identity.source == "override":
        return ProjectMatch(identity.id, identity.id)
    try:
        page = find_page(files, identity.id)
    except UNUSABLE:  # nothing can be proved to a page that cannot be read
        new = new_own_id(identity.root, identity.backing)
        return ProjectMatch(new, new, (identity.id,), is_refused=True)
    if page is not None:
        other = find_elsewhere(files, page, identity.backing)
        proof = "adopted" if other is not None else find_proof(identity, identity.id, page)
        if proof:
            own = other or page
            return ProjectMatch(own.id, own.id, _find_related(files, own) if own.related else (), proof=proof)
    elif files.stat(scope_folder(Scope(ScopeKind.PROJECT, identity.id))) is not None:
        return ProjectMatch(identity.id, identity.id)
    pages = list_pages(files)
    return _match_known(identity, pages, repositories) if page is None else _refuse(identity, page, pages, repositories)


def project_folder(files: VaultHandle, project_id: str) -> BookPath:
    """Return the folder of a project. Raises Conflict as `find_folder` does."""
    return find_folder(files, Scope(ScopeKind.PROJECT, project_id))


def list_pages(files: VaultHandle) -> list[ScopePage]:
    """Return the pages of all projects."""
    return [page for _, page in list_scope_pages(files, ScopeKind.PROJECT)]


def find_page(files: VaultHandle, project_id: str) -> ScopePage | None:
    """Return the page of the project that has an id, or had it before."""
    try:
        return read_scope_page(files, project_folder(files, project_id))
    except Conflict:
        return None


def find_elsewhere(files: VaultHandle, page: ScopePage, backing: Backing) -> ScopePage | None:
    """Return the project that a person gave a folder to, though it claims the one that `page` is about."""
    chosen = [ident for stamp, _, ident in (item.partition(" ") for item in page.elsewhere) if stamp == backing.stamp]
    return find_page(files, chosen[-1]) if chosen else None


def _find_related(files: VaultHandle, page: ScopePage) -> tuple[str, ...]:
    """Return the projects that a page names as related, without those that are gone or part of this one by now."""
    found = [find_page(files, ident) for ident in page.related or ()]
    return tuple(other.id for other in found if other is not None and other.id != page.id)


def find_proof(identity: Identity, claim: str, page: ScopePage) -> str:
    """Return what proves that a folder is the project that a page is about, which it claims to be by one of its ids."""
    if page.evidence is not None:
        return identity.backing.find_proof(claim, page.evidence)
    # The page is from an earlier version. Its first folder is believed, but for a marker that was never seen here, and
    # for a path that was another remote's.
    if identity.source == "marker" and claim == identity.id:
        return "marker" if identity.backing.is_marker_known else ""
    return "first" if claim == page.id or identity.source != "remote" else ""


def find_others(pages: Sequence[ScopePage], own: ScopePage, backing: Backing) -> list[str]:
    """Return the other projects that a folder was seen in: it may have stored memories there."""
    places = (backing.repository_place,) if backing.repository_place else backing.folder_places
    return [
        page.id
        for page in pages
        if page.id != own.id
        and page.evidence is not None
        and (backing.stamp in page.evidence.stamps or not set(places).isdisjoint(page.evidence.places))
    ]


def find_kin(pages: Sequence[ScopePage], own: ScopePage) -> list[str]:
    """Return the other projects with the same root commit as one, or the same name in other letter case."""
    names, commits = {fold_name(ident) for ident in own.ids}, _evidence(own).commits
    return [
        page.id
        for page in pages
        if page.id != own.id
        and (not names.isdisjoint(map(fold_name, page.ids)) or not set(commits).isdisjoint(_evidence(page).commits))
    ]


def _match_known(identity: Identity, pages: Sequence[ScopePage], repositories: KnownRepositories) -> ProjectMatch:
    """Return the project that a folder was under another id; one of its own if it was none."""
    ident, backing = identity.id, identity.backing
    for page in pages:
        alike = [other for other in page.ids if fold_name(other) == fold_name(ident)]
        if alike and (proof := find_proof(identity, alike[0], page)):
            return ProjectMatch(page.id, page.id, page.related or (), proof=proof, alias=ident)
    before, maybe, proof = _find_by_evidence(backing, pages, repositories)
    claims = ((page, claim) for claim in identity.earlier for page in pages if claim in page.ids)
    proved = ((page, proof) for page, claim in claims if (proof := find_proof(identity, claim, page)))
    claimed, claim_proof = next(proved, (None, ""))
    if claimed is not None and before in (None, claimed):
        others = [page.id for page in maybe if page.id != claimed.id and backing.stamp in _evidence(page).stamps]
        hints = tuple(dict.fromkeys((*(claimed.related or ()), *others)))
        return ProjectMatch(ident, claimed.id, hints, proof=claim_proof)
    if before is None:
        guesses = () if maybe else _guess(backing, pages)
        return ProjectMatch(ident, ident, tuple(page.id for page in maybe), guesses)
    hints = before.related or ()
    # A repository that lost its remote or marker is still called by it.
    is_named = before.evidence is not None and before.id not in before.evidence.paths
    if is_named and identity.source in ("repository", "folder"):
        return ProjectMatch(before.id, before.id, hints, proof=proof, alias=ident)
    return ProjectMatch(ident, before.id, hints, proof=proof)


def _refuse(
    identity: Identity, page: ScopePage, pages: Sequence[ScopePage], repositories: KnownRepositories
) -> ProjectMatch:
    """Return the project of a folder that claims to be another's: the one that it was before, or one of its own."""
    before, maybe, proof = _find_by_evidence(identity.backing, pages, repositories)
    if before is None:
        own = _own_id(identity, pages)
        before = next((other for other in pages if own in other.ids), None)
    else:
        own = before.id
    # A path that was another project's says little, if that project is elsewhere now.
    is_reused = identity.source in ("repository", "folder") and _is_in_use(page, identity.backing)
    others = [*maybe, *([] if is_reused else [page])]
    hints = tuple(dict.fromkeys(other.id for other in reversed(others) if own not in other.ids))
    if before is not None and before.related is not None:
        hints = before.related
    return ProjectMatch(own, own, hints, proof=proof, is_refused=True)


def _own_id(identity: Identity, pages: Sequence[ScopePage]) -> str:
    """Return the id of a project that no other folder has."""
    top, earlier, backing = path_id(identity.root), identity.earlier, identity.backing
    # Not the ids of subfolders: all of a repository is one project.
    for claim in earlier[: earlier.index(top) + 1] if top in earlier else ():
        other = next((page for page in pages if claim in page.ids), None)
        if other is None or find_proof(identity, claim, other):
            return claim
    return new_own_id(identity.root, backing)


def new_own_id(root: str, backing: Backing) -> str:
    """Return an id for a folder whose path may be another project's name."""
    return f"{path_id(root)}-{short_hash(backing.repository_place or ''.join(backing.folder_places))}"


def _find_by_evidence(
    backing: Backing, pages: Sequence[ScopePage], repositories: KnownRepositories
) -> tuple[ScopePage | None, list[ScopePage], str]:
    """Return the project that a repository was before its remote or path changed, else those that it may be; and what
    tells that."""
    if not backing.repository_place:
        return None, [], ""
    known = [page for page in pages if page.evidence is not None]
    same = [page for page in known if backing.is_dated and backing.stamp in _evidence(page).stamps]
    if same:
        if len(same) == 1 and not (backing.has_remote and _is_in_use(same[0], backing)):
            return same[0], [], "git"
        return None, same, ""
    commits = {commit for page in known for commit in _evidence(page).commits if COMMIT.fullmatch(commit)}
    held = find_objects(backing.git_folder, commits) if backing.git_folder else set[str]()
    shared = [page for page in known if not held.isdisjoint(_evidence(page).commits)]
    if len(shared) == 1 and not _is_in_use(shared[0], backing):
        evidence = _evidence(shared[0])
        is_local = any(map(repositories.has_seen, evidence.stamps))
        # Having the commit is not enough: a fetch or a merge can bring another project's history along.
        if is_local and repositories.root_commit(backing) in evidence.commits:
            return shared[0], [], "commit"
    return None, shared, ""


def _evidence(page: ScopePage) -> Evidence:
    return page.evidence or Evidence()


def _is_in_use(page: ScopePage, backing: Backing) -> bool:
    """Return whether another folder of this machine still is the project."""
    names = {fold_name(ident) for ident in page.ids}
    evidence = _evidence(page)
    for path in evidence.paths:
        if path == backing.path:
            continue
        try:
            other = identify(os.fsdecode(unquote_to_bytes(path.encode())))
        except (CommonplaceError, ValueError):
            continue
        is_seen = other.backing.stamp in evidence.stamps
        claims = fold_name(other.id) in names or (is_seen and not other.backing.has_remote)
        if claims and other.backing.path == path and (is_seen or other.backing.has_commit(evidence)):
            return True
    return False


def _guess(backing: Backing, pages: Sequence[ScopePage]) -> tuple[str, ...]:
    """Return the projects that a folder may be by its inode or, after a move to another disk, the time of its `.git`.

    Both can be another's, so this is only for a person to read.
    """
    stamps = {place.partition(" ")[0] for place in backing.folder_places}
    time = backing.stamp.rpartition("-")[0] if backing.repository_place else ""
    found = []
    for page in pages:
        for place in _evidence(page).places:
            stamp, _, path = place.partition(" ")
            if backing.repository_place:
                is_alike = time not in ("", "git", "git-0") and stamp.rpartition("-")[0] == time
            else:
                is_alike = stamp in stamps and (place in backing.folder_places or not os.path.exists(path))
            if is_alike and page.id not in found:
                found.append(page.id)
    return tuple(found)
