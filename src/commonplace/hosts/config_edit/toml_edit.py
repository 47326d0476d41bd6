"""Put a table into a TOML file of another program and take it out again, to the byte: `remove(insert(t)) == t`.

A table goes to the end of the file, after one line break that is always ours; only a file that we made starts with the
table itself. Nothing is recorded outside the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from commonplace.hosts.config_edit.text_edit import (
    BOM,
    EntryPath,
    UnsupportedLayout,
    before_newline,
    find_newline,
    line_end,
)
from commonplace.model.lazy import lazy

_HEADER = lazy(r"[ \t]*\[([^\[\]\r\n][^\r\n]*?)\][ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")
_BARE = lazy(r"[A-Za-z0-9_-]+")
_TEXT = lazy(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\r\n])*"|\'[^\'\r\n]*\'', 16)  # 16: re.DOTALL


class TomlStatement(NamedTuple):
    """A header with its names, or a key with its value (no names); comments and empty lines are neither."""

    start: int
    end: int
    names: tuple[str, ...] | None


def find(text: str | None, path: EntryPath) -> list[object]:
    """Return the table at a path, if there is one."""
    value: Any = _load(text)
    for name in path:
        if not isinstance(value, Mapping):
            raise UnsupportedLayout("something else is where a table is needed")
        if name not in value:
            return []
        value = value[name]
    return [value]


def insert(text: str | None, path: EntryPath, value: object) -> str:
    """Return the text with one more table of plain values at its end."""
    if not isinstance(value, Mapping):
        raise UnsupportedLayout("only a table can be added")
    newline = find_newline(text)
    header = ".".join(_render_key(str(name)) for name in path)
    lines = [f"[{header}]", *(f"{_render_key(name)} = {_render_value(item)}" for name, item in value.items()), ""]
    new = newline.join(lines) if text is None else text + newline + newline.join(lines)
    try:
        _load(new)
    except ValueError:
        raise UnsupportedLayout(f"a table [{header}] cannot be added at the end") from None
    return new


def remove(text: str, path: EntryPath, is_ours: Callable[[object], bool]) -> str | None:
    """Return the text without the table and the tables below it; None where the whole file was ours."""
    if not any(is_ours(value) for value in find(text, path)):
        return text
    wanted = tuple(map(str, path))
    spans = list(_find_spans(text, wanted))
    if not spans:
        raise UnsupportedLayout(f"{'.'.join(wanted)} is not a table of its own")
    new = text
    for start, end in reversed(spans):
        new = new[:start] + new[end:]
    return new if new or text.startswith(("\n", "\r\n")) else None


def _find_spans(text: str, wanted: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the span of each of our tables: from the line break before it to the end of its last value."""
    start = end = -1
    for line in (*_parse_statements(text), TomlStatement(len(text), len(text), ())):
        if line.names is not None:
            if start >= 0:
                yield start, end
            start = -1
            if line.names[: len(wanted)] == wanted:
                start = max(end, before_newline(text, line.start))  # two of ours share a line break
        if start >= 0:
            end = line_end(text, line.end)


def _parse_statements(text: str) -> Iterator[TomlStatement]:
    at = len(BOM) if text.startswith(BOM) else 0
    while at < len(text):
        start = at
        header = _HEADER.match(text, at)
        if header:
            at = header.end()
            yield TomlStatement(start, at, _parse_header(header.group(1)))
            continue
        at = _logical_end(text, at)
        line = text[start:at].lstrip()
        if line and not line.startswith("#"):
            # [[name]] starts a table too, and never one of ours; anything else is a value.
            yield TomlStatement(start, at, ("[[",) if line.startswith("[[") else None)
        at = line_end(text, at)


def _logical_end(text: str, at: int) -> int:
    """Return the end of the line, or of the last line of a value that takes several."""
    depth = 0
    while at < len(text):
        ch = text[at]
        if ch in "\"'":
            found = _TEXT.match(text, at)
            if not found:
                raise UnsupportedLayout("a string has no end")
            at = found.end()
            continue
        if ch == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end - (text[end - 1] == "\r")
            continue
        if depth <= 0 and (ch == "\n" or text.startswith("\r\n", at)):
            return at
        depth += (ch in "[{") - (ch in "]}")
        at += 1
    return at


def _parse_header(header: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(f"[{header}]")
    names = []
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


def _load(text: str | None) -> dict[str, Any]:
    return tomllib.loads((text or "").removeprefix(BOM))


def _render_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _render_value(name)


def _render_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_render_value, value))}]"
    escaped = "".join(
        f"\\u{ord(ch):04x}" if ord(ch) < 32 or ord(ch) == 127 else f"\\{ch}" if ch in '"\\' else ch for ch in str(value)
    )
    return f'"{escaped}"'
