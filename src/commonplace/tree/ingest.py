"""Ingest a source: what its reader yields is cleaned, joined into threads, and written into the tree, once.

    reader -> known? -> clean -> redact -> thread -> file: 300 units in one unit of work -> index -> labels

`ingest` in the verbs calls `Ingestion`. A unit that any source has already is not stored again: its first source
keeps it, and the other notes that it has it too. A whole copy replaces a cut one, an edited message or document its
old text. Each batch is durable before the next begins, so an ingest that was cut off is run again, and adds what is
missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from commonplace.index.values import EntryCandidate
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry
from commonplace.tree.admission import find_signals, is_admitted
from commonplace.tree.clean import clean_text
from commonplace.tree.earlier_lines import EarlierLines
from commonplace.tree.filing import SourceFiles, ThreadIndex, place_of
from commonplace.tree.redaction import Redact, redact_head
from commonplace.tree.source import SkippedUnit, SourceUnit
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.threads import ThreadFinder, ThreadPlace, identify
from commonplace.tree.units import make_entries, make_unit_id
from commonplace.vault.paths import KEEPER, SOURCE_PAGE

BATCH = 300  # units in one unit of work
_BATCH_TEXT = 8_000_000  # characters, after which a batch is full, too
_MOST_SKIPPED = 1_000  # that a report names
Units = Iterable[SourceUnit | SkippedUnit]


class IngestCounts:
    """What an ingest did so far."""

    def __init__(self) -> None:
        self.added = self.known = self.replaced = self.rejected = self.redacted = self.skipped_count = 0
        self.skipped: list[SkippedUnit] = []  # the first ones
        self.first = self.last = ""  # when the first and the last of the added units were
        self.authors = Counter[str]()
        self.names: dict[str, str] = {}  # of authors, by what tells them apart
        self.cut_lines = 0  # of quotes, signatures and footers
        self.files: set[str] = set()  # in which something was found, broken or not

    def note_skipped(self, item: SkippedUnit) -> None:
        """Count a message that could not be read."""
        self.note_file(item.place)
        self.skipped_count += 1
        if len(self.skipped) < _MOST_SKIPPED:
            self.skipped.append(item)

    def note_file(self, place: str) -> None:
        """Note the file of a place such as `general/2026-11-01.json, message 3`."""
        self.files.add(place.rpartition(", ")[0] or place)

    def note_added(self, unit: SourceUnit, *, is_shown: bool) -> None:
        """Count a unit that was added; `is_shown`: it may enter digests."""
        self.added += 1
        self.rejected += not is_shown
        who = unit.author.address or unit.author.name
        self.authors[who] += is_shown
        self.names.setdefault(who, unit.author.name or who)
        if unit.occurred:
            self.first = min(self.first or unit.occurred, unit.occurred)
            self.last = max(self.last, unit.occurred)


class _NewUnit(NamedTuple):
    """A unit on its way into a file."""

    unit: SourceUnit
    place: ThreadPlace
    text: str
    signals: frozenset[str]


class _NewCopy(NamedTuple):
    """A whole copy of a unit that the files of another source have cut."""

    item: EntryCandidate
    parts: Sequence[Entry]


class Ingestion:
    """One ingest of one source."""

    def __init__(
        self, tree: TreeStore, source: TreeSource, redact: Redact, tell: Callable[[], None], *, dry: bool
    ) -> None:
        self.counts = IngestCounts()
        self._tree, self._source, self._redact, self._tell, self._dry = tree, source, redact, tell, dry
        self._threads = ThreadFinder(ThreadIndex(tree, source))
        self._elsewhere: list[_NewCopy] = []
        self._me = frozenset(name.casefold() for name in source.me)

    def survey(self, units: Units) -> None:
        """Read a source once before it is ingested: what comes last may say what belongs together."""
        for unit in units:
            if isinstance(unit, SourceUnit):
                self._threads.add(self._own_id(redact_head(unit, self._redact)[0]))
            self._tell()
        self._threads.join_subjects()

    def run(self, units: Units) -> None:
        """Ingest what a reader yields."""
        for batch in self._batches(units):
            with self._tree.lock():
                self._check_source()
                self._store(batch)

    def _check_source(self) -> None:
        """Raise NotFound if another process has forgotten the source: its units would come back without it."""
        if not self._dry and self._tree.memories.files.stat(self._source.folder / SOURCE_PAGE) is None:
            raise NotFound(
                f"The source {self._source.id!a} was forgotten while it was being read.",
                hint="Ingest it again to have it back.",
            )

    def _batches(self, units: Units) -> Iterator[list[SourceUnit]]:
        batch: list[SourceUnit] = []
        size = 0
        for unit in units:
            self._tell()
            if isinstance(unit, SkippedUnit):
                self.counts.note_skipped(unit)
                continue
            is_full = len(batch) >= BATCH or size > _BATCH_TEXT
            # All sections of a document are in one batch: it is written as a whole.
            if is_full and not (unit.kind == "document" and unit.thread == batch[-1].thread):
                yield batch
                batch, size = [], 0
            self.counts.note_file(unit.place)
            clean, secrets = redact_head(unit, self._redact)
            self.counts.redacted += secrets
            batch.append(self._own_id(clean))
            size += len(unit.text)
        if batch:
            yield batch

    def _own_id(self, unit: SourceUnit) -> SourceUnit:
        """Return a unit with an id that holds in the whole tree: two folders may both have a README.md."""
        if unit.kind == "document":
            return unit._replace(native_id=f"{self._source.id}:{unit.native_id}")
        return unit._replace(native_id=identify(unit))

    def _store(self, batch: Sequence[SourceUnit]) -> None:
        """Write what is new in a batch; all of it is durable when this returns."""
        memories, source = self._tree.memories, self._source
        by_id = _choose_copies(batch)
        with memories.unit(source.folder, KEEPER) as unit_of_work:
            with self._tree.reading() as index:
                known = {item.entry.id: item for item in index.units(by_id)}
            files, time = SourceFiles(unit_of_work, source), memories.clock()
            for unit in by_id.values():
                self._threads.add(unit)
            also = [ident for ident, item in known.items() if not self._is_own(item)]
            if source.kind == "document":
                self._store_documents(files, by_id, known, time)
            else:
                self._store_messages(files, by_id, known, time)
            self.counts.known += len(batch) - len(by_id)
            if self._dry:
                return
            if also:
                self._tree.note_also(unit_of_work.put_aside, source, also)
            unit_of_work.commit()
        self._replace_elsewhere(time)
        self._tree.label_pending()

    def _replace_elsewhere(self, time: str) -> None:
        """Write the whole copies of units that other sources have cut into the files of those."""
        sources = {str(source.folder): source for source in self._tree.sources()} if self._elsewhere else {}
        found: dict[TreeSource, list[_NewCopy]] = {}
        for copy in self._elsewhere:
            found.setdefault(sources["/".join(copy.item.folder.split("/")[:3])], []).append(copy)
        self._elsewhere.clear()
        for source, copies in found.items():
            with self._tree.memories.unit(source.folder, KEEPER) as unit:
                for copy in copies:
                    SourceFiles(unit, source).replace_unit(place_of(copy.item), copy.parts, time)
                unit.commit()

    def _is_own(self, item: EntryCandidate) -> bool:
        """Return whether the files of this source hold a unit."""
        return item.folder.startswith(f"{self._source.folder}/")

    def _store_messages(
        self,
        files: SourceFiles,
        batch: Mapping[str, SourceUnit],
        known: Mapping[str, EntryCandidate],
        time: str,
    ) -> None:
        threads: dict[ThreadPlace, list[Entry]] = {}
        texts: dict[str, str] = {}
        for ident, unit in batch.items():
            new = self._prepare(unit, texts)
            texts[ident] = new.text
            item = known.get(ident)
            if item is None:
                self.counts.note_added(unit, is_shown=is_admitted(new.signals | unit.signals))
                parts = self._make_entries(new, time, None)
                known_parts = {part.id for part in self._find_parts(parts)} if len(parts) > 1 else ()
                threads.setdefault(new.place, []).extend(part for part in parts if part.id not in known_parts)
            else:
                missing = self._renew(files, new, item, time)
                threads.setdefault(place_of(item), []).extend(missing)
        for place, entries in threads.items():
            if entries and not self._dry:
                files.append(place, dict(entries[0].extra).get("title", ""), entries)

    def _renew(self, files: SourceFiles, new: _NewUnit, item: EntryCandidate, time: str) -> Sequence[Entry]:
        """Replace a stored unit if this copy is newer. Else return those of its parts that are missing, because a
        process was killed before it wrote the file in which they are."""
        is_own = self._is_own(item)
        parts = self._make_entries(new._replace(place=place_of(item)), item.entry.time, None)
        stored = self._find_parts(parts, item.folder.rpartition("/")[0]) if len(parts) > 1 else [item.entry]
        if not _is_newer(new.unit, parts, stored, is_own=is_own):
            self.counts.known += 1
            known = {entry.id for entry in stored}
            is_same = item.entry.text == parts[0].text
            return [part for part in parts if part.id not in known] if is_own and is_same else ()
        self.counts.replaced += 1
        if is_own and not self._dry:
            files.replace_unit(place_of(item), parts, time)
        elif not self._dry:
            self._elsewhere.append(_NewCopy(item, parts))
        return ()

    def _find_parts(self, parts: Sequence[Entry], place: str = "") -> Sequence[Entry]:
        """Return those of the parts of a message that are stored, in this source or the one with this folder."""
        with self._tree.reading() as index:
            found = index.units([part.id for part in parts])
        return [item.entry for item in found if item.folder.startswith(f"{place or self._source.folder}/")]

    def _store_documents(
        self, files: SourceFiles, batch: Mapping[str, SourceUnit], known: Mapping[str, EntryCandidate], time: str
    ) -> None:
        documents: dict[ThreadPlace, list[_NewUnit]] = {}
        for unit in batch.values():
            new = self._prepare(unit, {})
            documents.setdefault(new.place, []).append(new)
        for place, sections in documents.items():
            entries: list[Entry] = []
            for seq, new in enumerate(sections, 1):
                item = known.get(make_unit_id(new.unit.native_id))
                parts = self._make_entries(new, time, seq)
                if item is None:
                    self.counts.note_added(new.unit, is_shown=is_admitted(new.signals | new.unit.signals))
                elif item.entry.text == parts[0].text:
                    self.counts.known += 1
                    parts = [entry._replace(time=item.entry.time) for entry in parts]
                else:
                    self.counts.replaced += 1
                entries += parts
            if not self._dry:
                title = sections[0].unit.thread.rpartition("/")[2] or sections[0].unit.title
                files.replace(place, title, entries, time)

    def _prepare(self, unit: SourceUnit, texts: Mapping[str, str]) -> _NewUnit:
        """Return a unit as it will be stored. `texts` are those of the batch so far."""
        place = self._threads.find(unit)
        earlier = self._find_earlier(unit, texts) if unit.parents and unit.kind == "email" else None
        clean = clean_text(unit.text, kind=unit.kind, title=unit.title, earlier=earlier)
        text, found = self._redact(clean.text)
        self.counts.redacted += sum(found.values())
        self.counts.cut_lines += clean.quoted + clean.signature + clean.footer
        return _NewUnit(unit, place, text, find_signals(unit, text, self._me))

    def _find_earlier(self, unit: SourceUnit, texts: Mapping[str, str]) -> EarlierLines:
        """Return the lines of the messages that a mail answers."""
        idents = list(map(make_unit_id, unit.parents))
        earlier = EarlierLines(texts[ident] for ident in idents if ident in texts)
        missing = [ident for ident in idents if ident not in texts]
        if missing:
            with self._tree.reading() as index:
                for item in index.units(missing):
                    earlier.add(item.entry.text)
        return earlier

    def _make_entries(self, new: _NewUnit, time: str, seq: int | None) -> list[Entry]:
        return make_entries(new.unit, new.text, now=time, thread=new.place.id, seq=seq, signals=new.signals)


def _choose_copies(batch: Sequence[SourceUnit]) -> Mapping[str, SourceUnit]:
    """Return the units of a batch by their ids. Of several copies of one a whole one counts, and then the first; of a
    chat the last, which may have been edited."""
    chosen: dict[str, SourceUnit] = {}
    for unit in batch:
        ident = make_unit_id(unit.native_id)
        known = chosen.get(ident)
        if known is None or (unit.is_whole, unit.kind == "chat") > (known.is_whole, False):
            chosen[ident] = unit
    return chosen


def _is_newer(unit: SourceUnit, parts: Sequence[Entry], stored: Sequence[Entry], *, is_own: bool) -> bool:
    """Return whether a unit replaces the one that is stored: it is whole where that was cut, or was edited.

    Which of two sources has the older text of a chat is not known, so only a source's own text is an edit.
    """
    was_whole = all(dict(entry.extra).get("cut") != "true" for entry in stored)
    if unit.is_whole != was_whole:
        return unit.is_whole
    texts = {part.id: part.text for part in parts}
    return is_own and unit.kind == "chat" and any(texts[entry.id] != entry.text for entry in stored)
