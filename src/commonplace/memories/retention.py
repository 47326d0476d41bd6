"""What grows old: session memories go to the trash, unused project memories are hidden, the trash is emptied.

Nothing else expires: not what a person said, nor what is about the user or how they want things done. Age counts from
the last use, the last change, or the beginning of the state, whichever is latest, so that losing state or index
never makes anything old. What is in the trash is old by the time in its name, and goes for good only if its bytes are
those that its name says: what else lies there is nobody's to delete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.index.port import EntryInterval, Row
from commonplace.memories import lifecycle
from commonplace.memories.history import FORGOTTEN, TRASH, list_past, past_keys, stamp_of
from commonplace.memories.rows import key_of
from commonplace.memories.unit import MemoryStore
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound
from commonplace.model.memory import MemoryType, Status, Trust
from commonplace.model.names import find_name_fault
from commonplace.model.results import RetireResult
from commonplace.model.scope import ScopeKind
from commonplace.model.times import is_timestamp, shift_time
from commonplace.vault.paths import KEEPER, MEMORIES, BookPath, resolve
from commonplace.vault.port import FileKind, FolderEntry

DAY = 86_400
SESSION_DAYS = 14
PROJECT_DAYS = 90
TRASH_DAYS = 30
_MOST_SWEPT = 500  # in one go: the others go with the next
_KEPT_TYPES = (MemoryType.USER.value, MemoryType.FEEDBACK.value)


def retire(keep: MemoryStore, folder: BookPath, *, now: str, born: str, last_uses: Mapping[str, str]) -> RetireResult:
    """Let what is too old in one scope go, if nobody else writes there just now. `last_uses` is by memory id."""
    kind = ScopeKind(folder.parts[1])
    days = {ScopeKind.SESSION: SESSION_DAYS, ScopeKind.PROJECT: PROJECT_DAYS}.get(kind)
    if days is None:
        return RetireResult()
    before = shift_time(now, -days * DAY)
    if not _due(keep, folder, before, born, last_uses):
        return RetireResult()
    with keep.unit(folder, KEEPER, timeout=0) as unit:
        keys = _due(keep, folder, before, born, last_uses)
        for key in keys:
            if kind is ScopeKind.SESSION:
                lifecycle.forget(unit, key, None)
            else:
                lifecycle.relabel(unit, key, lifecycle.Labels(status=Status.EXPIRED))
        unit.commit()
    return RetireResult(tuple(keys)) if kind is ScopeKind.SESSION else RetireResult(expired=tuple(keys))


def _due(keep: MemoryStore, folder: BookPath, before: str, born: str, last_uses: Mapping[str, str]) -> list[str]:
    with keep.index.reading(keep.space) as index:
        rows = [row for place in index.folders(str(folder)) for row in index.rows(place).values()]
        old = [row for row in rows if max(row.updated, born, last_uses.get(row.id, "")) < before]
        due = [row for row in old if _may_go(row, index.entries(row.folder, row.name))]
    return [key_of(folder, resolve(row.folder) / f"{row.name}.md") for row in due]


def _may_go(row: Row, said: Sequence[EntryInterval]) -> bool:
    if row.status != Status.ACTIVE.value or row.type in _KEPT_TYPES or row.pinned:
        return False
    return not any(_is_persons(item) for item in said)


def _is_persons(item: EntryInterval) -> bool:
    return item.end is None and item.entry.trust is Trust.HUMAN


def trashed_scopes(keep: MemoryStore) -> list[BookPath]:
    """The folders of the scopes that have something in the trash, whether or not they have memories left."""
    found = []
    for kind in ScopeKind:
        names = [item.name for item in _folders(keep, TRASH / kind.value)] if kind.has_id else [""]
        found += [MEMORIES / kind.value / name if name else MEMORIES / kind.value for name in names]
    return found


def sweep_trash(keep: MemoryStore, folder: BookPath, *, now: str) -> int:
    """Take what was forgotten in one scope more than 30 days ago out of the trash, for good; answers how many."""
    before = shift_time(now, -TRASH_DAYS * DAY)
    if not is_timestamp(now) or not _old_trash(keep, folder, before):
        return 0
    with keep.unit(folder, KEEPER, timeout=0) as unit:
        old = _old_trash(keep, folder, before)[:_MOST_SWEPT]
        for path in old:
            unit.remove_other(path)
        unit.commit()
    return len(old)


def _old_trash(keep: MemoryStore, folder: BookPath, before: str) -> list[BookPath]:
    found = []
    for key in past_keys(keep.vault, keep.space, folder, (TRASH,)):
        listed = list_past(keep.vault, keep.space, TRASH, folder, key)
        found += [item for item in listed if item.action == FORGOTTEN and stamp_of(item) < before]
    return [item.path for item in found if _says(keep, item.path).startswith(item.revision)]


def _says(keep: MemoryStore, path: BookPath) -> str:
    """The revision of a file in the trash; none where it cannot be read."""
    try:
        return keep.vault.read(keep.space, KEEPER, path).revision
    except CommonplaceError:
        return ""


def _folders(keep: MemoryStore, place: BookPath) -> list[FolderEntry]:
    try:
        listed = keep.vault.list_folder(keep.space, KEEPER, place)
    except (NotFound, LinkRefused):
        return []
    return [item for item in listed if item.stat.kind is FileKind.FOLDER and not find_name_fault(item.name)]
