"""Reading what changed outside: the files of a scope, compared with their rows in the index.

A text that the index knows and no file has any more is named in `ScopeSync.lost`. MemoryStore saves it to the history
before the index forgets it (`leave_lost`: the index keeps it, because it cannot be saved now).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.values import EntryInterval, Row, StatSignature
from commonplace.memories.history import (
    DAMAGED,
    DELETED,
    FORGOTTEN,
    OUTSIDE,
    RecordedRevision,
    compute_intervals,
    find_damage,
    list_versions,
    normalise_entry,
    past_keys,
    purged_ids,
    read_intervals,
    read_records,
)
from commonplace.memories.rows import key_of, row_of, split_path
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, TooManyFiles, Unreadable
from commonplace.model.memory import Entry, MemoryType, Meta, Status
from commonplace.model.names import find_name_fault, is_key_name
from commonplace.model.times import is_timestamp
from commonplace.text.notes import Note, new_note, parse
from commonplace.vault.paths import KEEPER, MAX_LEVELS, MEMORIES, BookPath, note_path, resolve
from commonplace.vault.port import Document, FileKind, FolderPrestat, Stat, Survey, VaultHandle, name_in
from commonplace.vault.scope_pages import list_scope_folders

if TYPE_CHECKING:
    from commonplace.memories.store import MemoryStore

UNMENDED = -1  # a generation that no lock ever has: the next writer looks at all the files
_NO_RECORD = RecordedRevision("", "", "")
_MOST_ALIKE = 20  # notes without an id that are compared with one that is gone
_Statement = tuple[str, str]
"""The id and the text of an entry."""
ReadProgress = Callable[[int, int], None]
"""Called with the number of notes read, and of those known to be read so far."""


class LostText(NamedTuple):
    """A note whose text was replaced, damaged or deleted outside: how the index knew it, and the note now (None:
    deleted). Of a damaged one that the index did not know, `found` has the bytes as they are."""

    path: BookPath
    row: Row
    recorded: Sequence[EntryInterval]
    note: Note | None
    is_damaged: bool = False
    found: bytes | None = None

    @property
    def action(self) -> str:
        """Why the text goes to the history."""
        return DAMAGED if self.is_damaged else OUTSIDE if self.note is not None else DELETED

    @property
    def entries(self) -> list[Entry]:
        """Return what the note said until now."""
        return [item.entry for item in self.recorded if item.end is None]

    def old_text(self, key: str) -> bytes:
        """Return the note as it was before, as well as the index knows it."""
        return self._old_note(key).render() if self.found is None else self.found

    def _old_note(self, key: str) -> Note:
        row = self.row
        by_hand = [entry for entry in self.entries if entry.id.startswith("hand-")]
        created = by_hand[0].time if by_hand and is_timestamp(by_hand[0].time) else row.created
        meta = Meta(
            row.id, key, MemoryType(row.type), Status(row.status), row.summary, row.tags, row.pinned, created,
            row.updated,
        )  # fmt: skip
        note = new_note(meta, [entry for entry in self.entries if entry not in by_hand])
        return note.replace(lead=note.lead + "".join(f"{entry.text}\n\n" for entry in by_hand))


class ReadNote(NamedTuple):
    """A note as its file is now, and its row and entries as the index should have them."""

    row: Row
    note: Note
    stat: Stat
    said: Sequence[EntryInterval]
    data: bytes


class FolderState(NamedTuple):
    """One folder: what the notes in it look like now, and what the index noted of those it knows. Both are empty where
    nothing has changed."""

    folder: BookPath
    notes: Mapping[str, StatSignature]
    noted: Mapping[str, StatSignature | None]

    def changed(self) -> list[str]:
        """Return the names of the notes that are new or changed."""
        return [name for name, signature in self.notes.items() if self.noted.get(name) != signature]


def sync_scope(
    memories: MemoryStore,
    index: Transaction,
    scope_folder: BookPath,
    *,
    use_prestat: bool = False,
    leave_lost: bool = False,
    thorough: bool = False,
) -> ScopeSync:
    """Bring the index up to the files; return what was found.

    `use_prestat`: use what was read of the folders while this process was loading, if it says that nothing has changed.
    `leave_lost`: where a note has lost text, the index keeps the old text until it can be saved. `thorough`: compare
    the bytes of every note, too, and not only size and times of its file.
    """
    look = ScopeSync(memories, index, scope_folder, memories.progress)
    known = {resolve(place) for place in index.folders(scope_folder)}
    for here in walk_scope(memories.files, index, scope_folder, look.unreadable, use_prestat):
        known.discard(here.folder)
        look.see_folder(here)
        if thorough:
            look.compare_bytes(here.folder)
    for folder in known:
        look.see_folder(FolderState(folder, {}, index.stat_signatures(folder)))
    if thorough:
        look.note_unusable()
    look.see_forgotten()
    look.see_purged()
    look.find_lost(leave_lost=leave_lost)
    return look


class ScopeSync:
    """One look at the files of a scope: what was found, and what the index is told of it."""

    def __init__(
        self, memories: MemoryStore, index: Transaction, scope_folder: BookPath, progress: ReadProgress | None = None
    ) -> None:
        self.gone = defaultdict[BookPath, set[str]](set)  # per folder, the sort names of memories that are gone
        self.changed = 0  # how many notes differed
        self._changed_folders: set[BookPath] = set()
        self.unreadable: list[BookPath] = []  # folders
        self.unreadable_notes: list[BookPath] = []
        self.lost: list[LostText] = []
        self._memories, self._index = memories, index
        self._files, self._provenance = memories.files, memories.provenance
        self._scope_folder, self._progress, self._total = scope_folder, progress, 0
        self._entries_of = memories.provenance.reader_of(scope_folder)
        self.unreadable_past: list[BookPath] = []
        self._aside = past_keys(memories.files, scope_folder, unreadable=self.unreadable_past)
        self._purged = purged_ids(memories.files)
        self._unseen: list[tuple[BookPath, Note]] | None = None
        self._records: dict[str, RecordedRevision] | None = None
        self._changed: list[LostText] = []  # notes that no longer say all they said: find_lost judges them

    def list_changed_folders(self) -> set[BookPath]:
        """Return the folders in which a note differed, and those above them in the scope, which show how many."""
        depth = len(self._scope_folder.parts)
        return {
            BookPath(*folder.parts[:level])
            for folder in self._changed_folders
            for level in range(depth, len(folder.parts) + 1)
        }

    @property
    def unusable(self) -> list[BookPath]:
        """The notes and folders that could not be read: what is in them is unknown, or as the index knew it."""
        return [*self.unreadable, *self.unreadable_notes]

    def note_unusable(self) -> None:
        """Note what the index knows of notes that cannot be read now, because it is about to be built anew."""
        for place in {place for folder in self.unreadable for place in self._index.folders(folder)}:
            for name, row in self._index.rows(place).items():
                self._note_change(resolve(place) / f"{name}.md", row, parse(b""), set())
        for path in self.unreadable_notes:
            self._note_change(path, self._index.get(*split_path(path)), parse(b""), set())

    def see_note(self, path: BookPath) -> None:
        """See one note, which may be gone."""
        there = self._files.stat(path)
        if there is not None and there.kind is FileKind.FILE:
            folder, name = split_path(path)
            self._see_note(path, self._index.stat_signatures(folder).get(name))
        else:
            self._drop_note(path)

    def compare_bytes(self, folder: BookPath) -> None:
        """See the notes of a folder that look as they did and have other bytes: bit rot, or a restored time."""
        for name, row in self._index.rows(folder).items():
            document = self._read(folder / f"{name}.md")
            if document is not None and document.revision != row.revision:
                self.see_note(folder / f"{name}.md")

    def see_folder(self, here: FolderState) -> None:
        """See the notes of a folder that are new, changed or gone."""
        self.gone.setdefault(here.folder, set())
        changed = sorted(here.changed())
        self._total += len(changed)
        for name in changed:
            self._see_note(here.folder / f"{name}.md")
        for name in here.noted.keys() - here.notes.keys():
            self._drop_note(here.folder / f"{name}.md")

    def see_forgotten(self) -> None:
        """Put into the index what it lacks of forgotten memories, and take out those that were purged."""
        index, aside = self._index, self._aside
        known = index.forgotten(self._scope_folder)
        kept = {split_path(note_path(self._scope_folder, key)): key for key in aside}
        for place, key in kept.items():
            if known.get(place) != aside[key] and index.get(*place) is None:
                index.set_entries(*place, self._said(key, None))
        if not self.unreadable_past:
            for place in known.keys() - kept.keys():  # purged, or swept
                index.set_entries(*place, ())

    def see_purged(self) -> None:
        """Read unchanged notes again whose tombstones came by sync: they were purged on another machine."""
        for ident in sorted(self._purged):
            for place, name in self._index.find_by_id(ident):
                folder, row = resolve(place), self._index.get(place, name)
                if row is not None and row.status != Status.QUARANTINED and folder.is_within(self._scope_folder):
                    self._total += 1
                    self._see_note(folder / f"{name}.md")

    def read_note(self, path: BookPath) -> ReadNote | None:
        """Return what the index should have of a note; None where there is none, or where it cannot be read, which adds
        it to `unreadable_notes`."""
        try:
            document = self._files.read(path)
        except (NotFound, LinkRefused):
            return None
        except TooManyFiles:
            raise  # no fault of the file's: no page may be written in such a state
        except CommonplaceError:
            self.unreadable_notes.append(path)
            return None
        note = self._provenance.read(document.data, document.stat.time, self._purged)
        row = row_of(path, note, document.revision, entries_of=self._entries_of)
        return ReadNote(row, note, document.stat, self._said(key_of(self._scope_folder, path), note), document.data)

    def read_forgotten(self) -> Iterator[tuple[tuple[str, str], Sequence[EntryInterval]]]:
        """Yield each place that has old versions and no row in the index, with what it said."""
        for key in self._aside:
            place = split_path(note_path(self._scope_folder, key))
            if self._index.get(*place) is None:
                yield place, self._said(key, None)

    def _see_note(self, path: BookPath, signature: StatSignature | None = None) -> None:
        """Read a note that is new or changed. One that cannot be read is tried again the next time. `signature` is what
        the index recorded of the file, where that may be what it still looks like."""
        index, place = self._index, split_path(path)
        found, old = self.read_note(path), index.get(*place)
        if found is None:
            if old is not None and old.revision and path in self.unreadable_notes:
                index.put(old._replace(revision=""))  # what the index knows of it may be all there is
            return
        row, note, stat, said, data = found
        self.changed += 1
        self._changed_folders.add(path.parent)
        if self._progress is not None:
            self._progress(self.changed, self._total)
        key = key_of(self._scope_folder, path)
        if old is not None and old.revision != row.revision and signature == stat.signature:
            self._note_damage(key, LostText(path, old, index.entries(*place), note, is_damaged=True))
        elif self._record_of(key).is_damaged(row.revision, stat):
            self._note_damage(key, LostText(path, row, said, note, is_damaged=True, found=data))
        else:
            self._note_change(path, old, note, _statements(item.entry for item in said))
        index.put(row)
        index.record_stat(*place, stat.signature)
        index.set_entries(*place, said)
        if old is not None and (old.status, old.sort) != (row.status, row.sort):
            self.gone[path.parent].add(old.sort)

    def _record_of(self, key: str) -> RecordedRevision:
        """Return what was recorded of a note's file outside the index."""
        if self._records is None:
            is_memory = self._scope_folder.top == MEMORIES.top
            self._records = read_records(self._files, self._scope_folder) if is_memory else {}
        return self._records.get(key, _NO_RECORD)

    def _note_damage(self, key: str, damage: LostText) -> None:
        """Note a file that the disk has damaged, once: it is named until all of the memory is written anew."""
        if damage.path.top == MEMORIES.top and find_damage(self._files, self._scope_folder, key) is None:
            self._changed.append(damage)

    def _drop_note(self, path: BookPath) -> None:
        """Take a note out that is no longer there."""
        index, place = self._index, split_path(path)
        old = index.get(*place)
        self.changed += 1
        self._changed_folders.add(path.parent)
        key = key_of(self._scope_folder, path)
        self._note_change(path, old, None, self._last_removed(key))
        index.remove(*place)
        index.set_entries(*place, self._said(key, None))
        if old is not None:
            self.gone[path.parent].add(old.sort)

    def _note_change(self, path: BookPath, old: Row | None, note: Note | None, kept: set[_Statement]) -> None:
        """Note what the index knows of a file, if neither the file nor what was put aside (`kept`) says all of it."""
        if old is None or path.top != MEMORIES.top:
            return
        change = LostText(path, old, self._index.entries(old.folder, old.name), note)
        if not _statements(change.entries) <= kept:
            self._changed.append(change)

    def find_lost(self, *, leave_lost: bool = False) -> None:
        """Collect the texts that were lost and not only moved. Runs last, when all other notes have been read."""
        for lost in self._changed:
            if lost.row.id in self._purged or (not lost.is_damaged and self._is_elsewhere(lost)):
                continue
            self.lost.append(lost)
            if leave_lost:
                self._index.put(lost.row)  # which forgets what the file looks like: it is looked at again
                self._index.set_entries(lost.row.folder, lost.row.name, lost.recorded)

    def _last_removed(self, key: str) -> set[_Statement]:
        """Return what the last text of a key says, if it was put aside because the memory was removed."""
        if key not in self._aside:
            return set()
        versions = list_versions(self._files, self._scope_folder, key)
        if not versions or versions[-1].action not in (FORGOTTEN, DELETED):
            return set()
        note = self._read_note(versions[-1].path)
        return _statements(note.entries) if note is not None else set()

    def _is_elsewhere(self, lost: LostText) -> bool:
        """Return whether another file has all that a note said: it was moved there, perhaps unknown to the index."""
        index, ident = self._index, lost.row.id
        if lost.note is not None and lost.note.meta.id == ident:
            return False  # it is still this memory, with another text
        if ident:
            places = index.find_by_id(ident)
        else:
            alike = index.find_same_words(lost.entries[0].text, [str(MEMORIES)], _MOST_ALIKE)
            places = [(item.folder, item.name) for item in alike]
        paths = [path for place, name in places if (path := resolve(place) / f"{name}.md") != lost.path]
        known = [self._read_note(path) for path in paths if path.top == MEMORIES.top]
        if any(note is not None and _has_all(note, lost) for note in known):
            return True
        there = next((scope for scope, note in self._notes_unseen() if _has_all(note, lost)), None)
        if there is not None:  # seen at once: until the index has the text from there, that file alone would have it
            sync_scope(self._memories, index, there, leave_lost=True)
            index.set_generation(there, UNMENDED)
        return there is not None

    def _notes_unseen(self) -> Sequence[tuple[BookPath, Note]]:
        """Return the notes of other scopes that are new or changed for the index, each with its scope."""
        if self._unseen is None:
            self._unseen = []
            for scope in list_scope_folders(self._files):
                if scope == self._scope_folder:
                    continue
                for here in walk_scope(self._files, self._index, scope, [], use_prestat=False):
                    notes = [self._read_note(here.folder / f"{name}.md") for name in here.changed()]
                    self._unseen += [(scope, note) for note in notes if note is not None]
        return self._unseen

    def _read_note(self, path: BookPath) -> Note | None:
        """Return a note or an old version; None for one that cannot be read."""
        document = self._read(path)
        return parse(document.data) if document is not None else None

    def _read(self, path: BookPath) -> Document | None:
        """Return a file; None for one that cannot be read."""
        try:
            return self._files.read(path)
        except TooManyFiles:
            raise  # no fault of the file's: no page may be written in such a state
        except CommonplaceError:
            return None

    def _said(self, key: str, note: Note | None) -> Sequence[EntryInterval]:
        """Return all that a key ever said. Most keys have no old versions."""
        if key in self._aside:
            return read_intervals(self._files, self._scope_folder, key, note, self._entries_of)
        return compute_intervals([(self._entries_of(note), None)]) if note is not None else ()


def walk_scope(
    files: VaultHandle, index: Transaction, folder: BookPath, unreadable: list[BookPath], use_prestat: bool
) -> Iterator[FolderState]:
    """Yield every folder of a scope with its notes, without links and files whose names cannot be keys."""
    noted_lines = index.stat_lines(folder)  # before the look, for which there may be a wait
    try:
        seen = files.vault.take_prestat(files.space, folder) if use_prestat else None
        if seen is not None and _is_all_as_noted(seen, index, folder, noted_lines):
            survey, unchanged = Survey([], seen.folders), True
        else:
            survey = files.vault.survey(files.space, KEEPER, folder, ".md")
            unchanged = _is_as_noted(survey.lines, noted_lines)
    except (NotFound, LinkRefused):
        return
    except Unreadable:  # what is in it is unknown: the index keeps what it has of it, and of all below
        unreadable.append(folder)
        for place in index.folders(folder):
            yield FolderState(resolve(place), {}, {})
        return
    if unchanged:
        yield FolderState(folder, {}, {})
    else:
        notes, noted = survey.files, index.stat_signatures(folder)
        for name in notes.keys() - noted.keys():  # the others passed when they were first seen
            if not _is_note(name):
                del notes[name]
        yield FolderState(folder, notes, noted)
    if len(folder.parts) < MAX_LEVELS - 2:  # a folder has notes, and sub-pages one level further down
        for name in filter(is_key_name, survey.folders):
            yield from walk_scope(files, index, folder / name, unreadable, use_prestat)


def _is_all_as_noted(prestat: FolderPrestat, index: Transaction, folder: BookPath, noted: str) -> bool:
    """Return whether a prestat has what the index knows: the notes here, and every folder of those below. One that it
    does not have was made after it."""
    if prestat.lines != noted and not _is_as_noted(prestat.lines.split("\n"), noted):
        return False
    below = {resolve(place).parts[len(folder.parts)] for place in index.folders(folder) if place != folder}
    return below.issubset(prestat.folders)


def _is_as_noted(lines: Sequence[str], noted: str) -> bool:
    """Return whether a folder has the notes that the index knows, all unchanged, and no others: almost always."""
    known = set(noted.split("\n")) if noted else set()
    others = [line for line in lines if line not in known]
    return len(lines) - len(others) == len(known) and not any(_is_note(name_in(line)) for line in others)


def _is_note(name: str) -> bool:
    return is_key_name(name) and not find_name_fault(f"{name}.md")


def _has_all(note: Note, lost: LostText) -> bool:
    """Return whether a note is the memory of a lost text, and says all of it."""
    return note.meta.id == lost.row.id and _statements(lost.entries) <= _statements(note.entries)


def _statements(entries: Iterable[Entry]) -> set[_Statement]:
    return {(entry.id, entry.text) for entry in map(normalise_entry, entries)}
