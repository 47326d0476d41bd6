"""JSON as stores of other tools write it: one document, or one object on each line.

A line that is not JSON is named and the others are read. Nesting without end, numbers without end and halves of
characters are survived: they are lines that cannot be read.
"""

import json
from typing import NamedTuple

_UNREADABLE = (ValueError, RecursionError)
_TRIED = 20


class Records(NamedTuple):
    values: tuple[tuple[str, object], ...]  # place, value
    bad: tuple[str, ...]  # the places that are not JSON


def records(text: str) -> Records:
    """Every value of a text: of one document its members if it is a list, else itself; else the lines."""
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    by_line = len(lines) > 1 and _is_object(lines[0][1])
    if not by_line:
        try:
            whole = json.loads(text)
        except _UNREADABLE:
            pass
        else:
            members = enumerate(whole, 1) if isinstance(whole, list) else [(1, whole)]
            return Records(tuple((f"item {number}", value) for number, value in members), ())
    values: list[tuple[str, object]] = []
    bad: list[str] = []
    for number, line in lines:
        try:
            values.append((f"line {number}", json.loads(line)))
        except _UNREADABLE:
            bad.append(f"line {number}")
    return Records(tuple(values), tuple(bad))


def first_objects(head: str) -> list[dict[str, object]]:
    """Objects of a text of which only the beginning is at hand."""
    found = [value for _, value in records(head).values if isinstance(value, dict)]
    at = head.find("{")
    decoder = json.JSONDecoder()
    for _ in range(_TRIED):  # a document that goes on past the beginning: the first object in it that is whole
        if found or at < 0:
            break
        try:
            found.append(decoder.raw_decode(head, at)[0])
        except _UNREADABLE:
            at = head.find("{", at + 1)
    return found


def text_of(value: object) -> str:
    """A value as a text: itself if it is one."""
    return value.strip() if isinstance(value, str) else ""


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except _UNREADABLE:
        return False
