"""What agents are told about this memory in files: a skill, and a short block for rules. Both from the doctrine.

The words are those of the templates that every book starts with, so that they say the same as a brief.
"""

from __future__ import annotations

from commonplace.keep.scaffold import template_text

_DESCRIPTION = (
    "Durable memory shared by every agent of this user. Use it at the start of a task to recall what is known "
    "about it, when the user asks to remember, correct or forget something, and when a decision, a correction, "
    "a preference or a fact that was hard to find is worth keeping."
)
_TOOLS = """\
The tools of the MCP server `commonplace` are the way in and out: `memory_recall` finds what is known, `memory_store`
keeps something, `memory_forget` takes something out. Without the server, `commonplace recall "..."` and
`commonplace store "..."` on the command line do the same.
"""


def skill() -> str:
    """SKILL.md: when to use the memory, and the whole rubric."""
    head = f"---\nname: commonplace\ndescription: {_DESCRIPTION}\nlicense: Apache-2.0\n---\n"
    return f"{head}\n# Memory\n\n{_TOOLS}\n{_body('definition-full.md')}"


def rules() -> str:
    """A block for AGENTS.md and the like: the rubric in short."""
    return f"## Memory\n\n{_TOOLS}\n{_body('definition-minimal.md')}"


def _body(name: str) -> str:
    """A doctrine without its title and the paragraph about the page itself."""
    _, _, rest = template_text(name).partition("\n\n")
    return rest.partition("\n\n")[2]
