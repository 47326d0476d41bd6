"""The commit of a unit of work: its changes go into the files and the index, in one fixed order.

    rows into the index -> old texts, notes, pages: written and synced -> renamed into place -> folders synced
    -> index transaction ends

`UnitCommit.run` is that list, from top to bottom; `memories.store` calls it under the lock of the scope. All of it is
one transaction of the index: if a write fails, the index forgets what it was told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from commonplace.index.port import EntryInterval, Index, Row, Transaction
from commonplace.memories import page_files, pages
from commonplace.memories.history import HISTORY, TRASH, key_of_past, named, past_folder, recorded_of
from commonplace.memories.provenance import Provenance
from commonplace.memories.rows import is_in_memories, is_ours, looks_of, row_of, split_key
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry, Status
from commonplace.text.notes import Note
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import KEEPER, BookPath, note_path
from commonplace.vault.port import ABSENT, Change, Delete, Stat, Write

_ACTIVE = Status.ACTIVE.value


class StagedNote(NamedTuple):
    """A note that a unit will write. `place` is its folder and name, as the index has them."""

    place: tuple[str, str]
    note: Note
    write: Write
    revision: str
    added: Sequence[Entry] | None
    closed: str | None = None


class StagedChanges:
    """All that a unit will change, in the order in which it becomes visible."""

    def __init__(self) -> None:
        self.first: list[Change] = []  # old texts: saved before the notes that replace them
        self.notes: dict[str, StagedNote] = {}  # by key
        self.tombstones: list[Write] = []  # written when no page names the note any more, and before the note goes
        self.removed: dict[str, Delete] = {}  # by key
        self.others: list[Delete] = []  # files that no page names

    def __bool__(self) -> bool:
        return bool(self.first or self.notes or self.tombstones or self.removed or self.others)


class _PageLines:
    """The lines that change on the page of a folder, by sort name."""

    def __init__(self) -> None:
        self.put: set[str] = set()
        self.gone: set[str] = set()


class UnitCommit:
    """One run of the phases for one scope. `place` is its folder, as the index names it."""

    def __init__(
        self, files: VaultHandle, index: Index, provenance: Provenance, folder: BookPath, place: str, generation: int
    ) -> None:
        self._files, self._index, self._provenance = files, index, provenance
        self._folder, self._place, self._generation = folder, place, generation
        self._has_memories = is_in_memories(folder)
        self._is_outside = provenance.is_outside if self._has_memories else is_ours
        self._rows: dict[str, Row] = {}
        self._known: set[str] = set()  # the keys whose notes the index had as they were read
        self._size = ""

    def run(self, staged: StagedChanges, meanwhile: Callable[[], None]) -> str:
        """Make the changes durable and return the size of the scope, as parent pages show it.

        `meanwhile` runs after the index knows the changes and before they are visible. It is a callback, as the two
        phases beside the syncs are, because this work hides the wait for the disk, which is most of a store.
        """
        files = self._files
        with ExitStack() as transaction:
            index = transaction.enter_context(self._index.transaction(files.space))
            changed_lines = self._put_rows(index, staged)
            changes: list[Change] = [
                *staged.first,
                *[item.write for item in staged.notes.values()],
                *self._change_pages(index, changed_lines),
                *staged.tombstones,
                *staged.removed.values(),
                *staged.others,
            ]

            def while_files_sync() -> None:
                self._put_entries(index, staged)
                meanwhile()

            def while_folders_sync(stats: Sequence[Stat | None]) -> None:
                self._finish_index(index, staged, stats)
                # The files are visible, so the index may say so. If a power cut takes them back before the folder is
                # synced, their stats differ from those recorded here, and the index reads the files again.
                transaction.close()

            files.vault.apply_meanwhile(files.space, KEEPER, changes, while_files_sync, while_folders_sync)
        return self._size

    def _put_rows(self, index: Transaction, staged: StagedChanges) -> dict[tuple[str, ...], _PageLines]:
        """Put the rows of the notes into the index; return which page lines change, by the parts of the folder."""
        touched: dict[tuple[str, ...], _PageLines] = {}
        for key, item in staged.notes.items():
            old = index.get(*item.place)
            if has_revision(old, item.write.expected):
                self._known.add(key)
            row = row_of(item.write.path, item.note, item.revision, None, old, self._is_outside)
            index.put(row)
            self._rows[key] = row
            lines = touched.setdefault(item.write.path.parts[:-1], _PageLines())
            lines.put.add(row.sort)
            if old is not None and old.status == _ACTIVE != row.status:
                lines.gone.add(old.sort)
        for key, delete in staged.removed.items():
            place = split_key(self._place, key)
            old = index.get(*place)
            index.remove(*place)
            lines = touched.setdefault(delete.path.parts[:-1], _PageLines())
            if old is not None:
                lines.gone.add(old.sort)
        return touched

    def _change_pages(self, index: Transaction, touched: Mapping[tuple[str, ...], _PageLines]) -> list[Change]:
        """Return the page changes of the changed folders and of those above them, deepest folder first."""
        top = self._folder
        folders = {parts[:depth] for parts in touched for depth in range(len(top.parts), len(parts) + 1)}
        changes: list[Change] = []
        for parts in sorted(folders, key=lambda parts: (-len(parts), parts)):
            folder = top if parts == top.parts else BookPath(*parts)
            lines = touched.get(parts) or _PageLines()
            changes += pages.renew(self._files, index, folder, put=lines.put, gone=lines.gone).in_order()
        return changes

    def _put_entries(self, index: Transaction, staged: StagedChanges) -> None:
        """Put into the index what the notes now say, and no longer say."""
        rewritten: dict[str, Note | None] = {}
        for key, item in staged.notes.items():
            if item.added is None or key not in self._known:
                rewritten[key] = item.note
                continue
            added = [named(self._provenance.believed(entry) if self._has_memories else entry) for entry in item.added]
            intervals = [EntryInterval(entry, entry.time) for entry in added]
            index.add_entries(*item.place, intervals, close_at=item.closed)
        if rewritten or staged.removed or staged.others:
            self._recompute_entries(index, staged, rewritten)

    def _recompute_entries(
        self, index: Transaction, staged: StagedChanges, rewritten: Mapping[str, Note | None]
    ) -> None:
        """Work out again, from the files, all that these notes and those whose old texts go have ever said."""
        without = [delete.path for delete in staged.others]
        dropped = [path for path in without if path.is_within(HISTORY) or path.is_within(TRASH)]
        past = {key_of_past(self._folder, path) for path in dropped} - staged.notes.keys() - staged.removed.keys()
        notes = {**rewritten, **self._read_present(index, past), **dict.fromkeys(staged.removed)}
        read_entries = self._provenance.reader_of(self._folder)
        for key, note in notes.items():
            folders = [past_folder(place, self._folder, key) for place in (HISTORY, TRASH)]
            also = [write for write in staged.first if isinstance(write, Write) and write.path.parent in folders]
            said = recorded_of(self._files, self._folder, key, note, read_entries, without=without, also=also)
            index.set_entries(*split_key(self._place, key), said)

    def _read_present(self, index: Transaction, keys: Collection[str]) -> dict[str, Note | None]:
        """Return the notes of some keys (None: there is none). One that was changed outside is left out: the next look
        at the files saves what it said."""
        found: dict[str, Note | None] = {}
        for key in sorted(keys):
            try:
                document = self._files.read(note_path(self._folder, key))
                revision, note = document.revision, self._provenance.read(document.data)
            except NotFound:
                revision, note = ABSENT, None
            if has_revision(index.get(*split_key(self._place, key)), revision):
                found[key] = note
        return found

    def _finish_index(self, index: Transaction, staged: StagedChanges, stats: Sequence[Stat | None]) -> None:
        """Record what the files look like now, and how far the index is; a note without dates takes the file's."""
        written = stats[len(staged.first) :][: len(staged.notes)]
        for (key, item), stat in zip(staged.notes.items(), written, strict=True):
            if stat is None:
                continue
            if not self._rows[key].updated:
                row = index.get(*item.place)
                index.put(row_of(item.write.path, item.note, item.revision, stat, row, self._is_outside))
            index.record_stat(*item.place, looks_of(stat))
        index.set_generation(self._place, self._generation)
        total = pages.total(index, self._place)
        self._size = page_files.rounded(total, *page_files.nouns(self._folder))


def has_revision(row: Row | None, revision: str) -> bool:
    """Return whether the index has a note at this revision (ABSENT: has none). If not, it was changed outside."""
    return (ABSENT if row is None else row.revision) == revision
