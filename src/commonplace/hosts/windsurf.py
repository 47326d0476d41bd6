"""Windsurf: it can inject nothing, so it gets the server, and the rubric as a rule."""

from __future__ import annotations

from commonplace.hosts.wiring.shapes import here, mcp_entry, server
from commonplace.hosts.wiring.texts import rules
from commonplace.hosts.wiring.values import NAME, PROJECT, USER, Block, Host, Part, Site, Whole


def parts(site: Site) -> list[Part]:
    if here(site):
        return [Whole(site.base, f".windsurf/rules/{NAME}.md", f"---\ntrigger: always_on\n---\n\n{rules()}")]
    folder = ".codeium/windsurf"
    return [
        mcp_entry(site.base, f"{folder}/mcp_config.json", server(site.commands.mcp(HOST.name))),
        Block(site.base, f"{folder}/memories/global_rules.md", rules()),
    ]


HOST = Host(
    name="windsurf",
    title="Windsurf",
    programs=("windsurf",),
    folders=(".codeium/windsurf",),
    scopes=(USER, PROJECT),
    hooks=(),
    parts=parts,
    notes=("Windsurf reads servers from the user's folder only: a project gets the rule alone.",),
    reads=(
        "For the user `~/.codeium/windsurf/mcp_config.json` and a marked block in `memories/global_rules.md`; "
        "for a project the rule `.windsurf/rules/commonplace.md`. It has no hook that could add context."
    ),
)
