"""Data sets for recall: what is stored, what is asked, and which of the stored memories answer it.

Two shapes are read. Conversations: one book each, every turn a memory of its session with author, time, thread and
place. Memories: one book of lone notes in a project. The help of `python -m tests.bench.recall` shows both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidContent, NotFound

_OPTIONAL = {"type": "type", "tags": "tags", "author": "author", "time": "occurred"}  # fields of a lone note
_HINT = "`python -m tests.bench.recall --help` shows what a set looks like."


class RecallQuestion(NamedTuple):
    """A question with the keys that answer it."""

    question: str
    evidence: frozenset[str]  # keys; empty: there is no answer
    category: str
    older: str | None = None  # the key of the memory that is out of date


class BookContents(NamedTuple):
    """What goes into one book, and what is asked of it."""

    name: str
    scope: str
    items: Sequence[Mapping[str, object]]
    questions: Sequence[RecallQuestion]


def read_set(path: str | os.PathLike[str]) -> list[BookContents]:
    """Return the books of a data set. Raises NotFound, or InvalidContent for a file of another shape."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise NotFound(f"{os.fspath(path)!a} cannot be read: {error.strerror}.", hint="Check the path.") from None
    except ValueError:
        raise InvalidContent("The data set is not JSON.", hint=_HINT) from None
    if not isinstance(data, dict) or not data.keys() & {"conversations", "books", "memories"}:
        raise InvalidContent("The data set has neither conversations nor memories.", hint=_HINT)
    try:
        if "conversations" in data:
            return [_read_conversation(item) for item in data["conversations"]]
        return [_read_memories(item) for item in data.get("books", [data])]
    except KeyError as error:
        raise InvalidContent(f"{error.args[0]!a} is missing in the data set.", hint=_HINT) from None
    except (TypeError, AttributeError):
        raise InvalidContent("A part of the data set has the wrong shape.", hint=_HINT) from None


def _make_key(ident: str) -> str:
    return "".join(ch if ch.isascii() and ch.isalnum() else "-" for ch in ident.lower()).strip("-")


def _read_conversation(data: Mapping[str, Any]) -> BookContents:
    items = [
        {
            "content": turn["text"] or "-",
            "key": _make_key(turn["id"]),
            "scope": "session",
            "author": turn["author"],
            "occurred": turn["time"],
            "thread": str(turn["session"]),
            "seq": place,
        }
        for place, turn in enumerate(data["turns"])
    ]
    questions = [
        RecallQuestion(item["question"], frozenset(map(_make_key, item["evidence"])), str(item["category"]))
        for item in data["questions"]
        if item["evidence"]
    ]
    return BookContents(_make_key(str(data["id"])), "session", items, questions)


def _read_memories(data: Mapping[str, Any]) -> BookContents:
    keys = {item.get("id", item["key"]): item["key"] for item in data["memories"]}
    items = [
        {
            "content": item["text"],
            "key": item["key"],
            "scope": "project",
            **{name: item[field] for field, name in _OPTIONAL.items() if field in item},
        }
        for item in data["memories"]
    ]
    questions = [
        RecallQuestion(
            item["question"],
            frozenset(keys[ident] for ident in item["evidence"]),
            item["kind"],
            keys.get(item.get("older")),
        )
        for item in data["questions"]
    ]
    return BookContents(_make_key(str(data["name"])), "project", items, questions)
