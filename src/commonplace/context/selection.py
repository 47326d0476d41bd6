"""Which memories of a scope the brief shows: the pinned ones, then the newest.

Only active memories are shown, and only what people and agents said here: external text is shown when an agent asks for
it, or after a person has accepted it. The index says which memories come first; then the file of each is checked. A
file that changed is read, one that is gone is left out. A file that is not indexed yet waits for the next command or
server, which checks all files. Where the index cannot be read, or does not know a scope yet, the folder's index page
names the candidates.

Use plays no part: an unchanged book always gives the same selection.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from commonplace.context.sources import ACTIVE, BriefMemory, BriefSources
from commonplace.index.port import BriefRow, Readable, Row
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.names import is_key_name
from commonplace.model.scope import Scope
from commonplace.text.links import get_region
from commonplace.text.naming import unquote
from commonplace.vault.paths import INDEX_PAGE, BookPath, resolve
from commonplace.vault.port import stat_signature

_MAX_FOLDERS = 200  # below one scope: keys have levels, and each level's folder is queried by itself
_SPARE = 5  # memories fetched beyond the limit, because some may be gone
_ENTRIES = 2  # of each memory: the newest is shown, the other tells that there is more
_MAX_PAGE_NOTES = 60  # notes read when an index page names the candidates
_PAGE_LINK = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s/]*)\.md\)", re.M)


class Selection(NamedTuple):
    """The memories of one scope to show, and how many there are to select from."""

    memories: tuple[BriefMemory, ...]
    total: int


def select_memories(sources: BriefSources, scope: Scope, limit: int) -> Selection:
    """Return the memories of one scope that come first, in an order that only a change to one of them changes."""
    if sources.index_reader is not None:
        selection = _select_from_index(sources, sources.index_reader, scope, limit)
        if selection is not None:
            return selection
    memories = sort_memories(_read_page_memories(sources, scope))
    return Selection(tuple(memories[:limit]), len(memories))


def sort_memories(memories: Iterable[BriefMemory]) -> list[BriefMemory]:
    """Return pinned memories by key, then the others, newest first; within one second, as index pages order them."""
    newest_first = sorted(memories, key=lambda memory: (memory.updated, memory.key), reverse=True)
    pinned = sorted((memory for memory in newest_first if memory.is_pinned), key=lambda memory: memory.key)
    return [*pinned, *(memory for memory in newest_first if not memory.is_pinned)]


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
            memory = sources.read_memory(scope, name, folder / f"{name}.md")
        except CommonplaceError:  # one bad file never breaks the others
            continue
        if memory is not None:
            yield memory


def _select_from_index(sources: BriefSources, index: Readable, scope: Scope, limit: int) -> Selection | None:
    """Return what the index knows of a scope; None if that scope was never indexed."""
    folder = sources.folders[scope]
    with index.reading(sources.space) as reading:
        if reading.generation(str(folder)) is None:
            return None
        rows: list[Row] = []
        total = 0
        for place in reading.folders(str(folder))[:_MAX_FOLDERS]:
            total += reading.counts(place, 0).active
            found = (reading.get(place, name) for name in reading.brief_candidates(place, limit))
            rows += [row for row in found if row is not None and row.status == ACTIVE]
        pinned = sorted((row for row in rows if row.pinned), key=lambda row: (row.folder, row.name))
        others = [row for row in rows if not row.pinned]
        others.sort(key=lambda row: (row.updated, row.folder, row.name), reverse=True)
        first = (*pinned[: limit + _SPARE], *others[: limit + _SPARE])
        indexed = [reading.brief_row(row.folder, row.name, _ENTRIES) for row in first]
    current = [_check_file(sources, scope, folder, memory) for memory in indexed if memory is not None]
    memories = [memory for memory in current if memory is not None]
    return Selection(tuple(sort_memories(memories)[:limit]), max(total, len(memories)))


def _check_file(sources: BriefSources, scope: Scope, folder: BookPath, indexed: BriefRow) -> BriefMemory | None:
    """Return a memory from the index if its file is unchanged, else from the file."""
    row = indexed.row
    path = resolve(row.folder) / f"{row.name}.md"
    key = "/".join(path.parts[len(folder.parts) :]).removesuffix(".md")
    try:
        stat = sources.vault.stat(sources.space, sources.view, path)
        if stat is None:
            return None
        if indexed.entries and indexed.signature == stat_signature(stat.size, stat.mtime_ns, stat.inode):
            newest, has_more = indexed.entries[0].entry, len(indexed.entries) > 1
            return BriefMemory.from_row(scope, key, path, row, newest, has_more=has_more, is_mixed=indexed.is_mixed)
        return sources.read_memory(scope, key, path)
    except CommonplaceError:  # this one cannot be read now: the others can
        return None
