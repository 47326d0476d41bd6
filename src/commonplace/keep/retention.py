"""What grows old: session memories go to the trash, unused project memories are hidden.

Nothing else expires: not what a person said, nor what is about the user or how they want things done. Age counts from
the last use, the last change, or the beginning of the state, whichever is latest, so that losing state or index
never makes anything old.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.index.port import Recorded, Row
from commonplace.keep import life
from commonplace.keep.rows import key_of
from commonplace.keep.unit import Keep
from commonplace.model.memory import MemoryType, Status, Trust
from commonplace.model.scope import ScopeKind
from commonplace.model.times import shift
from commonplace.model.value import NamedTuple
from commonplace.vault.paths import BookPath, resolve
from commonplace.vault.view import KEEPER

DAY = 86_400
SESSION_DAYS = 14
PROJECT_DAYS = 90
_KEPT_TYPES = (MemoryType.USER.value, MemoryType.FEEDBACK.value)


class Retired(NamedTuple):
    trashed: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()


def retire(keep: Keep, folder: BookPath, *, now: str, born: str, last_uses: Mapping[str, str]) -> Retired:
    """Let what is too old in one scope go. `last_uses` is by memory id."""
    kind = ScopeKind(folder.parts[1])
    days = {ScopeKind.SESSION: SESSION_DAYS, ScopeKind.PROJECT: PROJECT_DAYS}.get(kind)
    if days is None:
        return Retired()
    before = shift(now, -days * DAY)
    with keep.unit(folder, KEEPER) as unit:
        with keep.index.reading(keep.space) as index:
            rows = [row for place in index.folders(str(folder)) for row in index.rows(place).values()]
            due = [row for row in rows if _is_due(row, index.entries(row.folder, row.name), before, born, last_uses)]
        keys = [key_of(folder, resolve(row.folder) / f"{row.name}.md") for row in due]
        for key in keys:
            if kind is ScopeKind.SESSION:
                life.forget(unit, key, None)
            else:
                life.relabel(unit, key, life.Labels(status=Status.EXPIRED))
        unit.commit()
    return Retired(tuple(keys)) if kind is ScopeKind.SESSION else Retired(expired=tuple(keys))


def _is_due(row: Row, said: Sequence[Recorded], before: str, born: str, last_uses: Mapping[str, str]) -> bool:
    if row.status != Status.ACTIVE.value or row.type in _KEPT_TYPES or row.pinned:
        return False
    if any(_is_persons(item) for item in said):
        return False
    return max(row.updated, born, last_uses.get(row.id, "")) < before


def _is_persons(item: Recorded) -> bool:
    return item.end is None and item.entry.trust is Trust.HUMAN
