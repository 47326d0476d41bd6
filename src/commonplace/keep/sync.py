"""Seeing what others did: the files of a scope against their rows in the index."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from commonplace.index.port import Looks, Recorded, Row, Transaction
from commonplace.keep.past import past_keys
from commonplace.keep.recorded import intervals, recorded_of
from commonplace.keep.rows import key_of, looks_of, row_of, split_path
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, TooManyFiles, Unreadable
from commonplace.model.keys import is_key_name
from commonplace.model.memory import Entry
from commonplace.model.names import name_fault
from commonplace.model.space import Space
from commonplace.model.value import NamedTuple
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import MAX_LEVELS, MEMORIES, BookPath, note_path, resolve
from commonplace.vault.port import Glance, Stat, Survey, Vault, name_in
from commonplace.vault.view import KEEPER

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
    known = {resolve(place) for place in index.folders(str(scope_folder))}
    seen: set[BookPath] = set()
    aside = past_keys(vault, space, scope_folder)
    for here in _walk(vault, space, index, scope_folder, synced.unreadable, glance):
        seen.add(here.folder)
        synced.gone[here.folder] = _sync_folder(vault, space, index, scope_folder, here, aside, synced)
    for folder in known - seen:
        here = _Here(folder, {}, index.looks(str(folder)))
        synced.gone[folder] = _sync_folder(vault, space, index, scope_folder, here, aside, synced)
    _sync_forgotten(vault, space, index, scope_folder, aside)
    return synced


def _sync_forgotten(
    vault: Vault, space: Space, index: Transaction, scope_folder: BookPath, aside: Mapping[str, str]
) -> None:
    """What the index must know of memories that are no longer there, and what it must no longer know."""
    known = index.forgotten(str(scope_folder))
    kept = {split_path(note_path(scope_folder, key)): key for key in aside}
    for place, key in kept.items():
        if known.get(place) != aside[key] and index.get(*place) is None:
            index.set_entries(*place, recorded_of(vault, space, scope_folder, key, None))
    for place in known.keys() - kept.keys():  # purged, or swept
        index.set_entries(*place, ())


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


def _sync_folder(
    vault: Vault,
    space: Space,
    index: Transaction,
    scope_folder: BookPath,
    here: _Here,
    aside: Mapping[str, str],
    synced: Synced,
) -> set[str]:
    folder, place = here.folder, str(here.folder)
    gone: set[str] = set()
    if here.notes == here.noted:
        return gone
    changed = sorted(name for name, looks in here.notes.items() if here.noted.get(name) != looks)
    synced.will_read(len(changed))
    for name in changed:
        path = folder / f"{name}.md"
        old = index.get(place, name)
        row, note, seen = _read_row(vault, space, path)
        if row is None:
            continue
        synced.did_read()
        key = key_of(scope_folder, path)
        said = recorded_of(vault, space, scope_folder, key, note) if key in aside else intervals([(note.entries, None)])
        same = old is not None and old.id == row.id and note is not _unread() and path.is_within(MEMORIES)
        if same and _note_lost(index, path, old, note, said, synced) and synced.leave_lost:
            continue
        index.put(row)
        if seen is not None:
            index.saw(place, name, looks_of(seen))
        index.set_entries(place, name, said)
        if old is not None and old.status != row.status:
            gone.add(old.sort)
    for name in here.noted.keys() - here.notes.keys():
        old = index.get(place, name)
        synced.changed += 1
        index.remove(place, name)
        key = key_of(scope_folder, folder / f"{name}.md")
        index.set_entries(place, name, recorded_of(vault, space, scope_folder, key, None) if key in aside else ())
        if old is not None:
            gone.add(old.sort)
    return gone


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


def _read_row(vault: Vault, space: Space, path: BookPath) -> tuple[Row | None, Note, Stat | None]:
    """The row of a file as it is now. One bad file never breaks the others: it is named, and tried again next time."""
    nothing = _unread()
    try:
        document = vault.read(space, KEEPER, path)
    except (NotFound, LinkRefused):
        return None, nothing, None
    except TooManyFiles:
        raise  # no fault of the file's: no page may be written in such a state
    except CommonplaceError:
        return row_of(path, nothing, "", None), nothing, None
    note = parse(document.data)
    return row_of(path, note, document.revision, document.stat), note, document.stat
