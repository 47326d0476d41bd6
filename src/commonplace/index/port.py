"""The index: what the files say, arranged for asking. Everything in it can be read back from the files.

What every implementation promises, and tests/index/conformance.py checks:

- a transaction sees its own changes; an exception inside it leaves the index as it was; one writer at a time
- every question for index pages costs no more than its answer is long, however many memories a folder holds
- spaces do not see each other
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from commonplace.model.memory import Entry
from commonplace.model.scope import Space
from commonplace.text.words import QueryTerms

MOST_MARKED = 16  # entries that are looked at for one word, when somebody stores
Turn = int | str
"""A place in a conversation: the number it was stored with, or else its time. Numbers come before times."""
Looks = str
"""A file from outside, as the vault tells it."""


def within(folder: str, places: Iterable[str]) -> bool:
    """Whether a folder is one of these places, or below one."""
    return any(folder == place or folder.startswith(place + "/") for place in places)


def least_shared(words: int) -> int:
    """How many of its telling words an entry must share with a text to be near it: half of them, and
    two at least where there are more than three: `the port is 8042` shares one word with `the port is 8043`."""
    return max(2, words // 2) if words > 3 else 1


def turn_of(entry: Entry) -> Turn | None:
    """Where an entry stands in its conversation; None for a lone one. Of two of one time the ids tell."""
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
    line: str = ""  # what index pages say of it
    filed: bool = False  # that line stands on its sub-page
    proposed_links: int = 0  # how many of its links wait for a verdict
    given: bool = True  # the summary is somebody's; else it is how the newest entry begins
    outside: bool = False  # what it is summed up by came from outside

    @property
    def own_summary(self) -> str:
        """What a summary adds to the words of the entries: nothing where it is made of the newest one."""
        return self.summary if self.given else ""


class PageLine(NamedTuple):
    """What an index page needs of a memory. A page shows many, at every store: so no more than that."""

    name: str
    sort: str
    line: str


class EntryInterval(NamedTuple):
    """An entry, and from when until when the book said so (None: it still does)."""

    entry: Entry
    start: str
    end: str | None = None


class Counts(NamedTuple):
    active: int
    hidden: int
    types: Mapping[str, int]
    tags: Sequence[tuple[str, int]]  # most used first, then by name
    pinned: int = 0


class CurrentEntry(NamedTuple):
    """An entry of today, as much of it as telling duplicates takes."""

    folder: str
    name: str
    text: str
    summary: str  # that somebody gave to its memory
    status: str
    outside: bool  # this entry came from outside


class EntryCandidate(NamedTuple):
    """An entry that may answer a question. `row` is None when its memory is no longer there."""

    folder: str
    name: str
    recorded: EntryInterval
    row: Row | None
    no: int = 0  # the index's own number of the entry; another one after a rebuild
    then: str = ""  # what the status of its memory was, for a question about then

    @property
    def status(self) -> str:
        return self.then or (self.row.status if self.row is not None else "active")


class Wanted(NamedTuple):
    """Which entries a question without words is about. An empty text or list asks for nothing."""

    folders: Sequence[str]  # or below
    hidden: Sequence[str] = ()  # the statuses of memories that are not shown
    type: str = ""
    tags: Sequence[str] = ()
    session: str | None = None
    authors: Sequence[str] = ()
    since: str = ""
    until: str = ""
    before: str = ""
    as_of: str = ""  # else: today

    def has(self, item: EntryCandidate) -> bool:
        (entry, start, end), row = item.recorded, item.row
        said = start <= self.as_of and (end is None or end > self.as_of) if self.as_of else end is None and row
        if not said or not within(item.folder, self.folders):
            return False
        if row is not None and (
            row.status in self.hidden
            or self.type not in ("", row.type)
            or not {*self.tags}.issubset((*row.tags, *entry.tags))
        ):
            return False
        when = entry.occurred or entry.time
        then = self.since <= when <= (self.until or when) and (not self.before or when < self.before)
        mine = self.session is None or entry.session == self.session
        return then and mine and (not self.authors or entry.author in self.authors)


class Match(NamedTuple):
    """An entry that has some of the words of a question: no more of it than choosing among hundreds takes."""

    no: int
    folder: str
    thread: str | None
    score: float  # of the words alone; greater is better, and only within one question


class Vector(NamedTuple):
    """What an entry means, in bytes that whoever embedded it understands; none when nothing in it was known."""

    no: int
    folder: str
    thread: str | None
    turn: Turn | None
    today: bool  # the book still says so
    data: bytes


class Transaction(Protocol):
    def put(self, row: Row) -> None: ...
    def remove(self, folder: str, name: str) -> None: ...

    def saw(self, folder: str, name: str, looks: Looks) -> None:
        """Note what the file of a row looks like from outside. `put` and `remove` forget it."""

    def seen_lines(self, folder: str) -> str:
        """What was noted of every file in this folder, in order, each on a line as `LOOKS NAME`; before those, the
        names of which nothing was. For a comparison with all there is: one text costs a third of what `looks` does."""

    def looks(self, folder: str) -> Mapping[str, Looks | None]:
        """Every memory in this folder by name, with what was noted of its file: one that looks so has not changed."""

    def seen(self, folder: str, name: str) -> Looks | None:
        """What was noted of one file; None when nothing was, or there is no such memory."""

    def get(self, folder: str, name: str) -> Row | None: ...

    def rows(self, folder: str) -> Mapping[str, Row]:
        """Every memory in this very folder, by name."""

    def folders(self, below: str) -> Sequence[str]:
        """This folder and those below it that hold memories, sorted."""

    def has(self, folder: str, name: str) -> bool: ...

    def by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        """Folder and name of the memories with an id: more than one when somebody copied a file."""

    def waiting(self) -> Sequence[Row]:
        """Every memory that waits for a verdict, or has a link that does, by folder and name."""

    def generation(self, scope_folder: str) -> int | None:
        """The generation of the scope's lock when the index last knew all of the scope; None when it never did."""

    def set_generation(self, scope_folder: str, generation: int) -> None: ...

    # Entries of a memory, those of earlier versions included. They outlive its row: what was forgotten was said once.
    def set_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None: ...
    def add_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None: ...

    def close_entries(self, folder: str, name: str, end: str) -> None:
        """The book no longer says what it said here until now."""

    def entries(self, folder: str, name: str) -> Sequence[EntryInterval]: ...

    # For who is told of memories unasked. What came from outside is left out: nobody has looked at it.
    def told(self, folder: str, limit: int) -> Sequence[str]:
        """Names of active memories in this very folder: some of the pinned ones, by name, and some of the newest."""

    def last_entries(self, folder: str, name: str, limit: int) -> Sequence[EntryInterval]:
        """The last few of a memory's entries that the book still says, the last one first."""

    def is_mixed(self, folder: str, name: str) -> bool:
        """Whether a memory says something that came from outside."""

    def search(self, terms: QueryTerms, limit: int) -> Sequence[Match]:
        """The entries that have some of these words (and all the quoted ones), best first, of earlier versions too.

        Of equals at the limit those with the lower ids are in, so that an index built anew answers the same.
        What was put since `fill_words` may be missing.
        """

    def forgotten(self, below: str) -> Mapping[tuple[str, str], str]:
        """Folder and name of all in this folder and those below of which there are closed entries and no memory, with
        the latest end of these. Whoever takes a memory away closes all that it said."""

    def matches(self, terms: QueryTerms, folders: Sequence[str], most: int) -> int:
        """How many entries of today `search` would find in these folders or below, counted to this many at most."""

    def having(self, word: str, most: int) -> Sequence[int]:
        """The numbers of entries whose text has a word, in whatever form, at most so many and in no order: one more
        than a few tells that it is not rare."""

    def alike(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        """Entries of today, in these folders or below, with the fingerprint of a text: the same words in another
        order or form."""

    def near(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        """Entries of today, in these folders or below, that share telling words with a text, most first.

        It costs the same however many there are: of a word that is in very many, the last ones put are looked at. So
        it may miss one that shares nothing but such words. Meant for a store, which cannot wait for a search.
        """

    def latest(self, limit: int) -> Sequence[EntryCandidate]:
        """Entries by when they happened or were recorded, latest first."""

    def number(self, wanted: Wanted, most: int) -> int:
        """How many entries a question without words is about, counted to this many at most."""

    def fill_words(self) -> None:
        """Make everything that was put findable by its words. Not while storing: whoever asks first pays for it."""

    def has_unfilled(self) -> bool: ...

    def unfilled(self, limit: int) -> Sequence[int]:
        """The numbers of entries of today that are not findable by their words yet, latest first: for who may not fill
        them in."""

    # What entries mean, as bytes that only whoever embedded them understands. Entries of earlier versions have one too.
    def unembedded(self, model: str, limit: int) -> Sequence[tuple[int, str]]:
        """Numbers and texts of entries that have no vector of this model yet, in the order of their numbers. What a
        lone note says begins with its name."""

    def has_unembedded(self, model: str) -> bool: ...

    def count_embedded(self, model: str) -> tuple[int, int]:
        """How many entries have a vector of this model, and how many entries there are."""

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Keep a vector for each of these entries, in place of one it had. Empty bytes: nothing in it is known. An
        index has the vectors of one model: those of another go with the first of a new one."""

    def vectors(self, model: str, after: int) -> Sequence[Vector]:
        """The vector of every entry that has one of this model, beyond a number, in order."""

    def vectors_dropped(self) -> int:
        """Another number once a vector was taken out or its entry closed: what was read before is then out of date."""

    def candidates(self, numbers: Sequence[int]) -> Sequence[EntryCandidate]:
        """The entries with these numbers, those that are there, in the order of their ids."""

    def authors(self) -> Sequence[str]:
        """Everybody who is named as the author of an entry."""

    # Questions of index pages; active memories only.
    def counts(self, folder: str, tags: int) -> Counts: ...
    def newest(self, folder: str, limit: int) -> Sequence[PageLine]: ...
    def pinned(self, folder: str, limit: int) -> Sequence[PageLine]: ...
    def unfiled(self, folder: str, limit: int) -> Sequence[PageLine]: ...
    def mark_filed(self, folder: str, *, filed: bool) -> None: ...

    def starting_with(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        """The first few whose sort name starts so, in order."""

    def count(self, folder: str, prefix: str, limit: int) -> int:
        """How many sort names start so; it need not count beyond the limit."""

    def last_sort(self, folder: str, prefix: str) -> str | None: ...

    def next_characters(self, folder: str, prefix: str) -> Sequence[str]:
        """The characters that follow this prefix in sort names, in order."""


class Readable(Protocol):
    """An index that can be asked: all that whoever only reads needs of one."""

    def reading(self, space: Space) -> AbstractContextManager[Transaction]:
        """Questions of one moment, without keeping others from writing; nothing may be changed in it."""


class Index(Readable, Protocol):
    epoch: int
    """Another number once the index had to begin anew: what was known of it before is worth nothing."""

    def transaction(self, space: Space) -> AbstractContextManager[Transaction]: ...

    def scrub(self) -> None:
        """Leave nothing of what was removed: not in free pages, not in a log, not in a file that was moved aside."""

    def begin_anew(self, space: Space) -> AbstractContextManager[Transaction]:
        """A transaction in which nothing is known yet, however damaged the index was. It is filled from the files."""
