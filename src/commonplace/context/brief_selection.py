"""Which memories a brief tells, and in which order. `brief.py` calls `select_memories`.

First what is pinned, then what the user wants (the types `user` and `feedback`), then facts; of each what a person said
before what an agent said, and the newest first. A memory of the caller's own scopes counts as much as a global one.

A fact that a later memory may contradict is not told, only named; the index knows it once both were embedded.

Only active memories are told, and only what people and agents said here: external text is told when an agent asks for
it, or after a person has accepted it. The index says which memories come first; then the file of each is checked. A
file that changed is read, one that is gone is left out. A file that is not indexed yet waits for the next command or
server, which checks all files. Where the index cannot be read, or does not know a scope yet, the folder's index page
names the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from commonplace.context.records import BriefMemory, BriefSources
from commonplace.index.port import Readable
from commonplace.index.values import BriefCandidate, BriefRow
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, StorageError
from commonplace.model.lazy import lazy
from commonplace.model.memory import Trust
from commonplace.model.names import is_key_name
from commonplace.model.scope import Scope
from commonplace.text.frontmatter import get_region
from commonplace.text.naming import unquote
from commonplace.vault.paths import INDEX_PAGE, BookPath, resolve

_MAX_TOLD = 100  # memories: more than a brief has room for
_MAX_CANDIDATES = 200  # of a folder, by each way to find them
_MAX_FOLDERS = 200  # below one scope: keys have levels, and each level's folder is queried by itself
ENTRIES = 2  # of each memory: the newest is shown, the other tells that there is more
_MAX_PAGE_NOTES = 60  # notes read when an index page names the candidates
_PAGE_LINK = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s/]*)\.md\)", re.M)


class BriefSelection(NamedTuple):
    """The memories that come first, the keys of those that come next, and how many there are in all."""

    memories: tuple[BriefMemory, ...]
    names: tuple[str, ...]
    total: int


def is_preference(memory: BriefMemory) -> bool:
    """Return whether a memory is a wish of the user in a person's words: those stand first, and as the user's own."""
    return memory.entry.trust is Trust.HUMAN and (memory.is_pinned or memory.is_wish)


def select_memories(sources: BriefSources) -> BriefSelection:
    """Return the memories of a caller that come first, in an order that only a change to one of them changes."""
    memories: list[BriefMemory] = []
    names: list[str] = []
    total = 0
    unknown = list(sources.folders)
    if sources.index_reader is not None:
        indexed, names, unknown, total = _list_candidates(sources, sources.index_reader)
        memories = [memory for row in indexed if (memory := check_file(sources, row)) is not None]
    for scope in unknown:
        found = list(_read_page_memories(sources, scope))
        memories += found
        total += len(found)
    return BriefSelection(tuple(sort_memories(memories)), tuple(names), max(total, len(memories)))


def sort_memories(memories: Iterable[BriefMemory]) -> list[BriefMemory]:
    """Return memories in the order in which a brief tells them; within one second, the one that came later first."""
    newest_first = sorted(memories, key=lambda memory: (memory.updated, memory.entry.id, memory.key), reverse=True)
    return sorted(
        newest_first,
        key=lambda memory: _rank(memory.is_pinned, memory.is_wish, memory.entry.trust, memory.key),
    )


def _rank(is_pinned: bool, is_wish: bool, trust: str, key: str) -> tuple[bool, bool, bool, str]:
    """Return what memories are sorted by before their time: pinned ones by key, then wishes, then what people said."""
    return not is_pinned, not is_wish, trust != Trust.HUMAN, key if is_pinned else ""


def _list_candidates(sources: BriefSources, index: Readable) -> tuple[list[BriefRow], list[str], list[Scope], int]:
    """Return the caller's memories that come first, the keys of those that come next, the scopes that the index does
    not know, and how many memories it knows.
    """
    found: list[tuple[str, BriefCandidate]] = []
    unknown: list[Scope] = []
    total = 0
    with index.reading(sources.space) as reading:
        for scope, folder in sources.folders.items():
            if reading.generation(str(folder)) is None:
                unknown.append(scope)
                continue
            for place in reading.folders(str(folder))[:_MAX_FOLDERS]:
                total += reading.counts(place, 0).active
                found += [(place, candidate) for candidate in reading.brief_candidates(place, _MAX_CANDIDATES)]
        found.sort(key=lambda item: (item[1].updated, item[1].newest, item[0], item[1].name), reverse=True)
        found.sort(key=lambda item: _rank(item[1].pinned, item[1].is_wish, item[1].trust, f"{item[0]}/{item[1].name}"))
        rows = [reading.brief_row(place, one.name, ENTRIES) for place, one in found[:_MAX_TOLD]]
    places = [sources.find_key(resolve(place) / f"{one.name}.md") for place, one in found[_MAX_TOLD : 2 * _MAX_TOLD]]
    names = [place[1] for place in places if place is not None]
    return [row for row in rows if row is not None], names, unknown, total


def _read_page_memories(sources: BriefSources, scope: Scope) -> Iterator[BriefMemory]:
    """Yield the memories that the index page of a scope's folder names, as their files are now."""
    folder = sources.folders[scope]
    try:
        page = sources.read(folder / INDEX_PAGE)
    except (NotFound, LinkRefused):
        return
    links = _PAGE_LINK.findall(get_region(page.data.decode("utf-8", "replace")) or "")
    names = [unquote(link) for link in dict.fromkeys(links)]
    for name in [name for name in names if is_key_name(name)][:_MAX_PAGE_NOTES]:
        try:
            memory = sources.read_memory(folder / f"{name}.md")
        except CommonplaceError:  # one bad file never breaks the others
            continue
        if memory is not None:
            yield memory


def check_file(sources: BriefSources, indexed: BriefRow) -> BriefMemory | None:
    """Return a memory from the index if its file is unchanged, else from the file."""
    row = indexed.row
    path = resolve(row.folder) / f"{row.name}.md"
    try:
        stat = sources.vault.stat(sources.space, sources.view, path)
        if stat is None:
            return None
        if indexed.entries and indexed.signature == stat.signature:
            return _indexed_memory(sources, path, indexed)
        return sources.read_memory(path)
    except StorageError:  # the disk does not answer now: then as the index knows it
        return _indexed_memory(sources, path, indexed)
    except CommonplaceError:  # a link, a folder, or outside the view
        return None


def _indexed_memory(sources: BriefSources, path: BookPath, indexed: BriefRow) -> BriefMemory | None:
    if not indexed.entries:
        return None
    newest, has_more = indexed.entries[0].entry, len(indexed.entries) > 1
    memory = sources.make_memory(path, indexed.row, newest, has_more=has_more, is_mixed=indexed.is_mixed)
    return memory._replace(later=_name_later(sources, memory, indexed)) if memory is not None else None


def _name_later(sources: BriefSources, memory: BriefMemory, indexed: BriefRow) -> str:
    """Return the memory that may contradict a memory; nothing if the caller does not see it, or a link says that both
    hold.
    """
    later = indexed.later
    place = sources.find_key(resolve(later.folder) / f"{later.name}.md") if later is not None else None
    if later is None or place is None:
        return ""
    name = f"{place[0].kind}/{place[1]}"
    links = [link for link in indexed.row.linked if link.endswith(f" {name}")]
    links += [link for link in later.linked if link.endswith(f" {memory.ref}")]
    return "" if any(not link.startswith("contradicts ") for link in links) else name
