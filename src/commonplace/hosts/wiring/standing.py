"""How hosts stand: which are on this machine, which are connected, and whether what was written still works."""

from __future__ import annotations

import os
from collections.abc import Mapping

from commonplace.hosts.wiring.commands import find_commands, first_word, on_path, runs
from commonplace.hosts.wiring.connecting import is_complete, ours_at
from commonplace.hosts.wiring.recognise import commands, loaded
from commonplace.hosts.wiring.values import PROJECT, Host, Site
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import HostStanding


def make_site(
    scope: str,
    environment: Mapping[str, str],
    *,
    here: str,
    platform: str,
    root: str | None = None,
    protocol: bool = False,
) -> Site:
    """The place that a call is about: the user's folder, and the project that `here` is in."""
    commands = find_commands(scope, environment, root)
    return Site(scope, os.path.expanduser("~"), project_of(here), environment, commands, platform, protocol)


def project_of(folder: str) -> str:
    """The root of the repository that a folder is in; itself where it is in none."""
    place = os.path.abspath(folder)
    while not os.path.exists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return os.path.abspath(folder)
        place = above
    return place


def is_installed(host: Host, site: Site) -> bool:
    """Whether the host seems to be on this machine: its program, or a folder of its own with more in it than ours."""
    if any(on_path(name, site.environment) for name in host.programs):
        return True
    ours = {os.path.join(part.base, *part.file.split("/")) for part in host.parts(site)}
    return any(_has_others(os.path.join(site.home, *folder.split("/")), ours) for folder in host.folders)


def _has_others(folder: str, ours: set[str]) -> bool:
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    places = (os.path.join(folder, name) for name in names)
    return any(not any(path == place or path.startswith(place + os.sep) for path in ours) for place in places)


def standing(host: Host, sites: Mapping[str, Site]) -> HostStanding:
    """How one host stands, for the user and the project."""
    site = next(iter(sites.values()))
    where: list[str] = []
    problems: list[str] = []
    for scope in host.scopes:
        try:
            found = [(held.path, value) for held, value in ours_at(host, sites[scope])]
            whole = bool(found) and is_complete(host, sites[scope])
        except CommonplaceError as error:
            problems.append(error.message)
            continue
        if found:
            where.append(scope)
            problems += _dead(found, site.environment)
            if not whole:
                problems.append(
                    f"Not all of it is as this version writes it: `commonplace connect {host.name}{_flag(scope)}`."
                )
    return HostStanding(
        host=host.name,
        title=host.title,
        installed=is_installed(host, site),
        connected=tuple(where),
        works=bool(where) and not problems,
        problems=tuple(dict.fromkeys(problems)),
    )


def _flag(scope: str) -> str:
    return " --project" if scope == PROJECT else ""


def _dead(found: list[tuple[str, object]], environment: Mapping[str, str]) -> list[str]:
    """Commands in the host's files that cannot be started any more."""
    problems = []
    for path, value in found:
        inner = loaded(value) if isinstance(value, str) else value
        for command, is_word in commands(inner):
            word = command if is_word else first_word(command)
            if not runs(word, environment):
                problems.append(f"{path} starts {word}, which is not there.")
    return problems
