"""Visual Studio Code: a server in mcp.json, hooks in a file of our own, in the shape of Claude Code's."""

from __future__ import annotations

from commonplace.hosts.config_edit.targets import NAME, NOTHING, ConfigEntry, Hook, Host, Part, Target
from commonplace.hosts.config_edit.templates import (
    SECONDS,
    find_config_folder,
    make_hook_line,
    make_json_file,
    make_server,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    if target.is_project:
        base, file, folder = target.base, ".vscode/mcp.json", ".github/hooks"
    else:
        base, below = find_config_folder(target)
        file, folder = f"{below}Code/User/mcp.json", ".copilot/hooks"
    hooks = {
        hook.host_event: [
            {
                "type": "command",
                "command": make_hook_line(target, hook, HOST.name),
                "timeout": SECONDS,
            }
        ]
        for hook in HOST.active_hooks(target)
    }
    entry = {"type": "stdio", **make_server(target, HOST.name)}
    return [
        ConfigEntry(base, file, ("servers", NAME), entry),
        make_json_file(target.base, f"{folder}/{NAME}-vscode.json", {"hooks": hooks}),
    ]


HOST = Host(
    name="vscode",
    title="Visual Studio Code",
    programs=("code",),
    folders=(".vscode", ".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"),
    hooks=(
        Hook("session-start", "SessionStart"),
        Hook("prompt", "UserPromptSubmit"),
        Hook("stop", "Stop", carries=NOTHING),
        Hook("pre-compact", "PreCompact", carries=NOTHING),
        Hook("subagent-start", "SubagentStart"),
    ),
    build_parts=build_parts,
    documentation=(
        "`mcp.json` (in `.vscode` of a project, or in `Code/User` of your settings) and "
        "`commonplace-vscode.json` in `.github/hooks` or `~/.copilot/hooks`. Timeouts are in seconds. It also "
        "reads the hook files of Copilot CLI: connect one of the two in a place, or a session gets the brief "
        "twice."
    ),
)
