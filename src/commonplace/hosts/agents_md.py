"""Anything else: a marked block in AGENTS.md, and the line that its MCP settings want, to be added by hand.

A marked block in the project's `AGENTS.md`; the server is added by hand: connect prints its line.
"""

from commonplace.hosts.config_edit.parts import PROJECT, Host, MarkedBlock, Part, Target, render_rules


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    return [MarkedBlock(target.base, "AGENTS.md", render_rules())]


HOST = Host(
    name="agents-md",
    title="Anything that reads AGENTS.md",
    scopes=(PROJECT,),
    build_parts=build_parts,
    has_mcp=False,
    notes=("Add the server to its MCP settings by hand: the command is `commonplace mcp --agent NAME`.",),
)
