"""`import`: store the items of a source as entries of memories. The source is read and never changed.

Everything of one scope is written in one unit, as `store_many` does: durable together, then acknowledged. A second
import changes nothing, because a memory records what was imported from where (see memories.arrivals). What the user
did not write is `external`: every outlet labels it until a person has reviewed it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from commonplace.guard.secrets import find_unmarked, redact
from commonplace.maintenance.import_records import ImportItem, Statement, skip
from commonplace.maintenance.import_sources import read_source
from commonplace.memories import arrivals
from commonplace.memories.lifecycle import Labels
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import InvalidInput, InvalidScope, NotPermitted
from commonplace.model.ids import short_hash
from commonplace.model.memory import Entry, Link, Relation, Status, Trust
from commonplace.model.results import ImportItemResult, ImportResult, SkippedItem
from commonplace.model.scope import Scope
from commonplace.recall.duplicates import is_same_text
from commonplace.text.naming import cut, make_key, one_line
from commonplace.verbs.changing import check_word, check_writes, new_entry, origin
from commonplace.verbs.desk import Desk
from commonplace.verbs.storing import check_place

_NUMBERED_KEYS = 20  # keys that differ in a number are tried; then one with a hash, which is always free
_SUMMARY = 200


class ImportOptions(NamedTuple):
    """How one import is done."""

    format: str
    trust: Trust
    is_reviewed: bool
    redacts: bool
    dry_run: bool


class PreparedItem(NamedTuple):
    """An item as entries that may be stored."""

    item: ImportItem
    origin: str
    entries: tuple[Entry, ...]
    labels: Labels
    secrets: int  # how many were removed


class ItemPlacement(NamedTuple):
    """The memory that an item went to, and what was done there."""

    prepared: PreparedItem
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
) -> ImportResult:
    """Import a source; return what was taken and what was skipped."""
    check_writes(desk)
    is_person = origin(desk) == "human"
    if reviewed and not is_person:
        raise NotPermitted("Only a person can say that a source was reviewed.")
    if scope is not None:
        desk.caller.check_write(desk.caller.scope(scope))  # before anything is read
    content = read_source(source, format_name, book=desk.root, has_scope=scope is not None)
    trust = Trust.HUMAN if is_person and (reviewed or content.is_personal) else Trust.EXTERNAL
    options = ImportOptions(content.format, trust, reviewed, redacting, dry_run)
    skipped = list(content.result.skipped)
    by_scope: dict[Scope, list[PreparedItem]] = {}
    for item in content.result.items:
        prepared = _prepare(desk, item, options, skipped)
        target = _choose_scope(desk, item, scope, skipped) if prepared is not None else None
        if prepared is not None and target is not None:
            by_scope.setdefault(target, []).append(prepared)
    placements, links = _write(desk, by_scope, options)
    return _report(options, placements, links, skipped)


def _report(
    options: ImportOptions, placements: Sequence[ItemPlacement], links: int, skipped: Sequence[SkippedItem]
) -> ImportResult:
    counts = Counter(one.action for one in placements)
    # A place is a name of the source's, and may itself have a secret in it.
    items = [
        ImportItemResult(redact(one.prepared.item.place)[0], one.key, one.scope.kind.value, one.action, one.entries)
        for one in placements
    ]
    return ImportResult(
        format=options.format,
        dry_run=options.dry_run,
        trust=options.trust.value,
        created=counts["created"],
        appended=counts["appended"],
        trusted=counts["trusted"],
        unchanged=counts["unchanged"],
        links=links,
        redacted=sum(one.prepared.secrets for one in placements if one.entries),
        items=tuple(items),
        left=tuple(one._replace(place=redact(one.place)[0]) for one in skipped),
    )


# From items to entries


def _prepare(desk: Desk, item: ImportItem, options: ImportOptions, skipped: list[SkippedItem]) -> PreparedItem | None:
    """Return the item as entries; None where it is skipped, because of a secret or because it cannot be stored."""
    secrets = find_unmarked("\n".join(_texts_of(item)))
    if secrets and not options.redacts:
        rules = sorted({secret.rule for secret in secrets})
        skipped.append(skip(item.place, "secret", f"({', '.join(rules)})"))
        return None
    if secrets:
        item = _redact_item(item)
    try:
        entries = tuple(_make_entry(desk, item, statement, options) for statement in item.statements)
        check_word("summary", item.summary)
        check_word("name", item.ident)
    except InvalidInput as error:
        skipped.append(skip(item.place, "invalid", error.message))
        return None
    summary = cut(one_line(item.summary), _SUMMARY) if item.summary else None
    labels = Labels(item.type, item.tags, summary or None)
    return PreparedItem(item, f"{options.format}:{one_line(item.ident)}", entries, labels, len(secrets))


def _make_entry(desk: Desk, item: ImportItem, statement: Statement, options: ImportOptions) -> Entry:
    check_word("session", item.session)
    entry = new_entry(desk, statement.text, item.author, statement.occurred, None, None)
    return entry._replace(
        trust=options.trust,
        author=item.author or (desk.who if options.trust is Trust.HUMAN else None),
        host=options.format,
        session=item.session,
        tags=statement.tags,
    )


def _texts_of(item: ImportItem) -> list[str]:
    """Return every text of an item that would be stored."""
    texts = [item.ident, item.name, item.summary, item.author, item.session, *item.tags]
    texts += [statement.text for statement in item.statements]
    texts += [tag for statement in item.statements for tag in statement.tags]
    return [text for text in texts if text]


def _redact_item(item: ImportItem) -> ImportItem:
    return item._replace(
        ident=redact(item.ident)[0],
        name=redact(item.name)[0],
        statements=tuple(
            one._replace(text=redact(one.text)[0], tags=_drop_secret_tags(one.tags)) for one in item.statements
        ),
        summary=redact(item.summary)[0] if item.summary else None,
        tags=_drop_secret_tags(item.tags),
        author=redact(item.author)[0] if item.author else None,
        session=redact(item.session)[0] if item.session else None,
    )


def _drop_secret_tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if not find_unmarked(tag))


def _choose_scope(desk: Desk, item: ImportItem, scope: str | None, skipped: list[SkippedItem]) -> Scope | None:
    """Return the scope that the caller named, else the item's own, else the project's.

    None, and the item is skipped, where the caller may not write to the item's own scope.
    """
    own = item.scope if scope is None and not desk.caller.sealed else None
    try:
        target = desk.caller.scope(scope or own or ("session" if desk.caller.sealed else "project"))
        check_place(desk, target)
    except (NotPermitted, InvalidScope) as error:
        if own is None:
            raise
        skipped.append(skip(item.place, "not_permitted", error.message))
        return None
    return target


# From entries to memories


def _write(
    desk: Desk, by_scope: Mapping[Scope, Sequence[PreparedItem]], options: ImportOptions
) -> tuple[list[ItemPlacement], int]:
    """Write all scopes; return where the items went, and how many links were made."""
    placements: list[ItemPlacement] = []
    with ExitStack() as locks:
        units: dict[Scope, Unit] = {}
        for target in sorted(by_scope, key=desk.folder):
            unit = locks.enter_context(desk.keep.unit(desk.folder(target), desk.view_for(target)))
            units[target] = unit
            placements += _place_items(desk, unit, target, by_scope[target], options)
        links = _add_links(desk, units, placements, options)
        if not options.dry_run:
            for unit in units.values():
                unit.commit()
    return placements, links


def _place_items(
    desk: Desk, unit: Unit, target: Scope, items: Sequence[PreparedItem], options: ImportOptions
) -> list[ItemPlacement]:
    keys = arrivals.origins(unit, [item.key for item in desk.listing([unit.folder])])
    page = desk.describe(target, unit.folder)
    placements = []
    for item in items:
        key = keys.get(item.origin) or _choose_key(unit, item)
        keys[item.origin] = key
        found = unit.find(key)
        entries = _find_new_entries(found, item)
        if entries:
            if page is not None:
                unit.put_aside(page)
                page = None
            action = arrivals.take_in(unit, key, entries, item.labels, item.origin).action
        else:
            is_vouched = options.is_reviewed and found is not None and arrivals.origin_of(found.note) == item.origin
            action = "trusted" if is_vouched and arrivals.vouch(unit, key) else "unchanged"
        placements.append(ItemPlacement(item, target, key, action, len(entries)))
    return placements


def _find_new_entries(found: StoredNote | None, item: PreparedItem) -> list[Entry]:
    """Return the entries that the memory neither has nor ever had from this source."""
    if found is None:
        return list(item.entries)
    taken = arrivals.taken_texts(found.note) if arrivals.origin_of(found.note) == item.origin else frozenset()
    texts = [entry.text for entry in found.note.entries]
    return [
        entry
        for entry in item.entries
        if arrivals.text_hash(entry.text) not in taken and not any(is_same_text(entry.text, text) for text in texts)
    ]


def _choose_key(unit: Unit, item: PreparedItem) -> str:
    """Return a key made of the item's name: a free one, or that of a memory which already says the same."""
    name = make_key("".join(" " if ch in ".!?。！？" else ch for ch in item.item.name))
    for number in range(1, _NUMBERED_KEYS + 1):
        key = name if number == 1 else f"{name}-{number}"
        found = unit.find(key)
        if found is None or not _find_new_entries(found, item):
            return key
    return f"{name[:40].rstrip('-')}-{short_hash(item.origin)}"


# Links


def _add_links(
    desk: Desk, units: Mapping[Scope, Unit], placements: Sequence[ItemPlacement], options: ImportOptions
) -> int:
    """Link imported memories by the names that their source uses; return how many links were made."""
    by_name: dict[str, ItemPlacement] = {}
    for one in placements:
        item = one.prepared.item
        for name in (item.ident, *item.names, item.name, one.key):
            by_name.setdefault(_fold_name(name), one)
    count = 0
    for one in placements:
        links = []
        for link in one.prepared.item.links:
            to = by_name.get(_fold_name(link.to)) or by_name.get(_fold_name(link.to.rsplit("/", 1)[-1]))
            if to is not None and (to.scope, to.key) != (one.scope, one.key):
                target = to.key if to.scope == one.scope else f"{to.scope.kind}/{to.key}"
                links.append(_make_link(desk, link.rel, target, options))
        if links:
            count += arrivals.add_links(units[one.scope], one.key, links)
    return count


def _make_link(desk: Desk, rel: str, to: str, options: ImportOptions) -> Link:
    """Return a link; it waits for review unless a person imports it and it only says that two memories relate."""
    is_harmless = rel == Relation.RELATES_TO and origin(desk) == "human"
    status = Status.ACTIVE if is_harmless else Status.PROPOSED
    return Link(rel, to, "human" if options.trust is Trust.HUMAN else "agent", status.value)


def _fold_name(text: str) -> str:
    return " ".join(text.replace("_", "-").casefold().split()).removesuffix(".md")
