"""Amazon Q Developer CLI: its hooks live inside agents, so connecting it makes an agent of our name.

`.aws/amazonq/cli-agents/commonplace.json` for the user, `.amazonq/cli-agents/commonplace.json` for a project: an
agent with every tool, our server and our hooks. Timeouts are in milliseconds.
"""

from commonplace.hosts.config_edit.parts import AGENT_HOOKS, NAME, Host, Part, Target


def build_parts(target: Target) -> list[Part]:
    """Return the parts that connect the host at a target."""
    folder = ".amazonq/cli-agents" if target.is_project else ".aws/amazonq/cli-agents"
    return [HOST.make_agent_file(target, f"{folder}/{NAME}.json")]


HOST = Host(
    name="amazonq",
    title="Amazon Q Developer CLI",
    programs=("q",),
    folders=(".aws/amazonq",),
    hooks=AGENT_HOOKS,
    build_parts=build_parts,
    notes=("Start it with `q chat --agent commonplace`, or make that agent the default.",),
)
