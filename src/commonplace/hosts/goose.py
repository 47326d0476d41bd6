"""Goose: a plugin of ours for the hooks; for the user the server in its config.yaml."""

from __future__ import annotations

from commonplace.hosts.wiring.shapes import claude_hooks, config_folder, here, json_file, semantic_version
from commonplace.hosts.wiring.values import NAME, PROJECT, USER, Entry, Hook, Host, Part, Site

HOOKS = (
    Hook("session-start", "SessionStart"),
    Hook("prompt", "UserPromptSubmit"),
)


def parts(site: Site) -> list[Part]:
    folder = f".agents/plugins/{NAME}"
    about = {
        "name": NAME,
        "version": semantic_version(),
        "description": "Durable memory shared by every agent you run.",
    }
    found: list[Part] = [
        json_file(site.base, f"{folder}/plugin.json", about),
        json_file(site.base, f"{folder}/hooks/hooks.json", {"hooks": claude_hooks(HOST, site, words=False)}),
    ]
    if not here(site):
        words = site.commands.mcp(HOST.name)
        entry = {"name": NAME, "type": "stdio", "cmd": words[0], "args": words[1:], "enabled": True, "timeout": 300}
        base, below = config_folder(site)
        file = "Block/goose/config/config.yaml" if site.platform == "win32" else "goose/config.yaml"
        if site.platform == "darwin":
            base, below = site.base, ".config/"
        found.insert(0, Entry(base, f"{below}{file}", ("extensions", NAME), entry, format="yaml"))
    return found


HOST = Host(
    name="goose",
    title="Goose",
    programs=("goose",),
    folders=(".config/goose", "AppData/Roaming/Block/goose"),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("In a project Goose reads no servers: connect it for the user, too.",),
    reads=(
        "A plugin in `.agents/plugins/commonplace` of the user or the project, and for the user an extension "
        "in `~/.config/goose/config.yaml`. Timeouts are in seconds."
    ),
)
