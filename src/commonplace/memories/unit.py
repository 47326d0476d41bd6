"""The unit of work: how every write to the book happens.

    lock the scope -> see what others wrote -> read the note -> save what it replaces -> write note and page,
    synced -> index -> acknowledge

`MemoryStore.unit` gives a Unit under the lock; what is staged in it happens at `commit`, all of it, in an order that is
right at every point where the power may fail: an old text is saved before it is replaced, a note is there before a page
names it, and no page names a note when it is removed. `memories.commit` has that order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.memories.commit import StagedChanges, StagedNote
from commonplace.memories.history import find_holders, find_owner
from commonplace.memories.rows import key_of, split_path
from commonplace.model.errors import NotFound
from commonplace.model.ids import revision_of
from commonplace.model.memory import Entry
from commonplace.model.names import check_key
from commonplace.text.notes import Note
from commonplace.vault.paths import BookPath, View, note_path
from commonplace.vault.port import ABSENT, Delete, Write
from commonplace.vault.sync_thread import do_nothing

if TYPE_CHECKING:
    from commonplace.memories.store import MemoryStore


class StoredNote(NamedTuple):
    """A note as it was read under the lock."""

    path: BookPath
    revision: str
    data: bytes
    note: Note


class Unit:
    """Changes to one scope that happen together. Made by MemoryStore.unit, under the scope's lock."""

    def __init__(
        self, keep: MemoryStore, view: View, folder: BookPath, generation: int, timeout: float | None = None
    ) -> None:
        self.keep, self.view, self.folder, self.generation = keep, view, folder, generation
        self.saved: set[str] = set()  # the keys whose text of before is saved to the history
        self._timeout = keep.lock_timeout if timeout is None else timeout
        self._found: dict[str, StoredNote | None] = {}  # by key, as `_staged` has them: hashing a path is slow
        self._staged = StagedChanges()

    def path(self, key: str) -> BookPath:
        """Return the path of a key's note. Raises InvalidKey."""
        return note_path(self.folder, check_key(key))

    def find(self, key: str) -> StoredNote | None:
        """Return the note of a key: as staged in this unit, else as its file is now, whatever the index says."""
        check_key(key)
        if key in self._staged.removed:
            return None
        staged = self._staged.notes.get(key)
        if staged is not None:
            return StoredNote(staged.write.path, staged.revision, staged.write.data, staged.note)
        if key not in self._found:
            self._found[key] = self._read(key)
        return self._found[key]

    def _read(self, key: str) -> StoredNote | None:
        """Return the note of a key from its file, None if there is none."""
        path, keep = self.path(key), self.keep
        try:
            document = keep.vault.read(keep.space, self.view, path)
            found = StoredNote(path, document.revision, document.data, keep.provenance.read(document.data))
        except NotFound:
            found = None
        keep.save_outside_change(self.folder, path, found.revision if found is not None else ABSENT)
        return found

    def before(self, key: str) -> StoredNote | None:
        """Return a note that this unit has read, as it was then; None for one that it makes."""
        return self._found.get(key)

    def is_copy(self, found: StoredNote) -> bool:
        """Return whether the id of a note belongs to another note, from which this one was copied."""
        keep, ident = self.keep, found.note.meta.id
        with keep.index.reading(keep.space) as index:
            if all(place == split_path(found.path) for place in index.find_by_id(ident)):
                return False
            same = find_holders(keep.files, index, ident)
        return any(item.path == found.path for item in same) and find_owner(same) != found.path

    def get(self, key: str) -> StoredNote:
        """Return the note of a key. Raises NotFound where there is none."""
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
        """Stage a note; return its new revision. `expected` is the revision that was read, or ABSENT.

        `added` are the entries it has more than before, when that is all that changed; with `closed`, those it has
        instead of all it said until then. Without either, the index reads all of it and of its history again.
        """
        key, place = key_of(self.folder, path), split_path(path)
        self.view.check_write(path)
        staged = self._staged.notes.get(key)
        if staged is not None:
            expected = staged.write.expected
            more = added is not None and staged.added is not None and closed is None
            added = (*(staged.added or ()), *(added or ())) if more else None
            closed = staged.closed if more else None
        elif key in self._staged.removed:  # removed and made again in one unit: the file that is there is replaced
            expected, added, closed = self._staged.removed.pop(key).expected, None, None
        data = note.render()
        revision = revision_of(data)
        write = Write(path, data, expected)
        self._staged.notes[key] = StagedNote(place, note, write, revision, added, closed)
        return revision

    def put_aside(self, write: Write) -> None:
        """Stage a file that must be there before anything else in this unit happens."""
        self._staged.first.append(write)

    def remove_first(self, path: BookPath) -> None:
        """Stage the removal of a file that must be gone before anything else in this unit happens."""
        self._staged.first.append(Delete(path))

    def put_tombstone(self, write: Write) -> None:
        """Stage the tombstone of a removed note: written when no page names the note, and before the note goes."""
        self._staged.tombstones.append(write)

    def has_aside(self, path: BookPath) -> bool:
        """Return whether `put_aside` or `remove_first` has staged a change of this file."""
        return any(change.path == path for change in self._staged.first)

    def remove(self, found: StoredNote) -> None:
        """Stage the removal of a note."""
        self.view.check_write(found.path)
        key = key_of(self.folder, found.path)
        staged = self._staged.notes.pop(key, None)
        expected = staged.write.expected if staged else found.revision
        if expected != ABSENT:  # else it was made in this unit, and no file has to go
            self._staged.removed[key] = Delete(found.path, expected)

    def remove_other(self, path: BookPath) -> None:
        """Stage the removal of a file that no page names: a text in the history or the trash."""
        self._staged.others.append(Delete(path))

    def look_again(self) -> None:
        """Read what was changed in this scope outside the book, before a change to all that is there."""
        self.keep.catch_up(self.folder, self.generation - 1, mend=True)
        self._found.clear()

    def commit(self, meanwhile: Callable[[], None] = do_nothing) -> None:
        """Make all of it durable before returning; raise when that cannot be done.

        `meanwhile` is other work that takes a while and reads the index, which knows of the changes by then.
        """
        if self._staged:
            self.keep.commit(self.folder, self.generation, self._staged, meanwhile, self._timeout)
        else:
            meanwhile()
