"""Goose: a plugin of ours for the hooks; for the user the server in its config.yaml.

A plugin in `.agents/plugins/commonplace` of the user or the project, and for the user an extension in
`~/.config/goose/config.yaml`. Timeouts are in seconds.
"""

from commonplace.hosts.config_edit.parts import (
    NAME,
    ConfigEntry,
    Hook,
    Host,
    Part,
    Target,
    format_version,
    make_json_file,
)
from commonplace.hosts.config_edit.text_edit import YAML


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    folder = f".agents/plugins/{NAME}"
    about = {
        "name": NAME,
        "version": format_version(),
        "description": "Durable memory shared by every agent you run.",
    }
    found: list[Part] = [
        make_json_file(target.base, f"{folder}/plugin.json", about),
        make_json_file(target.base, f"{folder}/hooks/hooks.json", {"hooks": HOST.make_claude_hooks(target)}),
    ]
    if not target.is_project:
        words = target.commands.build_mcp(HOST.name)
        entry = {"name": NAME, "type": "stdio", "cmd": words[0], "args": words[1:], "enabled": True, "timeout": 300}
        base, below = target.find_config_folder()
        file = "Block/goose/config/config.yaml" if target.platform == "win32" else "goose/config.yaml"
        if target.platform == "darwin":
            base, below = target.base, ".config/"
        found.insert(0, ConfigEntry(base, f"{below}{file}", ("extensions", NAME), entry, editor=YAML))
    return found


HOST = Host(
    name="goose",
    title="Goose",
    programs=("goose",),
    folders=(".config/goose", "AppData/Roaming/Block/goose"),
    hooks=(
        Hook("session-start", "SessionStart"),
        Hook("prompt", "UserPromptSubmit"),
    ),
    build_parts=build_parts,
    notes=("In a project Goose reads no servers: connect it for the user, too.",),
)
