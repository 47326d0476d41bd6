"""The command lines that hosts start us by. They must work from any folder and in any environment.

For one user: absolute paths, because a host started from a desktop has another PATH than the user's shell. Of several
the one on PATH is preferred if it is this very installation (a link that stays where it is over upgrades). Run from
uv's cache (`uvx --from commonplace-memory commonplace connect ...`), which may be emptied at any time, it is `uvx`
that is written.

For a project: plain names, since the file goes to other people's machines; each of them has it on PATH or not.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence

from commonplace.hosts.wiring.values import PROJECT, Commands
from commonplace.model.patterns import lazy
from commonplace.model.version import DISTRIBUTION

_PROGRAM, _HOOK = "commonplace", "commonplace-hook"
_PASSING = lazy(r"[\\/](?:uv[\\/](?:cache[\\/])?|\.cache[\\/]uv[\\/])?(?:archive|environments|builds)-v\d+[\\/]")
_PLAIN = lazy(r"[A-Za-z0-9_@%+=:,./\\-]+")


def find_commands(scope: str, environment: Mapping[str, str], root: str | None = None) -> Commands:
    """How this installation is started; `root` is the book's folder where the user named one."""
    if scope == PROJECT:
        return Commands((_PROGRAM,), (_HOOK,))
    where = os.path.abspath(os.path.expanduser(root)) if root else None
    folder = os.path.dirname(os.path.abspath(sys.executable))
    if _PASSING.search(folder):
        uvx = on_path("uvx", environment) or "uvx"
        return Commands((uvx, "--from", DISTRIBUTION, _PROGRAM), (uvx, "--from", DISTRIBUTION, _HOOK), where)
    program = _script(_PROGRAM, folder, environment) or (sys.executable, "-m", "commonplace")
    hook = _script(_HOOK, folder, environment) or (sys.executable, "-m", "commonplace.hooks.main")
    return Commands(program, hook, where)


def _script(name: str, folder: str, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    beside = next(filter(_runs, (os.path.join(folder, name + ending) for ending in _endings(environment))), None)
    found = on_path(name, environment)
    if found and (beside is None or os.path.realpath(found) == os.path.realpath(beside)):
        return (found,)
    return (beside,) if beside else None


def on_path(name: str, environment: Mapping[str, str]) -> str | None:
    """Where a program is that is started by its name, as an absolute path."""
    for folder in environment.get("PATH", "").split(os.pathsep):
        for ending in _endings(environment):
            path = os.path.join(os.path.abspath(folder), name + ending)
            if folder and _runs(path):
                return path
    return None


def runs(word: str, environment: Mapping[str, str]) -> bool:
    """Whether a command's first word can be started."""
    return _runs(word) if os.path.isabs(word) else on_path(word, environment) is not None


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _endings(environment: Mapping[str, str]) -> list[str]:
    if os.name != "nt":
        return [""]
    return ["", *environment.get("PATHEXT", ".EXE;.CMD;.BAT").lower().split(";")]


def shell_line(words: Sequence[str], platform: str) -> str:
    """The words as one line for the shell that a host uses there: sh, or cmd and PowerShell on Windows."""
    if platform != "win32":
        return shlex.join(words)
    return " ".join(word if _PLAIN.fullmatch(word) else f'"{word}"' for word in words)


def powershell_line(words: Sequence[str]) -> str:
    """The words as one line for PowerShell, on whichever system."""
    quoted = ["'{}'".format(word.replace("'", "''")) for word in words]
    return " ".join(["&", *quoted])


def first_word(line: str) -> str:
    """The program of a line of a shell."""
    if line.startswith('"'):
        return line[1:].partition('"')[0]
    if line[1:3] == ":\\":  # a path of Windows, where a backslash quotes nothing
        return line.partition(" ")[0]
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    return words[0] if words else ""
