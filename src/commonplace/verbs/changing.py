"""What every verb that changes something goes through: where it goes, who may, and the unit in which it happens."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.keep import life, memories, past
from commonplace.keep.caller import Role
from commonplace.keep.rows import split_path
from commonplace.keep.unit import Found, Unit
from commonplace.model.errors import Disabled, InvalidContent, InvalidField, NotFound, NotPermitted
from commonplace.model.keys import check_key
from commonplace.model.memory import Entry, Trust
from commonplace.model.results import Stored
from commonplace.model.scope import Scope
from commonplace.model.times import read_time
from commonplace.text.notes import check_text
from commonplace.vault.paths import BookPath, note_path
from commonplace.vault.view import View
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
        places = [split_path(note_path(folder, check_key(key))) for folder in desk.own().values()]
        with desk.keep.index.reading(desk.keep.space) as index:
            found = [place for place in places if index.has(*place)]
        if len(found) > 1:
            return memories.the_one(desk.keep, desk.view(), desk.own(), key)
    return desk.caller.scope("session" if desk.caller.sealed else "project")


def target_of(desk: Desk, key: str, scope: str | None) -> Scope:
    """Where something that is there is changed."""
    if scope is not None:
        return desk.caller.scope(scope)
    return memories.the_one(desk.keep, desk.view(), desk.own(), key)


def target_past(desk: Desk, key: str, scope: str | None, *kept: BookPath, or_there: bool = False) -> Scope:
    """Where something that was put aside (in the trash, in the history) is brought back or done away with."""
    if scope is not None:
        return desk.caller.scope(scope)
    own = desk.own()
    there = memories.where(desk.keep, desk.view(), own, key)
    vault, space = desk.keep.vault, desk.keep.space
    found = [
        place
        for place, folder in own.items()
        if (or_there and place in there) or any(past.list_past(vault, space, where, folder, key) for where in kept)
    ]
    if not found:
        raise NotFound(f"There is no memory {key!a} in your scopes, nor in their trash.")
    return memories.only(found, key)


def check_writes(desk: Desk) -> None:
    if not desk.settings.enabled:
        raise Disabled
    if desk.caller.role.reach < 0:
        raise NotPermitted(f"The role {desk.caller.role} does not write memories.")


def check_reviewer(desk: Desk) -> None:
    if not desk.caller.role.reviews:
        raise NotPermitted("Review is for a person or a coordinator.")


def is_left_to_review(desk: Desk, found: Found) -> bool:
    """Whether it waits for a verdict that is not this caller's to give."""
    return found.note.meta.status in desk.unseen


def check_may_supersede(desk: Desk, found: Found, key: str) -> None:
    """Refuse to supersede what waits: that would be a verdict, and its text would be recalled from then on."""
    if is_left_to_review(desk, found):
        raise NotPermitted(
            f"{key!a} waits for review, which is for a person or a coordinator.",
            hint="Store yours beside it, without this decision; they will judge both.",
        )


def change(desk: Desk, key: str, scope: str | Scope | None, action: Callable[[Unit], life.Kept]) -> Stored:
    """One change to one memory that is there: rank, unit, commit."""
    check_writes(desk)
    target = scope if isinstance(scope, Scope) else target_of(desk, key, scope)
    desk.caller.check_write(target)
    return _changed(desk, target, desk.view_for(target), action)


def judge(desk: Desk, key: str, scope: str | None, action: Callable[[Unit], life.Kept]) -> Stored:
    """The same for a verdict on something proposed, which is a reviewer's to give."""
    if not desk.settings.enabled:
        raise Disabled
    check_reviewer(desk)
    target = target_of(desk, key, scope)
    desk.caller.check_verdict(target)
    return _changed(desk, target, desk.view_for(target, verdict=True), action)


def _changed(desk: Desk, target: Scope, view: View, action: Callable[[Unit], life.Kept]) -> Stored:
    with desk.keep.unit(desk.folder(target), view) as unit:
        kept = action(unit)
        unit.commit()
    return stored(target, kept)


def new_entry(
    desk: Desk, content: str, author: str | None, occurred: str | None, thread: str | None, seq: int | None
) -> Entry:
    """A new entry, if its text can be kept."""
    if not content.strip():
        raise InvalidContent("There is no text to store.")
    if len(content) > MAX_CONTENT:
        raise InvalidContent(f"The text is longer than {MAX_CONTENT:,} characters.", hint="Store it as a data file.")
    if "\0" in content:
        raise InvalidContent("The text has a NUL character in it.", hint="Binary data belongs into a data file.")
    for name, word in (("author", author), ("thread", thread)):
        check_word(name, word)
    if seq is not None and abs(seq) >= MAX_SEQ:
        raise InvalidField(f"seq is a number of at most {len(str(MAX_SEQ)) - 1} digits.")
    person = desk.caller.role is Role.PERSON and desk.caller.agent is None
    return Entry(
        time="",
        text=check_text(content),
        trust=Trust.HUMAN if person else Trust.AGENT,
        author=author or desk.who,
        session=desk.caller.session,
        occurred=read_time(occurred) if occurred else None,
        thread=thread,
        seq=seq,
    )


def origin(desk: Desk) -> str:
    """Whose a link is: a person's stands, an agent's is proposed."""
    return "human" if desk.caller.role is Role.PERSON and desk.caller.agent is None else "agent"


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


def stored(scope: Scope, kept: life.Kept) -> Stored:
    return Stored(kept.key, scope.kind.value, scope.id, str(kept.path), kept.revision, kept.entry, kept.action)
