"""What every verb that changes something goes through: where it goes, who may, and the unit in which it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from commonplace.memories import lifecycle, lookup
from commonplace.memories.rows import place_of, split_key
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import Disabled, InvalidContent, InvalidField, InvalidKey, NotFound, NotPermitted
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import check_key
from commonplace.model.results import StoreResult
from commonplace.model.scope import Scope
from commonplace.model.times import read_time
from commonplace.text.notes import check_text
from commonplace.vault.paths import BookPath, View
from commonplace.vault.sync_thread import do_nothing
from commonplace.verbs.desk import Desk

MAX_CONTENT = 16_000_000
MAX_FIELD = 10_000
MAX_SEQ = 10**18


def store_target(desk: Desk, scope: str | None, key: str | None) -> Scope:
    """Where a store goes: the scope that was named, else the project; a key in several scopes needs a name."""
    if scope is not None:
        return desk.caller.scope(scope)
    if key is not None:
        desk.asked(None)
        places = [split_key(place_of(folder), check_key(key)) for folder in desk.own().values()]
        with desk.keep.index.reading(desk.keep.space) as index:
            found = [place for place in places if index.get(*place) is not None]
        if len(found) > 1:
            return lookup.find_single_scope(desk.keep, desk.view(), desk.own(), key)
    return desk.caller.scope("session" if desk.caller.sealed else "project")


def target_of(desk: Desk, key: str, scope: str | None) -> Scope:
    """Where something that is there is changed."""
    if scope is not None:
        return desk.caller.scope(scope)
    return lookup.find_single_scope(desk.keep, desk.view(), desk.own(), key)


def target_past(desk: Desk, key: str, scope: str | None, has_key: Callable[[BookPath], bool]) -> Scope:
    """Return the scope in which something that was put aside is brought back or done away with.

    `has_key` tells whether the scope with a folder has it. What was deleted outside is put aside first.
    """
    check_key(key)
    places = list(desk.own()) if scope is None else [desk.caller.scope(scope)]
    for folder in map(desk.folder, places):
        if not desk.keep.freshen(folder):
            desk.keep.reconcile(folder)  # a writer waits for the lock
    if scope is not None:
        return places[0]
    found = [place for place in places if has_key(desk.folder(place))]
    if not found:
        raise NotFound(f"There is no memory {key!a} in your scopes, nor in their trash.")
    return lookup.require_single(found, key)


def check_writes(desk: Desk) -> None:
    if not desk.settings.enabled:
        raise Disabled
    if desk.caller.role.max_rank < 0:
        raise NotPermitted(f"The role {desk.caller.role} does not write memories.")


def check_reviewer(desk: Desk) -> None:
    if not desk.caller.role.may_review:
        raise NotPermitted("Review is for a person or a coordinator.")


def check_verdicts(desk: Desk) -> None:
    if not desk.settings.enabled:
        raise Disabled
    check_reviewer(desk)


def is_left_to_review(desk: Desk, found: StoredNote) -> bool:
    """Whether it waits for a verdict that is not this caller's to give."""
    return found.note.meta.status in desk.unseen


def check_may_add(desk: Desk, found: StoredNote, key: str) -> None:
    """Refuse to add to what waits: it would be acknowledged, and not found again by who stored it."""
    if is_left_to_review(desk, found):
        raise NotPermitted(
            f"{key!a} waits for review, and what is added to it would wait, too.",
            hint="Store it under another key, or let a person or a coordinator review that one.",
        )


def check_may_supersede(desk: Desk, found: StoredNote, key: str) -> None:
    """Refuse to supersede what waits: that would be a verdict, and its text would be recalled from then on."""
    if is_left_to_review(desk, found):
        raise NotPermitted(
            f"{key!a} waits for review, which is for a person or a coordinator.",
            hint="Store yours beside it, without this decision; they will judge both.",
        )


def change(
    desk: Desk, key: str, scope: str | Scope | None, action: Callable[[Unit], lifecycle.ChangeResult]
) -> StoreResult:
    """One change to one memory that is there: rank, unit, commit."""
    check_writes(desk)
    target = scope if isinstance(scope, Scope) else target_of(desk, key, scope)
    desk.caller.check_write(target)
    return _changed(desk, target, desk.view_for(target), action)


def judge(desk: Desk, key: str, scope: str | None, action: Callable[[Unit], lifecycle.ChangeResult]) -> StoreResult:
    """The same for a verdict on something proposed, which is a reviewer's to give."""
    check_verdicts(desk)
    target = target_of(desk, key, scope)
    desk.caller.check_verdict(target)
    return _changed(desk, target, desk.view_for(target, verdict=True), action)


@contextmanager
def units(desk: Desk, *scopes: Scope, verdict: bool = False) -> Iterator[dict[Scope, Unit]]:
    """A unit on each of some scopes that the caller may change, locked in an order that all keep."""
    for scope in scopes:
        desk.caller.check_verdict(scope) if verdict else desk.caller.check_write(scope)
    with ExitStack() as locks:
        yield {
            scope: locks.enter_context(desk.keep.unit(desk.folder(scope), desk.view_for(scope, verdict=verdict)))
            for scope in sorted(dict.fromkeys(scopes), key=desk.folder)
        }


def commit_first(target: Scope, opened: Mapping[Scope, Unit], meanwhile: Callable[[], None] = do_nothing) -> None:
    """Commit the unit of what is new and then the others: it is there before what it supersedes is marked."""
    opened[target].commit(meanwhile)
    for scope, unit in opened.items():
        if scope != target:
            unit.commit()


def place_beside(desk: Desk, target: Scope, key: str) -> Scope:
    """Where a memory is that one in `target` is to supersede: beside it, else in the other scope that has it."""
    here = {target: desk.folder(target)}
    if lookup.find_scopes(desk.keep, desk.view_for(target), here, key):
        return target
    return lookup.find_single_scope(desk.keep, desk.view(), desk.own(), key)


def place_linked(desk: Desk, target: Scope, to: str) -> Scope | None:
    """The scope, other than `target`, of the memory that a link leads to as SCOPE/KEY; None if none is there."""
    kind, _, key = to.partition("/")
    scope = next((scope for scope in desk.own() if scope.kind.value == kind != target.kind.value), None)
    if scope is None or (scope.kind.has_id and target not in desk.own()):  # not ours, but theirs, would be meant
        return None
    try:
        return scope if lookup.find_scopes(desk.keep, desk.view(), {scope: desk.folder(scope)}, key) else None
    except InvalidKey:
        return None  # a link may lead anywhere


def change_linked(
    desk: Desk,
    target: Scope,
    to: str | None,
    action: Callable[[Unit, Unit | None], lifecycle.ChangeResult],
    *,
    verdict: bool = False,
) -> StoreResult:
    """A change to one memory that may also mark the one that a link of it leads `to`, in whatever scope that is."""
    other = place_linked(desk, target, to) if to is not None else None
    with units(desk, target, *([other] if other is not None else []), verdict=verdict) as opened:
        kept = action(opened[target], opened[other] if other is not None else None)
        commit_first(target, opened)
    return stored(target, kept)


def _changed(desk: Desk, target: Scope, view: View, action: Callable[[Unit], lifecycle.ChangeResult]) -> StoreResult:
    with desk.keep.unit(desk.folder(target), view) as unit:
        kept = action(unit)
        unit.commit()
    return stored(target, kept)


def new_entry(
    desk: Desk, content: str, author: str | None, occurred: str | None, thread: str | None, seq: int | None
) -> Entry:
    """A new entry, if its text can be kept."""
    if not isinstance(content, str):
        raise InvalidField(f"content is a text, not {type(content).__name__}.")
    check_texts(author=author, occurred=occurred, thread=thread)
    if not content.strip():
        raise InvalidContent("There is no text to store.")
    if len(content) > MAX_CONTENT:
        raise InvalidContent(f"The text is longer than {MAX_CONTENT:,} characters.", hint="Store it as a data file.")
    if "\0" in content:
        raise InvalidContent("The text has a NUL character in it.", hint="Binary data belongs into a data file.")
    for name, word in (("author", author), ("thread", thread)):
        check_word(name, word)
    if seq is not None and (not _is_whole(seq) or abs(seq) >= MAX_SEQ):
        raise InvalidField(f"seq is a whole number of at most {len(str(MAX_SEQ)) - 1} digits.")
    return Entry(
        time="",
        text=check_text(content),
        trust=Trust.HUMAN if desk.is_person else Trust.AGENT,
        author=author or desk.who,
        session=desk.caller.session,
        occurred=read_time(occurred) if occurred else None,
        thread=thread,
        seq=seq,
    )


def origin(desk: Desk) -> str:
    """Whose a link is: a person's stands, an agent's is proposed."""
    return "human" if desk.is_person else "agent"


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def check_texts(**given: object) -> None:
    """Refuse what is given and is no text: a library's caller may send anything."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise InvalidField(f"{name} is a text, not {type(value).__name__}.")


def check_word(name: str, word: str | None) -> None:
    """Refuse what a field of one line or so cannot be: a text of its own, or not valid Unicode."""
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


def stored(scope: Scope, kept: lifecycle.ChangeResult) -> StoreResult:
    return StoreResult(kept.key, scope.kind.value, scope.id, str(kept.path), kept.revision, kept.entry, kept.action)
