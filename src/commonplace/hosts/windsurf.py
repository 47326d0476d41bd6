"""Windsurf: it can inject nothing, so it gets the server, and the rubric as a rule.

For the user `~/.codeium/windsurf/mcp_config.json` and a marked block in `memories/global_rules.md`; for a project the
rule `.windsurf/rules/commonplace.md`. It has no hook that could add context.
"""

from commonplace.hosts.config_edit.parts import NAME, Host, MarkedBlock, OwnedFile, Part, Target, render_rules


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    if target.is_project:
        text = f"---\ntrigger: always_on\n---\n\n{render_rules()}"
        return [OwnedFile(target.base, f".windsurf/rules/{NAME}.md", text)]
    folder = ".codeium/windsurf"
    return [
        HOST.make_server_entry(target, f"{folder}/mcp_config.json"),
        MarkedBlock(target.base, f"{folder}/memories/global_rules.md", render_rules()),
    ]


HOST = Host(
    name="windsurf",
    title="Windsurf",
    programs=("windsurf",),
    folders=(".codeium/windsurf",),
    build_parts=build_parts,
    notes=("Windsurf reads servers from the user's folder only: a project gets the rule alone.",),
)
