"""Gemini CLI: an extension of ours for the user; for a project, entries in its settings.json.

An extension in `~/.gemini/extensions/commonplace`, or entries in the project's `.gemini/settings.json`. Timeouts are
in milliseconds; it has no filter by path for hooks, so protocol enforcement is not offered. The brief goes with the
first prompt: Gemini puts what SessionStart prints before the user's own first words, and leaves out both when it
resumes.
"""

import os

from commonplace.hosts.config_edit.added import find_added_servers, read_settings
from commonplace.hosts.config_edit.parts import (
    ABOUT,
    NAME,
    Hook,
    Host,
    InstalledPlugin,
    Part,
    Target,
    format_version,
    make_hook_entries,
    make_json_file,
    make_skill_file,
)


def build_extension(target: Target, base: str, folder: str, *, has_server: bool = True) -> list[Part]:
    """Return the extension's files below a folder."""
    about = {"name": NAME, "version": format_version(), "description": ABOUT}
    servers = {"mcpServers": {NAME: HOST.make_server(target)}} if has_server else {}
    hooks = HOST.make_claude_hooks(target, units=1_000)
    return [
        make_json_file(base, f"{folder}/gemini-extension.json", about | servers),
        make_json_file(base, f"{folder}/hooks/hooks.json", {"hooks": hooks}),
        make_skill_file(base, folder),
    ]


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    file = ".gemini/settings.json"
    if not target.is_project:
        settings = read_settings(target, target.base, file)
        added = find_added_servers(HOST, target, (target.base, file), ("mcpServers",), settings)
        kept = [part for part in added if not part.is_elsewhere]  # these take the place of ours
        parts = build_extension(target, target.base, f".gemini/extensions/{NAME}", has_server=not kept)
        return [*parts, *(added if target.has_retired else kept)]
    return [
        HOST.make_server_entry(target, file),
        *make_hook_entries(target.base, file, HOST.make_claude_hooks(target, units=1_000)),
    ]


def find_plugin(target: Target) -> InstalledPlugin | None:
    """Return the published extension, if Gemini CLI has installed it."""
    mark = os.path.join(target.base, ".gemini", "extensions", NAME, ".gemini-extension-install.json")
    if target.is_project or not os.path.exists(mark):
        return None
    return InstalledPlugin(NAME, mark, f"gemini extensions uninstall {NAME}", has_our_place=True)


HOST = Host(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    folders=(".gemini",),
    hooks=(
        Hook("session-start", "SessionStart"),  # Gemini compares a matcher as a whole: it could name one kind only
        Hook("prompt", "BeforeAgent"),
        Hook("stop", "AfterAgent"),
        Hook("pre-compact", "PreCompress"),
    ),
    build_parts=build_parts,
    find_plugin=find_plugin,
    notes=("Gemini starts servers and hooks in trusted folders only.",),
)
