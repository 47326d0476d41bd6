"""Which project a folder belongs to. The first that answers:

1. an override, which the user gave;
2. the remote of its git repository: the same for every clone, by whatever address (see ids);
3. a marker, `.commonplace/project.json` with {"id": ..., "nonce": ...}, that the user put at the top of a repository
   or of a folder that is none: it goes with the folder when that moves. Who asks remembers where each nonce was seen;
   if it is still there too, this folder is a copy, and a project of its own;
4. the main working tree of the repository, also for its other worktrees and for its subfolders;
5. the folder.

Nothing is written and no program is started. What cannot be read answers nothing, and the next rule does. An identity
is a claim: `matching` believes it only if the folder can prove it (see evidence).
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from commonplace.model.errors import InvalidScope
from commonplace.model.ids import short_hash
from commonplace.model.lazy import Log
from commonplace.model.scope import LOCAL
from commonplace.model.settings import Settings
from commonplace.project.evidence import Backing, backing_of
from commonplace.project.git import Repository, find_repository, read_bytes, upward
from commonplace.project.ids import MAX_ID, path_id, remote_id
from commonplace.state.port import State

log = Log("commonplace.project")
MARKER = (".commonplace", "project.json")
_MAX_MARK = 200  # characters of a marker's id, and of its nonce
_Answer = tuple[str, str, str]  # id, source and root of an identity


class Identity(NamedTuple):
    """The project of a folder."""

    id: str
    source: str  # override, remote, marker, repository or folder
    root: str  # the real path of the folder it was found at
    earlier: tuple[str, ...] = ()  # what the folder answered to before, or would if the source were gone; nearest first
    notes: tuple[str, ...] = ()  # sentences for a person: what was passed over, and why
    backing: Backing = Backing()  # what the folder can prove its claims with
    new_marker: tuple[str, str] | None = None  # nonce and path of a marker that this machine should remember


class _Marker(NamedTuple):
    id: str
    nonce: str


class _MarkerState(NamedTuple):
    """What a marker says of the folder it is in."""

    id: str
    nonce: str
    known: str | None  # where who asks has seen it before
    copy: bool
    earlier: tuple[str, ...]


def _never_seen(nonce: str) -> str | None:  # noqa: ARG001 - the default of a callable
    return None


def identify(
    folder: str | os.PathLike[str],
    *,
    override: str | None = None,
    known_path: Callable[[str], str | None] = _never_seen,
) -> Identity:
    """The project that a folder belongs to. Raises InvalidScope for no folder, and for an override that is no id."""
    here = _real_folder(folder)
    repository = find_repository(here)
    root = repository.tree if repository else _marked_folder(here)
    remote = remote_id(repository.remote, repository.tree) if repository and repository.remote else None
    notes: list[str] = []
    marked = _read_mark(root, known_path, notes) if root else None

    answers: list[_Answer] = []
    if override is not None and override.strip():
        answers.append((_checked_override(override), "override", here))
    if repository and remote:
        answers.append((remote, "remote", repository.tree))
    elif repository and repository.remote:
        notes.append("The address of the git remote names no project.")
    # A marker that came with a clone, and that nobody here has seen before, must not claim what another marked folder
    # has stored: beside a remote only a known one counts.
    nonce, new_marker = None, None
    if root and marked and not (remote and (marked.known is None or marked.copy)):
        answers.append((marked.id, "marker", root))
        nonce = None if marked.copy else marked.nonce
        if len(answers) == 1 and not marked.copy and marked.known != root:
            new_marker = (marked.nonce, root)
    answers += _paths(here, root, repository, marked)

    ident, source, found_at = answers[0]
    others = [answer[0] for answer in answers[1:]]
    if marked and source == "marker":
        others = [*marked.earlier, *others]
        if marked.copy:
            notes.append("The marker is also where it was seen before: this folder is a copy, with an id of its own.")
    if repository and not repository.readable:
        notes.append("The .git file here leads to no repository.")
    log.debug("event=project_identified source=%s earlier=%d notes=%d", source, len(others), len(notes))
    is_known = marked is not None and marked.known is not None
    backing = backing_of(repository, tuple(dict.fromkeys((here, root or here))), nonce, is_marker_known=is_known)
    return Identity(ident, source, found_at, _once(others, ident), tuple(notes), backing, new_marker)


def _real_folder(folder: str | os.PathLike[str]) -> str:
    try:
        real = os.path.realpath(os.fspath(folder))
        exists = os.path.isdir(real)
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise InvalidScope("The folder whose project was asked for does not exist.", hint="Name a folder that exists.")
    return real


def _checked_override(override: str) -> str:
    ident = unicodedata.normalize("NFC", override.strip())
    if len(ident) > MAX_ID or not ident.isprintable():  # a wrong word of the user's must not lead to another project
        raise InvalidScope(f"The project that was set is no id: one has at most {MAX_ID:,} printable characters.")
    return ident


def _paths(here: str, root: str | None, repository: Repository | None, marked: _MarkerState | None) -> list[_Answer]:
    """What a folder is called by where it is: its repository, and itself."""
    found: list[_Answer] = []
    if repository:
        source = "repository" if repository.readable else "folder"
        found.append((path_id(repository.tree), source, repository.tree))
    elif root and marked:
        found.append((path_id(root), "folder", root))
    return [*found, (path_id(here), "folder", here)]


def _marked_folder(here: str) -> str | None:
    """The nearest folder with a marker, where there is no repository."""
    return next((place for place in upward(here) if os.path.isfile(os.path.join(place, *MARKER))), None)


def _read_mark(root: str, known_path: Callable[[str], str | None], notes: list[str]) -> _MarkerState | None:
    """What the marker of a folder says there: its id, or for a copy another, made from the id and the real path."""
    marker = _marker(root, notes)
    if marker is None:
        return None
    copy_id = f"{marker.id}-{short_hash(path_id(root))}"
    known = known_path(marker.nonce)
    if known is None or _same_place(known, root):
        return _MarkerState(marker.id, marker.nonce, known, copy=False, earlier=(copy_id,))
    other = _marker(known, [])
    if other is not None and other.nonce == marker.nonce:
        return _MarkerState(copy_id, marker.nonce, known, copy=True, earlier=())
    before = () if os.path.lexists(known) else (path_id(known),)  # what is there now may be somebody else's
    return _MarkerState(marker.id, marker.nonce, known, copy=False, earlier=(copy_id, *before))


def _marker(root: str, notes: list[str]) -> _Marker | None:
    """The marker in a folder; None when there is none, or none that can be used: then a note says why."""
    data = read_bytes(os.path.join(root, *MARKER))
    if data is None:
        return None
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        notes.append("The marker was passed over: it is not JSON.")
        return None
    ident, nonce = (said.get("id"), said.get("nonce")) if isinstance(said, dict) else (None, None)
    if not isinstance(ident, str) or not isinstance(nonce, str) or not _is_mark(ident) or not _is_mark(nonce):
        notes.append(f"The marker was passed over: id and nonce must be 1 to {_MAX_MARK} printable characters.")
        return None
    if "/" in ident or "\\" in ident:
        notes.append("The marker was passed over: an id with a slash could be a repository's or a folder's.")
        return None
    return _Marker(unicodedata.normalize("NFC", ident), nonce)


def _is_mark(text: str) -> bool:
    return 0 < len(text) <= _MAX_MARK and text.isprintable() and text == text.strip()


def _same_place(one: str, other: str) -> bool:
    try:
        return os.path.realpath(one) == other
    except (OSError, ValueError):
        return False


def _once(idents: Iterable[str], but: str) -> tuple[str, ...]:
    return tuple(ident for ident in dict.fromkeys(idents) if ident != but)


def identify_caller(
    state: State | None, settings: Settings, root: str, cwd: str | os.PathLike[str] | None
) -> Identity | None:
    """Return the project that the caller's folder claims to be; None when nothing says so."""
    if settings.sealed or (settings.project is None and cwd is None):
        return None
    place = cwd if cwd is not None else root
    if state is None:
        return identify(place, override=settings.project)
    return identify(
        place,
        override=settings.project,
        known_path=lambda nonce: state.get_fact(LOCAL, f"marker/{nonce}"),
    )
