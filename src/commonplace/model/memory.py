"""What is kept: memories, their entries, and the labels they carry."""

import unicodedata
from enum import StrEnum
from typing import NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.scope import Scope


class MemoryType(StrEnum):
    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


class Status(StrEnum):
    ACTIVE = "active"
    PROPOSED = "proposed"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


WAITING = (Status.PROPOSED, Status.QUARANTINED)  # for the verdict of a person or a coordinator


class Trust(StrEnum):
    HUMAN = "human"
    AGENT = "agent"
    EXTERNAL = "external"


def mark_external(summary: str) -> str:
    """A summary as it is shown where nothing else tells that it came from outside."""
    return f"(from outside) {summary}" if summary else "(from outside)"


class Relation(StrEnum):
    RELATES_TO = "relates_to"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"


class Link(NamedTuple):
    """A link from one memory to another: who proposed it (origin) and what became of it (status)."""

    rel: str
    to: str
    origin: str = "agent"
    status: str = "active"


class Entry(NamedTuple):
    """One dated statement inside a memory. `id` is empty for text that a person wrote by hand."""

    time: str
    text: str
    id: str = ""
    trust: Trust = Trust.EXTERNAL
    author: str | None = None
    host: str | None = None
    session: str | None = None
    occurred: str | None = None
    thread: str | None = None
    seq: int | None = None
    tags: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()  # attributes of a later version, kept as they are


class Meta(NamedTuple):
    """What the frontmatter of a memory says."""

    id: str = ""
    key: str = ""
    type: MemoryType = MemoryType.PROJECT
    status: Status = Status.ACTIVE
    summary: str = ""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    created: str = ""
    updated: str = ""
    links: tuple[Link, ...] = ()


class Memory(NamedTuple):
    """One memory as a caller gets it: the file's meaning, where it is, and the revision that was read."""

    meta: Meta
    scope: Scope
    key: str
    path: str
    revision: str
    entries: tuple[Entry, ...] = ()
    also_in: tuple[str, ...] = ()  # the caller's other scopes that have this key, when none was named

    @property
    def newest(self) -> Entry | None:
        return self.entries[-1] if self.entries else None


def check_tag(tag: str) -> str:
    """A tag as Obsidian reads it: letters, digits, `_`, `-`, `/`, in any script, not digits alone."""
    bare = tag.removeprefix("#")
    letters = all(ch.isalnum() or ch in "_-/" or unicodedata.category(ch).startswith("M") for ch in bare)
    fine = letters and 0 < len(bare) <= 60 and not bare.isdigit()  # M: the vowel signs of Thai, Hindi and others
    if not fine:
        raise InvalidField(
            f"{tag[:40]!a} is not a tag.", hint="Use letters, digits, _, - and /, at most 60, not digits alone."
        )
    return bare
