"""Importing: from the items of a source to entries in a unit. The source is read and never changed.

Everything of one scope is written in one unit, as `store_many` does it: durable together, then acknowledged. Importing
again changes nothing, because a memory knows what was taken from where (`keep.imported`). What the user did not write
is `external`: labelled at every outlet until a person has looked at it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from commonplace.guard.secrets import redact
from commonplace.keep import imported
from commonplace.keep.unit import Found, Unit
from commonplace.maintenance.importing.harvest import gather
from commonplace.maintenance.importing.items import Item, left
from commonplace.model.errors import InvalidScope, NotPermitted
from commonplace.model.ids import short_hash
from commonplace.model.memory import Entry, Link, Relation, Status, Trust
from commonplace.model.results import Imported, ImportedItem, LeftItem
from commonplace.model.scope import Scope
from commonplace.recall.duplicates import same
from commonplace.text.naming import make_key
from commonplace.verbs.changing import check_writes, origin
from commonplace.verbs.desk import Desk
from commonplace.verbs.readying import Order, Ready, ready
from commonplace.verbs.storing import check_place

_MOST_NUMBERS = 20  # keys that differ in a number; then one with a hash, which nothing else has
_SUMMARY = 200


class Placed(NamedTuple):
    """Where an item went."""

    ready: Ready
    scope: Scope
    key: str
    action: str
    entries: int


def import_from(
    desk: Desk,
    source: str | os.PathLike[str],
    format_name: str | None,
    scope: str | None,
    *,
    dry_run: bool,
    reviewed: bool,
    redacting: bool,
) -> Imported:
    check_writes(desk)
    person = origin(desk) == "human"
    if reviewed and not person:
        raise NotPermitted("Only a person can say that a source was reviewed.")
    if scope is not None:
        desk.caller.check_write(desk.caller.scope(scope))  # before anything is read
    gathered = gather(source, format_name, book=desk.root, scoped=scope is not None)
    trust = Trust.HUMAN if person and (reviewed or gathered.own) else Trust.EXTERNAL
    order = Order(gathered.format.name, trust, reviewed, redacting, dry_run)
    skipped = list(gathered.found.left)
    by_scope: dict[Scope, list[Ready]] = {}
    for item in gathered.found.items:
        checked = ready(desk, item, order, skipped)
        target = _target(desk, item, scope, skipped) if checked is not None else None
        if checked is not None and target is not None:
            by_scope.setdefault(target, []).append(checked)
    placed, links = _write(desk, by_scope, order)
    return _report(order, placed, links, skipped)


def _report(order: Order, placed: Sequence[Placed], links: int, skipped: Sequence[LeftItem]) -> Imported:
    did = Counter(one.action for one in placed)
    items = [
        ImportedItem(_shown(one.ready.item.place), one.key, one.scope.kind.value, one.action, one.entries)
        for one in placed
    ]
    removed = sum(one.ready.removed for one in placed if one.entries)
    hidden = [one._replace(place=_shown(one.place)) for one in skipped]
    return Imported(
        format=order.format,
        dry_run=order.dry_run,
        trust=order.trust.value,
        created=did["created"],
        appended=did["appended"],
        trusted=did["trusted"],
        unchanged=did["unchanged"],
        links=links,
        redacted=removed,
        items=tuple(items),
        left=tuple(hidden),
    )


def _shown(place: str) -> str:
    """A place as it may be shown: a name may have a secret in it, too."""
    return redact(place)[0]


def _target(desk: Desk, item: Item, scope: str | None, skipped: list[LeftItem]) -> Scope | None:
    """The scope that the caller named, else the item's own, else the project; None where the item's own is not for
    this caller."""
    own = item.scope if scope is None and not desk.caller.sealed else None
    try:
        target = desk.caller.scope(scope or own or ("session" if desk.caller.sealed else "project"))
        check_place(desk, target)
    except (NotPermitted, InvalidScope) as error:
        if own is None:
            raise
        skipped.append(left(item.place, "not_permitted", error.message))
        return None
    return target


# From entries to memories


def _write(desk: Desk, by_scope: Mapping[Scope, Sequence[Ready]], order: Order) -> tuple[list[Placed], int]:
    placed: list[Placed] = []
    with ExitStack() as locks:
        units: dict[Scope, Unit] = {}
        for target in sorted(by_scope, key=desk.folder):
            unit = locks.enter_context(desk.keep.unit(desk.folder(target), desk.view_for(target)))
            units[target] = unit
            placed += _place_all(desk, unit, target, by_scope[target], order)
        links = _link_all(desk, units, placed, order)
        if not order.dry_run:
            for unit in units.values():
                unit.commit()
    return placed, links


def _place_all(desk: Desk, unit: Unit, target: Scope, items: Sequence[Ready], order: Order) -> list[Placed]:
    known = imported.origins(unit, [item.key for item in desk.listing([unit.folder])])
    page = desk.describe(target, unit.folder)
    placed = []
    for one in items:
        key = known.get(one.origin) or _free_key(unit, one)
        known[one.origin] = key
        found = unit.find(key)
        new = _new_entries(found, one)
        if new and page is not None:
            unit.put_aside(page)
            page = None
        if new:
            action = imported.take_in(unit, key, new, one.labels, one.origin).action
        else:
            vouched = order.reviewed and found is not None and imported.origin_of(found.note) == one.origin
            action = "trusted" if vouched and imported.vouch(unit, key) else "unchanged"
        placed.append(Placed(one, target, key, action, len(new)))
    return placed


def _new_entries(found: Found | None, item: Ready) -> list[Entry]:
    """Those entries that the memory neither has nor ever took from this source."""
    if found is None:
        return list(item.entries)
    taken = imported.taken_texts(found.note) if imported.origin_of(found.note) == item.origin else frozenset()
    there = [entry.text for entry in found.note.entries]
    return [
        entry
        for entry in item.entries
        if imported.text_hash(entry.text) not in taken and not any(same(entry.text, text) for text in there)
    ]


def _free_key(unit: Unit, item: Ready) -> str:
    """A key made of the item's name that no other memory has; or that of a memory which says just this."""
    made = make_key("".join(" " if ch in ".!?。！？" else ch for ch in item.item.name))
    for number in range(1, _MOST_NUMBERS + 1):
        key = made if number == 1 else f"{made}-{number}"
        found = unit.find(key)
        if found is None or not _new_entries(found, item):
            return key
    return f"{made[:40].rstrip('-')}-{short_hash(item.origin)}"


# Links


def _link_all(desk: Desk, units: Mapping[Scope, Unit], placed: Sequence[Placed], order: Order) -> int:
    """Links between memories that were imported, by the names that their source has for them."""
    by_name: dict[str, Placed] = {}
    for one in placed:
        item = one.ready.item
        for name in (item.ident, *item.names, item.name, one.key):
            by_name.setdefault(_name(name), one)
    made = 0
    for one in placed:
        links = []
        for link in one.ready.item.links:
            to = by_name.get(_name(link.to)) or by_name.get(_name(link.to.rsplit("/", 1)[-1]))
            if to is not None and (to.scope, to.key) != (one.scope, one.key):
                where = to.key if to.scope == one.scope else f"{to.scope.kind}/{to.key}"
                links.append(_link(desk, link.rel, where, order))
        if links:
            made += imported.add_links(units[one.scope], one.key, links)
    return made


def _link(desk: Desk, rel: str, to: str, order: Order) -> Link:
    """A link that only says that two relate does no harm; any other, or an agent's, waits for a verdict."""
    stands = rel == Relation.RELATES_TO and origin(desk) == "human"
    status = Status.ACTIVE if stands else Status.PROPOSED
    return Link(rel, to, "human" if order.trust is Trust.HUMAN else "agent", status.value)


def _name(text: str) -> str:
    return " ".join(text.replace("_", "-").casefold().split()).removesuffix(".md")
