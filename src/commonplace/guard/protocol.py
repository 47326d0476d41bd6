"""The write protocol: what a caller has read, what it wrote, and which of its writes have not reached the index.

Pure: a state, an operation and its outcome go in; the next state and what was missed come out. The caller of this
module classifies the call (guard/classification.py), looks for near duplicates, stores the state (`protocol_get` and
`protocol_put` of the state port) and shows the note (guard/protocol_notes.py).

A call has a beginning and an end, joined by its id, because calls run in parallel. A read counts for a write that began
after the read had ended: two calls sent together cannot know each other's answer. An index update closes every write
that had begun when it ended. So the order in which parallel calls end does not matter. A failed call changes nothing.
"""

from collections.abc import Collection, Iterable
from typing import Final

from commonplace.guard.classification import Operation
from commonplace.guard.protocol_state import (
    LIFE_SECONDS,
    MOST_CALLS,
    MOST_READS,
    MOST_SEEN,
    MOST_UNINDEXED,
    CallOutcome,
    DuplicateCandidate,
    MemoryRef,
    MissedSteps,
    PendingCall,
    ProtocolState,
    ReadRecord,
    SeenMemory,
    is_expired,
    shorten,
)
from commonplace.guard.vocabulary import CallKind, ReadReach
from commonplace.model.errors import InvalidField
from commonplace.model.times import shift_time
from commonplace.text.words import significant_stems

TOP: Final = 3  # how many of a write's candidates the caller should have read
_INDEX_SECONDS: Final = 300  # an index update that takes longer is taken as lost


def inherit(parent: ProtocolState, child: ProtocolState) -> ProtocolState:
    """Return the child's state with what its parent has read or written by now.

    What the parent left out of the index stays with the parent.
    """
    if is_expired(parent, child.time):
        return child
    child = ProtocolState() if is_expired(child, parent.time) else child
    known = {read[:3]: read.time for read in child.reads}
    new = {read[:3]: read for read in parent.reads if known.get(read[:3], "") < read.time}
    own = (read for read in child.reads if read[:3] not in new)
    seen = {item[:2] for item in child.seen}
    more = (item._replace(at=child.tick) for item in parent.seen if item[:2] not in seen)
    return child._replace(
        time=max(child.time, parent.time),
        reads=(*(read._replace(at=child.tick) for read in new.values()), *own)[-MOST_READS:],
        seen=(*more, *child.seen)[-MOST_SEEN:],
    )


def begin_call(state: ProtocolState, call_id: str, operation: Operation, now: str) -> ProtocolState:
    """Return the state after a call has begun. The same id again restarts that call."""
    state = _refresh(state, now)
    if operation.kind is CallKind.OTHER:
        return state
    tick, name = state.tick + 1, shorten(call_id)
    others = tuple(call for call in state.calls if call.id != name)
    call = PendingCall(name, _bound(operation), tick, state.time)
    return state._replace(tick=tick, calls=(*others, call)[-MOST_CALLS:])


def check_write(
    state: ProtocolState,
    call_id: str,
    candidates: Collection[DuplicateCandidate],
    relevant: frozenset[str] = frozenset(),
) -> MissedSteps | None:
    """Return what a write that has begun would miss; None for any other call. Strict mode asks before the write."""
    call = next((call for call in state.calls if call.id == shorten(call_id)), None)
    if call is None or call.operation.kind is not CallKind.WRITE:
        return None
    return _find_missed(state, call, call.operation, tuple(candidates), relevant)


def finish_call(
    state: ProtocolState, call_id: str, outcome: CallOutcome, now: str, operation: Operation | None = None
) -> tuple[ProtocolState, MissedSteps | None]:
    """Return the state after a call has ended, and what it missed if it was a write that succeeded, else None.

    `operation` is for a host that does not report when calls begin.
    """
    state = _refresh(state, now)
    name = shorten(call_id)
    call = next((call for call in state.calls if call.id == name), None)
    if call is not None:
        return _end_call(
            state._replace(calls=tuple(other for other in state.calls if other.id != name)), call, outcome, now
        )
    return observe_call(state, operation, outcome, now) if operation is not None else (state, None)


def observe_call(
    state: ProtocolState, operation: Operation, outcome: CallOutcome, now: str
) -> tuple[ProtocolState, MissedSteps | None]:
    """Return the state after a call that began and ended with no other beside it, and what it missed."""
    state = _refresh(state, now)
    if operation.kind is CallKind.OTHER:
        return state, None
    tick = state.tick + 1
    return _end_call(state._replace(tick=tick), PendingCall("", _bound(operation), tick, state.time), outcome, now)


def read_queries(state: ProtocolState) -> tuple[str, ...]:
    """Return the queries of the reads, for `find_relevant` to judge which could have found a write's candidates."""
    return tuple(dict.fromkeys(read.query for read in state.reads if read.query))


def find_relevant(queries: Iterable[str], text: str) -> frozenset[str]:
    """Return the queries that share a significant word with the text, and so could have found it."""
    words = frozenset(significant_stems(text))
    return frozenset(query for query in queries if not words.isdisjoint(significant_stems(query)))


def _bound(operation: Operation) -> Operation:
    """Return the operation with its texts and lists cut to what a state may hold."""
    return operation._replace(
        tool=shorten(operation.tool),
        scopes=tuple(shorten(scope) for scope in operation.scopes[:16]),
        keys=tuple(shorten(key) for key in operation.keys[:50]),
        query=operation.query[:200],  # not hashed: `find_relevant` needs its words
        about=operation.about[:80],
    )


def _refresh(state: ProtocolState, now: str) -> ProtocolState:
    """Return the state as of now, an empty one if it expired. A clock that goes back does not make it younger."""
    try:
        if is_expired(state, now):
            return ProtocolState(now)
    except InvalidField:
        return ProtocolState(now)
    calls = tuple(call for call in state.calls if shift_time(call.time, LIFE_SECONDS) > now)
    return state._replace(time=max(state.time, now), calls=calls)


def _end_call(
    state: ProtocolState, call: PendingCall, outcome: CallOutcome, now: str
) -> tuple[ProtocolState, MissedSteps | None]:
    after = state._replace(tick=state.tick + 1)
    if not outcome.ok:
        return after, None
    match call.operation.kind:
        case CallKind.READ:
            return _after_read(after, call.operation, outcome, now), None
        case CallKind.WRITE:
            return _after_write(after, call, outcome)
        case CallKind.INDEX:
            return _after_index(after, call.operation), None
    gone = set(_written_refs(call.operation, outcome.written))
    return after._replace(unindexed=tuple(item for item in after.unindexed if item.ref not in gone)), None


def _after_read(after: ProtocolState, asked: Operation, outcome: CallOutcome, now: str) -> ProtocolState:
    returned = tuple(MemoryRef(shorten(place.scope), shorten(place.key)) for place in outcome.returned[:MOST_SEEN])
    seen = _merge_seen(after.seen, returned or _written_refs(asked, None), after.tick)
    after = after._replace(seen=seen[-MOST_SEEN:])
    if asked.reach is ReadReach.RETURNED:
        return after
    read = ReadRecord(asked.scopes, asked.query, outcome.complete, after.tick, now)
    before = next((other for other in after.reads if other[:3] == read[:3]), read)
    others = (other for other in after.reads if other is not before)
    return after._replace(reads=(*others, read._replace(at=before.at))[-MOST_READS:])


def _after_write(after: ProtocolState, call: PendingCall, outcome: CallOutcome) -> tuple[ProtocolState, MissedSteps]:
    operation = call.operation
    places = _written_refs(operation, outcome.written)
    if outcome.written is not None:
        keys = dict.fromkeys((places[0].key, *operation.keys))
        operation = operation._replace(scopes=(places[0].scope,), keys=tuple(keys))
    found = _find_missed(after, call, operation, outcome.candidates, outcome.relevant)
    reached = operation.keeps_index or call.indexed
    still = after.unindexed if reached else _merge_seen(after.unindexed, places, after.tick)
    seen = _merge_seen(after.seen, places, after.tick)
    missed = 0 if found.is_clean else after.missed + 1
    return after._replace(seen=seen[-MOST_SEEN:], unindexed=still[-MOST_UNINDEXED:], missed=missed), found


def _merge_seen(items: tuple[SeenMemory, ...], places: tuple[MemoryRef, ...], tick: int) -> tuple[SeenMemory, ...]:
    """Return the items with the new places last, each once.

    A place that was seen before keeps its first tick, because a call still running may have begun in between.
    """
    new = dict.fromkeys(places, tick)
    for item in items:
        if item[:2] in new:
            new[item.ref] = item.at
    return (*(item for item in items if item[:2] not in new), *(SeenMemory(*place, at) for place, at in new.items()))


def _after_index(after: ProtocolState, operation: Operation) -> ProtocolState:
    """Mark every write in the operation's scopes, done or running, as in the index."""

    def reached(scope: str) -> bool:
        return not operation.scopes or scope in operation.scopes

    calls = tuple(
        call._replace(indexed=True) if call.operation.kind is CallKind.WRITE and reached(call.operation.scope) else call
        for call in after.calls
    )
    return after._replace(unindexed=tuple(item for item in after.unindexed if not reached(item.scope)), calls=calls)


def _written_refs(operation: Operation, written: MemoryRef | None) -> tuple[MemoryRef, ...]:
    if written is not None:
        return (MemoryRef(shorten(written.scope), shorten(written.key)),)
    scope = operation.scope if len(operation.scopes) == 1 else ""
    return tuple(MemoryRef(scope, key) for key in operation.keys)


def _find_missed(
    state: ProtocolState,
    call: PendingCall,
    operation: Operation,
    candidates: tuple[DuplicateCandidate, ...],
    relevant: frozenset[str],
) -> MissedSteps:
    """Return what a write missed, judged by what was known when it began."""
    others = tuple(
        item
        for item in candidates
        if not (shorten(item.key) in operation.keys and shorten(item.scope) in (operation.scope, ""))
    )
    drift = _find_unindexed(state, call)
    if operation.settled:
        return MissedSteps(operation, drift=drift, missed_before=state.missed)
    unread = tuple(item for item in others[:TOP] if not _was_readable(state, call.at, item, relevant))
    missing = bool(unread) or not _is_covered(state, call, operation, others)
    keys = call.operation.keys
    if keys and all(any(_is_seen(item, call.at, operation.scope, key) for item in state.seen) for key in keys):
        missing, unread = False, ()  # it changes what it has read
    return MissedSteps(operation, missing, unread, others, drift, state.missed)


def _find_unindexed(state: ProtocolState, call: PendingCall) -> tuple[MemoryRef, ...]:
    """Return what was written before this call began and is not in the index; nothing while an index update runs."""
    lost = shift_time(state.time, -_INDEX_SECONDS)
    if any(other.operation.kind is CallKind.INDEX and other.time >= lost for other in state.calls):
        return ()
    return tuple(item.ref for item in state.unindexed if item.at < call.at)


def _is_covered(
    state: ProtocolState, call: PendingCall, operation: Operation, others: tuple[DuplicateCandidate, ...]
) -> bool:
    """Whether a read covered the scope of a write."""
    if any(read.at < call.at and (not read.scopes or operation.scope in read.scopes) for read in state.reads):
        return True
    inside = [item for item in others[:TOP] if shorten(item.scope) == operation.scope]
    return any(_is_seen(seen, call.at, item.scope, item.key) for item in inside for seen in state.seen)


def _was_readable(state: ProtocolState, at: int, item: DuplicateCandidate, relevant: frozenset[str]) -> bool:
    """Whether a read returned a candidate, or could have returned it."""
    if any(_is_seen(seen, at, item.scope, item.key) for seen in state.seen):
        return True
    return any(
        read.at < at
        and (not read.scopes or shorten(item.scope) in read.scopes)
        and (read.query in relevant if read.query else read.complete)
        and item.updated <= read.time
        for read in state.reads
    )


def _is_seen(seen: SeenMemory, at: int, scope: str, key: str) -> bool:
    return seen.at < at and seen.key == shorten(key) and seen.scope in ("", shorten(scope))
