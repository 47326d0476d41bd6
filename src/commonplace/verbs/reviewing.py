"""The one queue of what waits for a verdict, and the verdicts.

A person or a coordinator accepts, edits or rejects. A verdict is written into the note, so it outlives any index, and
whatever an agent proposes again.
"""

from __future__ import annotations

from commonplace.guard.secrets import check_secrets
from commonplace.memories import arrivals, history, lifecycle, lookup, supersession
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.memory import Entry, Link, Relation, Status
from commonplace.model.results import Proposal, StoreResult
from commonplace.vault.paths import resolve
from commonplace.verbs.changing import (
    change_linked,
    check_reviewer,
    check_verdicts,
    commit_first,
    judge,
    new_entry,
    origin,
    stored,
    target_of,
    units,
)
from commonplace.verbs.desk import Desk
from commonplace.verbs.storing import check_place


def queue(desk: Desk) -> list[Proposal]:
    """Everything that waits, by scope and key; a person sees all scopes, a coordinator its own."""
    check_reviewer(desk)
    if not desk.settings.enabled:
        return []
    view = desk.view(everything=True)
    desk.asked(None, everything=True)
    with desk.keep.index.reading(desk.keep.space) as index:
        rows = [row for row in index.rows_to_review() if view.may_read(resolve(row.folder))]
    waiting: list[Proposal] = []
    for row in rows:
        scope, key = desk.place_of(row.folder, row.name)
        item = desk.listed(row)
        place = (key, item.scope, item.scope_id, item.path)
        if row.status in (Status.PROPOSED, Status.QUARANTINED):
            waiting.append(Proposal("memory", *place, row.status, item.shown_summary, row.updated))
        memory = lookup.load(desk.keep, view, scope, desk.folder(scope), key) if row.proposed_links else None
        for link in memory.meta.links if memory is not None else ():
            if link.status == Status.PROPOSED:
                waiting.append(
                    Proposal("link", *place, link.status, item.shown_summary, row.updated, link.rel, link.to)
                )
    return waiting


def accept(
    desk: Desk,
    key: str,
    scope: str | None,
    content: str | None,
    rel: str | None,
    to: str | None,
    into: str | None,
) -> StoreResult:
    if _is_link(rel, to):
        if into is not None:
            raise InvalidField("A link stays with its memory.", hint="Leave `into` out, or accept the memory itself.")
        return _judge_link(desk, key, scope, rel, to, accepted=True)
    entry = None
    if content is not None:
        entry = new_entry(desk, content, None, None, None, None)
        check_secrets(content)
    return _accept(desk, key, scope, entry) if into is None else _accept_into(desk, key, scope, entry, into)


def _accept(desk: Desk, key: str, scope: str | None, entry: Entry | None) -> StoreResult:
    def accepted(unit: Unit) -> lifecycle.ChangeResult:
        arrivals.lift_tombstone(unit, key)
        return _let_stand(desk, unit, key, entry)

    return judge(desk, key, scope, accepted)


def _let_stand(desk: Desk, unit: Unit, key: str, entry: Entry | None) -> lifecycle.ChangeResult:
    """It stands, with another text if one is given; and what came from outside is from now on trusted, if it is a
    person who looked at it."""
    standing = lifecycle.Labels(status=Status.ACTIVE)
    if entry is not None:
        return lifecycle.rewrite(unit, key, [entry], standing, desk.who)
    if origin(desk) == "human":
        arrivals.vouch(unit, key)
    return lifecycle.relabel(unit, key, standing, why=history.JUDGED, who=desk.who)


def _accept_into(desk: Desk, key: str, scope: str | None, entry: Entry | None, into: str) -> StoreResult:
    """It stands in another scope. That is a verdict on what waits here, and a store to there: it takes the right to
    both."""
    check_verdicts(desk)
    place = desk.caller.scope(into)
    check_place(desk, place)
    target = target_of(desk, key, scope)
    if desk.folder(place) == desk.folder(target):  # by whichever of its names
        return _accept(desk, key, scope, entry)
    with units(desk, target, place) as opened:
        unit, there = opened[target], opened[place]
        arrivals.lift_tombstone(unit, key, there)
        arrivals.move(unit, there, key, desk.who)
        page = desk.describe(place, there.folder)
        if page is not None:
            there.put_aside(page)
        kept = _let_stand(desk, there, key, entry)
        check_secrets(there.get(key).data.decode("utf-8", "replace"))
        commit_first(place, opened)
    return stored(place, kept._replace(action=history.MOVED))


def reject(desk: Desk, key: str, scope: str | None, rel: str | None, to: str | None) -> StoreResult:
    if _is_link(rel, to):
        return _judge_link(desk, key, scope, rel, to, accepted=False)
    return judge(desk, key, scope, lambda unit: lifecycle.forget(unit, key, desk.who))


def _judge_link(
    desk: Desk, key: str, scope: str | None, rel: str | None, to: str | None, *, accepted: bool
) -> StoreResult:
    def judged(unit: Unit, there: Unit | None) -> lifecycle.ChangeResult:
        return supersession.judge_link(
            unit, key, _link(unit, key, rel, to), accepted=accepted, who=desk.who, there=there
        )

    check_verdicts(desk)
    marks = accepted and rel == Relation.SUPERSEDES
    return change_linked(desk, target_of(desk, key, scope), to if marks else None, judged, verdict=True)


def _is_link(rel: str | None, to: str | None) -> bool:
    if (rel is None) != (to is None):
        raise InvalidField("A link has both a rel and a to.", hint="Give both, or neither for the memory itself.")
    return rel is not None


def _link(unit: Unit, key: str, rel: str | None, to: str | None) -> Link:
    link = supersession.find_link(unit, key, rel, to or "")
    if link is not None:
        return link
    raise NotFound(f"{key!a} has no link {rel} to {to!a}.")
