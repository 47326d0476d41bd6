"""The command lines that hosts start us by. They must work from any folder and in any environment.

For one user: absolute paths, because a host started from a desktop has another PATH than the user's shell. Of several
the one on PATH is preferred if it is this very installation (a link that stays where it is over upgrades). Run from
uv's cache (`uvx --from commonplace-memory commonplace connect ...`), which may be emptied at any time, it is `uvx`
that is written.

For a project: plain names, since the file goes to other people's machines; each of them has it on PATH or not.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import shlex
import sys
from collections.abc import Mapping, Sequence

from commonplace.hosts.wiring.values import EVENTS, PROJECT, Commands
from commonplace.model.patterns import lazy
from commonplace.model.version import DISTRIBUTION

_PROGRAM, _HOOK = "commonplace", "commonplace-hook"
_MODULES = {_PROGRAM: "commonplace", _HOOK: "commonplace.hooks.main"}
_PACKAGES = ("commonplace", "commonplace-memory")  # names under which uvx installs or will install us
_PASSING = lazy(r"[\\/](?:uv[\\/](?:cache[\\/])?|\.cache[\\/]uv[\\/])?(?:archive|environments|builds)-v\d+[\\/]")
_PLAIN = lazy(r"[A-Za-z0-9_@%+=:,./\\-]+")
_WINDOWS_WORD = lazy(r'"([^"]*)"|(\S+)')
_POWERSHELL_WORD = lazy(r"'((?:[^']|'')*)'")
_HOST_NAME = lazy(r"[a-z0-9][a-z0-9-]*")


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


def split_line(line: str) -> list[str]:
    """Return the words of a line that `shell_line` or `powershell_line` wrote; none for a line written in another way.

    The words are written again and compared, so that a line with a comment, a variable or a second command is not
    mistaken for one of ours.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = []
    if shell_line(words, "linux") == line:
        return words
    words = [quoted or plain for quoted, plain in _WINDOWS_WORD.findall(line)]
    if shell_line(words, "win32") == line:
        return words
    words = [word.replace("''", "'") for word in _POWERSHELL_WORD.findall(line)]
    return words if powershell_line(words) == line else []


def parse_call(words: Sequence[object]) -> tuple[str, str, str] | None:
    """Return `mcp --agent HOST` or `EVENT --host HOST` as three words; None for a command that we do not write.

    What comes before them (where our program is) and after them (`--root DIR`) differs between machines.
    """
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) != len(words):
        return None
    program, rest = split_program(texts)
    if len(rest) < 3 or not is_root_option(rest[3:]) or not _HOST_NAME.fullmatch(rest[2]):
        return None
    verb, option, host = rest[:3]
    if program == _PROGRAM:
        is_call = (verb, option) == ("mcp", "--agent")
    else:
        is_call = program == _HOOK and verb in EVENTS and option == "--host"
    return (verb, option, host) if is_call else None


def split_program(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name of our program that words start, and its arguments; an empty name for any other program.

    Only the forms that `find_commands` makes are known: the program by its name or its absolute path, `python -m`, and
    `uvx --from`.
    """
    for name, module in _MODULES.items():
        if words and _is_program(words[0], name):
            return name, list(words[1:])
        if list(words[1:3]) == ["-m", module] and _is_absolute(words[0]):
            return name, list(words[3:])
        is_from = len(words) > 3 and words[1] == "--from" and words[2] in _PACKAGES and words[3] == name
        if is_from and _is_program(words[0], "uvx"):
            return name, list(words[4:])
    return "", []


def is_root_option(words: Sequence[str]) -> bool:
    """Whether words are nothing, or `--root` with the absolute path that `find_commands` makes of it."""
    return not words or (len(words) == 2 and words[0] == "--root" and _is_absolute(words[1]))


def _is_program(word: str, name: str) -> bool:
    folder, file = ntpath.split(word)  # ntpath: it knows both separators, and a project's files go to other systems
    for ending in (".exe", ".cmd", ".bat"):
        file = file.removesuffix(ending)
    return file == name and (not folder or _is_absolute(word))


def _is_absolute(word: str) -> bool:
    return posixpath.isabs(word) or ntpath.isabs(word)
