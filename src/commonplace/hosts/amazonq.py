"""Amazon Q Developer CLI: its hooks live inside agents, so connecting it makes an agent of our name."""

from __future__ import annotations

from commonplace.hosts.wiring.shapes import agent_file, here, json_file
from commonplace.hosts.wiring.values import NAME, PROJECT, USER, Hook, Host, Part, Site

HOOKS = (Hook("session-start", "agentSpawn"), Hook("prompt", "userPromptSubmit"))


def parts(site: Site) -> list[Part]:
    folder = ".amazonq/cli-agents" if here(site) else ".aws/amazonq/cli-agents"
    return [json_file(site.base, f"{folder}/{NAME}.json", agent_file(HOST, site, HOST.name))]


HOST = Host(
    name="amazonq",
    title="Amazon Q Developer CLI",
    programs=("q",),
    folders=(".aws/amazonq",),
    scopes=(USER, PROJECT),
    hooks=HOOKS,
    parts=parts,
    notes=("Start it with `q chat --agent commonplace`, or make that agent the default.",),
    reads=(
        "`.aws/amazonq/cli-agents/commonplace.json` for the user, `.amazonq/cli-agents/commonplace.json` for a "
        "project: an agent with every tool, our server and our hooks. Timeouts are in milliseconds."
    ),
)
