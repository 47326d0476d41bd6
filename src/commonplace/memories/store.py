"""The memory store: one vault and one index, kept in step. An open book has one.

Writers take a `unit` from it, readers call `freshen` first; `reconcile` and `rebuild` mend what a crash or another
program left behind. Old text is saved to the history before the index forgets it.

`Watch` sees what others change while a process lives long: an MCP server, a web server. While questions come in, its
thread looks at the files every 0.7 seconds, so that an edit is seen within a second. After a minute without a question
it rests, so that an idle server costs nothing; the next question then looks first itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress

from commonplace.index.port import Index, Transaction
from commonplace.memories import pages
from commonplace.memories.history import (
    HISTORY,
    TRASH,
    latest_id,
    list_versions,
    past_folder,
    put_aside,
    walk_folders,
)
from commonplace.memories.layout import PARENT_LOCK
from commonplace.memories.provenance import Provenance
from commonplace.memories.reconcile import UNMENDED, LostText, ReadProgress, ScopeSync, sync_scope
from commonplace.memories.rows import change_parents, key_of, split_path
from commonplace.memories.unit import Unit
from commonplace.model import times
from commonplace.model.errors import CommonplaceError, LockTimeout, StorageError, TooManyFiles
from commonplace.model.lazy import Log
from commonplace.model.memory import Entry
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.paths import INDEX_PAGE, MEMORIES, BookPath, View, resolve
from commonplace.vault.port import ABSENT, UNUSABLE, Change, HeldLock, Vault, VaultHandle, Write
from commonplace.vault.scope_pages import scope_folder_above

log = Log("commonplace.memories")
_PARENT_WAIT = 0.5  # seconds: a hundred times as long as a disk takes that is not stuck
_WRITING_PAGES = -2  # like UNMENDED, while the pages of a scope are being written
EVERY = 0.7  # seconds between two looks of a Watch
REST = 60.0  # seconds without a question until it rests


class _UnsavedText(Exception):
    """Notes lost text outside the book; it has to be saved before the index forgets it."""

    def __init__(self, lost: Sequence[LostText]) -> None:
        super().__init__()
        self.lost = lost


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
        floor: Callable[[], str] = str,
    ) -> None:
        self.vault = vault
        self.index = index
        self.space = space
        self.files = VaultHandle(vault, space)
        self.system_clock = clock
        self.clock = times.never_before(clock, floor)  # the time that is written: see state/port.py
        self.lock_timeout = lock_timeout
        self.provenance = Provenance(vault, space)
        self.progress: ReadProgress | None = None
        self.is_closed = False
        self.unusable: dict[BookPath, list[BookPath]] = {}  # by scope: notes and folders that could not be read
        self.damaged: set[BookPath] = set()  # notes that were found damaged since this process began
        self._checked: set[str] = set()  # the scopes whose files were looked at since this process began
        self._parent_sizes: dict[BookPath, str] = {}
        self._unseen: dict[BookPath, StorageError] = {}  # scopes that could not be looked at, and why

    @contextmanager
    def unit(self, folder: BookPath, view: View, timeout: float | None = None) -> Iterator[Unit]:
        """Give a unit on one scope's folder, under its lock, with the index knowing all that others wrote there.

        `timeout` is how long to wait for a lock, if not as long as usual. Raises OutsideView and LockTimeout.
        """
        timeout = self.lock_timeout if timeout is None else timeout
        lock = self._lock(folder, timeout)
        view.check_list(folder)
        with lock as held:
            self.index.attach(timeout)
            before = held.generation - 1
            with self.index.reading(self.space) as index:
                is_behind = index.generation(folder) != before
            # Another generation: a writer died, files were changed outside, or the index is new. Then everything is
            # looked at and mended. What happened before this process began is looked at once, too.
            if is_behind or folder not in self._checked:
                self.catch_up(folder, before, mend=is_behind, timeout=timeout)
            self._checked.add(folder)
            yield Unit(self, view, folder, held.generation, timeout)

    def _lock(self, folder: BookPath, timeout: float | None = None) -> AbstractContextManager[HeldLock]:
        """Return the lock of a scope, or of a journal. Its name is the path, without the part that all scopes share."""
        name = ".".join(folder.parts[1:] if folder.top == MEMORIES.top else folder.parts)
        return self.vault.lock(self.space, name, self.lock_timeout if timeout is None else timeout)

    def freshen(self, folder: BookPath, *, with_pages: bool = True) -> bool:
        """Bring the index up to what changed outside, for a reader; return whether the index knows all of it now.

        `with_pages` renews pages, too. Text that was replaced or deleted outside is saved to the history first. Where
        that cannot be done now, because another process is writing or the disk is read-only, a reader neither waits nor
        fails: the index keeps the old text, and answers with it, until it is saved. Where the index or the files cannot
        be read or written, `problem` says why.
        """
        epoch = self.index.epoch
        try:
            try:
                is_fresh = self._look(folder, with_pages=with_pages)
            except StorageError:
                if self.index.epoch == epoch:
                    raise
                is_fresh = self._look(folder, with_pages=with_pages)  # the index was damaged, and begins anew
        except StorageError as error:
            if self.index.problem is None:
                if isinstance(error, TooManyFiles):
                    raise  # there are more handles once the index is in memory
                self._unseen[folder] = error
            return False
        self._unseen.pop(folder, None)
        return is_fresh and self.index.problem is None

    @property
    def problem(self) -> StorageError | None:
        """Why answers were made without the stored index, or may lack changes; None almost always."""
        return self.index.problem or next(iter(self._unseen.values()), None)

    @property
    def is_stale(self) -> bool:
        """Whether answers may lack what changed since the index was last brought up to date."""
        return self.index.is_stale or bool(self._unseen)

    def _look(self, folder: BookPath, *, with_pages: bool) -> bool:
        """Bring the index up to the files, lost texts included; return whether that was possible for those, too."""
        try:
            changed = self._freshen(folder)
            if with_pages:
                self._renew_pages(folder, changed)
        except _UnsavedText:
            try:
                self.reconcile(folder, timeout=0)
            except CommonplaceError as error:
                if not isinstance(error, LockTimeout):
                    log.warning("event=old_text_not_saved code=%s", error.code)
                self._freshen(folder, leave_lost=True)
                return False
        return True

    def _renew_pages(self, folder: BookPath, changed: Mapping[BookPath, Set[str]]) -> None:
        """Put what was changed outside on the pages of its folders, if that can be done at once. The next writer looks
        at all pages in any case. Each sub-page is read: the index may be new, and not know what they say."""
        if not changed:
            return
        with suppress(CommonplaceError), self._lock(folder, 0):
            changes = list[Change]()
            with self.index.transaction(self.space) as index:
                for place, gone in sorted(changed.items(), reverse=True):
                    if index.folders(place) or self.files.stat(place / INDEX_PAGE) is not None:
                        changes += pages.renew(self.files, index, place, gone=gone, everything=True).changes
            self.files.apply(changes)

    def _freshen(self, folder: BookPath, *, leave_lost: bool = False) -> Mapping[BookPath, Set[str]]:
        """Bring the index up to the files; return the folders whose pages are behind, and which lines must go there.
        Raises _UnsavedText unless `leave_lost`.

        A copy of the index in memory may forget what was lost: the stored index still has it.
        """

        def look(index: Transaction) -> ScopeSync:
            is_copy = self.index.problem is not None
            synced = sync_scope(self, index, folder, use_prestat=True, leave_lost=leave_lost and not is_copy)
            self.unusable[folder] = synced.unusable
            if synced.lost and not (leave_lost or is_copy):
                raise _UnsavedText(synced.lost)
            if synced.changed:
                index.set_generation(folder, UNMENDED)  # the pages are behind: the next writer mends them
                self._checked.discard(folder)
            elif not is_copy:
                self._checked.add(folder)
            return synced

        synced = self.index.refresh(self.space, look)
        if self.index.problem is not None:
            return {}  # a copy of the index is not what pages are made from
        return {place: synced.gone[place] for place in synced.list_changed_folders()}

    def reconcile(self, folder: BookPath, timeout: float | None = None, *, sweep: bool = False) -> None:
        """Look at every file of a scope, and mend the index and the pages where they say something else.

        `sweep` also removes what killed writers left in its history and trash.
        """
        with self._lock(folder, timeout) as held:
            self.catch_up(folder, held.generation, mend=True, timeout=timeout)
            if sweep:
                self._sweep(folder)

    def _sweep(self, folder: BookPath) -> None:
        """Remove the temporary files that killed writers left in a scope, its history and its trash."""
        for place in (folder, past_folder(HISTORY, folder, ""), past_folder(TRASH, folder, "")):
            for inner in walk_folders(self.files.list_folder, place):
                self.vault.sweep(self.space, inner)

    def rebuild(self, folders: Sequence[BookPath]) -> None:
        """Empty the index, read every file of these scopes again, and mend their pages.

        What only the index knows is saved to the history first. Raises, and changes nothing, where that cannot be done.
        """
        with ExitStack() as locks:
            held = {
                folder: locks.enter_context(self._lock(folder)).generation
                for folder in sorted({*folders, *self._known_scopes()})
            }
            self._checked.clear()
            self._save_all_lost(held)
            with self.index.begin_anew(self.space) as index:
                for folder in held:
                    sync_scope(self, index, folder)
            for folder, generation in held.items():
                self.catch_up(folder, generation, mend=True)

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
                if folder.top == MEMORIES.top:
                    self.catch_up(folder, generation, mend=False, thorough=True)
        except StorageError:
            if self.index.epoch == epoch:
                raise

    def distrust_index(self, folder: BookPath) -> None:
        """Make the next unit look at the files of a scope: a commit may have ended half-way."""
        self._checked.discard(folder)
        with suppress(CommonplaceError), self.index.transaction(self.space) as index:
            index.set_generation(folder, UNMENDED)
        self.provenance.forget_pending()

    def note_lag(self, folder: BookPath, error: CommonplaceError) -> None:
        """Note that the index lacks what a writer has just made durable: readers have to look at the files again."""
        log.warning("event=index_behind code=%s", error.code)
        self._checked.discard(folder)
        self.index.epoch += 1

    def renew_parents(self, folder: BookPath, size: str, timeout: float) -> None:
        """Put the size of a scope on its parent pages. They may lag: a durable store does not fail because of them, nor
        wait for long while a writer of another scope syncs them."""
        if self._parent_sizes.get(folder) == size:
            return
        try:
            with self.vault.lock(self.space, PARENT_LOCK, min(timeout, _PARENT_WAIT)):
                changes = change_parents(self.files, folder, size)
                if changes:
                    self.files.apply(changes)
            self._parent_sizes[folder] = size
        except CommonplaceError as error:
            log.warning("event=parent_page_lags code=%s", error.code)

    def save_outside_change(self, folder: BookPath, path: BookPath, revision: str) -> None:
        """Save what the index knows of a note, if its file is not at the revision that the index knows.

        A writer reads the file it changes, whatever the index says: what the index said before would be forgotten.
        """
        if path.top != MEMORIES.top:
            return
        place = split_path(path)
        with self.index.reading(self.space) as index:
            row = index.get(*place)
        if (ABSENT if row is None else row.revision) == revision:
            return

        def look(index: Transaction) -> ScopeSync:
            synced = ScopeSync(self, index, folder)
            synced.see_note(path)
            synced.find_lost()
            return synced

        self._bring_up(folder, look)

    def catch_up(
        self, folder: BookPath, generation: int, *, mend: bool, thorough: bool = False, timeout: float | None = None
    ) -> None:
        """Bring the index up to the files of a scope; with `mend`, also repair what a killed writer left.

        The caller holds the lock of the scope. `thorough` compares the bytes of every note, too. `timeout` is how long
        to wait for another process that writes to the index, if not as long as usual.
        """
        self._bring_up(
            folder,
            lambda index: sync_scope(self, index, folder, thorough=thorough),
            generation,
            mend=mend,
            timeout=timeout,
        )

    def _bring_up(
        self,
        folder: BookPath,
        look: Callable[[Transaction], ScopeSync],
        generation: int | None = None,
        *,
        mend: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Bring the index up to what `look` finds, and then the pages. The index knows all of a scope afterwards as of
        this generation; None leaves that as it is. It is not locked while files are written."""
        saved: list[tuple[BookPath, list[Entry]]] = []
        while True:
            try:
                with self.index.transaction(self.space, timeout) as index:
                    synced = look(index)
                    unsaved = [lost for lost in synced.lost if (lost.path, lost.entries) not in saved]
                    if unsaved:
                        raise _UnsavedText(unsaved)  # which rolls back: the index still knows them
                    changes = self._change_pages(index, synced, mend=mend)
                    known = index.generation(folder) if generation is None else generation
                    known = UNMENDED if known is None else known
                    index.set_generation(folder, _WRITING_PAGES if changes else known)
                break
            except _UnsavedText as error:
                self.files.apply([self._save_lost(folder, lost) for lost in error.lost])
                saved += [(lost.path, lost.entries) for lost in error.lost]
        if changes:
            self.files.apply(changes)
            with self.index.transaction(self.space, timeout) as index:
                # Unless a reader has found another change since, which the next writer has to look at.
                if index.generation(folder) == _WRITING_PAGES:
                    index.set_generation(folder, known)

    def _change_pages(self, index: Transaction, synced: ScopeSync, *, mend: bool) -> list[Change]:
        """Return the page changes that a look at the files calls for."""
        changes: list[Change] = []
        for place, gone in sorted(synced.gone.items()):
            with suppress(*UNUSABLE):  # one folder or page that cannot be read stops no other; `doctor` names it
                if mend:
                    self.vault.sweep(self.space, place)
                    self.vault.sweep(self.space, place / pages.SUB_PAGES)
                    page = self.files.read_text(place / INDEX_PAGE)
                    if page is None and not index.folders(place):
                        continue  # there has never been a memory here or below
                if mend or gone:
                    changes += pages.renew(self.files, index, place, gone=gone, everything=mend).changes
        return changes

    def _save_lost(self, folder: BookPath, lost: LostText) -> Write:
        """Return the write that saves to the history what a note said before it was replaced or deleted outside."""
        key = key_of(folder, lost.path)
        if lost.is_damaged:
            self.damaged.add(lost.path)
        after = latest_id(list_versions(self.files, folder, key), lost.note)
        text, place = lost.old_text(key), past_folder(HISTORY, folder, key)
        return put_aside(place, text, self.clock(), lost.action, None, after=after)


class Watch:
    """A thread that calls `look` while questions come in, and rests when none has come for a while."""

    def __init__(
        self,
        look: Callable[[], None],
        *,
        every: float = EVERY,
        rest: float = REST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._every, self._rest, self._clock = every, rest, clock
        self._asked = clock()
        self._awake, self._closed = threading.Event(), threading.Event()
        self._awake.set()
        self._thread = threading.Thread(target=self._run, name="commonplace-watch", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Report a question; return when the changes up to a moment ago are known."""
        self._asked = self._clock()
        if not self._awake.is_set():
            self._awake.set()
            self._look_once()

    def close(self) -> None:
        """Stop the thread and wait until it has ended."""
        self._closed.set()
        self._awake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._every):
            if self._clock() - self._asked <= self._rest:
                self._look_once()
                continue
            self._awake.clear()
            if not self._closed.is_set():  # else `close` may have set the other event before it was cleared
                self._awake.wait()

    def _look_once(self) -> None:
        with suppress(CommonplaceError):  # the next question meets it, and says so
            self._look()
