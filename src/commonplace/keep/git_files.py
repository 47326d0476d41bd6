"""What a folder's repository is, read from git's own files: no git is started, nothing is written.

A `.git` file is followed once, and what it leads to may name a common folder once, as git does; so no loop is ever
walked. Of each file at most 1 MB is read. The environment (GIT_DIR and the like) is not asked: a project must not
change with the shell it is looked at from.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from commonplace.keep.git_config import Setting, is_true, last_value, parse_config
from commonplace.model.patterns import lazy

MAX_BYTES = 1_000_000
_REMOTE = lazy(r"remote\.(.*)\.url", re.DOTALL)
_INSTEAD = lazy(r"url\.(.*)\.insteadof", re.DOTALL)
_BRANCH = lazy(r"ref:\s*refs/heads/(.+?)\s*", re.DOTALL)


class Repository(NamedTuple):
    """A repository, by its real paths."""

    tree: str  # its main working tree; for a bare repository, the repository
    remote: str | None  # the address it comes from, as git would use it
    readable: bool = True  # False when `.git` leads nowhere: then only `tree`, where it stands, is known
    git_folder: str = ""  # what its working trees share; "" where it does not name the working tree as its own
    made_at: str = ""  # when its `.git` was made, and its inode: the same after a move, and of no other


def find_repository(folder: str) -> "Repository | None":
    """The repository that a folder (its real path) belongs to."""
    for place in upward(folder):
        dot_git = os.path.join(place, ".git")
        if os.path.isfile(dot_git):  # of a worktree or submodule; if broken, still no part of a repository further up
            target = _pointed_to(dot_git)
            return _linked_repository(place, dot_git, target) if target else Repository(place, None, readable=False)
        for git_folder in (dot_git, place):
            if _is_git_folder(git_folder):
                if os.path.islink(git_folder) or _line(os.path.join(git_folder, "commondir")):
                    return _linked_repository(place, git_folder, git_folder)
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


def has_object(git_folder: str, name: str) -> bool:
    """Whether a repository has an object, by its full hexadecimal name, in a file of its own.

    Objects that it borrows are not its own: a link, or `objects/info/alternates`, could lead into another's repository.
    """
    objects = os.path.join(git_folder, "objects")
    if _is_own_file(os.path.join(objects, name[:2], name[2:])):
        return True
    packs = os.path.join(objects, "pack")
    try:
        names = os.listdir(packs)
    except OSError:
        return False
    return any(
        _is_in_pack(os.path.join(packs, file), bytes.fromhex(name))
        for file in names
        if file.endswith(".idx") and file.removesuffix(".idx") + ".pack" in names
    )


def _is_own_file(path: str) -> bool:
    """Whether a path is a regular file, with no link on the way to it."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and os.path.realpath(path) == path
    except (OSError, ValueError):
        return False


def _is_in_pack(index_file: str, name: bytes) -> bool:
    """Search the index of a pack (version 2: a table of counts by first byte, then the sorted names)."""
    if not _is_own_file(index_file) or not _is_own_file(index_file.removesuffix(".idx") + ".pack"):
        return False
    try:
        with open(index_file, "rb") as file:
            if file.read(8) != b"\xfftOc\x00\x00\x00\x02":
                return False
            first = name[0]
            counts = file.read(256 * 4)
            low = int.from_bytes(counts[first * 4 - 4 : first * 4], "big") if first else 0
            high = int.from_bytes(counts[first * 4 : first * 4 + 4], "big")
            while low < high:
                middle = (low + high) // 2
                file.seek(8 + 256 * 4 + middle * len(name))
                found = file.read(len(name))
                if found == name:
                    return True
                low, high = (middle + 1, high) if found < name else (low, middle)
    except (OSError, ValueError):
        return False
    return False


def _repository(place: str, git_folder: str) -> "Repository":
    """The repository whose git folder was found at a place."""
    common = _common(git_folder)
    settings = _settings(common)
    tree = os.path.realpath(_main_tree(place, git_folder, common, settings))
    shared = os.path.realpath(common)
    return Repository(tree, _address(settings, common), git_folder=shared, made_at=_made_at(shared))


def _linked_repository(place: str, dot_git: str, git_folder: str) -> "Repository":
    """The repository that a place points to: a worktree or a submodule of it, if the repository says so, too.

    A `.git` file or link can be made by anybody, so one that the repository does not know is only where it stands.
    """
    common = _common(git_folder)
    if _is_linked_back(place, dot_git, git_folder, common):
        return _repository(place, git_folder)
    return Repository(place, _address(_settings(common), common), made_at=_made_at(dot_git))


def _is_linked_back(place: str, dot_git: str, git_folder: str, common: str) -> bool:
    if os.path.islink(dot_git):
        return False
    real = os.path.realpath(common)
    if real == place or real.startswith(place.rstrip(os.sep) + os.sep):  # inside the folder itself: its own
        return True
    if common != git_folder:  # a worktree: COMMON/worktrees/NAME/gitdir names its `.git` file
        if os.path.dirname(os.path.dirname(os.path.realpath(git_folder))) != real:
            return False
        named = _line(os.path.join(git_folder, "gitdir"))
        return dot_git == git_folder or (named is not None and _is_same(git_folder, named, dot_git))
    stated = last_value(_settings(common), "core.worktree")  # a submodule
    return bool(stated) and _is_same(git_folder, str(stated), place)


def _is_same(base: str, path: str, other: str) -> bool:
    return os.path.realpath(os.path.join(base, path)) == os.path.realpath(other)


def _made_at(git_folder: str) -> str:
    """When a git folder was made, with an inode: git writes some files then, and never again."""
    inside: tuple[tuple[str, ...], ...] = (("description",), ("info", "exclude"))
    for names in (*(() if os.path.islink(git_folder) else inside), ()):
        try:
            found = os.lstat(os.path.join(git_folder, *names))
        except (OSError, ValueError):
            continue
        # The time of a folder changes with what is in it; its inode does not.
        return f"{0 if stat.S_ISDIR(found.st_mode) else found.st_mtime_ns}-{found.st_ino}"
    return ""


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
