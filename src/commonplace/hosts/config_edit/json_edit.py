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

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from commonplace.hosts.config_edit.text_edit import BOM, Editor, EntryPath, UnsupportedLayout, find_newline, line_start
from commonplace.model.lazy import lazy

_DECODER = json.JSONDecoder(parse_constant=int)  # `int` refuses NaN and Infinity, which are not JSON
_BLANKS = lazy(r"[ \t\r\n]*")
_COMMENT = r"(?://[^\r\n]*|/\*[\s\S]*?\*/)"
_COMMENTS = lazy(rf"(?:[ \t\r\n]*{_COMMENT})*")  # up to the end of the last one before the next value
_COMMENTS_OF_LINE = lazy(rf"(?:[ \t]*{_COMMENT})*")
_INDENT = lazy(r"\n([ \t]+)[\"{\[]")
_DEPTH = 200
_NARROW = 100  # a list or object that fits is written on one line


class InvalidJson(ValueError):
    """The text is not JSON, with or without comments."""


class JsonNode(NamedTuple):
    """A value and its place in the text. Only objects and arrays have items."""

    start: int
    end: int
    value: Any
    items: list["JsonItem"]


class JsonItem(NamedTuple):
    """A member of an object, or an element of an array. Only blanks are between `before` and `start`."""

    key: str | None
    before: int
    start: int
    node: JsonNode
    comma: int  # where the comma behind it is; -1 where there is none

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
    nodes = _walk(_parse_object(text), path)
    return [item.node.value for item in _find_items(nodes[-1], path[-1])] if len(nodes) == len(path) else []


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
    nodes = _walk(root, path)
    missing = path[len(nodes) - 1 :]
    _find_items(nodes[-1], missing[0])  # raises where it cannot go in there
    return _append(text, nodes[-1], missing, value, layout)


def remove(text: str, path: EntryPath, is_ours: Callable[[object], bool]) -> str | None:
    """Return the text without the last entry of ours at the path; None where the whole file was ours."""
    nodes = _walk(_parse_object(text), path)
    if len(nodes) < len(path):
        return text
    root = nodes[0]
    ours = [item for item in _find_items(nodes[-1], path[-1]) if is_ours(item.node.value)]
    while ours and len(nodes[-1].items) == 1 and _is_made_by_us(nodes[-1]):
        nodes.pop()
        if not nodes:
            mark = BOM if text.startswith(BOM) else ""
            before, behind = text[len(mark) : root.start], text[root.end :]
            if before == find_newline(text):
                return mark + behind
            return mark + before + behind if (before + behind).strip() else None
        ours = _find_items(nodes[-1], path[len(nodes) - 1])
    return _remove_item(text, nodes[-1], ours[-1]) if ours else text


def replace(text: str, path: EntryPath, old: object, new: object) -> str:
    """Return the text with another value in place of one at the path; what is the same in both stays to the byte."""
    nodes = _walk(_parse_object(text), path)
    item = next(item for item in _find_items(nodes[-1], path[-1]) if item.node.value == old)
    return _replace_values(text, item.node, new)


def replace_all(text: str, new: object) -> str:
    """Return the text of a file with another value in it; what is the same in both stays to the byte."""
    root = parse(text)
    return text if root is None else _replace_values(text, root, new)


def _replace_values(text: str, node: JsonNode, new: object) -> str:
    for start, end, value in reversed([*_find_changes(node, new)]):
        indent = _INDENT.search(text)
        layout = JsonLayout(indent.group(1) if indent else "  ", find_newline(text))
        text = text[:start] + render(value, _line_indent(text, start), layout) + text[end:]
    return text


def _find_changes(node: JsonNode, new: object) -> Iterator[tuple[int, int, object]]:
    """Yield the places of the values that are others in `new`, with these."""
    if node.value == new:
        return
    if (
        isinstance(new, dict)
        and isinstance(node.value, dict)
        and len(node.items) == len(new)
        and new.keys() == {*node.value}
    ):
        for item in node.items:
            yield from _find_changes(item.node, new[item.key])
    elif isinstance(new, list) and isinstance(node.value, list) and len(new) == len(node.items):
        for item, value in zip(node.items, new, strict=True):
            yield from _find_changes(item.node, value)
    else:
        yield node.start, node.end, new


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
    behind = last.end if last.comma < 0 else last.comma + 1
    at = _skip(_COMMENTS_OF_LINE, text, behind)
    if last.comma >= 0:
        return f"{text[:at]}{gap}{entry},{text[at:]}"
    return f"{text[:behind]},{text[behind:at]}{gap}{entry}{text[at:]}"


def _remove_item(text: str, node: JsonNode, item: JsonItem) -> str:
    """Return the text without one item, and without what was added for it."""
    place = node.items.index(item)
    if item.comma >= 0:
        return text[: item.before] + text[item.comma + 1 :]
    if place > 0:
        comma = node.items[place - 1].comma
        return text[:comma] + text[comma + 1 : item.before] + text[item.end :]
    ending = f"{find_newline(text)}{_line_indent(text, node.start)}"
    end = item.end + len(ending) if text.startswith(ending, item.end) else item.end
    return text[: item.before] + text[end:]


def _is_made_by_us(node: JsonNode) -> bool:
    """Return whether a container has items, and no blank between its brackets and the first and last of them."""
    items = node.items
    return bool(items) and items[0].start == node.start + 1 and items[-1].end == node.end - 1


def _parse_object(text: str | None) -> JsonNode | None:
    root = parse(text) if text is not None else None
    if root and not isinstance(root.value, dict):
        raise UnsupportedLayout("it is not an object")
    return root


def _walk(root: JsonNode | None, path: EntryPath) -> list[JsonNode]:
    """Return the containers along a path, from the root to the last one that is there; none without a root."""
    if root is None:
        return []
    nodes = [root]
    for name in path[:-1]:
        items = _find_items(nodes[-1], name)
        if not items:
            break
        nodes.append(items[0].node)
    return nodes


def _find_items(node: JsonNode, name: str | None) -> list[JsonItem]:
    """Return the member of that name, or for None every element; of several members the last, as every reader does."""
    if not isinstance(node.value, list if name is None else dict):
        raise UnsupportedLayout(f"something else is where {'a list' if name is None else 'an object'} is needed")
    return node.items if name is None else [item for item in node.items if item.key == name][-1:]


def _line_indent(text: str, at: int) -> str:
    line = text[line_start(text, at) : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


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
    if depth > _DEPTH:
        raise InvalidJson("it is nested too deeply")
    if text.startswith(("{", "["), at):
        return _parse_container(text, at, depth)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError:
        raise InvalidJson(f"there is no value at character {at}") from None
    return JsonNode(at, end, value, [])


def _parse_container(text: str, start: int, depth: int) -> JsonNode:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    items: list[JsonItem] = []
    before = _skip(_COMMENTS, text, start + 1)
    while not text.startswith(closing, at := _skip(_BLANKS, text, before)):
        if items and items[-1].comma < 0:
            raise InvalidJson(f"a comma is missing at character {at}")
        key, value_at = _parse_key(text, at) if is_object else (None, at)
        node = _parse_value(text, value_at, depth + 1)
        end = _after_trivia(text, node.end)
        has_comma = text.startswith(",", end)
        items.append(JsonItem(key, before, at, node, end if has_comma else -1))
        before = _skip(_COMMENTS, text, end + has_comma)
    values = [item.node.value for item in items]
    value = dict(zip([item.key for item in items], values, strict=True)) if is_object else values
    return JsonNode(start, at + 1, value, items)


def _parse_key(text: str, at: int) -> tuple[str, int]:
    """Return the name of a member, and where its value starts."""
    if not text.startswith('"', at):
        raise InvalidJson(f"a name is missing at character {at}")
    name = _parse_value(text, at, 0)
    colon = _after_trivia(text, name.end)
    if not text.startswith(":", colon):
        raise InvalidJson(f"a colon is missing at character {colon}")
    return name.value, _after_trivia(text, colon + 1)


def _after_trivia(text: str, at: int) -> int:
    """Return where the next value or sign starts, behind comments and blanks."""
    return _skip(_BLANKS, text, _skip(_COMMENTS, text, at))


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


JSON = Editor(find, insert, remove, replace)
