"""Claude Code 2.1: a plugin of ours in its skills folder, which it loads by itself. Nothing goes into any settings."""

from __future__ import annotations

import os

from commonplace.hosts.config_edit.targets import INSTRUCTIONS, NAME, NOTHING, Hook, Host, Part, Target
from commonplace.hosts.config_edit.templates import (
    ABOUT,
    find_host_folder,
    format_version,
    make_claude_hooks,
    make_json_file,
    make_server,
    make_skill_file,
)

_MEMORY_FILES = "~/.claude/projects/*/memory/**"  # its own memory
_TOOLS = "Read|Write|Edit"


def build_plugin(target: Target, base: str, folder: str) -> list[Part]:
    """Return the plugin's files below a folder."""
    manifest = {
        "name": NAME,
        "version": format_version(),
        "description": ABOUT,
        "author": {"name": "The Commonplace authors"},
        "license": "Apache-2.0",
        "keywords": ["memory", "markdown", "local-first"],
    }
    hooks = make_claude_hooks(_move_path_filter(target), target, is_words=True)
    return [
        make_json_file(base, f"{folder}/.claude-plugin/plugin.json", manifest),
        make_json_file(base, f"{folder}/.mcp.json", {"mcpServers": {NAME: make_server(target, HOST.name)}}),
        make_json_file(base, f"{folder}/hooks/hooks.json", {"hooks": hooks}),
        make_skill_file(base, folder),
    ]


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    base, folder = find_host_folder(target, "CLAUDE_CONFIG_DIR", ".claude")
    return build_plugin(target, base, f"{folder}/skills/{NAME}")


def _move_path_filter(target: Target) -> Host:
    """Return the host with the filter of its hooks on the folder it really uses; `//` starts an absolute path there."""
    given = target.environment.get("CLAUDE_CONFIG_DIR", "")
    if not given:
        return HOST
    folder = os.path.abspath(os.path.expanduser(given)).replace(os.sep, "/")
    hooks = (hook._replace(path_filter=hook.path_filter.replace("~/.claude", f"/{folder}")) for hook in HOST.hooks)
    return HOST._replace(hooks=tuple(hooks))


HOST = Host(
    name="claude-code",
    title="Claude Code",
    programs=("claude",),
    folders=(".claude",),
    hooks=(
        Hook("session-start", "SessionStart", matcher="startup|clear|compact"),
        Hook("prompt", "UserPromptSubmit"),
        Hook("stop", "Stop", carries=NOTHING),
        Hook("pre-compact", "PreCompact", carries=INSTRUCTIONS),
        Hook("subagent-start", "SubagentStart"),
        Hook("pre-tool", "PreToolUse", matcher=_TOOLS, path_filter=_MEMORY_FILES, is_protocol=True),
        Hook("post-tool", "PostToolUse", matcher=_TOOLS, path_filter=_MEMORY_FILES, is_protocol=True),
    ),
    build_parts=build_parts,
    notes=("It is loaded at the next session, or at once by /reload-plugins.",),
    documentation=(
        "A plugin in `skills/commonplace` of `~/.claude` (or `CLAUDE_CONFIG_DIR`), or of the project's "
        "`.claude`, which it loads by itself as `commonplace@skills-dir`; one in a project after the folder is "
        "trusted. Your settings.json and .claude.json are not touched. With `--protocol`, tool calls on its "
        "own memory files are watched; its path filter (`if`) keeps every other call from starting a process. "
        "Timeouts are in seconds."
    ),
)
