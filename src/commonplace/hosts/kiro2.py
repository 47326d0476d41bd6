"""Kiro CLI 2: its hooks live inside agents, so connecting it makes an agent of our name."""

from __future__ import annotations

from commonplace.hosts.wiring.shapes import agent_file, json_file
from commonplace.hosts.wiring.values import NAME, PROJECT, USER, Hook, Host, Part, Site

HOOKS = (
    Hook("session-start", "agentSpawn"),
    Hook("prompt", "userPromptSubmit"),
)


def parts(site: Site) -> list[Part]:
    # To the hook and the server it is Kiro: both versions say and understand the same.
    return [json_file(site.base, f".kiro/agents/{NAME}.json", agent_file(HOST, site, "kiro"))]


HOST = Host(
    name="kiro2",
    title="Kiro CLI 2",
    programs=("kiro-cli",),
    folders=(".kiro",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("Start it with `kiro-cli chat --agent commonplace`, or make that agent the default.",),
    reads=(
        "`.kiro/agents/commonplace.json`, for the user or the project: an agent with every tool, our server "
        "and our hooks. What a hook prints becomes context as it is. Timeouts are in milliseconds."
    ),
)
