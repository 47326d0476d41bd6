"""Which time of the system's clock the book believes, so that one wrong clock neither deletes nor hides anything.

Retention calls `believe` at each look. A time within 30 days of the last look is believed at once. After a jump of more
than that, forward or back, or with a new state, it takes a second sign: another look at least half a day later, or
after the machine was started again, that is not before the first. Until then nothing is retired and nothing leaves the
trash. A book that was left alone for two months gets there on its second day.

`last_look` is the time believed last. Nothing that a book records is dated before it: see `times.never_before`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from commonplace.model.errors import StorageError
from commonplace.model.scope import Space
from commonplace.model.times import shift_time
from commonplace.state.port import State

JUMP_SECONDS: Final = 30 * 86_400
SECOND_SIGN_SECONDS: Final = 12 * 3600
_LAST_LOOK, _DOUBTED = "last-look", "doubted-look"  # facts: a time; a time, a space and the boot


def last_look(state: State, space: Space) -> str:
    """Return the time that was believed last; empty where none was, or it cannot be read."""
    with suppress(StorageError):
        return state.get_fact(space, _LAST_LOOK) or ""
    return ""


def believe(state: State, space: Space, now: str) -> str | None:
    """Return the time to go by: now, an earlier look that this one confirms, or None until there is a second sign."""
    known = state.get_fact(space, _LAST_LOOK)
    if not _is_near(known, now):
        doubted, _, boot = (state.get_fact(space, _DOUBTED) or "").partition(" ")
        if not doubted or now < doubted:
            state.set_fact(space, _DOUBTED, f"{now} {_boot_id()}", lasting=False)
            return None
        if now < shift_time(doubted, SECOND_SIGN_SECONDS) and boot == _boot_id():
            return None
        if not _is_near(doubted, now):  # the clock jumped again: only the first of the two is confirmed
            state.set_fact(space, _DOUBTED, f"{now} {_boot_id()}", lasting=False)
            state.set_fact(space, _LAST_LOOK, doubted, lasting=False)
            return doubted
        known = None  # so that a clock that was set back for good is believed, too
    state.set_fact(space, _LAST_LOOK, max(known or "", now), lasting=False)
    if state.get_fact(space, _DOUBTED):
        state.set_fact(space, _DOUBTED, None, lasting=False)
    return now


def _is_near(known: str | None, now: str) -> bool:
    return known is not None and shift_time(known, -JUMP_SECONDS) <= now <= shift_time(known, JUMP_SECONDS)


def _boot_id() -> str:
    """Return what names the time since the machine was started; empty where the system does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, ValueError):
        return ""
