"""Visual Studio Code: a server in mcp.json, hooks in a file of our own, in the shape of Claude Code's."""

from __future__ import annotations

from commonplace.hosts.wiring.commands import shell_line
from commonplace.hosts.wiring.shapes import SECONDS, config_folder, here, json_file, mcp_entry, server
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Hook, Host, Part, Site

HOOKS = (
    Hook("session-start", "SessionStart"),
    Hook("prompt", "UserPromptSubmit"),
    Hook("stop", "Stop", carries=NOTHING),
    Hook("pre-compact", "PreCompact", carries=NOTHING),
    Hook("subagent-start", "SubagentStart"),
)


def parts(site: Site) -> list[Part]:
    if here(site):
        base, file, folder = site.base, ".vscode/mcp.json", ".github/hooks"
    else:
        base, below = config_folder(site)
        file, folder = f"{below}Code/User/mcp.json", ".copilot/hooks"
    hooks = {
        hook.theirs: [
            {
                "type": "command",
                "command": shell_line(site.commands.on(hook.event, HOST.name), site.platform),
                "timeout": SECONDS,
            }
        ]
        for hook in HOST.wired(site)
    }
    entry = {"type": "stdio", **server(site.commands.mcp(HOST.name))}
    return [
        mcp_entry(base, file, entry, parent="servers"),
        json_file(site.base, f"{folder}/{NAME}-vscode.json", {"hooks": hooks}),
    ]


HOST = Host(
    name="vscode",
    title="Visual Studio Code",
    programs=("code",),
    folders=(".vscode", ".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    reads=(
        "`mcp.json` (in `.vscode` of a project, or in `Code/User` of your settings) and "
        "`commonplace-vscode.json` in `.github/hooks` or `~/.copilot/hooks`. Timeouts are in seconds. It also "
        "reads the hook files of Copilot CLI: connect one of the two in a place, or a session gets the brief "
        "twice."
    ),
)
