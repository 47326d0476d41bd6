"""Cursor: a server in mcp.json, hooks in hooks.json, a rule in projects.

`.cursor/mcp.json` and `.cursor/hooks.json`, for the user or the project, and in a project the rule
`.cursor/rules/commonplace.mdc`. Only its sessionStart hook can add context.
"""

from commonplace.hosts.config_edit.parts import (
    NAME,
    ConfigEntry,
    Hook,
    Host,
    OwnedFile,
    Part,
    Target,
    make_hook_entries,
    render_rules,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    file = ".cursor/hooks.json"
    hooks = {hook.host_event: [{"command": HOST.make_hook_line(target, hook)}] for hook in HOST.active_hooks(target)}
    head = "---\ndescription: How to use the memory of Commonplace\nalwaysApply: true\n---\n\n"
    rule = OwnedFile(target.base, f".cursor/rules/{NAME}.mdc", head + render_rules())
    return [
        HOST.make_server_entry(target, ".cursor/mcp.json"),
        *make_hook_entries(target.base, file, hooks),
        ConfigEntry(target.base, file, ("version",), 1, companion_of="hooks"),
        *([rule] if target.is_project else []),
    ]


HOST = Host(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folders=(".cursor",),
    hooks=(
        Hook("session-start", "sessionStart"),
        Hook("prompt", "beforeSubmitPrompt"),
        Hook("stop", "stop"),
        Hook("pre-compact", "preCompact"),
    ),
    build_parts=build_parts,
)
