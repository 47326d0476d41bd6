"""The set for what an agent is told unasked, as docs/context-set.md describes it: books of memories, and prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NotRequired, TypedDict

OWN_SET = Path(__file__).with_name("context_set.json")


class BookMemory(TypedDict):
    """A memory of a book. Without a project it is global."""

    key: str
    project: NotRequired[str]
    type: str
    tags: list[str]
    time: str
    author: str
    trust: str
    text: str
    accepted: NotRequired[bool]  # an agent brought it, and a person accepted it
    standing: NotRequired[bool]  # to be told in every session
    misleading: NotRequired[bool]  # overtaken or wrong
    newer: NotRequired[str]  # the key of the memory that says better than a misleading one


class Prompt(TypedDict):
    """What somebody types in a session of a project, and the memories that a colleague would have mentioned."""

    project: str
    prompt: str
    helpful: list[str]


class ContextBook(TypedDict):
    """One book with the prompts of its sessions."""

    name: str
    about: str
    memories: list[BookMemory]
    prompts: list[Prompt]


def read_books(file: Path) -> list[ContextBook]:
    """Return the books of a set."""
    books: list[ContextBook] = json.loads(file.read_text("utf-8"))["books"]
    return books


def is_visible(memory: BookMemory, project: str) -> bool:
    """Return whether a session of a project sees a memory."""
    return memory.get("project", project) == project
