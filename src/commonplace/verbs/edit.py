"""The verbs `edit`, `source`, `undo` and `history`: the text of one memory, now and before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from commonplace import verbs
from commonplace.guard.secrets import check_secrets
from commonplace.memories import history as history_files
from commonplace.memories import lifecycle, relations
from commonplace.memories.revisions import add_diffs, find_text, list_texts
from commonplace.memories.unit import Unit
from commonplace.model.errors import Conflict, InvalidField, NotFound, NotPermitted
from commonplace.model.names import check_key
from commonplace.model.results import Revision, StoreResult
from commonplace.model.scope import Role
from commonplace.text.notes import Note
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
    diff: Annotated[bool, Arg("show what each change took away and added", in_tool=False)] = False


class UndoRequest(NamedTuple):
    """What `undo` is asked."""

    key: Annotated[str, KEY]
    scope: Annotated[str | None, SCOPE] = None
    steps: Annotated[int, Arg("how many changes to undo", minimum=1, in_tool=False)] = 1
    to: Annotated[
        str | None, Arg("the revision to bring back, as `commonplace history KEY` lists it", "REV", in_tool=False)
    ] = None


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
    raise verbs.unknown.unknown_key(context, key, request.scope)


@verb(
    Access.WRITE,
    audit=describe_change,
    command="undo",
    examples=(
        "commonplace undo staging-port",
        "commonplace undo staging-port --steps 2",
        "commonplace undo staging-port --to 05c022f7fdca",
    ),
)
def undo(context: BookContext, request: UndoRequest) -> StoreResult:
    """Undo the last changes to a memory.

    The text before the last change, before the last N with --steps, or a revision that `commonplace history KEY` lists,
    becomes a new revision. The text that it replaces goes to the history, so an undo can be undone. A move or
    a rename is no change of the text: move or rename the memory back.
    """
    key = request.key
    if request.to is not None and request.steps != 1:
        raise InvalidField("Undo takes a number of steps or a revision, not both.")

    def bring_back(unit: Unit, others: Sequence[Unit]) -> lifecycle.ChangeResult:
        marks = relations.find_superseding_links(unit, key, others)
        is_last = request.to is None and request.steps == 1
        return lifecycle.undo(
            unit,
            key,
            context.author,
            person=context.is_person,
            superseding=marks,
            to=None if is_last else _find_earlier(unit, request),
        )

    return change_with_superseded(context, key, existing_target(context, key, request.scope), bring_back)


def _find_earlier(unit: Unit, request: UndoRequest) -> tuple[Note, str]:
    """Return the text that an undo of several changes, or to a revision, brings back; and the change that counts as
    undone: a verdict, if one is among them."""
    key = request.key
    unit.get(key)  # which saves what was changed outside
    texts = list_texts(unit.memories, unit.view, unit.folder, key)
    since = max((number + 1 for number, item in enumerate(texts) if item.came_by_verdict), default=0)
    steps = [item for item in texts[since:-1] if item.is_text]
    if request.to is not None:
        wanted = find_text(texts[since:], key, request.to)
    elif len(steps) < request.steps:
        count = f"{len(steps)} change{'' if len(steps) == 1 else 's'}"
        hint = f"`commonplace history {key}` lists them."
        if any(item.action in history_files.RELOCATED for item in texts):
            hint += f" {lifecycle.UNDO_A_MOVE}"
        left = f"has only {count} to undo" if steps else "has not been changed since it was made"
        raise Conflict(f"The text of {key!a} {left}.", hint=hint)
    else:
        wanted = steps[-request.steps]
    undone = {item.revision.action for item in texts[texts.index(wanted) : -1]}
    note = wanted.note
    if note is None:
        raise NotFound(f"The text of {key!a} at that revision cannot be read.")
    return note, history_files.JUDGED if history_files.JUDGED in undone else "replaced"


@verb(
    Access.READ,
    command="history",
    examples=(
        "commonplace history staging-port",
        "commonplace history staging-port --diff",
        "commonplace history --since yesterday",
        "commonplace history staging-port --json",
    ),
)
def history(context: BookContext, request: HistoryRequest) -> Sequence[Revision]:
    """Show how a memory changed and by whom, or what was stored lately.

    With a KEY: every earlier text that is known, oldest first, with who changed it and when; then the current one. A
    text that an entry was only appended to has no revision: the next text contains it. Without a KEY: what was stored
    in your scopes and the runs of the project's journal, latest first. `commonplace show KEY --revision REV` shows an
    earlier text whole, and `commonplace undo KEY --to REV` brings it back.
    """
    for scope in scopes_to_search(context, request.scope):
        folder = context.folder(scope)
        context.memories.freshen(folder)  # what was replaced or deleted outside goes to the history now
        texts = list_texts(context.memories, context.view_for(scope), folder, check_key(request.key))
        if texts:
            return add_diffs(texts) if request.diff else [item.revision for item in texts]
    raise verbs.unknown.unknown_key(context, request.key, request.scope, has_trash=True)
