"""The write protocol: what a caller has read and written, and what a write missed.

Pure: a state, an operation and its outcome go in; the next state and what was missed come out. The tools and the hooks
classify a call (guard/vocabulary.py), look for near duplicates, keep the state (`protocol_get` and `protocol_put` of
the state port) and show the note (guard/protocol_notes.py). `Tracker` does all of it for a program's own memory tools.

A call has a beginning and an end, joined by its id, because calls run in parallel. A read counts for a write that began
after the read was answered: two calls sent together cannot know each other's answer. It counts only for what it was
about: it returned the memory nearest to what is written (as a strong match), asked in words near it, or returned
everything. An index
update closes every write that had begun when it ended; where the host keeps the index, it also begins a new cycle, in
which what was read before counts no more. So the order in which parallel calls end does not matter. A failed call
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count

from commonplace.guard.protocol_notes import build_refusal, note_at_run_end, write_note
from commonplace.guard.protocol_state import (
    LIFE_SECONDS,
    MOST_CALLS,
    MOST_READS,
    MOST_SEEN,
    MOST_UNINDEXED,
    CallKind,
    CallOutcome,
    Candidates,
    DuplicateCandidate,
    IndexUpdate,
    MemoryRef,
    MissedSteps,
    Operation,
    PendingCall,
    ProtocolState,
    Question,
    ReadReach,
    ReadRecord,
    SeenMemory,
    is_expired,
    shorten,
)
from commonplace.guard.vocabulary import OWN_TOOLS, Arguments, Vocabulary, classify, hash_words, read_vocabulary
from commonplace.model.names import short_hash
from commonplace.model.times import now as read_clock
from commonplace.model.times import shift_time

TOP = 3  # how many of a write's candidates the caller should have read
_INDEX_SECONDS = 300  # an index update that takes longer is taken as lost
_NEAR_WORDS, _NEAR_PART = 2, 3  # of the words of a question: two, or a third of them, make it about a text
_ORDER = count(1)  # of the calls of all trackers: a child's state takes over its parent's


def inherit(parent: ProtocolState, child: ProtocolState) -> ProtocolState:
    """Return the child's state with what its parent has read or written by now.

    What the parent left out of the index stays with the parent.
    """
    if is_expired(parent, child.time):
        return child
    child = ProtocolState(lead=child.lead) if is_expired(child, parent.time) else child
    reads = dict.fromkeys((*parent.reads, *child.reads))
    seen = dict.fromkeys((*parent.seen, *child.seen))
    return child._replace(
        time=max(child.time, parent.time),
        tick=max(child.tick, parent.tick),
        reads=tuple(sorted(reads, key=lambda read: read.at))[-MOST_READS:],
        seen=tuple(sorted(seen, key=lambda item: item.at))[-MOST_SEEN:],
        updates=tuple(dict.fromkeys((*parent.updates, *child.updates)))[-MOST_UNINDEXED:],
    )


def begin_call(
    state: ProtocolState, call_id: str, operation: Operation, now: str, at: int | None = None
) -> ProtocolState:
    """Return the state after a call has begun. The same id again restarts that call.

    `at` is when it began; without it, calls are counted.
    """
    state = _refresh(state, now)
    if operation.kind is CallKind.OTHER:
        return state
    at, name = state.tick + 1 if at is None else at, short_hash(call_id, 16)
    others = tuple(call for call in state.calls if call.id != name)
    bounded = operation._replace(  # to what a state may hold
        scopes=tuple(map(shorten, operation.scopes[:16])),
        keys=tuple(map(shorten, operation.keys)),
        about="",
    )
    call = PendingCall(name, bounded, at, state.time)
    return state._replace(tick=max(state.tick, at), calls=(*others, call)[-MOST_CALLS:])


def check_write(
    state: ProtocolState, call_id: str, outcome: CallOutcome, operation: Operation | None = None
) -> MissedSteps | None:
    """Return what a write that has begun would miss; None for any other call. Strict mode asks before the write.

    `outcome` has what is known before: the candidates, the relevant questions and the nearest memory.
    """
    call = _find_call(state, call_id)
    if call is None or call.operation.kind is not CallKind.WRITE:
        return None
    return _find_missed(state, call, _with_text(call.operation, operation), outcome)


def finish_call(
    state: ProtocolState,
    call_id: str,
    outcome: CallOutcome,
    now: str,
    operation: Operation | None = None,
    at: int | None = None,
) -> tuple[ProtocolState, MissedSteps | None]:
    """Return the state after a call has ended, and what it missed if it was a write that succeeded, else None.

    `operation` has the text for a note, which a state does not keep. For a host that does not report when calls begin,
    the call begins and ends here.
    """
    state = _refresh(state, now)
    if operation is not None and _find_call(state, call_id) is None:
        state = begin_call(state, call_id, operation, now)
    call = _find_call(state, call_id)
    if call is None:
        return state, None
    at = state.tick + 1 if at is None else at
    others = tuple(other for other in state.calls if other is not call)
    after = state._replace(tick=max(state.tick, at), calls=others)
    if not outcome.ok:
        return after, None
    match call.operation.kind:
        case CallKind.READ:
            return _after_read(after, call.operation, outcome, now, at), None
        case CallKind.WRITE:
            return _after_write(after, call, _with_text(call.operation, operation), outcome, at)
        case CallKind.INDEX:
            return _after_index(after, call.operation, at), None
    gone = set(_named_refs(call.operation))
    return after._replace(unindexed=tuple(item for item in after.unindexed if item.ref not in gone)), None


def _find_call(state: ProtocolState, call_id: str) -> PendingCall | None:
    name = short_hash(call_id, 16)
    return next((call for call in state.calls if call.id == name), None)


def _with_text(kept: Operation, given: Operation | None) -> Operation:
    return kept if given is None else kept._replace(about=given.about)


def find_relevant(state: ProtocolState, text: str) -> frozenset[Question]:
    """Return the questions of reads that were about a text: it has two of their telling words, or a third of them."""
    words = frozenset(hash_words(text))
    questions = {read.words for read in state.reads if read.words}
    return frozenset(asked for asked in questions if is_near(asked, words))


def is_near(question: Question, words: Collection[str]) -> bool:
    """Return whether a question is about a text with these words; both are hashes."""
    shared = sum(word in words for word in question)
    return shared > 0 and (shared >= _NEAR_WORDS or _NEAR_PART * shared >= len(question))


def _refresh(state: ProtocolState, now: str) -> ProtocolState:
    """Return the state as of now, an empty one if it expired. A clock that goes back does not make it younger."""
    if is_expired(state, now):
        return ProtocolState(now)
    calls = tuple(call for call in state.calls if shift_time(call.time, LIFE_SECONDS) > now)
    return state._replace(time=max(state.time, now), calls=calls)


def _after_read(after: ProtocolState, asked: Operation, outcome: CallOutcome, now: str, at: int) -> ProtocolState:
    returned = tuple(_shorten_ref(place) for place in outcome.returned[:MOST_SEEN])
    closed = max((update.at for update in after.updates), default=0)
    weak = tuple(_shorten_ref(place) for place in outcome.weak[:MOST_SEEN] if place not in outcome.returned)
    seen = _merge_seen(after.seen, weak, at, closed, is_read=False)
    seen = _merge_seen(seen, returned or _named_refs(asked), at, closed)
    after = after._replace(seen=seen[-MOST_SEEN:])
    if asked.reach is ReadReach.RETURNED:
        return after
    read = ReadRecord(asked.scopes, asked.words, outcome.complete, at, now)
    # The same read again keeps its first place, for a call still running that began in between.
    before = next((other for other in after.reads if other[:3] == read[:3] and other.at > closed), read)
    others = (other for other in after.reads if other is not before)
    return after._replace(reads=(*others, read._replace(at=before.at))[-MOST_READS:])


def _after_write(
    after: ProtocolState, call: PendingCall, operation: Operation, outcome: CallOutcome, at: int
) -> tuple[ProtocolState, MissedSteps]:
    places = _named_refs(operation) or (MemoryRef(operation.scope, ""),)
    if outcome.written is not None:
        places = (_shorten_ref(outcome.written),)
        keys = dict.fromkeys((places[0].key, *operation.keys))
        operation = operation._replace(scopes=(places[0].scope,), keys=tuple(keys))
    found = _find_missed(after, call, operation, outcome)
    left = () if operation.keeps_index or call.indexed else places
    still = _merge_seen(after.unindexed, left, at, is_read=False)
    closed = max((update.at for update in after.updates), default=0)
    seen = _merge_seen(after.seen, tuple(place for place in places if place.key), at, closed, is_read=False)
    missed = 0 if found.is_clean else after.missed + 1
    after = after._replace(seen=seen[-MOST_SEEN:], unindexed=still[-MOST_UNINDEXED:], missed=missed)
    return after, found._replace(unindexed=() if _is_indexing(after) else left)


def _merge_seen(
    items: tuple[SeenMemory, ...], places: tuple[MemoryRef, ...], at: int, closed: int = -1, *, is_read: bool = True
) -> tuple[SeenMemory, ...]:
    """Return the items with the new places last.

    A place that was seen before, in this cycle, keeps its first time: a call still running may have begun in between.
    """
    new = dict.fromkeys(places)
    known = {item.ref for item in items if item.at > closed and item.is_read >= is_read}
    again = [item for item in items if item.ref in new]
    return (
        *(item for item in items if item.ref not in new),
        *again,
        *(SeenMemory(*place, at, is_read) for place in new if place not in known),
    )


def _after_index(after: ProtocolState, operation: Operation, at: int) -> ProtocolState:
    """Mark every write in the operation's scopes, done or running, as in the index, and begin a new cycle there."""

    def reached(scope: str) -> bool:
        return not operation.scopes or scope in operation.scopes

    calls = tuple(call._replace(indexed=call.indexed or reached(call.operation.scope)) for call in after.calls)
    left = tuple(item for item in after.unindexed if not reached(item.scope))
    scopes = () if operation.keeps_index else operation.scopes or ("",)
    updates = (*after.updates, *(IndexUpdate(scope, at) for scope in scopes))
    return after._replace(unindexed=left, calls=calls, updates=updates[-MOST_UNINDEXED:])


def _is_indexing(state: ProtocolState) -> bool:
    """Return whether an index update is under way: what was written may still reach the index."""
    lost = shift_time(state.time, -_INDEX_SECONDS)
    return any(call.operation.kind is CallKind.INDEX and call.time >= lost for call in state.calls)


def _named_refs(operation: Operation) -> tuple[MemoryRef, ...]:
    scope = operation.scope if len(operation.scopes) == 1 else ""
    return tuple(MemoryRef(scope, key) for key in operation.keys)


def _shorten_ref(ref: MemoryRef) -> MemoryRef:
    return MemoryRef(*map(shorten, ref))


def _find_missed(state: ProtocolState, call: PendingCall, operation: Operation, outcome: CallOutcome) -> MissedSteps:
    """Return what a write missed, judged by what was known when it began."""
    others = tuple(
        item
        for item in outcome.candidates
        if not (shorten(item.key) in operation.keys and shorten(item.scope) in (operation.scope, ""))
    )
    drift = () if _is_indexing(state) else tuple(item.ref for item in state.unindexed if item.at < call.at)
    if operation.settled:
        return MissedSteps(operation, drift=drift, missed_before=state.missed)
    unread = tuple(item for item in others[:TOP] if not _was_readable(state, call, item, outcome.relevant))
    inside = [item.ref for item in others[:TOP] if shorten(item.scope) == operation.scope]
    missing = bool(unread) or not (_was_about(state, call, operation, outcome) or _has_seen_any(state, call, inside))
    keys = call.operation.keys
    if keys and all(_has_seen_any(state, call, [MemoryRef(operation.scope, key)]) for key in keys):
        missing, unread = False, ()  # it changes what it has read
    return MissedSteps(operation, missing, unread, others, drift, state.missed)


def _was_about(state: ProtocolState, call: PendingCall, operation: Operation, outcome: CallOutcome) -> bool:
    """Return whether what was read in a write's scope was about what it says."""
    reads = [read for read in state.reads if _covers(state, read, call, operation.scope)]
    if any(read.words in outcome.relevant if read.words is not None else read.complete for read in reads):
        return True
    nearest = outcome.nearest
    has_seen = nearest is not None and _has_seen_any(state, call, [nearest], by_reading=True)
    return has_seen and (bool(reads) or (nearest is not None and shorten(nearest.scope) == operation.scope))


def _was_readable(
    state: ProtocolState, call: PendingCall, item: DuplicateCandidate, relevant: frozenset[Question]
) -> bool:
    """Return whether a read returned a candidate, or could have returned it."""
    return _has_seen_any(state, call, [item.ref]) or any(
        _covers(state, read, call, shorten(item.scope))
        and (read.words in relevant if read.words is not None else read.complete)
        and item.updated <= read.time
        for read in state.reads
    )


def _covers(state: ProtocolState, read: ReadRecord, call: PendingCall, scope: str) -> bool:
    """Return whether a read reached a scope and was answered before a call began, in the same cycle."""
    return (not read.scopes or scope in read.scopes) and _is_known(state, read.at, call, scope)


def _has_seen_any(
    state: ProtocolState, call: PendingCall, refs: Sequence[MemoryRef], *, by_reading: bool = False
) -> bool:
    """Return whether the caller had seen one of some memories before a call began. A key may be SCOPE/KEY."""
    wanted = {(shorten(ref.scope), shorten(ref.key)) for ref in refs}
    names = {key for _, key in wanted}
    return any(
        ((item.scope, item.key) in wanted or (not item.scope and item.key in names) or "/".join(item.ref) in names)
        and item.is_read >= by_reading
        and _is_known(state, item.at, call, item.scope)
        for item in state.seen
    )


def _is_known(state: ProtocolState, at: int, call: PendingCall, scope: str) -> bool:
    """Return whether what was answered then is known to a call: it began later, and no cycle was closed in between."""
    is_closed = any(at < update.at < call.at and update.scope in ("", scope) for update in state.updates)
    return at < call.at and not is_closed


class Tracker:
    """Holds the agents of a program to the protocol, for memory tools of its own.

    A vocabulary says what those tools do: a `Vocabulary`, or a table as docs/protocol.md describes it. Call `begin`
    before a tool runs and `finish` when it has answered, with the same id; calls may overlap. What `finish` returns is
    for the agent, at the end of the tool's result. Not for several threads at once.
    """

    def __init__(
        self,
        vocabulary: Vocabulary | Mapping[str, object] = OWN_TOOLS,
        *,
        tools: Collection[str] | None = None,
        clock: Callable[[], str] = read_clock,
        parent: Tracker | None = None,
    ) -> None:
        """Begin with nothing read. `tools` are those this agent has, by default all of the vocabulary.

        `parent` is the tracker of the agent that started this one: what that one has read counts here, too.
        """
        self.vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else read_vocabulary(vocabulary)
        self.state = ProtocolState()
        self._tools = self.vocabulary.tools.keys() if tools is None else tools
        self._clock, self._parent = clock, parent
        self._operations: dict[str, Operation] = {}

    def begin(self, call_id: str, tool: str, arguments: Arguments, cwd: str = "/") -> None:
        """Note that a call begins. Relative paths in its arguments start at `cwd`."""
        operation = self._operations[call_id] = classify(tool, arguments, self.vocabulary, cwd)
        self._inherit()
        self.state = begin_call(self.state, call_id, operation, self._clock(), next(_ORDER))

    def check(self, call_id: str, similar: Sequence[str] = ()) -> str | None:
        """Return why strict mode refuses a write that has begun; None lets it pass.

        `similar` are the keys of memories that say nearly the same.
        """
        operation = self._operations.get(call_id)
        if operation is None:
            return None
        outcome = self._outcome(operation, similar)
        return build_refusal(check_write(self.state, call_id, outcome, operation), self._tools, self.vocabulary)

    def finish(
        self, call_id: str, *, ok: bool = True, returned: Sequence[str] = (), similar: Sequence[str] = ()
    ) -> str | None:
        """Note that a call has ended, and return the note for the agent, if there is one.

        `returned` are the keys that a read returned; `similar` is as for `check`.
        """
        operation = self._operations.pop(call_id, None)
        if operation is None:
            return None
        scope = operation.scope if len(operation.scopes) == 1 else ""
        outcome = self._outcome(operation, similar)._replace(
            ok=ok, returned=tuple(MemoryRef(scope, key) for key in returned)
        )
        self.state, findings = finish_call(self.state, call_id, outcome, self._clock(), operation, next(_ORDER))
        return write_note(findings, self._tools, self.vocabulary)

    def end_run(self) -> str | None:
        """Return what to say about writes that are not in the index when a run ends."""
        return note_at_run_end(self.state, self._tools, self.vocabulary)

    def _inherit(self) -> None:
        if self._parent is not None:
            self._parent._inherit()
            self.state = inherit(self._parent.state, self.state)

    def _outcome(self, operation: Operation, similar: Sequence[str]) -> CallOutcome:
        found: Candidates = tuple(DuplicateCandidate(key, operation.scope) for key in similar)
        text = " ".join([operation.about, *operation.keys])
        return CallOutcome(ok=True, candidates=found, relevant=find_relevant(self.state, text))
