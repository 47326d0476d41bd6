"""What `doctor` finds in the text of notes: fields and scopes that are wrong, copies, and links to nothing.

`doctor` calls `check_note` for every note, then `check_references` for what shows only once all notes are read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from commonplace.maintenance.findings import FindingList
from commonplace.memories.history import Holder, find_owner, read_holder
from commonplace.memories.rows import key_of
from commonplace.memories.supersession import REJECTED
from commonplace.model.errors import InvalidField
from commonplace.model.memory import MemoryType, Status
from commonplace.model.names import fold_name
from commonplace.model.times import is_timestamp, read_time
from commonplace.text.frontmatter import Frontmatter, Value, split
from commonplace.text.links import find_wikilinks
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Document

_SHOWN = 60  # characters of a note's own words in a message


@dataclass(slots=True)
class NoteReferences:
    """The ids, names and links of all notes, collected while they are read and compared at the end."""

    holders: dict[str, list[Holder]] = field(default_factory=dict)  # the notes that have an id, by id
    names: set[str] = field(default_factory=set)  # everything a link may lead to
    links: list[tuple[BookPath, str]] = field(default_factory=list)

    def add_file(self, path: str) -> None:
        """Add a file that a link may name by its path, the end of it, or its name alone."""
        parts = fold_name(path).removesuffix(".md").split("/")
        self.names.update("/".join(parts[at:]) for at in range(len(parts)))

    def add_note(self, note: Note, path: BookPath, full_key: str, mtime_ns: int) -> None:
        """Add a note with its id and links. `full_key` is its key with the kind of its scope."""
        self.add_file("/".join(path.parts))
        self.names.add(fold_name(full_key))
        targets = dict.fromkeys(link.to for link in note.meta.links if link.status != REJECTED)
        for entry in note.entries:
            if "[[" in entry.text:
                targets.update(dict.fromkeys(find_wikilinks(entry.text)))
        self.links += [(path, target) for target in targets]
        if note.meta.id:
            self.holders.setdefault(note.meta.id, []).append(read_holder(path, note, mtime_ns))


def check_note(
    findings: FindingList,
    references: NoteReferences,
    path: BookPath,
    document: Document,
    *,
    scope: BookPath,
    scope_ids: Collection[str],
) -> None:
    """Check one note, and add it to the references. `scope_ids` are the ids that its scope goes by."""
    data = document.data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        findings.add("not_utf8", path, f"Byte {error.start:,} of this note is not UTF-8 text.")
    note = parse(data)
    if _is_frontmatter_open(data):
        findings.add("frontmatter_open", path)
    _check_fields(findings, path, note.front)
    key, kind = key_of(scope, path), scope.parts[1]
    if note.meta.key and note.meta.key != key:
        message = f"The frontmatter names the key {_cut(note.meta.key)}; the path says {key!a}."
        findings.add("key_differs", path, message)
    named_scope = note.front.text("scope")
    named_kind, _, scope_id = named_scope.partition(":")
    if named_scope and (named_kind.strip() != kind or (scope_id and scope_id.strip() not in scope_ids)):
        message = f"The frontmatter names the scope {_cut(named_scope)}; the path says {kind}."
        findings.add("scope_differs", path, message)
    references.add_note(note, path, f"{kind}/{key}", document.stat.mtime_ns)


def check_references(findings: FindingList, references: NoteReferences, purged_ids: Collection[str]) -> None:
    """Report copies of notes, purged notes that came back, and links to nothing."""
    for note_id, holders in references.holders.items():
        original = find_owner(holders)
        paths = sorted(one.path for one in holders)
        for path in paths:
            if path != original:
                findings.add("duplicate_id", path, f"This note has the id of {original}.")
        if note_id in purged_ids:
            for path in paths:
                findings.add("tombstoned", path)
    for path, target in references.links:
        name = fold_name(target.strip()).removesuffix(".md").lstrip("./")
        if name and name not in references.names:
            findings.add("broken_link", path, f"A link leads to {_cut(target)}, which does not exist.")


def _is_frontmatter_open(data: bytes) -> bool:
    """Return whether the note starts with frontmatter that never ends. A horizontal rule above text is none."""
    text = data.decode("utf-8", "surrogateescape")
    head = data[:65_536].decode("utf-8", "surrogateescape")
    if not head.removeprefix("\ufeff").startswith("---") or split(text)[0].opening:
        return False
    front, _ = split(f"{head.split('<!-- entry')[0]}\n---\n")
    return bool(front.fields) and bool(front.fields[0].name)


# Fields of the frontmatter


class _FieldRule(NamedTuple):
    is_valid: Callable[[Value], bool]
    fault: str  # what is wrong with a value that is not valid


def _is_text(value: Value) -> bool:
    return isinstance(value, str)


def _is_time(value: Value) -> bool:
    with contextlib.suppress(InvalidField):
        return isinstance(value, str) and is_timestamp(value) and bool(read_time(value))
    return False


def _is_boolean(value: Value) -> bool:
    return isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off")


def _is_text_list(value: Value) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(map(_is_text, value)))


def _is_link_list(value: Value) -> bool:
    return isinstance(value, list) and all(map(_is_link, value))


def _is_link(item: Value) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(name), str) and item[name] for name in ("rel", "to"))


def _one_of(words: Collection[str]) -> _FieldRule:
    return _FieldRule(lambda value: value in words, f"is not one of {', '.join(words)}")


_TEXT = _FieldRule(_is_text, "is not text")
_TIME = _FieldRule(_is_time, "is not a time such as 2026-11-15T09:30:00Z")
_FIELD_RULES = {
    "id": _TEXT,
    "key": _TEXT,
    "summary": _TEXT,
    "scope": _TEXT,
    "type": _one_of([kind.value for kind in MemoryType]),
    "status": _one_of([status.value for status in Status]),
    "created": _TIME,
    "updated": _TIME,
    "pinned": _FieldRule(_is_boolean, "is not true or false"),
    "tags": _FieldRule(_is_text_list, "is not a list of texts"),
    "links": _FieldRule(_is_link_list, "is not a list of {rel, to, origin, status}"),
}


def _check_fields(findings: FindingList, path: BookPath, front: Frontmatter) -> None:
    for field_lines in front.fields:
        raw = field_lines.raw
        if not field_lines.name and any(line.strip() and not line.startswith("#") for line in raw.split("\n")):
            findings.add("frontmatter_field", path, f"The line {_cut(raw.strip())} is not a field.")
    for name in dict.fromkeys(front.names()):
        value = front.get(name)
        rule = _FIELD_RULES.get(name)
        if value is None:
            findings.add("frontmatter_field", path, f"The field {_cut(name)} is not valid YAML.")
        elif value and rule is not None and not rule.is_valid(value):
            shown = f" {_cut(value)}" if isinstance(value, str) else ""
            findings.add("frontmatter_field", path, f"The field {name}{shown} {rule.fault}.")


def _cut(text: str) -> str:
    return ascii(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
