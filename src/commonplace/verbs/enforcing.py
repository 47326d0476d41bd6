"""The write protocol's state of one caller: kept for half an hour in the state, so that requests may be stateless.

Losing it costs a caller one more note, and never a memory: a state that cannot be read or written is an empty one.
"""

from __future__ import annotations

from contextlib import suppress

from commonplace.guard.protocol import inherit
from commonplace.guard.protocol_state import ProtocolState, parent_state_keys, state_key
from commonplace.model.errors import CommonplaceError
from commonplace.verbs.desk import Desk


def state_of(desk: Desk, owner: int | str) -> ProtocolState:
    """What this caller has read and written, and what the agents above it have read."""
    who = _who(desk, owner)
    with suppress(CommonplaceError):
        now = desk.keep.clock()
        state = ProtocolState.from_json(desk.state.protocol_get(desk.keep.space, state_key(*who), now))
        for key in parent_state_keys(*who):
            above = desk.state.protocol_get(desk.keep.space, key, now)
            state = inherit(ProtocolState.from_json(above), state) if above else state
        return state
    return ProtocolState()


def keep_state(desk: Desk, owner: int | str, state: ProtocolState) -> None:
    with suppress(CommonplaceError):
        key = state_key(*_who(desk, owner))
        desk.state.protocol_put(desk.keep.space, key, state.to_json(), desk.keep.clock())


def _who(desk: Desk, owner: int | str) -> tuple[int | str, str | None, str | None, str | None]:
    caller = desk.caller
    return owner, caller.project, caller.session, caller.agent
