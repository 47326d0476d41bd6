"""Forget a source: its files, its old versions, and what the index knows of them.

The verb `tree_forget` calls it. Units that another source has too move there first, so that they are never gone. The
page of the source is removed last, so that a forgetting which was cut off can be done again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.index.port import EntryCandidate, Window
from commonplace.memories.history import HISTORY, TRASH, past_folder, walk_files, walk_folders
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry
from commonplace.model.tree_results import TreeForgetResult
from commonplace.tree.filing import SourceFiles, place_of
from commonplace.tree.ingest import BATCH
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.threads import ThreadPlace
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
    return TreeForgetResult(source.id, units - moved, files, moved, is_clean=is_clean)


def _move_shared(tree: TreeStore, source: TreeSource, other: TreeSource) -> int:
    """Move the units that another source has too into its files; return how many these are."""
    idents = tree.read_also(other)
    moved = 0
    for at in range(0, len(idents), BATCH):
        with tree.reading() as index:
            found = index.units(idents[at : at + BATCH])
        here = {item.recorded.entry.id for item in found if item.folder.startswith(f"{other.folder}/")}
        there = [item for item in found if item.folder.startswith(f"{source.folder}/")]
        there = [item for item in there if item.recorded.entry.id not in here]  # moved before it was cut off
        if there:
            _append(tree, other, there)
            moved += len(there)
        gone = {item.recorded.entry.id for item in there} | here
        tree.drop_also(other, gone)
    return moved


def _append(tree: TreeStore, other: TreeSource, found: Sequence[EntryCandidate]) -> None:
    """Write units into the files of another source, in which they have the same threads."""
    threads: dict[ThreadPlace, list[Entry]] = {}
    for item in found:
        threads.setdefault(place_of(item), []).extend(_read_parts(tree, item))
    with tree.memories.unit(other.folder, KEEPER) as unit:
        files = SourceFiles(unit, other)
        for place, entries in threads.items():
            files.append(place, dict(entries[0].extra).get("title", ""), entries)
        unit.commit()
    tree.label_pending([other])


def _read_parts(tree: TreeStore, item: EntryCandidate) -> list[Entry]:
    """Return the entries of a unit: of a long one, all its parts."""
    entry = item.recorded.entry
    with tree.reading() as index:
        entries = [known.entry for known in index.entries(item.folder, item.name) if known.end is None]
    source = dict(entry.extra).get("source")
    return [
        known for known in entries if known.id == entry.id or (source and dict(known.extra).get("source") == source)
    ]


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
    memories.vault.apply(memories.space, KEEPER, [Delete(page)])
    return len(paths) + 1


def _list_files(tree: TreeStore, places: Sequence[BookPath]) -> Iterator[BookPath]:
    for place in places:
        yield from walk_files(tree.memories.files.list_folder, place, (NotFound, *UNUSABLE))
