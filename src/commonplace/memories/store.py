"""The memory store: one vault and one index, kept in step. An open book has one.

Writers take a `unit` from it, readers call `freshen` first; `reconcile` and `rebuild` mend what a crash or another
program left behind. Old text is saved to the history before the index forgets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

from commonplace.index.port import Index, Transaction
from commonplace.memories import pages
from commonplace.memories.commit import StagedChanges, UnitCommit, has_revision
from commonplace.memories.history import DELETED, OUTSIDE, outside_change, recorded_of
from commonplace.memories.page_files import change_parents
from commonplace.memories.provenance import Provenance
from commonplace.memories.reconcile import LostText, ReadProgress, SyncResult, sync_note, sync_scope
from commonplace.memories.rows import is_in_memories, key_of, place_of, split_path
from commonplace.memories.unit import Unit
from commonplace.model import times
from commonplace.model.errors import CommonplaceError, LockTimeout, StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import INDEX_PAGE, MEMORIES, BookPath, View, resolve
from commonplace.vault.port import Change, Vault
from commonplace.vault.scope_pages import scope_folder_above

log = Log("commonplace.memories")
PARENT_LOCK = "parents"
UNMENDED = -1  # a generation that no lock ever has


class _UnsavedText(Exception):
    """A note lost text outside the book; it has to be saved before the index forgets it."""


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
        self.files = VaultHandle(vault, space)
        self.clock = clock
        self.lock_timeout = lock_timeout
        self.provenance = Provenance(vault, space)
        self.progress: ReadProgress | None = None
        self._checked: set[str] = set()  # the scopes whose files were looked at since this process began
        self._parent_sizes: dict[str, str] = {}

    @contextmanager
    def unit(self, folder: BookPath, view: View, timeout: float | None = None) -> Iterator[Unit]:
        """Give a unit on one scope's folder, under its lock, with the index knowing all that others wrote there.

        `timeout` is how long to wait for a lock, if not as long as usual. Raises OutsideView and LockTimeout.
        """
        timeout = self.lock_timeout if timeout is None else timeout
        name = _lock_name(folder)
        view.check_list(folder)
        with self.vault.lock(self.space, name, timeout) as held:
            self._catch_up_if_behind(folder, held.generation)
            yield Unit(self, view, folder, held.generation, timeout)

    def freshen(self, folder: BookPath) -> bool:
        """Bring the index up to what changed outside, for a reader; return whether the index knows all of it now.

        Pages are not mended. Text that was replaced or deleted outside is saved to the history first. Where that cannot
        be done now, because another process is writing or the disk is read-only, a reader neither waits nor fails: the
        index keeps the old text, and answers with it, until it is saved.
        """
        try:
            self._freshen(folder)
        except _UnsavedText:
            try:
                self.reconcile(folder, timeout=0)
            except CommonplaceError as error:
                if not isinstance(error, LockTimeout):
                    log.warning("event=old_text_not_saved code=%s", error.code)
                self._freshen(folder, leave_lost=True)
                return False
        return True

    def _freshen(self, folder: BookPath, *, leave_lost: bool = False) -> None:
        """Bring the index up to the files. Raises _UnsavedText unless `leave_lost`."""
        place = place_of(folder)
        with self.index.transaction(self.space) as index:
            synced = sync_scope(
                self.files, index, self.provenance, folder, self.progress, glance=True, leave_lost=leave_lost
            )
            if synced.lost and not leave_lost:
                raise _UnsavedText
            if synced.changed:
                index.set_generation(place, UNMENDED)  # the pages are behind: the next writer mends them
                self._checked.discard(place)
            else:
                self._checked.add(place)

    def reconcile(self, folder: BookPath, timeout: float | None = None) -> None:
        """Look at every file of a scope, and mend the index and the pages where they say something else."""
        timeout = self.lock_timeout if timeout is None else timeout
        with self.vault.lock(self.space, _lock_name(folder), timeout) as held:
            self.catch_up(folder, held.generation, mend=True)

    def rebuild(self, folders: Sequence[BookPath]) -> None:
        """Empty the index, read every file of these scopes again, and mend their pages.

        What only the index knows is saved to the history first. Raises, and changes nothing, where that cannot be done.
        """
        with ExitStack() as locks:
            held = {
                folder: locks.enter_context(
                    self.vault.lock(self.space, _lock_name(folder), self.lock_timeout)
                ).generation
                for folder in sorted({*folders, *self._known_scopes()})
            }
            self._checked.clear()
            self._save_all_lost(held)
            with self.index.begin_anew(self.space):
                for folder, generation in held.items():
                    self.catch_up(folder, generation, mend=True)

    def _known_scopes(self) -> set[BookPath]:
        """Return the scopes that the index has memories of, whether or not their folders are still there."""
        try:
            with self.index.reading(self.space) as index:
                return {scope_folder_above(resolve(place)) for place in index.folders(place_of(MEMORIES))}
        except StorageError:
            return set()  # a damaged index is moved aside, not erased

    def _save_all_lost(self, held: Mapping[BookPath, int]) -> None:
        """Save what only the index knows, before it is built anew. A damaged index is moved aside, not erased."""
        epoch = self.index.epoch
        try:
            for folder, generation in held.items():
                if is_in_memories(folder):
                    self.catch_up(folder, generation, mend=False, thorough=True)
        except StorageError:
            if self.index.epoch == epoch:
                raise

    def page_faults(self, folder: BookPath) -> list[str]:
        """Return what the pages of a scope say wrongly, compared with its files as they are now."""
        self.freshen(folder)
        with self.index.reading(self.space) as index:
            places = [resolve(place) for place in index.folders(place_of(folder))]
            return [fault for place in places for fault in pages.faults(self.files, index, place)]

    def commit(
        self,
        folder: BookPath,
        generation: int,
        staged: StagedChanges,
        meanwhile: Callable[[], None],
        timeout: float,
    ) -> None:
        """Make the changes of a unit durable, then the parent pages. The caller holds the lock of the scope."""
        place = place_of(folder)
        try:
            run = UnitCommit(self.files, self.index, self.provenance, folder, place, generation)
            size = run.run(staged, meanwhile)
        except BaseException:
            self._distrust_index(place)
            self.provenance.forget_pending()
            raise
        if self._parent_sizes.get(place) != size:
            self._renew_parents(folder, place, size, timeout)

    def _distrust_index(self, place: str) -> None:
        """Make the next unit look at the files of a scope: a commit may have ended half-way."""
        self._checked.discard(place)
        with suppress(CommonplaceError), self.index.transaction(self.space) as index:
            index.set_generation(place, UNMENDED)

    def _renew_parents(self, folder: BookPath, place: str, size: str, timeout: float) -> None:
        """Put the size of a scope on its parent pages. They may lag: a durable store does not fail because of them."""
        try:
            with self.vault.lock(self.space, PARENT_LOCK, timeout):
                changes = change_parents(self.files, folder, size)
                if changes:
                    self.files.apply(changes)
            self._parent_sizes[place] = size
        except CommonplaceError as error:
            log.warning("event=parent_page_lags code=%s", error.code)

    def _catch_up_if_behind(self, folder: BookPath, generation: int) -> None:
        """Look at the files of a scope before a unit begins, unless the index knows all that was written."""
        place = place_of(folder)
        with self.index.reading(self.space) as index:
            known = index.generation(place)
        # Another generation: a writer died, files were changed outside, or the index is new. Then everything is looked
        # at and mended. What happened before this process began is looked at once, too.
        if known != generation - 1 or place not in self._checked:
            self.catch_up(folder, generation - 1, mend=known != generation - 1)
        self._checked.add(place)

    def save_outside_change(self, folder: BookPath, path: BookPath, revision: str) -> None:
        """Save what the index knows of a note, if its file is not at the revision that the index knows.

        A writer reads the file it changes, whatever the index says: what the index said before would be forgotten.
        """
        if not is_in_memories(path):
            return
        place = split_path(path)
        with self.index.reading(self.space) as index:
            row = index.get(*place)
        if has_revision(row, revision):
            return
        with self.index.transaction(self.space) as index:
            synced = sync_note(self.files, index, self.provenance, folder, path)
            self._apply_synced(index, folder, synced, mend=False)

    def catch_up(self, folder: BookPath, generation: int, *, mend: bool, thorough: bool = False) -> None:
        """Bring the index up to the files of a scope; with `mend`, also repair what a killed writer left.

        The caller holds the lock of the scope. `thorough` compares the bytes of every note, too.
        """
        with self.index.transaction(self.space) as index:
            synced = sync_scope(self.files, index, self.provenance, folder, self.progress, thorough=thorough)
            index.set_generation(place_of(folder), generation)
            self._apply_synced(index, folder, synced, mend=mend)

    def _apply_synced(self, index: Transaction, folder: BookPath, synced: SyncResult, *, mend: bool) -> None:
        """Write what a look at the files calls for: lost texts into the history, and pages."""
        gone = synced.gone
        changes: list[Change] = self._save_lost(index, folder, synced.lost)
        for place in sorted(gone):
            if mend:
                self.vault.sweep(self.space, place)
                self.vault.sweep(self.space, place / pages.SUB_PAGES)
                page = self.files.read_text(place / INDEX_PAGE)
                if page is None and not index.folders(place_of(place)):
                    continue  # there has never been a memory here or below
            elif not gone[place]:
                continue
            changes += pages.renew(self.files, index, place, gone=gone[place], everything=mend).in_order()
        if changes:
            self.files.apply(changes)

    def _save_lost(self, index: Transaction, folder: BookPath, lost: Sequence[LostText]) -> list[Change]:
        """Return the writes that save to the history what notes said before they were replaced or deleted outside."""
        writes: list[Change] = []
        for item in lost:
            key = key_of(folder, item.path)
            action = OUTSIDE if item.note is not None else DELETED
            write = outside_change(folder, key, item.row, item.entries, action, self.clock())
            read_entries = self.provenance.reader_of(folder)
            said = recorded_of(self.files, folder, key, item.note, read_entries, also=[write])
            index.set_entries(*split_path(item.path), said)
            writes.append(write)
        return writes


def _lock_name(folder: BookPath) -> str:
    """Return the name of the lock of a scope, or of a journal: its path, without the part that all scopes share."""
    return ".".join(folder.parts[len(MEMORIES.parts) :] if is_in_memories(folder) else folder.parts)
