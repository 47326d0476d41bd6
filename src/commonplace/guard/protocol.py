"""The write protocol: what a caller has read and written, what a write missed, and the note that says so.

Pure: a state, an operation and its outcome go in; the next state and what was missed come out. The tools and the hooks
classify a call (guard/vocabulary.py), look for near duplicates, keep the state (`protocol_get` and `protocol_put` of
the state port) and show the note.

A call has a beginning and an end, joined by its id, because calls run in parallel. A read counts for a write that began
after the read had ended: two calls sent together cannot know each other's answer. An index update closes every write
that had begun when it ended. So the order in which parallel calls end does not matter. A failed call changes nothing.

A note follows a write in guide mode, a refusal replaces it in strict mode. A note says what was missed and suggests one
next call, with a tool that this caller has. It contains no memory text, and keys are quoted, so that no key can pass
for a line of ours.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from re import Match

from commonplace.guard.protocol_state import (
    LIFE_SECONDS,
    MOST_CALLS,
    MOST_READS,
    MOST_SEEN,
    MOST_UNINDEXED,
    CallOutcome,
    Candidates,
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
from commonplace.guard.vocabulary import OWN_TOOLS, CallKind, Operation, ReadReach, Vocabulary
from commonplace.model.lazy import lazy
from commonplace.model.times import shift_time
from commonplace.text.words import significant_stems

TOP = 3  # how many of a write's candidates the caller should have read
_INDEX_SECONDS = 300  # an index update that takes longer is taken as lost
MARK = "[memory-protocol]"
CYCLE = "read, compare, write, index"
_PATIENCE = 2  # notes in a row before the whole cycle is repeated
_SHOWN = 3
_SLOT = lazy(r"\{(\w+)\}")


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
    bounded = operation._replace(  # to what a state may hold
        scopes=tuple(map(shorten, operation.scopes[:16])),
        keys=tuple(map(shorten, operation.keys)),
        query=operation.query[:200],  # not hashed: `find_relevant` needs its words
    )
    call = PendingCall(name, bounded, tick, state.time)
    return state._replace(tick=tick, calls=(*others, call)[-MOST_CALLS:])


def check_write(
    state: ProtocolState, call_id: str, candidates: Candidates, relevant: frozenset[str] = frozenset()
) -> MissedSteps | None:
    """Return what a write that has begun would miss; None for any other call. Strict mode asks before the write."""
    call = _find_call(state, call_id)
    if call is None or call.operation.kind is not CallKind.WRITE:
        return None
    return _find_missed(state, call, call.operation, candidates, relevant)


def finish_call(
    state: ProtocolState, call_id: str, outcome: CallOutcome, now: str, operation: Operation | None = None
) -> tuple[ProtocolState, MissedSteps | None]:
    """Return the state after a call has ended, and what it missed if it was a write that succeeded, else None.

    `operation` is for a host that does not report when calls begin: the call begins and ends here.
    """
    state = _refresh(state, now)
    if operation is not None and _find_call(state, call_id) is None:
        state = begin_call(state, call_id, operation, now)
    call = _find_call(state, call_id)
    if call is None:
        return state, None
    after = state._replace(tick=state.tick + 1, calls=tuple(other for other in state.calls if other is not call))
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


def _find_call(state: ProtocolState, call_id: str) -> PendingCall | None:
    return next((call for call in state.calls if call.id == shorten(call_id)), None)


def find_relevant(state: ProtocolState, text: str) -> frozenset[str]:
    """Return the queries of reads that share a significant word with the text, and so could have found it."""
    words = frozenset(significant_stems(text))
    queries = {read.query for read in state.reads if read.query}
    return frozenset(query for query in queries if not words.isdisjoint(significant_stems(query)))


def _refresh(state: ProtocolState, now: str) -> ProtocolState:
    """Return the state as of now, an empty one if it expired. A clock that goes back does not make it younger."""
    if is_expired(state, now):
        return ProtocolState(now)
    calls = tuple(call for call in state.calls if shift_time(call.time, LIFE_SECONDS) > now)
    return state._replace(time=max(state.time, now), calls=calls)


def _after_read(after: ProtocolState, asked: Operation, outcome: CallOutcome, now: str) -> ProtocolState:
    returned = tuple(_shorten_ref(place) for place in outcome.returned[:MOST_SEEN])
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

    calls = tuple(call._replace(indexed=call.indexed or reached(call.operation.scope)) for call in after.calls)
    return after._replace(unindexed=tuple(item for item in after.unindexed if not reached(item.scope)), calls=calls)


def _written_refs(operation: Operation, written: MemoryRef | None) -> tuple[MemoryRef, ...]:
    if written is not None:
        return (_shorten_ref(written),)
    scope = operation.scope if len(operation.scopes) == 1 else ""
    return tuple(MemoryRef(scope, key) for key in operation.keys)


def _shorten_ref(ref: MemoryRef) -> MemoryRef:
    return MemoryRef(*map(shorten, ref))


def _find_missed(
    state: ProtocolState,
    call: PendingCall,
    operation: Operation,
    candidates: Candidates,
    relevant: frozenset[str],
) -> MissedSteps:
    """Return what a write missed, judged by what was known when it began."""
    others = tuple(
        item
        for item in candidates
        if not (shorten(item.key) in operation.keys and shorten(item.scope) in (operation.scope, ""))
    )
    # While an index update runs nothing counts as left out: it may still reach the index.
    lost = shift_time(state.time, -_INDEX_SECONDS)
    is_indexing = any(other.operation.kind is CallKind.INDEX and other.time >= lost for other in state.calls)
    drift = () if is_indexing else tuple(item.ref for item in state.unindexed if item.at < call.at)
    if operation.settled:
        return MissedSteps(operation, drift=drift, missed_before=state.missed)
    unread = tuple(item for item in others[:TOP] if not _was_readable(state, call.at, item, relevant))
    inside = [item for item in others[:TOP] if shorten(item.scope) == operation.scope]
    is_covered = any(
        read.at < call.at and (not read.scopes or operation.scope in read.scopes) for read in state.reads
    ) or any(_has_seen(state, call.at, item.scope, item.key) for item in inside)
    missing = bool(unread) or not is_covered
    keys = call.operation.keys
    if keys and all(_has_seen(state, call.at, operation.scope, key) for key in keys):
        missing, unread = False, ()  # it changes what it has read
    return MissedSteps(operation, missing, unread, others, drift, state.missed)


def _was_readable(state: ProtocolState, at: int, item: DuplicateCandidate, relevant: frozenset[str]) -> bool:
    """Whether a read returned a candidate, or could have returned it."""
    return _has_seen(state, at, item.scope, item.key) or any(
        read.at < at
        and (not read.scopes or shorten(item.scope) in read.scopes)
        and (read.query in relevant if read.query else read.complete)
        and item.updated <= read.time
        for read in state.reads
    )


def _has_seen(state: ProtocolState, at: int, scope: str, key: str) -> bool:
    """Whether the caller had seen a memory before this tick."""
    name, scopes = shorten(key), ("", shorten(scope))
    return any(seen.at < at and seen.key == name and seen.scope in scopes for seen in state.seen)


def write_note(
    findings: MissedSteps | None, callable_tools: Collection[str], vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the note to add to the result of a write; None when nothing was missed."""
    if findings is None or findings.is_clean:
        return None
    said = []
    if findings.missing_read:
        said.append("You wrote this without reading what is there.")
    if findings.near_duplicate:
        said.append(_describe_duplicates(findings.near_duplicate))
    if findings.drift:
        said.append(f"Earlier writes are not in the index: {_list_refs(findings.drift)}.")
    if findings.missed_before >= _PATIENCE:
        said.append(f"This is write {findings.missed_before + 1} in a row that skips a step; the cycle is {CYCLE}.")
    call = next(filter(None, _next_calls(findings, callable_tools, vocabulary)), None)
    return " ".join([MARK, *said, *([f"Next: {call}"] if call else [])])


def note_at_run_end(
    state: ProtocolState, callable_tools: Collection[str] = (), vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the note about writes of an ended run that are not in the index; None when all of them are.

    It goes out with the next prompt: at the end of the run it would make the agent answer again.
    """
    if not state.unindexed:
        return None
    written = [item.ref for item in state.unindexed]
    slots = _scope_slots(written[0].scope, vocabulary)
    call = _fill_first(vocabulary.update_index, callable_tools, slots)
    said = f"{MARK} Written earlier, but not in the index: {_list_refs(written)}."
    return f"{said} Next: {call}" if call else said


def build_refusal(findings: MissedSteps | None) -> str | None:
    """Return the refusal of a write that makes a near duplicate or follows no read; None lets it pass.

    It says what is there already, and the decisions with which the same call succeeds.
    """
    if findings is None or not (findings.missing_read or findings.near_duplicate):
        return None
    found = findings.near_duplicate
    decisions = ["decision=create"]
    for item in found[:_SHOWN]:
        likely = ("supersede", "update") if item.relation == "contradicts" else ("update", "supersede")
        decisions += [f"decision={verb}:{item.key}" for verb in likely]
    what = _describe_duplicates(found) if found else "You have not read what is there."
    return f"{MARK} Not stored. {what} Read first, or repeat the call with one of: {', '.join(decisions)}."


def append_note(text: str, note: str, limit: int) -> str:
    """Return a result with its note, at most `limit` characters long: the result is cut, never the note."""
    room = limit - len(note) - 2
    if len(text) > room:
        text = text[: max(0, room - 1)] + "…" if room > 0 else ""
    return f"{text}\n\n{note}" if text else note


def _describe_duplicates(found: Candidates) -> str:
    said = []
    for words, is_other in (("Nearly the same is already in", False), ("May contradict", True)):
        refs = [item.ref for item in found if (item.relation == "contradicts") is is_other]
        said += [f"{words} {_list_refs(refs)}."] if refs else []
    return " ".join(said)


def _next_calls(findings: MissedSteps, tools: Collection[str], vocabulary: Vocabulary) -> Iterator[str | None]:
    """Yield the calls that help: first read what was unread, then resolve a duplicate, then update the index.

    None stands for a step that the caller has no tool for.
    """
    operation = findings.operation
    slots = {
        "about": operation.about or "...",
        "key": operation.keys[0] if operation.keys else "...",
        **_scope_slots(operation.scope, vocabulary),
    }
    for item in findings.unread[:1]:
        yield _fill_first(vocabulary.show, tools, slots | _candidate_slots(item, operation.scope))
    if findings.missing_read:
        yield _fill_first(vocabulary.read, tools, slots)
    for item in findings.near_duplicate[:1]:
        fix = vocabulary.supersede if item.relation == "contradicts" else vocabulary.merge
        yield _fill_first(fix, tools, slots | _candidate_slots(item, operation.scope))
    for place in findings.drift[:1]:
        yield _fill_first(vocabulary.update_index, tools, slots | _scope_slots(place.scope, vocabulary))


def _fill_first(calls: Mapping[str, str], tools: Collection[str], slots: Mapping[str, str]) -> str | None:
    """Return the first call that the caller has the tool for, with its slots filled; None if there is none."""

    def fill(match: Match[str]) -> str:
        return _quoted(slots[match[1]]) if match[1] in slots else match[0]

    return next((_SLOT.sub(fill, call) for tool, call in calls.items() if tool in tools), None)


def _candidate_slots(item: DuplicateCandidate, scope: str) -> dict[str, str]:
    place = item.key if item.scope == scope else f"{item.scope}/{item.key}"
    file = f"{item.scope}/{item.key}.md"
    return {"other": item.key, "other_scope": item.scope, "other_place": place, "other_file": file}


def _scope_slots(scope: str, vocabulary: Vocabulary) -> dict[str, str]:
    return {"scope": scope, "index": f"{scope}/{vocabulary.index_file}"}


def _list_refs(places: Sequence[MemoryRef]) -> str:
    shown = [f"{_quoted(place.key)} ({ascii(place.scope[:200])[1:-1]})" for place in places[:_SHOWN]]
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _quoted(text: str) -> str:
    """Return a text as a quoted argument on one line; `...` stays for the caller to fill in."""
    if text == "...":
        return text
    safe = ascii(text[:200])[1:-1].replace('"', '\\"').replace("\\'", "'")
    return f'"{safe}"'
