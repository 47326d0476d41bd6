"""Put an entry into a mapping of a YAML file of another program and take it out again, to the byte.

The entry is one line, the first of its mapping. A mapping that we had to make says so in a comment, so that it goes
with the entry. What is written in flow style (`{...}`) is left to a person: the caller shows what to add.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import yaml

from commonplace.hosts.wiring.json_edit import Unfit

MARK = "# made by commonplace connect"


def find(text: str | None, path: Sequence[str | None]) -> list[object]:
    """What stands at a path of two names, if anything."""
    outer, name = _two(path)
    inner = _data(text).get(outer)
    if inner is not None and not isinstance(inner, Mapping):
        raise Unfit(f"{outer} is no mapping")
    return [inner[name]] if inner and name in inner else []


def insert(text: str | None, path: Sequence[str | None], value: object) -> str:
    outer, name = _two(path)
    newline = "\r\n" if text is not None and "\r\n" in text else "\n"
    entry = f"{name}: {json.dumps(value, ensure_ascii=False)}"
    if text is None:
        return f"{outer}:  {MARK}{newline}  {entry}{newline}"
    new = _inserted(text, outer, entry, newline)
    before = _data(text)
    inner = before.get(outer)
    wanted = {**before, outer: {name: value, **(inner if isinstance(inner, dict) else {})}}
    try:
        same = _data(new) == wanted
    except Unfit:
        same = False
    if not same:
        raise Unfit(f"{outer} cannot be added to in the way this file is written")
    return new


def remove(text: str, path: Sequence[str | None], is_ours: Callable[[object], bool]) -> str | None:
    outer, name = _two(path)
    if not any(is_ours(value) for value in find(text, path)):
        return text
    parent = _pair(_root(text), outer)
    mapping = parent[1] if parent else None
    child = _pair(mapping, name)
    if parent is None or child is None or not isinstance(mapping, yaml.MappingNode) or mapping.flow_style:
        raise Unfit(f"{outer} is not written in lines")
    new = _without_lines(text, child[0].start_mark.index, child[1].end_mark.index)
    line = text[parent[0].start_mark.index : child[0].start_mark.index]
    if len(mapping.value) > 1 or MARK not in line:
        return new
    start = _line_start(text, parent[0].start_mark.index)
    start -= 2 if text.endswith("\r\n", 0, start) else 1 if text.endswith("\n", 0, start) else 0
    left = new[:start] + new[_line_end(new, parent[0].end_mark.index) :]
    return left if left or text.startswith(("\n", "\r\n")) else None


def _two(path: Sequence[str | None]) -> tuple[str, str]:
    outer, name = path
    return str(outer), str(name)


def _inserted(text: str, outer: str, entry: str, newline: str) -> str:
    root = _root(text)
    pair = _pair(root, outer)
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
        at = _line_end(text, key.end_mark.index)
        if text.endswith("\n", 0, at):
            return f"{text[:at]}{indent}{entry}{newline}{text[at:]}"
        return f"{text}{newline}{indent}{entry}"
    raise Unfit(f"{outer} is not written in lines")


def _without_lines(text: str, start: int, end: int) -> str:
    """The text without the lines of a node, which may be followed by the start of the next."""
    first = _line_start(text, start)
    # A node written in lines ends where the next one starts, behind that one's blanks.
    next_line = _line_start(text, end)
    last = next_line if next_line > start and not text[next_line:end].strip() else _line_end(text, end)
    if last == len(text) and not text.endswith("\n"):
        first -= 2 if text.endswith("\r\n", 0, first) else 1
    return text[:first] + text[last:]


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _root(text: str) -> yaml.MappingNode | None:
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError:
        raise Unfit("it is no YAML that can be understood") from None
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise Unfit("it is no mapping written in lines")
    return root


def _pair(node: object, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == name), None)


def _data(text: str | None) -> dict[str, object]:
    try:
        data = yaml.safe_load(text) if text is not None else None
    except yaml.YAMLError:
        raise Unfit("it is no YAML that can be understood") from None
    if data is not None and not isinstance(data, dict):
        raise Unfit("it is no mapping")
    return data or {}
