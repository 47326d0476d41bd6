"""What is ours in a file of another program: told by the command line it starts, never by a name alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

from commonplace.model.patterns import lazy

_START = lazy(r"(?:^|[\\/\s'\"])commonplace(?:-hook|\.hooks\.main)?(?:\.exe|\.cmd)?['\"]?\s")
_FOR = lazy(r"\s'?--(?:agent|host)'?[ =]")


def leaves(value: object) -> Iterator[str]:
    """Every text in a value, names of members not among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)


def is_ours(value: object) -> bool:
    """Whether a value starts our program for a host."""
    line = " ".join(leaves(value))
    return _START.search(line) is not None and _FOR.search(line) is not None


def all_ours(value: object) -> bool:
    """Whether every list in a value has something, and nothing but ours."""
    if isinstance(value, dict):
        return bool(value) and all(map(all_ours, value.values()))
    return isinstance(value, list) and bool(value) and all(map(is_ours, value))


def is_our_file(text: str) -> bool:
    """Whether a file at a place of ours was written by us."""
    return "ommonplace" in text


def commands(value: object) -> Iterator[tuple[str, bool]]:
    """The commands that a value starts, each with whether it is one word or a line for a shell."""
    if isinstance(value, dict):
        for name in ("command", "cmd", "bash"):
            given = value.get(name)
            if isinstance(given, str):
                yield given, "args" in value
            elif isinstance(given, list) and given:
                yield str(given[0]), True
        for item in value.values():
            yield from commands(item)
    elif isinstance(value, list):
        for item in value:
            yield from commands(item)


def loaded(text: str) -> object:
    """A file of ours as a value, where it is JSON; else its text."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value
