"""Cursor: a server in mcp.json, hooks in hooks.json, a rule in projects."""

from __future__ import annotations

from commonplace.hosts.config_edit.targets import NAME, NOTHING, ConfigEntry, Hook, Host, OwnedFile, Part, Target
from commonplace.hosts.config_edit.templates import (
    make_hook_entries,
    make_hook_line,
    make_server_entry,
    render_rules,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    file = ".cursor/hooks.json"
    hooks = {
        hook.host_event: [{"command": make_hook_line(target, hook, HOST.name)}] for hook in HOST.active_hooks(target)
    }
    found: list[Part] = [
        make_server_entry(target, HOST.name, ".cursor/mcp.json"),
        *make_hook_entries(target.base, file, hooks),
        ConfigEntry(target.base, file, ("version",), 1, companion_of="hooks"),
    ]
    if target.is_project:
        head = "---\ndescription: How to use the memory of Commonplace\nalwaysApply: true\n---\n\n"
        found.append(OwnedFile(target.base, f".cursor/rules/{NAME}.mdc", head + render_rules()))
    return found


HOST = Host(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folders=(".cursor",),
    hooks=(
        Hook("session-start", "sessionStart"),
        Hook("prompt", "beforeSubmitPrompt", carries=NOTHING),
        Hook("stop", "stop", carries=NOTHING),
        Hook("pre-compact", "preCompact", carries=NOTHING),
    ),
    build_parts=build_parts,
    documentation=(
        "`.cursor/mcp.json` and `.cursor/hooks.json`, for the user or the project, and in a project the rule "
        "`.cursor/rules/commonplace.mdc`. Only its sessionStart hook can add context."
    ),
)
