"""The tree of one book: its sources, their notes, and an index of its own.

    tree/SOURCE/_source.md            where the source came from, its time zone, who the user is there
    tree/SOURCE/2026-11/THREAD.md     a thread, a day of a channel, or a document; its units are the note's entries
    tree/SOURCE/_also.md              units that this source has too, and another source's files hold

`ingest` writes them, retrieval reads them. The index is the second instance of the one that memories have: in a common
one, the words and authors of 13,000 mails would change what is found of 300 memories. It is opened only where there is
a source, and built anew from the files where it is missing. The verbs make one `TreeStore` for an open book.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from commonplace.index.port import Transaction, Window
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import NotFound
from commonplace.model.names import is_key_name, slug
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.text.notes import Note
from commonplace.tree.labels import find_labels
from commonplace.tree.people import PeopleBook, join_people, parse_people
from commonplace.tree.source import SourceKind
from commonplace.tree.units import UNIT_PREFIX, read_unit
from commonplace.vault.paths import KEEPER, SOURCE_PAGE, TREE, BookPath
from commonplace.vault.port import ABSENT, ANY, UNUSABLE, FileKind, HeldLock, Write

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

ALSO_PAGE = "_also.md"
PEOPLE_PAGE = TREE / "people.md"
_NO_PEOPLE = """# People

Who is one person with whom. You may edit these lines: `=` joins, `?` proposes, `not` keeps apart.

"""
_LOCK = "tree"  # of whatever adds, merges or forgets units: a unit is in one source only
_LABELLED = 500  # units whose labels are put at a time
_MAX_ID = 40
_MOST_COUNTED = 32  # windows whose authors are remembered


class TreeSource(NamedTuple):
    """One source of the tree, as its page says."""

    id: str  # the name of its folder
    kind: SourceKind
    format: str  # mbox, slack, documents
    origin: str  # the path that was named
    created: str
    timezone: str = ""
    me: tuple[str, ...] = ()  # the user's addresses and names there
    is_briefed: bool = False  # whether the user allows its text in briefs

    @property
    def folder(self) -> BookPath:
        """Its folder."""
        return TREE / self.id

    def render(self, page: str | None = None) -> bytes:
        """Return its page; what a person added to the one that is there stays."""
        front, body = split(page) if page is not None else (Frontmatter("---\n", (), "---\n"), f"# {self.id}\n")
        fields = {
            "kind": self.kind,
            "format": self.format,
            "origin": self.origin,
            "created": self.created,
            "timezone": self.timezone or None,
            "me": list(self.me) or None,
            "brief": self.is_briefed,
        }
        for name, value in fields.items():
            front = front.put(name, value)
        return (front.render() + body).encode("utf-8", "surrogateescape")


def read_source_page(name: str, page: str) -> TreeSource | None:
    """Return the source that a page describes; None if it is none."""
    front, _ = split(page)
    kind = front.text("kind")
    if kind not in get_args(SourceKind):
        return None
    return TreeSource(
        name,
        cast("SourceKind", kind),
        front.text("format"),
        front.text("origin"),
        front.text("created"),
        front.text("timezone"),
        front.texts("me"),
        front.text("brief") == "true",
    )


class TreeStore:
    """The sources of a book, and the store of their notes."""

    def __init__(self, memories: MemoryStore, open_semantic: Callable[[], SemanticIndex | None]) -> None:
        self.memories = memories
        self.open_semantic = open_semantic  # the table inside the install: it takes no time for bulk text
        self._people = ("", PeopleBook())
        self._authors: dict[tuple[object, ...], Sequence[tuple[str, int]]] = {}

    def close(self) -> None:
        """Close the index."""
        close = getattr(self.memories.index, "close", None)
        if close is not None:
            close()

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open the index to read it."""
        return self.memories.index.reading(self.memories.space)

    def lock(self) -> AbstractContextManager[HeldLock]:
        """Return the lock of whoever adds units or takes them away."""
        return self.memories.vault.lock(self.memories.space, _LOCK, self.memories.lock_timeout)

    def sources(self) -> Sequence[TreeSource]:
        """Return the sources, by their ids."""
        return list_sources(self.memories)

    def source(self, ident: str) -> TreeSource:
        """Return a source. Raises NotFound."""
        known = {source.id: source for source in self.sources()}
        if ident not in known:
            names = ", ".join(known) or "none yet"
            raise NotFound(f"There is no source {ident[:60]!a}.", hint=f"The sources are: {names}.")
        return known[ident]

    def name_source(self, wanted: str) -> str:
        """Return a free id for a new source, made from a name."""
        base = slug(wanted, _MAX_ID) or "source"
        base = base if is_key_name(base) else f"{base}-source"
        taken = {source.id for source in self.sources()}
        return next(name for number in range(1, 1_000_000) if (name := base + f"-{number}" * (number > 1)) not in taken)

    def read_also(self, source: TreeSource) -> list[str]:
        """Return the units that a source has too, and another one's files hold."""
        page = self.memories.files.read_text(source.folder / ALSO_PAGE) or ""
        return [line[2:] for line in page.splitlines() if line.startswith(f"- {UNIT_PREFIX}")]

    def note_also(self, put_aside: Callable[[Write], None], source: TreeSource, idents: Sequence[str]) -> None:
        """Stage the list of units that a source has too, with some more."""
        known = self.read_also(source)
        new = sorted({*idents} - {*known})
        if new:
            put_aside(self._write_also(source, [*known, *new]))

    def drop_also(self, source: TreeSource, idents: Set[str]) -> None:
        """Take units off that list: the source's own files have them now."""
        known = self.read_also(source)
        if idents & {*known}:
            write = self._write_also(source, [ident for ident in known if ident not in idents])
            self.memories.vault.apply(self.memories.space, KEEPER, [write])

    def _write_also(self, source: TreeSource, idents: Sequence[str]) -> Write:
        text = "".join(["# Also in this source\n\n", *(f"- {ident}\n" for ident in idents)])
        return Write(source.folder / ALSO_PAGE, text.encode("utf-8", "surrogateescape"), ANY)

    def people(self) -> PeopleBook:
        """Return who is one person with whom, as tree/people.md says."""
        page = self.memories.files.read_text(PEOPLE_PAGE) or ""
        if page != self._people[0]:
            self._people = page, parse_people(page)
        return self._people[1]

    def count_authors(self, index: Transaction, window: Window, most: int) -> Sequence[tuple[str, int]]:
        """Return who wrote most of what is in a window. It is counted once, until the index changes."""
        version = (self.memories.index.epoch, index.vectors_dropped(), index.last_number())
        if window.only is not None:
            return index.count_authors(window, most)
        key = (version, tuple(window.folders), window.since, window.until, most)
        if key not in self._authors:
            if len(self._authors) >= _MOST_COUNTED:
                self._authors.clear()
            self._authors[key] = index.count_authors(window, most)
        return self._authors[key]

    def change_people(self, change: Callable[[PeopleBook], PeopleBook]) -> PeopleBook:
        """Change who is one person with whom; what a person wrote on the page stays."""
        with self.lock():
            page = self.memories.files.read_text(PEOPLE_PAGE)
            people = change(parse_people(page or _NO_PEOPLE))
            text = people.render()
            if text != (page or _NO_PEOPLE):
                write = Write(PEOPLE_PAGE, text.encode("utf-8", "surrogateescape"), ANY)
                self.memories.vault.apply(self.memories.space, KEEPER, [write])
        return people

    def join_people(self) -> None:
        """Note which addresses and names are one person, as far as the headers of all messages say."""
        with self.reading() as index:
            seen = {(author, address): number for author, address, number in index.count_addresses()}
        known = self.people()
        if join_people(known, seen) != known:
            self.change_people(lambda people: join_people(people, seen))

    def save_source(self, source: TreeSource) -> None:
        """Write the page of a source, if it says something else now."""
        path = source.folder / SOURCE_PAGE
        page = self.memories.files.read_text(path)
        data = source.render(page)
        if page is None or data != page.encode("utf-8", "surrogateescape"):
            with self.memories.unit(source.folder, KEEPER) as unit:
                unit.put_aside(Write(path, data, ABSENT if page is None else ANY))
                unit.commit()

    def freshen(self) -> Sequence[TreeSource]:
        """Bring the index up to sources that it has never seen; return all sources."""
        sources = self.sources()
        with self.reading() as index:
            unseen = [source for source in sources if index.generation(source.folder) is None]
        for source in unseen:
            self.memories.freshen(source.folder)
        self.label_pending(sources)
        return sources

    def label_pending(self, sources: Sequence[TreeSource]) -> None:
        """Put what units mention into the index, for those that were read since the last time."""
        kinds = {str(source.folder): source.kind for source in sources}
        while True:
            with self.reading() as index:
                found = index.candidates(index.unlabelled(_LABELLED))
            if not found:
                return
            labels = {}
            for item in found:
                kind = kinds.get("/".join(item.folder.split("/")[:3]), "document")
                unit = read_unit(item.recorded.entry, kind=kind, folder=item.folder, name=item.name)
                labels[item.no] = find_labels(unit)
            self.memories.index.refresh(self.memories.space, lambda writing: writing.put_labels(labels))  # noqa: B023

    def read_note(self, path: BookPath) -> Note:
        """Return a note of the tree. Raises NotFound."""
        document = self.memories.files.read(path)
        return self.memories.provenance.read(document.data, document.stat.time)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Build the index anew from the files; return how many files there are."""
        folders = [source.folder for source in self.sources()]
        self.memories.progress = progress
        self.memories.rebuild(folders)
        self.finish(progress)
        with self.reading() as index:
            return sum(len(index.rows(place)) for folder in folders for place in index.folders(str(folder)))

    def finish(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Do what a question would otherwise wait for: the words and the vectors of what is new."""
        self.label_pending(self.sources())
        self.join_people()
        with self.memories.index.transaction(self.memories.space) as index:
            index.fill_words()
        semantic = self.open_semantic()
        if semantic is not None:
            semantic.embed_pending(progress=progress)


def list_sources(memories: MemoryStore) -> Sequence[TreeSource]:
    """Return the sources of a book, by their ids. A folder without a page that can be read is none."""
    try:
        listed = memories.files.list_folder(TREE)
    except (NotFound, *UNUSABLE):
        return []
    found = []
    for item in listed:
        if item.stat.kind is FileKind.FOLDER and is_key_name(item.name):
            try:
                page = memories.files.read_text(TREE / item.name / SOURCE_PAGE)
            except UNUSABLE:
                continue
            source = read_source_page(item.name, page) if page is not None else None
            found += [source] if source is not None else []
    return found
