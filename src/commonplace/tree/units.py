"""Units and leaves as the tree keeps them: how a message becomes an entry of a note, and is read back from it.

`ingest` makes an entry of each unit; retrieval, seals and digests read `TreeUnit`s. Everything here follows from the
entry alone, so the index of the tree can be built anew from the files.

A leaf is a run of consecutive units of one file, named by the first one. Units are only ever appended to a file, so a
leaf grows until it is full and is never packed again: what was cited stays where it was. A message that is longer than
a leaf becomes several units, which are its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import short_hash
from commonplace.text.words import estimate_tokens
from commonplace.tree.source import Person, SourceUnit

UNIT_PREFIX, LEAF_PREFIX = "u-", "leaf-"
MAX_LEAF_TOKENS = 3_000
_ID_LENGTH = 20
_PARAGRAPH_END = lazy(r"\n\s*\n")
_SENTENCE_END = lazy(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|\n")
_WORD_END = lazy(r"\s+")
_LONGEST_WORD = 4_000  # characters without a space: then it is cut anywhere
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
    refs: tuple[str, ...] = ()  # ids of units that it answers: the first of its thread, and the last
    is_whole: bool = True
    part: int = 1  # of a message that is longer than a leaf
    labels: tuple[str, ...] = ()  # of the mail program

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


def make_unit_id(native_id: str, part: int = 1) -> str:
    """Return the id of the unit that a source names so, or of a later part of it: the same for every export that has
    it."""
    return f"{UNIT_PREFIX}{short_hash(native_id if part == 1 else f'{native_id} part {part}', _ID_LENGTH)}"


def split_text(text: str, most: int = MAX_LEAF_TOKENS) -> list[str]:
    """Return a text in pieces of at most so many tokens, cut between paragraphs, else sentences, else words."""
    if 2 * len(text) <= most or estimate_tokens(text) <= most:  # a sign is no more than two tokens
        return [text]
    return [
        piece for piece in map(str.strip, _split_at(text, most, (_PARAGRAPH_END, _SENTENCE_END, _WORD_END))) if piece
    ]


def _split_at(text: str, most: int, ends: tuple[re.Pattern[str], ...]) -> Iterator[str]:
    """Yield a text in pieces, cut at the first kind of ends that makes them short enough."""
    if estimate_tokens(text) <= most:
        yield text
        return
    if not ends:
        step = max(1, min(_LONGEST_WORD, most * 4 // 5))  # a sign of Chinese is more than a token
        yield from (text[at : at + step] for at in range(0, len(text), step))
        return
    taken, size, start = "", 0, 0
    for end in [*(match.end() for match in ends[0].finditer(text)), len(text)]:
        piece = text[start:end]
        start = end
        tokens = estimate_tokens(piece)
        if taken and size + tokens > most:
            yield taken
            taken, size = "", 0
        if tokens > most:
            yield from _split_at(piece, most, ends[1:])
        else:
            taken, size = taken + piece, size + tokens
    if taken:
        yield taken


def refer_to(unit: SourceUnit) -> tuple[str, ...]:
    """Return the ids of the units that are kept of those which a message answers: the first, and the last."""
    return tuple(map(make_unit_id, dict.fromkeys((*unit.parents[:1], *unit.parents[-1:]))))


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


def make_entries(
    unit: SourceUnit, text: str, *, now: str, thread: str, seq: int | None, signals: Iterable[str] = ()
) -> list[Entry]:
    """Return the entries of a unit: one, or one for each part of a long text. `text` is its cleaned text; `now` is when
    it is stored."""
    marks = frozenset(signals)
    return [
        _make_entry(unit, piece, now, thread, seq, marks, part)
        for part, piece in enumerate(split_text(text) or [""], 1)
    ]


def _make_entry(
    unit: SourceUnit, text: str, now: str, thread: str, seq: int | None, signals: frozenset[str], part: int
) -> Entry:
    extra = {
        "from": unit.author.address,
        "to": _BETWEEN.join(map(_write_person, unit.recipients)),
        "title": unit.title,
        "offset": "" if unit.offset is None else str(unit.offset),
        "signals": ",".join(sorted({*unit.signals, *signals})),
        "labels": ",".join(label.replace(",", " ") for label in unit.labels),
        "files": "/".join(name.replace("/", "_") for name in unit.attachments),
        "source": unit.native_id,
        "refs": ",".join(refer_to(unit)),
        "cut": "" if unit.is_whole else "true",
        "part": str(part) if part > 1 else "",
        "topic": "" if unit.kind == "chat" else thread,
    }
    return Entry(
        time=now,
        text=text,
        id=make_unit_id(unit.native_id, part),
        trust=Trust.EXTERNAL,
        author=unit.author.name or unit.author.address or None,
        occurred=unit.occurred or None,
        # Recall reads the turns of a chat with what stands around them; a mail or a section speaks for itself.
        thread=thread if unit.kind == "chat" else None,
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
        thread=read_thread(entry),
        seq=entry.seq,
        title=extra.get("title", ""),
        native_id=extra.get("source", ""),
        signals=frozenset(filter(None, extra.get("signals", "").split(","))),
        attachments=tuple(filter(None, extra.get("files", "").split("/"))),
        refs=tuple(filter(None, extra.get("refs", "").split(","))),
        is_whole=extra.get("cut") != "true",
        labels=tuple(filter(None, extra.get("labels", "").split(","))),
        part=int(part) if (part := extra.get("part", "1")).isdecimal() else 1,
    )


def read_thread(entry: Entry) -> str:
    """Return the thread of a unit."""
    return entry.thread or dict(entry.extra).get("topic", "")


def _write_person(person: Person) -> str:
    name = person.name.replace(",", " ").replace("<", " ").replace(">", " ")
    return f"{name} <{person.address}>".strip() if person.address else name


def _read_person(text: str) -> Person:
    name, mark, address = text.rpartition(" <")
    if mark:
        return Person(name, address.removesuffix(">"))
    return Person("", text.strip("<>")) if text.startswith("<") else Person(text, "")
