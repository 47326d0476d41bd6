"""`import`: store the items of a source as entries of memories. The source is read and never changed.

Everything of one scope is written in one unit, as `store_many` does: durable together, then acknowledged. A second
import changes nothing, because a memory records what was imported from where (see memories.relations). What the user
did not write is `external`: every outlet labels it until a person has reviewed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from commonplace.guard.audit import Facts, scope_kind
from commonplace.guard.secrets import check_data, check_secrets, find_unmarked, redact
from commonplace.maintenance.import_records import ImportItem, Statement, skip
from commonplace.maintenance.import_sources import DATA_FOLDER, SourceEntry, read_data, read_source
from commonplace.memories import lookup, relations
from commonplace.memories.lifecycle import Labels
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import (
    InvalidInput,
    InvalidKey,
    InvalidScope,
    NotFound,
    NotPermitted,
    Refused,
    SecretFound,
)
from commonplace.model.memory import Entry, Link, Relation, Status, Trust
from commonplace.model.names import MAX_LEVELS, check_new_key, short_hash
from commonplace.model.results import ImportItemResult, ImportResult, SkippedItem
from commonplace.model.scope import Scope
from commonplace.recall.duplicates import is_same_text
from commonplace.text.naming import cut, make_key_of_name, one_line
from commonplace.vault.paths import MAX_NOTE
from commonplace.verbs.changing import check_field, new_entry, open_units
from commonplace.verbs.context import BookContext
from commonplace.verbs.store import check_target
from commonplace.verbs.verb import SCOPE, Access, Arg, verb

_ENTRY_BYTES = 400  # of an entry beside its text, at most
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


class ImportRequest(NamedTuple):
    """What `import_from` is asked."""

    source: Annotated[str, Arg("the file or folder to read", is_positional=True)]
    format: Annotated[
        str | None,
        Arg(
            "claude-code, agents-md, scaffold, cao-wiki, basic-memory, mcp-memory, mem0; recognised if not given."
            " scaffold also reads any folder of Markdown notes",
            option="from",
        ),
    ] = None
    scope: Annotated[str | None, SCOPE] = None
    dry_run: Annotated[bool, Arg("show what would be imported and skipped; write nothing")] = False
    reviewed: Annotated[bool, Arg("you have looked at it: trust it like your own")] = False
    skip_secrets: Annotated[bool, Arg("skip an item that contains a secret, instead of masking it")] = False


def _describe_import(result: ImportResult, request: ImportRequest) -> Facts:
    return {
        "scope": scope_kind(request.scope),
        "action": "dry-run" if result.dry_run else "imported",
        "format": result.format,
        **{name: getattr(result, name) for name in ("created", "appended", "trusted", "unchanged", "links")},
        "redacted": result.redacted,
        "left": len(result.left),
    }


@verb(
    Access.WRITE,
    audit=_describe_import,
    audit_name="import",
    command="import",
    examples=(
        "commonplace import ~/.claude/projects/-home-ann-app/memory --dry-run",
        "commonplace import ~/.claude/CLAUDE.md",
        "commonplace import memory.jsonl --from mcp-memory --scope global",
        "commonplace import ~/notes --from scaffold --dry-run",
    ),
    no_tool="reads files beyond the book: for a person",
)
def import_from(context: BookContext, request: ImportRequest) -> ImportResult:
    """Import memories from another tool.

    The source is only read, and importing again brings only what is new. Text that you did not write yourself is
    labelled as from outside until you accept it: `--reviewed` accepts the whole source, `commonplace review --accept
    KEY` one memory. docs/import.md says for each format what is imported and what is not.
    """
    scope = request.scope
    is_person = context.is_person
    if request.reviewed and not is_person:
        raise NotPermitted("Only a person can say that a source was reviewed.")
    if scope is not None:
        context.caller.check_write(context.caller.scope(scope))  # before anything is read
    content = read_source(request.source, request.format, book=context.root, has_scope=scope is not None)
    trust = Trust.HUMAN if is_person and (request.reviewed or content.is_personal) else Trust.EXTERNAL
    options = ImportOptions(
        content.format, trust, request.reviewed, redacts=not request.skip_secrets, dry_run=request.dry_run
    )
    skipped = content.skipped
    by_scope: dict[Scope, list[PreparedItem]] = {}
    for number, item in enumerate(content.items, 1):
        _tell_progress(context, number, len(content.items))
        prepared = _prepare(context, item, options, skipped)
        target = _choose_scope(context, item, scope, skipped) if prepared is not None else None
        if prepared is not None and target is not None:
            by_scope.setdefault(target, []).append(prepared)
    placements, links = _write(context, by_scope, options)
    data = tuple(_copy_data(context, content.data, skipped, dry_run=options.dry_run))
    return _report(options, placements, links, skipped)._replace(data=data)


def _tell_progress(context: BookContext, done: int, total: int) -> None:
    """Tell who waits how far a pass over the items is: there is one to check them, and one to place them."""
    if context.memories.progress is not None:
        context.memories.progress(done, total)


def _report(
    options: ImportOptions, placements: Sequence[ItemPlacement], links: int, skipped: Sequence[SkippedItem]
) -> ImportResult:
    counts = Counter(one.action for one in placements)
    # A place is a name of the source's, and may itself have a secret in it.
    items = [
        ImportItemResult(redact(one.prepared.item.place)[0], one.key, one.scope.kind, one.action, one.entries)
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


# Data files


def _copy_data(
    context: BookContext, files: Iterable[SourceEntry], skipped: list[SkippedItem], *, dry_run: bool
) -> Iterator[str]:
    """Copy data files into the book, and yield their names; one that is there already is left as it is."""
    for file in files:
        name, data = file.name.removeprefix(DATA_FOLDER), read_data(file)
        if isinstance(data, SkippedItem):
            skipped.append(data)
            continue
        try:
            check_secrets(name)
            check_data(data)
            known = _find_data(context, name)
            if known is not None and known != data:
                skipped.append(skip(file.name, "data_exists"))
            elif known is None:
                if not dry_run:
                    lookup.put_data(context.memories, context.view(), name, data)
                yield name
        except SecretFound as error:
            skipped.append(skip(file.name, "secret", error.message))
        except Refused as error:
            skipped.append(skip(file.name, "not_permitted", error.message))
        except InvalidInput as error:
            skipped.append(skip(file.name, "invalid", error.message))


def _find_data(context: BookContext, name: str) -> bytes | None:
    try:
        return lookup.get_data(context.memories, context.view(), name)
    except NotFound:
        return None


# From items to entries


def _prepare(
    context: BookContext, item: ImportItem, options: ImportOptions, skipped: list[SkippedItem]
) -> PreparedItem | None:
    """Return the item as entries; None where it is skipped, because of a secret or because it cannot be stored."""
    size = sum(len(text.encode("utf-8", "surrogateescape")) + _ENTRY_BYTES for text in _texts_of(item))
    if size > MAX_NOTE:
        skipped.append(skip(item.place, "too_large", f"(about {size:,} bytes; a memory has at most {MAX_NOTE:,})"))
        return None
    secrets = find_unmarked("\n".join(_texts_of(item)))
    if secrets and not options.redacts:
        rules = sorted({secret.rule for secret in secrets})
        skipped.append(skip(item.place, "secret", f"({', '.join(rules)})"))
        return None
    if secrets:
        item = _redact_item(item)
    try:
        entries = tuple(_make_entry(context, item, statement, options) for statement in item.statements)
        check_field("summary", item.summary)
        check_field("name", item.ident)
    except InvalidInput as error:
        skipped.append(skip(item.place, "invalid", error.message))
        return None
    summary = cut(one_line(item.summary), _SUMMARY) if item.summary else None
    labels = Labels(item.type, item.tags, summary or None)
    return PreparedItem(item, f"{options.format}:{one_line(item.ident)}", entries, labels, len(secrets))


def _make_entry(context: BookContext, item: ImportItem, statement: Statement, options: ImportOptions) -> Entry:
    check_field("session", item.session)
    entry = new_entry(context, statement.text, item.author, statement.occurred)
    return entry._replace(
        trust=options.trust,
        author=item.author or (context.author if options.trust is Trust.HUMAN else None),
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


def _choose_scope(
    context: BookContext, item: ImportItem, scope: str | None, skipped: list[SkippedItem]
) -> Scope | None:
    """Return the scope that the caller named, else the item's own, else the project's.

    None, and the item is skipped, where the caller may not write to the item's own scope.
    """
    own = item.scope if scope is None and not context.caller.sealed else None
    try:
        target = context.caller.scope(scope or own or ("session" if context.caller.sealed else "project"))
        check_target(context, target)
    except (NotPermitted, InvalidScope) as error:
        if own is None:
            raise
        skipped.append(skip(item.place, "not_permitted", error.message))
        return None
    return target


# From entries to memories


def _write(
    context: BookContext, by_scope: Mapping[Scope, Sequence[PreparedItem]], options: ImportOptions
) -> tuple[list[ItemPlacement], int]:
    """Write all scopes; return where the items went, and how many links were made."""
    placements: list[ItemPlacement] = []
    with open_units(context, *by_scope) as units:
        for target, unit in units.items():
            placements += _place_items(context, unit, target, by_scope[target], options)
        links = _add_links(context, units, placements, options)
        if not options.dry_run:
            for unit in units.values():
                unit.commit()
    return placements, links


def _place_items(
    context: BookContext, unit: Unit, target: Scope, items: Sequence[PreparedItem], options: ImportOptions
) -> list[ItemPlacement]:
    keys = relations.origins(unit, [item.key for item in context.list_memories([unit.folder])])
    page = context.scope_page(target, unit.folder)
    placements = []
    for number, item in enumerate(items, 1):
        _tell_progress(context, number, len(items))
        key = keys.get(item.origin) or _choose_key(unit, item)
        keys[item.origin] = key
        found = unit.find(key)
        entries = _find_new_entries(found, item)
        if entries:
            if page is not None:
                unit.put_aside(page)
                page = None
            action = relations.import_entries(unit, key, entries, item.labels, item.origin).action
        else:
            is_vouched = options.is_reviewed and found is not None and relations.origin_of(found.note) == item.origin
            action = "trusted" if is_vouched and relations.vouch(unit, key) else "unchanged"
        placements.append(ItemPlacement(item, target, key, action, len(entries)))
    return placements


def _find_new_entries(found: StoredNote | None, item: PreparedItem) -> list[Entry]:
    """Return the entries that the memory neither has nor ever had from this source."""
    if found is None:
        return list(item.entries)
    taken = relations.taken_texts(found.note) if relations.origin_of(found.note) == item.origin else frozenset()
    texts = [entry.text for entry in found.note.entries]
    return [
        entry
        for entry in item.entries
        if relations.text_hash(entry.text) not in taken and not any(is_same_text(entry.text, text) for text in texts)
    ]


def _choose_key(unit: Unit, item: PreparedItem) -> str:
    """Return a key made of the item's name: a free one, or that of a memory which already says the same."""
    folders = "".join(f"{_make_level(name)}/" for name in item.item.folders[: MAX_LEVELS - 1])
    name = folders + make_key_of_name("".join(" " if ch in ".!?。！？" else ch for ch in item.item.name))
    for number in range(1, _NUMBERED_KEYS + 1):
        key = name if number == 1 else f"{name}-{number}"
        found = unit.find(key)
        if found is None or not _find_new_entries(found, item):
            return key
    last = name.removeprefix(folders)
    return f"{folders}{last[:40].rstrip('-')}-{short_hash(item.origin)}"


def _make_level(name: str) -> str:
    """Return a level of a key for a folder: its own name where that can be one."""
    try:
        return check_new_key(name)
    except InvalidKey:
        return make_key_of_name(name)


# Links


def _add_links(
    context: BookContext, units: Mapping[Scope, Unit], placements: Sequence[ItemPlacement], options: ImportOptions
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
                links.append(_make_link(context, link.rel, target, options))
        if links:
            count += relations.add_links(units[one.scope], one.key, links)
    return count


def _make_link(context: BookContext, rel: str, to: str, options: ImportOptions) -> Link:
    """Return a link; it waits for review unless a person imports it and it only says that two memories relate."""
    is_harmless = rel == Relation.RELATES_TO and context.is_person
    status = Status.ACTIVE if is_harmless else Status.PROPOSED
    return Link(rel, to, "human" if options.trust is Trust.HUMAN else "agent", status.value)


def _fold_name(text: str) -> str:
    return " ".join(text.replace("_", "-").casefold().split()).removesuffix(".md")
