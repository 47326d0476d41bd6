"""Claude Code 2.1: a plugin of ours in its skills folder, which it loads by itself. Nothing goes into any settings.

A plugin in `skills/commonplace` of `~/.claude` (or `CLAUDE_CONFIG_DIR`), or of the project's `.claude`, which it
loads by itself as `commonplace@skills-dir`; one in a project after the folder is trusted. Your settings.json is
not touched; in .claude.json and a project's .mcp.json only a server of ours that `claude mcp add` wrote. With
`--protocol`, tool calls on its own memory files are watched; its path filter (`if`) keeps every other call from
starting a process. Timeouts are in seconds.
"""

import os

from commonplace.hosts.config_edit.added import (
    find_added_servers,
    find_enabled,
    get_member,
    join_path,
    read_settings,
)
from commonplace.hosts.config_edit.entries import find_roots, find_server
from commonplace.hosts.config_edit.parts import (
    ABOUT,
    CLAUDE_HOOKS,
    NAME,
    SESSION_END,
    ConfigEntry,
    Hook,
    Host,
    InstalledPlugin,
    Part,
    Target,
    format_version,
    make_json_file,
    make_skill_file,
)

_SERVERS = ("mcpServers",)
_PROJECT_FILE = ".mcp.json"
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
    host = HOST
    given = target.environment.get("CLAUDE_CONFIG_DIR", "")
    if given:  # the filter of the hooks is on the folder it really uses; `//` starts an absolute path there
        home = os.path.abspath(os.path.expanduser(given)).replace(os.sep, "/")
        moved = (hook._replace(path_filter=hook.path_filter.replace("~/.claude", f"/{home}")) for hook in HOST.hooks)
        host = HOST._replace(hooks=tuple(moved))
    hooks = host.make_claude_hooks(target, is_words=True)
    return [
        make_json_file(base, f"{folder}/.claude-plugin/plugin.json", manifest),
        make_json_file(base, f"{folder}/.mcp.json", {"mcpServers": {NAME: HOST.make_server(target)}}),
        make_json_file(base, f"{folder}/hooks/hooks.json", {"hooks": hooks}),
        make_skill_file(base, folder),
    ]


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    base, folder = target.find_host_folder("CLAUDE_CONFIG_DIR", ".claude")
    parts = build_plugin(target, base, f"{folder}/skills/{NAME}")
    added = find_added(target, base, folder)
    if target.has_retired:
        return [*parts, *added]
    kept = [part for part in added if not part.is_elsewhere]
    if kept or _has_other_agent(target, base):  # it takes the place of ours
        parts = [part for part in parts if not part.file.endswith("/.mcp.json")]
    return [*parts, *kept]


def find_added(target: Target, base: str, folder: str) -> list[ConfigEntry]:
    """Return the servers that `claude mcp add` wrote: for the user, and for one project; or into the project's file."""
    if target.is_project:
        settings = read_settings(target, base, _PROJECT_FILE)
        found = find_added_servers(HOST, target, (base, _PROJECT_FILE), _SERVERS, settings)
        return [] if _has_other_agent(target, base) else found
    file = f"{folder}/.claude.json" if target.environment.get("CLAUDE_CONFIG_DIR") else ".claude.json"
    settings = read_settings(target, base, file)
    found = find_added_servers(HOST, target, (base, file), _SERVERS, settings)
    projects = settings.get("projects")
    for project in projects if isinstance(projects, dict) else ():
        added = find_added_servers(HOST, target, (base, file), ("projects", project, *_SERVERS), settings)
        # One with a book or options of its own is for that project alone, and stays there.
        found += [part for part in added if part.is_elsewhere and not find_roots(get_member(settings, part.path))]
    return found


def _has_other_agent(target: Target, base: str) -> bool:
    """Return whether the project's file serves another agent that reads it, Copilot CLI: it is not ours to change."""
    settings = read_settings(target, base, _PROJECT_FILE) if target.is_project else {}
    call = find_server(get_member(settings, (*_SERVERS, NAME)))
    return call is not None and call.agent not in (None, HOST.name)


def find_plugin(target: Target) -> InstalledPlugin | None:
    """Return the published plugin, if Claude Code has installed it from a marketplace."""
    base, folder = target.find_host_folder("CLAUDE_CONFIG_DIR", ".claude")
    names = ("settings.json", "settings.local.json") if target.is_project else ("settings.json",)
    for name in names:
        file = f"{folder}/{name}"
        settings = read_settings(target, base, file)
        found = find_enabled(settings, "enabledPlugins", join_path(base, file), "claude plugin uninstall")
        if found is not None:
            return found
    return None


HOST = Host(
    name="claude-code",
    title="Claude Code",
    programs=("claude",),
    folders=(".claude",),
    hooks=(
        *CLAUDE_HOOKS,
        SESSION_END,
        Hook("pre-tool", "PreToolUse", matcher=_TOOLS, path_filter=_MEMORY_FILES, is_protocol=True),
        Hook("post-tool", "PostToolUse", matcher=_TOOLS, path_filter=_MEMORY_FILES, is_protocol=True),
    ),
    build_parts=build_parts,
    find_plugin=find_plugin,
    notes=("It is loaded at the next session, or at once by /reload-plugins.",),
)
