"""Import readers for other memory tools: basic-memory, the MCP reference memory server, mem0.

`import_sources` calls them with the texts of a source, and each returns a `ReadResult`. docs/import.md says what each
format looks like.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.maintenance.import_records import (
    ImportItem,
    ItemLink,
    ReadResult,
    SourceFile,
    Statement,
    file_stem,
    find_links,
    parse_json,
    parse_relation,
    parse_tags,
    parse_time,
    parse_type,
    read_each,
    skip,
    split_frontmatter,
    split_sections,
    split_title,
    text_or_empty,
)
from commonplace.model.ids import short_hash
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType
from commonplace.model.results import SkippedItem
from commonplace.text.naming import make_summary

# basic-memory


# Neither the box of a task list nor a Markdown link is an observation.
_OBSERVATION = lazy(r"[ \t]*[-*][ \t]+\[(?![ xX-]\])([^\[\]\n]{1,80})\](?!\()[ \t]+(\S[^\n]*)")
_RELATION = lazy(r"[ \t]*[-*][ \t]+([^\[\]\n]{0,80}?)[ \t]*\[\[([^\[\]\n]{1,300})\]\][ \t]*([^\n]*)")
_TAG = lazy(r"(?<!\S)#([^\s#(),.;:]+)")
_FENCE = lazy(r"[ ]{0,3}(?:```|~~~)")
_EMPTIED_HEADINGS = ("observations", "relations")  # what is below them becomes entries


@dataclass(slots=True)
class _NoteLines:
    """The lines of a basic-memory note, sorted by kind."""

    prose: list[str] = field(default_factory=list)
    observations: list[Statement] = field(default_factory=list)
    relations: list[Statement] = field(default_factory=list)
    links: list[ItemLink] = field(default_factory=list)


def read_basic_memory(files: Sequence[SourceFile]) -> ReadResult:
    """Read notes of basic-memory: frontmatter with title, type, permalink and tags, and lines with a meaning.

    `- [category] text #tag (context)` is an observation and becomes an entry. `- relation [[Target]]` becomes an entry,
    too, and a link where the target is imported. All other text is the first entry of the note.
    """
    return read_each(files, _read_basic_note)


def _read_basic_note(file: SourceFile) -> Iterator[ImportItem | SkippedItem]:
    front, body = split_frontmatter(file.text)
    heading, text = split_title(body)
    title = front.text("title") or heading or file_stem(file.name)
    times = (parse_time(front.text(name)) for name in ("modified", "updated", "date", "created"))
    occurred = next((time for time in times if time), None)
    lines = _sort_lines(text)
    prose = _drop_emptied_sections("\n".join(lines.prose))
    statements = [*([Statement(prose)] if prose else ()), *lines.observations, *lines.relations]
    if not statements:
        yield skip(file.name, "empty")
        return
    permalink = front.text("permalink")
    yield ImportItem(
        place=file.name,
        ident=permalink or file.name,
        name=title,
        statements=tuple(one._replace(occurred=occurred) for one in dict.fromkeys(statements)),
        type=parse_type(front.text("type"), MemoryType.REFERENCE),
        summary=front.text("description") or None,
        tags=parse_tags(word for tag in front.texts("tags") for word in tag.split(",")),
        links=tuple(dict.fromkeys([*lines.links, *find_links(prose)])),
        names=tuple(dict.fromkeys(name for name in (title, permalink, file_stem(file.name)) if name)),
    )


def _sort_lines(text: str) -> _NoteLines:
    lines = _NoteLines()
    in_code = False
    for line in text.split("\n"):
        in_code ^= _FENCE.match(line) is not None
        observation = None if in_code else _OBSERVATION.fullmatch(line)
        relation = None if in_code or observation else _RELATION.fullmatch(line)
        if observation is not None:
            category, words = observation.group(1).strip(), observation.group(2).rstrip()
            tags = parse_tags([category, *_TAG.findall(words)])
            lines.observations.append(Statement(f"[{category}] {words}", tags=tags))
        elif relation is not None:
            name, target = relation.group(1).strip() or "relates_to", relation.group(2).split("|")[0].strip()
            lines.relations.append(Statement(f"{name} {target} {relation.group(3)}".strip()))
            lines.links.append(ItemLink(parse_relation(name), target))
        else:
            lines.prose.append(line)
    return lines


def _drop_emptied_sections(text: str) -> str:
    """Return the text without the headings Observations and Relations where nothing else was below them."""
    sections = split_sections(text)
    if not any(one.body.strip() for one in sections):
        return ""
    kept = [one for one in sections if one.body.strip() or (one.path and one.path[-1].lower() not in _EMPTIED_HEADINGS)]
    return "\n\n".join(f"{one.heading}\n\n{one.body}".strip("\n") for one in kept).strip()


# JSON records


def _read_records(
    files: Sequence[SourceFile], lists: Mapping[str, str], skipped: list[SkippedItem]
) -> Iterator[tuple[str, str, object]]:
    """Yield the place, kind and value of each record; what is not JSON is skipped.

    `lists` are the names under which a document may have a list of records, and the kind of these; the first list of a
    kind counts. A value without such a list is one record, of no kind.
    """
    for file in files:
        values, bad_places = parse_json(file.text)
        skipped += [skip(f"{file.name}, {place}", "bad_line") for place in bad_places]
        for place, value in values:
            members: dict[str, list[object]] = {}
            for name, kind in lists.items():
                if isinstance(value, dict) and isinstance(value.get(name), list):
                    members.setdefault(kind, value[name])
            if not members:
                yield f"{file.name}, {place}", "", value
            for kind, records in members.items():
                for number, record in enumerate(records, 1):
                    yield f"{file.name}, {kind} {number}", kind, record


# The MCP reference memory server


_USER_NAMES = ("default_user", "user")
_GRAPH_LISTS = {"entities": "entity", "relations": "relation"}


@dataclass(slots=True)
class _Entity:
    """What is known of one entity so far."""

    place: str
    kind: str
    statements: list[Statement] = field(default_factory=list)
    links: list[ItemLink] = field(default_factory=list)


class _Graph:
    """The entities and relations read so far. Relations are added at the end: an entity may come after them."""

    def __init__(self) -> None:
        self.entities: dict[str, _Entity] = {}
        self._relations: list[tuple[str, str, str, str]] = []  # place, from, kind, to

    def add(self, place: str, record: object) -> bool:
        """Add one record; return False for one that cannot be read."""
        if not isinstance(record, dict):
            return False
        if record.get("type") == "relation":
            start, to, kind = (text_or_empty(record.get(name)) for name in ("from", "to", "relationType"))
            if start and to:
                self._relations.append((place, start, kind or "relates_to", to))
            return bool(start and to)
        name, observations = text_or_empty(record.get("name")), record.get("observations")
        if record.get("type") != "entity" or not name or not isinstance(observations, (list, type(None))):
            return False
        entity = self.entities.setdefault(name, _Entity(place, text_or_empty(record.get("entityType"))))
        created = parse_time(record.get("createdAt"))
        texts = dict.fromkeys(text for one in observations or () if (text := text_or_empty(one)))
        known = {statement.text for statement in entity.statements}
        entity.statements += [Statement(text, created) for text in texts if text not in known]
        return True

    def add_relations_to_entities(self) -> Iterator[SkippedItem]:
        """Turn the relations into entries and links of their entities; yield those that start nowhere."""
        for place, start, kind, to in self._relations:
            entity = self.entities.get(start)
            if entity is None:
                yield skip(place, "bad_line", "The entity it starts from is not there.")
            else:
                entity.statements.append(Statement(f"{kind} {to}"))
                entity.links.append(ItemLink(parse_relation(kind), to))


def read_mcp_memory(files: Sequence[SourceFile]) -> ReadResult:
    """Read the graph of the MCP reference memory server: memory.jsonl, with an entity or a relation on each line.

        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
        {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"}

    An entity becomes a memory, and each observation an entry of it. A relation becomes an entry of the entity it starts
    from, and a link. One JSON document with `entities` and `relations`, as the server's tools return it, is read, too.
    """
    graph = _Graph()
    skipped: list[SkippedItem] = []
    for place, kind, value in _read_records(files, _GRAPH_LISTS, skipped):
        record = {"type": kind, **value} if kind and isinstance(value, dict) else value
        if not graph.add(place, record):
            skipped.append(skip(place, "bad_line"))
    skipped += graph.add_relations_to_entities()
    skipped += [skip(entity.place, "empty") for entity in graph.entities.values() if not entity.statements]
    items = [_entity_item(name, entity) for name, entity in graph.entities.items() if entity.statements]
    return ReadResult(tuple(items), tuple(skipped))


def is_mcp_memory(record: dict[str, object]) -> bool:
    """Return whether a JSON object belongs to such a graph."""
    if record.get("type") == "entity":
        return "name" in record and "entityType" in record
    if record.get("type") == "relation":
        return {"from", "to", "relationType"} <= record.keys()
    return isinstance(record.get("entities"), list) or {"name", "entityType", "observations"} <= record.keys()


def _entity_item(name: str, entity: _Entity) -> ImportItem:
    is_user = name.lower() in _USER_NAMES or entity.kind.lower() in _USER_NAMES
    kind = f" ({entity.kind})" if entity.kind else ""
    return ImportItem(
        place=entity.place,
        ident=name,
        name=name,
        statements=tuple(entity.statements),
        type=parse_type(entity.kind, MemoryType.USER if is_user else MemoryType.REFERENCE),
        summary=f"{name}{kind}: {entity.statements[0].text}",
        tags=parse_tags([entity.kind]),
        links=tuple(dict.fromkeys(entity.links)),
    )


# mem0


_MEM0_LISTS = {"results": "item", "memories": "item"}


def read_mem0(files: Sequence[SourceFile]) -> ReadResult:
    """Read memories of mem0: JSON lines, a list, or the answer of its `get_all`, with the memories in `results`.

        {"id": "...", "memory": "Prefers tea", "user_id": "ann", "created_at": "...", "updated_at": "..."}

    Each becomes a memory with one entry, dated by its last change. One with a `user_id` has the type user.
    """
    items: list[ImportItem] = []
    skipped: list[SkippedItem] = []
    for place, _, record in _read_records(files, _MEM0_LISTS, skipped):
        value = record.get("memory") if isinstance(record, dict) else None
        text = text_or_empty(value)
        if isinstance(record, dict) and text:
            items.append(_mem0_item(place, record, text))
        else:
            skipped.append(skip(place, "empty" if isinstance(value, str) else "bad_line"))
    return ReadResult(tuple(items), tuple(skipped))


def is_mem0(record: dict[str, object]) -> bool:
    """Return whether a JSON object is a memory of mem0, or has a list of them."""
    members = [member for name in _MEM0_LISTS if isinstance(found := record.get(name), list) for member in found[:1]]
    return any(isinstance(one, dict) and isinstance(one.get("memory"), str) for one in (record, *members))


def _mem0_item(place: str, record: dict[str, object], text: str) -> ImportItem:
    value = record.get("metadata")
    metadata: dict[str, object] = value if isinstance(value, dict) else {}
    categories = record.get("categories")
    ident = record.get("id")
    default_type = MemoryType.USER if text_or_empty(record.get("user_id")) else MemoryType.REFERENCE
    return ImportItem(
        place=place,
        ident=str(ident) if isinstance(ident, (str, int)) and str(ident) else short_hash(text),
        name=make_summary(text),
        statements=(Statement(text, parse_time(record.get("updated_at")) or parse_time(record.get("created_at"))),),
        type=parse_type(metadata.get("type"), default_type),
        tags=parse_tags([*(categories if isinstance(categories, list) else ()), metadata.get("category")]),
        author=text_or_empty(record.get("agent_id")) or None,
        session=text_or_empty(record.get("run_id")) or None,
    )
