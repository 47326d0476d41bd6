"""Ask the questions of the recall sets through the public library, and keep what was found.

Run as `python -m tests.baseline.recall_sets FOLDER SET:MODE ...` in a process with a stopped clock. It prints JSON: for
each set and mode the share of questions with a right answer among the first five, and for each question a hash of the
keys of its first ten hits and the place of the first right one (`-`: none was found, `.`: there is none to find), all
questions in one string, because there are thousands.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Book
from commonplace.model.choices import ScopeChoice, SearchMode
from tests.baseline.normal import hash_text

DEPTH = 10
_HASH = 6


class Shelf(NamedTuple):
    """What is stored in one book, and what is asked of it."""

    name: str
    scope: ScopeChoice
    items: list[Any]
    questions: list[tuple[str, frozenset[str]]]  # the question, and the keys that answer it


def read_set(path: Path) -> list[Shelf]:
    """Return the books of a set file: one of lone memories, or one for each conversation."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if "conversations" in data:
        return [_read_conversation(item) for item in data["conversations"]]
    return [_read_memories(data)]


def _read_memories(data: Mapping[str, Any]) -> Shelf:
    keys = {item["id"]: item["key"] for item in data["memories"]}
    items = [
        {
            "content": item["text"], "key": item["key"], "scope": "project", "type": item["type"],
            "tags": item["tags"], "author": item["author"], "occurred": item["time"],
        }
        for item in data["memories"]
    ]  # fmt: skip
    questions = [(item["question"], frozenset(keys[ident] for ident in item["evidence"])) for item in data["questions"]]
    return Shelf(_make_key(str(data["name"])), "project", items, questions)


def _read_conversation(data: Mapping[str, Any]) -> Shelf:
    items = [
        {
            "content": turn["text"] or "-", "key": _make_key(turn["id"]), "scope": "session", "author": turn["author"],
            "occurred": turn["time"], "thread": str(turn["session"]), "seq": place,
        }
        for place, turn in enumerate(data["turns"])
    ]  # fmt: skip
    questions = [
        (item["question"], frozenset(map(_make_key, item["evidence"])))
        for item in data["questions"]
        if item["evidence"]
    ]
    return Shelf(_make_key(str(data["id"])), "session", items, questions)


def _make_key(ident: str) -> str:
    return "".join(ch if ch.isascii() and ch.isalnum() else "-" for ch in ident.lower()).strip("-")


def ask(shelves: list[Shelf], folder: Path, mode: SearchMode) -> dict[str, object]:
    """Store each book below a folder, ask its questions in one mode, and return what the record keeps."""
    questions, found_early, answerable = [], 0, 0
    for number, shelf in enumerate(shelves):
        with Book.open(folder / str(number), session=shelf.name, project=shelf.name) as book:
            book.store_many(shelf.items)
            for question, evidence in shelf.questions:
                answer = book.recall(question, scope=shelf.scope, limit=DEPTH, mode=mode)
                keys = [hit.key for hit in answer.hits][:DEPTH]
                place = next((place for place, key in enumerate(keys, start=1) if key in evidence), None)
                answerable += bool(evidence)
                found_early += place is not None and place <= 5
                rank = "." if not evidence else "-" if place is None else str(place)
                questions.append(f"{hash_text(' '.join(keys), _HASH)}={rank}")
    return {"any5": round(found_early / answerable, 4), "questions": " ".join(questions)}


def main(words: list[str]) -> int:
    """Print what each `FILE:MODE` finds, by the file's name and the mode."""
    folder, found = Path(words[0]), {}
    mode: Any
    for word in words[1:]:
        name, mode = word.rsplit(":", 1)
        path = Path(name)
        found[f"{path.stem} {mode}"] = ask(read_set(path), folder / f"{path.stem}-{mode}", mode)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
