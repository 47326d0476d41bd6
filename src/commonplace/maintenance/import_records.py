"""The values that import readers take and return, and the Markdown and JSON parsing that they share.

A reader takes the files of a source as text and returns a `ReadResult`. It opens nothing and never raises: what it
cannot read becomes a `SkippedItem` with a reason from the table below, and the rest is imported.
"""

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType, Relation, check_tag
from commonplace.model.results import SkippedItem
from commonplace.model.times import read_time
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.text.links import find_wikilinks
from commonplace.text.naming import one_line

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
    "not_permitted": "Your role may not write to its scope.",
    "invalid": "It cannot be stored as it is.",
}
_HEADING = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_CODE_FENCE = lazy(r" {0,3}(`{3,}|~{3,})(.*)")
_FILE_LINK = lazy(r"\[[^\[\]\n]{0,300}\]\(<?([^()<>\s#]{1,300}\.md)(?:#[^()<>\s]{0,300})?>?\)", re.I)
_JSON_ERRORS = (ValueError, RecursionError)
_JSON_TRIES = 20
_NOT_JSON = object()


class Statement(NamedTuple):
    """One thing that an item says: it becomes an entry."""

    text: str
    occurred: str | None = None
    tags: tuple[str, ...] = ()


class ItemLink(NamedTuple):
    """A link to another item, by any of its names."""

    rel: str
    to: str


class ImportItem(NamedTuple):
    """Something in a source that can become a memory."""

    place: str  # where in the source, for people
    ident: str  # what the source calls it, the same at every import
    name: str  # what its key is made of
    statements: tuple[Statement, ...]
    type: MemoryType = MemoryType.PROJECT
    summary: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[ItemLink, ...] = ()
    names: tuple[str, ...] = ()  # other names that links may use for it
    scope: str | None = None  # where the source says it belongs
    author: str | None = None
    session: str | None = None


class SourceFile(NamedTuple):
    """The text of one file of a source."""

    name: str  # its path inside the source, with / between folders
    text: str
    modified: str | None = None


class ReadResult(NamedTuple):
    """What a reader found in a source, and what it skipped."""

    items: tuple[ImportItem, ...]
    skipped: tuple[SkippedItem, ...]


def skip(place: str, reason: str, detail: str = "") -> SkippedItem:
    """Return a skipped item with the message of its reason."""
    return SkippedItem(place, reason, f"{REASONS[reason]} {detail}".rstrip())


def read_each(
    files: Iterable[SourceFile], read_file: Callable[[SourceFile], Iterable[ImportItem | SkippedItem]]
) -> ReadResult:
    """Return what `read_file` makes of each file."""
    items: list[ImportItem] = []
    skipped: list[SkippedItem] = []
    for file in files:
        for found in read_file(file):
            if isinstance(found, ImportItem):
                items.append(found)
            else:
                skipped.append(found)
    return ReadResult(tuple(items), tuple(skipped))


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
    sections: list[Section] = []
    headings: list[tuple[int, str]] = []  # level and title of the current section and those above it
    heading, start, body = "", 1, list[str]()

    def end_section() -> None:
        path = tuple(title for _, title in headings)
        sections.append(Section(path, heading, "\n".join(body).strip("\n"), start))

    for number, line, match in _match_headings(text):
        if match is None:
            body.append(line)
            continue
        end_section()
        heading, start, body = line, number, []
        level = len(match.group(1))
        headings = [*(above for above in headings if above[0] < level), (level, one_line(match.group(2) or ""))]
    end_section()
    return sections


def _match_headings(text: str) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """Yield the number and text of each line, and the match where it is a heading."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _CODE_FENCE.fullmatch(line)
        if fence:
            closes = mark is not None and mark.group(1).startswith(fence) and not mark.group(2).strip()
            fence = "" if closes else fence
            yield number, line, None
        elif mark is not None:
            fence = mark.group(1)
            yield number, line, None
        else:
            yield number, line, _HEADING.fullmatch(line)


def split_title(body: str) -> tuple[str, str]:
    """Return the title of a note and the text below it; the title is empty where the note starts with none."""
    text = body.strip("\n")
    first, _, rest = text.partition("\n")
    match = _HEADING.fullmatch(first)
    if match is None or len(match.group(1)) != 1:
        return "", text
    return one_line(match.group(2) or ""), rest.strip("\n")


def find_links(text: str) -> tuple[ItemLink, ...]:
    """Return the links to other notes: [[name]], and [text](file.md) by the file's name."""
    targets = [*find_wikilinks(text), *(file_stem(match.group(1)) for match in _FILE_LINK.finditer(text))]
    return tuple(ItemLink(Relation.RELATES_TO.value, target) for target in dict.fromkeys(targets))


def file_stem(path: str) -> str:
    """Return the name of a file without its folders and its `.md`."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name


# JSON


class JsonRecords(NamedTuple):
    """The values of a JSON text with their places, and the places that are not JSON."""

    values: tuple[tuple[str, object], ...]
    bad_places: tuple[str, ...]


def parse_json(text: str) -> JsonRecords:
    """Return the members of a JSON list, any other single document, or the value of each line.

    A line that is not JSON, nests too deeply or has a number too long is named, and the others are read.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2 or not isinstance(_load_json(lines[0][1]), dict):
        document = _load_json(text)
        if document is not _NOT_JSON:
            members = document if isinstance(document, list) else [document]
            return JsonRecords(tuple((f"item {number}", value) for number, value in enumerate(members, 1)), ())
    values = [(f"line {number}", _load_json(line)) for number, line in lines]
    bad_places = tuple(place for place, value in values if value is _NOT_JSON)
    return JsonRecords(tuple(one for one in values if one[1] is not _NOT_JSON), bad_places)


def _load_json(text: str) -> object:
    try:
        return json.loads(text)
    except _JSON_ERRORS:
        return _NOT_JSON


def find_objects(head: str) -> list[dict[str, object]]:
    """Return objects of a JSON text of which only the beginning was read."""
    objects = [value for _, value in parse_json(head).values if isinstance(value, dict)]
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
