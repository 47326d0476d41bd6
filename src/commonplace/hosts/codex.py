"""Codex CLI: a table in config.toml for the server, hooks in hooks.json, the skill beside them.

`config.toml`, `hooks.json` and `skills/commonplace/SKILL.md` in `~/.codex` (or `CODEX_HOME`), or in the project's
`.codex`, which it reads in trusted projects only. Hooks start untrusted: approve them with /hooks. It has no filter
by path for hooks, so protocol enforcement is not offered. Timeouts are in seconds.
"""

from commonplace.hosts.config_edit.added import find_enabled, join_path, read_settings
from commonplace.hosts.config_edit.parts import (
    CLAUDE_HOOKS,
    NAME,
    SECONDS,
    SESSION_END,
    ConfigEntry,
    Host,
    InstalledPlugin,
    Part,
    Target,
    make_hook_entries,
    make_skill_file,
)
from commonplace.hosts.config_edit.text_edit import TOML


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    base, folder = target.find_host_folder("CODEX_HOME", ".codex")
    table = HOST.make_server(target, startup_timeout_sec=2 * SECONDS)
    return [
        ConfigEntry(base, f"{folder}/config.toml", ("mcp_servers", NAME), table, editor=TOML),
        *make_hook_entries(base, f"{folder}/hooks.json", HOST.make_claude_hooks(target)),
        make_skill_file(base, folder),
    ]


def find_plugin(target: Target) -> InstalledPlugin | None:
    """Return the published plugin, if Codex has installed it from a marketplace."""
    base, folder = target.find_host_folder("CODEX_HOME", ".codex")
    file = f"{folder}/config.toml"
    return find_enabled(read_settings(target, base, file), "plugins", join_path(base, file), "codex plugin remove")


HOST = Host(
    name="codex",
    title="Codex CLI",
    programs=("codex",),
    folders=(".codex",),
    hooks=(*CLAUDE_HOOKS, SESSION_END),
    build_parts=build_parts,
    find_plugin=find_plugin,
    notes=(
        "Codex runs no new hook until you approve it: start Codex, run /hooks and approve the six commonplace-hook "
        "entries. Until then it has the tools but gets no brief. If their command line changes, Codex asks again.",
    ),
)
