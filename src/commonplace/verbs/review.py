"""The verbs `review`, `accept` and `reject`: the queue of what waits for a verdict, and the verdicts.

A person or a coordinator accepts, edits or rejects. A verdict is written into the note, so it survives any index, and
an agent that proposes the same again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

from commonplace.context.records import find_session
from commonplace.guard.secrets import check_secrets
from commonplace.memories import history, lifecycle, lookup, relations
from commonplace.memories.unit import Unit
from commonplace.model.errors import AmbiguousKey, Conflict, InvalidField, NotFound
from commonplace.model.memory import CAPTURED, PIN_PROPOSED, WAITING, Entry, Link, Memory, Relation, Status, Trust
from commonplace.model.results import Proposal, StoreResult
from commonplace.model.scope import GLOBAL, Scope, ScopeKind
from commonplace.text.fence import REFERENCE, fence
from commonplace.text.naming import one_line
from commonplace.vault.paths import EVERYTHING, resolve
from commonplace.verbs.capture import remember_rejected
from commonplace.verbs.changing import (
    change_linked,
    change_one,
    commit_first,
    describe_change,
    existing_target,
    new_entry,
    open_units,
    store_result,
)
from commonplace.verbs.context import BookContext
from commonplace.verbs.pin import judge_pin
from commonplace.verbs.store import CONTENT, check_target
from commonplace.verbs.tool import (
    Answer,
    Arguments,
    Tool,
    field_schema,
    render_change,
    result_schema,
    rows_schema,
    shown_fields,
    text_schema,
    tool_fields,
)
from commonplace.verbs.verb import KEY, SCOPE, Access, Arg, NoRequest, verb


class AcceptRequest(NamedTuple):
    """What `accept` is asked."""

    key: Annotated[str, KEY]
    scope: Annotated[str | None, SCOPE] = None
    content: Annotated[str | None, CONTENT] = None
    rel: Annotated[str | None, Arg("of a link")] = None
    to: Annotated[str | None, Arg("of a link")] = None
    into: Annotated[str | None, Arg(in_tool=False)] = None
    pin: Annotated[bool, Arg(in_tool=False)] = False


class RejectRequest(NamedTuple):
    """What `reject` is asked."""

    key: Annotated[str, Arg()]
    scope: Annotated[str | None, SCOPE] = None
    rel: Annotated[str | None, Arg()] = None
    to: Annotated[str | None, Arg()] = None
    pin: Annotated[bool, Arg(in_tool=False)] = False


@verb(
    Access.REVIEW,
    command="review",
    examples=(
        "commonplace review",
        "commonplace review --list --json",
        "commonplace review --accept flaky-tests --scope agent:scout",
        "commonplace review --accept index-is-sqlite --into global",
        "commonplace review --edit index-is-sqlite",
        "commonplace review --reject deploy --rel supersedes --to old-deploy",
        "commonplace review --accept never-push-to-main --pin",
        "commonplace review --capture",
    ),
)
def review(context: BookContext, _: NoRequest) -> list[Proposal]:
    """Accept, edit or reject what agents proposed.

    One queue for everything that waits: memories, links and pins. At a terminal you are asked about each one; with
    --list, or without a terminal, the queue is only shown. --accept and --reject judge one by name: the memory if it
    waits, else the proposal to pin it, else its link that waits.

    A proposal needs no --scope unless two scopes have one with its key. What conversations taught is proposed for the
    project, and goes to the trash after 30 days without a verdict. --into accepts into another scope. What is accepted
    of a session goes to its project, unless --into says where: sessions end.
    """
    if not context.settings.enabled:
        return []
    view = context.view(everything=True)
    context.folders_to_search(None, everything=True)
    with context.reading() as index:
        rows = [row for row in index.rows_to_review() if view.may_read(resolve(row.folder))]
    proposals: list[Proposal] = []
    for row in rows:
        scope, key = context.locate(row.folder, row.name)
        item = context.memory_item(row)
        place = (key, item.scope, item.scope_id, item.path)
        if row.status in (Status.PROPOSED, Status.QUARANTINED):
            proposals.append(Proposal("memory", *place, row.status, item.shown_summary, row.updated))
        if not row.proposed_links:
            continue
        memory = lookup.load(context.memories, view, scope, context.folder(scope), key)
        if memory is None:
            continue
        about = (Status.PROPOSED.value, item.shown_summary, row.updated)
        proposals += [Proposal("link", *place, *about, link.rel, link.to) for link in memory.meta.waiting_links]
        if memory.meta.pin == PIN_PROPOSED and context.is_person:  # a coordinator may not judge it
            proposals.append(Proposal("pin", *place, *about))
    return proposals


@verb(Access.REVIEW, audit=describe_change, no_tool="memory_review; `into` another scope is for a person")
def accept(context: BookContext, request: AcceptRequest) -> StoreResult:
    """Make a proposed memory active, with another text if one is given; or one of its links; or pin it."""
    key, scope = request.key, request.scope
    if request.pin and (request.rel, request.to, request.content, request.into) != (None, None, None, None):
        raise InvalidField(
            "A proposal to pin has no link, text or scope of its own.", hint="Judge one thing at a time."
        )
    if _is_link(request.rel, request.to):
        if request.into is not None:
            raise InvalidField("A link stays with its memory.", hint="Leave `into` out, or accept the memory itself.")
        return _judge_link(context, RejectRequest(key, scope, request.rel, request.to), is_accepted=True)
    if request.content is None and request.into is None:
        if _is_pin(context, request):
            return judge_pin(context, key, find_proposal(context, key, scope), is_accepted=True)
        link = find_waiting_link(context, key, scope)
        if link is not None:
            return _judge_link(context, RejectRequest(key, scope, link.rel, link.to), is_accepted=True)
    entry = None
    if request.content is not None:
        entry = new_entry(context, request.content)
        check_secrets(request.content)
    target = find_proposal(context, key, scope)
    place = _lasting_scope(context, target, key) if request.into is None else context.caller.scope(request.into)
    return _accept_into(context, key, target, entry, place)


@verb(Access.REVIEW, audit=describe_change, no_tool="memory_review")
def reject(context: BookContext, request: RejectRequest) -> StoreResult:
    """Move a proposed memory to the trash; or reject one of its links, or its pin, so that it is not proposed again."""
    key = request.key
    if _is_link(request.rel, request.to):
        return _judge_link(context, request, is_accepted=False)
    if _is_pin(context, request):
        return judge_pin(context, key, find_proposal(context, key, request.scope), is_accepted=False)
    link = find_waiting_link(context, key, request.scope)
    if link is not None:
        return _judge_link(context, request._replace(rel=link.rel, to=link.to), is_accepted=False)
    rejected: list[str] = []

    def discard(unit: Unit) -> lifecycle.ChangeResult:
        found = unit.find(key)
        if found is not None and CAPTURED in found.note.meta.tags:
            rejected.extend(entry.text for entry in found.note.entries)
        return lifecycle.forget(unit, key, context.author)

    result = _judge(context, find_proposal(context, key, request.scope), discard)
    for text in rejected:
        remember_rejected(context, text)
    return result


def find_proposal(context: BookContext, key: str, scope: str | None) -> Scope:
    """Return the scope of what waits under a key: the named one, else the only one where something does.

    Raise AmbiguousKey if something waits in several. Where nothing waits it is the scope that has the key.
    """
    if scope is not None:
        return context.caller.scope(scope)
    view = context.view(everything=True)
    context.folders_to_search(None, everything=True)
    with context.reading() as index:
        rows = [row for row in index.rows_to_review() if view.may_read(resolve(row.folder))]
    found = [place for place, name in (context.locate(row.folder, row.name) for row in rows) if name == key]
    if len(found) > 1:
        names = sorted(place.kind.value if place.id is None else f"{place.kind}:{place.id}" for place in found)
        raise AmbiguousKey(
            f"{key!a} waits in several scopes: {' and '.join(names)}.", hint="Name one of them as the scope."
        )
    return found[0] if found else existing_target(context, key, None)


def _lasting_scope(context: BookContext, target: Scope, key: str) -> Scope:
    """Return the scope to accept into: where a memory is; for one of a session the session's project, which stays.

    One whose key is taken there is accepted where it is: a crash may have left it in both.
    """
    if target.kind is not ScopeKind.SESSION or not context.is_person or context.caller.sealed:
        return target
    session = find_session(context.state, context.memories.space, target.id or "")
    project = session.project if session is not None else context.caller.project
    place = Scope(ScopeKind.PROJECT, project) if project else GLOBAL
    return target if lookup.find_scopes(context.memories, EVERYTHING, {place: context.folder(place)}, key) else place


def _is_pin(context: BookContext, request: AcceptRequest | RejectRequest) -> bool:
    """Return whether a verdict is on a pin: it says so, or the memory itself does not wait and its pin was proposed."""
    if request.pin:
        return True
    memory = _load(context, request.key, request.scope)
    return memory is not None and memory.meta.pin == PIN_PROPOSED and memory.meta.status not in WAITING


def find_waiting_link(context: BookContext, key: str, scope: str | None) -> Link | None:
    """Return the link of a memory that a verdict on its key means; None where the memory itself waits, or no link does.

    Raise AmbiguousKey if several wait.
    """
    memory = _load(context, key, scope)
    if memory is None or memory.meta.status in WAITING:
        return None
    links = [link for link in memory.meta.links if link.status == Status.PROPOSED]
    if not links or any(entry.trust is Trust.EXTERNAL for entry in memory.entries):
        return None
    if len(links) > 1:
        names = " and ".join(f"{link.rel} {link.to}" for link in links)
        raise AmbiguousKey(f"Several links of {key!a} wait: {names}.", hint="Name one by its rel and its to.")
    return links[0]


def _load(context: BookContext, key: str, scope: str | None) -> Memory | None:
    target = find_proposal(context, key, scope)
    view = context.view_for(target, is_verdict=True)
    return lookup.load(context.memories, view, target, context.folder(target), key)


def _judge(context: BookContext, target: Scope, action: Callable[[Unit], lifecycle.ChangeResult]) -> StoreResult:
    context.check_enabled()
    context.caller.check_verdict(target)
    return change_one(context, target, context.view_for(target, is_verdict=True), action)


def _accept(context: BookContext, key: str, target: Scope, entry: Entry | None) -> StoreResult:
    def make_active(unit: Unit) -> lifecycle.ChangeResult:
        relations.lift_tombstone(unit, key)
        return _make_active(context, unit, key, entry)

    return _judge(context, target, make_active)


def _make_active(context: BookContext, unit: Unit, key: str, entry: Entry | None) -> lifecycle.ChangeResult:
    """Make a memory active, with another text if one is given. What a person accepts counts as their own words."""
    active = lifecycle.Labels(status=Status.ACTIVE)
    if entry is not None:
        return lifecycle.rewrite(unit, key, [entry], active, context.author)
    if context.is_person:
        relations.vouch(unit, key, (Trust.EXTERNAL, Trust.AGENT))
    return lifecycle.relabel(unit, key, active, why=history.JUDGED, who=context.author)


def _accept_into(context: BookContext, key: str, target: Scope, entry: Entry | None, place: Scope) -> StoreResult:
    """Accept a memory, into another scope if that is named. Then the caller needs the right to write there, too."""
    context.check_enabled()
    if context.folder(place) == context.folder(target):  # by whichever of its names
        return _accept(context, key, target, entry)
    check_target(context, place)
    with open_units(context, target, place) as opened:
        unit, there = opened[target], opened[place]
        if unit.get(key).note.meta.status not in WAITING:
            raise Conflict(
                f"{key!a} does not wait for a verdict, and only what does is accepted into another scope.",
                hint=f"`commonplace move {key} --to SCOPE` moves it.",
            )
        relations.lift_tombstone(unit, key, there)
        relations.move(unit, there, key, context.author)
        page = context.scope_page(place, there.folder)
        if page is not None:
            there.put_aside(page)
        change = _make_active(context, there, key, entry)
        check_secrets(there.get(key).data.decode("utf-8", "replace"))
        commit_first(place, opened)
    return store_result(place, change._replace(action=history.MOVED))


def _judge_link(context: BookContext, request: RejectRequest, *, is_accepted: bool) -> StoreResult:
    context.check_enabled()
    key, rel = request.key, request.rel
    target = find_proposal(context, key, request.scope)
    to = _name_target(context, target, key, rel, request.to or "")

    def judge(unit: Unit, there: Unit | None) -> lifecycle.ChangeResult:
        link = _find_link(unit, key, rel, to)
        return relations.judge_link(unit, key, link, accepted=is_accepted, who=context.author, there=there)

    marks_other = is_accepted and rel == Relation.SUPERSEDES
    return change_linked(context, target, to if marks_other else None, judge, is_verdict=True)


def _name_target(context: BookContext, target: Scope, key: str, rel: str | None, to: str) -> str:
    """Return where a link leads that a reviewer names: a KEY alone may mean that of the one link to another scope."""
    view = context.view_for(target, is_verdict=True)
    memory = lookup.load(context.memories, view, target, context.folder(target), key)
    leads = [link.to for link in memory.meta.links if link.rel == rel] if memory is not None else []
    others = [lead for lead in leads if lead.partition("/")[2] == to]
    return others[0] if to not in leads and len(others) == 1 else to


def _is_link(rel: str | None, to: str | None) -> bool:
    if (rel is None) != (to is None):
        raise InvalidField("A link has both a rel and a to.", hint="Give both, or neither for the memory itself.")
    return rel is not None


def _find_link(unit: Unit, key: str, rel: str | None, to: str) -> Link:
    link = relations.find_link(unit, key, rel, to)
    if link is not None:
        return link
    raise NotFound(f"{key!a} has no link {rel} to {to!a}.")


# The tool: one for the queue and the verdicts


_PROPOSAL_FIELDS = ("kind", "key", "scope", "status", "summary", "updated", "rel", "to")


def _run_tool(context: BookContext, given: Arguments) -> Answer:
    action = given.get("action", "list")
    if action == "list":
        return _render_queue(review(context, NoRequest()))
    if "key" not in given:
        raise InvalidField(
            f"To {action} one, give its key.", hint="Give the key, and the scope, that action=list named."
        )
    fields = {name: value for name, value in given.items() if name != "action"}
    if action == "reject":
        fields.pop("content", None)
        return render_change(reject(context, RejectRequest(**fields)))
    return render_change(accept(context, AcceptRequest(**fields)))


def _render_queue(proposals: list[Proposal]) -> Answer:
    data = {"action": "listed", "waiting": [shown_fields(item, *_PROPOSAL_FIELDS) for item in proposals]}
    if not proposals:
        return Answer(data, "Nothing waits.")
    body = fence("\n".join(map(_proposal_line, proposals)), {"source": "review"})
    return Answer(data, f"{len(proposals)} wait for a verdict. {REFERENCE}\n{body}")


def _proposal_line(item: Proposal) -> str:
    link = f" {item.rel} {item.to}" if item.rel else ""
    return f"{item.status} {item.kind}: {item.scope}/{item.key}{link}: {one_line(item.summary)}"


TOOLS = (
    Tool(
        "memory_review", "Review", "review", "review",
        "Judge what agents proposed: captured facts, lessons, links. List first, memory_show what is unclear, then "
        "accept (with `content` to edit it) or reject. For a link give its rel and to. Accept only what is true, "
        "useful later and free of secrets.",
        {
            "action": {**text_schema("what to do"), "enum": ["list", "accept", "reject"]},
            **{field.name: field_schema(field) for field in tool_fields(AcceptRequest)},
        },
        (),
        result_schema(
            "action",
            action="string", key="string", scope="string", revision="string",
            waiting=rows_schema(*_PROPOSAL_FIELDS),
        ),
        review.access.value, _run_tool, read_only=False, destructive=True, idempotent=False,
    ),
)  # fmt: skip
