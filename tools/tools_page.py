"""docs/tools.md: the toolset as it is, and the table of verbs by surface and role."""

from __future__ import annotations

import json
from typing import Any

from commonplace import verbs
from commonplace.model.scope import Role
from commonplace.verbs.tool import Schema, Tool
from commonplace.verbs.toolset import ON_REQUEST, all_tools, tools_for
from commonplace.verbs.verb import Verb

TOOLS = all_tools()

_ROLES = (Role.AGENT, Role.COORDINATOR, Role.ORCHESTRATOR, Role.WORKER)
_INTRODUCTION = (
    "One toolset, made from the verbs in `src/commonplace/verbs/`, for every surface: [MCP](mcp.md), and in Python",
    "`commonplace.toolset(book, role)`. Arguments are held to the schemas: an unknown name, a wrong type or a value",
    "out of bounds is an [error](errors.md) with a code and a hint. Over MCP every tool but `search` and `fetch` takes",
    "`cwd` and `session`, too, which say whose memory is meant. What a role has on request comes with `--tools GROUP`,",
    "in Python with `extra=[GROUP]`.",
)


def tools_page(made_by: str) -> str:
    lines = [made_by, "# The tools", "", *_INTRODUCTION, "", "## Roles", ""]
    lines += ["| tool | " + " | ".join(_ROLES) + " | changes | loses | again |", "|---|" + "---|" * (len(_ROLES) + 3)]
    lines += [_role_row(tool) for tool in TOOLS]
    lines += ["", _size_line(), "", "## Verbs by surface", ""]
    lines += ["| verb | Python | command line | MCP | roles with a tool |", "|---|---|---|---|---|"]
    lines += [_verb_row(verb) for verb in all_verbs().values()]
    for group in dict.fromkeys(tool.group for tool in TOOLS):
        lines += ["", f"## Group `{group}`"]
        for tool in [tool for tool in TOOLS if tool.group == group]:
            lines += ["", f"### {tool.name}", "", *tool.description.split("\n"), "", *_arguments(tool), ""]
            lines += [f"Answers {_fields(tool.output)}."]
    return "\n".join([*lines, ""])


def _role_row(tool: Tool) -> str:
    marks = [
        "yes" if tool in tools_for(role) else "on request" if tool in tools_for(role, ON_REQUEST) else ""
        for role in _ROLES
    ]
    hints = [not tool.read_only, tool.destructive, tool.idempotent]
    return f"| `{tool.name}` | {' | '.join(marks)} | {' | '.join('yes' if hint else 'no' for hint in hints)} |"


def _size_line() -> str:
    shown = len(tools_for(Role.AGENT))
    return (
        f"An agent sees {shown} tools. *Loses* is MCP's destructiveHint: what it takes away is in the trash (30\n"
        "days); *again* is idempotentHint. None reaches beyond the book."
    )


def all_verbs() -> dict[str, Verb[Any, Any]]:
    """Return every verb that is on a surface, by the name of the book's method."""
    found = [item for name in verbs.__all__ for item in vars(getattr(verbs, name)).values() if isinstance(item, Verb)]
    return {item.name: item for item in found if item.name != "open_session"}


def _verb_row(verb: Verb[Any, Any]) -> str:
    tools = [tool for tool in TOOLS if tool.verb == verb.name]
    names = ", ".join(f"`{tool.name}`" for tool in tools) or f"– ({verb.no_tool})"
    roles = ", ".join(role for role in _ROLES if any(role in tool.roles for tool in tools)) or "–"
    command = f"`{verb.command}`" if verb.command else "–"
    return f"| {verb.name} | `Book.{verb.name}` | {command} | {names} | {roles} |"


def _arguments(tool: Tool) -> list[str]:
    rows = ["| argument | what |", "|---|---|"]
    for name, schema in tool.properties.items():
        needed = " (required)" if name in tool.required else ""
        rows.append(f"| `{name}`{needed} | {_what(schema)} |")
    return rows


def _what(schema: Schema) -> str:
    about = schema.get("description", "")
    kind = "list of texts" if schema["type"] == "array" else schema["type"]
    if "enum" in schema:
        kind = " \\| ".join(schema["enum"])
    bounds = [f"{word} {schema[name]:,}" for name, word in _BOUNDS.items() if name in schema]
    default = [f"default {json.dumps(schema['default'])}"] if "default" in schema else []
    return "; ".join(part for part in [kind, *bounds, *default, about] if part)


_BOUNDS = {"minLength": "at least", "maxLength": "at most", "minimum": "from", "maximum": "to", "minItems": "at least"}


def _fields(schema: Schema) -> str:
    return ", ".join(f"`{name}`" + ("" if name in schema["required"] else "?") for name in schema["properties"])
