"""The toolset, defined once: every surface that offers tools takes them from here.

A group is a module with TOOLS; `GROUPS` has them in the order in which every surface lists them. To add a tool, add it
to a group, or a group here; then its name to the table in `surfaces.py`. The docs and the tests follow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.model.caller import Role
from commonplace.model.errors import InvalidField
from commonplace.tools import files, pair, reading, review, runs, writing
from commonplace.tools.check import checked
from commonplace.tools.spec import Answer, Schema, Tool

if TYPE_CHECKING:
    from commonplace.book import Book

GROUPS: Mapping[str, tuple[Tool, ...]] = {
    "read": reading.TOOLS,
    "write": writing.TOOLS,
    "pair": pair.TOOLS,
    "review": review.TOOLS,
    "files": files.TOOLS,
    "runs": runs.TOOLS,
}
TOOLS = tuple(tool for group in GROUPS.values() for tool in group)
ON_REQUEST = {"files": Role.AGENT}  # groups that this role gets only when they are asked for


class BoundTool(NamedTuple):
    """A tool of one book, ready to be called: what an agent framework registers."""

    tool: Tool
    book: Book

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def input_schema(self) -> Schema:
        return self.tool.input_schema()

    @property
    def output_schema(self) -> Schema:
        return self.tool.output

    def __call__(self, **arguments: Any) -> Answer:
        """Do it. Arguments are checked against the schema; CommonplaceError has a code and a hint for the model."""
        return call(self.tool, self.book, arguments)


def call(tool: Tool, book: Book, arguments: Mapping[str, Any]) -> Answer:
    return tool.run(book, checked(tool.properties, tool.required, arguments))


def tools_for(role: Role | str, extra: Collection[str] = (), *, read_only: bool = False) -> list[Tool]:
    """The tools of a role, in the order of every surface; `extra` are groups that it gets only on request."""
    try:
        wanted = Role(role)
    except ValueError:
        raise InvalidField(f"{role[:40]!a} is not a role.", hint=f"Use one of: {', '.join(Role)}.") from None
    return [
        tool
        for tool in TOOLS
        if wanted in tool.roles
        and (tool.read_only or not read_only)
        and (ON_REQUEST.get(tool.group) is not wanted or tool.group in extra)
    ]


def toolset(book: Book, role: Role | str = Role.AGENT, *, extra: Collection[str] = ()) -> list[BoundTool]:
    """The tools of a role, bound to a book. What a call may do is the role's, whoever opened the book."""
    tools = tools_for(role, extra)
    narrowed = book.as_role(role)
    return [BoundTool(tool, narrowed) for tool in tools]
