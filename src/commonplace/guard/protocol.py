"""The protocol's memory: what a caller has read, what it wrote, and what of that has not reached the index.

Pure: a state, an operation and its outcome go in, the next state and what was missed come out. Whoever enforces it
classifies the call (guard/vocabulary.py), looks for near duplicates, keeps the state (`protocol_get` and
`protocol_put` of the state port) and adds the note (guard/notes.py).

A call has a beginning and an end, joined by its id, because calls run side by side. What was read counts for a write
that began after the read had ended: two calls sent together cannot know each other's answer. An update of the index
closes every write that had begun when it ended. So it does not matter in which order calls that run together end. A
call that failed changes nothing.
"""

from collections.abc import Collection, Iterable
from typing import Final

from commonplace.guard.protocol_state import (
    LIFE_SECONDS,
    MOST_CALLS,
    MOST_OPEN,
    MOST_READS,
    MOST_SEEN,
    Call,
    Candidate,
    Findings,
    Outcome,
    Place,
    Read,
    Seen,
    State,
    expired,
    parent_keys,
    short,
    state_key,
)
from commonplace.guard.vocabulary import Kind, Operation, Reach, classify
from commonplace.model.errors import InvalidField
from commonplace.model.times import shift
from commonplace.text.words import telling_stems

__all__ = [
    "Candidate", "Findings", "Kind", "Operation", "Outcome", "Place", "Reach", "State",
    "begin", "check", "classify", "expired", "finish", "inherit", "observe", "parent_keys", "questions", "relevant",
    "state_key",
]  # fmt: skip

TOP: Final = 3  # how many of a write's candidates somebody should have read
_INDEX_SECONDS: Final = 300  # an update of the index that takes longer has been lost


def inherit(parent: State, child: State) -> State:
    """The child knows what its parent has read or written by now. What the parent left open stays the parent's."""
    if expired(parent, child.time):
        return child
    child = State() if expired(child, parent.time) else child
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


def begin(state: State, call_id: str, operation: Operation, now: str) -> State:
    """A call begins. The same id again begins anew."""
    state = _fresh(state, now)
    if operation.kind is Kind.OTHER:
        return state
    tick, name = state.tick + 1, short(call_id)
    others = tuple(call for call in state.calls if call.id != name)
    call = Call(name, _bounded(operation), tick, state.time)
    return state._replace(tick=tick, calls=(*others, call)[-MOST_CALLS:])


def check(
    state: State, call_id: str, candidates: Collection[Candidate], relevant: frozenset[str] = frozenset()
) -> Findings | None:
    """What a write that has begun would miss, before it happens; None for any other call. Strict mode asks."""
    call = next((call for call in state.calls if call.id == short(call_id)), None)
    if call is None or call.operation.kind is not Kind.WRITE:
        return None
    return _judge(state, call, call.operation, tuple(candidates), relevant)


def finish(
    state: State, call_id: str, outcome: Outcome, now: str, operation: Operation | None = None
) -> tuple[State, Findings | None]:
    """A call has ended. `operation` is for a host that says nothing when calls begin. Findings are those of a write
    that happened; nothing is found of any other call, nor of one that failed."""
    state = _fresh(state, now)
    name = short(call_id)
    call = next((call for call in state.calls if call.id == name), None)
    if call is not None:
        return _end(state._replace(calls=tuple(other for other in state.calls if other.id != name)), call, outcome, now)
    return observe(state, operation, outcome, now) if operation is not None else (state, None)


def observe(state: State, operation: Operation, outcome: Outcome, now: str) -> tuple[State, Findings | None]:
    """A call that nothing ran beside, from its beginning to its end."""
    state = _fresh(state, now)
    if operation.kind is Kind.OTHER:
        return state, None
    tick = state.tick + 1
    return _end(state._replace(tick=tick), Call("", _bounded(operation), tick, state.time), outcome, now)


def questions(state: State) -> tuple[str, ...]:
    """What reads asked for, so that somebody can judge which of them could have found a write's candidates."""
    return tuple(dict.fromkeys(read.query for read in state.reads if read.query))


def relevant(asked: Iterable[str], text: str) -> frozenset[str]:
    """Those of the questions that could have found a text by its words: they share a telling one."""
    words = frozenset(telling_stems(text))
    return frozenset(question for question in asked if not words.isdisjoint(telling_stems(question)))


def _bounded(operation: Operation) -> Operation:
    return operation._replace(
        tool=short(operation.tool),
        scopes=tuple(short(scope) for scope in operation.scopes[:16]),
        keys=tuple(short(key) for key in operation.keys[:50]),
        query=operation.query[:200],  # not hashed: it is asked for again
        about=operation.about[:80],
    )


def _fresh(state: State, now: str) -> State:
    """The state as of now: an empty one when it was too long ago. Clocks that go back do not make it younger."""
    try:
        if expired(state, now):
            return State(now)
    except InvalidField:
        return State(now)
    calls = tuple(call for call in state.calls if shift(call.time, LIFE_SECONDS) > now)
    return state._replace(time=max(state.time, now), calls=calls)


def _end(state: State, call: Call, outcome: Outcome, now: str) -> tuple[State, Findings | None]:
    after = state._replace(tick=state.tick + 1)
    if not outcome.ok:
        return after, None
    match call.operation.kind:
        case Kind.READ:
            return _after_read(after, call.operation, outcome, now), None
        case Kind.WRITE:
            return _after_write(after, call, outcome)
        case Kind.INDEX:
            return _after_index(after, call.operation), None
    gone = set(_places(call.operation, outcome.written))
    return after._replace(open=tuple(item for item in after.open if Place(item.scope, item.key) not in gone)), None


def _after_read(after: State, asked: Operation, outcome: Outcome, now: str) -> State:
    returned = tuple(Place(short(place.scope), short(place.key)) for place in outcome.returned[:MOST_SEEN])
    seen = _with(after.seen, returned or _places(asked, None), after.tick)
    after = after._replace(seen=seen[-MOST_SEEN:])
    if asked.reach is Reach.RETURNED:
        return after
    read = Read(asked.scopes, asked.query, outcome.complete, after.tick, now)
    before = next((other for other in after.reads if other[:3] == read[:3]), read)
    others = (other for other in after.reads if other is not before)
    return after._replace(reads=(*others, read._replace(at=before.at))[-MOST_READS:])


def _after_write(after: State, call: Call, outcome: Outcome) -> tuple[State, Findings]:
    operation = call.operation
    places = _places(operation, outcome.written)
    if outcome.written is not None:
        keys = dict.fromkeys((places[0].key, *operation.keys))
        operation = operation._replace(scopes=(places[0].scope,), keys=tuple(keys))
    found = _judge(after, call, operation, outcome.candidates, outcome.relevant)
    reached = operation.keeps_index or call.indexed
    still = after.open if reached else _with(after.open, places, after.tick)
    seen = _with(after.seen, places, after.tick)
    missed = 0 if found.clean else after.missed + 1
    return after._replace(seen=seen[-MOST_SEEN:], open=still[-MOST_OPEN:], missed=missed), found


def _with(items: tuple[Seen, ...], places: tuple[Place, ...], tick: int) -> tuple[Seen, ...]:
    """These and the new ones, each once, the new ones last: but known since it was first seen, because a call that is
    under way may have begun between."""
    new = dict.fromkeys(places, tick)
    for item in items:
        if item[:2] in new:
            new[Place(item.scope, item.key)] = item.at
    return (*(item for item in items if item[:2] not in new), *(Seen(*place, at) for place, at in new.items()))


def _after_index(after: State, operation: Operation) -> State:
    """Every write in its scopes that is done, or under way, has reached the index."""

    def reached(scope: str) -> bool:
        return not operation.scopes or scope in operation.scopes

    calls = tuple(
        call._replace(indexed=True) if call.operation.kind is Kind.WRITE and reached(call.operation.scope) else call
        for call in after.calls
    )
    return after._replace(open=tuple(item for item in after.open if not reached(item.scope)), calls=calls)


def _places(operation: Operation, written: Place | None) -> tuple[Place, ...]:
    if written is not None:
        return (Place(short(written.scope), short(written.key)),)
    scope = operation.scope if len(operation.scopes) == 1 else ""
    return tuple(Place(scope, key) for key in operation.keys)


def _judge(
    state: State, call: Call, operation: Operation, candidates: tuple[Candidate, ...], relevant: frozenset[str]
) -> Findings:
    """What a write missed, from what was known when it began."""
    others = tuple(
        item
        for item in candidates
        if not (short(item.key) in operation.keys and short(item.scope) in (operation.scope, ""))
    )
    drift = _drift(state, call)
    if operation.settled:
        return Findings(operation, drift=drift, before=state.missed)
    unread = tuple(item for item in others[:TOP] if not _known(state, call.at, item, relevant))
    missing = bool(unread) or not _covered(state, call, operation, others)
    keys = call.operation.keys
    if keys and all(any(_is_seen(item, call.at, operation.scope, key) for item in state.seen) for key in keys):
        missing, unread = False, ()  # it changes what it has read
    return Findings(operation, missing, unread, others, drift, state.missed)


def _drift(state: State, call: Call) -> tuple[Place, ...]:
    """What was written before this call began and is not in the index. While an update of the index is under way,
    nobody can say."""
    lost = shift(state.time, -_INDEX_SECONDS)
    if any(other.operation.kind is Kind.INDEX and other.time >= lost for other in state.calls):
        return ()
    return tuple(Place(item.scope, item.key) for item in state.open if item.at < call.at)


def _covered(state: State, call: Call, operation: Operation, others: tuple[Candidate, ...]) -> bool:
    """Whether a read covered the scope of a write."""
    if any(read.at < call.at and (not read.scopes or operation.scope in read.scopes) for read in state.reads):
        return True
    inside = [item for item in others[:TOP] if short(item.scope) == operation.scope]
    return any(_is_seen(seen, call.at, item.scope, item.key) for item in inside for seen in state.seen)


def _known(state: State, at: int, item: Candidate, relevant: frozenset[str]) -> bool:
    """Whether a candidate was returned by a read, or could have been."""
    if any(_is_seen(seen, at, item.scope, item.key) for seen in state.seen):
        return True
    return any(
        read.at < at
        and (not read.scopes or short(item.scope) in read.scopes)
        and (read.query in relevant if read.query else read.complete)
        and item.updated <= read.time
        for read in state.reads
    )


def _is_seen(seen: Seen, at: int, scope: str, key: str) -> bool:
    return seen.at < at and seen.key == short(key) and seen.scope in ("", short(scope))
