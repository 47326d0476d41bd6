"""Kiro CLI 3: a server in settings/mcp.json, hooks in a file of our own, a steering file.

`.kiro/settings/mcp.json`, `.kiro/hooks/commonplace.json` and `.kiro/steering/commonplace.md`, for the user or the
project. What a hook prints becomes context as it is. Timeouts are in seconds.
"""

from commonplace.hosts.config_edit.parts import (
    NAME,
    SECONDS,
    Hook,
    Host,
    OwnedFile,
    Part,
    Target,
    make_json_file,
    render_rules,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    hooks = [
        {
            "name": f"{NAME}-{hook.event}",
            "trigger": hook.host_event,
            "action": {
                "type": "command",
                "command": HOST.make_hook_line(target, hook),
            },
            "timeout": SECONDS,
        }
        for hook in HOST.active_hooks(target)
    ]
    return [
        HOST.make_server_entry(target, ".kiro/settings/mcp.json"),
        make_json_file(target.base, f".kiro/hooks/{NAME}.json", {"version": "v1", "hooks": hooks}),
        OwnedFile(target.base, f".kiro/steering/{NAME}.md", render_rules()),
    ]


HOST = Host(
    name="kiro",
    title="Kiro CLI 3 and Kiro IDE",
    programs=("kiro-cli", "kiro"),
    folders=(".kiro",),
    hooks=(
        Hook("session-start", "SessionStart"),
        Hook("prompt", "UserPromptSubmit"),
    ),
    build_parts=build_parts,
    notes=("Kiro CLI 2 has hooks only inside agents: for it, `commonplace connect kiro2`.",),
)
