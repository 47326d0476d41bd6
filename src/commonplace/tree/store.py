"""The tree of one book: its sources, their notes, and an index of its own.

    tree/SOURCE/_source.md            where the source came from, its time zone, who the user is there
    tree/SOURCE/2026-11/THREAD.md     a thread, a day of a channel, or a document; its units are the note's entries
    tree/SOURCE/_also.md              units that this source has too, and another source's files hold

`ingest` writes them, retrieval reads them. The index is the second instance of the one that memories have: in a common
one, the words and authors of 13,000 mails would change what is found of 300 memories. It is opened only where there is
a source, and built anew from the files where it is missing. The verbs make one `TreeStore` for an open book.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast, get_args

from commonplace.index.nodes import TopicRow
from commonplace.index.port import Transaction
from commonplace.index.values import Window
from commonplace.memories.layout import PARENT_LOCK
from commonplace.memories.rows import change_page, change_parents, nouns_of, rounded, split_path
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import has_revision
from commonplace.model.errors import CommonplaceError, NotFound
from commonplace.model.names import is_key_name, short_hash, slug
from commonplace.text.frontmatter import Frontmatter, get_region, split
from commonplace.text.notes import Note
from commonplace.tree.labels import find_labels
from commonplace.tree.people import PeopleBook, join_people, parse_people
from commonplace.tree.source import SourceKind
from commonplace.tree.units import UNIT_PREFIX, read_unit
from commonplace.vault.paths import INDEX_PAGE, KEEPER, SOURCE_PAGE, TREE, BookPath, resolve
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
_RESERVED = frozenset({"digest", "topic", "people"})  # names below tree/ that are no source
_TOPICS = TREE / "topic"  # has a page for each, and no folders
MADE_FOLDERS = (TREE / "digest", _TOPICS)  # of pages that are made of the units of all sources
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


class Facts(Protocol):
    """What is remembered between processes, where that can be: without it, more is looked at."""

    def get(self, name: str) -> str | None:
        """Return a fact."""

    def set(self, name: str, value: str) -> None:
        """Remember a fact."""


class MadePage(NamedTuple):
    """A page of a topic or digest as it was just written; a digest is about no topic."""

    path: BookPath
    revision: str
    topic: TopicRow | None = None


class TreeStore:
    """The sources of a book, and the store of their notes."""

    def __init__(self, memories: MemoryStore, open_semantic: Callable[[], SemanticIndex | None], facts: Facts) -> None:
        self._facts = facts
        self._seen: dict[str, str | None] = {}  # the times of the folders of each source
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

    @contextmanager
    def lock(self) -> Iterator[HeldLock]:
        """Hold the lock of whoever adds units or takes them away; the index then knows the files of every source.

        The index notes how often the lock was held to a good end. Where that is less than the lock says, a process was
        killed, or failed: what it left is mended first, or its units would be stored again in another source.
        """
        memories = self.memories
        with memories.vault.lock(memories.space, _LOCK, memories.lock_timeout) as held:
            with self.reading() as index:
                is_behind = index.generation(TREE) != held.generation - 1
            if is_behind:
                self._mend()
            epoch = memories.index.epoch
            yield held
            if memories.index.epoch == epoch:  # else the index lacks what was written, and the next one mends it
                with suppress(CommonplaceError), memories.index.transaction(memories.space) as index:
                    index.set_generation(TREE, held.generation)

    def _mend(self) -> None:
        """Bring the index and the pages up to the files of all sources, and remove what a killed writer left."""
        memories = self.memories
        memories.vault.sweep(memories.space, TREE)
        with self.reading() as index:
            known = {TREE / resolve(place).parts[1] for place in index.folders(TREE)}
        for folder in sorted({*known, *self.folders()}):
            memories.reconcile(folder, sweep=True)
        self.renew_sizes()

    def renew_sizes(self) -> None:
        """Put the size of each source on the page above it, and take those off it that are gone. The page may lag."""
        memories, page = self.memories, TREE / INDEX_PAGE
        with suppress(CommonplaceError), memories.vault.lock(memories.space, PARENT_LOCK, memories.lock_timeout):
            text = memories.files.read_text(page)
            lines = (get_region(text) or "").splitlines(keepends=True)
            left = [line for line in lines if self._has_target(line)]
            if left != lines:
                memories.files.apply(change_page(page, text, "", "".join(left)))
            for folder in self.folders():
                with self.reading() as index:
                    number = index.count_active(folder)
                changes = change_parents(memories.files, folder, rounded(number, nouns_of(folder)))
                if number and changes:
                    memories.files.apply(changes)

    def renew_sizes_locked(self) -> None:
        """Do that under the lock of the tree: what a kill leaves is then removed by whoever takes the lock next."""
        with suppress(CommonplaceError), self.lock():
            self.renew_sizes()

    def _has_target(self, line: str) -> bool:
        """Return whether there is something in the folder to which a line of the page above all sources leads."""
        name = line.rpartition("](")[2].partition("/")[0]
        if not is_key_name(name) or self.memories.files.stat(TREE / name / INDEX_PAGE) is None:
            return not is_key_name(name)
        if TREE / name not in MADE_FOLDERS:
            return True
        with self.reading() as index:
            return index.count_active(TREE / name) > 0

    def folders(self) -> list[BookPath]:
        """Return the folders below tree/ that have notes: those of the sources, and those of what is made of them."""
        return [*(source.folder for source in self.sources()), *MADE_FOLDERS]

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
        taken = {source.id for source in self.sources()} | _RESERVED
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
        try:
            page = self.memories.files.read_text(PEOPLE_PAGE) or ""
        except UNUSABLE:  # a link, or closed to us: `doctor` names it
            page = ""
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
        memories = self.memories
        with self.lock():
            page = memories.files.read_text(PEOPLE_PAGE)
            people = change(parse_people(page or _NO_PEOPLE))
            text = people.render()
            if text != (page or _NO_PEOPLE):
                moved = {*people.groups()} ^ {*parse_people(page or _NO_PEOPLE).groups()}
                with memories.index.transaction(memories.space) as index:  # before: what is marked twice is no harm
                    index.mark_labels({ident for group in moved for ident in group})
                write = Write(PEOPLE_PAGE, text.encode("utf-8", "surrogateescape"), ANY)
                memories.vault.apply(memories.space, KEEPER, [write])
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
        """Bring the index up to sources in which files were made, moved or deleted since they were looked at; return
        all sources.

        The times of the folders tell. What was changed within a file is seen when something else in its folder
        changes, and by `doctor verify`.
        """
        sources = self.sources()
        # Without a source, pages are left only where a process was killed that forgot the last one.
        made = [folder for folder in MADE_FOLDERS if sources or self.memories.files.stat(folder) is not None]
        salts = {source.folder: source.created for source in sources} | dict.fromkeys(made, "")
        for folder, salt in salts.items():
            times, fact = self._read_times(folder, salt), f"tree/{folder.name}/folders"
            if folder.name not in self._seen:
                self._seen[folder.name] = self._facts.get(fact)
            with self.reading() as index:
                is_unseen = index.generation(folder) is None
            if (is_unseen or self._seen[folder.name] != times) and self.memories.freshen(folder):
                self._seen[folder.name] = self._read_times(folder, salt)  # pages may have been written
                self._facts.set(fact, self._seen[folder.name] or "")
        self.label_pending()
        return sources

    def _read_times(self, folder: BookPath, salt: str) -> str:
        """Return the times of the folders below a folder of the tree."""
        with suppress(NotFound, *UNUSABLE):
            listed = self.memories.files.list_folder(folder) if folder != _TOPICS else ()
            own = self.memories.files.stat(folder)
            folders = [f"{item.name} {item.stat.mtime_ns}" for item in listed if item.stat.kind is FileKind.FOLDER]
            return short_hash("\n".join([salt, str(own.mtime_ns if own is not None else 0), *sorted(folders)]))
        return ""

    def label_pending(self) -> None:
        """Put what units mention into the index, for those that were read since the last time: of any source, because
        the process that read them may have been killed."""
        kinds: dict[str, SourceKind] = {}
        while True:
            with self.reading() as index:
                found = index.candidates(index.unlabelled(_LABELLED))
            if not found:
                return
            kinds = kinds or {str(source.folder): source.kind for source in self.sources()}
            labels = {}
            for item in found:
                kind = kinds.get("/".join(item.folder.split("/")[:3]), "document")
                unit = read_unit(item.entry, kind=kind, folder=item.folder, name=item.name)
                labels[item.no] = find_labels(unit)
            self.memories.index.refresh(self.memories.space, lambda writing: writing.put_labels(labels))  # noqa: B023

    def read_note(self, path: BookPath) -> Note:
        """Return a note of the tree. Raises NotFound."""
        document = self.memories.files.read(path)
        return self.memories.provenance.read(document.data, document.stat.time)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Build the index anew from the files; return how many files there are."""
        folders = self.folders()
        self.memories.progress = progress
        self.memories.rebuild(folders)
        self.finish(progress)
        with self.reading() as index:
            return sum(len(index.rows(place)) for folder in folders for place in index.folders(str(folder)))

    @staticmethod
    def tell_state(index: Transaction) -> tuple[int, int]:
        """Return what differs once units were added or taken away: a mark that was there already has to stay then."""
        return index.vectors_dropped(), index.last_number()

    def note_made(self, made: Sequence[MadePage]) -> None:
        """Take the marks off pages that are as we wrote them: what is left of these, somebody else changed."""
        if made:
            with self.memories.index.transaction(self.memories.space) as index:
                for page in made:
                    place = split_path(page.path)
                    if has_revision(index.get(*place), page.revision):
                        index.set_topic(*place, page.topic)

    def finish(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Do what a question would otherwise wait for: the words and the vectors of what is new."""
        self.label_pending()
        self.join_people()
        self.renew_sizes_locked()
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
