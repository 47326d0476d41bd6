"""What a folder's repository is, read from git's own files: no git is started, nothing is written.

A `.git` file is followed once, and what it leads to may name a common folder once, as git does; so no loop is ever
walked. Of each file at most 1 MB is read. The environment (GIT_DIR and the like) is not asked: a project must not
change with the shell it is looked at from.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence

from commonplace.keep.git_config import Setting, is_true, last_value, parse_config
from commonplace.model.patterns import lazy
from commonplace.model.value import NamedTuple

MAX_BYTES = 1_000_000
_REMOTE = lazy(r"remote\.(.*)\.url", re.DOTALL)
_INSTEAD = lazy(r"url\.(.*)\.insteadof", re.DOTALL)
_BRANCH = lazy(r"ref:\s*refs/heads/(.+?)\s*", re.DOTALL)


class Repository(NamedTuple):
    """A repository, by its real paths."""

    tree: str  # its main working tree; for a bare repository, the repository
    remote: str | None  # the address it comes from, as git would use it
    readable: bool = True  # False when `.git` leads nowhere: then only `tree`, where it stands, is known


def find_repository(folder: str) -> "Repository | None":
    """The repository that a folder (its real path) belongs to."""
    for place in upward(folder):
        dot_git = os.path.join(place, ".git")
        if os.path.isfile(dot_git):  # of a worktree or submodule; if broken, still no part of a repository further up
            target = _pointed_to(dot_git)
            return _repository(place, target) if target else Repository(place, None, readable=False)
        for git_folder in (dot_git, place):
            if _is_git_folder(git_folder):
                return _repository(place, git_folder)
    return None


def upward(folder: str) -> Iterator[str]:
    """A folder and those above it, nearest first."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def read_bytes(path: str) -> bytes | None:
    """The first megabyte of a regular file; None when there is none that can be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for a writer
            return None
        with open(path, "rb") as file:
            return file.read(MAX_BYTES)
    except (OSError, ValueError):
        return None


def _repository(place: str, git_folder: str) -> "Repository":
    """The repository whose git folder was found at a place."""
    common = _common(git_folder)
    settings = _settings(common)
    tree = os.path.realpath(_main_tree(place, git_folder, common, settings))
    return Repository(tree, _address(settings, common))


def _main_tree(place: str, git_folder: str, common: str, settings: Sequence[Setting]) -> str:
    elsewhere = common != git_folder or place == git_folder  # a linked worktree, or the inside of a git folder
    if elsewhere:
        stated = last_value(settings, "core.worktree")  # where a submodule's git folder says that its files are
        if stated and os.path.isdir(os.path.join(common, stated)):
            return os.path.join(common, stated)
    if elsewhere or is_true(settings, "core.bare"):
        real = os.path.realpath(common)
        return os.path.dirname(real) if os.path.basename(real) == ".git" else real
    return place


def _pointed_to(dot_git: str) -> str | None:
    """The git folder that a `.git` file leads to."""
    text = _line(dot_git)
    if text is None or not text.startswith("gitdir: "):
        return None
    target = os.path.join(os.path.dirname(dot_git), text.removeprefix("gitdir: "))
    return target if _is_git_folder(target) else None


def _is_git_folder(path: str) -> bool:
    """By what git itself goes by."""
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common = _common(path)
    return all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs"))


def _common(git_folder: str) -> str:
    """The folder with what all worktrees of a repository share: the git folder itself, or the one that it names."""
    text = _line(os.path.join(git_folder, "commondir"))
    return os.path.join(git_folder, text) if text else git_folder


def _settings(common: str) -> list[Setting]:
    data = read_bytes(os.path.join(common, "config"))
    if data is None:
        return []
    if len(data) == MAX_BYTES:  # there is more: what may be half a value is no value
        end = data.rfind(b"\n")
        while end > 0 and data[end - 1] == ord("\\"):
            end = data.rfind(b"\n", 0, end)
        data = data[: max(end, 0)]
    return parse_config(data.decode("utf-8", "surrogateescape"))


def _address(settings: Sequence[Setting], common: str) -> str | None:
    """The address of the remote that stands for the project: origin, the current branch's, or the first."""
    remotes: dict[str, str] = {}
    for key, value in settings:
        if (match := _REMOTE.fullmatch(key)) and value is not None:
            if value:
                remotes.setdefault(match[1], value)
            else:  # an empty address takes back those before it
                remotes.pop(match[1], None)
    if not remotes:
        return None
    name = "origin"
    if name not in remotes:
        # The main working tree's branch, also for linked worktrees: all of them are one project.
        branch = _BRANCH.fullmatch(_line(os.path.join(common, "HEAD")) or "")
        name = (last_value(settings, f"branch.{branch[1]}.remote") if branch else None) or ""
    return _rewritten(remotes.get(name, next(iter(remotes.values()))), settings)


def _rewritten(address: str, settings: Sequence[Setting]) -> str:
    """An address after the repository's own `url.BASE.insteadOf`: the longest prefix wins."""
    longest, base = "", ""
    for key, value in settings:
        match = _INSTEAD.fullmatch(key)
        if match and value and len(value) > len(longest) and address.startswith(value):
            longest, base = value, match[1]
    return base + address[len(longest) :]


def _line(path: str) -> str | None:
    """A file of one line, without its end; None when there is none, or one that is no path or name."""
    data = read_bytes(path)
    if data is None or len(data) == MAX_BYTES or b"\0" in data:
        return None
    return data.decode("utf-8", "surrogateescape").rstrip("\r\n") or None
