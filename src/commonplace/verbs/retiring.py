"""The verb retire: what is too old in the book goes, in every scope, whoever calls.

A session that has ended and a project that nobody opens have no caller of their own, so each caller sees to all of
them; only one that is sealed in sees to its own. Nobody is told what another scope has. It takes about a second at
most: where that does not do, the next call goes on where this one stopped. Who is busy writing is not waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from commonplace.context.sessions import delete_old_sessions
from commonplace.memories.retention import retire as retire_scope
from commonplace.memories.retention import sweep_trash, trashed_scopes
from commonplace.memories.scopes import scope_folders
from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import Log
from commonplace.model.results import RetireResult
from commonplace.vault.paths import BookPath
from commonplace.verbs.changing import check_writes
from commonplace.verbs.desk import RETIRED, Desk

log = Log("commonplace.book")

_SECONDS = 1.0
_CURSOR = "retire-next"


def retire(desk: Desk) -> RetireResult:
    """Let what is too old go: session memories to the trash, unused project ones hidden, the trash for good."""
    check_writes(desk)
    keep = desk.keep
    now = keep.clock()
    desk.state.set_fact(keep.space, RETIRED, now[:10], lasting=False)
    delete_old_sessions(desk.state, keep.space, now)
    own = set(desk.own().values())
    sealed = desk.caller.sealed
    trashed: list[str] = []
    expired: list[str] = []
    swept = 0

    def tend(folder: BookPath) -> None:
        nonlocal swept
        done = _retired(desk, folder, now)
        swept += sweep_trash(keep, folder, now=now)
        if desk.sees_all or folder in own:
            trashed.extend(done.trashed)
            expired.extend(done.expired)

    _in_turn(desk, sorted(own if sealed else {*scope_folders(keep), *trashed_scopes(keep)}), tend)
    return RetireResult(tuple(trashed), tuple(expired), swept)


def _in_turn(desk: Desk, folders: Sequence[BookPath], tend: Callable[[BookPath], None]) -> None:
    """Each folder, from where the last call stopped, until the time is up."""
    state, space = desk.state, desk.keep.space
    until = time.monotonic() + _SECONDS
    first = state.get_fact(space, _CURSOR) or ""
    waiting = [folder for folder in folders if str(folder) >= first] + [f for f in folders if str(f) < first]
    for place, folder in enumerate(waiting):
        if place and time.monotonic() >= until:  # at least one: else a slow disk would never get any further
            state.set_fact(space, _CURSOR, str(folder), lasting=False)
            return
        try:
            tend(folder)
        except CommonplaceError as error:  # one scope that cannot be tended, or is being written, stops no other
            log.warning("event=not_retired code=%s", error.code)
    if first:
        state.set_fact(space, _CURSOR, None, lasting=False)


def _retired(desk: Desk, folder: BookPath, now: str) -> RetireResult:
    keep = desk.keep
    keep.freshen(folder)
    with keep.index.reading(keep.space) as index:
        refs = [row.id for place in index.folders(str(folder)) for row in index.rows(place).values() if row.id]
    uses = desk.state.usage(keep.space, refs)
    last_uses = {ref: usage.last for ref, usage in uses.items()}
    return retire_scope(keep, folder, now=now, born=desk.state.created_at(keep.space), last_uses=last_uses)
