"""JSON files of other programs, read with the places of everything in them: comments, trailing commas, any layout.

`json_edit` cuts and pastes by these places, so that every byte that is not ours stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from commonplace.model.patterns import lazy

BOM = "\ufeff"
_STRING = lazy(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = lazy(r"-?\d[\d.eE+-]*|true|false|null")
_BLANK = lazy(r"[ \t\r\n]*")
_DEPTH = 200


class NotJson(ValueError):
    """The text is not JSON, with or without comments."""


class Slot:
    """A member of an object, or an element of an array: where it starts and ends, and the comma behind it.

    Between `before` and `start` there are only blanks.
    """

    __slots__ = ("before", "comma", "key", "node", "start")

    def __init__(self, key: str | None, start: int, node: Node) -> None:
        self.key, self.start, self.node = key, start, node
        self.before = start
        self.comma: int | None = None

    @property
    def end(self) -> int:
        return self.node.end


class Node:
    """A value: what it is, and from where to where it stands. Only objects and arrays have slots."""

    __slots__ = ("end", "kind", "scalar", "slots", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind, self.start, self.end = kind, start, start
        self.slots: list[Slot] = []
        self.scalar: object = None

    def slot(self, key: str) -> Slot | None:
        """The member with that name; the last one, as every reader of JSON has it, where there are several."""
        return next((slot for slot in reversed(self.slots) if slot.key == key), None)

    @property
    def value(self) -> Any:
        if self.kind == "object":
            return {slot.key: slot.node.value for slot in self.slots}
        if self.kind == "array":
            return [slot.node.value for slot in self.slots]
        return self.scalar


def parse(text: str) -> Node | None:
    """The value of a file; None where there is nothing but blanks and comments."""
    at = after_trivia(text, len(BOM) if text.startswith(BOM) else 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    if after_trivia(text, node.end) != len(text):
        raise NotJson("there is something after the end")
    return node


def after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def comments(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The comments that follow one another from here, with blanks between them."""
    while True:
        at = after_blanks(text, at)
        end = _comment_end(text, at)
        if end == at:
            return
        yield at, end
        at = end


def after_comments(text: str, at: int) -> int:
    """The end of the last comment before the next value; there, if there is none."""
    for _, end in comments(text, at):
        at = end
    return at


def after_trivia(text: str, at: int) -> int:
    return after_blanks(text, after_comments(text, at))


def _comment_end(text: str, at: int) -> int:
    if text.startswith("//", at):
        ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
        return min(ends, default=len(text))
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        if end < 0:
            raise NotJson("a comment has no end")
        return end + 2
    return at


def _value(text: str, at: int, depth: int) -> Node:
    opening = text[at : at + 1]
    if depth > _DEPTH:
        raise NotJson("it is nested too deeply")
    if opening in ("{", "["):
        return _container(text, at, depth)
    pattern = _STRING if opening == '"' else _SCALAR
    found = pattern.match(text, at)
    if not found:
        raise NotJson(f"there is no value at character {at}")
    node = Node("value", at)
    node.end = found.end()
    node.scalar = _loaded(found.group())
    return node


def _loaded(word: str) -> object:
    try:
        value: object = json.loads(word)
    except ValueError:
        raise NotJson(f"{word[:40]!a} is no value") from None
    return value


def _container(text: str, at: int, depth: int) -> Node:
    is_object = text[at] == "{"
    node = Node("object" if is_object else "array", at)
    closing = "}" if is_object else "]"
    before = after_comments(text, at + 1)
    while not text.startswith(closing, at := after_blanks(text, before)):
        if node.slots and node.slots[-1].comma is None:
            raise NotJson(f"a comma is missing at character {at}")
        slot = _slot(text, at, depth, is_object=is_object)
        slot.before = before
        node.slots.append(slot)
        at = after_trivia(text, slot.end)
        if text.startswith(",", at):
            slot.comma = at
            at += 1
        before = after_comments(text, at)
    node.end = at + 1
    return node


def _slot(text: str, at: int, depth: int, *, is_object: bool) -> Slot:
    if not is_object:
        return Slot(None, at, _value(text, at, depth + 1))
    found = _STRING.match(text, at)
    if not found:
        raise NotJson(f"a name is missing at character {at}")
    colon = after_trivia(text, found.end())
    if not text.startswith(":", colon):
        raise NotJson(f"a colon is missing at character {colon}")
    return Slot(str(_loaded(found.group())), at, _value(text, after_trivia(text, colon + 1), depth + 1))
