"""Data sets for recall: what is stored, what is asked, which of the stored memories answer it, and what is wanted.

Two shapes are read. Conversations: one book each, every turn a memory of its session with author, time, thread and
place. Memories: one book of lone notes in a project, or several small ones. The help of `python -m tests.bench.recall`
shows both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from commonplace.model.choices import ScopeChoice
from commonplace.model.errors import InvalidContent, NotFound

_BENCH = Path(__file__).parent
_PROOF = _BENCH.parent / "recall"
DATA_FOLDER = _BENCH.parents[2] / "shared" / "data"  # sets that are not ours to ship: measured where they are
OWN_FILES = (
    *(_BENCH / f"{name}_set.json" for name in ("own", "natural", "fresh")),
    *(_PROOF / f"{name}.json" for name in ("alike", "identifiers", "quoted", "small")),
)
OTHER_FILES = ("mtrag-notes.json", "locomo-dev.json", "realmem-asked.json", "qmsum-committee.json")
_OPTIONAL = {"type": "type", "tags": "tags", "author": "author", "time": "occurred"}  # fields of a lone note
_HINT = "`python -m tests.bench.recall --help` shows what a set looks like."


class Target(NamedTuple):
    """The figure by which a set is judged, and how much of it is wanted, in percent."""

    figure: str
    wanted: float | None = None


TARGETS = {
    "own": Target("paraphrase", 78),
    "natural": Target("paraphrase", 82),
    "fresh": Target("paraphrase", 80),
    "alike": Target("first", 96.6),
    "identifiers": Target("first", 100),
    "quoted": Target("first", 90),
    "small": Target("first", 95),
    "mtrag-notes": Target("fraction5", 87),
    "locomo-dev": Target("fraction10", 83),
    "realmem-asked": Target("fraction10", 68),
    "qmsum-committee": Target("fraction10", 59),
}


class RecallQuestion(NamedTuple):
    """A question with the keys that answer it."""

    question: str
    evidence: frozenset[str]  # keys; empty: there is no answer
    category: str
    older: str | None = None  # the key of the memory that is out of date


class BookContents(NamedTuple):
    """What goes into one book, and what is asked of it."""

    name: str
    scope: ScopeChoice
    items: Sequence[Any]
    questions: Sequence[RecallQuestion]

    @property
    def is_conversation(self) -> bool:
        """Whether the items are turns."""
        return any("thread" in item for item in self.items)


class DataSet(NamedTuple):
    """A set by its name, with its books and what is wanted of it."""

    name: str
    books: Sequence[BookContents]
    target: Target

    @property
    def is_conversation(self) -> bool:
        """Whether the books hold turns."""
        return any(contents.is_conversation for contents in self.books)


def read_data_set(path: str | os.PathLike[str]) -> DataSet:
    """Return a set with its target: the share found among five notes or ten turns, where no other is known."""
    name = Path(path).stem.removesuffix("_set")
    found = DataSet(name, read_set(path), Target(""))
    return found._replace(target=TARGETS.get(name, Target("fraction10" if found.is_conversation else "fraction5")))


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
