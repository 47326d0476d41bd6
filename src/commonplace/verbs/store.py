"""The verbs `store` and `store_many`, and which memories say nearly the same as a text.

Everything that can be refused is refused before anything is written; then one unit makes the memory durable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from commonplace.context.nudges import mark_stored
from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle, relations
from commonplace.memories.rows import name_link_target, split_key
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidField
from commonplace.model.memory import PIN_PROPOSED, Entry, Link, Status, check_tag, read_type
from commonplace.model.names import check_key
from commonplace.model.results import SimilarMemory, StoreResult
from commonplace.model.scope import Scope
from commonplace.recall.duplicates import CONTRADICTS, find_near_duplicates, is_same_text
from commonplace.text.naming import make_key
from commonplace.vault.paths import BookPath
from commonplace.verbs.changing import (
    check_field,
    check_may_add,
    check_may_supersede,
    commit_first,
    describe_change,
    is_left_to_review,
    link_origin,
    named_place,
    new_entry,
    open_units,
    store_result,
    store_target,
)
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import ROWS, change_schema, make_tool, render_change
from commonplace.verbs.verb import IF_REVISION, SCOPE, TYPE, Access, Arg, check_request, verb

_MAX_CORRECTION = 500  # characters
_MAX_SHOWN = 5  # similar memories in an answer
_MAX_SAME_WORDS = 20  # memories with just the same words that are compared
_MAX_NEAR = 6  # memories that share most words: a store may not cost much more than its two files
_PIN_WAITS = "It is pinned once a person accepts that in the review."
CONTENT = Arg(
    "the text to store; - reads it from standard input",
    "TEXT",
    is_positional=True,
    reads_stdin=True,
    tool_help="the text",
    min_length=1,
    max_length=100_000,  # what is longer is a document, not a memory
)


class StoreRequest(NamedTuple):
    """What `store` is asked."""

    content: Annotated[str, CONTENT]
    key: Annotated[
        str | None,
        Arg(
            "the memory it belongs to; made from the text if not given",
            tool_help="like testing-framework",
        ),
    ] = None
    scope: Annotated[str | None, SCOPE] = None
    type: Annotated[str | None, TYPE] = None
    tags: Annotated[Sequence[str], Arg("tags to add", tool_help="to add", other_option="tag")] = ()
    summary: Annotated[str | None, Arg("the one line that index pages show", "LINE", tool_help="one line")] = None
    mode: Annotated[
        str, Arg("append to the text, or replace it", choices=("append", "replace"), tool_help="add or correct")
    ] = "append"
    if_revision: Annotated[str | None, IF_REVISION] = None
    decision: Annotated[
        str | None,
        Arg(
            "what to do about a similar memory: create, update:KEY or supersede:KEY",
            "D",
            tool_help="create, update:KEY, supersede:KEY",
        ),
    ] = None
    author: Annotated[str | None, Arg("who said it", "NAME", in_tool=False)] = None
    occurred: Annotated[
        str | None,
        Arg("when it happened, if not now: 2026-11-15T09:30:00Z, 2h, yesterday", "TIME", tool_help="when, if not now"),
    ] = None
    thread: Annotated[str | None, Arg("the conversation it belongs to", "ID", in_tool=False)] = None
    seq: Annotated[int | None, Arg("its place in that conversation", in_tool=False)] = None
    pinned: Annotated[
        bool,
        Arg("show it first in every brief; from an agent this waits for review", tool_help="propose it for briefs"),
    ] = False


class StoreManyRequest(NamedTuple):
    """What `store_many` is asked."""

    items: Annotated[Sequence[Mapping[str, object]], Arg()]


class SimilarRequest(NamedTuple):
    """What `similar` is asked."""

    content: Annotated[str, CONTENT]


class Draft(NamedTuple):
    """A checked text on its way into a memory."""

    entry: Entry
    labels: lifecycle.Labels
    key: str | None = None
    mode: str = "append"
    if_revision: str | None = None


@verb(
    Access.WRITE,
    audit=describe_change,
    command="store",
    examples=(
        'commonplace store "Tests run with pytest" --key testing-framework --type feedback',
        "git log -1 --format=%B | commonplace store - --key last-decision",
        'commonplace store "Staging listens on port 6000" --key staging-port --mode replace',
        'commonplace store "Staging listens on port 6001" --decision supersede:staging-port',
    ),
)
def store(context: BookContext, request: StoreRequest) -> StoreResult:
    """Store a fact, a decision or a preference.

    The text becomes an entry of the memory with this key, and is on disk before the command answers. Without a key, one
    is made from the text. A text that contains a secret is refused.
    """
    draft = _read_draft(context, request)
    action, named = _read_decision(request.decision)
    if named:
        wanted = context.caller.scope(request.scope) if request.scope is not None else None
        place, named = named_place(context, wanted, named)
        target = place if action == "update" or wanted is None else wanted
    else:
        target = place = store_target(context, request.scope, request.key)
    if action == "update" and request.key not in (None, named):
        raise InvalidField(
            f"The decision is to update {named!a}, but the key is another one.", hint="Leave the key out."
        )
    if action == "supersede" and (place, named) == (target, request.key):
        raise InvalidField(
            f"{named!a} cannot supersede itself.", hint="Leave the key out, or replace its text with mode replace."
        )
    check_secrets(target.id or "")
    with open_units(context, target, place) as opened:
        unit, there = opened[target], opened[place]
        if named:
            old = there.get(named)  # or NotFound, before anything is written
            if action == "supersede":
                check_may_supersede(context, old, named)
        result = store_draft(context, unit, target, draft._replace(key=named) if action == "update" else draft)
        if action == "supersede" and (place, named) != (target, result.key):
            origin = link_origin(context)
            relations.supersede(unit, named, result.key, origin=origin, who=context.author, there=there)
            result = result._replace(superseded=(name_link_target(place.kind.value, named),))
        # The index does not know yet what is being stored, nor that anything is superseded by it.
        own = [split_key(unit.folder, result.key)]
        own += [split_key(there.folder, named)] if action == "supersede" else []
        similar = _find_similar(context, request.content, context.folders_to_search(None), own)
        if request.decision is None and result.action != "unchanged":
            result = _propose_contradiction(unit, result, request, similar)
        commit_first(target, opened)
        if draft.labels.pin == PIN_PROPOSED and unit.get(result.key).note.meta.pin == PIN_PROPOSED:
            result = result._replace(notice=" ".join(filter(None, [result.notice, _PIN_WAITS])))
    _mark_stored(context)
    return result._replace(similar=tuple(similar))


def _propose_contradiction(
    unit: Unit, result: StoreResult, request: StoreRequest, similar: Sequence[SimilarMemory]
) -> StoreResult:
    """Link a short note to the memory that it contradicts most clearly, for a person to judge; return what was stored.

    What was judged before, or waits, stays as it is. Long notes that have words in common seldom contradict each other.
    """
    other = next((item for item in similar if item.relation == CONTRADICTS), None)
    if other is None or request.thread is not None or len(request.content) > _MAX_CORRECTION:
        return result
    is_here = other.scope is result.scope
    if is_here and unit.find(other.key) is None:  # in another scope of this kind, which a link cannot name
        return result
    to = other.key if is_here else name_link_target(other.scope.value, other.key)
    relations.add_links(unit, result.key, [Link(CONTRADICTS, to, "commonplace", Status.PROPOSED.value)])
    return result._replace(revision=unit.get(result.key).revision)


@verb(
    Access.WRITE,
    audit=lambda results, _: {"keys": [f"{item.scope}/{item.key}" for item in results], "count": len(results)},
    no_tool="for programs",
)
def store_many(context: BookContext, request: StoreManyRequest) -> list[StoreResult]:
    """Store many texts at once: those of one scope are written and acknowledged together."""
    by_scope: dict[Scope, list[tuple[int, Draft]]] = {}
    for number, item in enumerate(request.items):
        one = _read_item(item)
        draft = _read_draft(context, one)
        target = store_target(context, one.scope, draft.key)
        check_target(context, target)
        by_scope.setdefault(target, []).append((number, draft))
    results: dict[int, StoreResult] = {}
    with open_units(context, *by_scope) as opened:
        for target, drafts in by_scope.items():
            for number, draft in drafts:
                results[number] = store_draft(context, opened[target], target, draft)
        for unit in opened.values():
            unit.commit()
    _mark_stored(context)
    return [results[number] for number in sorted(results)]


def _mark_stored(context: BookContext) -> None:
    """Tell the hooks of an agent's session that it stored something: a reminder to do so waits longer."""
    if not context.is_person:
        mark_stored(context.state, context.memories.space, context.caller, context.memories.clock())


@verb(Access.READ, no_tool="memory_store names them")
def similar(context: BookContext, request: SimilarRequest) -> tuple[SimilarMemory, ...]:
    """Return the memories that a store of this text would name."""
    return find_similar(context, request.content)


def find_similar(context: BookContext, content: str) -> tuple[SimilarMemory, ...]:
    """Return the visible memories that say this already, or say otherwise."""
    return tuple(_find_similar(context, content, context.folders_to_search(None)))


def _find_similar(
    context: BookContext, content: str, folders: Sequence[BookPath], besides: Sequence[tuple[str, str]] = ()
) -> list[SimilarMemory]:
    """Return the memories in some folders that say this already, or say otherwise; not those `besides` which, by folder
    and name, it is looked for."""
    with context.reading() as index:
        candidates = [
            *index.find_same_words(content, folders, _MAX_SAME_WORDS),
            *index.find_similar(content, folders, _MAX_NEAR),
        ]
    unseen = context.unseen_statuses
    candidates = [item for item in candidates if item.status not in unseen and (item.folder, item.name) not in besides]
    found = []
    for item in find_near_duplicates(content, candidates, limit=_MAX_SHOWN):
        scope, name = context.locate(item.folder, item.name)
        found.append(SimilarMemory(name, scope.kind, item.similarity, item.summary, item.relation))
    return found


def check_target(context: BookContext, target: Scope) -> None:
    """Check that the caller may write to a scope, and that its id, which names a folder, contains no secret."""
    context.caller.check_write(target)
    check_secrets(target.id or "")


def _read_item(item: Mapping[str, object]) -> StoreRequest:
    """Return one of many to store as a request of its own."""
    if not isinstance(item, Mapping):
        raise InvalidField(f"An item must be a mapping of its fields, not {type(item).__name__}.")
    fields = frozenset(StoreRequest._fields) - {"decision"}
    unknown = item.keys() - fields
    if unknown or "content" not in item:
        raise InvalidField(
            f"An item has an unknown field {sorted(unknown)[0][:40]!a}." if unknown else "An item has no content.",
            hint=f"Its fields are: {', '.join(sorted(fields))}.",
        )
    given: dict[str, Any] = {name: value for name, value in item.items() if value is not None}
    request = StoreRequest(**{"content": "", **given})
    check_request(request)
    if request.key is not None:
        check_key(request.key)
    return request


def _read_draft(context: BookContext, request: StoreRequest) -> Draft:
    """Check everything that becomes a part of the file, or its name."""
    labels = _read_labels(request)
    if request.pinned:
        pin = {"pinned": True, "pin": ""} if context.is_person else {"pin": PIN_PROPOSED}
        labels = labels._replace(**pin)
    entry = new_entry(context, request.content, request.author, request.occurred, request.thread, request.seq)
    words = (request.key, entry.text, labels.summary, entry.author, entry.thread, *labels.tags)
    check_secrets("\n".join(filter(None, words)))
    return Draft(entry, labels, request.key, request.mode, request.if_revision)


def _read_labels(request: StoreRequest) -> lifecycle.Labels:
    wanted = read_type(request.type) if request.type is not None else None
    check_field("summary", request.summary)
    return lifecycle.Labels(wanted, tuple(check_tag(str(tag)) for tag in request.tags), request.summary)


def _read_decision(decision: str | None) -> tuple[str, str]:
    """Return what the caller decided about a similar memory, and the memory that it names; create names none."""
    if decision is None or decision == "create":
        return "create", ""
    action, _, name = decision.partition(":")
    if action not in ("update", "supersede") or not name:
        raise InvalidField(f"decision cannot be {decision[:60]!a}.", hint="Use create, update:KEY or supersede:KEY.")
    return action, check_key(name)


def store_draft(context: BookContext, unit: Unit, target: Scope, draft: Draft) -> StoreResult:
    """Put a draft into a unit: as a new memory, appended, replacing, or not at all because the memory says it."""
    entry, labels = draft.entry, draft.labels
    is_proposal = labels.status is not None
    name = draft.key if draft.key is not None else _choose_key(context, unit, entry.text, is_proposal=is_proposal)
    found = unit.find(name)
    if found is None:
        page = context.scope_page(target, unit.folder)
        if page is not None and not unit.has_aside(page.path):
            unit.put_aside(page)
        result = store_result(target, lifecycle.store(unit, name, entry, labels, if_revision=draft.if_revision))
        return result._replace(notice=_describe_new_project(context, target)) if page is not None else result
    if not is_proposal:
        check_may_add(context, found, name)
    newest = found.note.newest
    labels = lifecycle.reactivating_labels(found.note.meta, labels)
    # A memory that was hidden or superseded gets new labels here: repeating its text makes it active again.
    if labels is draft.labels and newest is not None and is_same_text(newest.text, entry.text):
        # Replacing is how white space is corrected, in code or in a table: there it counts.
        is_same = draft.mode == "append" or (len(found.note.entries) == 1 and newest.text == entry.text)
        if is_same and (draft.if_revision is None or lifecycle.is_revision(found, draft.if_revision)):
            revision = lifecycle.relabel_if_new(unit, name, found, labels, entry.author)
            unchanged = lifecycle.ChangeResult(name, found.path, revision, newest.id, "unchanged")
            return store_result(target, unchanged)
    if draft.mode == "replace":
        who = entry.author or context.author
        change = lifecycle.rewrite(unit, name, [entry], labels, who, if_revision=draft.if_revision)
    else:
        change = lifecycle.store(unit, name, entry, labels, if_revision=draft.if_revision)
    return store_result(target, change)


def _describe_new_project(context: BookContext, target: Scope) -> str:
    """Return what to say when the home folder, or the root of the disk, becomes a project: it was hardly meant to."""
    identity = context.identity
    if identity is None or identity.source != "folder" or target.id != context.caller.project:
        return ""
    above = os.path.realpath(os.path.expanduser("~"))
    if identity.root not in (above, os.path.dirname(identity.root)):
        return ""
    return f"{identity.root} is a project of its own now. Facts that hold in every folder belong in the scope global."


def _choose_key(context: BookContext, unit: Unit, content: str, *, is_proposal: bool) -> str:
    """Return a key made from the text: a free one, or that of a memory that says just this and that the caller sees."""
    made = make_key(content)
    for number in range(1, 1_000):
        key = made if number == 1 else f"{made}-{number}"
        found = unit.find(key)
        if found is None:
            return key
        is_hidden = not is_proposal and is_left_to_review(context, found)
        if not is_hidden and any(is_same_text(entry.text, content) for entry in found.note.entries[-1:]):
            return key
    raise InvalidField("There are too many memories with keys like this one.", hint="Give a key.")


TOOLS = (
    make_tool(
        store, "memory_store", "Store", "write",
        "Keep a fact for later sessions and other agents: a decision with its reason, a correction, a preference. "
        "Never secrets, what the repository already says, or the state of one task.\n"
        "scope: project (default) holds in this repository; global everywhere; agent only you need; "
        "session this conversation.\n"
        "type: user who they are; feedback how they want the work done; project facts and decisions (default); "
        "reference where things are.\n"
        "Protocol: first memory_recall the topic. If a memory is about it, give its key: append adds, replace "
        "corrects. Settle `similar` with decision.",
        change_schema(
            similar=ROWS,
            note="string",
        ),
        render_change, read_only=False,
    ),
)  # fmt: skip
