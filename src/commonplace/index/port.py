"""The index port: what the files say, arranged for queries. Everything in it can be read back from the files.

`memories` writes it; `recall`, `context` and the verbs query it. What every implementation promises, and
tests/index/conformance.py checks:

- a transaction sees its own changes; an exception inside it leaves the index as it was; one writer at a time
- every query for an index page costs in proportion to its answer, however many memories a folder holds
- spaces do not see each other
"""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, TypeVar

from commonplace.index.units import UnitQueries
from commonplace.model.errors import StorageError
from commonplace.model.memory import Entry
from commonplace.model.scope import Space
from commonplace.text.words import QueryTerms

T = TypeVar("T")
MOST_MARKED = 16  # entries that `find_similar` looks at for one word
WISHES = ("user", "feedback")  # the types of memories that say what the user wants
Turn = int | str
"""A place in a conversation: the number it was stored with, or else its time. Numbers come before times."""
PageSection = Literal["newest", "pinned", "unfiled"]
StatSignature = str
"""Size, modification time and inode of a file, as the vault writes them: equal means the file is unchanged."""


def is_in_folders(folder: str, folders: Iterable[str]) -> bool:
    """Return whether a folder is one of these folders, or below one."""
    return any(folder == place or folder.startswith(place + "/") for place in folders)


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


def is_unit(ident: str) -> bool:
    """Return whether the entry with an id is a unit of the tree: no entry of a memory has such an id."""
    return ident.startswith("u-")


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
    """An entry that may answer a query. `row` is None when its memory is no longer there."""

    folder: str
    name: str
    recorded: EntryInterval
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
    """The current entries of some folders, or below, that happened in a time. An empty end is open."""

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


class Transaction(UnitQueries, Protocol):
    """The queries and changes of one space, all of one moment. Folders are paths as texts, names lack the .md."""

    # Memories

    def put(self, row: Row, signature: StatSignature | None = None) -> Row | None:
        """Add a memory, or replace the one of the same folder and name, and return that one.

        `signature` is that of its file, if it is known already.
        """

    def remove(self, folder: str, name: str) -> None:
        """Remove a memory's row. Its entries stay: close them first."""

    def get(self, folder: str, name: str) -> Row | None:
        """Return one memory; None when there is none."""

    def rows(self, folder: str) -> Mapping[str, Row]:
        """Return every memory in this very folder, by name."""

    def folders(self, below: str) -> Sequence[str]:
        """Return this folder and those below it that hold memories, sorted."""

    def find_by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        """Return folder and name of the memories with an id: more than one when a file was copied."""

    def rows_to_review(self) -> Sequence[Row]:
        """Return every memory that waits for a review, or has a link that does, by folder and name."""

    def generation(self, scope_folder: str) -> int | None:
        """Return the generation of the scope's lock when the index last knew all of the scope; None if it never did."""

    def set_generation(self, scope_folder: str, generation: int) -> None:
        """Record that the index knows all of the scope as of this generation of its lock."""

    # What the files of memories looked like when they were last read

    def record_stat(self, folder: str, name: str, signature: StatSignature) -> None:
        """Record the signature of a memory's file. `remove` forgets it, and `put` without one."""

    def stat_signatures(self, folder: str) -> Mapping[str, StatSignature | None]:
        """Return every memory in this folder by name, with the signature of its file; None if none was recorded."""

    def stat_lines(self, folder: str) -> str:
        """Return the signatures of a folder as one sorted text, each line `SIGNATURE NAME`.

        Before those come the names without a signature. To compare a whole folder, one text costs a third of what
        `stat_signatures` does.
        """

    # Entries of a memory, with those of earlier versions. They outlive its row: history can still be searched.

    def set_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None:
        """Replace all entries of a memory, past ones included. Where they are the same, they keep their vectors."""

    def add_entries(
        self, folder: str, name: str, entries: Sequence[EntryInterval], close_at: str | None = None
    ) -> None:
        """Add entries after those of a memory; `close_at` first ends all that are current, at this time."""

    def entries(self, folder: str, name: str) -> Sequence[EntryInterval]:
        """Return all entries of a memory, past ones included, in order."""

    def forgotten(self, below: str) -> Mapping[tuple[str, str], str]:
        """Return folder and name of memories that are gone but have closed entries, with the latest end of these.

        Only in this folder and those below it.
        """

    # For the brief, which comes unasked: so it leaves out what came from outside and was not accepted.

    def brief_candidates(self, folder: str, limit: int) -> Sequence[BriefCandidate]:
        """Return active memories in this very folder: the first pinned ones by name, the newest of the user's wishes,
        and the newest of all; up to `limit` of each, and each once.
        """

    def brief_row(self, folder: str, name: str, entries: int) -> BriefRow | None:
        """Return a memory with the last few of its current entries; None when there is none."""

    # Recall

    def search(self, terms: QueryTerms, limit: int, window: Window | None = None) -> Sequence[Match]:
        """Return the entries that have some of these words and all the quoted ones, best first.

        Past ones are included, unless there is a window: then only what is in it is looked for, at little more cost.
        Of equals at the limit those with the lower ids are in, so that an index built anew answers the same. What was
        put since `fill_words` may be missing.
        """

    def count_matches(self, terms: QueryTerms, window: Window, most: int) -> int:
        """Return how many current entries `search` would find in a window, counting up to `most`."""

    def latest_entries(self, limit: int) -> Sequence[EntryCandidate]:
        """Return entries by when they happened or were recorded, latest first."""

    def count_entries(self, wanted: EntryFilter, most: int) -> int:
        """Return how many entries pass a filter, counting up to `most`."""

    def candidates(self, numbers: Sequence[int]) -> Sequence[EntryCandidate]:
        """Return the entries with these numbers, those that are there, in the order of their ids."""

    def linked_entries(self, links: Collection[str], places: Sequence[tuple[str, str]]) -> Sequence[EntryCandidate]:
        """Return the current entries of memories that have one of these links, or are in one of these places.

        A link is written as in a row; a place is folder and name. Memories without links cost nothing.
        """

    def authors_named(self, words: Collection[str]) -> Sequence[str]:
        """Return the authors whose names have one of these words, which are in lower case.

        The cost does not grow with the number of authors. Those put since `fill_words` may be missing.
        """

    def find_same_words(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        """Return current entries, in these folders or below, with the words of a text in whatever order and form."""

    def find_similar(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        """Return current entries, in these folders or below, that share telling words with a text, most first.

        The cost does not grow with the index, because a store waits for it: of a word that very many entries have, only
        the last ones put are looked at. So it may miss an entry that shares nothing but such words.
        """

    def fill_words(self) -> None:
        """Make everything that was put findable by its words. A store leaves this to the first search after it."""

    def has_unfilled(self) -> bool:
        """Return whether there is anything for `fill_words` to do."""

    def unfilled(self, limit: int) -> Sequence[int]:
        """Return the numbers of current entries that `search` may miss, latest first: for a reader, who cannot fill."""

    # Embeddings, as bytes that only the embedder understands. Past entries have one too.

    def unembedded(self, model: str, limit: int) -> Sequence[PendingText]:
        """Return the texts of entries that have no vector of this model yet, in the order of their numbers.

        The text of an entry that is in no conversation starts with the name and the tags of its memory.
        """

    def count_embedded(self, model: str) -> tuple[int, int]:
        """Return how many entries have a vector of this model, and how many entries there are."""

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Keep a vector for each of these entries, in place of the one it had. Empty bytes: its text says nothing to
        the model. An index has the vectors of one model: those of another go with the first of a new one."""

    def uncompared(self, limit: int) -> Sequence[int]:
        """Return the numbers of entries whose vectors were put since `set_later` named them, in order."""

    def set_later(self, found: Mapping[int, int]) -> None:
        """Record for each of these entries which later one may contradict it; 0: none does.

        That goes with the vector of an entry. What it names is checked when it is read.
        """

    def vectors(self, model: str, after: int) -> Sequence[Vector]:
        """Return the vectors of this model for entries beyond a number, in order."""

    def vectors_dropped(self) -> int:
        """Return a number that changes once a vector is removed or its entry closed: what was read before is stale."""

    # Index pages, which show active memories only

    def counts(self, folder: str, tags: int) -> Counts:
        """Return the counts of a folder, with this many of its tags."""

    def count_active(self, below: str) -> int:
        """Return how many active memories this folder and those below it hold."""

    def page_lines(self, section: PageSection, folder: str, limit: int) -> Sequence[PageLine]:
        """Return the first lines of a section of a folder's page.

        `newest`: of the memories that were updated last, newest first. `pinned`: of pinned memories, by sort name.
        `unfiled`: those that are not on their sub-page yet, by sort name.
        """

    def mark_filed(self, folder: str, *, filed: bool, pending: Collection[str] = ()) -> None:
        """Record that the lines of a folder are on their sub-pages, or that none is; `pending` names exceptions."""

    def lines_by_prefix(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        """Return the first lines whose sort names start with a prefix, in order."""

    def next_prefixes(self, folder: str, prefix: str) -> Sequence[str]:
        """Return the prefixes that divide the sort names which start with this one, in order.

        Each is the longest start that all of these names share, and one more character.
        """

    def topics(self, folder: str, limit: int) -> Sequence[str]:
        """Return the first topics that sort names of a folder start with, such as `@testing@`, in order."""


class Readable(Protocol):
    """An index that can be queried: all that a reader needs of one."""

    def reading(self, space: Space) -> AbstractContextManager[Transaction]:
        """Open a transaction for queries of one moment. Nothing may be changed in it; others may write meanwhile."""


class Index(Readable, Protocol):
    """An index that can be queried and changed."""

    epoch: int
    """Another number once the index had to begin anew: what was read from it before is worth nothing."""

    @property
    def problem(self) -> StorageError | None:
        """Why the stored index could not be used or brought up to date; None almost always."""

    @property
    def is_stale(self) -> bool:
        """Whether answers lack what changed since. Without that, a problem is one of the stored index alone."""

    def transaction(self, space: Space, wait: float | None = None) -> AbstractContextManager[Transaction]:
        """Open a transaction for queries and changes, which are kept when it ends without an exception.

        It waits for another process that writes, `wait` seconds if not as long as usual. Raises StorageError.
        """

    def refresh(self, space: Space, work: Callable[[Transaction], T]) -> T:
        """Run work that brings the index up to date, and return what it returns; for a reader, which waits for nothing.

        Where the changes cannot be kept now, this process sees them all the same, and `problem` is set; or
        StorageError is raised. The work may be run more than once.
        """

    def detach(self, problem: StorageError) -> None:
        """Go on without the files of the stored index, for a reader: they take handles that it needs for the notes."""

    def attach(self, wait: float | None = None) -> None:
        """Make sure that changes will be kept, for a writer. Raises StorageError where they cannot be."""

    def scrub(self) -> bool:
        """Leave nothing of what was removed: not in free pages, a log, or a file that was moved aside.

        Return False where another process kept reading: then some may be left, and the next process that closes the
        index without such a reader removes it.
        """

    def begin_anew(self, space: Space) -> AbstractContextManager[Transaction]:
        """Open a transaction on an empty index, however damaged it was. The caller fills it from the files."""
