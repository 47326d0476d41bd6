"""Kiro CLI 2: its hooks live inside agents, so connecting it makes an agent of our name.

`.kiro/agents/commonplace.json`, for the user or the project: an agent with every tool, our server and our hooks. What
a hook prints becomes context as it is. Timeouts are in milliseconds.
"""

from commonplace.hosts.config_edit.parts import AGENT_HOOKS, NAME, Host, Part, Target


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    # For the hook and the server it is Kiro: both versions send and understand the same.
    return [HOST._replace(name="kiro").make_agent_file(target, f".kiro/agents/{NAME}.json")]


HOST = Host(
    name="kiro2",
    title="Kiro CLI 2",
    programs=("kiro-cli",),
    folders=(".kiro",),
    hooks=AGENT_HOOKS,
    build_parts=build_parts,
    notes=("Start it with `kiro-cli chat --agent commonplace`, or make that agent the default.",),
)
