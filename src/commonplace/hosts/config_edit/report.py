"""Report on hosts: which there are, which are on this machine and connected, and whether their commands still work.

The host modules are found by their file names, so that a new host needs no change here.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping

from commonplace.hosts.config_edit.commands import find_commands, find_on_path, find_programs, is_startable
from commonplace.hosts.config_edit.connect import find_connected
from commonplace.hosts.config_edit.files import FileSnapshot
from commonplace.hosts.config_edit.targets import PROJECT, ConfigEntry, Host, Part, Target
from commonplace.model.errors import CommonplaceError, UnknownHost
from commonplace.model.results import HostStatus

_FOLDER = os.path.dirname(os.path.dirname(__file__))


def list_hosts() -> list[str]:
    """Return the names of all hosts, sorted, without loading any module."""
    files = (name for name in os.listdir(_FOLDER) if name.endswith(".py") and not name.startswith("_"))
    return sorted(name[:-3].replace("_", "-") for name in files)


def load_host(name: str) -> Host:
    """Return the host of a name; raise UnknownHost where there is none."""
    known = list_hosts()
    if name not in known:
        raise UnknownHost(
            f"Unknown host {name[:40]!a}.",
            hint=f"Known: {', '.join(known)}. For any other: `commonplace connect agents-md`.",
        )
    host = importlib.import_module(f"commonplace.hosts.{name.replace('-', '_')}").HOST
    assert isinstance(host, Host)  # noqa: S101 - a host module without one is a mistake of ours
    return host


def load_hosts() -> list[Host]:
    """Return all hosts, by name."""
    return [load_host(name) for name in list_hosts()]


def make_target(
    scope: str,
    environment: Mapping[str, str],
    *,
    here: str,
    platform: str,
    root: str | None = None,
    has_protocol: bool = False,
) -> Target:
    """Return the target of a scope: the user's folder, or the project that the folder `here` is in."""
    commands = find_commands(scope, environment, root)
    return Target(scope, os.path.expanduser("~"), find_project(here), environment, commands, platform, has_protocol)


def find_project(folder: str) -> str:
    """Return the root of the repository that a folder is in; the folder itself where it is in none."""
    place = start = os.path.abspath(folder)
    while not os.path.exists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return start
        place = above
    return place


def is_installed(host: Host, target: Target) -> bool:
    """Return whether a host seems installed: its program is on PATH, or a folder of its own has more than our files."""
    if any(find_on_path(name, target.environment) for name in host.programs):
        return True
    ours = {_find_path(part) for part in host.build_parts(target)}
    return any(_has_others(FileSnapshot(target.home, folder).path, ours) for folder in host.folders)


def _has_others(folder: str, ours: set[str]) -> bool:
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    places = (os.path.join(folder, name) for name in names)
    return any(not any(path == place or path.startswith(place + os.sep) for path in ours) for place in places)


def report_host(host: Host, targets: Mapping[str, Target]) -> HostStatus:
    """Return where one host is connected, for the user and the project, and what does not work."""
    first = next(iter(targets.values()))
    scopes: list[str] = []
    problems: list[str] = []
    for scope in host.scopes:
        try:
            found = find_connected(host, targets[scope])
        except CommonplaceError as error:
            problems.append(error.message)
            continue
        if not found:
            continue
        scopes.append(scope)
        problems += _find_missing_programs(found, first.environment)
        if not set(map(_find_place, host.build_parts(targets[scope]))) <= {_find_place(part) for part, _ in found}:
            flag = " --project" if scope == PROJECT else ""
            problems.append(f"Not all of it is as this version writes it: `commonplace connect {host.name}{flag}`.")
    return HostStatus(
        host=host.name,
        title=host.title,
        installed=is_installed(host, first),
        connected=tuple(scopes),
        works=bool(scopes) and not problems,
        problems=tuple(dict.fromkeys(problems)),
    )


def _find_missing_programs(found: Iterable[tuple[Part, object]], environment: Mapping[str, str]) -> list[str]:
    return [
        f"{_find_path(part)} starts {program}, which is not there."
        for part, value in found
        for program in find_programs(value)
        if not is_startable(program, environment)
    ]


def _find_place(part: Part) -> tuple[str, tuple[str | None, ...]]:
    """Return where a part is: its file, and the path of an entry in it."""
    return _find_path(part), part.path if isinstance(part, ConfigEntry) else ()


def _find_path(part: Part) -> str:
    return FileSnapshot(part.base, part.file).path
