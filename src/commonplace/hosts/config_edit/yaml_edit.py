"""Put an entry into a mapping of a YAML file of another program and take it out again, to the byte.

The entry is one line, the first of its mapping. A mapping that we had to make says so in a comment, so that it is
removed with the entry. Mappings in flow style (`{...}`) are left to a person: the caller shows what to add.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import yaml

from commonplace.hosts.config_edit.text_edit import (
    EntryPath,
    UnsupportedLayout,
    before_newline,
    find_newline,
    line_end,
    line_start,
)

MARK = "# made by commonplace connect"


def find(text: str | None, path: EntryPath) -> list[object]:
    """Return what is at a path of two names, if anything."""
    outer, name = map(str, path)
    inner = _load(text).get(outer)
    if inner is not None and not isinstance(inner, Mapping):
        raise UnsupportedLayout(f"{outer} is not a mapping")
    return [inner[name]] if inner and name in inner else []


def insert(text: str | None, path: EntryPath, value: object) -> str:
    """Return the text with the entry as the first of its mapping, which is made where it is missing."""
    outer, name = map(str, path)
    newline = find_newline(text)
    entry = f"{name}: {json.dumps(value, ensure_ascii=False)}"
    if text is None:
        return f"{outer}:  {MARK}{newline}  {entry}{newline}"
    new = _insert_line(text, outer, entry, newline)
    before = _load(text)
    inner = before.get(outer)
    wanted = {**before, outer: {name: value, **(inner if isinstance(inner, dict) else {})}}
    # Read it back: a block scalar at the end of the file, for one, would swallow our lines.
    try:
        is_as_wanted = _load(new) == wanted
    except UnsupportedLayout:
        is_as_wanted = False
    if not is_as_wanted:
        raise UnsupportedLayout(f"an entry cannot be added to {outer} in this file")
    return new


def remove(text: str, path: EntryPath, is_ours: Callable[[object], bool]) -> str | None:
    """Return the text without the entry, where it is ours; None where the whole file was ours."""
    outer, name = map(str, path)
    if not any(is_ours(value) for value in find(text, path)):
        return text
    parent = _find_pair(_compose(text), outer)
    mapping = parent[1] if parent else None
    child = _find_pair(mapping, name)
    if parent is None or child is None or not isinstance(mapping, yaml.MappingNode) or mapping.flow_style:
        raise UnsupportedLayout(f"{outer} is not in block style")
    new = _remove_lines(text, child[0].start_mark.index, child[1].end_mark.index)
    line = text[parent[0].start_mark.index : child[0].start_mark.index]
    if len(mapping.value) > 1 or MARK not in line:
        return new
    start = before_newline(text, line_start(text, parent[0].start_mark.index))
    rest = new[:start] + new[line_end(new, parent[0].end_mark.index) :]
    return rest if rest or text.startswith(("\n", "\r\n")) else None


def _insert_line(text: str, outer: str, entry: str, newline: str) -> str:
    root = _compose(text)
    pair = _find_pair(root, outer)
    if pair is None:
        indent = " " * (root.value[0][0].start_mark.column if root is not None and root.value else 0)
        return f"{text}{newline}{indent}{outer}:  {MARK}{newline}{indent}  {entry}{newline}"
    key, value = pair
    if isinstance(value, yaml.MappingNode) and value.value and not value.flow_style:
        first = value.value[0][0].start_mark
        at = first.index - first.column
        return f"{text[:at]}{' ' * first.column}{entry}{newline}{text[at:]}"
    if isinstance(value, yaml.ScalarNode) and value.value == "" and value.style is None:
        indent = " " * (key.start_mark.column + 2)
        at = line_end(text, key.end_mark.index)
        if text.endswith("\n", 0, at):
            return f"{text[:at]}{indent}{entry}{newline}{text[at:]}"
        return f"{text}{newline}{indent}{entry}"
    raise UnsupportedLayout(f"{outer} is not in block style")


def _remove_lines(text: str, start: int, end: int) -> str:
    """Return the text without the lines of a node, whose end may be the start of the next node."""
    first = line_start(text, start)
    # A node in block style ends where the next one starts, behind that one's indentation.
    next_line = line_start(text, end)
    last = next_line if next_line > start and not text[next_line:end].strip() else line_end(text, end)
    if last == len(text) and not text.endswith("\n"):
        first = before_newline(text, first)
    return text[:first] + text[last:]


def _compose(text: str) -> yaml.MappingNode | None:
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError:
        raise UnsupportedLayout("it is not valid YAML") from None
    if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
        raise UnsupportedLayout("it is not a mapping in block style")
    return root


def _find_pair(node: object, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == name), None)


def _load(text: str | None) -> dict[str, object]:
    try:
        data = yaml.safe_load(text or "")
    except yaml.YAMLError:
        raise UnsupportedLayout("it is not valid YAML") from None
    if data is not None and not isinstance(data, dict):
        raise UnsupportedLayout("it is not a mapping")
    return data or {}
