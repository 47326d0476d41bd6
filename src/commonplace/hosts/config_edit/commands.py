"""Find the command lines that hosts start us by, quote them for shells, and recognise them in the hosts' files.

A command must work from any folder and in any environment. For one user it has absolute paths, because a host started
from a desktop has another PATH than the user's shell. A program on PATH is preferred if it is this very installation (a
link that stays where it is over upgrades). Run from uv's cache (`uvx --from commonplace-memory commonplace connect
...`), which may be emptied at any time, the command is `uvx`. For a project it has plain names, since the file goes to
other people's machines.

An entry in a file of another program is ours if it starts our program for a host, and nothing else. `ownership` tells
this for whole files.
"""

from __future__ import annotations

import json
import ntpath
import os
import posixpath
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonplace.hosts.config_edit.targets import EVENTS, PROJECT, Commands
from commonplace.model.lazy import lazy
from commonplace.model.version import DISTRIBUTION

HostCall = tuple[str, str, str]  # `mcp --agent HOST`, or `EVENT --host HOST`
COMMAND_NAMES = ("command", "cmd", "bash", "powershell")  # the members that hold a command in the hosts' files
_PROGRAM, _HOOK = "commonplace", "commonplace-hook"
_MODULES = {_PROGRAM: "commonplace", _HOOK: "commonplace.hooks.main"}
_PACKAGES = ("commonplace", "commonplace-memory")  # names under which uvx installs or will install us
_UV_CACHE = lazy(r"[\\/](?:uv[\\/](?:cache[\\/])?|\.cache[\\/]uv[\\/])?(?:archive|environments|builds)-v\d+[\\/]")
_PLAIN = lazy(r"[A-Za-z0-9_@%+=:,./\\-]+")
_WINDOWS_WORD = lazy(r'"([^"]*)"|(\S+)')
_POWERSHELL_WORD = lazy(r"'((?:[^']|'')*)'")
_HOST_NAME = lazy(r"[a-z0-9][a-z0-9-]*")


def find_commands(scope: str, environment: Mapping[str, str], root: str | None = None) -> Commands:
    """Return the commands that start this installation; `root` is the book's folder where the user named one."""
    if scope == PROJECT:
        return Commands((_PROGRAM,), (_HOOK,))
    where = os.path.abspath(os.path.expanduser(root)) if root else None
    folder = os.path.dirname(os.path.abspath(sys.executable))
    if _UV_CACHE.search(folder):
        uvx = find_on_path("uvx", environment) or "uvx"
        return Commands((uvx, "--from", DISTRIBUTION, _PROGRAM), (uvx, "--from", DISTRIBUTION, _HOOK), where)
    program, hook = (
        _find_script(name, folder, environment) or (sys.executable, "-m", module) for name, module in _MODULES.items()
    )
    return Commands(program, hook, where)


def _find_script(name: str, folder: str, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    beside = _find_executable(name, [folder], environment)
    found = find_on_path(name, environment)
    if found and (beside is None or os.path.realpath(found) == os.path.realpath(beside)):
        return (found,)
    return (beside,) if beside else None


def find_on_path(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program that is started by its name; None where PATH has none."""
    folders = filter(None, environment.get("PATH", "").split(os.pathsep))
    return _find_executable(name, map(os.path.abspath, folders), environment)


def is_startable(word: str, environment: Mapping[str, str]) -> bool:
    """Return whether a command's first word can be started."""
    return _is_executable(word) if os.path.isabs(word) else find_on_path(word, environment) is not None


def _find_executable(name: str, folders: Iterable[str], environment: Mapping[str, str]) -> str | None:
    endings = [""]
    if os.name == "nt":
        endings += environment.get("PATHEXT", ".EXE;.CMD;.BAT").lower().split(";")
    paths = (os.path.join(folder, name + ending) for folder in folders for ending in endings)
    return next(filter(_is_executable, paths), None)


def _is_executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def quote_for_shell(words: Sequence[str], platform: str) -> str:
    """Return the words as one line for the shell that a host uses: sh, or cmd and PowerShell on Windows."""
    if platform != "win32":
        return shlex.join(words)
    return " ".join(word if _PLAIN.fullmatch(word) else f'"{word}"' for word in words)


def quote_for_powershell(words: Sequence[str]) -> str:
    """Return the words as one line for PowerShell, on any system."""
    quoted = ["'{}'".format(word.replace("'", "''")) for word in words]
    return " ".join(["&", *quoted])


def parse_program(line: str) -> str:
    """Return the program that a shell line starts."""
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
    """Return the words of a line that `quote_for_shell` or `quote_for_powershell` wrote; none for any other line.

    The words are written again and compared, so that a line with a comment, a variable or a second command is not
    mistaken for one of ours.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = []
    if quote_for_shell(words, "linux") == line:
        return words
    words = [quoted or plain for quoted, plain in _WINDOWS_WORD.findall(line)]
    if quote_for_shell(words, "win32") == line:
        return words
    words = [word.replace("''", "'") for word in _POWERSHELL_WORD.findall(line)]
    return words if quote_for_powershell(words) == line else []


def parse_call(words: Sequence[object]) -> HostCall | None:
    """Return the three words of a command that we write; None for any other command.

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
    """Return whether words are nothing, or `--root` with the absolute path that `find_commands` makes of it."""
    return not words or (len(words) == 2 and words[0] == "--root" and _is_absolute(words[1]))


def _is_program(word: str, name: str) -> bool:
    folder, file = ntpath.split(word)  # ntpath: it knows both separators, and a project's files go to other systems
    for ending in (".exe", ".cmd", ".bat"):
        file = file.removesuffix(ending)
    return file == name and (not folder or _is_absolute(word))


def _is_absolute(word: str) -> bool:
    return posixpath.isabs(word) or ntpath.isabs(word)


def find_host(value: object) -> str | None:
    """Return the host that an entry starts our program for; None where it starts nothing, or anything else as well."""
    hosts = {call[2] if call else None for call in _find_calls(value)}
    return hosts.pop() if len(hosts) == 1 else None


def is_shared(value: object) -> bool:
    """Return whether an entry starts our program and something else."""
    calls = list(_find_calls(value))
    return any(calls) and not all(calls)


def is_all_ours(value: object) -> bool:
    """Return whether every list in a value holds entries of ours, and nothing else."""
    if isinstance(value, dict):
        return bool(value) and all(map(is_all_ours, value.values()))
    return isinstance(value, list) and bool(value) and all(map(find_host, value))


def parse_member(value: Mapping[str, object], name: str) -> HostCall | None:
    """Return the call of ours in one member: a word with `args`, a list of words, or a line for a shell."""
    given, args = value[name], value.get("args")
    if isinstance(given, list):
        return parse_call(given)
    if not isinstance(given, str):
        return None
    return parse_call([given, *args] if isinstance(args, list) else split_line(given))


def _find_calls(value: object) -> Iterator[HostCall | None]:
    """Yield every command of an entry: ours as `parse_call` returns it, None for any other."""
    if isinstance(value, str):
        yield parse_call(split_line(value))
    elif isinstance(value, dict):
        for name in COMMAND_NAMES:
            if name in value:
                yield parse_member(value, name)
        inner = value.get("hooks", [])
        for item in inner if isinstance(inner, list) else [inner]:
            yield from list(_find_calls(item)) or [None]


def find_programs(value: object) -> Iterator[str]:
    """Yield the programs that a value starts; of a file of ours (a text) only where it is JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return
    yield from _find_programs(value)


def _find_programs(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name in ("command", "cmd", "bash"):
            given = value.get(name)
            if isinstance(given, str):
                yield given if "args" in value else parse_program(given)
            elif isinstance(given, list) and given:
                yield str(given[0])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _find_programs(item)
