"""Cline: hooks are executables named after the event; a rule; the server in its own settings.

Executables named after the event in `.clinerules/hooks` of a project or `~/Documents/Cline/Hooks`, the rule
`commonplace.md` beside them, and for the user the server in `~/.cline/data/settings/cline_mcp_settings.json`. A hook
of your own of the same name is never overwritten.
"""

from commonplace.hosts.config_edit.commands import quote_for_powershell, quote_for_shell
from commonplace.hosts.config_edit.parts import NAME, Hook, Host, OwnedFile, Part, Target, render_rules

_SCRIPT_HEAD = "#!/bin/sh\n# Made by `commonplace connect cline`; `commonplace disconnect cline` removes it.\n"


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    found: list[Part] = []
    if target.is_project:
        hooks, rules = ".clinerules/hooks", ".clinerules"
    else:
        hooks, rules = "Documents/Cline/Hooks", "Documents/Cline/Rules"
        file = ".cline/data/settings/cline_mcp_settings.json"
        found.append(HOST.make_server_entry(target, file, disabled=False))
    for hook in HOST.active_hooks(target):
        words = target.build_hook(hook.event, HOST.name)
        script = f"{hooks}/{hook.host_event}"
        if target.platform == "win32":
            found.append(OwnedFile(target.base, f"{script}.ps1", f"$input | {quote_for_powershell(words)}\n"))
        else:
            text = f"{_SCRIPT_HEAD}exec {quote_for_shell(words, 'linux')}\n"
            found.append(OwnedFile(target.base, script, text, is_executable=True))
    return [*found, OwnedFile(target.base, f"{rules}/{NAME}.md", render_rules())]


HOST = Host(
    name="cline",
    title="Cline",
    programs=("cline",),
    folders=(".cline", "Documents/Cline"),
    hooks=(
        Hook("session-start", "TaskStart"),
        Hook("prompt", "UserPromptSubmit"),
        Hook("pre-compact", "PreCompact"),
        Hook("stop", "TaskComplete", is_retired=True),
    ),
    build_parts=build_parts,
    notes=("Switch hooks on in Cline's settings. In a project Cline reads no servers: connect it for the user, too.",),
)
