"""Anything else: a marked block in AGENTS.md, and the line that its MCP settings want, to be added by hand."""

from __future__ import annotations

from commonplace.hosts.wiring.texts import rules
from commonplace.hosts.wiring.values import PROJECT, Block, Host, Part, Site


def parts(site: Site) -> list[Part]:
    return [Block(site.base, "AGENTS.md", rules())]


HOST = Host(
    name="agents-md",
    title="Anything that reads AGENTS.md",
    programs=(),
    folders=(),
    scopes=(PROJECT,),
    hooks=(),
    parts=parts,
    mcp=False,
    notes=("Add the server to its MCP settings by hand: the command is `commonplace mcp --agent NAME`.",),
    reads="A marked block in the project's `AGENTS.md`; the server is added by hand: connect prints its line.",
)
