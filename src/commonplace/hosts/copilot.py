"""GitHub Copilot CLI: a server in mcp-config.json, hooks in a file of our own.

`mcp-config.json` and `hooks/commonplace.json` in `~/.copilot` (or `COPILOT_HOME`); for a project `.mcp.json` and
`.github/hooks/commonplace.json`. What its prompt hook prints is dropped. Timeouts are in seconds.
"""

from commonplace.hosts.config_edit.commands import quote_for_powershell, quote_for_shell
from commonplace.hosts.config_edit.parts import (
    NAME,
    SECONDS,
    WITH_COPILOT,
    ConfigEntry,
    Hook,
    Host,
    Part,
    Target,
    make_json_file,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    base, folder = target.find_host_folder("COPILOT_HOME", ".github" if target.is_project else ".copilot")
    hooks = {}
    for hook in HOST.active_hooks(target):
        words = target.build_hook(hook.event, HOST.name)
        command = {
            "type": "command",
            "bash": quote_for_shell(words, "linux"),
            "powershell": quote_for_powershell(words),
            "timeoutSec": SECONDS,
        }
        hooks[hook.host_event] = [command]
    entry = HOST.make_server(target, type="local", tools=["*"])
    file = ".mcp.json" if target.is_project else f"{folder}/mcp-config.json"
    return [
        ConfigEntry(base, file, ("mcpServers", NAME), entry),
        make_json_file(base, f"{folder}/hooks/{NAME}.json", {"version": 1, "hooks": hooks}),
    ]


HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    programs=("copilot",),
    folders=(".copilot",),
    hooks=(
        Hook("session-start", "sessionStart"),
        Hook("prompt", "userPromptSubmitted"),
        Hook("stop", "agentStop"),
        Hook("pre-compact", "preCompact"),
    ),
    build_parts=build_parts,
    notes=(WITH_COPILOT,),
)
