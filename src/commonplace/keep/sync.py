"""Seeing what others did: the files of a scope against their rows in the index."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from commonplace.index.port import Looks, Recorded, Row, Transaction
from commonplace.keep.past import past_keys, purged_ids
from commonplace.keep.provenance import Provenance, is_summed_up_outside
from commonplace.keep.recorded import intervals, recorded_of
from commonplace.keep.rows import is_ours, key_of, looks_of, row_of, split_path
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, TooManyFiles, Unreadable
from commonplace.model.keys import is_key_name
from commonplace.model.memory import Entry, Status
from commonplace.model.names import name_fault
from commonplace.model.space import Space
from commonplace.model.value import NamedTuple
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import MAX_LEVELS, MEMORIES, BookPath, note_path, resolve
from commonplace.vault.port import Glance, Stat, Survey, Vault, name_in
from commonplace.vault.view import KEEPER

_QUARANTINED = Status.QUARANTINED.value
Progress = Callable[[int, int], None]
"""Is told how many notes have been read, of how many that are known to be read so far."""


@cache
def _unread() -> Note:
    """What stands for a file that cannot be read: it has not lost anything."""
    return parse(b"")


class Lost(NamedTuple):
    """A note of which somebody took or changed text outside: how the index knew it, and how it is now."""

    path: BookPath
    row: Row
    entries: Sequence[Entry]
    note: Note


class Synced:
    """What a look at the files found: per folder, the sort names of memories that are gone; how many notes differed."""

    def __init__(self, progress: Progress | None = None, leave_lost: bool = False) -> None:
        self.gone: dict[BookPath, set[str]] = {}
        self.changed = 0
        self.unreadable: list[BookPath] = []
        self.lost: list[Lost] = []
        self._progress, self._total, self.leave_lost = progress, 0, leave_lost

    def will_read(self, number: int) -> None:
        self._total += number

    def did_read(self) -> None:
        self.changed += 1
        if self._progress is not None:
            self._progress(self.changed, self._total)


class _Here(NamedTuple):
    """One folder: what the notes in it look like now, and what the index noted of those it knows. Both are empty where
    nothing has changed."""

    folder: BookPath
    notes: Mapping[str, Looks]
    noted: Mapping[str, Looks | None]


def sync_scope(
    vault: Vault,
    space: Space,
    index: Transaction,
    provenance: Provenance,
    scope_folder: BookPath,
    progress: Progress | None = None,
    *,
    glance: bool = False,
    leave_lost: bool = False,
) -> Synced:
    """Bring the index up to the files. `glance`: what was seen of them while this process was loading will do, if it
    says that nothing has changed. `leave_lost`: but not where a note has lost text: the index keeps that, for who can
    put it aside."""
    synced = Synced(progress, leave_lost)
    look = _Look(vault, space, index, provenance, scope_folder, synced)
    known = {resolve(place) for place in index.folders(str(scope_folder))}
    for here in _walk(vault, space, index, scope_folder, synced.unreadable, glance):
        known.discard(here.folder)
        look.see_folder(here)
    for folder in known:
        look.see_folder(_Here(folder, {}, index.looks(str(folder))))
    look.see_forgotten()
    look.see_purged()
    return synced


class _Look:
    """One look at the files of a scope, and what the index is told of it."""

    def __init__(
        self,
        vault: Vault,
        space: Space,
        index: Transaction,
        provenance: Provenance,
        scope_folder: BookPath,
        synced: Synced,
    ) -> None:
        self._vault, self._space, self._index = vault, space, index
        self._provenance, self._scope_folder, self._synced = provenance, scope_folder, synced
        self._entries_of = provenance.reader_of(scope_folder)
        self._aside = past_keys(vault, space, scope_folder)
        self._purged = frozenset(purged_ids(vault, space))

    def see_folder(self, here: _Here) -> None:
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
        """What the index must know of memories that are no longer there, and what it must no longer know."""
        index, aside = self._index, self._aside
        known = index.forgotten(str(self._scope_folder))
        kept = {split_path(note_path(self._scope_folder, key)): key for key in aside}
        for place, key in kept.items():
            if known.get(place) != aside[key] and index.get(*place) is None:
                index.set_entries(*place, self._said(key, None))
        for place in known.keys() - kept.keys():  # purged, or swept
            index.set_entries(*place, ())

    def see_purged(self) -> None:
        """A note that has not changed may have been purged elsewhere, and its tombstone come by sync."""
        for ident in sorted(self._purged):
            for place, name in self._index.by_id(ident):
                folder, row = resolve(place), self._index.get(place, name)
                if row is not None and row.status != _QUARANTINED and folder.is_within(self._scope_folder):
                    self._synced.will_read(1)
                    self._synced.gone.setdefault(folder, set()).update(self._see_note(folder, name))

    def _see_note(self, folder: BookPath, name: str) -> list[str]:
        """Read a note that is new or changed; answers the sort names whose lines must go."""
        index, place, path = self._index, str(folder), folder / f"{name}.md"
        old = index.get(place, name)
        row, note, seen = self._read_row(path)
        if row is None:
            return []
        self._synced.did_read()
        said = self._said(key_of(self._scope_folder, path), note)
        same = old is not None and old.id == row.id and note is not _unread() and path.is_within(MEMORIES)
        if same and _note_lost(index, path, old, note, said, self._synced) and self._synced.leave_lost:
            return []
        index.put(row)
        if seen is not None:
            index.saw(place, name, looks_of(seen))
        index.set_entries(place, name, said)
        return [old.sort] if old is not None and old.status != row.status else []

    def _read_row(self, path: BookPath) -> tuple[Row | None, Note, Stat | None]:
        """The row of a file as it is now. One bad file never breaks the others: it is named, and tried again next
        time."""
        nothing = _unread()
        try:
            document = self._vault.read(self._space, KEEPER, path)
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

    def _is_outside(self, note: Note, *, given: bool) -> bool:
        return is_summed_up_outside(self._entries_of(note), given=given)

    def _drop_note(self, folder: BookPath, name: str) -> list[str]:
        """Take out what is no longer there; answers the same."""
        index, place = self._index, str(folder)
        old = index.get(place, name)
        self._synced.changed += 1
        index.remove(place, name)
        index.set_entries(place, name, self._said(key_of(self._scope_folder, folder / f"{name}.md"), None))
        return [old.sort] if old is not None else []

    def _said(self, key: str, note: Note | None) -> Sequence[Recorded]:
        """All that a key ever said. Of most nothing was put aside."""
        if key in self._aside:
            return recorded_of(self._vault, self._space, self._scope_folder, key, note, self._entries_of)
        return intervals([(self._entries_of(note), None)]) if note is not None else ()


def _walk(
    vault: Vault, space: Space, index: Transaction, folder: BookPath, unreadable: list[BookPath], glance: bool
) -> Iterator[_Here]:
    """Every folder of a scope with its notes. What cannot be a key, or is a link, is not the book's."""
    noted_lines = index.seen_lines(str(folder))  # before the look, for which there may be a wait
    try:
        seen = vault.glance(space, folder) if glance else None
        if seen is not None and _is_all_as_noted(seen, index, folder, noted_lines):
            survey, unchanged = Survey([], seen.folders), True
        else:
            survey = vault.survey(space, KEEPER, folder, ".md")
            unchanged = _is_as_noted(survey.lines, noted_lines)
    except (NotFound, LinkRefused):
        return
    except Unreadable:  # nobody knows what is in it: what the index has of it, and of all below, stays
        unreadable.append(folder)
        for place in index.folders(str(folder)):
            noted = index.looks(place)
            yield _Here(resolve(place), {name: looks for name, looks in noted.items() if looks}, noted)
        return
    if unchanged:
        yield _Here(folder, {}, {})
    else:
        notes, noted = survey.files, index.looks(str(folder))
        for name in notes.keys() - noted.keys():  # the others passed when they were first seen
            if not _is_note(name):
                del notes[name]
        yield _Here(folder, notes, noted)
    if len(folder.parts) < MAX_LEVELS - 2:  # a folder has notes, and sub-pages one level further down
        for name in filter(is_key_name, survey.folders):
            yield from _walk(vault, space, index, folder / name, unreadable, glance)


def _is_all_as_noted(glance: Glance, index: Transaction, folder: BookPath, noted: str) -> bool:
    """Whether a glance has what the index knows: the notes here, and every folder of those below. One that it does not
    have was made after it."""
    if glance.lines != noted and not _is_as_noted(glance.lines.split("\n"), noted):
        return False
    below = {resolve(place).parts[len(folder.parts)] for place in index.folders(str(folder)) if place != str(folder)}
    return below.issubset(glance.folders)


def _is_as_noted(lines: Sequence[str], noted: str) -> bool:
    """Whether a folder has the notes that the index knows, all looking as they did, and no others: almost always."""
    known = set(noted.split("\n")) if noted else set()
    others = [line for line in lines if line not in known]
    return len(lines) - len(others) == len(known) and not any(_is_note(name_in(line)) for line in others)


def _is_note(name: str) -> bool:
    return is_key_name(name) and not name_fault(f"{name}.md")


def _note_lost(
    index: Transaction, path: BookPath, old: Row | None, note: Note, said: Sequence[Recorded], synced: Synced
) -> bool:
    """Whether no file says any more what this one said. What we replaced ourselves is in the history already, though
    an index that is older than the files does not know it."""
    before = [recorded.entry for recorded in index.entries(*split_path(path)) if recorded.end is None]
    kept = {(recorded.entry.id, recorded.entry.text) for recorded in said}
    if old is not None and any((entry.id, entry.text) not in kept for entry in before):
        synced.lost.append(Lost(path, old, before, note))
        return True
    return False
