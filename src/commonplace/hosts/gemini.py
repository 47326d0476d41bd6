"""Gemini CLI: an extension of ours for the user; for a project, entries in its settings.json."""

from __future__ import annotations

from commonplace.hosts.wiring.shapes import (
    MILLISECONDS,
    claude_hooks,
    here,
    hook_entries,
    json_file,
    mcp_entry,
    semantic_version,
    server,
)
from commonplace.hosts.wiring.texts import skill
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Hook, Host, Part, Site, Whole

HOOKS = (
    Hook("session-start", "SessionStart"),  # a matcher would be compared as a whole there: one word, no choice
    Hook("prompt", "BeforeAgent"),
    Hook("stop", "AfterAgent", carries=NOTHING),
    Hook("pre-compact", "PreCompress", carries=NOTHING),
)


def extension(site: Site, base: str, folder: str) -> list[Part]:
    """The extension's files below a folder."""
    about = {
        "name": NAME,
        "version": semantic_version(),
        "description": "Durable memory shared by every agent you run: Markdown files on your own disk.",
        "mcpServers": {NAME: server(site.commands.mcp(HOST.name))},
    }
    hooks = claude_hooks(HOST, site, words=False, timeout=MILLISECONDS)
    return [
        json_file(base, f"{folder}/gemini-extension.json", about),
        json_file(base, f"{folder}/hooks/hooks.json", {"hooks": hooks}),
        Whole(base, f"{folder}/skills/{NAME}/SKILL.md", skill()),
    ]


def parts(site: Site) -> list[Part]:
    if not here(site):
        return extension(site, site.base, f".gemini/extensions/{NAME}")
    file = ".gemini/settings.json"
    return [
        mcp_entry(site.base, file, server(site.commands.mcp(HOST.name))),
        *hook_entries(site.base, file, claude_hooks(HOST, site, words=False, timeout=MILLISECONDS)),
    ]


HOST = Host(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    folders=(".gemini",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("Gemini starts servers and hooks in trusted folders only.",),
    reads=(
        "An extension in `~/.gemini/extensions/commonplace`, or entries in the project's "
        "`.gemini/settings.json`. Timeouts are in milliseconds; it has no filter by path for hooks, so "
        "protocol enforcement is not offered."
    ),
)
