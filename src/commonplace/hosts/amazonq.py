"""Amazon Q Developer CLI: its hooks live inside agents, so connecting it makes an agent of our name."""

from __future__ import annotations

from commonplace.hosts.config_edit.targets import NAME, Hook, Host, Part, Target
from commonplace.hosts.config_edit.templates import make_agent_file


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    folder = ".amazonq/cli-agents" if target.is_project else ".aws/amazonq/cli-agents"
    return [make_agent_file(HOST, target, f"{folder}/{NAME}.json", HOST.name)]


HOST = Host(
    name="amazonq",
    title="Amazon Q Developer CLI",
    programs=("q",),
    folders=(".aws/amazonq",),
    hooks=(Hook("session-start", "agentSpawn"), Hook("prompt", "userPromptSubmit")),
    build_parts=build_parts,
    notes=("Start it with `q chat --agent commonplace`, or make that agent the default.",),
    documentation=(
        "`.aws/amazonq/cli-agents/commonplace.json` for the user, `.amazonq/cli-agents/commonplace.json` for a "
        "project: an agent with every tool, our server and our hooks. Timeouts are in milliseconds."
    ),
)
