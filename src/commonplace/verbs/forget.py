"""The verbs `forget`, `purge`, `restore`, `clear` and `retire`: what goes to the trash, for good, and comes back.

`retire` lets go of what is too old, in every scope, for any caller: a session that has ended and a project that is no
longer opened have no caller of their own. Only a sealed caller keeps to its own scopes, and no caller is told what
another scope has. It takes about a second at most, and the next call continues where this one stopped. A scope that
another process is writing to is skipped. After the clock has jumped it waits for a second sign: see state/port.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from commonplace.context.records import delete_old_sessions, forget_told
from commonplace.guard.audit import Facts, scope_kind
from commonplace.memories import history, lifecycle, lookup, relations
from commonplace.memories.lookup import scope_folders
from commonplace.memories.purge import find_purged_ids, purge_renamed
from commonplace.memories.purge import purge as purge_memory
from commonplace.memories.unit import Unit
from commonplace.memories.upkeep import DAY, past_scopes, record_key_check, record_revisions, sweep_trash
from commonplace.memories.upkeep import retire as retire_scope
from commonplace.model.errors import CommonplaceError, InvalidScope, NotPermitted
from commonplace.model.names import check_key
from commonplace.model.results import RetireResult, StoreResult
from commonplace.model.scope import Role, Scope, ScopeKind
from commonplace.model.times import shift_time
from commonplace.state.port import believe
from commonplace.vault.paths import KEEPER, BookPath, note_path
from commonplace.verbs.changing import (
    describe_change,
    existing_target,
    linked_scope,
    open_units,
    past_target,
    store_result,
)
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.tool import change_schema, make_tool, render_change
from commonplace.verbs.verb import IF_REVISION, KEY, SCOPE, Access, Arg, verb

PURGING = "purging"  # the action of a purge that a reader of the databases delays


class ForgetRequest(NamedTuple):
    """What `forget` and `purge` are asked."""

    key: Annotated[str, KEY._replace(nargs="?")]
    scope: Annotated[str | None, SCOPE] = None
    if_revision: Annotated[str | None, IF_REVISION] = None


class RestoreRequest(NamedTuple):
    """What `restore` is asked."""

    key: Annotated[str, KEY._replace(nargs="?")]
    scope: Annotated[str | None, SCOPE] = None


class ClearRequest(NamedTuple):
    """What `clear` is asked."""

    scope: Annotated[str, Arg("session, agent, project or global; or project:ID", is_positional=True)]


@verb(
    Access.WRITE,
    audit=describe_change,
    command="forget",
    examples=(
        "commonplace forget old-runner",
        "commonplace forget leaked-note --purge --yes",
        "commonplace forget --all --scope session",
    ),
)
def forget(context: BookContext, request: ForgetRequest) -> StoreResult:
    """Move a memory to the trash.

    It can be restored for 30 days. --purge removes it from files, history, trash, index, state and audit; only its id
    is remembered, so that a sync cannot bring it back. --all moves every memory of a scope to the trash.
    """
    key = request.key
    target = existing_target(context, key, request.scope)
    return change_with_superseded(
        context,
        key,
        target,
        lambda unit, _: lifecycle.forget(unit, key, context.author, if_revision=request.if_revision),
    )


@verb(
    Access.WRITE,
    audit=lambda result, request: {**describe_change(result, request), "keys": None},  # a key may say what it was about
    no_tool="only for a person",
)
def purge(context: BookContext, request: ForgetRequest) -> StoreResult:
    """Remove a memory for good: from files, history, trash, index, state and audit.

    The action is `purging` if another program is reading the databases: some of the text may stay in them until it has
    ended, and the next command after that removes it.
    """
    if context.caller.role is not Role.PERSON:
        raise NotPermitted("Only a person purges a memory.", hint="Forget it without purge: that can be undone.")
    memories, key = context.memories, request.key
    present = {
        context.folder(place) for place in lookup.find_scopes(memories, context.view(), context.own_folders(), key)
    }

    def has_key(folder: BookPath) -> bool:
        places = (history.TRASH, history.HISTORY)
        return folder in present or any(history.list_past(memories.files, place, folder, key) for place in places)

    target = past_target(context, key, request.scope, has_key)
    context.caller.check_write(target)
    idents: set[str] = set()
    names = {key}

    def remove(unit: Unit, _: Sequence[Unit]) -> lifecycle.ChangeResult:
        change, known, others = purge_memory(unit, key, if_revision=request.if_revision)
        idents.update(known)
        names.update(others)
        return change

    # A file that was moved outside is still in the index of its old folder; a killed writer may have left a copy.
    for folder in _all_folders(context):
        memories.reconcile(folder, sweep=True)
    if context.sees_all:
        names |= _purge_in_other_scopes(context, context.folder(target), key)
    result = change_with_superseded(context, key, target, remove)
    forget_told(context.state, memories.space, result.path)
    context.state.forget_uses(memories.space, sorted(idents))
    for name in names:
        context.mask_in_audit(name)
    is_done = all([memories.index.scrub(), context.state.scrub()])
    return result if is_done else result._replace(action=PURGING)


def _all_folders(context: BookContext) -> set[BookPath]:
    """Return the folders of all scopes that have memories, history or trash."""
    memories = context.memories
    return {*scope_folders(memories), *past_scopes(memories, history.HISTORY), *past_scopes(memories)}


def _purge_in_other_scopes(context: BookContext, folder: BookPath, key: str) -> set[str]:
    """Remove what other scopes still have of a memory whose file was moved here; return the keys it had there."""
    memories, names = context.memories, set[str]()
    with memories.unit(folder, KEEPER) as unit:
        idents = find_purged_ids(unit, key)
    for other in _all_folders(context) - {folder}:
        if history.list_renamed(memories.files, other, "", idents):
            with memories.unit(other, KEEPER) as unit:
                names |= purge_renamed(unit, "", idents)
                unit.commit()
    return names


@verb(
    Access.WRITE,
    audit=describe_change,
    command="restore",
    examples=(
        "commonplace restore",
        "commonplace restore old-runner",
        "commonplace restore --since 7d",
        "commonplace restore --all --scope project --since 1h",
    ),
    no_tool="memory_undo with action=restore",
)
def restore(context: BookContext, request: RestoreRequest) -> StoreResult:
    """Bring memories back from the trash, or list what is in it.

    Without a KEY: lists what can be restored, the last forgotten first. With one: brings back the newest of this key,
    byte for byte. --all with --scope brings back all of a scope, as after `forget --all`; with --since only what was
    forgotten then or later. A memory whose file was deleted outside comes back from the history, with the text and
    labels that the index knew.
    """
    files, key = context.memories.files, request.key
    target = past_target(context, key, request.scope, lambda folder: bool(history.list_restorable(files, folder, key)))
    return change_with_superseded(context, key, target, lambda unit, _: lifecycle.restore(unit, key, context.author))


@verb(
    Access.WRITE,
    audit=lambda count, request: {"scope": scope_kind(request.scope), "count": count},
    command="clear",
    examples=("commonplace forget --all --scope session --yes", "commonplace forget --all --scope project"),
    no_tool="only for a person",
)
def clear(context: BookContext, request: ClearRequest) -> int:
    """Move all memories of one scope to the trash.

    Each can be restored for 30 days: `commonplace restore --all --scope SCOPE`.
    """
    target = context.caller.scope(request.scope)
    context.caller.check_write(target)
    if target.kind is ScopeKind.GLOBAL and context.caller.role is not Role.PERSON:
        raise NotPermitted("Only a person clears the global scope.", hint="Forget memories one by one.")
    folder = context.folder(target)
    with context.memories.unit(folder, context.view_for(target)) as unit:
        unit.look_again()  # files that were added or removed by hand count as well
        keys = [item.key for item in context.list_memories([folder])]
        for key in keys:
            lifecycle.forget(unit, key, context.author)
        unit.commit()
    return len(keys)


def change_with_superseded(
    context: BookContext, key: str, target: Scope, action: Callable[[Unit, Sequence[Unit]], lifecycle.ChangeResult]
) -> StoreResult:
    """Make a change to one memory, and mark or unmark the memories that it supersedes, in whatever scope.

    What goes away goes last and what comes back comes first: if the power fails in between, both are active, and
    neither is out of sight.
    """
    context.caller.check_write(target)
    with open_units(context, target, *_superseded_scopes(context, key, target)) as opened:
        unit = opened[target]
        others = [other for scope, other in opened.items() if scope != target]
        found = unit.find(key)
        change = action(unit, others)
        relations.update_superseded(unit, key, found.note.meta if found is not None else None, others, context.author)
        for one in (unit, *others) if found is None else (*others, unit):
            one.commit()
    return store_result(target, change)


def _superseded_scopes(context: BookContext, key: str, target: Scope) -> set[Scope]:
    """Return the other scopes of what a memory supersedes, by its text, its last version and the trash.

    A scope that the caller may not write to is left out.
    """
    memories, folder = context.memories, context.folder(target)
    past = [history.list_past(memories.files, place, folder, key)[-1:] for place in (history.HISTORY, history.TRASH)]
    paths = [note_path(folder, check_key(key)), *(item.path for items in past for item in items)]
    leads = {lead for path in paths for lead in relations.list_superseded_elsewhere(memories, path)}
    scopes = {linked_scope(context, target, lead) for lead in leads}
    return {scope for scope in scopes if scope is not None and _may_write(context, scope)}


def _may_write(context: BookContext, scope: Scope) -> bool:
    try:
        context.caller.check_write(scope)
    except (InvalidScope, NotPermitted):
        return False
    return True


_SECONDS = 1.0
_LAST_DAY = "retired"  # the fact in the state: the day of the last call
_CURSOR = "retire-next"


class RetireRequest(NamedTuple):
    """What `retire` is asked."""

    daily: Annotated[bool, Arg()] = False


def _describe_retire(result: RetireResult, _: RetireRequest) -> Facts | None:
    keys = (*result.trashed, *result.expired)
    counts = {"trashed": len(result.trashed), "expired": len(result.expired), "swept": result.swept}
    return {"keys": keys, **counts} if any(counts.values()) else None


@verb(Access.WRITE, audit=_describe_retire, no_tool="about the whole book: for a person")
def retire(context: BookContext, request: RetireRequest) -> RetireResult:
    """Move old session memories to the trash, hide unused project memories, and empty the old trash."""
    memories = context.memories
    today = memories.system_clock()
    if request.daily and context.state.get_fact(memories.space, _LAST_DAY) == today[:10]:
        return RetireResult()
    context.state.set_fact(memories.space, _LAST_DAY, today[:10], lasting=False)
    now = believe(context.state, memories.space, today)
    if now is None:  # nothing is old before a second look agrees; what has nothing to do with time is still done
        log.warning("event=clock_doubted")
    else:
        delete_old_sessions(context.state, memories.space, now)
    own = set(context.own_folders().values())
    sealed = context.caller.sealed
    trashed: list[str] = []
    expired: list[str] = []
    swept = 0

    def retire_folder(folder: BookPath) -> None:
        nonlocal swept
        memories.freshen(folder)
        done = RetireResult()
        if now is not None:
            done = _retire_folder(context, folder, now)
            swept += sweep_trash(memories, folder, now=now)
        record_revisions(memories, folder)
        if context.sees_all or folder in own:
            trashed.extend(done.trashed)
            expired.extend(done.expired)

    with suppress(CommonplaceError):
        record_key_check(memories)
    _in_turn(context, sorted(own if sealed else {*scope_folders(memories), *past_scopes(memories)}), retire_folder)
    return RetireResult(tuple(trashed), tuple(expired), swept)


def _in_turn(context: BookContext, folders: Sequence[BookPath], retire_folder: Callable[[BookPath], None]) -> None:
    """Retire each folder, from where the last call stopped, until the time is up."""
    state, space = context.state, context.memories.space
    until = time.monotonic() + _SECONDS
    first = state.get_fact(space, _CURSOR) or ""
    waiting = [folder for folder in folders if str(folder) >= first] + [f for f in folders if str(f) < first]
    for place, folder in enumerate(waiting):
        if place and time.monotonic() >= until:  # at least one: else a slow disk would never get any further
            state.set_fact(space, _CURSOR, str(folder), lasting=False)
            return
        try:
            retire_folder(folder)
        except CommonplaceError as error:  # one scope that fails, or is being written, stops no other
            log.warning("event=not_retired code=%s", error.code)
    if first:
        state.set_fact(space, _CURSOR, None, lasting=False)


def _retire_folder(context: BookContext, folder: BookPath, now: str) -> RetireResult:
    memories = context.memories
    with context.reading() as index:
        rows = [row for place in index.folders(str(folder)) for row in index.rows(place).values() if row.id]
    uses = context.state.usage(memories.space, [row.id for row in rows])
    last_uses = {ref: usage.last for ref, usage in uses.items()}
    tomorrow = shift_time(now, DAY)
    # What a wrong clock dated in the future is as old as retention knows it: its first look counts as a use.
    undated = [row.id for row in rows if (last_uses.get(row.id) or row.updated) > tomorrow]
    context.state.record_uses(memories.space, undated, now)
    last_uses.update(dict.fromkeys(undated, now))
    return retire_scope(
        memories, folder, now=now, created_at=context.state.created_at(memories.space), last_uses=last_uses
    )


TOOLS = (
    make_tool(
        forget, "memory_forget", "Forget", "write",
        "Move a memory to the trash (30 days): it is wrong, or the user asks. To correct: memory_store with "
        "mode=replace, or decision=supersede:KEY.",
        change_schema(), render_change, read_only=False, destructive=True,
    ),
)  # fmt: skip
