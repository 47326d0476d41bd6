"""What the verbs that change memories share: the scope to change, the entry to add, and the units that are committed.

A unit holds the lock of one scope. Where a change touches several scopes, their units are opened in the order of their
folders, so that two callers never wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import repeat, starmap
from typing import Any

from commonplace import verbs
from commonplace.guard.audit import Facts, scope_of_path
from commonplace.memories import lifecycle, lookup
from commonplace.memories.rows import split_key
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import (
    CommonplaceError,
    InvalidContent,
    InvalidField,
    InvalidKey,
    NotPermitted,
)
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import check_key
from commonplace.model.results import StoreResult
from commonplace.model.scope import Scope
from commonplace.text.notes import check_text
from commonplace.vault.paths import BookPath, View
from commonplace.verbs.context import BookContext, log

MAX_CONTENT = 16_000_000
MAX_FIELD = 10_000
MAX_SEQ = 10**18


def describe_change(result: StoreResult, request: Any) -> Facts:
    """Return what the audit records of a change to a memory."""
    keys = getattr(request, "keys", None)
    return {
        "scope": scope_of_path(result.path),
        "keys": (result.key,),
        "entry": result.entry or None,
        "action": result.action,
        "count": len(keys) if isinstance(keys, (list, tuple)) else None,
    }


# Where


def store_target(context: BookContext, scope: str | None, key: str | None) -> Scope:
    """Return the scope that a store goes to: the named one, else the project. A key in several scopes needs a name."""
    if scope is not None:
        return context.caller.scope(scope)
    if key is not None:
        folders = context.folders_to_search(None)
        places = list(map(split_key, folders, repeat(check_key(key))))
        with context.memories.index.reading(context.memories.space) as index:
            found = list(starmap(index.get, places))
        if found.count(None) < len(found) - 1:
            return _single_scope(context, key)
    return context.caller.scope("session" if context.caller.sealed else "project")


def existing_target(context: BookContext, key: str, scope: str | None) -> Scope:
    """Return the scope of a memory that is there: the named one, else the only one that has the key."""
    if scope is None:
        return _single_scope(context, key)
    place = context.caller.scope(scope)
    if not lookup.find_scopes(context.memories, context.view_for(place), {place: context.folder(place)}, key):
        context.caller.check_write(place)
        raise verbs.unknown.unknown_key(context, key, scope)
    return place


def past_target(context: BookContext, key: str, scope: str | None, has_key: Callable[[BookPath], bool]) -> Scope:
    """Return the scope of a memory that may be gone, to restore or purge it.

    `has_key` tells whether the scope with a folder has it. What was deleted outside goes to the history first.
    """
    check_key(key)
    places = list(context.own_folders()) if scope is None else [context.caller.scope(scope)]
    for folder in map(context.folder, places):
        if not context.memories.freshen(folder):
            context.memories.reconcile(folder)  # a writer waits for the lock
    if scope is not None:
        return places[0]
    found = [place for place in places if has_key(context.folder(place))]
    if not found:
        if lookup.find_scopes(context.memories, context.view(), context.own_folders(), key):
            raise lifecycle.not_in_trash(key, is_there=True)
        raise verbs.unknown.unknown_key(context, key, has_trash=True)
    return lookup.require_single(found, key)


def named_place(context: BookContext, wanted: Scope | None, name: str) -> tuple[Scope, str]:
    """Return the scope and the key of a memory that a caller names as KEY or SCOPE/KEY.

    A KEY is looked for in the wanted scope, then in the others, of which only one may have it.
    """
    memories = context.memories
    if wanted and lookup.find_scopes(memories, context.view_for(wanted), {wanted: context.folder(wanted)}, name):
        return wanted, name
    kind, _, key = name.partition("/")
    own = {scope: folder for scope, folder in context.own_folders().items() if scope.kind.value == kind}
    for scope in lookup.find_scopes(memories, context.view(), own, key) if key else ():
        return scope, key
    return _single_scope(context, name), name


def linked_scope(context: BookContext, target: Scope, to: str) -> Scope | None:
    """Return the scope, other than `target`, that a link SCOPE/KEY leads to; None if the memory is not there."""
    kind, _, key = to.partition("/")
    own = context.own_folders()
    scope = next((scope for scope in own if scope.kind.value == kind != target.kind.value), None)
    if scope is None or (scope.kind.has_id and target not in own):  # the link would mean theirs, not ours
        return None
    try:
        return scope if lookup.find_scopes(context.memories, context.view(), {scope: own[scope]}, key) else None
    except InvalidKey:
        return None  # a link may lead anywhere


def _single_scope(context: BookContext, key: str) -> Scope:
    found = lookup.find_scopes(context.memories, context.view(), context.own_folders(), key)
    if not found:
        raise verbs.unknown.unknown_key(context, key)
    return lookup.require_single(found, key)


# Who may


def is_left_to_review(context: BookContext, found: StoredNote) -> bool:
    """Return whether a memory waits for a verdict that this caller may not give."""
    return found.note.meta.status in context.unseen_statuses


def check_may_add(context: BookContext, found: StoredNote, key: str) -> None:
    """Refuse to add to what waits: it would be acknowledged, and the caller would not find it again."""
    if is_left_to_review(context, found):
        raise NotPermitted(
            f"{key!a} waits for review, and what is added to it would wait, too.",
            hint="Store it under another key, or let a person or a coordinator review that one.",
        )


def check_may_supersede(context: BookContext, found: StoredNote, key: str) -> None:
    """Refuse to supersede what waits: that would be a verdict, and its text would be recalled from then on."""
    if is_left_to_review(context, found):
        raise NotPermitted(
            f"{key!a} waits for review, which is for a person or a coordinator.",
            hint="Store yours beside it, without this decision; they will judge both.",
        )


def link_origin(context: BookContext) -> str:
    """Return whose a link is: a person's link counts at once, an agent's is proposed."""
    return "human" if context.is_person else "agent"


# The change


@contextmanager
def open_units(context: BookContext, *scopes: Scope, is_verdict: bool = False) -> Iterator[dict[Scope, Unit]]:
    """Open a unit on each of some scopes that the caller may change."""
    for scope in scopes:
        context.caller.check_verdict(scope) if is_verdict else context.caller.check_write(scope)
    with ExitStack() as locks:
        yield {
            scope: locks.enter_context(
                context.memories.unit(context.folder(scope), context.view_for(scope, is_verdict=is_verdict))
            )
            for scope in sorted(dict.fromkeys(scopes), key=context.folder)
        }


def commit_first(target: Scope, opened: Mapping[Scope, Unit]) -> None:
    """Commit the unit of what is new, then the others: it is there before what it supersedes is marked."""
    opened[target].commit()
    for scope, unit in opened.items():
        if scope != target:
            unit.commit()


def change_one(
    context: BookContext, target: Scope, view: View, action: Callable[[Unit], lifecycle.ChangeResult]
) -> StoreResult:
    """Make one change to one memory."""
    with context.memories.unit(context.folder(target), view) as unit:
        change = action(unit)
        unit.commit()
    return store_result(target, change)


def change_linked(
    context: BookContext,
    target: Scope,
    to: str | None,
    action: Callable[[Unit, Unit | None], lifecycle.ChangeResult],
    *,
    is_verdict: bool = False,
) -> StoreResult:
    """Make a change to one memory that may also mark the memory that its link leads `to`, in whatever scope."""
    other = linked_scope(context, target, to) if to is not None else None
    with open_units(context, target, *([other] if other is not None else []), is_verdict=is_verdict) as opened:
        change = action(opened[target], opened[other] if other is not None else None)
        commit_first(target, opened)
    return store_result(target, change)


def store_result(scope: Scope, change: lifecycle.ChangeResult) -> StoreResult:
    """Return what a change did, as the verbs answer it."""
    return StoreResult(
        change.key, scope.kind, scope.id, str(change.path), change.revision, change.entry, change.action,
        notice=change.notice,
    )  # fmt: skip


def revive(context: BookContext, places: Sequence[tuple[str, str]]) -> bool:
    """Make expired memories active again. Return whether a file changed.

    A question neither waits nor fails for this: what cannot be written now is revived by a later use.
    """
    has_changed = False
    for folder, name in places if context.caller.role.may_write else ():
        try:
            scope, key = context.locate(folder, name)
            with context.memories.unit(context.folder(scope), context.view_for(scope), timeout=0) as unit:
                has_changed |= lifecycle.revive(unit, key)
                unit.commit()
        except CommonplaceError as error:
            log.info("event=not_revived code=%s", error.code)
    return has_changed


# The entry


def new_entry(
    context: BookContext,
    content: str,
    author: str | None = None,
    occurred: str | None = None,
    thread: str | None = None,
    seq: int | None = None,
) -> Entry:
    """Return a new entry of this caller, if its text can be stored."""
    if not content.strip():
        raise InvalidContent("There is no text to store.", hint="Give the text of the memory.")
    if len(content) > MAX_CONTENT:
        raise InvalidContent(f"The text is longer than {MAX_CONTENT:,} characters.", hint="Store it as a data file.")
    if "\0" in content:
        raise InvalidContent("The text has a NUL character in it.", hint="Store binary data as a data file.")
    check_field("author", author)
    check_field("thread", thread)
    if seq is not None and abs(seq) >= MAX_SEQ:
        raise InvalidField(f"seq may have at most {len(str(MAX_SEQ)) - 1} digits.")
    return Entry(
        time="",
        trust=Trust.HUMAN if context.is_person else Trust.AGENT,
        author=author or context.author,
        session=context.caller.session,
        occurred=_read_occurred(occurred) if occurred else None,
        thread=thread,
        seq=seq,
        text=check_text(content),
    )


def _read_occurred(text: str) -> str:
    from commonplace.recall.dates import read_when  # noqa: PLC0415 - most stores give no time

    return read_when(text)


def check_field(name: str, word: str | None) -> None:
    """Refuse what a short field cannot hold: a long text, a NUL, or what is not valid Unicode."""
    if word is None:
        return
    if len(word) > MAX_FIELD:
        raise InvalidField(f"{name} is longer than {MAX_FIELD:,} characters.")
    if "\0" in word:
        raise InvalidField(f"{name} has a NUL character in it.")
    try:
        word.encode()
    except UnicodeEncodeError:
        raise InvalidField(f"{name} has half of a surrogate pair in it, which is not valid Unicode.") from None
