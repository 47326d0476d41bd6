"""What the index takes and returns: memories and entries as it knows them, and the rules that they are made by.

The queries and changes that use them are in port.py.
"""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from commonplace.model.memory import Entry

WISHES = ("user", "feedback")  # the types of memories that say what the user wants
Turn = int | str
"""A place in a conversation: the number it was stored with, or else its time. Numbers come before times."""
PageSection = Literal["newest", "pinned", "unfiled"]
StatSignature = str
"""Size, modification time and inode of a file, as the vault writes them: equal means the file is unchanged."""


def is_in_folders(folder: str, folders: Iterable[str]) -> bool:
    """Return whether a folder is one of these folders, or below one."""
    return any(folder == place or folder.startswith(place + "/") for place in folders)


def is_summary_folder(folder: str) -> bool:
    """Return whether a folder has the summaries of a source of the tree: it is asked only where it is named itself."""
    return folder.endswith("/summary") and folder.startswith("/tree/") and folder.count("/") == 3


def least_shared(words: int) -> int:
    """Return how many telling words an entry must share with a text of so many to be similar to it.

    Half of them, and at least two where there are more than three: `the port is 8042` shares one word with `the port
    is 8043`.
    """
    return max(2, words // 2) if words > 3 else 1


def text_to_embed(text: str, name: str, tags: Iterable[str]) -> str:
    """Return what is embedded of a lone note: it means what its name and tags say, too."""
    labels = " ".join([name.replace("-", " "), *dict.fromkeys(tags)])
    return f"{labels}: {text}"


def is_of_tree(folder: str) -> bool:
    """Return whether a folder is of mail, chat or documents, whose files have names of ours: they say nothing."""
    return folder.startswith("/tree/")


def turn_of(entry: Entry) -> Turn | None:
    """Return the place of an entry in its conversation; None if it is in none. The id orders equal times."""
    if entry.thread is None:
        return None
    return entry.seq if entry.seq is not None else f"{entry.occurred or entry.time} {entry.id}"


class Row(NamedTuple):
    """One memory as the index knows it. `folder` and `name` are its path; `sort` is its place on index pages."""

    folder: str
    name: str  # the file's name without .md
    sort: str
    id: str
    type: str
    status: str
    summary: str
    tags: tuple[str, ...]
    pinned: bool
    created: str
    updated: str
    revision: str
    line: str = ""  # its line on index pages
    filed: bool = False  # that line is on its sub-page
    proposed_links: int = 0  # how many of its links wait for a review; one more if a pin does
    given: bool = True  # an author wrote the summary; else it is the start of the newest entry
    outside: bool = False  # the summary is of text that came from outside
    newest: str = ""  # the id of its newest entry: of two memories of one second, the greater came later
    linked: tuple[str, ...] = ()  # judged links, as "contradicts SCOPE/KEY" or, where both hold, "relates_to SCOPE/KEY"

    @property
    def own_summary(self) -> str:
        """The summary if an author wrote it, else nothing: one made of the newest entry adds no words to it."""
        return self.summary if self.given else ""


class PageLine(NamedTuple):
    """What an index page needs of a memory. Every store reads many of these, so it has no more than that."""

    name: str
    sort: str
    line: str


class EntryInterval(NamedTuple):
    """An entry, and the time during which the book contained it (`end` is None: it still does)."""

    entry: Entry
    start: str
    end: str | None = None


class BriefCandidate(NamedTuple):
    """As much of a memory as the brief needs to choose it."""

    name: str
    type: str
    pinned: bool
    updated: str
    newest: str  # the id of its newest entry
    trust: str  # of its newest entry that is not from outside

    @property
    def is_wish(self) -> bool:
        """Whether it says what the user wants."""
        return self.type in WISHES


class LaterNote(NamedTuple):
    """The memory that may contradict another one: where it is, and the links of it that were judged."""

    folder: str
    name: str
    linked: tuple[str, ...]


class BriefRow(NamedTuple):
    """A memory with what the brief needs besides its row."""

    row: Row
    entries: tuple[EntryInterval, ...]  # the last current ones that are not from outside, last first
    signature: StatSignature | None  # of its file; None if none was recorded
    is_mixed: bool  # a current entry came from outside
    later: LaterNote | None = None  # what may contradict its newest entry


class Counts(NamedTuple):
    """How many memories a folder has, by status, type and tag."""

    active: int
    hidden: int
    types: Mapping[str, int]
    tags: Sequence[tuple[str, int]]  # most used first, then by name
    pinned: int = 0


class CurrentEntry(NamedTuple):
    """A current entry: as much of it as finding duplicates takes."""

    folder: str
    name: str
    text: str
    summary: str  # that an author wrote for its memory
    status: str
    outside: bool  # this entry came from outside


class EntryCandidate(NamedTuple):
    """An entry that may answer a query, and from when to when the book contained it (`end` is None: it still does).

    `row` is None when its memory is no longer there.
    """

    folder: str
    name: str
    entry: Entry
    start: str
    end: str | None
    row: Row | None
    no: int = 0  # the index's own number of the entry; another one after a rebuild
    then: str = ""  # the status its memory had at the time a query is about

    @property
    def status(self) -> str:
        """The status of its memory at the time the query is about."""
        return self.then or (self.row.status if self.row is not None else "active")


class PendingText(NamedTuple):
    """The text of an entry that has no vector yet, as it is embedded."""

    no: int
    text: str
    is_turn: bool = False  # of a conversation


class EntryFilter(NamedTuple):
    """Which entries a query without words is about. An empty text or list filters nothing, but `folders` does."""

    folders: Sequence[str]  # or below
    hidden: Sequence[str] = ()  # the statuses of memories that are not shown
    type: str = ""
    tags: Sequence[str] = ()
    session: str | None = None
    authors: Sequence[str] = ()
    since: str = ""
    until: str = ""
    as_of: str = ""  # else: now


class Window(NamedTuple):
    """The current entries of some folders, or below, that happened in a time. An empty end is open.

    Summaries are below their own folder only, and not below that of their source.
    """

    folders: Sequence[str]
    since: str = ""
    until: str = ""
    only: Collection[int] | None = None  # the numbers of those that are meant; None: all


class Match(NamedTuple):
    """An entry that has some of the words of a query: no more of it than choosing among hundreds takes."""

    no: int
    folder: str
    thread: str | None
    author: str | None
    score: float  # of the words alone; greater is better, and only comparable within one query


class Vector(NamedTuple):
    """The embedding of an entry, in bytes that the embedder understands; empty when it knew nothing in the text."""

    no: int
    folder: str
    thread: str | None
    author: str | None
    turn: Turn | None
    today: bool  # the entry is current
    moment: str  # when it happened, else when it was recorded
    data: bytes
