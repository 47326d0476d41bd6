"""Gemini CLI: an extension of ours for the user; for a project, entries in its settings.json.

An extension in `~/.gemini/extensions/commonplace`, or entries in the project's `.gemini/settings.json`. Timeouts are
in milliseconds; it has no filter by path for hooks, so protocol enforcement is not offered. The brief goes with the
first prompt: Gemini puts what SessionStart prints before the user's own first words, and leaves out both when it
resumes.
"""

from commonplace.hosts.config_edit.parts import (
    ABOUT,
    NAME,
    Hook,
    Host,
    Part,
    Target,
    format_version,
    make_hook_entries,
    make_json_file,
    make_skill_file,
)


def build_extension(target: Target, base: str, folder: str) -> list[Part]:
    """Return the extension's files below a folder."""
    about = {
        "name": NAME,
        "version": format_version(),
        "description": ABOUT,
        "mcpServers": {NAME: HOST.make_server(target)},
    }
    hooks = HOST.make_claude_hooks(target, units=1_000)
    return [
        make_json_file(base, f"{folder}/gemini-extension.json", about),
        make_json_file(base, f"{folder}/hooks/hooks.json", {"hooks": hooks}),
        make_skill_file(base, folder),
    ]


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    if not target.is_project:
        return build_extension(target, target.base, f".gemini/extensions/{NAME}")
    file = ".gemini/settings.json"
    return [
        HOST.make_server_entry(target, file),
        *make_hook_entries(target.base, file, HOST.make_claude_hooks(target, units=1_000)),
    ]


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
    notes=("Gemini starts servers and hooks in trusted folders only.",),
)
