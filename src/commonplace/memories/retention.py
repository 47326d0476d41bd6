"""What grows old: session memories go to the trash, unused project memories are hidden, the trash is emptied.

Nothing else expires: not what a person said, nor what is about the user or how they want things done. Age counts from
the last use, the last change, or the beginning of the state, whichever is latest, so that losing state or index
never makes anything old. What is in the trash is old by the time in its name, and goes for good only if its bytes are
those that its name says: other files there are never deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.index.port import EntryInterval, Row
from commonplace.memories import lifecycle
from commonplace.memories.history import FORGOTTEN, TRASH, list_past, past_keys, stamp_of
from commonplace.memories.rows import key_of
from commonplace.memories.store import MemoryStore
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


def retire(store: MemoryStore, folder: BookPath, *, now: str, born: str, last_uses: Mapping[str, str]) -> RetireResult:
    """Retire what is too old in one scope. Raises LockTimeout at once while another process writes there.

    `last_uses` is by memory id.
    """
    kind = ScopeKind(folder.parts[1])
    days = {ScopeKind.SESSION: SESSION_DAYS, ScopeKind.PROJECT: PROJECT_DAYS}.get(kind)
    if days is None:
        return RetireResult()
    before = shift_time(now, -days * DAY)
    if not _due(store, folder, before, born, last_uses):
        return RetireResult()
    with store.unit(folder, KEEPER, timeout=0) as unit:
        keys = _due(store, folder, before, born, last_uses)
        for key in keys:
            if kind is ScopeKind.SESSION:
                lifecycle.forget(unit, key, None)
            else:
                lifecycle.relabel(unit, key, lifecycle.Labels(status=Status.EXPIRED))
        unit.commit()
    return RetireResult(tuple(keys)) if kind is ScopeKind.SESSION else RetireResult(expired=tuple(keys))


def _due(store: MemoryStore, folder: BookPath, before: str, born: str, last_uses: Mapping[str, str]) -> list[str]:
    with store.index.reading(store.space) as index:
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


def trashed_scopes(store: MemoryStore) -> list[BookPath]:
    """The folders of the scopes that have something in the trash, whether or not they have memories left."""
    found = []
    for kind in ScopeKind:
        names = [item.name for item in _folders(store, TRASH / kind.value)] if kind.has_id else [""]
        found += [MEMORIES / kind.value / name if name else MEMORIES / kind.value for name in names]
    return found


def sweep_trash(store: MemoryStore, folder: BookPath, *, now: str) -> int:
    """Take what was forgotten in one scope more than 30 days ago out of the trash, for good; answers how many."""
    before = shift_time(now, -TRASH_DAYS * DAY)
    if not is_timestamp(now) or not _old_trash(store, folder, before):
        return 0
    with store.unit(folder, KEEPER, timeout=0) as unit:
        old = _old_trash(store, folder, before)[:_MOST_SWEPT]
        for path in old:
            unit.remove_other(path)
        unit.commit()
    return len(old)


def _old_trash(store: MemoryStore, folder: BookPath, before: str) -> list[BookPath]:
    found = []
    for key in past_keys(store.files, folder, (TRASH,)):
        listed = list_past(store.files, TRASH, folder, key)
        found += [item for item in listed if item.action == FORGOTTEN and stamp_of(item) < before]
    return [item.path for item in found if _says(store, item.path).startswith(item.revision)]


def _says(store: MemoryStore, path: BookPath) -> str:
    """The revision of a file in the trash; none where it cannot be read."""
    try:
        return store.files.read(path).revision
    except CommonplaceError:
        return ""


def _folders(store: MemoryStore, place: BookPath) -> list[FolderEntry]:
    try:
        listed = store.files.list_folder(place)
    except (NotFound, LinkRefused):
        return []
    return [item for item in listed if item.stat.kind is FileKind.FOLDER and not find_name_fault(item.name)]
