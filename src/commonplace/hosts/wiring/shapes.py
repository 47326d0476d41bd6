"""Shapes that several hosts share: a server's entry, hooks as Claude Code writes them, an agent file, a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from commonplace.hosts.wiring.commands import shell_line
from commonplace.hosts.wiring.json_edit import render
from commonplace.hosts.wiring.values import NAME, PROJECT, USER, Entry, Hook, Host, Site, Whole
from commonplace.model.patterns import lazy
from commonplace.model.version import VERSION

_PYTHON_VERSION = lazy(r"(\d+\.\d+\.\d+)\.?(dev|a|b|rc)(\d+)")
SECONDS = 10  # a hook ends itself after 0.3; this is for the host that would wait for ever
MILLISECONDS = SECONDS * 1000


def semantic_version() -> str:
    """Our version as hosts want one: 0.1.0.dev0 is 0.1.0-dev.0."""
    return _PYTHON_VERSION.sub(r"\1-\2.\3", VERSION)


def server(words: Sequence[str], **more: object) -> dict[str, object]:
    """An MCP server as most hosts have it."""
    return {"command": words[0], "args": list(words[1:]), **more}


def mcp_entry(base: str, file: str, value: object, parent: str = "mcpServers") -> Entry:
    return Entry(base, file, (parent, NAME), value)


def claude_hooks(host: Host, site: Site, *, words: bool, timeout: int = SECONDS) -> dict[str, list[object]]:
    """Hooks by the host's event: groups with a matcher, each with the commands that it starts.

    With `words` a command is a list of words and no shell reads it; else it is one line for the shell.
    """
    found: dict[str, list[object]] = {}
    for hook in host.wired(site):
        command = site.commands.on(hook.event, host.name)
        started: dict[str, object] = {"type": "command"}
        if words:
            started |= {"command": command[0], "args": command[1:]}
        else:
            started |= {"command": shell_line(command, site.platform)}
        group: dict[str, object] = {"matcher": hook.matcher} if hook.matcher else {}
        found.setdefault(hook.theirs, []).append({**group, "hooks": _filtered(hook, {**started, "timeout": timeout})})
    return found


def _filtered(hook: Hook, started: dict[str, object]) -> list[object]:
    """The command once; or once per tool, each only for the paths that the hook is about."""
    if not hook.only:
        return [started]
    return [{"type": "command", "if": f"{tool}({hook.only})", **started} for tool in hook.matcher.split("|")]


def hook_entries(base: str, file: str, hooks: Mapping[str, Sequence[object]]) -> list[Entry]:
    """Hooks as elements of lists in a file that others write to, too."""
    return [Entry(base, file, ("hooks", event, None), group) for event, groups in hooks.items() for group in groups]


def agent_file(host: Host, site: Site, name: str) -> dict[str, object]:
    """An agent of Kiro 2 or Amazon Q: hooks and server in one file. Without `tools` it would have none."""
    words = site.commands.mcp(name)
    hooks = {
        hook.theirs: [
            {"command": shell_line(site.commands.on(hook.event, name), site.platform), "timeout_ms": MILLISECONDS}
        ]
        for hook in host.wired(site)
    }
    return {
        "name": NAME,
        "description": "The default agent with the memory of Commonplace.",
        "tools": ["*"],
        "mcpServers": {NAME: server(words)},
        "includeMcpJson": True,
        "hooks": hooks,
    }


def json_file(base: str, file: str, value: object) -> Whole:
    return Whole(base, file, render(value) + "\n")


def host_folder(site: Site, variable: str, folder: str) -> tuple[str, str]:
    """The host's folder as a base that is there and a path below it; the environment may name another for the user."""
    given = site.environment.get(variable, "") if site.scope == USER and variable else ""
    if given:
        path = os.path.abspath(os.path.expanduser(given))
        return os.path.dirname(path), os.path.basename(path)
    return site.base, folder


def config_folder(site: Site) -> tuple[str, str]:
    """The base and the path below it where programs keep their settings on this platform, for the user."""
    if site.platform == "win32":
        return site.environment.get("APPDATA") or os.path.join(site.home, "AppData", "Roaming"), ""
    if site.platform == "darwin":
        return site.home, "Library/Application Support/"
    given = site.environment.get("XDG_CONFIG_HOME", "").rstrip("/")
    return (os.path.dirname(given), f"{os.path.basename(given)}/") if given else (site.home, ".config/")


def here(site: Site) -> bool:
    return site.scope == PROJECT
