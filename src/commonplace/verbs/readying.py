"""From an item of a source to entries that may be kept: what cannot be stored, and what has a secret, is left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from commonplace.guard.secrets import find_unmarked, redact
from commonplace.keep.life import Labels
from commonplace.maintenance.importing.items import Item, left
from commonplace.model.errors import InvalidInput
from commonplace.model.memory import Entry, Trust
from commonplace.model.results import LeftItem
from commonplace.text.naming import cut, one_line
from commonplace.verbs.changing import check_word, new_entry
from commonplace.verbs.desk import Desk

_SUMMARY = 200


class Ready(NamedTuple):
    """An item, checked, as entries."""

    item: Item
    origin: str
    entries: tuple[Entry, ...]
    labels: Labels
    removed: int  # secrets


class Order(NamedTuple):
    """How an import is to be done."""

    format: str
    trust: Trust
    reviewed: bool
    redacting: bool
    dry_run: bool


def ready(desk: Desk, item: Item, order: Order, skipped: list[LeftItem]) -> Ready | None:
    """The item as entries, if it can be kept; else it is left, with the reason."""
    item, removed, rules = _without_secrets(item, order.redacting)
    if rules:
        skipped.append(left(item.place, "secret", f"({', '.join(rules)})"))
        return None
    try:
        entries = tuple(_entry(desk, item, number, order) for number in range(len(item.statements)))
        check_word("summary", item.summary)
        check_word("name", item.ident)
    except InvalidInput as error:
        skipped.append(left(item.place, "invalid", error.message))
        return None
    summary = cut(one_line(item.summary), _SUMMARY) if item.summary else None
    return Ready(
        item, f"{order.format}:{one_line(item.ident)}", entries, Labels(item.type, item.tags, summary or None), removed
    )


def _entry(desk: Desk, item: Item, number: int, order: Order) -> Entry:
    said = item.statements[number]
    check_word("session", item.session)
    entry = new_entry(desk, said.text, item.author, said.occurred, None, None)
    author = item.author or (desk.who if order.trust is Trust.HUMAN else None)
    return entry._replace(trust=order.trust, author=author, host=order.format, session=item.session, tags=said.tags)


def _without_secrets(item: Item, redacting: bool) -> tuple[Item, int, list[str]]:
    """The item, how many secrets were taken out of it, and the rules of those that are still in it."""
    words = [item.ident, item.name, item.summary, item.author, item.session, *item.tags]
    texts = [*(said.text for said in item.statements), *(word for said in item.statements for word in said.tags)]
    found = find_unmarked("\n".join([word for word in (*words, *texts) if word]))
    if not found:
        return item, 0, []
    if not redacting:
        return item, 0, sorted({finding.rule for finding in found})
    statements = tuple(said._replace(text=redact(said.text)[0], tags=_clean(said.tags)) for said in item.statements)
    return (
        item._replace(
            ident=redact(item.ident)[0],
            name=redact(item.name)[0],
            statements=statements,
            summary=redact(item.summary)[0] if item.summary else None,
            tags=_clean(item.tags),
            author=redact(item.author)[0] if item.author else None,
            session=redact(item.session)[0] if item.session else None,
        ),
        len(found),
        [],
    )


def _clean(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if not find_unmarked(tag))
