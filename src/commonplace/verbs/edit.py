"""The verbs `edit`, `source`, `undo` and `history`: the text of one memory, now and before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle, lookup, relations
from commonplace.memories.unit import Unit
from commonplace.model.errors import NotFound, NotPermitted
from commonplace.model.names import check_key
from commonplace.model.results import Revision, StoreResult
from commonplace.model.scope import Role
from commonplace.vault.paths import note_path
from commonplace.verbs.changing import change_one, describe_change, existing_target
from commonplace.verbs.context import BookContext
from commonplace.verbs.forget import change_with_superseded
from commonplace.verbs.show import scopes_to_search
from commonplace.verbs.verb import KEY, SCOPE, Access, Arg, KeyRequest, verb


class EditRequest(NamedTuple):
    """What `edit` is asked."""

    key: Annotated[str, KEY]
    data: Annotated[bytes, Arg()]
    scope: Annotated[str | None, SCOPE] = None
    if_revision: Annotated[str | None, Arg()] = None


class HistoryRequest(NamedTuple):
    """What `history` is asked."""

    key: Annotated[str, KEY._replace(nargs="?")]
    scope: Annotated[str | None, SCOPE] = None


@verb(
    Access.WRITE,
    audit=describe_change,
    command="edit",
    examples=("commonplace edit staging-port", "EDITOR=nano commonplace edit people/alice --scope global"),
    no_tool="only for a person",
)
def edit(context: BookContext, request: EditRequest) -> StoreResult:
    """Change a memory in your editor.

    Opens the whole file, frontmatter too, in $VISUAL or $EDITOR. The old text goes to the history. If the memory has
    changed meanwhile, or the new text contains a secret, nothing is written and your text is kept in a file.
    """
    key = request.key
    if context.caller.role is not Role.PERSON:  # a file states its own status and trust
        raise NotPermitted("Only a person edits a memory's file.", hint="Store with mode=replace.")
    check_secrets(request.data.decode("utf-8", "replace"))
    target = existing_target(context, key, request.scope)
    context.caller.check_write(target)
    return change_one(
        context,
        target,
        context.view_for(target),
        lambda unit: lifecycle.edit(unit, key, request.data, context.author, if_revision=request.if_revision),
    )


@verb(Access.READ, no_tool="only for a person")
def source(context: BookContext, request: KeyRequest) -> tuple[bytes, str]:
    """Return the file of a memory as it is, and its revision; also of one in conflict, which is to be edited."""
    memories, key = context.memories, check_key(request.key)
    for scope in scopes_to_search(context, request.scope):
        with suppress(NotFound):
            document = memories.vault.read(
                memories.space, context.view_for(scope), note_path(context.folder(scope), key)
            )
            return document.data, document.revision
    raise NotFound(f"There is no memory {key!a} in your scopes.")


@verb(
    Access.WRITE,
    audit=describe_change,
    command="undo",
    examples=("commonplace undo staging-port",),
)
def undo(context: BookContext, request: KeyRequest) -> StoreResult:
    """Undo the last change to a memory.

    The text before it becomes a new revision. The text that it replaces goes to the history, so an undo can be undone.
    """
    key = request.key

    def bring_back(unit: Unit, others: Sequence[Unit]) -> lifecycle.ChangeResult:
        marks = relations.find_superseding_links(unit, key, others)
        return lifecycle.undo(unit, key, context.author, person=context.is_person, superseding=marks)

    return change_with_superseded(context, key, existing_target(context, key, request.scope), bring_back)


@verb(
    Access.READ,
    command="history",
    examples=(
        "commonplace history staging-port",
        "commonplace history staging-port --json",
        "commonplace history --since 2026-11-01",
    ),
)
def history(context: BookContext, request: HistoryRequest) -> Sequence[Revision]:
    """Show how a memory changed, or what was stored lately.

    With a KEY: every earlier text that is known, oldest first, with who changed it and when; then the current one. A
    text that an entry was only appended to has no revision: the next text contains it. Without a KEY: what was stored
    in your scopes and the runs of the project's journal, latest first.
    """
    for scope in scopes_to_search(context, request.scope):
        folder = context.folder(scope)
        context.memories.freshen(folder)  # what was replaced or deleted outside goes to the history now
        found = lookup.list_revisions(context.memories, context.view_for(scope), scope, folder, request.key)
        if found:
            return found
    raise NotFound(f"There is no memory {request.key!a} in your scopes, nor in their trash.")
