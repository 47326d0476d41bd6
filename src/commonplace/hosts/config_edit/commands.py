"""Find the command lines that hosts start us by, quote them for shells, and read them again.

A command must work from any folder and in any environment. For one user it has absolute paths, because a host started
from a desktop has another PATH than the user's shell. A program on PATH is preferred if it is this very installation (a
link that stays where it is over upgrades). Run from uv's cache (`uvx --from commonplace-memory commonplace connect
...`), which may be emptied at any time, the command is `uvx`. For a project it has plain names, since the file goes to
other people's machines.

`entries` tells with these functions which entries in a file of another program are ours; `files.is_owned` does so for
whole files. `connect` and the host modules call them, too.
"""

import ntpath
import os
import posixpath
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from commonplace.model import DISTRIBUTION
from commonplace.model.lazy import lazy

EVENTS = ("session-start", "prompt", "stop", "pre-compact", "session-end", "subagent-start", "pre-tool", "post-tool")
PROJECT_OPTION = "--project"  # of a hook in a project's files
HostCall = tuple[str, str, str]  # `mcp --agent HOST`, or `EVENT --host HOST`
COMMAND_NAMES = ("command", "cmd", "bash", "powershell")  # the members that hold a command in the hosts' files
_PROGRAM, _HOOK = "commonplace", "commonplace-hook"
_MODULES = {_PROGRAM: "commonplace", _HOOK: "commonplace.hooks.main"}
_PACKAGES = ("commonplace", "commonplace-memory")  # names under which uvx installs or will install us
_UV_CACHE = lazy(r"[\\/](?:uv[\\/](?:cache[\\/])?|\.cache[\\/]uv[\\/])?(?:archive|environments|builds)-v\d+[\\/]")
_PLAIN = lazy(r"[A-Za-z0-9_@%+=:,./\\-]+")
_WINDOWS_WORD = lazy(r'"([^"]*)"|(\S+)')
_POWERSHELL_WORD = lazy(r"'((?:[^']|'')*)'")
_SERVER_FLAGS = ("--read-only",)
_SERVER_OPTIONS = ("--agent", "--root", "--role", "--project", "--session", "--protocol", "--tools")
_RUNNER = lazy(r"(?:uvx?|pipx)(?:\.exe)?")
_PYTHON = lazy(r"(?:uvx?|py|python[\d.]*)(?:\.exe)?")
_HOST_NAME = lazy(r"[a-z0-9][a-z0-9-]*")


class Commands(NamedTuple):
    """The two command lines that start us, without the words that differ per host and event."""

    program: tuple[str, ...]  # commonplace
    hook: tuple[str, ...]  # commonplace-hook
    root: str | None = None  # the book's folder, where it is not the default one

    def build_mcp(self, host: str) -> list[str]:
        """Return the words that start the MCP server for a host."""
        return [*self.program, "mcp", "--agent", host, *self.root_option]

    def build_hook(self, event: str, host: str, *more: str) -> list[str]:
        """Return the words that start the hook program for one event of a host."""
        return [*self.hook, event, "--host", host, *more, *self.root_option]

    @property
    def root_option(self) -> list[str]:
        """`--root DIR`, or nothing for the default book."""
        return ["--root", self.root] if self.root else []


COMMANDS_ON_PATH = Commands((_PROGRAM,), (_HOOK,))
"""The commands by their names, for files that go to other machines."""


def find_commands(environment: Mapping[str, str], root: str | None = None) -> Commands:
    """Return the commands that start this installation; `root` is the book's folder where the user named one."""
    where = os.path.abspath(os.path.expanduser(root)) if root else None
    folder = os.path.dirname(os.path.abspath(sys.executable))
    if _UV_CACHE.search(folder):
        uvx = (find_on_path("uvx", environment) or "uvx", "--from", DISTRIBUTION)
        return Commands((*uvx, _PROGRAM), (*uvx, _HOOK), where)
    program, hook = (_find_program(name, folder, environment) for name in _MODULES)
    return Commands(program, hook, where)


def _find_program(name: str, folder: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    beside = _find_executable(name, [folder], environment)
    found = find_on_path(name, environment)
    if found and (beside is None or os.path.realpath(found) == os.path.realpath(beside)):
        return (found,)
    # -P: hosts start us in the user's repository, and its modules must not be taken for ours.
    return (beside,) if beside else (sys.executable, "-P", "-m", _MODULES[name])


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

    What comes before them (where our program is) and after them (`--project`, `--root DIR`) differs between places.
    """
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) != len(words):
        return None
    match split_program(texts):
        case "commonplace", ["mcp" as verb, "--agent" as option, host, *rest]:
            is_call = True
        case "commonplace-hook", [verb, "--host" as option, host, *rest]:
            is_call = verb in EVENTS
            rest = rest[rest[:1] == [PROJECT_OPTION] :]
        case _:
            return None
    return (verb, option, host) if is_call and is_root_option(rest) and _HOST_NAME.fullmatch(host) else None


def split_program(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name of our program that words start, and its arguments; an empty name for any other program.

    Only the forms that `find_commands` makes are known: the program by its name or its absolute path, `python -P -m`
    (before, `python -m`), and `uvx --from`.
    """
    for name, module in _MODULES.items():
        match words:
            case [program, *rest] if _is_program(program, name):
                return name, rest
            case [python, "-P", "-m", found, *rest] | [python, "-m", found, *rest] if found == module:
                if _is_absolute(python):
                    return name, rest
            case [uvx, "--from", package, found, *rest] if package in _PACKAGES and found == name:
                if _is_program(uvx, "uvx"):
                    return name, rest
    return "", []


def is_root_option(words: Sequence[str]) -> bool:
    """Return whether words are nothing, or `--root` with the absolute path that `find_commands` makes of it."""
    return not words or (len(words) == 2 and words[0] == "--root" and _is_absolute(words[1]))


def _split_launcher(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return what `split_program` does, where a person starts our server by a Python, uv or pipx of theirs."""
    for place in range(1, len(words) - 1):
        if words[place : place + 2] == [_PROGRAM, "mcp"]:
            launcher, before = ntpath.basename(words[0]), words[place - 1]
            is_ours = _PYTHON.fullmatch(launcher) if before == "-m" else _RUNNER.fullmatch(launcher)
            return (_PROGRAM, list(words[place + 1 :])) if is_ours and not before.endswith(".py") else ("", [])
    return "", []


class ServerCall(NamedTuple):
    """The options of `commonplace mcp` in an entry that we, `mcp add` of a host, or a person wrote."""

    agent: str | None = None
    root: str | None = None
    more: tuple[str, ...] = ()  # the others, as they are


def parse_server(words: Sequence[object]) -> ServerCall | None:
    """Return the options of a command that starts our MCP server; None for any other command.

    A person may start it in more ways than `find_commands` does: with another Python, `uv run`, or `pipx run`.
    """
    texts = [word for word in words if isinstance(word, str)]
    name, rest = split_program(texts)
    name, rest = (name, rest) if name else _split_launcher(texts)
    if len(texts) != len(words) or name != _PROGRAM or rest[:1] != ["mcp"]:
        return None
    found, more = {"--agent": "", "--root": ""}, []
    options = iter(rest[1:])
    for option in options:
        name, equals, value = option.partition("=")
        if name in _SERVER_FLAGS and not equals:
            more.append(option)
            continue
        value = value if equals else next(options, "")
        if name not in _SERVER_OPTIONS or not value:
            return None
        if name in found:
            found[name] = value
        else:
            more += [name, value]
    return ServerCall(found["--agent"] or None, found["--root"] or None, tuple(more))


def _is_program(word: str, name: str) -> bool:
    folder, file = ntpath.split(word)  # ntpath: it knows both separators, and a project's files go to other systems
    for ending in (".exe", ".cmd", ".bat"):
        file = file.removesuffix(ending)
    return file == name and (not folder or _is_absolute(word))


def _is_absolute(word: str) -> bool:
    return posixpath.isabs(word) or ntpath.isabs(word)


def parse_member(value: Mapping[str, object], name: str) -> HostCall | None:
    """Return the call of ours in one member of an entry; None where it starts anything else."""
    return parse_call(read_words(value, name))


def read_words(value: Mapping[str, object], name: str) -> list[object]:
    """Return the command in one member: a list of words, a word with `args`, or a line for a shell that we wrote."""
    given, args = value.get(name), value.get("args")
    if isinstance(given, list):
        return given
    if not isinstance(given, str):
        return []
    return [given, *args] if isinstance(args, list) else [*split_line(given)]
