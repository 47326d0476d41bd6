"""What a folder's repository is, read from git's own files: no git is started, nothing is written.

A `.git` file is followed once, and what it leads to may name a common folder once, as git does; so no loop is ever
walked. Of each file at most 1 MB is read. The environment (GIT_DIR and the like) is not asked: a project must not
change with the shell it is looked at from. The config is read as git reads it: sections, quotes, escapes,
continuation lines; includes are not followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from os.path import basename, dirname, isdir, isfile, islink, join, lexists, realpath
from typing import BinaryIO, NamedTuple

from commonplace.model.lazy import lazy

Setting = tuple[str, str | None]
"""`remote.origin.url` and its value; None for a name that stands without `=`, which git takes for true."""
_BETWEEN = lazy(r"(?:[ \t\r\n]|[#;][^\n]*+)++")
_HEADER = lazy(r'\[([a-z0-9.-]*+)(?:[ \t\r]++"((?:\\[^\n]|[^"\\\n])*+)")?\]', re.IGNORECASE | re.ASCII)
_NAME = lazy(r"([a-z][a-z0-9-]*+)[ \t]*+", re.IGNORECASE | re.ASCII)
_PLAIN = lazy(r'([ \t\r]++)|\\(.?)|(")|([#;][^\n]*+)|([^ \t\r\n\\"#;]++)', re.DOTALL)
_QUOTED = lazy(r'(?!)()|\\(.?)|(")|(?!)()|([^\\"\n]++)', re.DOTALL)  # the same groups, where all else is text
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"', "\n": "", "": ""}
_TRUE = frozenset(["true", "yes", "on", "1"])


def parse_config(text: str) -> list[Setting]:
    """Return every setting, in the order of the file."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found: list[Setting] = []
    section: str | None = None
    at = 0
    while at < len(text):
        if between := _BETWEEN.match(text, at):
            at = between.end()
        elif text[at] == "[":
            section, at = _header(text, at)
        elif name := _NAME.match(text, at):
            value, at, good = _assigned(text, name.end())
            if good and section is not None:
                found.append((f"{section}.{name[1].lower()}", value))
        else:
            at = _line_end(text, at)
    return found


def last_value(settings: Sequence[Setting], key: str) -> str | None:
    """Return the last value of a git setting, which is the one that counts."""
    return next((value for name, value in reversed(settings) if name == key and value is not None), None)


def is_true(settings: Sequence[Setting], key: str) -> bool:
    """Return whether the last value of a git setting is true; a name without a value is."""
    value = dict(settings).get(key, "")
    return value is None or value.lower() in _TRUE


def _header(text: str, at: int) -> tuple[str | None, int]:
    """Return the section that starts here, and where its header ends. After a broken header nothing counts until the
    next: it could be any section."""
    match = _HEADER.match(text, at)
    if not match:
        return None, _line_end(text, at)
    section = match[1].lower()
    if match[2] is not None:
        section += "." + re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL)
    return section, match.end()


def _assigned(text: str, at: int) -> tuple[str | None, int, bool]:
    """Return what follows a name: its value, where that ends, and whether git would take it."""
    if at == len(text) or text[at] == "\n":
        return None, at, True
    if text[at] != "=":
        return None, _line_end(text, at), False
    value: list[str] = []
    length = 0  # of what counts: white space before it and after it does not
    quoted = False
    at += 1
    while match := (_QUOTED if quoted else _PLAIN).match(text, at):
        space, escape, quote, _, plain = match.groups()
        at = match.end()
        if space is not None:
            if length:
                value.append(space)
        elif escape is not None:
            if escape not in _ESCAPED:
                return None, _line_end(text, at), False
            if _ESCAPED[escape]:  # else the line goes on: nothing was said
                value.append(_ESCAPED[escape])
            length = len(value)
        elif quote is not None:
            quoted = not quoted
            length = len(value)
        elif plain is not None:
            value.append(plain)
            length = len(value)
    return "".join(value[:length]), at, not quoted


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


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


def find_repository(folder: str) -> Repository | None:
    """Return the repository that a folder (its real path) belongs to; None if it is in none."""
    for place in upward(folder):
        dot_git = join(place, ".git")
        if isfile(dot_git):  # of a worktree or submodule; if broken, still no part of a repository further up
            before, _, target = (_line(dot_git) or "").partition("gitdir: ")
            if before or not target or not _is_git_folder(join(place, target)):
                return Repository(place, None, readable=False)
            return _repository(place, dot_git, join(place, target))
        for git_folder in (dot_git, place):
            if _is_git_folder(git_folder):
                return _repository(place, git_folder, git_folder)
    return None


def upward(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, nearest first."""
    while True:
        yield folder
        above = dirname(folder)
        if above == folder:
            return
        folder = above


def read_bytes(path: str) -> bytes | None:
    """Return the first megabyte of a regular file; None when there is none that can be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for a writer
            return None
        with open(path, "rb") as file:
            return file.read(MAX_BYTES)
    except (OSError, ValueError):
        return None


def find_objects(git_folder: str, names: Iterable[str]) -> set[str]:
    """Return which of some objects, by their full hexadecimal names, a repository has in files of its own.

    Objects that it borrows are not its own: a link, or `objects/info/alternates`, could lead into another's repository.
    """
    objects = join(git_folder, "objects")
    wanted = set(names)
    found = {name for name in wanted if _is_own_file(join(objects, name[:2], name[2:]))}
    packs = join(objects, "pack")
    try:
        files = os.listdir(packs) if wanted != found else []
    except OSError:
        return found
    for file in files:
        if file.endswith(".idx") and file.removesuffix(".idx") + ".pack" in files:
            found |= _find_in_pack(join(packs, file), wanted - found)
    return found


def _is_own_file(path: str) -> bool:
    """Return whether a path is a regular file, with no link on the way to it."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and realpath(path) == path
    except (OSError, ValueError):
        return False


def _find_in_pack(index_file: str, names: set[str]) -> set[str]:
    """Search the index of a pack (version 2: a table of counts by first byte, then the sorted names)."""
    found = set[str]()
    if not _is_own_file(index_file) or not _is_own_file(index_file.removesuffix(".idx") + ".pack"):
        return found
    try:
        with open(index_file, "rb") as file:
            if file.read(8) != b"\xfftOc\x00\x00\x00\x02":
                return found
            counts = file.read(256 * 4)
            found.update(name for name in names if _is_in_table(file, counts, bytes.fromhex(name)))
    except (OSError, ValueError):
        pass
    return found


def _is_in_table(file: BinaryIO, counts: bytes, name: bytes) -> bool:
    first = name[0]
    low = int.from_bytes(counts[first * 4 - 4 : first * 4], "big")  # of no bytes, for the first: 0
    high = int.from_bytes(counts[first * 4 : first * 4 + 4], "big")
    while low < high:
        middle = (low + high) // 2
        file.seek(8 + 256 * 4 + middle * len(name))
        found = file.read(len(name))
        if found == name:
            return True
        low, high = (middle + 1, high) if found < name else (low, middle)
    return False


def _repository(place: str, dot_git: str, git_folder: str) -> Repository:
    """Return the repository whose git folder a place has or, as a worktree or a submodule of it, points to.

    Anyone can make a `.git` file or link, so one that the repository does not know is only where it stands.
    """
    common = _common(git_folder)
    settings = _settings(common)
    address = _address(settings, common)
    if not _is_linked_back(place, dot_git, git_folder, common, settings):
        return Repository(place, address, made_at=_made_at(dot_git))
    shared = realpath(common)
    tree = place
    is_elsewhere = common != git_folder or place == git_folder  # a linked worktree, or the inside of a git folder
    stated = last_value(settings, "core.worktree")  # where a submodule's git folder says that its files are
    if is_elsewhere and stated and isdir(join(common, stated)):
        tree = realpath(join(common, stated))
    elif is_elsewhere or is_true(settings, "core.bare"):
        tree = dirname(shared) if basename(shared) == ".git" else shared
    return Repository(tree, address, git_folder=shared, made_at=_made_at(shared))


def _is_linked_back(place: str, dot_git: str, git_folder: str, common: str, settings: Sequence[Setting]) -> bool:
    if islink(dot_git):
        return False
    real = realpath(common)
    if real == place or real.startswith(place.rstrip(os.sep) + os.sep):  # inside the folder itself: its own
        return True
    if common == git_folder:
        named, target = last_value(settings, "core.worktree"), place  # a submodule
    elif dirname(dirname(realpath(git_folder))) != real:
        return False
    elif dot_git == git_folder:
        return True
    else:  # a worktree: COMMON/worktrees/NAME/gitdir names its `.git` file
        named, target = _line(join(git_folder, "gitdir")), dot_git
    return realpath(join(git_folder, named)) == realpath(target) if named else False


def _made_at(git_folder: str) -> str:
    """Return when a git folder was made, with an inode: git writes some files then, and never again."""
    inside = [join(git_folder, "description"), join(git_folder, "info", "exclude")]
    for path in [git_folder] if islink(git_folder) else [*inside, git_folder]:
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            continue
        # The time of a folder changes with what is in it; its inode does not.
        return f"{0 if stat.S_ISDIR(found.st_mode) else found.st_mtime_ns}-{found.st_ino}"
    return ""


def _is_git_folder(path: str) -> bool:
    """Return whether a path is a git folder, by the same signs as git."""
    if not lexists(join(path, "HEAD")):
        return False
    common = _common(path)
    return all(isdir(join(common, name)) for name in ("objects", "refs"))


def _common(git_folder: str) -> str:
    """Return the folder that all worktrees of a repository share: the git folder itself, or the one that it names."""
    text = _line(join(git_folder, "commondir"))
    return join(git_folder, text) if text else git_folder


def _settings(common: str) -> list[Setting]:
    data = read_bytes(join(common, "config")) or b""
    if len(data) == MAX_BYTES:  # there is more: what may be half a value is no value
        end = data.rfind(b"\n")
        while end > 0 and data[end - 1] == ord("\\"):
            end = data.rfind(b"\n", 0, end)
        data = data[: max(end, 0)]
    return parse_config(data.decode("utf-8", "surrogateescape"))


def _address(settings: Sequence[Setting], common: str) -> str | None:
    """Return the address of the remote that stands for the project: origin, the current branch's, or the first."""
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
        branch = _BRANCH.fullmatch(_line(join(common, "HEAD")) or "")
        name = (last_value(settings, f"branch.{branch[1]}.remote") if branch else None) or ""
    return _rewritten(remotes.get(name, next(iter(remotes.values()))), settings)


def _rewritten(address: str, settings: Sequence[Setting]) -> str:
    """Return an address after the repository's own `url.BASE.insteadOf`: the longest prefix wins."""
    longest, base = "", ""
    for key, value in settings:
        match = _INSTEAD.fullmatch(key)
        if match and value and len(value) > len(longest) and address.startswith(value):
            longest, base = value, match[1]
    return base + address[len(longest) :]


def _line(path: str) -> str | None:
    """Return the text of a file of one line, without its end; None when it is missing or no path or name."""
    data = read_bytes(path)
    if data is None or len(data) == MAX_BYTES or b"\0" in data:
        return None
    return data.decode("utf-8", "surrogateescape").rstrip("\r\n") or None
