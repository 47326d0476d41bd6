"""What a tool is: a verb of the book as a model sees it. Schemas are plain dicts, flat, without anyOf or $ref.

What a schema says is what `check` enforces, and the other way round: a model is never told a limit that is none, nor
refused for one that it was not told. Nothing here, nor in any group of tools, imports more than the book's own values,
so that every surface can afford the whole list.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.model.caller import Role
from commonplace.verbs.request import RequestField, read_fields

if TYPE_CHECKING:
    from commonplace.book import Book

Schema = dict[str, Any]
Arguments = Mapping[str, Any]

READERS = frozenset({Role.PERSON, Role.AGENT, Role.COORDINATOR, Role.ORCHESTRATOR})
WRITERS = frozenset({Role.PERSON, Role.AGENT})
REVIEWERS = frozenset({Role.PERSON, Role.COORDINATOR, Role.ORCHESTRATOR})

CONTENT = 100_000  # characters: what is longer is a document, not a memory
QUERY = 2_000


class Answer(NamedTuple):
    """What a tool answers: the same as data that fits its output schema, and as a text for a model to read."""

    data: dict[str, Any]
    text: str


class Tool(NamedTuple):
    name: str
    title: str
    verb: str  # of the book; docs/tools.md lists them by it
    group: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    output: Schema
    roles: frozenset[Role]
    run: "Callable[[Book, Arguments], Answer]"
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    placed: bool = True  # takes cwd and session, where the surface serves more than one caller

    def input_schema(self, *, placed: bool = False) -> Schema:
        """The schema of its arguments; with `placed`, also those that say whose memory is meant."""
        properties = {**self.properties, **(PLACE if placed and self.placed else {})}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": list(self.required)} if self.required else schema

    def hints(self) -> dict[str, bool]:
        """The four hints of MCP. No tool reaches beyond the book."""
        return {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }


def request_properties(request: type) -> dict[str, Schema]:
    """Return the schemas of a tool's arguments, from the fields of a request that a tool may send."""
    return {field.name: _field_schema(field) for field in read_fields(request) if field.arg.in_tool}


def _field_schema(field: RequestField) -> Schema:
    arg = field.arg
    words = arg.tool_choices or arg.choices
    if words:
        return choice(*words)
    if field.kind is bool:
        return flag(arg.tool_help)
    if field.kind is list:
        return texts(arg.tool_help)
    schema = text(arg.tool_help, arg.max_length)
    return {**schema, "minLength": arg.min_length} if arg.min_length else schema


def text(about: str = "", limit: int = 0) -> Schema:
    """A text; without a limit of its own, the book refuses what is too long for what it is."""
    schema: Schema = {"type": "string"}
    return {**schema, **({"maxLength": limit} if limit else {}), **({"description": about} if about else {})}


def choice(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def whole(least: int, most: int, default: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


def texts(about: str = "", least: int = 0) -> Schema:
    schema: Schema = {"type": "array", "items": {"type": "string"}}
    return {**schema, **({"minItems": least} if least else {}), **({"description": about} if about else {})}


def flag(about: str = "") -> Schema:
    return {"type": "boolean", **({"description": about} if about else {})}


def answer(*required: str, **properties: str | Schema) -> Schema:
    """An output schema: fields by name, each a type or a schema; the first words are always there."""
    fields = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "properties": fields, "required": list(required)}


def rows(**properties: str) -> Schema:
    """A list of objects in an output schema."""
    fields = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "array", "items": {"type": "object", "properties": fields}}


PLACE: Mapping[str, Schema] = {"cwd": text(), "session": text()}  # the instructions of a server say what they are
SCOPE = choice("session", "agent", "project", "global")
TYPE = choice("user", "feedback", "project", "reference")
