"""What a tool is: a verb of the book as a model sees it. Schemas are plain dicts, flat, without anyOf or $ref.

Each verb's module has its TOOLS, made here from the verb's request; `verbs.toolset` collects them. What a schema says
is what `check_arguments` enforces, and the other way round: a model is never told a limit that does not exist, nor
refused for one that it was not told.

An answer has two forms, data and text, because some hosts show a model the one and some the other. In the text, what is
recalled stands in a fence that names its source. In the data it is bare, with its trust beside it, and its author where
that is known. What is long is cut, and says how to get the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from commonplace.model.errors import InvalidField
from commonplace.model.memory import Entry, Memory, Status
from commonplace.model.results import Hit, HitKind, LaterMemory, MemoryItem, SimilarMemory, StoreResult
from commonplace.model.scope import Role
from commonplace.text.fence import REFERENCE, fence, unescape_name, visible
from commonplace.text.naming import one_line
from commonplace.verbs.context import BookContext
from commonplace.verbs.verb import TYPE_WORDS, Q, R, RequestField, Verb, read_fields

Schema = dict[str, Any]
Arguments = Mapping[str, Any]

QUERY_LENGTH = 2_000  # characters
MEMORY_TEXT_LENGTH = 30_000  # characters of one memory: some 7,500 tokens
_CUT = "\n[cut: the rest is in the file]"
_ESCAPED_NAMES = frozenset({"key", "keys", "id", "after", "decision", "path", "paths", "in_folder", "run_id", "worker"})
_TYPES: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", object: "object"}
_PYTHON_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}


class Answer(NamedTuple):
    """What a tool answers: data that fits its output schema, and the same as a text for a model to read."""

    data: dict[str, Any]
    text: str


class Tool(NamedTuple):
    """A tool: what a model is told of it, and how it is run."""

    name: str
    title: str
    verb: str  # the method of the book
    group: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    output: Schema
    roles: frozenset[Role]
    run: Callable[[BookContext, Arguments], Answer]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    placed: bool = True  # takes cwd and session, where the surface serves more than one caller

    def input_schema(self, *, placed: bool = False) -> Schema:
        """Return the schema of its arguments; with `placed`, also those that say whose memory is meant."""
        properties = {**self.properties, **(PLACE if placed and self.placed else {})}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": list(self.required)} if self.required else schema

    def hints(self) -> dict[str, bool]:
        """Return the four hints of MCP. No tool reaches beyond the book."""
        return {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }


def make_tool(
    verb: Verb[Q, R],
    name: str,
    title: str,
    group: str,
    description: str,
    output: Schema,
    render: Callable[[R, Q], Answer],
    *,
    defaults: Arguments = MappingProxyType({}),
    **hints: bool,
) -> Tool:
    """Return the tool of a verb. Its arguments are the fields of the verb's request, with other defaults if need be."""
    fields = tool_fields(cast("type", verb.request))
    make_request: Callable[..., Q] = verb.request

    def run(context: BookContext, given: Arguments) -> Answer:
        request = make_request(**{**defaults, **given})
        return render(verb(context, request), request)

    return Tool(
        name,
        title,
        verb.name,
        group,
        description,
        {field.name: field_schema(field._replace(default=defaults.get(field.name, field.default))) for field in fields},
        tuple(field.name for field in fields if field.is_required and field.name not in defaults),
        output,
        verb.access.value,
        run,
        **hints,
    )


# Schemas


def tool_fields(request: type) -> list[RequestField]:
    """Return the fields of a request that are arguments of its tool."""
    return [field for field in read_fields(request) if field.arg.in_tool]


def field_schema(field: RequestField) -> Schema:
    """Return the schema of a request's field."""
    arg = field.arg
    words = arg.tool_choices or arg.choices
    limits: Schema = {}
    if words:
        schema: Schema = {"type": "string", "enum": list(words)}
    elif field.kind is list:
        schema = {"type": "array", "items": {"type": "string"}}
        limits = {"minItems": arg.min_length, "maxItems": arg.max_length}
    else:
        schema = {"type": _TYPES[field.kind]}
        limits = {"maxLength": arg.max_length}
    schema |= {name: limit for name, limit in limits.items() if limit}
    if arg.minimum is not None:
        schema |= {"minimum": arg.minimum, "maximum": arg.maximum}
        schema |= {"default": field.default} if field.default is not None else {}
    schema |= {"description": arg.tool_help or arg.help}
    return schema | ({"minLength": arg.min_length} if arg.min_length and field.kind is str else {})


def text_schema(about: str) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": about}


def result_schema(*required: str, **properties: str | Schema) -> Schema:
    """Return an output schema: fields by name, each a type or a schema; `required` are always there."""
    fields = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "properties": fields, "required": list(required)}


def rows_schema(*texts: str, **others: str) -> Schema:
    """Return the schema of a list of objects in an answer: names of texts, and other fields with their type."""
    fields = {name: {"type": kind} for name, kind in {**dict.fromkeys(texts, "string"), **others}.items()}
    return {"type": "array", "items": {"type": "object", "properties": fields}}


TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
ROWS: Schema = {"type": "array", "items": {"type": "object"}}  # with the fields that another answer says
PLACE: Mapping[str, Schema] = {"cwd": text_schema("your folder"), "session": text_schema("your session")}
_CHANGE_FIELDS = ("key", "scope", "action", "revision")
ENTRY_FIELDS = ("text", "trust", "author", "time")
HIT_FIELDS = ("key", "scope", *ENTRY_FIELDS, "later")  # that every client should know of


def change_schema(**more: str | Schema) -> Schema:
    """Return the output schema of a change, with more fields if need be."""
    return result_schema("key", "revision", **dict.fromkeys(_CHANGE_FIELDS, "string"), **more)


# Arguments


def check_arguments(tool: Tool, arguments: Arguments) -> dict[str, Any]:
    """Return the arguments that were given, if they fit the schema. Raise InvalidField, which a model can act on.

    A null stands for an argument that was not given: some hosts fill in every name.
    """
    properties = tool.properties
    for name in arguments:
        if name not in properties:
            raise InvalidField(
                f"Unknown argument {name[:40]!a}.", hint=f"The arguments are: {', '.join(properties) or 'none'}."
            )
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in tool.required:
        if name not in given:
            raise InvalidField(f"The argument {name} is missing.", hint=f"It must be {_wanted(properties[name])}.")
    for name, value in given.items():
        _check_value(name, properties[name], value)
    return {name: _unescape(value) if name in _ESCAPED_NAMES else value for name, value in given.items()}


def _unescape(value: Any) -> Any:
    """Return a name, or several, as the book has them, from how an answer showed them."""
    return [unescape_name(word) for word in value] if isinstance(value, list) else unescape_name(value)


def _check_value(name: str, schema: Schema, value: Any) -> None:
    if not _fits(schema, value):
        raise InvalidField(f"{name} must be {_wanted(schema)}.")
    if isinstance(value, str):
        _check_text(name, value, schema.get("minLength", 0), schema.get("maxLength"))
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise InvalidField(f"{name} must have at least {schema['minItems']} items.")
        if len(value) > schema.get("maxItems", len(value)):
            raise InvalidField(f"{name} has {len(value)} items; {schema['maxItems']} is the most.")
        for item in value:
            _check_value(f"each of {name}", schema["items"], item)


def _fits(schema: Schema, value: Any) -> bool:
    kind = schema["type"]
    if not isinstance(value, _PYTHON_TYPES[kind]) or isinstance(value, bool) != (kind == "boolean"):
        return False
    if "enum" in schema:
        return value in schema["enum"]
    return "minimum" not in schema or bool(schema["minimum"] <= value <= schema["maximum"])


def _check_text(name: str, value: str, min_length: int, max_length: int | None) -> None:
    if len(value) < min_length:
        raise InvalidField(f"{name} is empty.")
    if max_length is not None and len(value) > max_length:
        raise InvalidField(
            f"{name} has {len(value):,} characters; {max_length:,} is the most.",
            hint="Keep what is worth keeping in a few sentences, and say where the rest is.",
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidField(
            f"{name} has half of a surrogate pair in it, which is not valid Unicode.", hint="Send valid Unicode text."
        ) from None


def _wanted(schema: Schema) -> str:
    if "enum" in schema:
        return f"one of: {', '.join(schema['enum'])}"
    if "minimum" in schema:
        return f"a whole number from {schema['minimum']} to {schema['maximum']}"
    return TYPE_WORDS[_PYTHON_TYPES[str(schema["type"])]]


# Answers that several tools give


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return one hit as data, its text bare, with its trust and its author beside it."""
    place = "journal" if hit.kind is HitKind.JOURNAL else str(hit.scope)  # what memory_show takes as its scope
    fields = {**shown_fields(hit, "key"), "scope": place, **shown_fields(hit, "text", "trust", "author")}
    fields |= {"time": hit.time_start, "revision": hit.revision}
    fields |= {"status": hit.mark} if hit.mark else {}
    return fields | ({"later": visible(describe_later(hit.later))} if hit.later else {})


def hit_text(hit: Hit) -> str:
    """Return the text of a hit, fenced."""
    source = {**_source(hit.ref, hit.trust, hit.time_start, hit.author)}
    source |= {"status": hit.mark} if hit.mark else {}
    source |= {"later": describe_later(hit.later)} if hit.later else {}
    return fence(hit.text, source)


def describe_later(later: LaterMemory) -> str:
    """Return in one line which later memory may contradict a hit."""
    return f"{later.ref} of {later.date[:10]} may say otherwise: {one_line(later.summary)}"


def cut_entries(memory: Memory) -> tuple[list[Entry], bool]:
    """Return the entries of a memory that an answer has room for, oldest first; and whether something was left out."""
    shown: list[Entry] = []
    room = MEMORY_TEXT_LENGTH
    for entry in reversed(memory.entries):
        if room <= 0:
            break
        is_cut = len(entry.text) > room
        shown.append(entry._replace(text=f"{entry.text[:room]}{_CUT}") if is_cut else entry)
        room -= len(entry.text)
    return shown[::-1], room < 0 or len(shown) < len(memory.entries)


def entries_text(memory: Memory, entries: Iterable[Entry]) -> str:
    """Return entries of a memory, each fenced."""
    ref = f"{memory.place}/{memory.key}"
    return "\n".join(
        fence(entry.text, _source(ref, entry.trust.value, entry.occurred or entry.time, entry.author))
        for entry in entries
    )


def entry_data(entry: Entry) -> dict[str, Any]:
    """Return one entry as data, its text bare, with its trust and its author beside it."""
    return {**shown_fields(entry, "text", "trust", "author"), "time": entry.occurred or entry.time}


def _source(ref: str, trust: str, when: str, author: str | None) -> Mapping[str, str]:
    return {"source": ref, "trust": trust, "time": when, **({"author": author} if author else {})}


def items_text(items: Sequence[MemoryItem]) -> str:
    """Return memories by name, one a line, in one fence."""
    lines = [
        f"{item.scope}/{item.key} ({_labels(item)}, {item.updated[:10]}): {one_line(item.shown_summary)}"
        for item in items
    ]
    return fence("\n".join(lines), {"source": "list"})


def _labels(item: MemoryItem) -> str:
    return item.type if item.status == Status.ACTIVE else f"{item.type}, {item.status}"


def named_memories(items: Iterable[SimilarMemory], source: str) -> str:
    """Return memories by name, with their summaries, one a line, in one fence."""
    lines = [f"{item.scope}/{item.key}: {one_line(item.summary)}" for item in items]
    return fence("\n".join(lines), {"source": source})


def render_change(change: StoreResult, _request: object = None) -> Answer:
    """Return the answer of a tool that changed a memory, with the memories that say nearly the same."""
    data = shown_fields(change, *_CHANGE_FIELDS)
    if change.similar:
        names = ("key", "scope", "similarity", "relation", "summary")
        data["similar"] = [shown_fields(item, *names) for item in change.similar]
    lines = [f"{change.action}: {visible(change.scope)}/{visible(change.key)} (revision {change.revision[:12]})"]
    for relation, heading in (("same", "Similar:"), ("contradicts", "May contradict:")):
        near = [item for item in change.similar if item.relation == relation]
        lines += [heading, named_memories(near, "similar")] if near else []
    lines += [f"Superseded: {visible(name)}" for name in change.superseded]
    lines += [change.notice] if change.notice else []
    return Answer(data, "\n".join(lines))


def fenced_answer(data: dict[str, Any], heading: str, body: str, source: str, more: str) -> Answer:
    """Return an answer whose text is a line of ours, what is in the book, fenced, and how to continue."""
    lines = [f"{heading} {REFERENCE}", fence(body, {"source": source})] if body else [heading]
    return Answer(data, "\n".join([*lines, *([more] if more else [])]))


def shown_fields(value: object, *names: str) -> dict[str, Any]:
    """Return fields of a value by name, texts with invisible characters escaped; without null, which no schema has."""
    fields = {name: getattr(value, name) for name in names}
    return {name: visible(item) if isinstance(item, str) else item for name, item in fields.items() if item is not None}
