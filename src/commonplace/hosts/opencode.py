"""OpenCode: a server in opencode.json, and a small plugin of ours that runs the hooks."""

from __future__ import annotations

import os

from commonplace.hosts.wiring.shapes import config_folder, here
from commonplace.hosts.wiring.shim import shim
from commonplace.hosts.wiring.texts import skill
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Entry, Hook, Host, Part, Site, Whole

HOOKS = (
    Hook("session-start", "experimental.chat.system.transform"),
    Hook("prompt", "chat.message"),
    Hook("pre-compact", "experimental.session.compacting", carries=NOTHING),
)


def parts(site: Site) -> list[Part]:
    base, below = (site.base, ".opencode/") if here(site) else _user_folder(site)
    top = "" if here(site) else below
    names = (f"{top}opencode.jsonc", f"{top}opencode.json")
    file = next((name for name in names if os.path.lexists(os.path.join(base, name))), names[1])
    entry = {"type": "local", "command": site.commands.mcp(HOST.name), "enabled": True}
    return [
        Entry(base, file, ("mcp", NAME), entry),
        Whole(base, f"{below}plugins/{NAME}.js", shim(site.commands.hook, site.commands.root)),
        Whole(base, f"{below}skills/{NAME}/SKILL.md", skill()),
    ]


def _user_folder(site: Site) -> tuple[str, str]:
    base, below = (site.home, ".config/") if site.platform in ("darwin", "win32") else config_folder(site)
    return base, f"{below}opencode/"


HOST = Host(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    folders=(".config/opencode", ".opencode"),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    reads=(
        "`opencode.json` (or `opencode.jsonc`), `plugins/commonplace.js` and `skills/commonplace/SKILL.md` in "
        "`~/.config/opencode`; in a project `opencode.json` and the rest below `.opencode`. The plugin starts "
        "commonplace-hook with a deadline, and goes on without it when that passes."
    ),
)
