"""GitHub Copilot CLI: a server in mcp-config.json, hooks in a file of our own."""

from __future__ import annotations

from commonplace.hosts.wiring.commands import powershell_line, shell_line
from commonplace.hosts.wiring.shapes import SECONDS, here, host_folder, json_file, mcp_entry, server
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Hook, Host, Part, Site

HOOKS = (
    Hook("session-start", "sessionStart"),
    Hook("prompt", "userPromptSubmitted", carries=NOTHING),
    Hook("stop", "agentStop", carries=NOTHING),
    Hook("pre-compact", "preCompact", carries=NOTHING),
)


def parts(site: Site) -> list[Part]:
    base, folder = host_folder(site, "COPILOT_HOME", ".github" if here(site) else ".copilot")
    hooks = {hook.theirs: [_started(site, hook)] for hook in HOST.wired(site)}
    entry = server(site.commands.mcp(HOST.name), type="local", tools=["*"])
    mcp = mcp_entry(base, ".mcp.json" if here(site) else f"{folder}/mcp-config.json", entry)
    return [mcp, json_file(base, f"{folder}/hooks/{NAME}.json", {"version": 1, "hooks": hooks})]


def _started(site: Site, hook: Hook) -> dict[str, object]:
    words = site.commands.on(hook.event, HOST.name)
    return {
        "type": "command",
        "bash": shell_line(words, "linux"),
        "powershell": powershell_line(words),
        "timeoutSec": SECONDS,
    }


HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    programs=("copilot",),
    folders=(".copilot",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    reads=(
        "`mcp-config.json` and `hooks/commonplace.json` in `~/.copilot` (or `COPILOT_HOME`); for a project "
        "`.mcp.json` and `.github/hooks/commonplace.json`. What its prompt hook prints is dropped. Timeouts "
        "are in seconds. VS Code reads the same hook files: connect one of the two in a place, or a session "
        "gets the brief twice."
    ),
)
