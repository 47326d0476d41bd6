"""Move all that one scope has into another of its kind: notes, their history and trash, and the journal of a project.

Files are moved as they are, so ids, entries, revisions and history stay. Each is durable in its new place before it
goes from the old one; after a crash a file may be in both, and the same plan, run again, finishes the work. Run the
other way round, it takes the merge back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from typing import NamedTuple

from commonplace.memories.history import HISTORY, TRASH, list_past, past_folder, past_keys, walk_files
from commonplace.memories.lifecycle import Labels, relabel
from commonplace.memories.pages import SUB_PAGES
from commonplace.memories.rows import key_of
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import LinkRefused, NotFound
from commonplace.model.names import is_key_name
from commonplace.vault.paths import INDEX_PAGE, KEEPER, BookPath, journal_folder, note_path, resolve
from commonplace.vault.port import Change, Delete, Move, VaultHandle

_MISSING = (NotFound, LinkRefused)
_AT_ONCE = 50  # files that are moved in one commit


class MergePlan(NamedTuple):
    """What a merge does: which files move, and which keys change because they were taken."""

    moves: tuple[tuple[str, str], ...]
    renamed: Mapping[str, str]


def plan_merge(memories: MemoryStore, source: BookPath, target: BookPath) -> MergePlan:
    """Return the plan that moves all of one scope into another. A key that is taken there gets a number."""
    files = memories.files
    keys, taken = ({*_list_notes(files, folder), *past_keys(files, folder)} for folder in (source, target))
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
    return not any(_list_notes(memories.files, folder)) and not past_keys(memories.files, folder)


def _list_notes(files: VaultHandle, folder: BookPath) -> Iterator[str]:
    for path in walk_files(files.list_folder, folder, _MISSING):
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
        if below[-1] == INDEX_PAGE or SUB_PAGES in below[:-1]:
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
    for key in list(_list_notes(unit.memories.files, unit.folder)):
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
