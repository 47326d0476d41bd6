"""The values that import readers take and return, the parsing that they share, and the readers of JSON records.

A reader takes the files of a source as text and yields what it finds. It opens nothing and never raises: what it cannot
read becomes a `SkippedItem` with a reason from the table below, and the rest is imported. The readers at the end are
for the MCP reference memory server and mem0; `import_markdown_readers` has the others, and `import_sources` calls all.
docs/import.md says what each format looks like.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.memory import Link, MemoryType, Relation, check_tag
from commonplace.model.names import short_hash
from commonplace.model.results import SkippedItem
from commonplace.model.times import read_time
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.text.naming import make_summary, one_line
from commonplace.text.notes import find_wikilinks

REASONS = {
    "secret": "It contains what looks like a secret.",
    "empty": "It is empty.",
    "bad_line": "It cannot be read as this format.",
    "not_utf8": "It is not UTF-8 text.",
    "too_large": "It is too large to import.",
    "too_deep": "It is nested in too many folders.",
    "link": "It is a symbolic link or a special file, and an import never follows these.",
    "unreadable": "You do not have permission to read it.",
    "own_block": "Commonplace wrote this block itself.",
    "index_page": "It only lists or explains other files.",
    "other_file": "It is not a file of this format.",
    "not_active": "It is superseded, expired, proposed or quarantined in its own book.",
    "session": "It belongs to a session, and sessions are short-lived.",
    "other_project": "It belongs to one of several projects.",
    "data_exists": "The book has another data file of this name.",
    "not_permitted": "Your role may not write to its scope.",
    "invalid": "It cannot be stored as it is.",
}
_HEADING = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_CODE_FENCE = lazy(r" {0,3}(`{3,}|~{3,})(.*)")
_FILE_LINK = lazy(r"\[[^\[\]\n]{0,300}\]\(<?([^()<>\s#]{1,300}\.md)(?:#[^()<>\s]{0,300})?>?\)", re.I)
_JSON_ERRORS = (ValueError, RecursionError)
_JSON_TRIES = 20
_NOT_JSON = object()
T = TypeVar("T")


class Statement(NamedTuple):
    """One thing that an item says: it becomes an entry."""

    text: str
    occurred: str | None = None
    tags: tuple[str, ...] = ()


class ImportItem(NamedTuple):
    """Something in a source that can become a memory."""

    place: str  # where in the source, for people
    ident: str  # what the source calls it, the same at every import
    name: str  # what its key is made of
    statements: tuple[Statement, ...]
    type: MemoryType = MemoryType.PROJECT
    summary: str | None = None
    tags: tuple[str, ...] = ()
    links: Sequence[Link] = ()  # to other items, by any of their names
    names: tuple[str, ...] = ()  # other names that links may use for it
    scope: str | None = None  # where the source says it belongs
    author: str | None = None
    session: str | None = None
    folders: Sequence[str] = ()  # of its key


class SourceFile(NamedTuple):
    """The text of one file of a source."""

    name: str  # its path inside the source, with / between folders
    text: str
    modified: str | None = None


def skip(place: str, reason: str, detail: str = "") -> SkippedItem:
    """Return a skipped item with the message of its reason."""
    return SkippedItem(place, reason, f"{REASONS[reason]} {detail}".rstrip())


def collect(found: Iterable[T | SkippedItem]) -> tuple[list[T], list[SkippedItem]]:
    """Return what a reader yields, items and skipped items apart."""
    items: list[T] = []
    skipped: list[SkippedItem] = []
    for one in found:
        if isinstance(one, SkippedItem):
            skipped.append(one)
        else:
            items.append(one)
    return items, skipped


# Fields


def parse_time(value: object) -> str | None:
    """Return a source's time as a timestamp; None where it is no time."""
    if isinstance(value, str) and value:
        with contextlib.suppress(InvalidField):
            return read_time(value.strip())
    return None


def parse_tags(words: Iterable[object]) -> tuple[str, ...]:
    """Return the words that can be tags, with `-` for spaces."""
    tags: list[str] = []
    for word in words:
        if isinstance(word, str):
            with contextlib.suppress(InvalidField):
                tags.append(check_tag("-".join(word.split())))
    return tuple(dict.fromkeys(tags))


def parse_type(word: object, default: MemoryType) -> MemoryType:
    """Return the memory type that a source's word names, else the default."""
    return MemoryType(word.lower()) if isinstance(word, str) and word.lower() in tuple(MemoryType) else default


def parse_relation(word: str) -> str:
    """Return the relation that a source's word names; any other word becomes `relates_to`."""
    name = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    return name if name in tuple(Relation) else Relation.RELATES_TO.value


# Markdown


class Section(NamedTuple):
    """A heading and the text below it, up to the next heading of any level."""

    path: tuple[str, ...]  # the headings above it and its own; empty for the text above the first heading
    heading: str  # the whole line
    body: str
    line: int


def split_frontmatter(text: str) -> tuple[Frontmatter, str]:
    """Return the frontmatter and the rest, with `\\n` as the only line end."""
    return split(text.replace("\r\n", "\n"))


def split_sections(text: str) -> list[Section]:
    """Return a text cut at its headings; a line in a code block is never a heading."""
    headings: list[tuple[int, str]] = []  # level and title of the current section and those above it
    bodies: list[list[str]] = [[]]
    sections = [Section((), "", "", 1)]
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _CODE_FENCE.fullmatch(line)
        match = None if fence or mark else _HEADING.fullmatch(line)
        if not fence:
            fence = mark.group(1) if mark else ""
        elif mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
            fence = ""
        if match is None:
            bodies[-1].append(line)
            continue
        level = len(match.group(1))
        headings = [*(above for above in headings if above[0] < level), (level, one_line(match.group(2) or ""))]
        sections.append(Section(tuple(title for _, title in headings), line, "", number))
        bodies.append([])
    return [one._replace(body="\n".join(body).strip("\n")) for one, body in zip(sections, bodies, strict=True)]


def split_title(body: str) -> tuple[str, str]:
    """Return the title of a note and the text below it; the title is empty where the note starts with none."""
    text = body.strip("\n")
    first, _, rest = text.partition("\n")
    match = _HEADING.fullmatch(first)
    if match is None or len(match.group(1)) != 1:
        return "", text
    return one_line(match.group(2) or ""), rest.strip("\n")


def find_links(text: str) -> list[Link]:
    """Return the links to other notes: [[name]], and [text](file.md) by the file's name."""
    targets = [*find_wikilinks(text), *(file_stem(match.group(1)) for match in _FILE_LINK.finditer(text))]
    return [Link(Relation.RELATES_TO.value, target) for target in targets]


def file_stem(path: str) -> str:
    """Return the name of a file without its folders and its `.md`."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name


# JSON


def parse_json(text: str) -> list[tuple[str, object]]:
    """Return place and value of the members of a JSON list, of any other single document, or of each line.

    A line that is not JSON, nests too deeply or has a number too long has a value of no JSON type, and comes first.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2 or not isinstance(_load_json(lines[0][1]), dict):
        document = _load_json(text)
        if document is not _NOT_JSON:
            members = document if isinstance(document, list) else [document]
            return [(f"item {number}", value) for number, value in enumerate(members, 1)]
    values = [(f"line {number}", _load_json(line)) for number, line in lines]
    return sorted(values, key=lambda one: one[1] is not _NOT_JSON)


def _load_json(text: str) -> object:
    try:
        return json.loads(text)
    except _JSON_ERRORS:
        return _NOT_JSON


def find_objects(head: str) -> list[dict[str, object]]:
    """Return objects of a JSON text of which only the beginning was read."""
    objects = [value for _, value in parse_json(head) if isinstance(value, dict)]
    at = head.find("{")
    decoder = json.JSONDecoder()
    for _ in range(_JSON_TRIES):  # a document that goes on past the beginning: its first complete object
        if objects or at < 0:
            break
        try:
            objects.append(decoder.raw_decode(head, at)[0])
        except _JSON_ERRORS:
            at = head.find("{", at + 1)
    return objects


def text_or_empty(value: object) -> str:
    """Return a value that is text, without white space around it; else an empty text."""
    return value.strip() if isinstance(value, str) else ""


# JSON records


def _read_records(files: Sequence[SourceFile], lists: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    """Yield the place, kind and value of each record; of what is not JSON, a value that is no record.

    `lists` are the names under which a document may have a list of records, and the kind of these; the first list of a
    kind counts. A value without such a list is one record, of no kind.
    """
    for file in files:
        for place, value in parse_json(file.text):
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


class _Entity(NamedTuple):
    """What is known of one entity so far."""

    place: str
    kind: str
    statements: list[Statement]
    links: list[Link]


def read_mcp_memory(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read the graph of the MCP reference memory server: memory.jsonl, with an entity or a relation on each line.

        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
        {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"}

    An entity becomes a memory, and each observation an entry of it. A relation becomes an entry of the entity it starts
    from, and a link. One JSON document with `entities` and `relations`, as the server's tools return it, is read, too.
    """
    entities: dict[str, _Entity] = {}
    relations: list[tuple[str, list[str]]] = []  # added at the end: an entity may come after them
    for place, kind, value in _read_records(files, _GRAPH_LISTS):
        record = {"type": kind, **value} if isinstance(value, dict) else {}
        ends = [text_or_empty(record.get(name)) for name in ("from", "to", "relationType")]
        if record.get("type") == "relation" and ends[0] and ends[1]:
            relations.append((place, ends))
        elif record.get("type") != "entity" or not _add_entity(entities, place, record):
            yield skip(place, "bad_line")
    for place, (start, to, word) in relations:
        relation = word or "relates_to"
        if start in entities:
            entities[start].statements.append(Statement(f"{relation} {to}"))
            entities[start].links.append(Link(parse_relation(relation), to))
        else:
            yield skip(place, "bad_line", "The entity it starts from is not there.")
    for name, entity in entities.items():
        if not entity.statements:
            yield skip(entity.place, "empty")
            continue
        is_user = name.lower() in _USER_NAMES or entity.kind.lower() in _USER_NAMES
        kind = f" ({entity.kind})" if entity.kind else ""
        yield ImportItem(
            place=entity.place,
            ident=name,
            name=name,
            statements=tuple(entity.statements),
            type=parse_type(entity.kind, MemoryType.USER if is_user else MemoryType.REFERENCE),
            summary=f"{name}{kind}: {entity.statements[0].text}",
            tags=parse_tags([entity.kind]),
            links=entity.links,
        )


def _add_entity(entities: dict[str, _Entity], place: str, record: dict[str, object]) -> bool:
    """Add an entity, or what a record says about a known one; return False for one that cannot be read."""
    name, observations = text_or_empty(record.get("name")), record.get("observations")
    if not name or not isinstance(observations, (list, type(None))):
        return False
    entity = entities.setdefault(name, _Entity(place, text_or_empty(record.get("entityType")), [], []))
    created = parse_time(record.get("createdAt"))
    texts = dict.fromkeys(map(text_or_empty, observations or ()))
    known = {"", *(statement.text for statement in entity.statements)}
    entity.statements.extend(Statement(text, created) for text in texts if text not in known)
    return True


def is_mcp_memory(record: dict[str, object]) -> bool:
    """Return whether a JSON object belongs to such a graph."""
    if record.get("type") == "entity":
        return "name" in record and "entityType" in record
    if record.get("type") == "relation":
        return {"from", "to", "relationType"} <= record.keys()
    return isinstance(record.get("entities"), list) or {"name", "entityType", "observations"} <= record.keys()


# mem0


_MEM0_LISTS = {"results": "item", "memories": "item"}


def read_mem0(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read memories of mem0: JSON lines, a list, or the answer of its `get_all`, with the memories in `results`.

        {"id": "...", "memory": "Prefers tea", "user_id": "ann", "created_at": "...", "updated_at": "..."}

    Each becomes a memory with one entry, dated by its last change. One with a `user_id` has the type user.
    """
    for place, _, record in _read_records(files, _MEM0_LISTS):
        fields = record if isinstance(record, dict) else {}
        value = fields.get("memory")
        text = text_or_empty(value)
        if not text:
            yield skip(place, "empty" if isinstance(value, str) else "bad_line")
            continue
        given, categories, ident = fields.get("metadata"), fields.get("categories"), fields.get("id")
        metadata: dict[str, object] = given if isinstance(given, dict) else {}
        default_type = MemoryType.USER if text_or_empty(fields.get("user_id")) else MemoryType.REFERENCE
        occurred = parse_time(fields.get("updated_at")) or parse_time(fields.get("created_at"))
        yield ImportItem(
            place=place,
            ident=str(ident) if isinstance(ident, (str, int)) and str(ident) else short_hash(text),
            name=make_summary(text),
            statements=(Statement(text, occurred),),
            type=parse_type(metadata.get("type"), default_type),
            tags=parse_tags([*(categories if isinstance(categories, list) else ()), metadata.get("category")]),
            author=text_or_empty(fields.get("agent_id")) or None,
            session=text_or_empty(fields.get("run_id")) or None,
        )


def is_mem0(record: dict[str, object]) -> bool:
    """Return whether a JSON object is a memory of mem0, or has a list of them."""
    members = [member for name in _MEM0_LISTS if isinstance(found := record.get(name), list) for member in found[:1]]
    return any(isinstance(one, dict) and isinstance(one.get("memory"), str) for one in (record, *members))
