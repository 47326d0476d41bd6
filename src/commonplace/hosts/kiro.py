"""Kiro CLI 3: a server in settings/mcp.json, hooks in a file of our own, a steering file."""

from __future__ import annotations

from commonplace.hosts.wiring.commands import shell_line
from commonplace.hosts.wiring.shapes import SECONDS, json_file, mcp_entry, server
from commonplace.hosts.wiring.texts import rules
from commonplace.hosts.wiring.values import NAME, PROJECT, USER, Hook, Host, Part, Site, Whole

HOOKS = (
    Hook("session-start", "SessionStart"),
    Hook("prompt", "UserPromptSubmit"),
)


def parts(site: Site) -> list[Part]:
    hooks = [
        {
            "name": f"{NAME}-{hook.event}",
            "trigger": hook.theirs,
            "action": {
                "type": "command",
                "command": shell_line(site.commands.on(hook.event, HOST.name), site.platform),
            },
            "timeout": SECONDS,
        }
        for hook in HOST.wired(site)
    ]
    return [
        mcp_entry(site.base, ".kiro/settings/mcp.json", server(site.commands.mcp(HOST.name))),
        json_file(site.base, f".kiro/hooks/{NAME}.json", {"version": "v1", "hooks": hooks}),
        Whole(site.base, f".kiro/steering/{NAME}.md", rules()),
    ]


HOST = Host(
    name="kiro",
    title="Kiro CLI 3 and Kiro IDE",
    programs=("kiro-cli", "kiro"),
    folders=(".kiro",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("Kiro CLI 2 has hooks only inside agents: for it, `commonplace connect kiro2`.",),
    reads=(
        "`.kiro/settings/mcp.json`, `.kiro/hooks/commonplace.json` and `.kiro/steering/commonplace.md`, for "
        "the user or the project. What a hook prints becomes context as it is. Timeouts are in seconds."
    ),
)
