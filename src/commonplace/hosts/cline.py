"""Cline: hooks are executables named after the event; a rule; the server in its own settings."""

from __future__ import annotations

from commonplace.hosts.config_edit.commands import quote_for_powershell, quote_for_shell
from commonplace.hosts.config_edit.targets import NAME, NOTHING, Hook, Host, OwnedFile, Part, Target
from commonplace.hosts.config_edit.templates import make_server_entry, render_rules


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    found: list[Part] = []
    if target.is_project:
        hooks, rules = ".clinerules/hooks", ".clinerules"
    else:
        hooks, rules = "Documents/Cline/Hooks", "Documents/Cline/Rules"
        file = ".cline/data/settings/cline_mcp_settings.json"
        found.append(make_server_entry(target, HOST.name, file, disabled=False))
    found += [_make_script(target, hooks, hook) for hook in HOST.active_hooks(target)]
    return [*found, OwnedFile(target.base, f"{rules}/{NAME}.md", render_rules())]


def _make_script(target: Target, folder: str, hook: Hook) -> OwnedFile:
    words = target.commands.build_hook(hook.event, HOST.name)
    if target.platform == "win32":
        return OwnedFile(target.base, f"{folder}/{hook.host_event}.ps1", f"$input | {quote_for_powershell(words)}\n")
    head = "#!/bin/sh\n# Made by `commonplace connect cline`; `commonplace disconnect cline` removes it.\n"
    text = f"{head}exec {quote_for_shell(words, 'linux')}\n"
    return OwnedFile(target.base, f"{folder}/{hook.host_event}", text, is_executable=True)


HOST = Host(
    name="cline",
    title="Cline",
    programs=("cline",),
    folders=(".cline", "Documents/Cline"),
    hooks=(
        Hook("session-start", "TaskStart"),
        Hook("prompt", "UserPromptSubmit"),
        Hook("pre-compact", "PreCompact", carries=NOTHING),
        Hook("stop", "TaskComplete", carries=NOTHING, is_retired=True),
    ),
    build_parts=build_parts,
    notes=("Switch hooks on in Cline's settings. In a project Cline reads no servers: connect it for the user, too.",),
    documentation=(
        "Executables named after the event in `.clinerules/hooks` of a project or `~/Documents/Cline/Hooks`, "
        "the rule `commonplace.md` beside them, and for the user the server in "
        "`~/.cline/data/settings/cline_mcp_settings.json`. A hook of your own of the same name is never "
        "overwritten."
    ),
)
