"""Codex CLI: a table in config.toml for the server, hooks in hooks.json, the skill beside them."""

from __future__ import annotations

from commonplace.hosts.wiring.shapes import SECONDS, claude_hooks, hook_entries, host_folder, server
from commonplace.hosts.wiring.texts import skill
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Entry, Hook, Host, Part, Site, Whole

HOOKS = (
    Hook("session-start", "SessionStart", matcher="startup|clear|compact"),
    Hook("prompt", "UserPromptSubmit"),
    Hook("stop", "Stop", carries=NOTHING),
    Hook("pre-compact", "PreCompact", carries=NOTHING),
    Hook("subagent-start", "SubagentStart"),
)


def parts(site: Site) -> list[Part]:
    base, folder = host_folder(site, "CODEX_HOME", ".codex")
    table = server(site.commands.mcp(HOST.name), startup_timeout_sec=2 * SECONDS)
    return [
        Entry(base, f"{folder}/config.toml", ("mcp_servers", NAME), table, format="toml"),
        *hook_entries(base, f"{folder}/hooks.json", claude_hooks(HOST, site, words=False)),
        Whole(base, f"{folder}/skills/{NAME}/SKILL.md", skill()),
    ]


HOST = Host(
    name="codex",
    title="Codex CLI",
    programs=("codex",),
    folders=(".codex",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=(
        "Codex trusts no new hook: start it, run /hooks, look at the five of commonplace-hook and approve them. "
        "Until then it has the tools, but no brief. A change of the command line asks for approval again.",
    ),
    reads=(
        "`config.toml`, `hooks.json` and `skills/commonplace/SKILL.md` in `~/.codex` (or `CODEX_HOME`), or in "
        "the project's `.codex`, which it reads in trusted projects only. Hooks start untrusted: approve them "
        "with /hooks. It has no filter by path for hooks, so protocol enforcement is not offered. Timeouts are "
        "in seconds."
    ),
)
