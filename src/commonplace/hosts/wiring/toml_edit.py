"""Put a table into a TOML file of another program and take it out again, to the byte: `remove(insert(t)) == t`.

A table goes behind everything that is there, after one line break that is always ours; only a file that was not there
starts with it at once. Nothing is remembered beside the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.hosts.wiring.json_edit import Unfit
from commonplace.model.patterns import lazy

BOM = "\ufeff"
_HEADER = lazy(r"[ \t]*\[([^\[\]\r\n][^\r\n]*?)\][ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")
_BARE = lazy(r"[A-Za-z0-9_-]+")
_TEXT = lazy(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\r\n])*"|\'[^\'\r\n]*\'', 16)  # 16: re.DOTALL


class _Line(NamedTuple):
    """A statement: a header with its names, or a value (no names); comments and empty lines are none."""

    start: int
    end: int
    names: tuple[str, ...] | None


def find(text: str | None, path: Sequence[str | None]) -> list[object]:
    """The table at a path, if there is one."""
    value: Any = _data(text)
    for name in path:
        if not isinstance(value, Mapping):
            raise Unfit("something else stands where a table is needed")
        if name not in value:
            return []
        value = value[name]
    return [value]


def insert(text: str | None, path: Sequence[str | None], value: object) -> str:
    """The text with one more table of plain values behind all else."""
    if not isinstance(value, Mapping):
        raise Unfit("only a table can be put in")
    newline = "\r\n" if text is not None and "\r\n" in text else "\n"
    header = ".".join(_key(str(name)) for name in path)
    lines = [f"[{header}]", *(f"{_key(name)} = {_literal(item)}" for name, item in value.items()), ""]
    new = newline.join(lines) if text is None else text + newline + newline.join(lines)
    try:
        _data(new)
    except ValueError:
        raise Unfit(f"a table [{header}] cannot stand behind what is there") from None
    return new


def remove(text: str, path: Sequence[str | None], is_ours: Callable[[object], bool]) -> str | None:
    """The text without the table and the tables below it; None where the file itself was ours."""
    if not any(is_ours(value) for value in find(text, path)):
        return text
    wanted = tuple(map(str, path))
    spans = list(_spans(text, wanted))
    if not spans:
        raise Unfit(f"{'.'.join(wanted)} is there, but not as a table of its own")
    new = text
    for start, end in reversed(spans):
        new = new[:start] + new[end:]
    was_there = bool(new) or text.startswith(("\n", "\r\n"))
    return new if was_there else None


def _spans(text: str, wanted: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """From the line break before each of our tables to the end of its last value."""
    start = end = -1
    for line in (*_statements(text), _Line(len(text), len(text), ())):
        if line.names is not None:
            if start >= 0:
                yield start, end
            start = -1
            if line.names[: len(wanted)] == wanted:
                start = max(end, _before_break(text, line.start))  # two of ours share a line break
        if start >= 0:
            end = _after_break(text, line.end)


def _before_break(text: str, at: int) -> int:
    for newline in ("\r\n", "\n"):
        if text.endswith(newline, 0, at):
            return at - len(newline)
    return at


def _after_break(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _statements(text: str) -> Iterator[_Line]:
    at = len(BOM) if text.startswith(BOM) else 0
    while at < len(text):
        start = at
        header = _HEADER.match(text, at)
        if header:
            at = header.end()
            yield _Line(start, at, _names(header.group(1)))
            continue
        at = _logical_end(text, at)
        if text[start:at].strip(" \t\r\n") and not text[start:at].lstrip().startswith("#"):
            yield _Line(start, at, _array_header(text[start:at]))
        if text.startswith("\r\n", at):
            at += 2
        elif at < len(text):
            at += 1


def _array_header(line: str) -> tuple[str, ...] | None:
    """[[name]] starts another table; anything else is a value."""
    return ("[[",) if line.lstrip().startswith("[[") else None


def _logical_end(text: str, at: int) -> int:
    """The end of the line, or of the last line of a value that goes over several."""
    depth = 0
    while at < len(text):
        ch = text[at]
        if ch in "\"'":
            found = _TEXT.match(text, at)
            if not found:
                raise Unfit("a text has no end")
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


def _names(header: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(f"[{header}]")
    names = []
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


def _data(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    return tomllib.loads(text.removeprefix(BOM))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _literal(name)


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    escaped = "".join(
        f"\\u{ord(ch):04x}" if ord(ch) < 32 or ord(ch) == 127 else f"\\{ch}" if ch in '"\\' else ch for ch in str(value)
    )
    return f'"{escaped}"'
