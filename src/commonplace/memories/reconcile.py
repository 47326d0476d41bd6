"""Reading what changed outside: the files of a scope, compared with their rows in the index.

A text that the index knows and no file has any more is named in `SyncResult.lost`. MemoryStore saves it to the history
before the index forgets it (`leave_lost`: the index keeps it, because it cannot be saved now).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from commonplace.index.port import EntryInterval, Row, StatSignature, Transaction
from commonplace.memories.history import (
    DELETED,
    FORGOTTEN,
    intervals,
    list_versions,
    named,
    past_keys,
    purged_ids,
    recorded_of,
)
from commonplace.memories.provenance import Provenance, is_summed_up_outside
from commonplace.memories.rows import is_ours, key_of, looks_of, row_of, split_path
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, TooManyFiles, Unreadable
from commonplace.model.memory import Entry, Status
from commonplace.model.names import find_name_fault, is_key_name
from commonplace.text.notes import Note, parse
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import KEEPER, MAX_LEVELS, MEMORIES, BookPath, note_path, resolve
from commonplace.vault.port import FileKind, FolderPrestat, Stat, Survey, name_in
from commonplace.vault.scope_pages import list_scope_folders

_QUARANTINED = Status.QUARANTINED.value
_MOST_ALIKE = 20  # notes without an id that are compared with one that is gone
_Said = tuple[str, str]
"""The id and the text of an entry."""
ReadProgress = Callable[[int, int], None]
"""Called with the number of notes read, and of those known to be read so far."""


@cache
def _unread() -> Note:
    """Return the empty note that stands for a file that cannot be read: it has not lost anything."""
    return parse(b"")


class LostText(NamedTuple):
    """A note whose text was replaced or deleted outside: how the index knew it, and the note now (None: deleted)."""

    path: BookPath
    row: Row
    recorded: Sequence[EntryInterval]
    note: Note | None

    @property
    def entries(self) -> list[Entry]:
        """Return what the note said until now."""
        return [item.entry for item in self.recorded if item.end is None]


class SyncResult:
    """What a look at the files found: per folder, the sort names of memories that are gone; how many notes differed."""

    def __init__(self, progress: ReadProgress | None = None, leave_lost: bool = False) -> None:
        self.gone: dict[BookPath, set[str]] = {}
        self.changed = 0
        self.unreadable: list[BookPath] = []
        self.lost: list[LostText] = []
        self._progress, self._total, self.leave_lost = progress, 0, leave_lost

    def will_read(self, number: int) -> None:
        """Count notes that are about to be read."""
        self._total += number

    def did_read(self) -> None:
        """Count a note that was read, and report the progress."""
        self.changed += 1
        if self._progress is not None:
            self._progress(self.changed, self._total)


class _FolderState(NamedTuple):
    """One folder: what the notes in it look like now, and what the index noted of those it knows. Both are empty where
    nothing has changed."""

    folder: BookPath
    notes: Mapping[str, StatSignature]
    noted: Mapping[str, StatSignature | None]


def sync_scope(
    files: VaultHandle,
    index: Transaction,
    provenance: Provenance,
    scope_folder: BookPath,
    progress: ReadProgress | None = None,
    *,
    glance: bool = False,
    leave_lost: bool = False,
    thorough: bool = False,
) -> SyncResult:
    """Bring the index up to the files; return what was found.

    `glance`: use what was read of the folders while this process was loading, if it says that nothing has changed.
    `leave_lost`: where a note has lost text, the index keeps the old text until it can be saved. `thorough`: compare
    the bytes of every note, too, and not only size and times of its file.
    """
    synced = SyncResult(progress, leave_lost)
    look = _ScopeSync(files, index, provenance, scope_folder, synced)
    known = {resolve(place) for place in index.folders(str(scope_folder))}
    for here in _walk(files, index, scope_folder, synced.unreadable, glance):
        known.discard(here.folder)
        look.see_folder(here)
        if thorough:
            look.compare_bytes(here.folder)
    for folder in known:
        look.see_folder(_FolderState(folder, {}, index.stat_signatures(str(folder))))
    look.see_forgotten()
    look.see_purged()
    look.find_lost()
    return synced


def sync_note(
    files: VaultHandle, index: Transaction, provenance: Provenance, scope_folder: BookPath, path: BookPath
) -> SyncResult:
    """Bring the index up to one file, whatever the file looks like."""
    synced = SyncResult()
    look = _ScopeSync(files, index, provenance, scope_folder, synced)
    look.see_note(path)
    look.find_lost()
    return synced


class _ScopeSync:
    """One look at the files of a scope, and what the index is told of it."""

    def __init__(
        self,
        files: VaultHandle,
        index: Transaction,
        provenance: Provenance,
        scope_folder: BookPath,
        synced: SyncResult,
    ) -> None:
        self._files, self._index = files, index
        self._provenance, self._scope_folder, self._synced = provenance, scope_folder, synced
        self._entries_of = provenance.reader_of(scope_folder)
        self._aside = past_keys(files, scope_folder)
        self._purged = frozenset(purged_ids(files))
        self._unseen: list[Note] | None = None
        self._changed: list[LostText] = []  # notes that no longer say all they said: find_lost judges them

    def see_note(self, path: BookPath) -> None:
        folder, name = path.parent, path.name.removesuffix(".md")
        there = self._files.stat(path)
        see = self._see_note if there is not None and there.kind is FileKind.FILE else self._drop_note
        self._synced.gone.setdefault(folder, set()).update(see(folder, name))

    def compare_bytes(self, folder: BookPath) -> None:
        """See the notes of a folder that look as they did and have other bytes: bit rot, or a restored time."""
        for name, row in self._index.rows(str(folder)).items():
            path = folder / f"{name}.md"
            try:
                if self._files.read(path).revision != row.revision:
                    self.see_note(path)
            except TooManyFiles:
                raise
            except CommonplaceError:
                continue  # the next read of it reports the error

    def see_folder(self, here: _FolderState) -> None:
        gone = self._synced.gone.setdefault(here.folder, set())
        if here.notes == here.noted:
            return
        changed = sorted(name for name, looks in here.notes.items() if here.noted.get(name) != looks)
        self._synced.will_read(len(changed))
        for name in changed:
            gone.update(self._see_note(here.folder, name))
        for name in here.noted.keys() - here.notes.keys():
            gone.update(self._drop_note(here.folder, name))

    def see_forgotten(self) -> None:
        """Put into the index what it lacks of forgotten memories, and take out those that were purged."""
        index, aside = self._index, self._aside
        known = index.forgotten(str(self._scope_folder))
        kept = {split_path(note_path(self._scope_folder, key)): key for key in aside}
        for place, key in kept.items():
            if known.get(place) != aside[key] and index.get(*place) is None:
                index.set_entries(*place, self._said(key, None))
        for place in known.keys() - kept.keys():  # purged, or swept
            index.set_entries(*place, ())

    def see_purged(self) -> None:
        """Read unchanged notes again whose tombstones came by sync: they were purged on another machine."""
        for ident in sorted(self._purged):
            for place, name in self._index.find_by_id(ident):
                folder, row = resolve(place), self._index.get(place, name)
                if row is not None and row.status != _QUARANTINED and folder.is_within(self._scope_folder):
                    self._synced.will_read(1)
                    self._synced.gone.setdefault(folder, set()).update(self._see_note(folder, name))

    def _see_note(self, folder: BookPath, name: str) -> list[str]:
        """Read a note that is new or changed; return the sort names whose page lines must go."""
        index, place, path = self._index, str(folder), folder / f"{name}.md"
        old = index.get(place, name)
        row, note, seen = self._read_row(path)
        if row is None:
            return []
        self._synced.did_read()
        said = self._said(key_of(self._scope_folder, path), note)
        readable = note is not _unread()
        if readable:
            self._note_change(path, old, note, {(item.entry.id, item.entry.text) for item in said})
        index.put(row)
        if seen is not None:
            index.record_stat(place, name, looks_of(seen))
        if readable or old is None:  # what the index knows of a file that cannot be read may be all there is of it
            index.set_entries(place, name, said)
        return [old.sort] if old is not None and old.status != row.status else []

    def _read_row(self, path: BookPath) -> tuple[Row | None, Note, Stat | None]:
        """Return the row of a file as it is now, its note and its stat. A bad file gets a row without revision, and is
        tried again next time."""
        nothing = _unread()
        try:
            document = self._files.read(path)
        except (NotFound, LinkRefused):
            return None, nothing, None
        except TooManyFiles:
            raise  # no fault of the file's: no page may be written in such a state
        except CommonplaceError:
            return row_of(path, nothing, "", None), nothing, None
        note = self._provenance.read(document.data, self._purged)
        is_outside = self._is_outside if path.is_within(MEMORIES) else is_ours
        row = row_of(path, note, document.revision, document.stat, is_outside=is_outside)
        return row, note, document.stat

    def _is_outside(self, note: Note, newest: Entry | None, *, given: bool) -> bool:  # noqa: ARG002 - see IsOutside
        return is_summed_up_outside(self._entries_of(note), given=given)

    def _drop_note(self, folder: BookPath, name: str) -> list[str]:
        """Take a note out that is no longer there; return the sort names whose page lines must go."""
        index, place = self._index, str(folder)
        old = index.get(place, name)
        self._synced.changed += 1
        path = folder / f"{name}.md"
        key = key_of(self._scope_folder, path)
        self._note_change(path, old, None, self._last_removed(key))
        index.remove(place, name)
        index.set_entries(place, name, self._said(key, None))
        return [old.sort] if old is not None else []

    def _note_change(self, path: BookPath, old: Row | None, note: Note | None, kept: Collection[_Said]) -> None:
        """Note what the index knows of a file, if neither the file nor what was put aside (`kept`) says all of it."""
        if old is None or not path.is_within(MEMORIES):
            return
        change = LostText(path, old, self._index.entries(old.folder, old.name), note)
        if not _is_said(change.entries, kept):
            self._changed.append(change)

    def find_lost(self) -> None:
        """Collect the texts that were lost and not only moved. Runs last, when all other notes have been read."""
        for lost in self._changed:
            if lost.row.id in self._purged or self._is_elsewhere(lost):
                continue
            self._synced.lost.append(lost)
            if self._synced.leave_lost:
                self._index.put(lost.row)  # which forgets what the file looks like: it is looked at again
                self._index.set_entries(lost.row.folder, lost.row.name, lost.recorded)

    def _last_removed(self, key: str) -> set[_Said]:
        """Return what the last text of a key says, if it was put aside because the memory was removed."""
        if key not in self._aside:
            return set()
        versions = list_versions(self._files, self._scope_folder, key)
        if not versions or versions[-1].action not in (FORGOTTEN, DELETED):
            return set()
        note = self._read_note(versions[-1].path)
        return _said_by(note) if note is not None else set()

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
        known = (note for path in paths if path.is_within(MEMORIES) and (note := self._read_note(path)) is not None)
        return any(
            note.meta.id == ident and _is_said(lost.entries, _said_by(note))
            for notes in (known, self._notes_unseen())
            for note in notes
        )

    def _notes_unseen(self) -> Sequence[Note]:
        """Return the notes of other scopes that are new or changed for the index."""
        if self._unseen is None:
            self._unseen = []
            for scope in list_scope_folders(self._files.vault, self._files.space):
                if scope == self._scope_folder:
                    continue
                for here in _walk(self._files, self._index, scope, [], glance=False):
                    names = [name for name, looks in here.notes.items() if here.noted.get(name) != looks]
                    notes = [self._read_note(here.folder / f"{name}.md") for name in names]
                    self._unseen += [note for note in notes if note is not None]
        return self._unseen

    def _read_note(self, path: BookPath) -> Note | None:
        """Return a note or an old version; None for one that cannot be read."""
        try:
            return parse(self._files.read(path).data)
        except TooManyFiles:
            raise
        except CommonplaceError:
            return None

    def _said(self, key: str, note: Note | None) -> Sequence[EntryInterval]:
        """Return all that a key ever said. Most keys have no old versions."""
        if key in self._aside:
            return recorded_of(self._files, self._scope_folder, key, note, self._entries_of)
        return intervals([(self._entries_of(note), None)]) if note is not None else ()


def _walk(
    files: VaultHandle, index: Transaction, folder: BookPath, unreadable: list[BookPath], glance: bool
) -> Iterator[_FolderState]:
    """Yield every folder of a scope with its notes, without links and files whose names cannot be keys."""
    noted_lines = index.stat_lines(str(folder))  # before the look, for which there may be a wait
    try:
        seen = files.vault.take_prestat(files.space, folder) if glance else None
        if seen is not None and _is_all_as_noted(seen, index, folder, noted_lines):
            survey, unchanged = Survey([], seen.folders), True
        else:
            survey = files.vault.survey(files.space, KEEPER, folder, ".md")
            unchanged = _is_as_noted(survey.lines, noted_lines)
    except (NotFound, LinkRefused):
        return
    except Unreadable:  # what is in it is unknown: the index keeps what it has of it, and of all below
        unreadable.append(folder)
        for place in index.folders(str(folder)):
            yield _FolderState(resolve(place), {}, {})
        return
    if unchanged:
        yield _FolderState(folder, {}, {})
    else:
        notes, noted = survey.files, index.stat_signatures(str(folder))
        for name in notes.keys() - noted.keys():  # the others passed when they were first seen
            if not _is_note(name):
                del notes[name]
        yield _FolderState(folder, notes, noted)
    if len(folder.parts) < MAX_LEVELS - 2:  # a folder has notes, and sub-pages one level further down
        for name in filter(is_key_name, survey.folders):
            yield from _walk(files, index, folder / name, unreadable, glance)


def _is_all_as_noted(glance: FolderPrestat, index: Transaction, folder: BookPath, noted: str) -> bool:
    """Whether a glance has what the index knows: the notes here, and every folder of those below. One that it does not
    have was made after it."""
    if glance.lines != noted and not _is_as_noted(glance.lines.split("\n"), noted):
        return False
    below = {resolve(place).parts[len(folder.parts)] for place in index.folders(str(folder)) if place != str(folder)}
    return below.issubset(glance.folders)


def _is_as_noted(lines: Sequence[str], noted: str) -> bool:
    """Return whether a folder has the notes that the index knows, all unchanged, and no others: almost always."""
    known = set(noted.split("\n")) if noted else set()
    others = [line for line in lines if line not in known]
    return len(lines) - len(others) == len(known) and not any(_is_note(name_in(line)) for line in others)


def _is_note(name: str) -> bool:
    return is_key_name(name) and not find_name_fault(f"{name}.md")


def _said_by(note: Note) -> set[_Said]:
    return {(entry.id, entry.text) for entry in map(named, note.entries)}


def _is_said(entries: Sequence[Entry], said: Collection[_Said]) -> bool:
    return all((entry.id, entry.text) in said for entry in entries)
