"""The unit of work: how every write to the book happens.

    lock the scope -> see what others wrote -> read the note -> save what it replaces -> write note and page,
    synced -> index -> acknowledge

`MemoryStore.unit` gives a Unit under the lock; what is staged in it happens at `commit`, all of it, in an order that is
right at every point where the power may fail: an old text is saved before it is replaced, a note is there before a page
names it, and no page names a note when it is removed.

    pages worked out -> old texts, notes, pages: written and synced -> renamed into place -> rows into the index ->
    folders synced

`Unit._apply` is that list, from top to bottom. The index is locked twice, each time for a moment and never while a file
is synced, so a slow disk holds up no reader and no writer of another scope. The pages are worked out in a transaction
that is rolled back. The rows are put when the files can be seen; a reader may have read these files into the index by
then, and a writer that dies before that leaves an index that is behind, which the next look at the files mends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.values import EntryInterval, Row
from commonplace.memories import pages
from commonplace.memories.history import (
    HISTORY,
    TRASH,
    OldVersion,
    RecordedRevision,
    find_holders,
    find_owner,
    format_records,
    key_of_past,
    latest_id,
    list_versions,
    normalise_entry,
    past_folder,
    read_intervals,
    read_name,
    records_path,
)
from commonplace.memories.pages import PageChanges
from commonplace.memories.rows import (
    key_of,
    nouns_of,
    rounded,
    row_of,
    split_key,
    split_path,
)
from commonplace.model.errors import CommonplaceError, NoteInConflict, NotFound, TooLarge
from commonplace.model.memory import Entry, Status
from commonplace.model.names import check_key, revision_of
from commonplace.text.notes import Note
from commonplace.vault.paths import KEEPER, MAX_NOTE, MEMORIES, BookPath, View, note_path
from commonplace.vault.port import ABSENT, Change, Delete, Stat, Write, do_nothing
from commonplace.vault.scope_pages import SCOPE_PAGE

if TYPE_CHECKING:
    from commonplace.memories.store import MemoryStore


_DAMAGE_NOTICE = (
    "Its file was damaged on the disk: other bytes than were written, at the same size and time. What it said before,"
    " as far as that is known, is in its history. `commonplace doctor` says what to do."
)


def has_revision(row: Row | None, revision: str) -> bool:
    """Return whether the index has a note at this revision (ABSENT: has none). If not, it was changed outside."""
    return (ABSENT if row is None else row.revision) == revision


class StoredNote(NamedTuple):
    """A note as it was read under the lock."""

    path: BookPath
    revision: str
    data: bytes
    note: Note


class StagedNote(NamedTuple):
    """A note that a unit will write."""

    stored: StoredNote  # as it will be
    place: tuple[str, str]  # its folder and name, as the index has them
    expected: str  # the revision that it replaces, or ABSENT
    added: Sequence[Entry] | None  # as in `Unit.put`
    closed: str | None


class _RollBack(Exception):
    """Ends a transaction of the index whose changes are not to be kept."""


class _Plan(NamedTuple):
    """What the index and the pages will say when a unit is done."""

    rows: dict[str, Row]  # by key
    writes: list[Change]  # of notes, then of pages
    pages: Mapping[BookPath, PageChanges]
    size: int | None = None  # how many active memories the scope will have; None: as many as before


class Unit:
    """Changes to one scope that happen together. Made by MemoryStore.unit, under the scope's lock."""

    def __init__(
        self, memories: MemoryStore, view: View, folder: BookPath, generation: int, timeout: float | None = None
    ) -> None:
        self.memories, self.view, self.folder, self.generation = memories, view, folder, generation
        self.kind = folder.parts[1]  # of its scope, as links name it
        self.saved: set[str] = set()  # the keys whose text of before is saved to the history
        self._timeout = memories.lock_timeout if timeout is None else timeout
        self._paths: dict[str, BookPath] = {}
        self._found: dict[str, StoredNote | None] = {}  # by key, as what is staged: hashing a path is slow
        # What is staged, in the order in which it becomes visible.
        self._first: list[Change] = []  # old texts: saved before the notes that replace them
        self._notes: dict[str, StagedNote] = {}  # by key
        self._tombstones: list[Write] = []  # written when no page names the note any more, and before the note goes
        self._removed: dict[str, Delete] = {}  # by key
        self._others: list[Delete] = []  # files that no page names
        self._entries_of = memories.provenance.reader_of(folder)

    def path(self, key: str) -> BookPath:
        """Return the path of a key's note. Raises InvalidKey."""
        if key not in self._paths:
            self._paths[key] = note_path(self.folder, check_key(key))
        return self._paths[key]

    def find(self, key: str) -> StoredNote | None:
        """Return the note of a key: as staged in this unit, else as its file is now, whatever the index says. Raises
        InvalidKey."""
        if key in self._removed:
            return None
        staged = self._notes.get(key)
        if staged is not None:
            return staged.stored
        if key not in self._found:
            path, memories, found = self.path(key), self.memories, None
            with suppress(NotFound):
                document = memories.vault.read(memories.space, self.view, path)
                note = memories.provenance.read(document.data, document.stat.time)
                found = StoredNote(path, document.revision, document.data, note)
            memories.save_outside_change(self.folder, path, found.revision if found is not None else ABSENT)
            self._found[key] = found
        return self._found[key]

    def notice(self, key: str) -> str:
        """Return what whoever changes a memory should know of its file."""
        return _DAMAGE_NOTICE if self.path(key) in self.memories.damaged else ""

    def before(self, key: str) -> StoredNote | None:
        """Return a note that this unit has read, as it was then; None for one that it makes."""
        return self._found.get(key)

    def is_copy(self, found: StoredNote) -> bool:
        """Return whether the id of a note belongs to another note, from which this one was copied."""
        memories, ident = self.memories, found.note.meta.id
        with memories.index.reading(memories.space) as index:
            if all(place == split_path(found.path) for place in index.find_by_id(ident)):
                return False
            same = find_holders(memories.files, index, ident)
        return any(item.path == found.path for item in same) and find_owner(same) != found.path

    def get(self, key: str) -> StoredNote:
        """Return the note of a key. Raises NotFound where there is none."""
        found = self.find(key)
        if found is None:
            raise NotFound(f"There is no memory {key!a} in {self.folder}.")
        return found

    def put(self, key: str, note: Note, added: Sequence[Entry] | None = None, closed: str | None = None) -> str:
        """Stage a note in the place of what `find` returned for its key; return its new revision.

        `added` are the entries it has more than before, when that is all that changed; with `closed`, those it has
        instead of all it said until then. Without either, the index reads all of it and of its history again.
        """
        path = self.path(key)
        place, before, staged = split_path(path), self._found.get(key), self._notes.get(key)
        is_made_again = self._removed.pop(key, None) is not None  # then the file that is there is replaced
        if staged is not None and staged.added is not None and added is not None and closed is None:
            added, closed = (*staged.added, *added), staged.closed
        elif staged is not None or is_made_again:
            added, closed = None, None
        self.view.check_write(path)
        if note.in_conflict and before is not None:
            raise NoteInConflict(f"{key!a} is in conflict: a merge left two texts in its file. Nothing was written.")
        data = note.render()
        if len(data) > MAX_NOTE:
            message = f"{key!a} would have {len(data):,} bytes; a memory has at most {MAX_NOTE:,}."
            raise TooLarge(message, hint="Store it under another key, or put it into data/ and store where it is.")
        stored = StoredNote(path, revision_of(data), data, note)
        expected = before.revision if before is not None else ABSENT
        self._notes[key] = StagedNote(stored, place, expected, added, closed)
        return stored.revision

    def put_aside(self, change: Change) -> None:
        """Stage a file that must be there, or gone, before anything else in this unit happens."""
        self._first.append(change)

    def put_tombstone(self, write: Write) -> None:
        """Stage the tombstone of a removed note: written when no page names the note, and before the note goes."""
        self._tombstones.append(write)

    def has_aside(self, path: BookPath) -> bool:
        """Return whether `put_aside` has staged a change of this file."""
        return any(change.path == path for change in self._first)

    def list_versions(self, key: str) -> list[OldVersion]:
        """Return the old versions of a memory, oldest first, with those that this unit puts aside."""
        folders = [past_folder(place, self.folder, key) for place in (HISTORY, TRASH)]
        staged = [read_name(change.path) for change in self._first if change.path.parent in folders]
        known = list_versions(self.memories.files, self.folder, key)
        return sorted([*known, *(item for item in staged if item is not None)])

    def latest_id(self, key: str) -> str:
        """Return the greatest id in a memory and its old versions: the next entry or version gets a greater one."""
        found = self.find(key)
        return latest_id(self.list_versions(key), found.note if found is not None else None)

    def remove(self, found: StoredNote) -> None:
        """Stage the removal of a note."""
        self.view.check_write(found.path)
        key = key_of(self.folder, found.path)
        staged = self._notes.pop(key, None)
        expected = staged.expected if staged else found.revision
        if expected != ABSENT:  # else it was made in this unit, and no file has to go
            self._removed[key] = Delete(found.path, expected)

    def remove_other(self, path: BookPath) -> None:
        """Stage the removal of a file that no page names: a text in the history or the trash."""
        self._others.append(Delete(path))

    def look_again(self) -> None:
        """Read what was changed in this scope outside the book, before a change to all that is there."""
        self.memories.catch_up(self.folder, self.generation - 1, mend=True)
        self._found.clear()

    def commit(self) -> None:
        """Make all of it durable before returning; raise when that cannot be done."""
        if not (self._first or self._notes or self._tombstones or self._removed or self._others):
            return
        try:
            size = self._apply()
        except BaseException:
            self.memories.distrust_index(self.folder)
            raise
        if size is not None:
            self.memories.renew_parents(self.folder, rounded(size, nouns_of(self.folder)), self._timeout)

    def _apply(self) -> int | None:
        """Make the changes durable; return how many active memories the scope then has, None if that is as before.

        The index is updated in a callback while the folders are synced, which hides some of the wait for the disk.
        """
        memories = self.memories
        plan = self._plan()
        changes = [*self._first, *plan.writes, *self._tombstones, *self._removed.values(), *self._others]

        def record(stats: Sequence[Stat | None]) -> None:
            # If a power cut takes the files back before their folder is synced, their stats differ from those recorded
            # here, and the index reads the files again.
            written = stats[len(self._first) :]
            try:
                self._update_index(plan, written)
            except CommonplaceError as error:  # the files are there, and that is what counts
                memories.note_lag(self.folder, error)
            self._record_revisions(written)

        def tell(written: int, texts: int) -> None:  # of notes: whoever waits knows nothing of pages and old texts
            if memories.progress is not None and self._notes:
                memories.progress(written * len(self._notes) // texts, len(self._notes))

        memories.vault.apply(memories.space, KEEPER, changes, do_nothing, record, tell)
        return plan.size

    def _plan(self) -> _Plan:
        """Return what the index and the pages will say. The index itself is left as it was."""
        memories, plan = self.memories, _Plan({}, [], {})
        if not (self._notes or self._removed):
            return plan
        changed = defaultdict[BookPath, set[str]](set)  # the changed folders, and which lines their pages lose
        with suppress(_RollBack), memories.index.transaction(memories.space, self._timeout) as index:
            for key, (stored, place, expected, *_) in self._notes.items():
                plan.writes.append(Write(stored.path, stored.data, expected))
                old = index.get(*place)
                row = row_of(stored.path, stored.note, stored.revision, old, self._entries_of)
                plan.rows[key] = row
                index.put(row)
                gone = changed[stored.path.parent]
                if old is not None and old.status == Status.ACTIVE and (row.status, row.sort) != (old.status, old.sort):
                    gone.add(old.sort)
            for key, delete in self._removed.items():
                place = split_key(self.folder, key)
                old = index.get(*place)
                index.remove(*place)
                gone = changed[delete.path.parent]
                if old is not None:
                    gone.add(old.sort)
            page_changes = self._change_pages(index, changed)
            for page in page_changes.values():
                plan.writes.extend(page.changes)
            plan = plan._replace(pages=page_changes, size=index.count_active(self.folder))
            raise _RollBack
        return plan

    def _change_pages(
        self, index: Transaction, changed: defaultdict[BookPath, set[str]]
    ) -> dict[BookPath, PageChanges]:
        """Return the page changes of the changed folders and of those above them, deepest folder first."""
        folders = {self.folder}
        for above in changed:
            while above not in folders:
                folders.add(above)
                above = above.parent  # noqa: PLW2901 - up to the scope
        deepest_first = sorted(folders, key=lambda folder: (-len(folder.parts), folder))
        files = self.memories.files
        new_pages = (
            change.data for change in self._first if change.path.name == SCOPE_PAGE and isinstance(change, Write)
        )
        scope_page = next(new_pages, None)
        return {
            folder: pages.renew(files, index, folder, gone=changed[folder], scope_page=scope_page)
            for folder in deepest_first
        }

    def _update_index(self, plan: _Plan, stats: Sequence[Stat | None]) -> None:
        """Put into the index what the files now say. A reader may have put some of it there already."""
        rewritten: dict[str, Note | None] = dict.fromkeys(self._removed)
        with self.memories.index.transaction(self.memories.space, self._timeout) as index:
            for (key, item), stat in zip(self._notes.items(), stats, strict=False):
                stored, row = item.stored, plan.rows[key]
                note, added = stored.note, item.added
                if not note.blocks and stat is not None:  # without dates, the note and its text take the file's
                    note, added = note.replace(file_time=stat.time), None
                    row = row_of(stored.path, note, stored.revision, row, self._entries_of)
                signature = stat.signature if stat is not None else None
                had_key = item.expected == ABSENT and index.entries(*item.place)  # another memory, which is forgotten
                old = index.put(row, signature)
                if had_key or added is None or not has_revision(old, item.expected):
                    rewritten[key] = note
                else:
                    self._add_entries(index, item, added)
            for key in self._removed:
                index.remove(*split_key(self.folder, key))
            if rewritten or self._others:
                self._recompute_entries(index, rewritten)
            for folder, page in plan.pages.items():
                if page.filed is not None:
                    index.mark_filed(folder, filed=page.filed)
            # A reader that found another change meanwhile has left a mark: the next writer looks at all the files.
            if index.generation(self.folder) in (self.generation - 1, self.generation):
                index.set_generation(self.folder, self.generation)

    def _add_entries(self, index: Transaction, item: StagedNote, added: Sequence[Entry]) -> None:
        """Put into the index what a note says more than before, or instead."""
        entries = map(normalise_entry, added)
        if self.folder.top == MEMORIES.top:
            entries = map(self.memories.provenance.limit_trust, entries)
        intervals = [EntryInterval(entry, entry.time) for entry in entries]
        index.add_entries(*item.place, intervals, close_at=item.closed)

    def _recompute_entries(self, index: Transaction, rewritten: Mapping[str, Note | None]) -> None:
        """Work out again, from the files, all that these notes and those whose old texts went have ever said."""
        memories, folder = self.memories, self.folder
        notes = dict(rewritten)
        gone = [delete.path for delete in self._others]
        past = {key_of_past(folder, path) for path in gone if path.is_within(HISTORY) or path.is_within(TRASH)}
        for key in past - notes.keys() - self._notes.keys():
            try:
                document = memories.files.read(note_path(folder, key))
                revision, note = document.revision, memories.provenance.read(document.data, document.stat.time)
            except NotFound:
                revision, note = ABSENT, None
            # One that was changed outside is left out: the next look at the files saves what it said.
            if has_revision(index.get(*split_key(folder, key)), revision):
                notes[key] = note
        for key, note in notes.items():
            said = read_intervals(memories.files, folder, key, note, self._entries_of)
            index.set_entries(*split_key(folder, key), said)

    def _record_revisions(self, stats: Sequence[Stat | None]) -> None:
        """Record what the notes are now, for when the index is gone. A write does not fail because of that."""
        records = [
            (key, RecordedRevision(item.stored.revision, str(stat.size), str(stat.mtime_ns)))
            for (key, item), stat in zip(self._notes.items(), stats, strict=False)
            if stat is not None
        ]
        if records and self.folder.top == MEMORIES.top:
            lines = format_records(records)
            with suppress(CommonplaceError):
                self.memories.vault.append(self.memories.space, records_path(self.folder), lines)
