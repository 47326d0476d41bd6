"""Codex CLI: a table in config.toml for the server, hooks in hooks.json, the skill beside them."""

from __future__ import annotations

from commonplace.hosts.config_edit.targets import NAME, NOTHING, ConfigEntry, Hook, Host, Part, Target
from commonplace.hosts.config_edit.templates import (
    SECONDS,
    find_host_folder,
    make_claude_hooks,
    make_hook_entries,
    make_server,
    make_skill_file,
)


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    base, folder = find_host_folder(target, "CODEX_HOME", ".codex")
    table = make_server(target, HOST.name, startup_timeout_sec=2 * SECONDS)
    return [
        ConfigEntry(base, f"{folder}/config.toml", ("mcp_servers", NAME), table, format="toml"),
        *make_hook_entries(base, f"{folder}/hooks.json", make_claude_hooks(HOST, target)),
        make_skill_file(base, folder),
    ]


HOST = Host(
    name="codex",
    title="Codex CLI",
    programs=("codex",),
    folders=(".codex",),
    hooks=(
        Hook("session-start", "SessionStart", matcher="startup|clear|compact"),
        Hook("prompt", "UserPromptSubmit"),
        Hook("stop", "Stop", carries=NOTHING),
        Hook("pre-compact", "PreCompact", carries=NOTHING),
        Hook("subagent-start", "SubagentStart"),
    ),
    build_parts=build_parts,
    notes=(
        "Codex trusts no new hook: start it, run /hooks, look at the five of commonplace-hook and approve them. "
        "Until then it has the tools, but no brief. A change of the command line asks for approval again.",
    ),
    documentation=(
        "`config.toml`, `hooks.json` and `skills/commonplace/SKILL.md` in `~/.codex` (or `CODEX_HOME`), or in "
        "the project's `.codex`, which it reads in trusted projects only. Hooks start untrusted: approve them "
        "with /hooks. It has no filter by path for hooks, so protocol enforcement is not offered. Timeouts are "
        "in seconds."
    ),
)
