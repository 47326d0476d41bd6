"""Cursor: a server in mcp.json, hooks in hooks.json, a rule in projects."""

from __future__ import annotations

from commonplace.hosts.wiring.commands import shell_line
from commonplace.hosts.wiring.shapes import here, hook_entries, mcp_entry, server
from commonplace.hosts.wiring.texts import rules
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Entry, Hook, Host, Part, Site, Whole

HOOKS = (
    Hook("session-start", "sessionStart"),
    Hook("prompt", "beforeSubmitPrompt", carries=NOTHING),
    Hook("stop", "stop", carries=NOTHING),
    Hook("pre-compact", "preCompact", carries=NOTHING),
)


def parts(site: Site) -> list[Part]:
    file = ".cursor/hooks.json"
    hooks = {
        hook.theirs: [{"command": shell_line(site.commands.on(hook.event, HOST.name), site.platform)}]
        for hook in HOST.wired(site)
    }
    found: list[Part] = [
        mcp_entry(site.base, ".cursor/mcp.json", server(site.commands.mcp(HOST.name))),
        *hook_entries(site.base, file, hooks),
        Entry(site.base, file, ("version",), 1, beside="hooks"),
    ]
    if here(site):
        head = "---\ndescription: How to use the memory of Commonplace\nalwaysApply: true\n---\n\n"
        found.append(Whole(site.base, f".cursor/rules/{NAME}.mdc", head + rules()))
    return found


HOST = Host(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folders=(".cursor",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    reads=(
        "`.cursor/mcp.json` and `.cursor/hooks.json`, for the user or the project, and in a project the rule "
        "`.cursor/rules/commonplace.mdc`. Only its sessionStart hook can add context."
    ),
)
