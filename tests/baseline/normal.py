"""Normalise an answer: replace what differs from run to run, and part behaviour from wording.

Behaviour is keys, types, values and their order. Wording is text that the product's authors chose: messages, hints,
descriptions. The record keeps wording as hashes in a branch of its own, so that a rewording is told from a change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WORDING_KEYS = frozenset(
    {"message", "hint", "notice", "next", "note", "notes", "stderr", "description", "problems", "leaves_machine"}
)
# Numbers that depend on the machine, the release, or the digits of ids (an estimate of tokens does).
TYPE_ONLY = frozenset({"index_bytes", "state_bytes", "version", "tokens", "prompt_tokens"})
WORDING = "<wording>"
LONGEST = 160  # characters of a value that is kept as it is
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_REVISION = re.compile(r"(?<![0-9a-f-])(?:[0-9a-f]{32}|[0-9a-f]{12})(?![0-9a-f-])")  # whole, or its first digits
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?")


class Normal(NamedTuple):
    """One answer, normalised: its behaviour, and its wording by the path of each text."""

    behaviour: Any
    wording: dict[str, str]


class Normaliser:
    """Normalises the values of one answer; an id that occurs twice gets the same name twice.

    `places` maps folders of this machine to what stands for them. A time from `today` on was not made by the stopped
    clock but by the file system.
    """

    def __init__(self, places: Mapping[str, str], today: str = "9999", wording: frozenset[str] = frozenset()) -> None:
        self._places, self._today, self._wording_keys = places, today, WORDING_KEYS | wording
        self._names: dict[str, str] = {}
        self._wording: dict[str, str] = {}

    def normalise(self, value: Any) -> Normal:
        """Return the behaviour and the wording of one answer."""
        behaviour = self._convert(value, ())
        return Normal(behaviour, self._wording)

    def normalise_text(self, text: str) -> str:
        """Return a text with ids, revisions, folders and times of the file system replaced."""
        for folder, name in self._places.items():
            text = text.replace(folder, name)
        text = _ID.sub(lambda match: self._name("id", match.group()), text)
        text = _REVISION.sub(lambda match: self._name("revision", match.group()), text)
        return _TIME.sub(lambda match: "<now>" if match.group()[:10] >= self._today else match.group(), text)

    def _convert(self, value: Any, path: tuple[str, ...]) -> Any:
        if path and path[-1] in self._wording_keys and value not in ("", [], None):
            self._wording[".".join(path)] = hash_text(self.normalise_text(_as_text(value)))
            return WORDING
        if path and path[-1] in TYPE_ONLY:
            return f"<{type(value).__name__}>"
        if isinstance(value, Mapping):
            return {name: self._convert(item, (*path, name)) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return as_table([self._convert(item, (*path, str(place))) for place, item in enumerate(value)])
        if isinstance(value, float):
            return round(value, 4)
        if isinstance(value, str):
            text = self.normalise_text(value)
            return text if len(text) <= LONGEST else f"<{len(text)} characters {hash_text(text)}>"
        return value

    def _name(self, kind: str, value: str) -> str:
        """Return the name that stands for an id or a revision, by the order in which they occur."""
        count = sum(name.startswith(f"<{kind} ") for name in self._names.values())
        return self._names.setdefault(value, f"<{kind} {count + 1}>")


def as_table(items: list[Any]) -> Any:
    """Return a list of objects with the same fields as a table, which is much shorter; any other list as it is.

    A table has `fields`, the values that are the same in `all` rows, and the other values of each of the `rows`.
    """
    shapes = {tuple(item) if isinstance(item, dict) else None for item in items}
    if len(items) < 2 or len(shapes) != 1 or None in shapes:
        return items
    fields = list(items[0])
    same = {name: items[0][name] for name in fields if all(_is_same(item[name], items[0][name]) for item in items)}
    return {
        "fields": fields,
        "all": same,
        "rows": [[item[name] for name in fields if name not in same] for item in items],
    }


def from_table(value: Any) -> Any:
    """Return the list behind a table; any other value as it is."""
    if not isinstance(value, dict) or list(value) != ["fields", "all", "rows"]:
        return value
    fields, same = value["fields"], value["all"]
    varying = [name for name in fields if name not in same]
    found = [{**same, **dict(zip(varying, row, strict=True))} for row in value["rows"]]
    return [{name: item[name] for name in fields} for item in found]


def _is_same(one: object, other: object) -> bool:
    """Return whether two values are equal and of one type: 1 is not True, and 1.0 is not 1."""
    return type(one) is type(other) and one == other


def hash_text(text: str, length: int = 16) -> str:
    """Return the first hex digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _as_text(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(map(str, value))
    return str(value)
