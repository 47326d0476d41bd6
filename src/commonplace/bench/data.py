"""Data sets: what is stored, what is asked, and which of the stored things answer it.

Two shapes are read. Conversations: one book each, every turn a memory of its session with author, time, thread and
place. Memories: one book of lone notes in a project. The help of `commonplace bench` shows both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidContent, NotFound

_HINT = "`commonplace bench --help` shows what a set looks like."


class Asked(NamedTuple):
    question: str
    evidence: frozenset[str]  # keys; none: there is no answer
    category: str
    older: str | None = None  # the key of what is out of date


class Shelf(NamedTuple):
    """What goes into one book, and what is asked of it."""

    name: str
    scope: str
    items: Sequence[Mapping[str, object]]
    asked: Sequence[Asked]


def read_set(path: str | os.PathLike[str]) -> list[Shelf]:
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise NotFound(f"{os.fspath(path)!a} cannot be read: {error.strerror}.", hint="Check the path.") from None
    except ValueError:
        raise InvalidContent("The data set is not JSON.", hint=_HINT) from None
    if not isinstance(data, dict) or not data.keys() & {"conversations", "memories"}:
        raise InvalidContent("The data set has neither conversations nor memories.", hint=_HINT)
    try:
        if "conversations" in data:
            return [_conversation(item) for item in data["conversations"]]
        return [_memories(data)]
    except KeyError as error:
        raise InvalidContent(f"{error.args[0]!a} is missing in the data set.", hint=_HINT) from None
    except (TypeError, AttributeError):
        raise InvalidContent("Something in the data set has another shape.", hint=_HINT) from None


def _key(ident: str) -> str:
    return "".join(ch if ch.isascii() and ch.isalnum() else "-" for ch in ident.lower()).strip("-")


def _conversation(data: Mapping[str, Any]) -> Shelf:
    items = [
        {
            "content": turn["text"] or "-",
            "key": _key(turn["id"]),
            "scope": "session",
            "author": turn["author"],
            "occurred": turn["time"],
            "thread": str(turn["session"]),
            "seq": place,
        }
        for place, turn in enumerate(data["turns"])
    ]
    asked = [
        Asked(item["question"], frozenset(map(_key, item["evidence"])), str(item["category"]))
        for item in data["questions"]
        if item["evidence"]
    ]
    return Shelf(_key(str(data["id"])), "session", items, asked)


def _memories(data: Mapping[str, Any]) -> Shelf:
    keys = {item["id"]: item["key"] for item in data["memories"]}
    items = [
        {
            "content": item["text"],
            "key": item["key"],
            "scope": "project",
            "type": item["type"],
            "tags": item["tags"],
            "author": item["author"],
            "occurred": item["time"],
        }
        for item in data["memories"]
    ]
    asked = [
        Asked(
            item["question"],
            frozenset(keys[ident] for ident in item["evidence"]),
            item["kind"],
            keys.get(item.get("older")),
        )
        for item in data["questions"]
    ]
    return Shelf(_key(str(data["name"])), "project", items, asked)
