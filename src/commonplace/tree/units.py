"""Units and leaves as the tree keeps them: how a message becomes an entry of a note, and is read back from it.

`ingest` makes an entry of each unit; retrieval, seals and digests read `TreeUnit`s. Everything here follows from the
entry alone, so the index of the tree can be built anew from the files.

A leaf is a run of consecutive units of one file, named by the first one. Units are only ever appended to a file, so a
leaf grows until it is full and is never packed again: what was cited stays where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from commonplace.model.memory import Entry, Trust
from commonplace.model.names import short_hash
from commonplace.text.words import estimate_tokens
from commonplace.tree.source import Person, SourceUnit

UNIT_PREFIX, LEAF_PREFIX = "u-", "leaf-"
MAX_LEAF_TOKENS = 3_000
_ID_LENGTH = 20
_BETWEEN = ", "  # people in an attribute
Attributes = tuple[tuple[str, str], ...]


class TreeUnit(NamedTuple):
    """One message or section as it is stored: its cleaned text, and what is known of it."""

    id: str  # UNIT_PREFIX and a hash of its native id
    kind: str  # email, chat, document
    source: str  # the id of its source: the folder below tree/
    folder: str  # of its file, as the index names it: /tree/SOURCE/2026-11
    name: str  # of its file, without .md
    text: str
    author: Person = Person()
    recipients: tuple[Person, ...] = ()
    occurred: str = ""
    offset: int | None = None
    thread: str = ""
    seq: int | None = None
    title: str = ""
    native_id: str = ""
    signals: frozenset[str] = frozenset()  # what the source says, and what admission found
    attachments: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many tokens its text has."""
        return estimate_tokens(self.text)


class Leaf(NamedTuple):
    """Consecutive units of one file: what the tree is built of, and what may be quoted."""

    id: str
    units: tuple[TreeUnit, ...]

    @property
    def tokens(self) -> int:
        """About how many tokens its units have."""
        return sum(unit.tokens for unit in self.units)


def make_unit_id(native_id: str) -> str:
    """Return the id of the unit that a source names so: the same for every export that has it."""
    return f"{UNIT_PREFIX}{short_hash(native_id, _ID_LENGTH)}"


def name_leaf(first_unit: str) -> str:
    """Return the id of the leaf that begins with a unit."""
    return f"{LEAF_PREFIX}{first_unit.removeprefix(UNIT_PREFIX)}"


def first_unit_of(leaf: str) -> str:
    """Return the id of the unit that a leaf begins with."""
    return f"{UNIT_PREFIX}{leaf.removeprefix(LEAF_PREFIX)}"


def divide_into_leaves(units: Iterable[TreeUnit]) -> Iterator[Leaf]:
    """Yield the leaves of the units of one file, which come in the order of the file."""
    taken: list[TreeUnit] = []
    tokens = 0
    for unit in units:
        if taken and tokens + unit.tokens > MAX_LEAF_TOKENS:
            yield Leaf(name_leaf(taken[0].id), tuple(taken))
            taken, tokens = [], 0
        taken.append(unit)
        tokens += unit.tokens
    if taken:
        yield Leaf(name_leaf(taken[0].id), tuple(taken))


def make_entry(unit: SourceUnit, text: str, *, now: str, thread: str, seq: int, signals: Iterable[str] = ()) -> Entry:
    """Return the entry of a unit. `text` is its cleaned text; `now` is when it is stored."""
    extra = {
        "from": unit.author.address,
        "to": _BETWEEN.join(map(_write_person, unit.recipients)),
        "title": unit.title,
        "offset": "" if unit.offset is None else str(unit.offset),
        "signals": ",".join(sorted({*unit.signals, *signals})),
        "files": "/".join(name.replace("/", "_") for name in unit.attachments),
        "source": unit.native_id,
        "cut": "" if unit.is_whole else "true",
    }
    return Entry(
        time=now,
        text=text,
        id=make_unit_id(unit.native_id),
        trust=Trust.EXTERNAL,
        author=unit.author.name or unit.author.address or None,
        occurred=unit.occurred or None,
        thread=thread,
        seq=seq,
        extra=tuple((name, value) for name, value in extra.items() if value),
    )


def read_unit(entry: Entry, *, kind: str, folder: str, name: str) -> TreeUnit:
    """Return the unit that an entry of a tree note says."""
    extra = dict(entry.extra)
    offset = extra.get("offset", "")
    address = extra.get("from", "")
    author = entry.author or ""
    return TreeUnit(
        id=entry.id,
        kind=kind,
        source=folder.split("/")[2],
        folder=folder,
        name=name,
        text=entry.text,
        author=Person("" if author == address else author, address),
        recipients=tuple(map(_read_person, filter(None, extra.get("to", "").split(_BETWEEN)))),
        occurred=entry.occurred or "",
        offset=int(offset) if offset.lstrip("-").isdecimal() else None,
        thread=entry.thread or "",
        seq=entry.seq,
        title=extra.get("title", ""),
        native_id=extra.get("source", ""),
        signals=frozenset(filter(None, extra.get("signals", "").split(","))),
        attachments=tuple(filter(None, extra.get("files", "").split("/"))),
    )


def _write_person(person: Person) -> str:
    name = person.name.replace(",", " ").replace("<", " ").replace(">", " ")
    return f"{name} <{person.address}>".strip() if person.address else name


def _read_person(text: str) -> Person:
    name, mark, address = text.rpartition(" <")
    if mark:
        return Person(name, address.removesuffix(">"))
    return Person("", text.strip("<>")) if text.startswith("<") else Person(text, "")
