"""The verbs `link`, `consolidate` and `related`: how memories belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from commonplace import verbs
from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle, relations
from commonplace.memories.rows import name_link_target
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidField
from commonplace.model.memory import Relation
from commonplace.model.results import MemoryItem, StoreResult
from commonplace.verbs.changing import (
    change_linked,
    check_may_supersede,
    commit_first,
    describe_change,
    existing_target,
    link_origin,
    named_place,
    new_entry,
    open_units,
)
from commonplace.verbs.context import BookContext
from commonplace.verbs.show import ListRequest, ShowRequest, find_linked, show
from commonplace.verbs.show import list_ as list_memories
from commonplace.verbs.store import CONTENT, Draft, store_draft
from commonplace.verbs.tool import change_schema, make_tool, render_change
from commonplace.verbs.verb import SCOPE, Access, Arg, KeyRequest, verb

_RELATIONS = ("relates_to", "supersedes", "contradicts")


class LinkRequest(NamedTuple):
    """What `link` is asked."""

    key: Annotated[str, Arg("the memory that gets the link", is_positional=True, tool_help="from")]
    rel: Annotated[
        str, Arg("relates_to, supersedes or contradicts", is_positional=True, tool_choices=_RELATIONS, tool_help="how")
    ]
    to: Annotated[str, Arg("KEY or SCOPE/KEY of the other memory", is_positional=True, tool_help="KEY or SCOPE/KEY")]
    scope: Annotated[str | None, SCOPE] = None


class ConsolidateRequest(NamedTuple):
    """What `consolidate` is asked."""

    keys: Annotated[
        Sequence[str],
        Arg(
            "the memories to merge, at least two",
            "KEY",
            is_positional=True,
            nargs="+",
            min_length=2,
            tool_help="to merge",
        ),
    ]
    content: Annotated[
        str,
        CONTENT._replace(
            help="the text of the merged memory; - reads it from standard input",
            is_positional=False,
            option="text",
            is_required=True,
        ),
    ]
    key: Annotated[
        str | None,
        Arg(
            "the key of the merged memory; made from the text if not given",
            option="into",
            tool_help="the new one",
        ),
    ] = None
    scope: Annotated[str | None, SCOPE] = None


@verb(
    Access.WRITE,
    audit=describe_change,
    command="link",
    examples=(
        "commonplace link new-runner supersedes old-runner",
        "commonplace link new-runner supersedes global/old-runner",
        "commonplace link deploy relates_to global/release-rule",
        "commonplace link staging contradicts old-staging",
    ),
)
def link(context: BookContext, request: LinkRequest) -> StoreResult:
    """Link a memory to another one.

    REL is relates_to, supersedes or contradicts. Your own link counts at once; a link that an agent proposes waits for
    `commonplace review`.

    Recall names a later memory that may contradict a hit. Your link decides whether it does. If both hold, say
    `commonplace link A relates_to B`; if they cannot, `contradicts`; if the old one no longer holds, `supersedes`.
    """
    key, rel, to = request.key, request.rel, request.to
    check_secrets(to)
    relations.check_link(rel, to)
    origin = link_origin(context)
    marks_other = origin == "human" and rel == Relation.SUPERSEDES

    def add_link(unit: Unit, there: Unit | None) -> lifecycle.ChangeResult:
        return relations.add_link(unit, key, rel, to, origin=origin, who=context.author, there=there)

    target = existing_target(context, key, request.scope)
    place, name = named_place(context, target, to)  # or NotFound: a link leads to a memory that is there
    if place.kind != target.kind:
        to = name_link_target(place.kind.value, name)
    elif place != target:  # from there, the name of the scope means theirs
        raise verbs.unknown.unknown_key(context, to, str(target))
    return change_linked(context, target, to if marks_other else None, add_link)


@verb(
    Access.WRITE,
    audit=describe_change,
    command="consolidate",
    examples=(
        'commonplace consolidate test-runner slow-tests --text "Tests: pytest, --slow for integration" --into testing',
    ),
)
def consolidate(context: BookContext, request: ConsolidateRequest) -> StoreResult:
    """Merge several memories into one.

    The old ones are marked as superseded and linked; they stay where they are, and undo brings them back. The merged
    memory is stored in the scope of the first KEY, or in the one you name; the others may be in any of your scopes.
    """
    keys = list(dict.fromkeys(request.keys))
    if len(keys) < 2:
        raise InvalidField("Consolidating takes a list of at least two keys.")
    entry = new_entry(context, request.content)
    check_secrets("\n".join([request.content, request.key or ""]))
    wanted = context.caller.scope(request.scope) if request.scope is not None else None
    target = wanted or named_place(context, None, keys[0])[0]
    context.caller.check_write(target)
    places = list(dict.fromkeys(named_place(context, target, key) for key in keys))
    with open_units(context, target, *(scope for scope, _ in places)) as opened:
        unit = opened[target]
        for scope, key in places:
            check_may_supersede(context, opened[scope].get(key), key)
        merged = store_draft(context, unit, target, Draft(entry, lifecycle.Labels(), request.key))
        for scope, key in places:
            if (scope, key) != (target, merged.key):
                origin = link_origin(context)
                relations.supersede(unit, key, merged.key, origin=origin, who=context.author, there=opened[scope])
        commit_first(target, opened)
    superseded = [name_link_target(scope.kind.value, key) for scope, key in places if key != merged.key]
    return merged._replace(action="consolidated", superseded=tuple(superseded))


@verb(
    Access.READ,
    command="related",
    examples=("commonplace show deploy --related",),
    no_tool="`related` of memory_recall, links of memory_show",
)
def related(context: BookContext, request: KeyRequest) -> list[MemoryItem]:
    """List the memories that a memory links to.

    By the links in its frontmatter, and by [[wikilinks]] in its text.
    """
    memory = show.run(context, ShowRequest(*request))
    items = list_memories.run(context, ListRequest(hidden=True))
    places = {link.to for link in memory.meta.links if link.to.startswith("/")}  # of other scopes
    if places and context.sees_all:
        others = list_memories.run(context, ListRequest(hidden=True, everything=True))
        items = [*items, *(item for item in others if item.path in places and item not in items)]
    return find_linked(memory, [item for item in items if item.status not in context.unseen_statuses])


TOOLS = (
    make_tool(
        consolidate, "memory_consolidate", "Consolidate", "write",
        "Merge memories; the old ones stay, superseded. Protocol: memory_show each first; keep every fact that still "
        "holds.",
        change_schema(note="string"), render_change, read_only=False, idempotent=False,
    ),
    make_tool(
        link, "memory_link", "Link", "write",
        "Propose a link between memories, for review: relates_to if both hold, contradicts if not.",
        change_schema(), render_change, read_only=False,
    ),
)  # fmt: skip
