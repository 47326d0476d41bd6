"""The index port: what the files say, arranged for queries. Everything in it can be read back from the files.

`memories` writes it; `recall`, `context` and the verbs query it. What every implementation promises, and
tests/index/conformance.py checks:

- a transaction sees its own changes; an exception inside it leaves the index as it was; one writer at a time
- every query for an index page costs in proportion to its answer, however many memories a folder holds
- spaces do not see each other
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from commonplace.index.nodes import NodeQueries
from commonplace.index.units import UnitQueries

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.index.values import (
        BriefCandidate,
        BriefRow,
        Counts,
        CurrentEntry,
        EntryCandidate,
        EntryFilter,
        EntryInterval,
        Match,
        PageLine,
        PageSection,
        PendingText,
        Row,
        StatSignature,
        Vector,
        Window,
    )
    from commonplace.model.errors import StorageError
    from commonplace.model.scope import Space
    from commonplace.text.words import QueryTerms

T = TypeVar("T")
MOST_MARKED = 16  # entries that `find_similar` looks at for one word


class Transaction(UnitQueries, NodeQueries, Protocol):
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

        The text of an entry that is in no conversation starts with the name and the tags of its memory; in the tree,
        with the title of its note.
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
