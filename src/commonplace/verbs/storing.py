"""Storing: from what a caller sends to what goes into a unit. Checked before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Annotated, NamedTuple

from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle, supersession
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidField
from commonplace.model.memory import Entry, MemoryType, check_tag
from commonplace.model.names import check_key
from commonplace.model.results import SimilarMemory, StoreResult
from commonplace.model.scope import Scope
from commonplace.recall.duplicates import find_near_duplicates, is_same_text
from commonplace.text.naming import make_key
from commonplace.vault.paths import BookPath
from commonplace.verbs.changing import (
    check_may_add,
    check_may_supersede,
    check_word,
    check_writes,
    commit_first,
    is_left_to_review,
    new_entry,
    origin,
    place_beside,
    store_target,
    stored,
    target_of,
    units,
)
from commonplace.verbs.desk import Desk
from commonplace.verbs.request import IF_REVISION, SCOPE, TYPE, Arg, check_request

_SHOWN = 5  # near duplicates that are told
_COMPARED = 20  # how many with just the same words are looked at
_NEAR = 6  # how many of those that share most words: a store may not cost much more than its two files


class StoreRequest(NamedTuple):
    """What `store` is asked."""

    content: Annotated[
        str,
        Arg(
            "what to keep; - reads it from standard input", "TEXT", is_positional=True, min_length=1, max_length=100_000
        ),
    ]
    key: Annotated[
        str | None,
        Arg(
            "the memory it belongs to; made from the text if not given",
            "KEY",
            tool_help="like testing-framework; else made from content",
        ),
    ] = None
    scope: Annotated[str | None, SCOPE] = None
    type: Annotated[str | None, TYPE] = None
    tags: Annotated[Sequence[str], Arg("tags to add", "A,B")] = ()
    summary: Annotated[str | None, Arg("the one line that index pages show", "LINE", tool_help="one line")] = None
    mode: Annotated[str, Arg("append to the text, or replace it", choices=("append", "replace"))] = "append"
    if_revision: Annotated[str | None, IF_REVISION] = None
    decision: Annotated[
        str | None,
        Arg(
            "about near duplicates: create, update:KEY or supersede:KEY",
            "D",
            tool_help="create, update:KEY, supersede:KEY",
        ),
    ] = None
    author: Annotated[str | None, Arg("who said it", "NAME", in_tool=False)] = None
    occurred: Annotated[
        str | None,
        Arg("when it happened, if not now: 2026-11-15T09:30:00Z", "TIME", tool_help="when, if not now"),
    ] = None
    thread: Annotated[str | None, Arg("the conversation it belongs to", "ID", in_tool=False)] = None
    seq: Annotated[int | None, Arg("its place in that conversation", "N", in_tool=False)] = None


_ITEM_FIELDS = frozenset(StoreRequest._fields) - {"decision"}


class Item(NamedTuple):
    """One of many to store."""

    scope: str | None
    key: str | None
    entry: Entry
    labels: lifecycle.Labels
    mode: str
    if_revision: str | None


def store(desk: Desk, request: StoreRequest) -> StoreResult:
    """Keep a text. Return where it is, what was done, and which memories say nearly the same."""
    check_writes(desk)
    check_request(request)
    entry = new_entry(desk, request.content, request.author, request.occurred, request.thread, request.seq)
    labels = _read_labels(request.type, request.tags, request.summary)
    _check_no_secrets(request.key, entry, labels)
    decided = _decided(request.key, request.decision)
    key, supersedes = decided.key, decided.supersedes
    if decided.there is not None:
        target = target_of(desk, decided.there, request.scope)
    else:
        target = store_target(desk, request.scope, key)
    check_place(desk, target)
    place = place_beside(desk, target, supersedes) if supersedes is not None else target
    asked, similar = desk.asked(None), list[SimilarMemory]()
    with units(desk, target, place) as opened:
        unit, there = opened[target], opened[place]
        if decided.there is not None:
            old = there.get(decided.there)  # or NotFound, before anything is written
            if supersedes is not None:
                check_may_supersede(desk, old, supersedes)
        kept = store_one(desk, unit, target, key, entry, labels, request.mode, request.if_revision)
        if supersedes is not None and (place, supersedes) != (target, kept.key):
            supersession.supersede(unit, supersedes, kept.key, origin=origin(desk), who=desk.who, there=there)
        commit_first(target, opened, lambda: similar.extend(_similar_in(desk, request.content, asked)))
    others = tuple(item for item in similar if (item.key, item.scope) != (kept.key, kept.scope))[:_SHOWN]
    return kept._replace(similar=others) if others else kept


def store_many(desk: Desk, items: Iterable[Mapping[str, object]]) -> list[StoreResult]:
    check_writes(desk)
    by_scope: dict[Scope, list[tuple[int, Item]]] = {}
    for number, given in enumerate(items):  # all that can be refused is refused before anything is written
        item = _read_item(desk, given)
        target = store_target(desk, item.scope, item.key)
        check_place(desk, target)
        by_scope.setdefault(target, []).append((number, item))
    answers: dict[int, StoreResult] = {}
    with ExitStack() as locks:
        units = []
        for target in sorted(by_scope, key=desk.folder):
            unit = locks.enter_context(desk.keep.unit(desk.folder(target), desk.view_for(target)))
            for number, item in by_scope[target]:
                answers[number] = store_one(
                    desk, unit, target, item.key, item.entry, item.labels, item.mode, item.if_revision
                )
            units.append(unit)
        for unit in units:
            unit.commit()
    return [answers[number] for number in sorted(answers)]


def check_place(desk: Desk, target: Scope) -> None:
    """The rank check; and no secret may be the id of a scope, which names a folder and stands in it."""
    desk.caller.check_write(target)
    if target.id is not None:
        check_secrets(target.id)


def _check_no_secrets(key: str | None, entry: Entry, labels: lifecycle.Labels) -> None:
    """Nothing that becomes a part of the file, or its name, may hold one."""
    words = (key, entry.text, labels.summary, entry.author, entry.thread, *labels.tags)
    check_secrets("\n".join([word for word in words if word]))


def _check_mode(mode: str) -> str:
    if mode not in ("append", "replace"):
        raise InvalidField(f"mode cannot be {str(mode)[:40]!a}.", hint="Use append or replace.")
    return mode


def _free_key(desk: Desk, unit: Unit, content: str, *, proposing: bool) -> str:
    """A key made from the content that no other memory has; the key of the memory that says just this, if one does and
    is not hidden from who stores it."""
    made = make_key(content)
    for number in range(1, 1_000):
        key = made if number == 1 else f"{made}-{number}"
        found = unit.find(key)
        if found is None:
            return key
        hidden = not proposing and is_left_to_review(desk, found)
        if not hidden and any(is_same_text(entry.text, content) for entry in found.note.entries[-1:]):
            return key
    raise InvalidField("There are too many memories with keys like this one.", hint="Give a key.")


def _read_labels(kind: str | None, tags: Sequence[object], summary: str | None) -> lifecycle.Labels:
    try:
        wanted = MemoryType(kind) if kind is not None else None
    except ValueError:
        raise InvalidField(f"type cannot be {kind!a}.", hint=f"Use one of: {', '.join(MemoryType)}.") from None
    if isinstance(tags, (str, bytes)) or not hasattr(tags, "__iter__"):
        raise InvalidField(f"tags is a list of texts, not {type(tags).__name__}.")
    check_word("summary", summary)
    return lifecycle.Labels(wanted, tuple(check_tag(str(tag)) for tag in tags), summary)


class _Decided(NamedTuple):
    """What the caller decided about near duplicates."""

    key: str | None  # to write to
    supersedes: str | None = None
    there: str | None = None  # the memory that the decision names, which has to be there


def _decided(key: str | None, decision: str | None) -> _Decided:
    if decision is None or decision == "create":
        return _Decided(key)
    verb, _, name = decision.partition(":")
    if verb not in ("update", "supersede") or not name:
        raise InvalidField(f"decision cannot be {decision[:60]!a}.", hint="Use create, update:KEY or supersede:KEY.")
    check_key(name)
    if verb == "update":
        if key not in (None, name):
            raise InvalidField(
                f"The decision is to update {name!a}, and the key is another.", hint="Leave the key out."
            )
        return _Decided(name, there=name)
    if key == name:
        raise InvalidField(
            f"{name!a} cannot supersede itself.", hint="Leave the key out, or replace its text with mode replace."
        )
    return _Decided(key, name, name)


def _text(item: Mapping[str, object], name: str) -> str | None:
    value = item.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidField(f"{name} is a text.")
    return value


def _read_item(desk: Desk, given: Mapping[str, object]) -> Item:
    """One of many to store, checked."""
    if not isinstance(given, Mapping):
        raise InvalidField(f"An item is a mapping of its fields, not {type(given).__name__}.")
    unknown = given.keys() - _ITEM_FIELDS
    if unknown or "content" not in given:
        raise InvalidField(
            f"An item has an unknown field {sorted(unknown)[0][:40]!a}." if unknown else "An item has no content.",
            hint=f"Its fields are: {', '.join(sorted(_ITEM_FIELDS))}.",
        )
    word = {name: _text(given, name) for name in _ITEM_FIELDS - {"tags", "seq"}}
    tags, seq = given.get("tags") or (), given.get("seq")
    if not isinstance(tags, (list, tuple)) or not (seq is None or isinstance(seq, int)):
        raise InvalidField("tags is a list of texts, and seq a number.")
    entry = new_entry(desk, word["content"] or "", word["author"], word["occurred"], word["thread"], seq)
    labels = _read_labels(word["type"], tags, word["summary"])
    _check_no_secrets(word["key"], entry, labels)
    mode = _check_mode(word["mode"] or "append")
    key = check_key(word["key"]) if word["key"] is not None else None
    return Item(word["scope"], key, entry, labels, mode, word["if_revision"])


def store_one(
    desk: Desk,
    unit: Unit,
    target: Scope,
    key: str | None,
    entry: Entry,
    labels: lifecycle.Labels,
    mode: str,
    if_revision: str | None,
) -> StoreResult:
    """One memory into a unit: made, added to, replaced, or left alone because it says this already."""
    _check_mode(mode)
    proposing = labels.status is not None
    name = key if key is not None else _free_key(desk, unit, entry.text, proposing=proposing)
    found = unit.find(name)
    if found is not None and not proposing:
        check_may_add(desk, found, name)
    newest, given = found.note.newest if found is not None else None, labels
    if found is not None:
        labels = lifecycle.standing(found.note.meta, labels)
    # What is said again of a memory that is hidden or superseded is news: it stands again, from now on.
    if labels is given and found is not None and newest is not None and is_same_text(newest.text, entry.text):
        # Replacing is how white space is corrected, in code or in a table: there it counts.
        alone = mode == "append" or (len(found.note.entries) == 1 and newest.text == entry.text)
        if alone and (if_revision is None or lifecycle.is_revision(found, if_revision)):
            revision = lifecycle.relabel_if_new(unit, name, found, labels, entry.author)
            return stored(target, lifecycle.ChangeResult(name, found.path, revision, newest.id, "unchanged"))
    page = desk.describe(target, unit.folder) if found is None else None
    if page is not None and not unit.has_aside(page.path):
        unit.put_aside(page)
    if mode == "replace" and found is not None:
        who = entry.author or desk.who
        return stored(target, lifecycle.rewrite(unit, name, [entry], labels, who, if_revision=if_revision))
    return stored(target, lifecycle.store(unit, name, entry, labels, if_revision=if_revision))


def similar_to(desk: Desk, content: str) -> tuple[SimilarMemory, ...]:
    """The visible memories which say this already, or say otherwise."""
    desk.caller.check_reads()
    return tuple(_similar_in(desk, content, desk.asked(None))[:_SHOWN])


def _similar_in(desk: Desk, content: str, asked: Sequence[BookPath]) -> list[SimilarMemory]:
    folders = [str(folder) for folder in asked]
    with desk.keep.index.reading(desk.keep.space) as index:
        candidates = [*index.find_same_words(content, folders, _COMPARED), *index.find_similar(content, folders, _NEAR)]
    found = []
    candidates = [item for item in candidates if item.status not in desk.unseen]
    for item in find_near_duplicates(content, candidates, limit=_SHOWN + 1):  # one of them may be what is being stored
        scope, name = desk.place_of(item.folder, item.name)
        found.append(SimilarMemory(name, scope.kind.value, item.similarity, item.summary, item.relation))
    return found
