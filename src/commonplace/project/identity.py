"""Which project a folder belongs to, and whether the folder can prove it. The first that answers:

1. an override, which the user gave;
2. the remote of its git repository: the same for every clone, by whatever address;
3. a marker, `.commonplace/project.json` with {"id": ..., "nonce": ...}, that the user put at the top of a repository
   or of a folder that is none: it goes with the folder when that moves. The caller remembers where each nonce was seen;
   if it is still there too, this folder is a copy, and a project of its own;
4. the main working tree of the repository, also for its other worktrees and for its subfolders;
5. the folder.

What cannot be read answers nothing, and the next rule does. An identity is only a claim: a folder unpacked from an
archive can name any remote, marker or path, and a path can be used again for another repository. A project therefore
remembers, in its `_scope.md`, what its folders had that others cannot have, and `matching` asks for that:

- `commits`: its root commit. Every full clone has it among its objects, whatever its remote is called.
- `markers`: hashes of the nonces of its markers.
- `places`: where its folders were, each with the time and inode of its `.git`, or the inode of a folder without one.
  This is for repositories that have no commit yet, and for those that a person adopted.

Every way into a book asks here, hooks included: no program is started and nothing is written. `root_commit` has what a
project learns about a new folder.

A project has one id, however its address is written:

    https://user:token@GitHub.com:443/acme/app.git/     ssh://git@github.com/acme/app      git@github.com:acme/app.git

are all `github.com/acme/app`. Nothing of a user name or password is ever part of an id. An id is printable whatever the
path was: what is not, and `%`, is written as `%XX`.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeGuard

from commonplace.model.errors import InvalidScope
from commonplace.model.lazy import lazy
from commonplace.model.names import fold_name, short_hash
from commonplace.model.scope import LOCAL
from commonplace.model.settings import Settings
from commonplace.project.git import find_objects, find_repository, read_bytes, upward
from commonplace.state.port import State
from commonplace.text.naming import unquote_to_bytes
from commonplace.vault.scope_pages import Evidence

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

    @property
    def stamp(self) -> str:
        """What tells its `.git`, or the folder where it has none, from any other; "" for a folder that is gone."""
        return (self.repository_place or "".join(self.folder_places[-1:])).partition(" ")[0]

    @property
    def is_dated(self) -> bool:
        """Whether the stamp of its `.git` has a time in it: an inode alone can be used again."""
        return self.repository_place != "" and not self.stamp.startswith("git-0-")

    @property
    def path(self) -> str:
        """Where its repository is, as `path_id` writes it; "" without one."""
        return self.repository_place.partition(" ")[2]

    def has_commit(self, evidence: Evidence) -> bool:
        """Return whether one of the project's commits is in the repository."""
        commits = filter(COMMIT.fullmatch, evidence.commits)
        return bool(self.git_folder) and bool(find_objects(self.git_folder, commits))

    def find_proof(self, claim: str, evidence: Evidence) -> str:
        """Return what proves that the folder, which claims a project by one of its ids, belongs to it.

        One of: marker, commit, git (its `.git` was seen before) and folder; "" if nothing does.
        """
        if self.marker and self.marker in evidence.markers:
            return "marker"
        if self.has_commit(evidence):
            return "commit"
        is_same_folder = any(place in evidence.places for place in self.folder_places)
        had_repository = bool(evidence.commits or evidence.stamps)
        if self.repository_place:
            # This very `.git` may have been seen before, here or where it was before it moved.
            if self.stamp in evidence.stamps and (self.is_dated or not evidence.commits):
                return "git"
            # `git init` makes a repository of a folder; one that also has a remote may be a clone in its place.
            return "folder" if is_same_folder and not had_repository and not self.has_remote else ""
        # A folder without a repository is known by its path, unless the project was in a repository there.
        is_path = any(place.partition(" ")[2] == claim for place in self.folder_places)
        return "folder" if is_same_folder or (is_path and not had_repository) else ""


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


# Ids

MAX_ID = 1_000  # a scope's
_MAX_ADDRESS = 4_000
_URL = lazy(r"([a-z][a-z0-9+.-]*+)://(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_HELPER = lazy(r"[a-z0-9]++::(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_DRIVE = lazy(r"/?[a-z]:[/\\]", re.IGNORECASE | re.ASCII)
_SCP = lazy(r"(?:[^/\[]*@)?(\[[^/\]]*\]|[^/:@\[\]]+):(.*)", re.DOTALL)
_HOST = lazy(r"(\[[0-9a-f:.]+\]|[^:@/\[\]?#\\]+)(?::([0-9]{0,5}))?", re.IGNORECASE | re.ASCII)
_PORTS = {"http": 80, "https": 443, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418, "ftp": 21, "ftps": 990}


def remote_id(address: str, base: str) -> str | None:
    """Return the id of the project that an address leads to; None when it leads to none that could be named.

    A path, as an address, is the id of that folder; `base` is where a relative one starts.
    """
    address = address.strip()
    if not address or len(address) > _MAX_ADDRESS or "\0" in address:
        return None
    helper = _HELPER.fullmatch(address)
    if helper:  # hg::https://... has an address; ext::COMMAND has none
        return normalise(helper[1]) if _URL.fullmatch(helper[1]) else None
    url = _URL.fullmatch(address)
    if url and url[1].lower() == "file":
        path = _decoded(url[2])
        return _local_id(path if path.startswith("/") or _DRIVE.match(path) else f"//{path}", base)
    if url or (_SCP.fullmatch(address) and not _DRIVE.match(address)):
        return normalise(address)
    return _local_id(address, base)


def normalise(address: str) -> str | None:
    """Return host/path of a URL or of git@host:path; None for anything else."""
    url = _URL.fullmatch(address)
    if url:
        scheme, rest = url[1].lower(), url[2]
        if scheme in ("http", "https"):
            rest = re.split("[?#]", rest, maxsplit=1)[0]
        authority, _, path = rest.partition("/")
        path = _decoded(path)
    else:
        scp = _SCP.fullmatch(address)
        if not scp:
            return None
        scheme, authority, path = "ssh", scp[1], unicodedata.normalize("NFC", scp[2])
        if authority.count(":") < 2:  # [git@host:port]:path, and no IPv6 address
            authority = authority.strip("[]")
    host = _host(authority.rpartition("@")[2], scheme)
    path = _tidy(path)
    # An @ inside a name may be the end of a password with a / in it, which no URL can hold.
    if not host or not path or re.search("[^/]@", path):
        return None
    found = f"{host}/{escaped(path)}"
    return found if len(found) <= MAX_ID else None


def path_id(path: str) -> str:
    """Return the id of a folder: its real path with `/`, in one Unicode form."""
    found = escaped(unicodedata.normalize("NFC", path.replace(os.sep, "/")))
    return found if len(found) <= MAX_ID else f"{short_hash(found, 32)}/{found[-200:]}"


def escaped(text: str) -> str:
    """Return a text as a scope's id can hold it: printable, and no two texts alike."""
    return "".join(ch if ch.isprintable() and ch != "%" else _percent(ch) for ch in text)


def _percent(char: str) -> str:
    escape = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", escape))


def _decoded(text: str) -> str:
    data = unquote_to_bytes(text.encode("utf-8", "surrogateescape"))
    return unicodedata.normalize("NFC", data.decode("utf-8", "surrogateescape"))


def _host(authority: str, scheme: str) -> str | None:
    match = _HOST.fullmatch(authority)
    if not match or not authority.isprintable() or " " in authority or "%" in authority:
        return None
    host, port = fold_name(match[1]).rstrip("."), int(match[2] or 0)
    if not host or port > 65_535:
        return None
    return f"{host}:{port}" if port and port != _PORTS.get(scheme) else host


def _tidy(path: str) -> str:
    """Return a path without empty and dot names, without slashes around it, without `.git` behind it."""
    before = None
    while path != before:
        before, path = path, posixpath.normpath("/" + path.strip("/")).removesuffix(".git")
    return path.strip("/")


def _local_id(path: str, base: str) -> str | None:
    if "\0" in path:
        return None
    if _DRIVE.match(path) and os.sep == "/":  # seen from another system: a name is all it can be
        return path_id(_tidy(path.replace("\\", "/"))) or None
    try:
        real = os.path.realpath(os.path.join(base, path.lstrip("/") if _DRIVE.match(path) else path))
    except (OSError, ValueError):
        return None
    return path_id(real.removesuffix(".git").rstrip("/\\") or real)
