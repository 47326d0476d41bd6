"""What a project learns about a folder of its own, so that it knows the folder again.

Called when a command or a server enters a folder; never by a hook, because git may be asked.
"""

from __future__ import annotations

import os

from commonplace.model.lazy import lazy
from commonplace.project.git import MAX_BYTES, read_bytes
from commonplace.project.identity import COMMIT, Backing
from commonplace.project.matching import KnownRepositories
from commonplace.vault.scope_pages import MAX_EVIDENCE, Evidence

_BRANCH = lazy(r"ref: (refs/heads/\S+)")
_GIT_SECONDS = 2.0


def gather_evidence(backing: Backing, repositories: KnownRepositories) -> Evidence:
    """Return what a project should remember of a folder. This may start git, for at most two seconds.

    The commit is the first of the repository, or the newest where git cannot tell. Of a shallow clone it is the oldest
    that it has.
    """
    commit = repositories.root_commit(backing)
    if commit is None and backing.git_folder:
        commit = _head_commit(backing.git_folder)
    found = ((commit,), (backing.marker,), (*backing.folder_places, backing.repository_place))
    return Evidence(*(tuple(filter(None, values)) for values in found))


def is_remembered(backing: Backing, evidence: Evidence) -> bool:
    """Return whether the project already remembers enough of this folder to know it again without help."""
    if backing.marker and backing.marker not in evidence.markers:
        return False
    if not backing.git_folder:
        return not backing.folder_places or any(place in evidence.places for place in backing.folder_places)
    if backing.has_commit(evidence):
        # Another `.git` at a known path may have memories of its own elsewhere, so it is looked at, too.
        return backing.repository_place in evidence.places or len(evidence.places) >= MAX_EVIDENCE
    return backing.repository_place in evidence.places and not _may_have_commits(backing.git_folder)


def ask_root_commit(git_folder: str) -> str | None:
    """Return the root commit of a repository, as git tells it; None where it has none, or git cannot tell."""
    return _ask_git(git_folder) if _may_have_commits(git_folder) else None


def _ask_git(git_folder: str) -> str | None:
    import subprocess  # noqa: PLC0415 - git is asked once in the life of a project

    # The repository may be hostile: nothing in its settings may start a program or reach the network.
    settings = ("core.fsmonitor=false", "core.hooksPath=", "protocol.allow=never", "protocol.ext.allow=never",
                "protocol.file.allow=never", "log.showSignature=false")  # fmt: skip
    options = [word for setting in settings for word in ("-c", setting)]
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    clean |= {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", *options, "--no-pager", f"--git-dir={git_folder}", "rev-list", "--first-parent",
               "--max-parents=0", "HEAD", "--"]  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, and a folder
            command, env=clean, cwd=git_folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=_GIT_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    lines = done.stdout[:MAX_BYTES].decode("ascii", "replace").split()
    return lines[-1] if done.returncode == 0 and lines and COMMIT.fullmatch(lines[-1]) else None


def _may_have_commits(git_folder: str) -> bool:
    """Return False for a repository whose branch has no commit yet; True where its files do not tell."""
    return _head_commit(git_folder) is not None or os.path.isdir(os.path.join(git_folder, "reftable"))


def _head_commit(git_folder: str) -> str | None:
    head = _read_text(os.path.join(git_folder, "HEAD"))
    branch = _BRANCH.fullmatch(head)
    if not branch:
        return head if COMMIT.fullmatch(head) else None
    commit = _read_text(os.path.join(git_folder, *branch[1].split("/")))
    if COMMIT.fullmatch(commit):
        return commit
    for line in _read_text(os.path.join(git_folder, "packed-refs")).splitlines():
        packed, _, name = line.partition(" ")
        if name == branch[1] and COMMIT.fullmatch(packed):
            return packed
    return None


def _read_text(path: str) -> str:
    return (read_bytes(path) or b"").decode("utf-8", "replace").strip()
