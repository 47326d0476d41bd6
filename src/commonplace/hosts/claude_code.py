"""Claude Code 2.1: a plugin of ours in its skills folder, which it loads by itself. Nothing goes into any settings."""

from __future__ import annotations

import os

from commonplace.hosts.wiring.shapes import claude_hooks, host_folder, json_file, semantic_version, server
from commonplace.hosts.wiring.texts import skill
from commonplace.hosts.wiring.values import INSTRUCTIONS, NAME, NOTHING, PROJECT, USER, Hook, Host, Part, Site, Whole

_MEMORY = "projects/*/memory/**"  # its own memory files, below its folder
_TOOLS = "Read|Write|Edit"
HOOKS = (
    Hook("session-start", "SessionStart", matcher="startup|clear|compact"),
    Hook("prompt", "UserPromptSubmit"),
    Hook("stop", "Stop", carries=NOTHING),
    Hook("pre-compact", "PreCompact", carries=INSTRUCTIONS),
    Hook("subagent-start", "SubagentStart"),
    Hook("pre-tool", "PreToolUse", matcher=_TOOLS, only=f"~/.claude/{_MEMORY}", protocol=True),
    Hook("post-tool", "PostToolUse", matcher=_TOOLS, only=f"~/.claude/{_MEMORY}", protocol=True),
)


def manifest() -> dict[str, object]:
    return {
        "name": NAME,
        "version": semantic_version(),
        "description": "Durable memory shared by every agent you run: Markdown files on your own disk.",
        "author": {"name": "The Commonplace authors"},
        "license": "Apache-2.0",
        "keywords": ["memory", "markdown", "local-first"],
    }


def plugin(site: Site, base: str, folder: str) -> list[Part]:
    """The plugin's files below a folder."""
    return [
        json_file(base, f"{folder}/.claude-plugin/plugin.json", manifest()),
        json_file(base, f"{folder}/.mcp.json", {"mcpServers": {NAME: server(site.commands.mcp(HOST.name))}}),
        json_file(base, f"{folder}/hooks/hooks.json", {"hooks": claude_hooks(_moved(site), site, words=True)}),
        Whole(base, f"{folder}/skills/{NAME}/SKILL.md", skill()),
    ]


def parts(site: Site) -> list[Part]:
    base, folder = host_folder(site, "CLAUDE_CONFIG_DIR", ".claude")
    return plugin(site, base, f"{folder}/skills/{NAME}")


def _moved(site: Site) -> Host:
    """The host with the filter of its hooks where its folder is; `//` starts an absolute path there."""
    given = site.environment.get("CLAUDE_CONFIG_DIR", "")
    if not given:
        return HOST
    only = f"/{os.path.abspath(os.path.expanduser(given)).replace(os.sep, '/')}/{_MEMORY}"
    return HOST._replace(hooks=tuple(hook._replace(only=only) if hook.only else hook for hook in HOOKS))


HOST = Host(
    name="claude-code",
    title="Claude Code",
    programs=("claude",),
    folders=(".claude",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("It is loaded at the next session, or at once by /reload-plugins.",),
    reads=(
        "A plugin in `skills/commonplace` of `~/.claude` (or `CLAUDE_CONFIG_DIR`), or of the project's "
        "`.claude`, which it loads by itself as `commonplace@skills-dir`; one in a project after the folder is "
        "trusted. Your settings.json and .claude.json are not touched. With `--protocol`, tool calls on its "
        "own memory files are watched; its path filter (`if`) keeps every other call from starting a process. "
        "Timeouts are in seconds."
    ),
)
