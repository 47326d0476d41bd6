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
from commonplace.hosts.config_edit.entries import find_server
from commonplace.hosts.config_edit.json_edit import parse
from commonplace.hosts.config_edit.parts import NAME, ConfigEntry, Host, InstalledPlugin, Target
from commonplace.model.errors import CommonplaceError

_PLAIN = {"type", "command", "args", "env", "trust"}


def read_settings(target: Target, base: str, file: str) -> dict[str, Any]:
    """Return what a JSON or TOML file of the host says; nothing where there is none, or it cannot be read."""
    with suppress(CommonplaceError, OSError, ValueError):
        text = files.read(base, file, target.find_limits(base, file)).text or ""
        value: object = {}
        if file.endswith(".toml"):
            value = tomllib.loads(text)
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


def find_added_server(
    host: Host, target: Target, place: tuple[str, str], path: tuple[str, ...], settings: Mapping[str, Any]
) -> list[ConfigEntry]:
    """Return the server that `mcp add` put at a path of a file, a base and what is below it, as an entry, if it did.

    One that says no more than ours would is `is_elsewhere`: connecting and disconnecting take it out, because connect
    has a place of its own for the server. Any other stays, and takes the place of ours.
    """
    value = get_member(settings, path)
    if find_server(value) is None:
        return []
    return [ConfigEntry(*place, path, host.make_server(target), is_elsewhere=is_plain_server(value, host.name))]


def is_plain_server(value: object, host: str) -> bool:
    """Return whether the entry of a server says no more than connect would."""
    call = find_server(value)
    if call is None or not isinstance(value, dict):
        return False
    environment = value.get("env") or {}
    is_plain = not call.more and call.agent in (None, host) and value.keys() <= _PLAIN
    return is_plain and isinstance(environment, dict) and environment.keys() <= {"COMMONPLACE_ROOT"}


def find_enabled(settings: Mapping[str, Any], member: str, path: str, remove: str) -> InstalledPlugin | None:
    """Return the plugin of ours that a host's settings list as enabled, whatever marketplace it came from."""
    listed = settings.get(member)
    for name, value in listed.items() if isinstance(listed, dict) else ():
        is_enabled = value.get("enabled") is True if isinstance(value, dict) else value is True
        if is_enabled and name.startswith(f"{NAME}@") and not name.endswith("@skills-dir"):
            return InstalledPlugin(name, path, f"{remove} {name}")
    return None


def get_member(value: object, path: Sequence[str]) -> object:
    """Return what is at a path of nested objects; None where nothing is."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def join_path(base: str, file: str) -> str:
    """Return the full path of a file below a base."""
    return os.path.join(base, *file.split("/"))
