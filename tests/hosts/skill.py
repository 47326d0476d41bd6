"""The skill, as the validator of agentskills sees it."""

from __future__ import annotations

from tests.hosts.world import ROOT, Step, World, program
from tools.make_plugins import published

NEEDS = ("agentskills",)


def validates(world: World) -> str:
    folders = [name.removesuffix("/SKILL.md") for name in published() if name.endswith("/SKILL.md")]
    for folder in folders:
        done = world.run(program("agentskills"), "validate", str(ROOT / folder))
        assert done.status == 0 and "Valid skill" in done.text, done.text
    return f"{len(folders)} copies pass `agentskills validate`"


STEPS: tuple[Step, ...] = (("skill: validate", validates),)
