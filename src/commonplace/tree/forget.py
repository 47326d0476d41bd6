"""Forget a source: its files, its old versions, and what the index knows of them.

The verb `tree_forget` calls it. Units that another source has too move there first, so that they are never gone. The
page of the source is removed last, so that a forgetting which was cut off can be done again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from commonplace.index.port import Transaction
from commonplace.index.values import EntryCandidate, Window
from commonplace.memories.history import HISTORY, TRASH, past_folder, walk_files, walk_folders
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry
from commonplace.model.tree_results import TreeForgetResult
from commonplace.tree.filing import SourceFiles, place_of
from commonplace.tree.ingest import BATCH
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.threads import ThreadPlace
from commonplace.tree.units import make_unit_id
from commonplace.vault.paths import KEEPER, SOURCE_PAGE, BookPath
from commonplace.vault.port import UNUSABLE, Delete


def forget_source(tree: TreeStore, source: TreeSource) -> TreeForgetResult:
    """Remove a source and everything that came from it alone; return how much that was."""
    memories = tree.memories
    tree.freshen()
    with tree.lock():
        moved = sum(_move_shared(tree, source, other) for other in tree.sources() if other.id != source.id)
        with tree.reading() as index:
            units = index.measure(Window([str(source.folder)])).number
        files = _remove_files(tree, source)
        memories.reconcile(source.folder)
        is_clean = memories.index.scrub()
        tree.renew_sizes()
        # Last: as long as the page is there, the source can be named, and forgotten again.
        memories.vault.apply(memories.space, KEEPER, [Delete(source.folder / SOURCE_PAGE)])
    return TreeForgetResult(source.id, units - moved, files, moved, is_clean=is_clean)


def _move_shared(tree: TreeStore, source: TreeSource, other: TreeSource) -> int:
    """Move the units that another source has too into its files; return how many these are, parts counted alone."""
    idents = tree.read_also(other)
    moved = 0
    for at in range(0, len(idents), BATCH):
        with tree.reading() as index:
            found = index.units(idents[at : at + BATCH])
            parts = {item.entry.id: _find_parts(index, source, item) for item in found}
            known = index.units([part.id for some in parts.values() for part in some])
        # A third source may have it already; and so may this one, if it was moved before a process was killed.
        elsewhere = {item.entry.id for item in known if not _is_of(source, item)}
        threads: dict[ThreadPlace, list[Entry]] = {}
        for item in found:
            if _is_of(source, item):
                new = [part for part in parts[item.entry.id] if part.id not in elsewhere]
                threads.setdefault(place_of(item), []).extend(new)
                moved += len(new)
        _append(tree, other, threads)
        with tree.reading() as index:
            found = index.units(idents[at : at + BATCH])
        tree.drop_also(other, {item.entry.id for item in found if _is_of(other, item)})
    return moved


def _is_of(source: TreeSource, item: EntryCandidate) -> bool:
    """Return whether a unit is in the files of a source."""
    return item.folder.startswith(f"{source.folder}/")


def _find_parts(index: Transaction, source: TreeSource, item: EntryCandidate) -> list[Entry]:
    """Return the entries of a unit in a source: of a long one all its parts, which may be in several files."""
    entries = [item.entry]
    native_id = dict(entries[0].extra).get("source", "")
    while native_id:
        found = index.units([make_unit_id(native_id, len(entries) + 1)])
        mine = [part.entry for part in found if _is_of(source, part)]
        if not mine:
            break
        entries.append(mine[0])
    return entries


def _append(tree: TreeStore, other: TreeSource, threads: Mapping[ThreadPlace, Sequence[Entry]]) -> None:
    """Write units into the files of another source, in which they have the same threads."""
    with tree.memories.unit(other.folder, KEEPER) as unit:
        files = SourceFiles(unit, other)
        for place, entries in threads.items():
            if entries:
                files.append(place, dict(entries[0].extra).get("title", ""), entries)
        unit.commit()
    tree.label_pending()


def _remove_files(tree: TreeStore, source: TreeSource) -> int:
    """Delete the files of a source and all their old versions, the page of the source last; return how many."""
    memories, page = tree.memories, source.folder / SOURCE_PAGE
    places = (source.folder, past_folder(HISTORY, source.folder, ""), past_folder(TRASH, source.folder, ""))
    for place in places:
        for folder in walk_folders(memories.files.list_folder, place):
            memories.vault.sweep(memories.space, folder)
    paths = [path for path in _list_files(tree, places) if path != page]
    for at in range(0, len(paths), BATCH):
        memories.vault.apply(memories.space, KEEPER, [*map(Delete, paths[at : at + BATCH])])
    return len(paths) + 1


def _list_files(tree: TreeStore, places: Sequence[BookPath]) -> Iterator[BookPath]:
    for place in places:
        yield from walk_files(tree.memories.files.list_folder, place, (NotFound, *UNUSABLE))
