"""Which memories of a scope an agent is told of at the start: the pinned ones, then the newest.

Only active ones, and of these what people and agents said here: what came from outside is told of when somebody asks,
or has looked at it. And no more than the files still say. The index is asked, and the file of each memory that will be
shown is looked at: one that changed since is read, one that is gone is left out. Files that nobody has indexed yet wait
for the next command or server, which looks at all of them. Where the index cannot be read, or knows nothing of a scope
yet, the folder's index page names the candidates.

Nothing here knows how often or when a memory was used: the same book gives the same choice.
"""

from collections.abc import Iterable
from typing import NamedTuple

from commonplace.context.ground import Ground
from commonplace.index.port import Looks, Readable, Recorded, Row
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import Scope
from commonplace.vault.paths import BookPath, resolve
from commonplace.vault.port import looks

_MOST_FOLDERS = 200  # below one scope: keys have levels, and each level's folder is asked by itself
_SPARE = 5  # looked at beyond the limit: some may turn out to be gone
_ACTIVE = "active"


class Chosen(NamedTuple):
    """A memory that is to be told of: its last entry, and where that stands."""

    scope: Scope
    key: str
    path: str
    id: str
    revision: str
    summary: str
    pinned: bool
    updated: str
    entry: Entry
    more: bool  # it has entries before this one


class Choice(NamedTuple):
    memories: tuple[Chosen, ...]
    total: int  # how many there are to choose from, as far as is known


def choose(ground: Ground, scope: Scope, folder: BookPath, limit: int) -> Choice:
    """The memories of one scope that come first, in an order that only a change to one of them changes."""
    found = _from_index(ground, ground.reader, scope, folder, limit) if ground.reader is not None else None
    if found is not None:
        return found
    from commonplace.context.pages import from_page  # noqa: PLC0415 - seldom: the index is missing or in use

    named = in_order(from_page(ground, scope, folder))
    return Choice(tuple(named[:limit]), len(named))


def in_order(memories: Iterable[Chosen]) -> list[Chosen]:
    """Pinned ones by key, then the others, newest first; of one second, in the order of index pages."""
    known = list(memories)
    pinned = sorted((item for item in known if item.pinned), key=lambda item: item.key)
    others = sorted(
        (item for item in known if not item.pinned), key=lambda item: (item.updated, item.key), reverse=True
    )
    return [*pinned, *others]


def read_memory(ground: Ground, scope: Scope, key: str, path: BookPath) -> Chosen | None:
    """A memory as its file says now; None when it is gone, not active, huge, or says nothing but what came from
    outside."""
    from commonplace.keep.provenance import Provenance  # noqa: PLC0415 - only where the index does not know
    from commonplace.keep.rows import row_of  # noqa: PLC0415 - the same

    try:
        document = ground.read(path)
    except (NotFound, LinkRefused):
        return None
    provenance = Provenance(ground.vault, ground.space)
    note = provenance.read(document.data)
    row = row_of(path, note, document.revision, document.stat)
    said = [entry for entry in provenance.entries_of(note) if entry.trust is not Trust.EXTERNAL]
    if not said or row.status != _ACTIVE:
        return None
    mixed = len(said) < len(note.entries)
    return _chosen(scope, key, path, row, said[-1], more=len(said) > 1, mixed=mixed)


def _chosen(scope: Scope, key: str, path: BookPath, row: Row, entry: Entry, *, more: bool, mixed: bool) -> Chosen:
    """`mixed`: some of it came from outside, and so perhaps its summary."""
    summary = "" if mixed else row.summary
    return Chosen(scope, key, str(path), row.id, row.revision, summary, row.pinned, row.updated, entry, more)


class _Known(NamedTuple):
    row: Row
    said: tuple[Recorded, ...]
    looks: Looks | None
    mixed: bool


def _from_index(ground: Ground, index: Readable, scope: Scope, folder: BookPath, limit: int) -> Choice | None:
    """What the index knows of a scope; None when nobody has read that scope into it yet."""
    with index.reading(ground.space) as reading:
        if reading.generation(str(folder)) is None:
            return None
        rows: list[Row] = []
        total = 0
        for place in reading.folders(str(folder))[:_MOST_FOLDERS]:
            total += reading.counts(place, 0).active
            found = (reading.get(place, name) for name in reading.told(place, limit))
            rows += [row for row in found if row is not None and row.status == _ACTIVE]
        pinned = sorted((row for row in rows if row.pinned), key=lambda row: (row.folder, row.name))
        others = [row for row in rows if not row.pinned]
        others.sort(key=lambda row: (row.updated, row.folder, row.name), reverse=True)
        known = [
            _Known(
                row,
                tuple(reading.last_entries(row.folder, row.name, 2)),
                reading.seen(row.folder, row.name),
                reading.is_mixed(row.folder, row.name),
            )
            for row in (*pinned[: limit + _SPARE], *others[: limit + _SPARE])
        ]
    memories = [item for item in (_as_filed(ground, scope, folder, one) for one in known) if item is not None]
    return Choice(tuple(in_order(memories)[:limit]), max(total, len(memories)))


def _as_filed(ground: Ground, scope: Scope, folder: BookPath, known: _Known) -> Chosen | None:
    """What the index knows, if the file still looks as it did; else what the file says."""
    row = known.row
    path = resolve(row.folder) / f"{row.name}.md"
    key = "/".join(path.parts[len(folder.parts) :]).removesuffix(".md")
    try:
        stat = ground.vault.stat(ground.space, ground.view, path)
        if stat is None:
            return None
        if known.said and known.looks == looks(stat.size, stat.mtime_ns, stat.inode):
            more = len(known.said) > 1
            return _chosen(scope, key, path, row, known.said[0].entry, more=more, mixed=known.mixed)
        return read_memory(ground, scope, key, path)
    except CommonplaceError:  # this one cannot be read now: the others can
        return None
