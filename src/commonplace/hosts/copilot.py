"""GitHub Copilot CLI: a server in mcp-config.json, hooks in a file of our own."""

from __future__ import annotations

from commonplace.hosts.config_edit.commands import quote_for_powershell, quote_for_shell
from commonplace.hosts.config_edit.targets import NAME, NOTHING, ConfigEntry, Hook, Host, Part, Target
from commonplace.hosts.config_edit.templates import (
    SECONDS,
    find_host_folder,
    make_json_file,
    make_server,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    base, folder = find_host_folder(target, "COPILOT_HOME", ".github" if target.is_project else ".copilot")
    hooks = {hook.host_event: [_make_hook(target, hook)] for hook in HOST.active_hooks(target)}
    entry = make_server(target, HOST.name, type="local", tools=["*"])
    file = ".mcp.json" if target.is_project else f"{folder}/mcp-config.json"
    return [
        ConfigEntry(base, file, ("mcpServers", NAME), entry),
        make_json_file(base, f"{folder}/hooks/{NAME}.json", {"version": 1, "hooks": hooks}),
    ]


def _make_hook(target: Target, hook: Hook) -> dict[str, object]:
    words = target.commands.build_hook(hook.event, HOST.name)
    return {
        "type": "command",
        "bash": quote_for_shell(words, "linux"),
        "powershell": quote_for_powershell(words),
        "timeoutSec": SECONDS,
    }


HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    programs=("copilot",),
    folders=(".copilot",),
    hooks=(
        Hook("session-start", "sessionStart"),
        Hook("prompt", "userPromptSubmitted", carries=NOTHING),
        Hook("stop", "agentStop", carries=NOTHING),
        Hook("pre-compact", "preCompact", carries=NOTHING),
    ),
    build_parts=build_parts,
    documentation=(
        "`mcp-config.json` and `hooks/commonplace.json` in `~/.copilot` (or `COPILOT_HOME`); for a project "
        "`.mcp.json` and `.github/hooks/commonplace.json`. What its prompt hook prints is dropped. Timeouts "
        "are in seconds. VS Code reads the same hook files: connect one of the two in a place, or a session "
        "gets the brief twice."
    ),
)
