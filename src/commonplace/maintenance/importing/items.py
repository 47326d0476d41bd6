"""What a reader makes of a source: items that can become memories, and what it left, with why.

Readers take texts and give values: they open nothing, and whatever they are given they raise nothing. What they cannot
read is a `LeftItem` with a reason from the table below; the rest is taken.
"""

import contextlib
from collections.abc import Iterable
from typing import NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.memory import MemoryType, Relation, check_tag
from commonplace.model.results import LeftItem
from commonplace.model.times import read_time

REASONS = {
    "secret": "It has what looks like a secret in it.",
    "empty": "It says nothing.",
    "bad_line": "It cannot be read as this format.",
    "not_utf8": "It is not UTF-8 text.",
    "too_large": "It is larger than what is taken in.",
    "too_deep": "It is in more folders than are looked into.",
    "link": "It is a symbolic link or a special file, and these are not followed.",
    "unreadable": "The permissions of this machine do not let you read it.",
    "own_block": "Commonplace wrote this block itself.",
    "index_page": "It only lists or explains the others.",
    "other_file": "It is no file of this format.",
    "not_active": "Its own book has it as superseded, expired, proposed or quarantined.",
    "session": "It belongs to one session, and these are short-lived.",
    "other_project": "It belongs to one of several projects.",
    "not_permitted": "Your role may not write to the scope it belongs to.",
    "invalid": "It cannot be stored as it is.",
}


class Statement(NamedTuple):
    """One thing an item says: it becomes an entry."""

    text: str
    occurred: str | None = None
    tags: tuple[str, ...] = ()


class ItemLink(NamedTuple):
    """A link to another item, by any of its names."""

    rel: str
    to: str


class Item(NamedTuple):
    """Something that can become a memory."""

    place: str  # where in the source, for people
    ident: str  # what it is called in the source, the same at every import
    name: str  # what its key is made of
    statements: tuple[Statement, ...]
    type: MemoryType = MemoryType.PROJECT
    summary: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[ItemLink, ...] = ()
    names: tuple[str, ...] = ()  # other names by which links lead to it
    scope: str | None = None  # where the source says it belongs
    author: str | None = None
    session: str | None = None


class SourceFile(NamedTuple):
    """One file of a source, read."""

    name: str  # its path inside the source, with / between folders
    text: str
    modified: str | None = None


class Harvest(NamedTuple):
    """What a reader found."""

    items: tuple[Item, ...]
    left: tuple[LeftItem, ...]


def left(place: str, reason: str, more: str = "") -> LeftItem:
    return LeftItem(place, reason, f"{REASONS[reason]} {more}".rstrip())


def moment(value: object) -> str | None:
    """A time as a source writes it, as a timestamp; None where it is no time."""
    if isinstance(value, str) and value:
        with contextlib.suppress(InvalidField):
            return read_time(value.strip())
    return None


def fitting_tags(words: Iterable[object]) -> tuple[str, ...]:
    """Those words that can be tags, with `-` for spaces."""
    found: list[str] = []
    for word in words:
        if isinstance(word, str):
            with contextlib.suppress(InvalidField):
                found.append(check_tag("-".join(word.split())))
    return tuple(dict.fromkeys(found))


def memory_type(word: object, default: MemoryType) -> MemoryType:
    """The type of ours that a source's word says, if it does."""
    return MemoryType(word.lower()) if isinstance(word, str) and word.lower() in tuple(MemoryType) else default


def relation(word: str) -> str:
    """The relation of ours that a source's word says; any other is only that the two relate."""
    name = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    return name if name in tuple(Relation) else Relation.RELATES_TO.value
