"""The upkeep of a whole book: verify the index, retire what is old, give it a key, vouch for memories, merge scopes.

`verify` proves that the index is what the files say: it reads every note, and compares each row and entry.

`retire` moves session memories, and what `capture` proposed and nobody judged, to the trash, and hides unused project
memories; `sweep_trash` empties the trash. Nothing else expires: not what a person said, nor what is about the user or
how they want things done. Age counts from the last use, the last change, or the beginning of the state, whichever is
latest, so that losing state or index never makes anything old. A date in the future does not keep a memory for good:
then only its uses count. What is in the trash is old by the time in its name, and goes for good only if its bytes are
those that its name says: other files there are never deleted.

A book without a key gets one, once.

A merge moves all that one scope has into another of its kind: notes, their history and trash, and the journal of a
project. Files are moved as they are, so ids, entries, revisions and history stay. Each is durable in its new place
before it goes from the old one; after a crash a file may be in both, and the same plan, run again, finishes the work.
Run the other way round, it takes the merge back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from typing import NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.values import EntryInterval, Row
from commonplace.memories import pages
from commonplace.memories.history import (
    FORGOTTEN,
    HISTORY,
    TRASH,
    RecordedRevision,
    format_records,
    list_past,
    past_folder,
    past_keys,
    read_name,
    read_records,
    records_path,
    walk_files,
)
from commonplace.memories.layout import KEY, KEY_CHECK, check_write
from commonplace.memories.lifecycle import Labels, forget, relabel
from commonplace.memories.lookup import scope_folders
from commonplace.memories.provenance import make_key_writes
from commonplace.memories.reconcile import ScopeSync, walk_scope
from commonplace.memories.rows import key_of, split_path
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound
from commonplace.model.memory import CAPTURED, MemoryType, Status, Trust
from commonplace.model.names import is_key_name
from commonplace.model.results import RetireResult, VerifyResult
from commonplace.model.scope import ScopeKind
from commonplace.model.times import is_timestamp, shift_time
from commonplace.text.notes import IN_CONFLICT, Note, parse
from commonplace.vault.paths import INDEX_PAGE, KEEPER, MEMORIES, BookPath, journal_folder, note_path, resolve
from commonplace.vault.port import Change, Delete, Move, VaultHandle, Write
from commonplace.vault.scope_pages import list_scope_folders

DAY = 86_400
SESSION_DAYS = 14
PROJECT_DAYS = 90
TRASH_DAYS = 30
PROPOSAL_DAYS = 30  # that a captured fact waits for a verdict
_MOST_SWEPT = 500  # in one go: the others go with the next
_KEPT_TYPES = (MemoryType.USER, MemoryType.FEEDBACK)
_LOCK = "scaffold"  # held while a book gets its key


def verify(memories: MemoryStore, folders: Sequence[BookPath]) -> VerifyResult:
    """Compare the index and the pages of some scopes with the files. Changes no file; the index first catches up with
    changes made outside, which are no fault of its own."""
    files, differences = 0, []
    for folder in folders:
        count, found = verify_scope(memories, folder)
        files += count
        differences += found
    return VerifyResult(not differences, files, tuple(differences))


def verify_scope(memories: MemoryStore, folder: BookPath) -> tuple[int, list[str]]:
    """Compare one scope; return how many notes it has, and what differs, each as FOLDER: WHAT.

    One note is compared at a time: a scope may have more notes than fit into memory.
    """
    memories.freshen(folder, with_pages=False)  # no file is changed to verify it
    files, differences = 0, list[str]()
    with memories.index.reading(memories.space) as index:
        look, unreadable = ScopeSync(memories, index, folder), list[BookPath]()
        gone = {resolve(place) for place in index.folders(folder)}
        for here in walk_scope(memories.files, index, folder, unreadable, use_prestat=False):
            gone.discard(here.folder)
            if any(map(here.folder.is_within, unreadable)):
                continue  # there is nothing to compare the index with
            known = index.stat_signatures(here.folder)
            notes = here.notes or known  # empty: the index has just these
            differences += [_surplus(here.folder, name) for name in sorted(known.keys() - notes.keys())]
            for name in sorted(notes):
                files += 1
                differences += _compare(look, index, here.folder, name)
                if memories.progress is not None:
                    memories.progress(files, max(files, len(notes)))
            differences += pages.faults(memories.files, index, here.folder)
        differences += [f"{path}: it {pages.UNREADABLE}" for path in (*unreadable, *look.unreadable_notes)]
        for place in sorted(gone):
            differences += [_surplus(place, name) for name in sorted(index.stat_signatures(place))]
        if not _has_forgotten(look, index, folder):
            differences.append(f"{folder}: the index has other entries of what was forgotten")
    return files, differences


def differs(place: str, name: str) -> str:
    """Return the words for a note that differs from what the index has."""
    return f"{place}: the index has another {name}"


def _surplus(place: str, name: str) -> str:
    return f"{place}: the index has {name}, which is not there"


def _compare(look: ScopeSync, index: Transaction, folder: BookPath, name: str) -> list[str]:
    """Return how the index differs from one note."""
    found, known = look.read_note(folder / f"{name}.md"), index.get(folder, name)
    if found is None:
        return []  # deleted just now, or it cannot be read
    if known is None:
        return [f"{folder}: the index lacks {name}"]
    if known._replace(filed=found.row.filed) != found.row:  # where its line stands is about pages
        return [differs(folder, name)]
    if _said(index, folder, name) != _without_extra(found.said):
        return [f"{folder}: the index has other entries of {name}"]
    return []


def _has_forgotten(look: ScopeSync, index: Transaction, folder: BookPath) -> bool:
    """Return whether the index has what forgotten memories said, and nothing else of memories that are gone."""
    known, expected = index.forgotten(folder), set[tuple[str, str]]()
    for place, said in look.read_forgotten():
        if said:
            expected.add(place)
        if _said(index, *place) != _without_extra(said):
            return False
    return known.keys() == expected or (bool(look.unreadable_past) and expected <= known.keys())


def _said(index: Transaction, place: str, name: str) -> list[EntryInterval]:
    return _without_extra(index.entries(place, name))


def _without_extra(said: Iterable[EntryInterval]) -> list[EntryInterval]:
    """Return entries without attributes of a later version: those stay in the file alone."""
    return [item._replace(entry=item.entry._replace(extra=())) for item in said]


def retire(
    memories: MemoryStore, folder: BookPath, *, now: str, created_at: str, last_uses: Mapping[str, str]
) -> RetireResult:
    """Retire what is too old in one scope. Raises LockTimeout at once while another process writes there.

    `created_at` is when the state began; `last_uses` is by memory id.
    """
    kind = ScopeKind(folder.parts[1])
    days = {ScopeKind.SESSION: SESSION_DAYS, ScopeKind.PROJECT: PROJECT_DAYS}.get(kind)

    def find_due() -> dict[str, bool]:
        """Return the key of each memory that goes, and whether it goes to the trash."""
        due: dict[str, bool] = {}
        with memories.index.reading(memories.space) as index:
            for row in (row for place in index.folders(folder) for row in index.rows(place).values()):
                key, time = key_of(folder, resolve(row.folder) / f"{row.name}.md"), _known_time(row, now, last_uses)
                is_proposal = row.status == Status.PROPOSED and CAPTURED in row.tags
                limit = PROPOSAL_DAYS if is_proposal else days
                if limit is None or max(time, created_at) >= shift_time(now, -limit * DAY):
                    continue
                if is_proposal or _may_go(row, index.entries(row.folder, row.name)):
                    due[key] = is_proposal or kind is ScopeKind.SESSION
        return due

    if not find_due():
        return RetireResult()
    with memories.unit(folder, KEEPER, timeout=0) as unit:
        due = find_due()
        for key, is_trash in due.items():
            if is_trash:
                forget(unit, key, None)
            else:
                relabel(unit, key, Labels(status=Status.EXPIRED))
        unit.commit()
    trashed = tuple(key for key, is_trash in due.items() if is_trash)
    return RetireResult(trashed, tuple(key for key in due if key not in trashed))


def _known_time(row: Row, now: str, last_uses: Mapping[str, str]) -> str:
    """Return when a memory was last used or changed. A date in the future, which a wrong clock wrote, does not count
    where a use is known."""
    used, tomorrow = last_uses.get(row.id, ""), shift_time(now, DAY)
    return max([time for time in (row.updated, used) if time <= tomorrow or not used], default=now)


def _may_go(row: Row, said: Sequence[EntryInterval]) -> bool:
    """Return whether a memory may expire: it is active, and nothing in it is a person's or about one."""
    if row.status != Status.ACTIVE or row.type in _KEPT_TYPES or row.pinned or row.summary == IN_CONFLICT:
        return False
    return not any(item.end is None and item.entry.trust is Trust.HUMAN for item in said)


def past_scopes(memories: MemoryStore, place: BookPath = TRASH) -> list[BookPath]:
    """Return the folders of the scopes that have something in the trash, or the history, with memories left or not."""
    found = list_scope_folders(memories.files, place)
    return [BookPath(*MEMORIES.parts, *folder.parts[len(place.parts) :]) for folder in found]


def sweep_trash(memories: MemoryStore, folder: BookPath, *, now: str) -> int:
    """Delete what was forgotten in one scope more than 30 days ago from the trash, for good; return how many."""
    before = shift_time(now, -TRASH_DAYS * DAY)
    if not is_timestamp(now) or not _old_trash(memories, folder, before):
        return 0
    with memories.unit(folder, KEEPER, timeout=0) as unit:
        old = _old_trash(memories, folder, before)[:_MOST_SWEPT]
        for path in old:
            unit.remove_other(path)
        unit.commit()
    return len(old)


def _old_trash(memories: MemoryStore, folder: BookPath, before: str) -> list[BookPath]:
    """Return the files in the trash of a scope that are old and have the bytes that their names say."""
    found = []
    for key in past_keys(memories.files, folder, (TRASH,)):
        for item in list_past(memories.files, TRASH, folder, key):
            if item.action == FORGOTTEN and item.time < before:
                with suppress(CommonplaceError):  # one that cannot be read stays
                    if memories.files.read(item.path).revision.startswith(item.revision):
                        found.append(item.path)
    return found


def create_book_key(memories: MemoryStore, *, own: bool) -> None:
    """Give a key to a book that has none. `own`: it was written here before there were keys: trust its claims."""
    with memories.vault.lock(memories.space, _LOCK, memories.lock_timeout):
        if memories.files.stat(KEY) is None:
            files = [*_memory_files(memories)]
            for place in (HISTORY, TRASH):
                files += filter(read_name, walk_files(memories.files.list_folder, place, (CommonplaceError,)))
            notes = [note for _, note in _read_notes(memories, files)]
            is_known = memories.files.stat(KEY_CHECK) is not None  # it had a key: what tells of its loss stays
            for write in make_key_writes(notes, own=own):  # the key is not there before what it stands on is durable
                if write.path != KEY_CHECK or not is_known:
                    memories.files.apply([write])


def record_revisions(memories: MemoryStore, folder: BookPath) -> None:
    """Record the revision of every note of a scope that has no record, or another one; drop those of notes that are
    gone. What was recorded of a damaged file stays. Raises LockTimeout at once while another process writes there."""
    records = read_records(memories.files, folder)
    known: dict[str, RecordedRevision] = {}
    with memories.index.reading(memories.space) as index:
        for place in index.folders(folder):
            signatures = index.stat_signatures(place)
            for name, row in index.rows(place).items():
                key, signature = key_of(folder, resolve(place) / f"{name}.md"), signatures.get(name)
                if row.revision and signature:
                    known[key] = RecordedRevision(row.revision, *signature.split(" ")[:2])
    merged = {
        key: old if (old := records.get(key)) and old[1:] == record[1:] else record for key, record in known.items()
    }
    if merged != records:
        with memories.unit(folder, KEEPER, timeout=0) as unit:
            unit.put_aside(Write(records_path(folder), format_records(merged.items())))
            unit.commit()


def record_key_check(memories: MemoryStore) -> None:
    """Give the key of an older book its check value, once an entry in the book proves that the key is the right one."""
    key = memories.provenance.key
    if not key or memories.files.stat(KEY_CHECK) is not None:
        return
    with memories.index.reading(memories.space) as index:
        places = [place for folder in scope_folders(memories) for place in index.folders(folder)]
        rows = (row for place in places for row in index.rows(place).values())
        entries = (item.entry for row in rows for item in index.entries(row.folder, row.name))
        is_proved = any(map(memories.provenance.is_signed, entries))
    if is_proved:
        memories.files.apply([check_write(key)])


def vouch_for_all(memories: MemoryStore) -> int:
    """Trust what every memory claims; return how many were not trusted so far."""
    with memories.vault.lock(memories.space, _LOCK, memories.lock_timeout):
        if memories.provenance.is_key_damaged():
            memories.files.apply([check_write(memories.provenance.key)])  # a person takes the key as it is now
        doubted = memories.provenance.doubted(_read_notes(memories, _memory_files(memories)))
        write = memories.provenance.vouch(doubted.values())
        if write is None:
            return 0
        _look_again(memories, doubted)  # before the write, too: a process killed after it would never do this
        try:
            memories.files.apply([write])
        except BaseException:
            memories.provenance.forget_pending()
            raise
    _look_again(memories, doubted)
    for folder in scope_folders(memories):
        memories.freshen(folder)
    return len(doubted)


def _look_again(memories: MemoryStore, paths: Iterable[BookPath]) -> None:
    """Make the index read these notes again, though their files look unchanged."""
    with memories.index.transaction(memories.space) as index:
        for path in paths:
            row = index.get(*split_path(path))
            if row is not None:
                index.put(row)  # which forgets what the file looks like


def _memory_files(memories: MemoryStore) -> Iterator[BookPath]:
    """Yield the file of every memory of the book, whatever the index knows."""
    for scope in scope_folders(memories):
        for key in _list_keys(memories.files, scope, (CommonplaceError,)):
            yield note_path(scope, key)


def _read_notes(memories: MemoryStore, paths: Iterable[BookPath]) -> Iterator[tuple[BookPath, Note]]:
    """Yield the notes in some files. One that cannot be read claims nothing, and is left out."""
    for path in paths:
        try:
            note = parse(memories.files.read(path).data)
        except CommonplaceError:
            continue
        yield path, note


_MISSING = (NotFound, LinkRefused)
_AT_ONCE = 50  # files that are moved in one commit


class MergePlan(NamedTuple):
    """What a merge does: which files move, and which keys change because they were taken."""

    moves: tuple[tuple[str, str], ...]
    renamed: Mapping[str, str]


def plan_merge(memories: MemoryStore, source: BookPath, target: BookPath) -> MergePlan:
    """Return the plan that moves all of one scope into another. A key that is taken there gets a number."""
    files = memories.files
    keys, taken = ({*_list_keys(files, folder), *past_keys(files, folder)} for folder in (source, target))
    renamed = {key: _free_key(key, keys | taken) for key in sorted(keys & taken)}
    moves = list[tuple[str, str]]()
    for key in sorted(keys):
        new = renamed.get(key, key)
        for place in (HISTORY, TRASH):  # before the note: an old text is there before the one that replaced it
            for item in list_past(files, place, source, key):
                moves.append((str(item.path), str(past_folder(place, target, new) / item.path.name)))
        if files.stat(note_path(source, key)) is not None:
            moves.append((str(note_path(source, key)), str(note_path(target, new))))
    return MergePlan((*moves, *_plan_journal(files, journal_folder(source), journal_folder(target))), renamed)


def run_plan(memories: MemoryStore, source: BookPath, target: BookPath, plan: MergePlan) -> int:
    """Move the files of a plan, and return how many of them were memories. What is done already is passed over."""
    folders = [folder for scope in (source, target) for folder in (scope, journal_folder(scope))]
    with ExitStack() as locks:
        units = {folder: locks.enter_context(memories.unit(folder, KEEPER)) for folder in sorted(folders)}
        if plan.renamed:
            _change_links(units[source], plan)
        moved = _move_files(memories.files, plan.moves)
        # The index first learns where the notes are now, so that it does not take them for deleted.
        for folder in (target, source, journal_folder(target), journal_folder(source)):
            units[folder].look_again()
    return sum(path.startswith(f"{source}/") for path in moved)


def is_empty(memories: MemoryStore, folder: BookPath) -> bool:
    """Return whether a scope has no note, and no old version of one."""
    return not any(_list_keys(memories.files, folder)) and not past_keys(memories.files, folder)


def _list_keys(
    files: VaultHandle, folder: BookPath, missing: tuple[type[CommonplaceError], ...] = _MISSING
) -> Iterator[str]:
    """Yield the key of every note in a scope, whatever the index knows; a folder with a `missing` error has none."""
    for path in walk_files(files.list_folder, folder, missing):
        key = key_of(folder, path)
        if path.name.endswith(".md") and all(map(is_key_name, key.split("/"))):
            yield key


def _free_key(key: str, taken: set[str]) -> str:
    found = next(new for number in count(2) if (new := f"{key}-{number}") not in taken)
    taken.add(found)
    return found


def _plan_journal(files: VaultHandle, source: BookPath, target: BookPath) -> Iterator[tuple[str, str]]:
    """Yield the moves of a journal. A file that both have becomes another part of it: `NAME.2.md`, `NAME.3.md`."""
    taken = {str(path) for path in walk_files(files.list_folder, target, _MISSING)}
    for path in sorted(walk_files(files.list_folder, source, _MISSING)):
        below = path.parts[len(source.parts) :]
        if below[-1] == INDEX_PAGE or pages.SUB_PAGES in below[:-1]:
            continue
        to = BookPath(*target.parts, *below)
        if str(to) in taken and len(below) == 1:
            names = (target / f"{to.name.split('.')[0]}.{number}.md" for number in count(2))
            to = next(name for name in names if str(name) not in taken)
        if str(to) not in taken:  # else the run, or the mark of a lesson, is there already
            taken.add(str(to))
            yield str(path), str(to)


def _move_files(files: VaultHandle, moves: Sequence[tuple[str, str]]) -> list[str]:
    moved = []
    for start in range(0, len(moves), _AT_ONCE):
        changes = list[Change]()
        for path, to in ((resolve(path), resolve(to)) for path, to in moves[start : start + _AT_ONCE]):
            if files.stat(path) is None:
                continue
            if files.stat(to) is None:
                changes.append(Move(path, to))
            elif files.read(path).data == files.read(to).data:  # a crash left it in both places
                changes.append(Delete(path))
            else:
                continue
            moved.append(str(path))
        files.apply(changes)
    return moved


def _change_links(unit: Unit, plan: MergePlan) -> None:
    """Make the links of the memories that will move lead to the keys that their targets will have."""
    kind, leaving = f"{unit.kind}/", {path for path, _ in plan.moves}
    for key in list(_list_keys(unit.memories.files, unit.folder)):
        if str(unit.path(key)) not in leaving:
            continue
        links = unit.get(key).note.meta.links
        new = tuple(link._replace(to=plan.renamed.get(link.to.removeprefix(kind), link.to)) for link in links)
        if new != links:
            relabel(unit, key, Labels(links=new))
    unit.commit()


def reverse_plan(plan: MergePlan) -> MergePlan:
    """Return the plan that takes another back."""
    back: Iterable[tuple[str, str]] = ((to, path) for path, to in reversed(plan.moves))
    return MergePlan(tuple(back), {new: key for key, new in plan.renamed.items()})
