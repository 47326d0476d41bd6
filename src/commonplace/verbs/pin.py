"""The verbs `pin` and `unpin`: which memories every brief of a scope starts with, as a person decides.

An agent proposes a pin with `store`, and `review` has the verdict on it. That is `pin: proposed` in the note, and
`pin: rejected` once a person has said no, so that the same proposal does not come again.
"""

from __future__ import annotations

from commonplace.memories import history, lifecycle
from commonplace.memories.unit import Unit
from commonplace.model.errors import NotFound, NotPermitted
from commonplace.model.memory import PIN_PROPOSED, PIN_REJECTED
from commonplace.model.results import StoreResult
from commonplace.model.scope import Scope
from commonplace.verbs.changing import change_one, describe_change, existing_target
from commonplace.verbs.context import BookContext
from commonplace.verbs.verb import Access, KeyRequest, verb

_PINNED = lifecycle.Labels(pinned=True)
_UNPINNED = lifecycle.Labels(pinned=False)


@verb(
    Access.WRITE,
    audit=describe_change,
    command="pin",
    examples=("commonplace pin never-push-to-main --scope global",),
    no_tool="pinned=true of memory_store proposes it; a person decides",
)
def pin(context: BookContext, request: KeyRequest) -> StoreResult:
    """Show a memory first in every brief of its scope.

    One that a person wrote comes first in what the user asked for; one that an agent wrote, among the facts. Only a
    person can pin: what an agent wants pinned waits in `commonplace review`.
    """
    _check_person(context)
    target = existing_target(context, request.key, request.scope)
    return _change_pin(context, request.key, target, _PINNED, history.PINNED)


@verb(
    Access.WRITE,
    audit=describe_change,
    command="unpin",
    examples=("commonplace unpin never-push-to-main",),
    no_tool="only for a person",
)
def unpin(context: BookContext, request: KeyRequest) -> StoreResult:
    """Stop showing a memory first in every brief.

    The memory itself stays as it is. A proposal to pin it is rejected.
    """
    _check_person(context)
    target = existing_target(context, request.key, request.scope)
    return _change_pin(context, request.key, target, _UNPINNED, history.UNPINNED)


def judge_pin(context: BookContext, key: str, target: Scope, *, is_accepted: bool) -> StoreResult:
    """Accept or reject a proposal to pin a memory, as a person decides. Raises NotFound if there is none."""
    _check_person(context)
    return _change_pin(context, key, target, _PINNED if is_accepted else _UNPINNED, history.JUDGED)


def _check_person(context: BookContext) -> None:
    if not context.is_person:
        raise NotPermitted(
            "Only a person can pin a memory.",
            hint="Store it with pinned: a person accepts or rejects that in the review.",
        )


def _change_pin(context: BookContext, key: str, target: Scope, labels: lifecycle.Labels, why: str) -> StoreResult:
    context.check_enabled()
    context.caller.check_write(target)

    def change(unit: Unit) -> lifecycle.ChangeResult:
        found = unit.get(key)
        meta = found.note.meta
        if why == history.JUDGED and meta.pin != PIN_PROPOSED:
            raise NotFound(f"No agent proposes to pin {key!a}.", hint="See what waits: commonplace review --list")
        wanted = labels._replace(pin=PIN_REJECTED if meta.pin and not labels.pinned else "")
        if (meta.pinned, meta.pin) == (wanted.pinned, wanted.pin):
            return lifecycle.ChangeResult(key, found.path, found.revision, "", "unchanged")
        action = history.PINNED if labels.pinned else history.UNPINNED
        return lifecycle.relabel(unit, key, wanted, why=why, who=context.author)._replace(action=action)

    return change_one(context, target, context.view_for(target), change)
