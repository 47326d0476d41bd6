"""Report which hosts are installed and connected, since when, from which installation, and whether that works now.

Whether it works is found out by starting the programs that the host's files name, with an option that only prints. A
program in a project's files is started only by its name: a path there was written by whoever made the repository.
`connect --list`, `status` and `doctor` show the report.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from commonplace.hosts.config_edit.added import build_parts
from commonplace.hosts.config_edit.commands import find_on_path, is_startable, split_program
from commonplace.hosts.config_edit.connect import find_connected, find_unreadable, plan_connect
from commonplace.hosts.config_edit.entries import find_programs
from commonplace.hosts.config_edit.files import FileSnapshot, is_edited_prose
from commonplace.hosts.config_edit.notes import find_oldest, find_since, find_time
from commonplace.hosts.config_edit.parts import PROJECT, ConfigEntry, Host, InstalledPlugin, OwnedFile, Part, Target
from commonplace.hosts.config_edit.plan import read_value
from commonplace.model import DISTRIBUTION
from commonplace.model.errors import CommonplaceError
from commonplace.model.host_results import HostConnection, HostStatus

Checked = dict[tuple[str, ...], str] | None
"""What is known of the programs that were started, by the words that start them; None: none is started."""
_Place = tuple[str, tuple[str | None, ...]]  # a file, and the path of an entry in it
_Entries = Sequence[tuple[Part, object]]
_SECONDS = 20  # for a program to print its version: a busy machine is slow
_ON_PATH = f"Put `commonplace` on your PATH (`uv tool install {DISTRIBUTION}`): these files start it by its name."
_BY_HAND = "Mend by hand what the message names; connecting again would change nothing."
_SWITCHED_OFF = "Switch it on in that file, or in the program; connecting again leaves it as you have it."
_ASKS = {"commonplace": "--version", "commonplace-hook": "--help"}


def is_installed(host: Host, target: Target) -> bool:
    """Return whether a host seems installed: its program is on PATH, or a folder of its own has more than our files."""
    if any(find_on_path(name, target.environment) for name in host.programs):
        return True
    ours = {_find_path(part) for part in host.build_parts(target)}
    places: list[str] = []
    for folder in host.folders:
        path = FileSnapshot(target.home, folder).path
        with suppress(OSError):
            places += [os.path.join(path, name) for name in os.listdir(path)]
    return not all(any(path == place or path.startswith(place + os.sep) for path in ours) for place in places)


def report_host(host: Host, targets: Mapping[str, Target], checked: Checked) -> HostStatus:
    """Return where one host is connected, for the user and the project, and what does not work.

    `checked` gets what is found out of programs that are started.
    """
    first = next(iter(targets.values()))
    found: list[HostConnection] = []
    problems: list[str] = []
    seen: set[_Place] = set()
    for scope in host.scopes:
        try:
            entries = find_connected(host, targets[scope])
            places = {_find_place(part) for part, _ in entries}
            if places and places <= seen:
                continue  # in the home folder the files of a project are the user's own
            seen |= places
            connection = _report_scope(host, targets[scope], entries, checked)
        except CommonplaceError as error:
            connection = _report_unreadable(host, targets[scope], error)
            problems.append(error.message)
        if connection is not None:
            found.append(connection)
            problems += connection.problems
    return HostStatus(
        host=host.name,
        title=host.title,
        installed=is_installed(host, first),
        connected=tuple(connection.scope for connection in found),
        works=bool(found) and not problems,
        problems=tuple(dict.fromkeys(problems)),
        connections=tuple(found),
    )


def _report_unreadable(host: Host, target: Target, error: CommonplaceError) -> HostConnection | None:
    """Return the connection of a host that was connected and has a file that cannot be read now; None for any other."""
    since = find_since(host, target)
    if since is None:
        return None
    return HostConnection(
        scope=target.scope,
        source="connect",
        since=since,
        command=(),
        works=False,
        problems=(error.message,),
        hint=error.hint,
        path=find_unreadable(host, target),
    )


def _report_scope(host: Host, target: Target, found: _Entries, checked: Checked) -> HostConnection | None:
    """Return how a host is connected at one target, by what is ours in its files; None where it is not."""
    plugin = host.find_plugin(target)
    if plugin is not None:
        return _report_plugin(host, target, plugin, bool(found) and not plugin.has_our_place, checked)
    if all(isinstance(part, OwnedFile) and is_edited_prose(part.file, str(value)) for part, value in found):
        return None  # nothing, or a skill that the user edited and disconnecting left
    has_protocol = any("pre-tool" in str(given) for _, given in found)
    repair = _make_command(host, target, has_protocol=has_protocol)
    problems: dict[str, str] = {}  # with the file of each
    programs: dict[tuple[str, ...], None] = {}
    hint = _BY_HAND
    for part, given in found:
        value = read_value(part, given)
        for words in find_programs(value):
            programs[words] = None
            problem = _check_program(words, target, checked)
            if problem:
                problems[f"{_find_path(part)} starts {words[0]}, {problem}."] = _find_path(part)
                hint = hint if os.path.isabs(words[0]) else _ON_PATH
        if isinstance(value, dict) and (value.get("enabled") is False or value.get("disabled") is True):
            problems[f"The server is switched off in {_find_path(part)}."] = _find_path(part)
            hint = _SWITCHED_OFF
    needed = (part for part in build_parts(host, target) if not (isinstance(part, ConfigEntry) and part.companion_of))
    if not set(map(_find_place, needed)) <= {_find_place(part) for part, _ in found}:
        problems["Some of our entries are missing or out of date."] = _find_path(found[0][0])
    command = next((words for words in programs if split_program(words)[0] == "commonplace"), next(iter(programs), ()))
    since = find_since(host, target) or find_oldest(part for part, _ in found)
    helps = bool(problems) and _may_help(host, target._replace(has_protocol=has_protocol))
    return HostConnection(
        scope=target.scope,
        source="connect",
        since=since,
        command=tuple(command),
        works=not problems,
        problems=tuple(problems),
        repair=repair if helps else "",
        hint="" if helps or not problems else hint,
        path=next(iter(problems.values()), _find_path(found[0][0])),
    )


def _may_help(host: Host, target: Target) -> bool:
    """Return whether connecting again would change a file of the host."""
    try:
        return any(change.action != "unchanged" for change in plan_connect(host, target))
    except CommonplaceError:  # it says why when it is run
        return True


def _report_plugin(
    host: Host, target: Target, plugin: InstalledPlugin, is_doubled: bool, checked: Checked
) -> HostConnection:
    """Return how a plugin that the host installed by itself connects it. Published plugins start us by our names."""
    problems = []
    for name in _ASKS:
        problem = _check_program((name,), target, checked)
        problems += [f"The plugin {plugin.name} starts {name}, {problem}."] if problem else []
    repair = ""
    if is_doubled:
        repair = _make_command(host, target)
        problems.append(f"It is connected twice: by connect, and by the plugin {plugin.name}.")
    return HostConnection(
        scope=target.scope,
        source=f"plugin {plugin.name}",
        since=find_time(plugin.path),
        command=("commonplace",),
        works=not problems,
        problems=tuple(dict.fromkeys(problems)),
        repair=repair,
        path=plugin.path,
    )


def _make_command(host: Host, target: Target, *, has_protocol: bool = False) -> str:
    """Return the command that connects a host as it is connected now."""
    flags = [" --project"] if target.scope == PROJECT else []
    return "".join(("commonplace connect ", host.name, *flags, *([" --protocol"] if has_protocol else [])))


def _check_program(words: tuple[str, ...], target: Target, checked: Checked) -> str:
    """Return what is wrong with a program of ours in a host's files, in half a sentence; nothing where it runs."""
    if not is_startable(words[0], target.environment):
        return "which does not exist"
    may_run = not (target.scope == PROJECT and os.path.isabs(words[0])) and "--from" not in words  # uvx may download
    if checked is None or not may_run:
        return ""
    if words not in checked:
        checked[words] = _run(words, target)
    return checked[words]


def _run(words: tuple[str, ...], target: Target) -> str:
    """Return what is wrong with a program that is there: it is started, and should print something and end."""
    name = split_program(words)[0]
    program = words[0] if os.path.isabs(words[0]) else find_on_path(words[0], target.environment) or words[0]
    try:
        done = subprocess.run(  # noqa: S603 - only what is written as we write it, and no path from a project
            [program, *words[1:], _ASKS[name]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(target.environment), cwd=target.home,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"which does not answer within {_SECONDS} seconds"
    except OSError:  # a script whose Python is gone, for one
        return "which cannot be started"
    return "" if done.returncode == 0 else f"which ends with status {done.returncode}"


def _find_place(part: Part) -> _Place:
    """Return where a part is: its real file, and the path of an entry in it."""
    return os.path.realpath(_find_path(part)), part.path if isinstance(part, ConfigEntry) else ()


def _find_path(part: Part) -> str:
    return FileSnapshot(part.base, part.file).path
