"""OpenCode: a server in opencode.json, and a small plugin of ours that runs the hooks.

`opencode.json` (or `opencode.jsonc`), `plugins/commonplace.js` and `skills/commonplace/SKILL.md` in
`~/.config/opencode`; in a project `opencode.json` and the rest below `.opencode`. The plugin starts commonplace-hook
with a deadline, and goes on without it when that passes. Requests for a title get neither brief nor recall.
"""

import os

from commonplace.hosts.config_edit.parts import (
    NAME,
    ConfigEntry,
    Hook,
    Host,
    OwnedFile,
    Part,
    Target,
    make_skill_file,
    render_opencode_plugin,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    if target.is_project:
        base, folder, config = target.base, ".opencode", "opencode.json"
    else:
        is_fixed = target.platform in ("darwin", "win32")
        base, below = (target.home, ".config/") if is_fixed else target.find_config_folder()
        folder = f"{below}opencode"
        config = f"{folder}/opencode.json"
    value = {"type": "local", "command": target.commands.build_mcp(HOST.name), "enabled": True}
    entries = [ConfigEntry(base, config, ("mcp", NAME), value)]
    if os.path.lexists(os.path.join(base, f"{config}c")):  # it reads both; what was in the other one before goes
        entries.insert(0, entries[0]._replace(file=f"{config}c"))
    return [
        *(entries if target.has_retired else entries[:1]),
        OwnedFile(base, f"{folder}/plugins/{NAME}.js", render_opencode_plugin(target.commands, *target.project_option)),
        make_skill_file(base, folder),
    ]


HOST = Host(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    folders=(".config/opencode", ".opencode"),
    hooks=(
        Hook("session-start", "experimental.chat.system.transform"),
        Hook("prompt", "chat.message"),
        Hook("pre-compact", "experimental.session.compacting"),
    ),
    build_parts=build_parts,
)
