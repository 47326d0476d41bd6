"""Verbs that change what is there: edit, undo, forget, restore, clear, consolidate, link."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.context.sessions import forget_told
from commonplace.guard.secrets import check_secrets
from commonplace.memories import history, lifecycle, lookup, supersession
from commonplace.memories.scopes import scope_folders
from commonplace.memories.unit import Unit
from commonplace.model.caller import Role
from commonplace.model.errors import InvalidField, InvalidScope, NotPermitted
from commonplace.model.memory import Relation
from commonplace.model.names import check_key
from commonplace.model.results import StoreResult
from commonplace.model.scope import Scope, ScopeKind
from commonplace.vault.paths import BookPath, note_path
from commonplace.verbs.changing import (
    change,
    change_linked,
    check_may_supersede,
    check_texts,
    check_writes,
    commit_first,
    new_entry,
    origin,
    place_beside,
    place_linked,
    stored,
    target_of,
    target_past,
    units,
)
from commonplace.verbs.desk import Desk
from commonplace.verbs.storing import store_one


def edit(desk: Desk, key: str, data: bytes, scope: str | None, if_revision: str | None) -> StoreResult:
    """A whole file says its own status and trust: only a person may say those."""
    if desk.caller.role is not Role.PERSON:
        raise NotPermitted("Only a person edits a memory's file.", hint="Store with mode=replace.")
    if not isinstance(data, bytes):
        raise InvalidField(f"data is bytes, not {type(data).__name__}.")
    check_secrets(data.decode("utf-8", "replace"))
    return change(desk, key, scope, lambda unit: lifecycle.edit(unit, key, data, desk.who, if_revision=if_revision))


def undo(desk: Desk, key: str, scope: str | None) -> StoreResult:
    def undone(unit: Unit, others: Sequence[Unit]) -> lifecycle.ChangeResult:
        taken = supersession.marks(unit, key, others)
        return lifecycle.undo(unit, key, desk.who, person=origin(desk) == "human", marks=taken)

    check_writes(desk)
    return _followed(desk, key, target_of(desk, key, scope), undone)


def forget(desk: Desk, key: str, scope: str | None, if_revision: str | None) -> StoreResult:
    def forgotten(unit: Unit, _: Sequence[Unit]) -> lifecycle.ChangeResult:
        return lifecycle.forget(unit, key, desk.who, if_revision=if_revision)

    check_writes(desk)
    return _followed(desk, key, target_of(desk, key, scope), forgotten)


def purge(desk: Desk, key: str, scope: str | None, if_revision: str | None) -> StoreResult:
    """Out of the files, the history, the trash, the index, the state and the audit."""
    check_writes(desk)
    if desk.caller.role is not Role.PERSON:
        raise NotPermitted("Only a person purges a memory.", hint="Forget it without purge: that can be undone.")
    keep, there = desk.keep, lookup.find_scopes(desk.keep, desk.view(), desk.own(), key)
    present = {desk.folder(place) for place in there}

    def has_key(folder: BookPath) -> bool:
        places = (history.TRASH, history.HISTORY)
        return folder in present or any(history.list_past(keep.files, place, folder, key) for place in places)

    target = target_past(desk, key, scope, has_key)
    desk.caller.check_write(target)
    idents: set[str] = set()

    def purged(unit: Unit, _: Sequence[Unit]) -> lifecycle.ChangeResult:
        kept, known = lifecycle.purge(unit, key, if_revision=if_revision)
        idents.update(known)
        return kept

    for folder in scope_folders(desk.keep):  # where it was before somebody moved it, it is still in index and pages
        desk.keep.reconcile(folder)
    answer = _followed(desk, key, target, purged)
    desk.keep.index.scrub()
    forget_told(desk.state, desk.keep.space, answer.path)
    desk.state.forget_uses(desk.keep.space, sorted(idents))
    desk.mask(key)
    return answer


def restore(desk: Desk, key: str, scope: str | None) -> StoreResult:
    check_writes(desk)
    files = desk.keep.files
    target = target_past(desk, key, scope, lambda folder: bool(history.list_restorable(files, folder, key)))
    return _followed(desk, key, target, lambda unit, _: lifecycle.restore(unit, key, desk.who))


def _followed(
    desk: Desk, key: str, target: Scope, action: Callable[[Unit, Sequence[Unit]], lifecycle.ChangeResult]
) -> StoreResult:
    """A change to one memory, and what it means for those that the memory supersedes, in whatever scope.

    What goes goes last, and what comes back comes first: where the power fails in between, both stand, and neither is
    out of sight.
    """
    desk.caller.check_write(target)
    with units(desk, target, *_superseded_places(desk, key, target)) as opened:
        unit = opened[target]
        others = [other for scope, other in opened.items() if scope != target]
        found = unit.find(key)
        kept = action(unit, others)
        supersession.follow(unit, key, found.note.meta if found is not None else None, others, desk.who)
        for one in (unit, *others) if found is None else (*others, unit):
            one.commit()
    return stored(target, kept)


def _superseded_places(desk: Desk, key: str, target: Scope) -> set[Scope]:
    """The scopes, besides its own, of what a memory supersedes or did: by its text, the last before it, and that in the
    trash. One that the caller may not write is left as it is."""
    keep, folder = desk.keep, desk.folder(target)
    aside = [history.list_past(keep.files, place, folder, key)[-1:] for place in (history.HISTORY, history.TRASH)]
    paths = [note_path(folder, check_key(key)), *(item.path for items in aside for item in items)]
    leads = {lead for path in paths for lead in supersession.leads(keep, path)}
    places = {place_linked(desk, target, lead) for lead in leads}
    return {scope for scope in places if scope is not None and _may_write(desk, scope)}


def _may_write(desk: Desk, scope: Scope) -> bool:
    try:
        desk.caller.check_write(scope)
    except (InvalidScope, NotPermitted):
        return False
    return True


def clear(desk: Desk, scope: str) -> int:
    check_writes(desk)
    target = desk.caller.scope(scope)
    desk.caller.check_write(target)
    if target.kind is ScopeKind.GLOBAL and desk.caller.role is not Role.PERSON:
        raise NotPermitted("Only a person clears the global scope.", hint="Forget memories one by one.")
    folder = desk.folder(target)
    with desk.keep.unit(folder, desk.view_for(target)) as unit:
        unit.look_again()  # what somebody put there or took away by hand counts as well
        keys = [item.key for item in desk.listing([folder])]
        for key in keys:
            lifecycle.forget(unit, key, desk.who)
        unit.commit()
    return len(keys)


def consolidate(desk: Desk, keys: Sequence[str], content: str, key: str | None, scope: str | None) -> StoreResult:
    check_writes(desk)
    old = [] if isinstance(keys, str) else list(dict.fromkeys(keys))
    if len(old) < 2:
        raise InvalidField("Consolidating takes a list of at least two keys.")
    check_texts(key=key)
    entry = new_entry(desk, content, None, None, None, None)
    check_secrets("\n".join([content, *([key] if key is not None else [])]))
    target = target_of(desk, old[0], scope)
    desk.caller.check_write(target)
    places = {one: place_beside(desk, target, one) for one in old}
    with units(desk, target, *places.values()) as opened:
        unit = opened[target]
        for one in old:
            check_may_supersede(desk, opened[places[one]].get(one), one)
        kept = store_one(desk, unit, target, key, entry, lifecycle.Labels(), "append", None)
        for one in old:
            if (places[one], one) != (target, kept.key):
                supersession.supersede(
                    unit, one, kept.key, origin=origin(desk), who=desk.who, there=opened[places[one]]
                )
        commit_first(target, opened)
    return kept._replace(action="consolidated")


def link(desk: Desk, key: str, rel: str, to: str, scope: str | None) -> StoreResult:
    check_writes(desk)
    check_texts(rel=rel, to=to)
    check_secrets(to)
    whose = origin(desk)
    marks = whose == "human" and rel == Relation.SUPERSEDES

    def linked(unit: Unit, there: Unit | None) -> lifecycle.ChangeResult:
        return supersession.add_link(unit, key, rel, to, origin=whose, who=desk.who, there=there)

    return change_linked(desk, target_of(desk, key, scope), to if marks else None, linked)
