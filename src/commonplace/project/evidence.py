"""What proves that a folder is the project it claims to be.

A git remote, a marker and a path are only claims: a folder unpacked from an archive can name any of them, and a path
can be used again for another repository. A project therefore remembers, in its `_scope.md`, what its folders had that
others cannot have:

- `commits`: its root commit. Every full clone has it among its objects, whatever its remote is called.
- `markers`: hashes of the nonces of its markers.
- `places`: where its folders were, each with the time and inode of its `.git`, or the inode of a folder without one.
  This is for repositories that have no commit yet, and for those that a person adopted.

`matching` asks here on every way into a book, hooks included: no program is started and nothing is written.
`root_commit` has what a project learns about a new folder.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from commonplace.model.ids import short_hash
from commonplace.model.lazy import lazy
from commonplace.project.git import Repository, has_object
from commonplace.project.ids import path_id
from commonplace.vault.scope_pages import Evidence

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
        """Whether one of the project's commits is in the repository."""
        return bool(self.git_folder) and any(
            has_object(self.git_folder, commit) for commit in evidence.commits if COMMIT.fullmatch(commit)
        )

    def proves(self, claim: str, evidence: Evidence) -> bool:
        """Whether the folder, which claims a project by one of its ids, belongs to it."""
        if self.marker and self.marker in evidence.markers:
            return True
        if self.has_commit(evidence):
            return True
        is_same_folder = any(place in evidence.places for place in self.folder_places)
        if self.repository_place:
            # `git init` makes a repository of a folder; one that also has a remote may be a clone in its place.
            became_repository = is_same_folder and not has_repository(evidence) and not self.has_remote
            return self._is_same_repository(evidence) or became_repository
        # A folder without a repository is known by its path, unless the project was in a repository there.
        is_path = any(place.partition(" ")[2] == claim for place in self.folder_places)
        return is_same_folder or (is_path and not has_repository(evidence))

    def _is_same_repository(self, evidence: Evidence) -> bool:
        """Whether this very `.git` was seen before, here or where it was before it moved."""
        made = self.repository_place.partition(" ")[0]
        return any(place.partition(" ")[0] == made for place in evidence.places)

    def own_name(self) -> str:
        """Return a short hash that tells this folder from others that were at the same path."""
        return short_hash(self.repository_place or "".join(self.folder_places))


def has_repository(evidence: Evidence) -> bool:
    """Whether the project was seen in a git repository."""
    return bool(evidence.commits) or any(place.startswith("git-") for place in evidence.places)


def backing_of(
    repository: Repository | None, folders: tuple[str, ...], nonce: str | None, *, is_marker_known: bool
) -> Backing:
    """Return what a folder (`folders`: itself and the top of its repository) has to back its claims with."""
    places = [f"folder-{inode} {path_id(folder)}" for folder in folders if (inode := _inode(folder)) is not None]
    marker = short_hash(nonce, 32) if nonce else ""
    backing = Backing(folder_places=tuple(places), marker=marker, is_marker_known=is_marker_known)
    if repository is None or not repository.readable:
        return backing
    return backing._replace(
        git_folder=repository.git_folder,
        repository_place=f"git-{repository.made_at} {path_id(repository.tree)}",
        has_remote=repository.remote is not None,
    )


def _inode(folder: str) -> int | None:
    try:
        return os.stat(folder).st_ino
    except (OSError, ValueError):
        return None
