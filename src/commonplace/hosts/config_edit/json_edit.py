"""Put an entry into a JSON file of another program and take it out again, to the byte: `remove(insert(t)) == t`.

The file may have comments, trailing commas and any layout: it is parsed with the places of everything in it, and edited
by these places, so that every byte that is not ours stays as it is.

Nothing is recorded outside the file: another person, or another machine with the same repository, can undo the change.
The layout, which means nothing to a reader of JSON, tells later what was ours:

- An object that we made holds its first entry without a blank, `{"commonplace": ...}`. It is removed when nothing
  else is in it. An object that was there and empty gets its entry on a line of its own, and stays.
- A file that we made starts with our brace. A file that was there with nothing in it starts with a line break.

Where another program has laid the file out anew, an empty object may stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from commonplace.hosts.config_edit.text_edit import BOM, EntryPath, UnsupportedLayout, find_newline, line_start
from commonplace.model.patterns import lazy

_STRING = lazy(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = lazy(r"-?\d[\d.eE+-]*|true|false|null")
_BLANK = lazy(r"[ \t\r\n]*")
_INDENT = lazy(r"\n([ \t]+)[\"{\[]")
_LEADING = lazy(r"[ \t]*")
_DEPTH = 200
_NARROW = 100  # a list or object that fits is written on one line


class InvalidJson(ValueError):
    """The text is not JSON, with or without comments."""


class JsonNode(NamedTuple):
    """A value and its place in the text. Only objects and arrays have items."""

    start: int
    end: int
    value: Any
    items: list[JsonItem]

    def find_member(self, name: str) -> JsonItem | None:
        """Return the member of that name; of several the last one, as every reader of JSON does."""
        return next((item for item in reversed(self.items) if item.key == name), None)


class JsonItem(NamedTuple):
    """A member of an object, or an element of an array. Only blanks are between `before` and `start`."""

    key: str | None
    before: int
    start: int
    node: JsonNode
    comma: int | None  # where the comma behind it is

    @property
    def end(self) -> int:
        """Where its value ends."""
        return self.node.end


class JsonLayout(NamedTuple):
    """How a file is laid out: one step of its indentation (empty: all on one line), and its line end."""

    indent: str = "  "
    newline: str = "\n"


_DEFAULT_LAYOUT = JsonLayout()


def find(text: str | None, path: EntryPath) -> list[object]:
    """Return what is at a path: the member, or for None every element of the array."""
    node = _parse_object(text)
    for name in path[:-1]:
        item = _find_member(node, name) if node else None
        node = item.node if item else None
    return [item.node.value for item in _find_items(node, path[-1])] if node else []


def insert(text: str | None, path: EntryPath, value: object) -> str:
    """Return the text with one more entry; the containers above it are made where they are missing."""
    if text is None:
        return _render_chain(path, value, "", _DEFAULT_LAYOUT) + "\n"
    root = parse(text)
    indent = _INDENT.search(text)
    layout = JsonLayout(indent.group(1) if indent else "  ", find_newline(text))
    if root is None:
        mark = BOM if text.startswith(BOM) else ""
        return f"{mark}{layout.newline}{_render_chain(path, value, '', layout)}{text[len(mark) :]}"
    node, rest = root, list(path)
    while len(rest) > 1 and (item := _find_member(node, rest[0])) is not None:
        node = item.node
        rest = rest[1:]
    _require_container(node, rest[0])
    return _append(text, node, rest, value, layout)


def remove(text: str, path: EntryPath, is_ours: Callable[[object], bool]) -> str | None:
    """Return the text without the last entry of ours at the path; None where the whole file was ours."""
    root = node = _parse_object(text)
    parents: list[tuple[JsonNode, JsonItem]] = []
    for name in path[:-1]:
        item = _find_member(node, name) if node else None
        if node is None or item is None:
            return text
        parents.append((node, item))
        node = item.node
    ours = [item for item in _find_items(node, path[-1]) if is_ours(item.node.value)] if node else []
    if node is None or root is None or not ours:
        return text
    item = ours[-1]
    while len(node.items) == 1 and _is_made_by_us(node):
        if not parents:
            return _remove_root(text, root)
        node, item = parents.pop()
    return _remove_item(text, node, item)


def is_last_after(text: str, name: str, before: str) -> bool:
    """Return whether a member of the file is its last, and directly follows another one that we made."""
    root = _parse_object(text)
    if root is None or [item.key for item in root.items[-2:]] != [before, name]:
        return False
    return _is_made_by_us(root.items[-2].node)


def render(value: object, indent: str = "", layout: JsonLayout = _DEFAULT_LAYOUT) -> str:
    """Return a value as text: on one line where it is short or the layout has no indentation, else on several."""
    short = json.dumps(value, ensure_ascii=False)
    is_container = isinstance(value, (dict, list, tuple)) and bool(value)
    if not is_container or not layout.indent or len(short) + len(indent) <= _NARROW:
        return short
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    parts = value.items() if isinstance(value, dict) else ((None, item) for item in value)  # type: ignore[attr-defined]
    inner = indent + layout.indent
    lines = [f"{inner}{_render_item([name], item, inner, layout)}" for name, item in parts]
    newline = layout.newline
    return f"{opening}{newline}{f',{newline}'.join(lines)}{newline}{indent}{closing}"


def _render_item(path: EntryPath, value: object, indent: str, layout: JsonLayout) -> str:
    """Return a member or an element as text, with the containers above it that have to be made."""
    name, *rest = path
    inner = _render_chain(rest, value, indent, layout) if rest else render(value, indent, layout)
    return inner if name is None else f"{json.dumps(name, ensure_ascii=False)}: {inner}"


def _render_chain(path: EntryPath, value: object, indent: str, layout: JsonLayout) -> str:
    opening, closing = "[]" if path[0] is None else "{}"
    return f"{opening}{_render_item(path, value, indent, layout)}{closing}"


def _append(text: str, node: JsonNode, path: EntryPath, value: object, layout: JsonLayout) -> str:
    """Return the text with an entry behind the last one of a container."""
    newline = layout.newline
    outer = _line_indent(text, node.start)
    inner = outer + layout.indent
    if not node.items:
        entry = _render_item(path, value, inner, layout)
        at = node.start + 1
        return f"{text[:at]}{newline}{inner}{entry}{newline}{outer}{text[at:]}"
    last = node.items[-1]
    is_flat = not {"\n", "\r"} & set(text.rstrip()) and len(text) + len(json.dumps(value)) <= _NARROW
    leading = text[line_start(text, last.start) : last.start]
    if line_start(text, last.start) and not leading.strip():
        inner = _line_indent(text, last.start)
    gap = " " if is_flat else f"{newline}{inner}"
    entry = _render_item(path, value, inner, layout._replace(indent="") if is_flat else layout)
    behind = last.end if last.comma is None else last.comma + 1
    at = _after_comments_of_line(text, behind)
    if last.comma is not None:
        return f"{text[:at]}{gap}{entry},{text[at:]}"
    return f"{text[:behind]},{text[behind:at]}{gap}{entry}{text[at:]}"


def _after_comments_of_line(text: str, at: int) -> int:
    """Return the end of the last comment on the line of what is before it; the same place where there is none."""
    end = at
    for start, stop in _find_comments(text, at):
        if "\n" in text[end:start] or "\r" in text[end:start]:
            break
        end = stop
    return end


def _remove_item(text: str, node: JsonNode, item: JsonItem) -> str:
    """Return the text without one item, and without what was added for it."""
    place = node.items.index(item)
    if item.comma is not None:
        return text[: item.before] + text[item.comma + 1 :]
    if place > 0:
        comma = node.items[place - 1].comma
        if comma is None:
            raise InvalidJson("a comma is missing")
        return text[:comma] + text[comma + 1 : item.before] + text[item.end :]
    ending = f"{find_newline(text)}{_line_indent(text, node.start)}"
    end = item.end + len(ending) if text.startswith(ending, item.end) else item.end
    return text[: item.before] + text[end:]


def _remove_root(text: str, root: JsonNode) -> str | None:
    mark = BOM if text.startswith(BOM) else ""
    before, behind = text[len(mark) : root.start], text[root.end :]
    if before == find_newline(text):
        return mark + behind
    return mark + before + behind if (before + behind).strip() else None


def _is_made_by_us(node: JsonNode) -> bool:
    """Return whether a container has items, and no blank between its brackets and the first and last of them."""
    items = node.items
    return bool(items) and items[0].start == node.start + 1 and items[-1].end == node.end - 1


def _parse_object(text: str | None) -> JsonNode | None:
    root = parse(text) if text is not None else None
    if root is not None and not isinstance(root.value, dict):
        raise UnsupportedLayout("it is not an object")
    return root


def _find_member(node: JsonNode, name: str | None) -> JsonItem | None:
    if not isinstance(node.value, dict) or name is None:
        raise UnsupportedLayout(f"{name!a} would have to be a member of something that is not an object")
    return node.find_member(name)


def _require_container(node: JsonNode, name: str | None) -> None:
    if not isinstance(node.value, list if name is None else dict):
        raise UnsupportedLayout(f"something else is where {'a list' if name is None else 'an object'} is needed")


def _find_items(node: JsonNode, name: str | None) -> list[JsonItem]:
    _require_container(node, name)
    if name is None:
        return node.items
    item = node.find_member(name)
    return [item] if item else []


def _line_indent(text: str, at: int) -> str:
    found = _LEADING.match(text, line_start(text, at), at)
    return found.group() if found else ""


def parse(text: str) -> JsonNode | None:
    """Return the value of a file with its places; None where there is nothing but blanks and comments."""
    at = _after_trivia(text, len(BOM) if text.startswith(BOM) else 0)
    if at == len(text):
        return None
    node = _parse_value(text, at, 0)
    if _after_trivia(text, node.end) != len(text):
        raise InvalidJson("there is something after the end")
    return node


def _parse_value(text: str, at: int, depth: int) -> JsonNode:
    opening = text[at : at + 1]
    if depth > _DEPTH:
        raise InvalidJson("it is nested too deeply")
    if opening in ("{", "["):
        return _parse_container(text, at, depth)
    found = (_STRING if opening == '"' else _SCALAR).match(text, at)
    if not found:
        raise InvalidJson(f"there is no value at character {at}")
    return JsonNode(at, found.end(), _load_scalar(found.group()), [])


def _load_scalar(word: str) -> object:
    try:
        value: object = json.loads(word)
    except ValueError:
        raise InvalidJson(f"{word[:40]!a} is not a value") from None
    return value


def _parse_container(text: str, start: int, depth: int) -> JsonNode:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    items: list[JsonItem] = []
    before = _after_comments(text, start + 1)
    while not text.startswith(closing, at := _after_blanks(text, before)):
        if items and items[-1].comma is None:
            raise InvalidJson(f"a comma is missing at character {at}")
        key, value_at = _parse_key(text, at) if is_object else (None, at)
        node = _parse_value(text, value_at, depth + 1)
        end = _after_trivia(text, node.end)
        comma = end if text.startswith(",", end) else None
        items.append(JsonItem(key, before, at, node, comma))
        before = _after_comments(text, end if comma is None else end + 1)
    values = [item.node.value for item in items]
    value = dict(zip([item.key for item in items], values, strict=True)) if is_object else values
    return JsonNode(start, at + 1, value, items)


def _parse_key(text: str, at: int) -> tuple[str, int]:
    """Return the name of a member, and where its value starts."""
    found = _STRING.match(text, at)
    if not found:
        raise InvalidJson(f"a name is missing at character {at}")
    colon = _after_trivia(text, found.end())
    if not text.startswith(":", colon):
        raise InvalidJson(f"a colon is missing at character {colon}")
    return str(_load_scalar(found.group())), _after_trivia(text, colon + 1)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _find_comments(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield where each comment from here on starts and ends, up to the next value."""
    while True:
        at = _after_blanks(text, at)
        end = _comment_end(text, at)
        if end == at:
            return
        yield at, end
        at = end


def _after_comments(text: str, at: int) -> int:
    """Return the end of the last comment before the next value; the same place where there is none."""
    for _, end in _find_comments(text, at):
        at = end
    return at


def _after_trivia(text: str, at: int) -> int:
    return _after_blanks(text, _after_comments(text, at))


def _comment_end(text: str, at: int) -> int:
    if text.startswith("//", at):
        ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
        return min(ends, default=len(text))
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        if end < 0:
            raise InvalidJson("a comment has no end")
        return end + 2
    return at
