"""Answers as JSON: every value of the model becomes an object with its fields by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum

from commonplace.model.memory import Memory
from commonplace.text.fence import is_hidden

_ENTRY_FIELDS = ("id", "time", "author", "trust", "text", "session", "occurred", "thread", "seq", "tags")
_SUSPECT = re.compile(r"[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]")


def as_json(value: object, encoding: str | None = "utf-8") -> str:
    """Return one line of JSON, with escapes for what the stream or a terminal would not show as it is."""
    unicode = (encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
    text = json.dumps(plain(value), ensure_ascii=not unicode)
    return _SUSPECT.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """Escape what a terminal obeys or does not show, as JSON does: a parser gets it as it was."""
    ch = match.group()
    return json.dumps(ch)[1:-1] if is_hidden(ch) else ch


def plain(value: object) -> object:
    """Return a value made of dicts, lists and scalars only."""
    if isinstance(value, Memory):
        return _memory(value)
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        return [plain(item) for item in value]
    names: tuple[str, ...] = getattr(value, "_fields", getattr(type(value), "__slots__", ()))
    return _fields(value, *names)


def _memory(memory: Memory) -> dict[str, object]:
    """Return a memory as a flat object: scripts rely on this shape."""
    meta = memory.meta
    return {
        "id": meta.id,
        "key": memory.key,
        "scope": memory.scope.kind.value,
        "scope_id": memory.scope.id,
        **_fields(memory, "path", "revision", "also_in"),
        **_fields(meta, "type", "status", "summary", "tags", "pinned", "created", "updated", "links"),
        "entries": [_fields(entry, *_ENTRY_FIELDS) for entry in memory.entries],
    }


def _fields(value: object, *names: str) -> dict[str, object]:
    return {name: plain(getattr(value, name)) for name in names}
