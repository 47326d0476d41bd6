"""Find what a host's own commands added of ours: a server (`mcp add`), or a published plugin.

Host modules call this while they build their parts. What cannot be read counts as not there: `connect` names a file
that is broken when it changes it.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from commonplace.hosts.config_edit import files
from commonplace.hosts.config_edit.entries import find_roots, find_server
from commonplace.hosts.config_edit.json_edit import parse
from commonplace.hosts.config_edit.parts import NAME, ConfigEntry, Host, InstalledPlugin, Part, Target
from commonplace.hosts.config_edit.text_edit import load_yaml
from commonplace.model.errors import CommonplaceError

_PLAIN = {"type", "command", "cmd", "args", "env", "trust"}


def read_settings(target: Target, base: str, file: str) -> dict[str, Any]:
    """Return what a JSON, TOML or YAML file of the host says; nothing where there is none, or it cannot be read."""
    with suppress(CommonplaceError, OSError, ValueError):
        text = files.read(base, file, target.find_limits(base, file)).text or ""
        value: object = {}
        if file.endswith(".toml"):
            value = tomllib.loads(text)
        elif file.endswith(".yaml"):
            value = load_yaml(text)
        elif NAME in text:
            value = _load_json(text)
        return value if isinstance(value, dict) else {}
    return {}


def _load_json(text: str) -> object:
    """Return what JSON with or without comments says. A host's state may be large, and our own parser is slow."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    node = parse(text)
    return node.value if node is not None else None


def build_parts(host: Host, target: Target) -> list[Part]:
    """Return the parts that connect a host, with the servers of ours that its file has under other names.

    A plain one makes place for ours. One that says more stays in its place.
    """
    parts = list(host.build_parts(target))
    for part in parts.copy():
        if not isinstance(part, ConfigEntry) or part.path[-1] != NAME or find_server(part.value) is None:
            continue
        settings = read_settings(target, part.base, part.file)
        found = find_added_servers(host, target, (part.base, part.file), part.path[:-1], settings)
        others = [
            one._replace(value=part.value, editor=part.editor)
            for one in found
            if one.path != part.path and (target.has_retired or not one.is_elsewhere)
        ]
        parts += [one for one in others if one not in parts]
        if others and not target.has_retired and get_member(settings, part.path) is None:
            parts.remove(part)
    return parts


def find_added_servers(
    host: Host, target: Target, place: tuple[str, str], path: Sequence[str | None], settings: Mapping[str, Any]
) -> list[ConfigEntry]:
    """Return the servers of ours, as entries, that `mcp add` or a person put into an object of a file.

    `place` is the file, as a base and what is below it; `path` is that of the object. A server that says no more than
    ours would is `is_elsewhere`: connecting and disconnecting take it out, because connect has a place of its own for
    the server. Any other stays, and takes the place of ours. One under another name counts only if it serves the same
    agent from the same book, without options: any other is there beside ours on purpose.
    """
    listed = get_member(settings, path)
    return [
        ConfigEntry(*place, (*path, name), host.make_server(target), is_elsewhere=is_plain_server(value, host.name))
        for name, value in (listed.items() if isinstance(listed, dict) else ())
        if find_server(value) is not None and (name == NAME or _is_same_server(value, host, target))
    ]


def is_plain_server(value: object, host: str) -> bool:
    """Return whether the entry of a server says no more than connect would."""
    call = find_server(value)
    if call is None or not isinstance(value, dict):
        return False
    environment = value.get("env") or {}
    is_plain = not call.more and call.agent in (None, host) and value.keys() <= _PLAIN
    return is_plain and isinstance(environment, dict) and environment.keys() <= {"COMMONPLACE_ROOT"}


def _is_same_server(value: object, host: Host, target: Target) -> bool:
    """Return whether the entry of a server does what ours would."""
    call = find_server(value)
    is_same = call is not None and not call.more and call.agent in (None, host.name)
    root = target.commands.root
    return is_same and find_roots(value) == ({root} if root else set())


def find_enabled(settings: Mapping[str, Any], member: str, path: str, remove: str) -> InstalledPlugin | None:
    """Return the plugin of ours that a host's settings list as enabled, whatever marketplace it came from."""
    listed = settings.get(member)
    for name, value in listed.items() if isinstance(listed, dict) else ():
        is_enabled = value.get("enabled") is True if isinstance(value, dict) else value is True
        if is_enabled and name.startswith(f"{NAME}@") and not name.endswith("@skills-dir"):
            return InstalledPlugin(name, path, f"{remove} {name}")
    return None


def get_member(value: object, path: Sequence[str | None]) -> object:
    """Return what is at a path of nested objects; None where nothing is."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def join_path(base: str, file: str) -> str:
    """Return the full path of a file below a base."""
    return os.path.join(base, *file.split("/"))
