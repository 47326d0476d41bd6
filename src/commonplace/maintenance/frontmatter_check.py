"""What `doctor` checks in the frontmatter of a note: that it ends, and that each field has a value it can have."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from commonplace.maintenance.findings import FindingList
from commonplace.model.errors import InvalidField
from commonplace.model.memory import MemoryType, Status
from commonplace.model.times import is_timestamp, read_time
from commonplace.text.frontmatter import Frontmatter, Value, split
from commonplace.vault.paths import BookPath

_SHOWN = 60  # characters of a note's own words in a message


def is_frontmatter_open(data: bytes) -> bool:
    """Return whether the note starts with frontmatter that never ends. A horizontal rule above text is none."""
    text = data.decode("utf-8", "surrogateescape")
    head = data[:65_536].decode("utf-8", "surrogateescape")
    if not head.removeprefix("\ufeff").startswith("---") or split(text)[0].opening:
        return False
    front, _ = split(f"{head.split('<!-- entry')[0]}\n---\n")
    return bool(front.fields) and bool(front.fields[0].name)


_FieldRule = tuple[Callable[[Value], bool], str]  # whether a value is valid, and what is wrong with any other


def _is_text(value: Value) -> bool:
    return isinstance(value, str)


def _is_time(value: Value) -> bool:
    with suppress(InvalidField):
        return isinstance(value, str) and is_timestamp(value) and bool(read_time(value))
    return False


def _is_boolean(value: Value) -> bool:
    return isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off")


def _is_text_list(value: Value) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(map(_is_text, value)))


def _is_link_list(value: Value) -> bool:
    links = value if isinstance(value, list) else [None]
    ends = [link.get(name) if isinstance(link, dict) else None for link in links for name in ("rel", "to")]
    return all(isinstance(end, str) and end for end in ends)


def _one_of(words: Collection[str]) -> _FieldRule:
    return lambda value: value in words, f"is not one of {', '.join(words)}"


_TEXT = (_is_text, "is not text")
_TIME = (_is_time, "is not a time such as 2026-11-15T09:30:00Z")
_FIELD_RULES: Mapping[str, _FieldRule] = {
    "id": _TEXT,
    "key": _TEXT,
    "summary": _TEXT,
    "scope": _TEXT,
    "type": _one_of([kind.value for kind in MemoryType]),
    "status": _one_of([status.value for status in Status]),
    "created": _TIME,
    "updated": _TIME,
    "pinned": (_is_boolean, "is not true or false"),
    "tags": (_is_text_list, "is not a list of texts"),
    "links": (_is_link_list, "is not a list of {rel, to, origin, status}"),
}


def check_fields(findings: FindingList, path: BookPath, front: Frontmatter) -> None:
    """Report lines of a note's frontmatter that are not fields, and fields with a value that they cannot have."""
    for field_lines in front.fields:
        raw = field_lines.raw
        if not field_lines.name and any(line.strip() and not line.startswith("#") for line in raw.split("\n")):
            findings.add("frontmatter_field", path, f"The line {cut_words(raw.strip())} is not a field.")
    for name in dict.fromkeys(front.names()):
        value = front.get(name)
        if value is None:
            findings.add("frontmatter_field", path, f"The field {cut_words(name)} is not valid YAML.")
        elif value and name in _FIELD_RULES:
            is_valid, fault = _FIELD_RULES[name]
            shown = f" {cut_words(value)}" if isinstance(value, str) else ""
            if not is_valid(value):
                findings.add("frontmatter_field", path, f"The field {name}{shown} {fault}.")


def cut_words(text: str) -> str:
    """Return a note's own words as a message shows them."""
    return ascii(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
