"""Memories, their entries, and the labels they carry: the values that notes are parsed to and written from."""

import unicodedata
from enum import StrEnum
from typing import NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.scope import Scope


class MemoryType(StrEnum):
    """What a memory is about. It never decides where the memory is stored."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


def read_type(word: str) -> MemoryType:
    """Return the type of a name. Raises InvalidField."""
    try:
        return MemoryType(word)
    except ValueError:
        raise InvalidField(f"type cannot be {word[:40]!a}.", hint=f"Use one of: {', '.join(MemoryType)}.") from None


class Status(StrEnum):
    """Whether a memory counts, waits for review or is no longer valid."""

    ACTIVE = "active"
    PROPOSED = "proposed"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


WAITING = (Status.PROPOSED, Status.QUARANTINED)  # for a person or a coordinator to accept or reject


CAPTURED = "captured"  # the tag of what `capture` proposes
PIN_PROPOSED, PIN_REJECTED = "proposed", "rejected"  # what `pin` in the frontmatter of a memory may be


class Trust(StrEnum):
    """Where the text of an entry came from: a person, an agent of theirs, or outside."""

    HUMAN = "human"
    AGENT = "agent"
    EXTERNAL = "external"


def mark_external(summary: str) -> str:
    """Return a summary with a mark that it came from outside."""
    return f"(from outside) {summary}" if summary else "(from outside)"


class Relation(StrEnum):
    """How one memory relates to another that it links to."""

    RELATES_TO = "relates_to"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"


class Link(NamedTuple):
    """A link from one memory to another, with who proposed it (origin) and whether it is accepted (status)."""

    rel: str
    to: str
    origin: str = "agent"
    status: str = "active"

    @property
    def is_found(self) -> bool:
        """Whether a store found it by itself, and no person judged it yet."""
        return (self.origin, self.status) == ("commonplace", Status.PROPOSED)


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
    extra: tuple[tuple[str, str], ...] = ()  # attributes that this version does not know, kept as they are


class Meta(NamedTuple):
    """The frontmatter of a memory."""

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
    pin: str = ""  # proposed: an agent asks for `pinned`, and a person has not decided; rejected: they said no

    @property
    def waiting_links(self) -> tuple[Link, ...]:
        """The links that wait for a verdict. Where one memory supersedes the other, a contradiction is settled."""
        settled = {link.to for link in self.links if link[::3] == (Relation.SUPERSEDES, Status.ACTIVE)}
        return tuple(
            link
            for link in self.links
            if link.status == Status.PROPOSED
            and (link.rel != Relation.CONTRADICTS or not (self.status is Status.SUPERSEDED or link.to in settled))
        )


class Memory(NamedTuple):
    """One memory as a caller gets it: the parsed note, where it is, and the revision that was read."""

    meta: Meta
    scope: Scope
    key: str
    path: str
    revision: str
    entries: tuple[Entry, ...] = ()
    also_in: tuple[str, ...] = ()  # other scopes of the caller with this key, when the call named no scope

    @property
    def newest(self) -> Entry | None:
        """The last entry; None in an empty memory."""
        return self.entries[-1] if self.entries else None

    @property
    def place(self) -> str:
        """The word before its key in a ref: the kind of its scope, `journal` for a note of a project's journal, or
        `tree` for what was ingested."""
        top = self.path.split("/", 2)[1]
        return top if top in ("journal", "tree") else self.scope.kind.value


def check_tag(tag: str) -> str:
    """Return a tag without its `#`; raises InvalidField unless Obsidian would read it as a tag."""
    bare = tag.removeprefix("#")
    letters = all(ch.isalnum() or ch in "_-/" or unicodedata.category(ch).startswith("M") for ch in bare)
    fine = letters and 0 < len(bare) <= 60 and not bare.isdigit()  # category M: vowel signs of Thai, Hindi and others
    if not fine:
        raise InvalidField(
            f"{tag[:40]!a} is not a valid tag.", hint="Use up to 60 letters, digits, _, - and /, and not digits alone."
        )
    return bare
