"""Cline: hooks are executables named after the event; a rule; the server in its own settings."""

from __future__ import annotations

from commonplace.hosts.wiring.commands import powershell_line, shell_line
from commonplace.hosts.wiring.shapes import here, mcp_entry, server
from commonplace.hosts.wiring.texts import rules
from commonplace.hosts.wiring.values import NAME, NOTHING, PROJECT, USER, Hook, Host, Part, Site, Whole

HOOKS = (
    Hook("session-start", "TaskStart"),
    Hook("prompt", "UserPromptSubmit"),
    Hook("pre-compact", "PreCompact", carries=NOTHING),
    Hook("stop", "TaskComplete", carries=NOTHING, retired=True),
)


def parts(site: Site) -> list[Part]:
    hooks, rule = (
        (".clinerules/hooks", ".clinerules") if here(site) else ("Documents/Cline/Hooks", "Documents/Cline/Rules")
    )
    found: list[Part] = []
    if not here(site):
        entry = server(site.commands.mcp(HOST.name), disabled=False)
        found.append(mcp_entry(site.base, ".cline/data/settings/cline_mcp_settings.json", entry))
    found += [_script(site, hooks, hook) for hook in HOST.wired(site)]
    return [*found, Whole(site.base, f"{rule}/{NAME}.md", rules())]


def _script(site: Site, folder: str, hook: Hook) -> Whole:
    words = site.commands.on(hook.event, HOST.name)
    if site.platform == "win32":
        return Whole(site.base, f"{folder}/{hook.theirs}.ps1", f"$input | {powershell_line(words)}\n")
    head = "#!/bin/sh\n# Made by `commonplace connect cline`; `commonplace disconnect cline` removes it.\n"
    text = f"{head}exec {shell_line(words, 'linux')}\n"
    return Whole(site.base, f"{folder}/{hook.theirs}", text, executable=True)


HOST = Host(
    name="cline",
    title="Cline",
    programs=("cline",),
    folders=(".cline", "Documents/Cline"),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("Switch hooks on in Cline's settings. In a project Cline reads no servers: connect it for the user, too.",),
    reads=(
        "Executables named after the event in `.clinerules/hooks` of a project or `~/Documents/Cline/Hooks`, "
        "the rule `commonplace.md` beside them, and for the user the server in "
        "`~/.cline/data/settings/cline_mcp_settings.json`. A hook of your own of the same name is never "
        "overwritten."
    ),
)
