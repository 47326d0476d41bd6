"""The unit of work: how every write to the book happens.

    lock the scope -> see what others wrote -> read the note -> put aside what it replaces -> write note and page,
    synced -> index -> acknowledge

`Keep.unit` gives a Unit under the lock; what is staged in it happens at `commit`, all of it, in an order that is right
at every point where the power may fail: a text is put aside before it is replaced, a note is there before a page names
it, and a page no longer names a note before it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from commonplace.index.port import EntryInterval, Index, Transaction
from commonplace.memories import page_files, pages
from commonplace.memories.history import (
    DELETED,
    HISTORY,
    OUTSIDE,
    TRASH,
    key_of_past,
    named,
    outside_change,
    past_folder,
    recorded_of,
)
from commonplace.memories.page_files import parent_changes
from commonplace.memories.provenance import Provenance
from commonplace.memories.reconcile import LostText, ReadProgress, SyncResult, sync_note, sync_scope
from commonplace.memories.rows import IsOutside, is_ours, key_of, looks_of, row_of, split_path
from commonplace.model import times
from commonplace.model.errors import CommonplaceError, LockTimeout, NotFound, StorageError
from commonplace.model.ids import revision_of
from commonplace.model.lazy import Log
from commonplace.model.memory import Entry, Status
from commonplace.model.names import check_key
from commonplace.model.scope import LOCAL, Space
from commonplace.text.notes import Note
from commonplace.vault.paths import INDEX_PAGE, KEEPER, MEMORIES, BookPath, View, note_path, resolve
from commonplace.vault.port import ABSENT, Change, Delete, Stat, Vault, Write
from commonplace.vault.scope_pages import scope_folder_above
from commonplace.vault.sync_thread import do_nothing

log = Log("commonplace.memories")
PARENT_LOCK = "parents"
UNMENDED = -1  # a generation that no lock ever has
_ACTIVE = Status.ACTIVE.value


class _TextLost(Exception):
    """Somebody took text out of a note outside; it has to be kept before the index forgets it."""


class StoredNote(NamedTuple):
    """A note as it was read under the lock."""

    path: BookPath
    revision: str
    data: bytes
    note: Note


class StagedNote(NamedTuple):
    """A note on its way."""

    note: Note
    write: Write
    revision: str
    added: Sequence[Entry] | None
    closed: str | None = None


class Unit:
    """Changes to one scope that happen together. Made by Keep.unit, under the scope's lock."""

    def __init__(
        self, keep: MemoryStore, view: View, folder: BookPath, generation: int, timeout: float | None = None
    ) -> None:
        self.keep, self.view, self.folder, self.generation = keep, view, folder, generation
        self._timeout = keep.lock_timeout if timeout is None else timeout
        self.kept: set[BookPath] = set()  # the notes whose text of before is put aside
        self._found: dict[BookPath, StoredNote | None] = {}
        self._aside: list[Change] = []
        self._stones: list[Write] = []
        self._notes: dict[BookPath, StagedNote] = {}
        self._removed: dict[BookPath, Delete] = {}
        self._others: list[Delete] = []

    def path(self, key: str) -> BookPath:
        return note_path(self.folder, check_key(key))

    def find(self, key: str) -> StoredNote | None:
        """The note of a key: as staged in this unit, else as the file is now, whatever the index says."""
        path = self.path(key)
        if path in self._removed:
            return None
        if path in self._notes:
            staged = self._notes[path]
            return StoredNote(path, staged.revision, staged.write.data, staged.note)
        if path not in self._found:
            try:
                document = self.keep.vault.read(self.keep.space, self.view, path)
                found = StoredNote(path, document.revision, document.data, self.keep.provenance.read(document.data))
            except NotFound:
                found = None
            self._found[path] = found
            self.keep.see_outside_change(self.folder, path, found.revision if found is not None else ABSENT)
        return self._found[path]

    def before(self, path: BookPath) -> StoredNote | None:
        """A note that this unit has read, as it was then; None for one that it makes."""
        return self._found.get(path)

    def is_copy(self, found: StoredNote) -> bool:
        """Whether the id of a note is another's: then somebody copied it."""
        keep, ident = self.keep, found.note.meta.id
        with keep.index.reading(keep.space) as index:
            if all(place == split_path(found.path) for place in index.by_id(ident)):
                return False
            from commonplace.memories.history import holders, owner  # noqa: PLC0415 - hardly ever

            same = holders(keep.vault, keep.space, index, ident)
        return any(item.path == found.path for item in same) and owner(same) != found.path

    def get(self, key: str) -> StoredNote:
        found = self.find(key)
        if found is None:
            raise NotFound(f"There is no memory {key!a} in {self.folder}.")
        return found

    def put(
        self,
        path: BookPath,
        note: Note,
        expected: str,
        added: Sequence[Entry] | None = None,
        closed: str | None = None,
    ) -> str:
        """Stage a note; answers its new revision. `expected` is the revision that was read, or ABSENT.

        `added` are the entries it has more than before, when that is all that changed; with `closed`, those it has
        instead of all it said until then. Without either, all of it and of its past is looked at.
        """
        self.view.check_write(path)
        staged = self._notes.get(path)
        if staged is not None:
            expected = staged.write.expected
            more = added is not None and staged.added is not None and closed is None
            added = (*(staged.added or ()), *(added or ())) if more else None
            closed = staged.closed if more else None
        elif path in self._removed:  # gone and made again in one unit: the file that is there is replaced
            expected, added, closed = self._removed.pop(path).expected, None, None
        data = note.render()
        self._notes[path] = StagedNote(note, Write(path, data, expected), revision_of(data), added, closed)
        return self._notes[path].revision

    def put_aside(self, write: Write) -> None:
        """Stage a file that must be there before anything else in this unit happens."""
        self._aside.append(write)

    def remove_first(self, path: BookPath) -> None:
        """Stage the removal of something that must be gone before anything else in this unit happens."""
        self._aside.append(Delete(path))

    def put_stone(self, write: Write) -> None:
        """Stage the tombstone of a note that is removed: laid once no page names it, and before it goes."""
        self._stones.append(write)

    def has_aside(self, path: BookPath) -> bool:
        return any(write.path == path for write in self._aside)

    def remove(self, found: StoredNote) -> None:
        self.view.check_write(found.path)
        staged = self._notes.pop(found.path, None)
        expected = staged.write.expected if staged else found.revision
        if expected != ABSENT:  # else it was made in this unit, and there is nothing to take away
            self._removed[found.path] = Delete(found.path, expected)

    def remove_other(self, path: BookPath) -> None:
        """Stage the removal of something that no page names: what was put aside."""
        self._others.append(Delete(path))

    def look_again(self) -> None:
        """See what was done in this scope past the book: for a change to all that is there, whatever it is."""
        self.keep._catch_up(self.folder, self.generation - 1, mend=True)
        self._found.clear()

    def commit(self, meanwhile: Callable[[], None] = do_nothing) -> None:
        """Make it durable. Returns when all of it is; raises when it cannot be.

        `meanwhile` is something else to do that takes a while and reads the index, which knows of the changes by then.
        """
        if self._aside or self._notes or self._stones or self._removed or self._others:
            changed = (self._aside, self._notes, self._stones, self._removed, self._others)
            self.keep.commit(self.folder, self.generation, *changed, meanwhile, self._timeout)
        else:
            meanwhile()


class MemoryStore:
    """A vault and an index, kept in step. One per open book."""

    def __init__(
        self,
        vault: Vault,
        index: Index,
        *,
        space: Space = LOCAL,
        lock_timeout: float = 10.0,
        clock: Callable[[], str] = times.now,
    ) -> None:
        self.vault = vault
        self.index = index
        self.space = space
        self.clock = clock
        self.lock_timeout = lock_timeout
        self.provenance = Provenance(vault, space)
        self.progress: ReadProgress | None = None
        self._seen: set[BookPath] = set()  # the scopes whose files were looked at since this process began
        self._parent_sizes: dict[BookPath, str] = {}

    @contextmanager
    def unit(self, folder: BookPath, view: View, timeout: float | None = None) -> Iterator[Unit]:
        """A unit on one scope's folder, under its lock, with the index knowing all that others wrote there. `timeout`:
        how long to wait for a lock, if not as long as usual."""
        view.check_list(folder)
        timeout = self.lock_timeout if timeout is None else timeout
        with self.vault.lock(self.space, _lock_name(folder), timeout) as held:
            self._look_around(folder, held.generation)
            yield Unit(self, view, folder, held.generation, timeout)

    def freshen(self, folder: BookPath) -> bool:
        """See what changed outside since the index last looked, without mending anything: for whoever only reads.

        Text that was replaced or deleted outside is saved to the history first. Where that cannot be done now, because
        another process is writing or nothing can be written, a reader neither waits nor fails: the index keeps the old
        text, and answers with it, until it is saved. Answers whether the index knows all now.
        """
        try:
            self._freshen(folder)
        except _TextLost:
            try:
                self.reconcile(folder, timeout=0)
            except CommonplaceError as error:
                if not isinstance(error, LockTimeout):
                    log.warning("event=old_text_not_saved code=%s", error.code)
                self._freshen(folder, leave_lost=True)
                return False
        return True

    def _freshen(self, folder: BookPath, *, leave_lost: bool = False) -> None:
        with self.index.transaction(self.space) as index:
            synced = sync_scope(
                self.vault, self.space, index, self.provenance, folder, self.progress, glance=True,
                leave_lost=leave_lost,
            )  # fmt: skip
            if synced.lost and not leave_lost:
                raise _TextLost
            if synced.changed:
                index.set_generation(str(folder), UNMENDED)  # the pages are behind: the next writer sees to it
                self._seen.discard(folder)
            else:
                self._seen.add(folder)

    def reconcile(self, folder: BookPath, timeout: float | None = None) -> None:
        """Look at every file of a scope, and mend the index and the pages where they say something else."""
        timeout = self.lock_timeout if timeout is None else timeout
        with self.vault.lock(self.space, _lock_name(folder), timeout) as held:
            self._catch_up(folder, held.generation, mend=True)

    def rebuild(self, folders: Sequence[BookPath]) -> None:
        """Forget all that the index knows, read every file of these scopes again, and mend their pages.

        What only the index knows is saved to the history first. Raises, and changes nothing, where that cannot be done.
        """
        with ExitStack() as locks:
            held = {
                folder: locks.enter_context(
                    self.vault.lock(self.space, _lock_name(folder), self.lock_timeout)
                ).generation
                for folder in sorted({*folders, *self._known_scopes()})
            }
            self._seen.clear()
            self._save_all_lost(held)
            with self.index.begin_anew(self.space):
                for folder, generation in held.items():
                    self._catch_up(folder, generation, mend=True)

    def _known_scopes(self) -> set[BookPath]:
        """Return the scopes that the index has memories of, whether or not their folders are still there."""
        try:
            with self.index.reading(self.space) as index:
                return {scope_folder_above(resolve(place)) for place in index.folders(str(MEMORIES))}
        except StorageError:
            return set()  # a damaged index is moved aside, not erased

    def _save_all_lost(self, held: Mapping[BookPath, int]) -> None:
        """Save what only the index knows, before it is built anew. A damaged index is moved aside, not erased."""
        epoch = self.index.epoch
        try:
            for folder, generation in held.items():
                if folder.is_within(MEMORIES):
                    self._catch_up(folder, generation, mend=False, thorough=True)
        except StorageError:
            if self.index.epoch == epoch:
                raise

    def page_faults(self, folder: BookPath) -> list[str]:
        """What the pages of a scope say wrongly, against its files as they are now."""
        self.freshen(folder)
        with self.index.reading(self.space) as index:
            places = [resolve(place) for place in index.folders(str(folder))]
            return [fault for place in places for fault in pages.faults(self.vault, self.space, index, place)]

    def commit(
        self,
        scope_folder: BookPath,
        generation: int,
        aside: Sequence[Change],
        notes: Mapping[BookPath, StagedNote],
        stones: Sequence[Write],
        removed: Mapping[BookPath, Delete],
        others: Sequence[Delete],
        meanwhile: Callable[[], None],
        timeout: float,
    ) -> None:
        size = ""
        try:
            with ExitStack() as changing:
                index = changing.enter_context(self.index.transaction(self.space))
                known = {path for path, staged in notes.items() if _knew(index, path, staged.write.expected)}
                is_outside = self.provenance.is_outside if scope_folder.is_within(MEMORIES) else is_ours
                touched = _index_notes(index, notes, removed, is_outside)
                written = [note.write for note in notes.values()]
                paged = self._pages(index, scope_folder, touched)
                todo = [*aside, *written, *paged, *stones, *removed.values(), *others]

                def staged() -> None:
                    self._index_entries(index, scope_folder, aside, notes, removed, others, known)
                    meanwhile()

                def visible(stats: Sequence[Stat | None]) -> None:
                    """The index says what can be seen, so it may say so now. A power cut before all of it is synced
                    may take it back, and the index then looks at the files again: they look otherwise."""
                    for change, stat in zip(todo, stats, strict=True):
                        if stat is not None and change.path in notes:
                            _saw(index, change.path, notes[change.path], stat, is_outside)
                    index.set_generation(str(scope_folder), generation)
                    nonlocal size
                    size = page_files.rounded(pages.total(index, scope_folder), *page_files.nouns(scope_folder))
                    changing.close()

                self.vault.apply_meanwhile(self.space, KEEPER, todo, staged, visible)
        except BaseException:
            self._forget_seen(scope_folder)
            self.provenance.was_not_made()
            raise
        self._renew_parents(scope_folder, size, timeout)

    def _forget_seen(self, scope_folder: BookPath) -> None:
        """Whatever was half done, the next unit looks at the files."""
        self._seen.discard(scope_folder)
        with suppress(CommonplaceError), self.index.transaction(self.space) as index:
            index.set_generation(str(scope_folder), UNMENDED)

    def _pages(
        self, index: Transaction, scope_folder: BookPath, touched: Mapping[BookPath, TouchedPages]
    ) -> Iterator[Change]:
        """The page changes of the changed folders and of those above them."""
        places = set(touched)
        for place in touched:
            while place != scope_folder:
                place = place.parent  # noqa: PLW2901 - walking up
                places.add(place)
        for place in sorted(places, key=lambda place: (-len(place.parts), place)):
            lines = touched.get(place, TouchedPages())
            changes = pages.renew(self.vault, self.space, index, place, put=lines.put, gone=lines.gone)
            yield from (*changes.sub_pages, *changes.page, *changes.deletes)

    def _index_entries(
        self,
        index: Transaction,
        scope_folder: BookPath,
        aside: Sequence[Change],
        notes: Mapping[BookPath, StagedNote],
        removed: Mapping[BookPath, Delete],
        others: Sequence[Delete],
        known: Set[BookPath],
    ) -> None:
        """What the staged notes now say, and no longer say. `known`: the index had these as they were before."""
        entries_of, memories = self.provenance.reader_of(scope_folder), scope_folder.is_within(MEMORIES)
        appended = {path for path, staged in notes.items() if staged.added is not None and path in known}
        for path, staged in notes.items():
            if staged.added is not None and path in appended:
                if staged.closed is not None:
                    index.close_entries(*split_path(path), staged.closed)
                added = map(self.provenance.believed, staged.added) if memories else staged.added
                index.add_entries(*split_path(path), [EntryInterval(entry, entry.time) for entry in map(named, added)])
        if len(appended) == len(notes) and not removed and not others:
            return
        changed = {path: staged.note for path, staged in notes.items() if path not in appended}
        dropped = [delete.path for delete in others if delete.path.is_within(HISTORY) or delete.path.is_within(TRASH)]
        past = {note_path(scope_folder, key_of_past(scope_folder, path)) for path in dropped}
        present = self._present_notes(index, past - notes.keys() - removed.keys())
        for path, note in [*changed.items(), *present.items(), *((path, None) for path in removed)]:
            key = key_of(scope_folder, path)
            folders = [past_folder(place, scope_folder, key) for place in (HISTORY, TRASH)]
            also = [write for write in aside if isinstance(write, Write) and write.path.parent in folders]
            without = [delete.path for delete in others]
            said = recorded_of(self.vault, self.space, scope_folder, key, note, entries_of, without=without, also=also)
            index.set_entries(*split_path(path), said)

    def _present_notes(self, index: Transaction, paths: Set[BookPath]) -> dict[BookPath, Note | None]:
        """Return the notes at some paths as they are (None: there is none). One that was changed outside is left out:
        whoever looks at the files next saves what it said."""
        found: dict[BookPath, Note | None] = {}
        for path in paths:
            try:
                document = self.vault.read(self.space, KEEPER, path)
                revision, note = document.revision, self.provenance.read(document.data)
            except NotFound:
                revision, note = ABSENT, None
            if _knew(index, path, revision):
                found[path] = note
        return found

    def _look_around(self, folder: BookPath, generation: int) -> None:
        """Before a unit begins: nothing to do if the index knows all that was written; else look at the files."""
        with self.index.reading(self.space) as index:
            known = index.generation(str(folder))
        # If it does not, somebody died on the way, or changed files outside, or the index is new: then everything is
        # looked at and mended. What happened before this process began is looked at once, too.
        if known != generation - 1 or folder not in self._seen:
            self._catch_up(folder, generation - 1, mend=known != generation - 1)
        self._seen.add(folder)

    def see_outside_change(self, folder: BookPath, path: BookPath, revision: str) -> None:
        """Save what the index knows of a note, if the file is not at the revision that the index knows.

        A writer reads the file it changes, whatever the index says: what the index said before would be forgotten.
        """
        with self.index.reading(self.space) as index:
            if not path.is_within(MEMORIES) or _knew(index, path, revision):
                return
        with self.index.transaction(self.space) as index:
            synced = sync_note(self.vault, self.space, index, self.provenance, folder, path)
            self._apply_synced(index, folder, synced, mend=False)

    def _catch_up(self, folder: BookPath, generation: int, *, mend: bool, thorough: bool = False) -> None:
        """See what others did in a scope; if asked to, also mend what a killed writer left."""
        with self.index.transaction(self.space) as index:
            synced = sync_scope(
                self.vault, self.space, index, self.provenance, folder, self.progress, thorough=thorough
            )
            index.set_generation(str(folder), generation)
            self._apply_synced(index, folder, synced, mend=mend)

    def _apply_synced(self, index: Transaction, folder: BookPath, synced: SyncResult, *, mend: bool) -> None:
        """Write what a look at the files calls for: lost texts into the history, and pages."""
        gone = synced.gone
        todo: list[Change] = self._save_lost(index, folder, synced.lost)
        for place in sorted(gone):
            if mend:
                self.vault.sweep(self.space, place)
                self.vault.sweep(self.space, place / pages.SUB_PAGES)
                page = page_files.read_page(self.vault, self.space, place / INDEX_PAGE)
                if page is None and not index.folders(str(place)):
                    continue  # nothing has ever been kept here or below
            elif not gone[place]:
                continue
            changes = pages.renew(self.vault, self.space, index, place, gone=gone[place], everything=mend)
            todo += [*changes.sub_pages, *changes.page, *changes.deletes]
        if todo:
            self.vault.apply(self.space, KEEPER, todo)

    def _save_lost(self, index: Transaction, folder: BookPath, lost: Sequence[LostText]) -> list[Change]:
        """Return the writes that save to the history what notes said before they were replaced or deleted outside."""
        writes: list[Change] = []
        for item in lost:
            key = key_of(folder, item.path)
            action = OUTSIDE if item.note is not None else DELETED
            write = outside_change(folder, key, item.row, item.entries, action, self.clock())
            said = recorded_of(
                self.vault, self.space, folder, key, item.note, self.provenance.reader_of(folder), also=[write]
            )
            index.set_entries(*split_path(item.path), said)
            writes.append(write)
        return writes

    def _renew_parents(self, scope_folder: BookPath, size: str, timeout: float) -> None:
        """Parent pages may lag: a store that is durable is not failed for them."""
        if self._parent_sizes.get(scope_folder) == size:
            return
        try:
            with self.vault.lock(self.space, PARENT_LOCK, timeout):
                changes = parent_changes(self.vault, self.space, scope_folder, size)
                if changes:
                    self.vault.apply(self.space, KEEPER, changes)
            self._parent_sizes[scope_folder] = size
        except CommonplaceError as error:
            log.warning("event=parent_page_lags code=%s", error.code)


def _lock_name(folder: BookPath) -> str:
    """The lock of a scope, or of a journal: its path, without the part that all scopes share."""
    return ".".join(folder.parts[len(MEMORIES.parts) :] if folder.is_within(MEMORIES) else folder.parts)


def _knew(index: Transaction, path: BookPath, expected: str) -> bool:
    """Whether the index has a note as it was read: if not, somebody changed it outside, and all of it is looked at."""
    old = index.get(*split_path(path))
    return (old.revision if old is not None else ABSENT) == expected


class TouchedPages:
    """What changed in a folder, by sort name: lines that are put, lines that must go."""

    def __init__(self) -> None:
        self.put: set[str] = set()
        self.gone: set[str] = set()


def _saw(index: Transaction, path: BookPath, staged: StagedNote, stat: Stat, is_outside: IsOutside) -> None:
    """What a note looks like now that it is there; one without dates has the file's."""
    row = index.get(*split_path(path))
    if row is not None and not row.updated:
        index.put(row_of(path, staged.note, staged.revision, stat, row, is_outside))
    index.saw(*split_path(path), looks_of(stat))


def _index_notes(
    index: Transaction, notes: Mapping[BookPath, StagedNote], removed: Mapping[BookPath, Delete], is_outside: IsOutside
) -> dict[BookPath, TouchedPages]:
    """Put the staged notes into the index; answer the folders that changed, and how."""
    touched: dict[BookPath, TouchedPages] = {}
    for path, staged in notes.items():
        place, name = split_path(path)
        old = index.get(place, name)
        row = row_of(path, staged.note, staged.revision, None, old, is_outside)
        index.put(row)
        lines = touched.setdefault(path.parent, TouchedPages())
        lines.put.add(row.sort)
        if old is not None and old.status == _ACTIVE != row.status:
            lines.gone.add(old.sort)
    for path in removed:
        place, name = split_path(path)
        old = index.get(place, name)
        index.remove(place, name)
        lines = touched.setdefault(path.parent, TouchedPages())
        if old is not None:
            lines.gone.add(old.sort)
    return touched
