"""Which project a folder belongs to, and whether the folder can prove it. The first that answers:

1. an override, which the user gave;
2. the remote of its git repository: the same for every clone, by whatever address (see ids);
3. a marker, `.commonplace/project.json` with {"id": ..., "nonce": ...}, that the user put at the top of a repository
   or of a folder that is none: it goes with the folder when that moves. The caller remembers where each nonce was seen;
   if it is still there too, this folder is a copy, and a project of its own;
4. the main working tree of the repository, also for its other worktrees and for its subfolders;
5. the folder.

What cannot be read answers nothing, and the next rule does. An identity is only a claim: a folder unpacked from an
archive can name any remote, marker or path, and a path can be used again for another repository. A project therefore
remembers, in its `_scope.md`, what its folders had that others cannot have, and `match_project` asks for that:

- `commits`: its root commit. Every full clone has it among its objects, whatever its remote is called.
- `markers`: hashes of the nonces of its markers.
- `places`: where its folders were, each with the time and inode of its `.git`, or the inode of a folder without one.
  This is for repositories that have no commit yet, and for those that a person adopted.

Every way into a book asks here, hooks included: no program is started and nothing is written. `root_commit` has what a
project learns about a new folder.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeGuard

from commonplace.model.errors import Conflict, InvalidScope
from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash
from commonplace.model.scope import LOCAL, Scope, ScopeKind
from commonplace.model.settings import Settings
from commonplace.project.git import find_repository, has_object, read_bytes, upward
from commonplace.project.ids import MAX_ID, path_id, remote_id
from commonplace.state.port import State
from commonplace.vault.paths import scope_folder
from commonplace.vault.port import UNUSABLE, VaultHandle
from commonplace.vault.scope_pages import (
    Evidence,
    ScopePage,
    find_folder,
    list_scope_pages,
    read_scope_page,
)

MARKER = (".commonplace", "project.json")
_MAX_MARK = 200  # characters of a marker's id, and of its nonce
_KnownPath = Callable[[str], str | None]
"""Returns where a marker's nonce was seen before."""
COMMIT = lazy(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Backing(NamedTuple):
    """What a folder has to back its claims with."""

    git_folder: str = ""  # the real path of the git folder that the working tree belongs to; "" without one
    repository_place: str = ""  # where the working tree is, with the time its `.git` was made; "" without one
    has_remote: bool = False
    folder_places: tuple[str, ...] = ()  # the folder, and the top of its repository, each with its inode
    marker: str = ""  # the hash of its marker's nonce; "" without one, and for a copy of a marked folder
    is_marker_known: bool = False  # whether this machine has seen the marker before

    def has_commit(self, evidence: Evidence) -> bool:
        """Return whether one of the project's commits is in the repository."""
        return bool(self.git_folder) and any(
            has_object(self.git_folder, commit) for commit in evidence.commits if COMMIT.fullmatch(commit)
        )

    def proves(self, claim: str, evidence: Evidence) -> bool:
        """Return whether the folder, which claims a project by one of its ids, belongs to it."""
        if (self.marker and self.marker in evidence.markers) or self.has_commit(evidence):
            return True
        is_same_folder = any(place in evidence.places for place in self.folder_places)
        had_repository = bool(evidence.commits) or any(place.startswith("git-") for place in evidence.places)
        if self.repository_place:
            # This very `.git` may have been seen before, here or where it was before it moved.
            made = self.repository_place.partition(" ")[0]
            is_same_repository = any(place.partition(" ")[0] == made for place in evidence.places)
            # `git init` makes a repository of a folder; one that also has a remote may be a clone in its place.
            return is_same_repository or (is_same_folder and not had_repository and not self.has_remote)
        # A folder without a repository is known by its path, unless the project was in a repository there.
        is_path = any(place.partition(" ")[2] == claim for place in self.folder_places)
        return is_same_folder or (is_path and not had_repository)


class Identity(NamedTuple):
    """The project of a folder."""

    id: str
    source: str  # override, remote, marker, repository or folder
    root: str  # the real path of the folder it was found at
    earlier: tuple[str, ...] = ()  # what the folder answered to before, or would if the source were gone; nearest first
    backing: Backing = Backing()  # what the folder can prove its claims with
    new_marker: tuple[str, str] | None = None  # nonce and path of a marker that this machine should remember


class _MarkerState(NamedTuple):
    """What the marker of a folder means there."""

    id: str
    nonce: str | None  # None in a copy of the folder that was marked
    known: str | None  # where the caller has seen it before
    earlier: tuple[str, ...]


def identify(
    folder: str | os.PathLike[str], *, override: str | None = None, known_path: _KnownPath | None = None
) -> Identity:
    """Return the project that a folder belongs to.

    Raises InvalidScope if there is no such folder, and for an override that is no id.
    """
    here = _real_folder(folder)
    repository = find_repository(here)
    marked_folders = (place for place in upward(here) if os.path.isfile(os.path.join(place, *MARKER)))
    root = repository.tree if repository else next(marked_folders, None)
    remote = remote_id(repository.remote, repository.tree) if repository and repository.remote else None
    marked = _read_mark(root, known_path) if root else None

    answers: list[tuple[str, str, str]] = []  # id, source and root of an identity
    given = unicodedata.normalize("NFC", (override or "").strip())
    if len(given) > MAX_ID or not given.isprintable():  # a wrong word of the user's must not lead to another project
        raise InvalidScope(f"The project that was set is no id: one has at most {MAX_ID:,} printable characters.")
    if given:
        answers.append((given, "override", here))
    if repository and remote:
        answers.append((remote, "remote", repository.tree))
    # A marker that came with a clone, and that was not seen here before, must not claim what another marked folder has
    # stored: beside a remote only a known one counts.
    nonce, new_marker = None, None
    if root and marked and not (remote and (marked.known is None or marked.nonce is None)):
        answers.append((marked.id, "marker", root))
        nonce = marked.nonce
        if len(answers) == 1 and nonce is not None and marked.known != root:
            new_marker = (nonce, root)
    if repository:
        source = "repository" if repository.readable else "folder"
        answers.append((path_id(repository.tree), source, repository.tree))
    elif root and marked:
        answers.append((path_id(root), "folder", root))
    answers.append((path_id(here), "folder", here))

    ident, source, found_at = answers[0]
    others = [answer[0] for answer in answers[1:]]
    if marked and source == "marker":
        others = [*marked.earlier, *others]
    earlier = tuple(other for other in dict.fromkeys(others) if other != ident)
    places = []
    for place in dict.fromkeys((here, root or here)):
        with suppress(OSError, ValueError):
            places.append(f"folder-{os.stat(place).st_ino} {path_id(place)}")
    backing = Backing(
        folder_places=tuple(places),
        marker=short_hash(nonce, 32) if nonce else "",
        is_marker_known=marked is not None and marked.known is not None,
    )
    if repository and repository.readable:
        backing = backing._replace(
            git_folder=repository.git_folder,
            repository_place=f"git-{repository.made_at} {path_id(repository.tree)}",
            has_remote=repository.remote is not None,
        )
    return Identity(ident, source, found_at, earlier, backing, new_marker)


def _real_folder(folder: str | os.PathLike[str]) -> str:
    try:
        real = os.path.realpath(folder)
        if os.path.isdir(real):
            return real
    except (OSError, ValueError):
        pass
    raise InvalidScope("The folder whose project was asked for does not exist.", hint="Name a folder that exists.")


def _read_mark(root: str, known_path: _KnownPath | None) -> _MarkerState | None:
    """Return what the marker of a folder means: its id, or for a copy another, made from the id and the real path."""
    marker = _read_marker(root)
    if marker is None:
        return None
    ident, nonce = marker
    copy_id = f"{ident}-{short_hash(path_id(root))}"
    known = known_path(nonce) if known_path is not None else None
    if known is None or os.path.realpath(known) == root:
        return _MarkerState(ident, nonce, known, earlier=(copy_id,))
    other = _read_marker(known)
    if other is not None and other[1] == nonce:
        return _MarkerState(copy_id, None, known, earlier=())
    before = () if os.path.lexists(known) else (path_id(known),)  # what is there now may be another's
    return _MarkerState(ident, nonce, known, earlier=(copy_id, *before))


def _read_marker(root: str) -> tuple[str, str] | None:
    """Return the id and the nonce of the marker in a folder; None when there is none that can be used."""
    data = read_bytes(os.path.join(root, *MARKER))
    try:
        said = json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    ident, nonce = said.get("id"), said.get("nonce")
    # An id with a slash could be a repository's or a folder's.
    if not _is_mark(ident) or not _is_mark(nonce) or "/" in ident or "\\" in ident:
        return None
    return unicodedata.normalize("NFC", ident), nonce


def _is_mark(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= _MAX_MARK and value.isprintable() and value == value.strip()


def identify_caller(
    state: State | None, settings: Settings, root: str, cwd: str | os.PathLike[str] | None
) -> Identity | None:
    """Return the project that the caller's folder claims to be; None when nothing says so."""
    if settings.sealed or (settings.project is None and cwd is None):
        return None
    known_path = None if state is None else lambda nonce: state.get_fact(LOCAL, f"marker/{nonce}")
    return identify(cwd if cwd is not None else root, override=settings.project, known_path=known_path)


class ProjectMatch(NamedTuple):
    """The project of a folder, after its claim was checked."""

    id: str
    stored_as: str  # the id under which its memories are stored; another than `id` after a rename
    unproved: str | None = None  # the project that the folder claims to be and could not prove to be


def match_project(files: VaultHandle, identity: Identity) -> ProjectMatch:
    """Return the project whose memories a folder gets: the one it claims to be, if it can prove that.

    A folder that cannot is a project of its own. Nothing is taken over when the id was set by hand: a
    `COMMONPLACE_PROJECT=try-out` does not say that the project is now called that.
    """
    if identity.source == "override":
        return ProjectMatch(identity.id, identity.id)
    try:
        page = find_page(files, identity.id)
    except UNUSABLE:  # nothing can be proved to a page that cannot be read
        own = _own_id(identity)
        return ProjectMatch(own, own, identity.id)
    if page is None:
        stat = files.stat(scope_folder(Scope(ScopeKind.PROJECT, identity.id)))
        proved = _proved_earlier(files, identity) if stat is None else None
        return ProjectMatch(identity.id, proved or identity.id)
    if _is_proved(identity, identity.id, page):
        return ProjectMatch(identity.id, identity.id)
    top, earlier = path_id(identity.root), identity.earlier
    own = _own_id(identity)
    # Not the ids of subfolders: all of a repository is one project.
    for claim in earlier[: earlier.index(top) + 1] if top in earlier else ():
        with suppress(*UNUSABLE):
            other = find_page(files, claim)
            if other is None or _is_proved(identity, claim, other):
                own = claim
                break
    return ProjectMatch(own, own, page.id)


def _own_id(identity: Identity) -> str:
    """Return the id of a folder that is a project of its own, because it cannot prove to be the one it claims to be."""
    backing = identity.backing
    place = backing.repository_place or "".join(backing.folder_places)
    return f"{path_id(identity.root)}-{short_hash(place)}"


def find_page(files: VaultHandle, project_id: str) -> ScopePage | None:
    """Return the page of the project that has an id, or had it before."""
    try:
        return read_scope_page(files, find_folder(files, Scope(ScopeKind.PROJECT, project_id)))
    except Conflict:
        return None


def _proved_earlier(files: VaultHandle, identity: Identity) -> str | None:
    """Return the nearest earlier id of a folder under which it has memories, if they are its own."""
    pages = list_scope_pages(files, ScopeKind.PROJECT)
    proved = (
        claim
        for claim in identity.earlier
        for _, page in pages
        if claim in (page.id, *page.aliases) and _is_proved(identity, claim, page)
    )
    return next(proved, None)


def _is_proved(identity: Identity, claim: str, page: ScopePage) -> bool:
    """Return whether a folder is the project that a page is about, which it claims to be by one of its ids."""
    if page.evidence is not None:
        return identity.backing.proves(claim, page.evidence)
    # The page is from an earlier version. Its first folder is believed, but for a marker that was never seen here, and
    # for a path that was another remote's.
    if identity.source == "marker" and claim == identity.id:
        return identity.backing.is_marker_known
    return claim == page.id or identity.source != "remote"
