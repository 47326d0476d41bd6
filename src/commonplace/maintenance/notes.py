"""What one note says that cannot be understood, or that its path contradicts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from commonplace.keep.copies import Holder, holder, owner
from commonplace.keep.links import REJECTED
from commonplace.keep.rows import key_of
from commonplace.maintenance.findings import Findings
from commonplace.model.errors import InvalidField
from commonplace.model.memory import MemoryType, Status
from commonplace.model.names import fold
from commonplace.model.times import is_stamp, read_time
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.text.links import wikilinks
from commonplace.text.notes import Note, parse
from commonplace.text.yaml_values import Value
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Document

_SHOWN = 60


@dataclass(slots=True)
class Known:
    """What the notes say of each other, gathered while they are read and judged when all are."""

    ids: dict[str, list[Holder]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)  # all that a link may lead to
    links: list[tuple[BookPath, str]] = field(default_factory=list)

    def add_file(self, path: str) -> None:
        """A file that a link may name by its path, a part of it, or its name alone."""
        parts = fold(path).removesuffix(".md").split("/")
        self.names.update("/".join(parts[at:]) for at in range(len(parts)))


def check_note(
    found: Findings, known: Known, scope: BookPath, path: BookPath, document: Document, own: Collection[str]
) -> None:
    """`own` are the ids by which the note's scope may be named."""
    data = document.data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        found.add("not_utf8", path, f"Byte {error.start:,} of this note is not UTF-8 text.")
    note = parse(data)
    if _is_left_open(data):
        found.add("frontmatter_open", path)
    _check_fields(found, path, note.front)
    key, kind = key_of(scope, path), scope.parts[1]
    if note.meta.key and note.meta.key != key:
        found.add("key_differs", path, f"The frontmatter says the key {_cut(note.meta.key)}; the path says {key!a}.")
    _check_scope(found, path, note.front.text("scope"), kind, own)
    _learn(known, note, kind, key, path)
    if note.meta.id:
        known.ids.setdefault(note.meta.id, []).append(holder(path, note, document.stat.mtime_ns))


def _learn(known: Known, note: Note, kind: str, key: str, path: BookPath) -> None:
    known.add_file("/".join(path.parts))
    known.names.add(fold(f"{kind}/{key}"))
    targets = dict.fromkeys(link.to for link in note.meta.links if link.status != REJECTED)
    for entry in note.entries:
        if "[[" in entry.text:
            targets.update(dict.fromkeys(wikilinks(entry.text)))
    known.links += [(path, target) for target in targets]


def check_together(found: Findings, known: Known, purged: Collection[str]) -> None:
    """What only shows when all notes are known: copies, what was purged and came back, links to nowhere."""
    for ident, same in known.ids.items():
        first, paths = owner(same), sorted(item.path for item in same)
        for path in paths:
            if path != first:
                found.add("duplicate_id", path, f"This note has the id of {first}.")
        if ident in purged:
            for path in paths:
                found.add("tombstoned", path)
    for path, target in known.links:
        wanted = fold(target.strip()).removesuffix(".md").lstrip("./")
        if wanted and wanted not in known.names:
            found.add("broken_link", path, f"A link leads to {_cut(target)}, which is not there.")


def _is_left_open(data: bytes) -> bool:
    """Whether the note starts like one with frontmatter that has no end. A rule above some text is none."""
    head = data[:65_536].decode("utf-8", "surrogateescape")
    if not head.removeprefix("\ufeff").startswith("---") or split(data.decode("utf-8", "surrogateescape"))[0].opening:
        return False
    front, _ = split(f"{head.split('<!-- entry')[0]}\n---\n")
    return bool(front.fields) and bool(front.fields[0].name)


def _check_scope(found: Findings, path: BookPath, said: str, kind: str, own: Collection[str]) -> None:
    word, _, ident = said.partition(":")
    if said and (word.strip() != kind or (ident and ident.strip() not in own)):
        found.add("scope_differs", path, f"The frontmatter says the scope {_cut(said)}; the path says {kind}.")


# Fields


def _is_one_of(words: Collection[str]) -> Callable[[Value], str | None]:
    return lambda value: None if value in words else f"is not one of {', '.join(words)}"


def _time_fault(value: Value) -> str | None:
    try:
        if isinstance(value, str) and is_stamp(value) and read_time(value):
            return None
    except InvalidField:
        pass
    return "is not a time such as 2026-11-15T09:30:00Z"


def _pinned_fault(value: Value) -> str | None:
    fine = isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off")
    return None if fine else "is not true or false"


def _text_fault(value: Value) -> str | None:
    return None if isinstance(value, str) else "is not one text"


def _texts_fault(value: Value) -> str | None:
    fine = isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    return None if fine else "is not a list of texts"


def _links_fault(value: Value) -> str | None:
    fine = isinstance(value, list) and all(_is_link(item) for item in value)
    return None if fine else "is not a list of {rel, to, origin, status}"


def _is_link(item: Value) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(name), str) and item[name] for name in ("rel", "to"))


_FAULTS: dict[str, Callable[[Value], str | None]] = {
    "id": _text_fault,
    "key": _text_fault,
    "summary": _text_fault,
    "scope": _text_fault,
    "type": _is_one_of([kind.value for kind in MemoryType]),
    "status": _is_one_of([status.value for status in Status]),
    "created": _time_fault,
    "updated": _time_fault,
    "pinned": _pinned_fault,
    "tags": _texts_fault,
    "links": _links_fault,
}


def _check_fields(found: Findings, path: BookPath, front: Frontmatter) -> None:
    for item in front.fields:
        if not item.name and any(line.strip() and not line.startswith("#") for line in item.raw.split("\n")):
            found.add("frontmatter_field", path, f"The line {_cut(item.raw.strip())} is no field.")
    for name in dict.fromkeys(front.names()):
        value = front.get(name)
        if value is None:
            found.add("frontmatter_field", path, f"The field {_cut(name)} is not YAML that can be understood.")
        elif value and name in _FAULTS and (fault := _FAULTS[name](value)):
            shown = f" {_cut(value)}" if isinstance(value, str) else ""
            found.add("frontmatter_field", path, f"The field {name}{shown} {fault}.")


def _cut(text: str) -> str:
    return ascii(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
