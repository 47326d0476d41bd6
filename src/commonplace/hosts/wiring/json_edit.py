"""Put an entry into a JSON file of another program and take it out again, to the byte: `remove(insert(t)) == t`.

Nothing is remembered beside the file: another person, or another machine with the same repository, can undo it. What
must be known later is told by the layout, which means nothing to any reader of JSON:

- An object that we made holds its first entry without a blank, `{"commonplace": ...}`; it goes when ours was all
  that it held. An object that was there and empty gets its entry on a line of its own, and stays.
- A file that was not there starts with our brace. One that was there with nothing in it starts with a line break.

Where another program has laid the file out anew, an empty object may stay; what means something is always right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from commonplace.hosts.wiring.json_text import BOM, Node, NotJson, Slot, comments, parse
from commonplace.model.patterns import lazy

Path = Sequence[str | None]  # names of objects; None, only as the last: an element of the array before it
IsOurs = Callable[[object], bool]

_INDENT = lazy(r"\n([ \t]+)[\"{\[]")
_LEADING = lazy(r"[ \t]*")
_NARROW = 100  # a list or object that fits is written on one line


class Unfit(ValueError):
    """The file is well formed, but something else stands where an entry would go."""


def find(text: str | None, path: Path) -> list[object]:
    """What stands at a path: the member, or for None every element of the array."""
    node = _at(_read(text), path[:-1])
    return [slot.node.value for slot in _slots(node, path[-1])] if node else []


def insert(text: str | None, path: Path, value: object) -> str:
    """The text with one more entry; what is missing above it is made."""
    if text is None:
        return _chain(path, value, "", "  ", newline="\n") + "\n"
    newline, root = _newline(text), parse(text)
    unit = _unit(text)
    if root is None:
        mark = BOM if text.startswith(BOM) else ""
        return f"{mark}{newline}{_chain(path, value, '', unit, newline=newline)}{text[len(mark) :]}"
    node, left = root, list(path)
    while len(left) > 1 and (slot := _member(node, left[0])) is not None:
        node = slot.node
        left = left[1:]
    _require(node, left[0])
    return _add(text, node, left, value, unit, newline)


def remove(text: str, path: Path, is_ours: IsOurs) -> str | None:
    """The text without the last entry at the path that is ours; None where the file itself was ours."""
    root = _read(text)
    trail: list[tuple[Node, Slot]] = []
    node = root
    for name in path[:-1]:
        slot = _member(node, name) if node else None
        if node is None or slot is None:
            return text
        trail.append((node, slot))
        node = slot.node
    mine = [slot for slot in _slots(node, path[-1]) if is_ours(slot.node.value)] if node else []
    if node is None or root is None or not mine:
        return text
    slot = mine[-1]
    while _made_by_us(node, slot):
        if not trail:
            return _without_root(text, root)
        node, slot = trail.pop()
    return _cut(text, node, slot)


def is_last_after(text: str, name: str, before: str) -> bool:
    """Whether a member of the file is its last, and follows right behind another that we made."""
    root = _read(text)
    if root is None or len(root.slots) < 2 or (root.slots[-1].key, root.slots[-2].key) != (name, before):
        return False
    inner = root.slots[-2].node
    return bool(inner.slots) and inner.slots[0].start == inner.start + 1 and inner.slots[-1].end == inner.end - 1


def _read(text: str | None) -> Node | None:
    root = parse(text) if text is not None else None
    if root is not None and root.kind != "object":
        raise Unfit("it is no object")
    return root


def _member(node: Node, name: str | None) -> Slot | None:
    if node.kind != "object" or name is None:
        raise Unfit(f"{name!a} would have to be a member of something that is no object")
    return node.slot(name)


def _require(node: Node, name: str | None) -> None:
    if node.kind != ("array" if name is None else "object"):
        raise Unfit(f"something else stands where {'a list' if name is None else 'an object'} is needed")


def _at(node: Node | None, path: Path) -> Node | None:
    for name in path:
        slot = _member(node, name) if node else None
        node = slot.node if slot else None
    return node


def _slots(node: Node, name: str | None) -> list[Slot]:
    _require(node, name)
    if name is None:
        return node.slots
    slot = node.slot(name)
    return [slot] if slot else []


def _add(text: str, node: Node, left: Sequence[str | None], value: object, unit: str, newline: str) -> str:
    """The text with an entry behind the last of a container."""
    outer = _line_indent(text, node.start)
    if not node.slots:
        entry = _entry(left, value, outer + unit, unit, newline)
        at = node.start + 1
        return f"{text[:at]}{newline}{outer}{unit}{entry}{newline}{outer}{text[at:]}"
    last = node.slots[-1]
    flat = not {"\n", "\r"} & set(text.rstrip()) and len(text) + len(json.dumps(value)) <= _NARROW
    inner = _line_indent(text, last.start) if _starts_line(text, last.start) else outer + unit
    gap = " " if flat else f"{newline}{inner}"
    entry = _entry(left, value, inner, "" if flat else unit, newline)
    behind = last.end if last.comma is None else last.comma + 1
    at = _after_comments_of_line(text, behind)
    if last.comma is not None:
        return f"{text[:at]}{gap}{entry},{text[at:]}"
    return f"{text[:behind]},{text[behind:at]}{gap}{entry}{text[at:]}"


def _after_comments_of_line(text: str, at: int) -> int:
    """The end of the last comment that stands on the line of what is before it; there, if there is none."""
    end = at
    for start, stop in comments(text, at):
        if "\n" in text[end:start] or "\r" in text[end:start]:
            break
        end = stop
    return end


def _cut(text: str, node: Node, slot: Slot) -> str:
    """The text without one slot, and without what was put there for it."""
    place = node.slots.index(slot)
    start = slot.before
    if slot.comma is not None:
        return text[:start] + text[slot.comma + 1 :]
    if place > 0:
        comma = node.slots[place - 1].comma
        if comma is None:
            raise NotJson("a comma is missing")
        return text[:comma] + text[comma + 1 : start] + text[slot.end :]
    ending = f"{_newline(text)}{_line_indent(text, node.start)}"
    end = slot.end + len(ending) if text.startswith(ending, slot.end) else slot.end
    return text[:start] + text[end:]


def _made_by_us(node: Node, slot: Slot) -> bool:
    return len(node.slots) == 1 and slot.start == node.start + 1 and slot.end == node.end - 1


def _without_root(text: str, root: Node) -> str | None:
    mark = BOM if text.startswith(BOM) else ""
    before, behind = text[len(mark) : root.start], text[root.end :]
    if before == _newline(text):
        return mark + behind
    return mark + before + behind if (before + behind).strip() else None


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _line_indent(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    found = _LEADING.match(text, line, at)
    return found.group() if found else ""


def _starts_line(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at)
    return line >= 0 and not text[line:at].strip()


def _entry(left: Sequence[str | None], value: object, indent: str, unit: str, newline: str) -> str:
    """A member or an element, with the containers above it that have to be made."""
    name, *rest = left
    inner = _chain(rest, value, indent, unit, newline=newline) if rest else render(value, indent, unit, newline)
    return inner if name is None else f"{json.dumps(name, ensure_ascii=False)}: {inner}"


def _chain(left: Sequence[str | None], value: object, indent: str, unit: str, *, newline: str) -> str:
    opening, closing = "[]" if left[0] is None else "{}"
    return f"{opening}{_entry(left, value, indent, unit, newline)}{closing}"


def render(value: object, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    """A value as text: on one line where it is short or `unit` is empty, else a line for each of its parts."""
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list, tuple)) or not value or not unit or len(short) + len(indent) <= _NARROW:
        return short
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    parts = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    lines = [f"{indent}{unit}{_entry([name], item, indent + unit, unit, newline)}" for name, item in parts]
    return f"{opening}{newline}{f',{newline}'.join(lines)}{newline}{indent}{closing}"
