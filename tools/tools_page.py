"""docs/tools.md: the toolset as it is, and the table of verbs by surface and role."""

from __future__ import annotations

import json

from commonplace.model.caller import Role
from commonplace.tools import GROUPS, TOOLS, tools_for
from commonplace.tools.spec import Schema, Tool
from commonplace.tools.surfaces import VERBS, Surfaces

_ROLES = (Role.AGENT, Role.COORDINATOR, Role.ORCHESTRATOR, Role.WORKER)
_INTRODUCTION = (
    "One toolset, defined in `src/commonplace/tools/`, for every surface: [MCP](mcp.md), and in Python",
    "`commonplace.toolset(book, role)`. Arguments are held to the schemas: an unknown name, a wrong type or a value",
    "out of bounds is an [error](errors.md) with a code and a hint. Over MCP every tool but `search` and `fetch` takes",
    "`cwd` and `session`, too, which say whose memory is meant.",
)


def tools_page(made_by: str) -> str:
    lines = [made_by, "# The tools", "", *_INTRODUCTION, "", "## Roles", ""]
    lines += ["| tool | " + " | ".join(_ROLES) + " | changes | loses | again |", "|---|" + "---|" * (len(_ROLES) + 3)]
    lines += [_role_row(tool) for tool in TOOLS]
    lines += ["", _size_line(), "", "## Verbs by surface", ""]
    lines += ["| verb | Python | command line | MCP | roles with a tool |", "|---|---|---|---|---|"]
    lines += [_verb_row(verb, row) for verb, row in VERBS.items()]
    for group, tools in GROUPS.items():
        lines += ["", f"## Group `{group}`"]
        for tool in tools:
            lines += ["", f"### {tool.name}", "", *tool.description.split("\n"), "", *_arguments(tool), ""]
            lines += [f"Answers {_fields(tool.output)}."]
    return "\n".join([*lines, ""])


def _role_row(tool: Tool) -> str:
    marks = ["yes" if tool in tools_for(role) else "" for role in _ROLES]
    hints = [not tool.read_only, tool.destructive, tool.idempotent]
    return f"| `{tool.name}` | {' | '.join(marks)} | {' | '.join('yes' if hint else 'no' for hint in hints)} |"


def _size_line() -> str:
    shown = len(tools_for(Role.AGENT))
    return (
        f"An agent sees {shown} tools. *Loses* is MCP's destructiveHint: what it takes away is in the trash (30\n"
        "days); *again* is idempotentHint. None reaches beyond the book."
    )


def _verb_row(verb: str, row: Surfaces) -> str:
    tools = [tool for tool in TOOLS if row.tool and tool.verb == verb]
    names = ", ".join(f"`{tool.name}`" for tool in tools) or f"– ({row.why_no_tool})"
    roles = ", ".join(role for role in _ROLES if any(role in tool.roles for tool in tools)) or "–"
    command = f"`{row.command}`" if row.command else "–"
    return f"| {verb} | `Book.{row.method}` | {command} | {names} | {roles} |"


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
