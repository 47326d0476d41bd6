"""Visual Studio Code: a server in mcp.json, hooks in a file of our own, in the shape of Claude Code's.

`mcp.json` (in `.vscode` of a project, or in `Code/User` of your settings) and `commonplace-vscode.json` in
`.github/hooks` or `~/.copilot/hooks`. Timeouts are in seconds.
"""

from commonplace.hosts.config_edit.parts import (
    CLAUDE_HOOKS,
    NAME,
    SECONDS,
    WITH_COPILOT,
    ConfigEntry,
    Host,
    Part,
    Target,
    make_json_file,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    if target.is_project:
        base, file, folder = target.base, ".vscode/mcp.json", ".github/hooks"
    else:
        base, below = target.find_config_folder()
        file, folder = f"{below}Code/User/mcp.json", ".copilot/hooks"
    hooks = {
        hook.host_event: [
            {
                "type": "command",
                "command": HOST.make_hook_line(target, hook),
                "timeout": SECONDS,
            }
        ]
        for hook in HOST.active_hooks(target)
    }
    entry = {"type": "stdio", **HOST.make_server(target)}
    return [
        ConfigEntry(base, file, ("servers", NAME), entry),
        make_json_file(target.base, f"{folder}/{NAME}-vscode.json", {"hooks": hooks}),
    ]


HOST = Host(
    name="vscode",
    title="Visual Studio Code",
    programs=("code",),
    folders=(".vscode", ".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"),
    hooks=CLAUDE_HOOKS,
    build_parts=build_parts,
    notes=(WITH_COPILOT,),
)
