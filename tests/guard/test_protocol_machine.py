"""The protocol against a plain model, over random calls that run side by side, fail, and end in any order."""

from __future__ import annotations

from itertools import count, permutations
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from commonplace.guard.protocol import Tracker, begin_call, check_write, finish_call, inherit
from commonplace.guard.protocol_notes import MARK, build_refusal, note_at_run_end, write_note
from commonplace.guard.protocol_state import (
    CallKind,
    CallOutcome,
    DuplicateCandidate,
    MemoryRef,
    MissedSteps,
    Operation,
    ProtocolState,
    ReadReach,
)
from commonplace.model.times import shift_time
from tests.depth import examples

NOW = "2026-11-15T09:30:00Z"
SCOPES, KEYS = ["project", "global"], ["a", "b"]
TOOLS = frozenset({"memory_recall", "memory_show", "memory_consolidate", "memory_store"})
PORT, NAME = ("port",), ("name",)
PLACES = st.sampled_from([MemoryRef(scope, key) for scope in SCOPES for key in KEYS])
READS = st.tuples(
    st.sampled_from([(), ("project",), ("global",)]), st.sampled_from(ReadReach), st.sampled_from([None, PORT, NAME])
).map(lambda it: Operation(CallKind.READ, scopes=it[0], reach=it[1], words=it[2]))
WRITES = st.tuples(st.sampled_from(SCOPES), st.sampled_from([*KEYS, None]), st.booleans(), st.booleans()).map(
    lambda it: Operation(
        CallKind.WRITE, scopes=(it[0],), keys=(it[1],) if it[1] else (), settled=it[2], keeps_index=it[3]
    )
)
INDEXES = st.tuples(st.sampled_from([(), ("project",), ("global",)]), st.booleans()).map(
    lambda it: Operation(CallKind.INDEX, scopes=it[0], keeps_index=it[1])
)
RETIRES = st.just(Operation(CallKind.RETIRE, scopes=("project",), keys=("a",)))
OTHERS = st.just(Operation(CallKind.OTHER))
CALLS = READS | WRITES | WRITES | INDEXES | RETIRES | OTHERS
CANDIDATES = st.lists(PLACES, max_size=1, unique=True).map(
    lambda found: tuple(DuplicateCandidate(it.key, it.scope) for it in found)
)
RELEVANT = st.sampled_from([frozenset(), frozenset({PORT}), frozenset({PORT, NAME})])
FOUND = st.lists(PLACES, max_size=3).map(tuple)
OUTCOMES = st.tuples(st.integers(0, 3), FOUND, st.booleans(), CANDIDATES, RELEVANT, st.none() | PLACES, FOUND).map(
    lambda it: CallOutcome(it[0] > 0, it[1], it[2], None, *it[3:])
)


class Answered(NamedTuple):
    """A call that ended: when, and what was asked and answered."""

    at: int
    operation: Operation
    outcome: CallOutcome


class Model:
    """What the specification says, kept the long way: every finished call in order, nothing thrown away."""

    def __init__(self) -> None:
        self.begun: dict[str, tuple[Operation, int]] = {}
        self.ended: list[Answered] = []
        self.open: dict[MemoryRef, int] = {}
        self.indexed: set[str] = set()
        self.parent: Model | None = None
        self.inherited: list[Answered] = []

    def begin(self, call: str, operation: Operation, at: int) -> None:
        if self.parent is not None:
            self.inherited = [*self.parent.ended]
        if operation.kind is not CallKind.OTHER:
            self.begun[call] = (operation, at)

    def finish(self, call: str, outcome: CallOutcome, at: int) -> MissedSteps | None:
        operation, since = self.begun.pop(call, (Operation(CallKind.OTHER), 0))
        was_indexed = call in self.indexed
        self.indexed.discard(call)
        if not outcome.ok or operation.kind is CallKind.OTHER:
            return None
        found = self.judge(operation, since, outcome) if operation.kind is CallKind.WRITE else None
        self.ended.append(Answered(at, operation, outcome))
        places = [MemoryRef(operation.scope, key) for key in operation.keys]
        if operation.kind is CallKind.INDEX:
            hit = operation.scopes or tuple(SCOPES)
            self.open = {place: since for place, since in self.open.items() if place.scope not in hit}
            self.indexed |= {name for name, (other, _) in self.begun.items() if other.scope in hit}
        elif operation.kind is CallKind.RETIRE:
            for place in places:
                self.open.pop(place, None)
        elif found is not None and not operation.keeps_index and not was_indexed:
            for place in places or [MemoryRef(operation.scope, "")]:
                self.open.setdefault(place, at)
        return found

    def known(self, since: int, scope: str) -> list[Answered]:
        """The calls that a write in a scope may build on: answered before it began, after the last cycle closed."""
        before = [one for one in (*self.inherited, *self.ended) if one.at < since]
        closed = [
            one.at
            for one in before
            if one.operation.kind is CallKind.INDEX
            and not one.operation.keeps_index
            and (not one.operation.scopes or scope in one.operation.scopes)
        ]
        return [one for one in before if one.at > max(closed, default=0)]

    def has_seen(self, since: int, place: MemoryRef, *, by_reading: bool = False) -> bool:
        for one in self.known(since, place.scope):
            kind = one.operation.kind
            written = [MemoryRef(one.operation.scope, key) for key in one.operation.keys]
            if kind is CallKind.READ and place in one.outcome.returned:
                return True
            if kind is CallKind.READ and place in one.outcome.weak and not by_reading:
                return True
            if kind is CallKind.WRITE and place in written and not by_reading:
                return True
        return False

    def reads(self, since: int, scope: str) -> list[Answered]:
        return [
            one
            for one in self.known(since, scope)
            if one.operation.kind is CallKind.READ
            and one.operation.reach is ReadReach.SCOPE
            and (not one.operation.scopes or scope in one.operation.scopes)
        ]

    def has_read(self, since: int, scope: str, outcome: CallOutcome) -> bool:
        """Whether a read could have returned what is in this scope about what is written."""
        return any(
            one.outcome.complete if one.operation.words is None else one.operation.words in outcome.relevant
            for one in self.reads(since, scope)
        )

    def judge(self, operation: Operation, since: int, outcome: CallOutcome) -> MissedSteps:
        updating = any(other.kind is CallKind.INDEX for other, _ in self.begun.values())
        drift = tuple(place for place, at in self.open.items() if at < since and not updating)
        if operation.settled:
            return MissedSteps(operation, drift=drift)
        target = MemoryRef(operation.scope, operation.keys[0]) if operation.keys else None
        others = [item for item in outcome.candidates if item.ref != target]
        unread = tuple(
            item
            for item in others
            if not self.has_seen(since, item.ref) and not self.has_read(since, item.scope, outcome)
        )
        nearest = outcome.nearest
        covered = self.has_read(since, operation.scope, outcome) or any(
            self.has_seen(since, item.ref) for item in others if item.scope == operation.scope
        )
        if nearest is not None and self.has_seen(since, nearest, by_reading=True):
            covered = covered or nearest.scope == operation.scope or bool(self.reads(since, operation.scope))
        missing = bool(unread) or not covered
        if target is not None and self.has_seen(since, target):
            missing, unread = False, ()
        return MissedSteps(operation, missing, unread, tuple(others), drift)


class Protocol(RuleBasedStateMachine):
    """Calls of an agent and its sub-agent begin and end in any order; the tracker answers as the model does.

    The states go through JSON, and time passes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.states = [ProtocolState(NOW), ProtocolState(NOW)]
        self.models = [Model(), Model()]
        self.models[1].parent = self.models[0]
        self.flying: dict[str, int] = {}  # calls under way, and whose they are
        self.order, self.now = count(1), NOW

    @precondition(lambda self: len(self.flying) < 6)
    @rule(who=st.integers(0, 1), operation=CALLS)
    def begins(self, who: int, operation: Operation) -> None:
        at = next(self.order)
        if who == 1 and operation.kind is CallKind.INDEX:
            # After such an update of its own, a sub-agent has to read again what its parent knew before, even where the
            # parent has read it again since: stricter than the model.
            operation = operation._replace(keeps_index=True)
        if who == 1:
            self.states[1] = inherit(self.states[0], self.states[1])
        self.states[who] = begin_call(self.states[who], str(at), operation, self.now, at)
        self.models[who].begin(str(at), operation, at)
        self.flying[str(at)] = who

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), outcome=OUTCOMES)
    def ends(self, data: st.DataObject, outcome: CallOutcome) -> None:
        self.end(data.draw(st.sampled_from(sorted(self.flying))), outcome)

    @precondition(lambda self: len(self.flying) < 6)
    @rule(who=st.integers(0, 1), calls=st.lists(st.tuples(CALLS, OUTCOMES), max_size=4), write=WRITES, last=OUTCOMES)
    def goes_on(
        self, who: int, calls: list[tuple[Operation, CallOutcome]], write: Operation, last: CallOutcome
    ) -> None:
        """Some calls one after the other, and then a write."""
        for operation, outcome in (*calls, (write, last)):
            self.begins(who, operation)
            self.end(list(self.flying)[-1], outcome)

    def end(self, call: str, outcome: CallOutcome) -> None:
        who = self.flying.pop(call)
        before, at = self.states[who], next(self.order)
        asked = check_write(before, call, outcome) if outcome.ok else None
        self.states[who], found = finish_call(before, call, outcome, self.now, at=at)
        wanted = self.models[who].finish(call, outcome, at)
        assert (found is None) == (wanted is None)
        if found is None or wanted is None:
            if not outcome.ok:
                kept = ("reads", "seen", "unindexed", "missed", "updates")
                assert [getattr(self.states[who], name) for name in kept] == [getattr(before, name) for name in kept]
            assert write_note(found, TOOLS) is None
            return
        assert found._replace(drift=(), missed_before=0, unindexed=()) == wanted._replace(drift=())
        assert set(found.drift) == set(wanted.drift)
        assert asked == found._replace(unindexed=())
        self.check_what_is_said(found)

    def check_what_is_said(self, found: MissedSteps) -> None:
        said, refused = write_note(found, TOOLS), build_refusal(found, TOOLS)
        missed = found.missing_read or found.near_duplicate or found.drift
        assert (said is None) == (not missed and not found.unindexed)
        assert said is None or (said.startswith(MARK) and "\n" not in said)
        assert (refused is None) == (not (found.missing_read or found.near_duplicate))
        if found.operation.settled:
            assert refused is None
        if found.operation.keeps_index:
            assert not found.unindexed

    @rule()
    def is_kept_and_read_back(self) -> None:
        again = [ProtocolState.from_json(state.to_json()) for state in self.states]
        assert again == self.states
        self.states = again

    @rule(seconds=st.sampled_from([1, 60]))
    def time_passes(self, seconds: int) -> None:
        if self.now < shift_time(NOW, 240):  # an index update that takes five minutes counts as lost
            self.now = shift_time(self.now, seconds)

    @invariant()
    def the_end_of_the_run_tells_just_what_is_open(self) -> None:
        for state, model in zip(self.states, self.models, strict=True):
            assert {MemoryRef(item.scope, item.key) for item in state.unindexed} == set(model.open)
            assert (note_at_run_end(state) is None) == (not model.open)


Protocol.TestCase.settings = examples(60, stateful_step_count=30)
TestProtocol = Protocol.TestCase


@given(st.lists(CALLS, min_size=2, max_size=4), st.data())
@examples(60)
def test_the_order_in_which_calls_sent_together_end_does_not_matter(
    calls: list[Operation], data: st.DataObject
) -> None:
    """Whatever order calls that began together end in, the same is found missing and the same is left open."""
    outcomes = [data.draw(OUTCOMES.map(lambda one: one._replace(ok=True))) for _ in calls]
    earlier, _ = finish_call(ProtocolState(NOW), "0", outcomes[0], NOW, data.draw(WRITES))
    start = earlier
    for number, operation in enumerate(calls):
        start = begin_call(start, f"c{number}", operation, NOW)
    retires = any(
        operation.kind is CallKind.RETIRE for operation in calls
    )  # forgetting before or after a write differs
    results = set()
    for order in permutations(range(len(calls))):
        state, found = start, {}
        for number in order:
            state, findings = finish_call(state, f"c{number}", outcomes[number], NOW)
            if findings is not None:
                # Which writes are still open is the one thing that an update of the index may change meanwhile.
                found[number] = findings._replace(missed_before=0, drift=(), unindexed=())
        open_now = frozenset() if retires else frozenset((item.scope, item.key) for item in state.unindexed)
        results.add((tuple(sorted(found.items())), open_now, frozenset(item[:2] for item in state.seen)))
    assert len(results) == 1


@given(st.lists(st.tuples(st.sampled_from(SCOPES), st.sampled_from([*KEYS, None])), min_size=1, max_size=8))
def test_closed_cycles_are_silent(written: list[tuple[str, str | None]]) -> None:
    """Read, write, index, again and again: nothing is missed, and nothing is open at the end, with and without keys."""
    state = ProtocolState(NOW)
    for number, (scope, key) in enumerate(written):
        steps = [
            Operation(CallKind.READ, scopes=(scope,)),
            Operation(CallKind.WRITE, scopes=(scope,), keys=(key,) if key else (), keeps_index=False),
            Operation(CallKind.INDEX, scopes=(scope,), keeps_index=False),
        ]
        for step in steps:
            state = begin_call(state, f"{number}", step, shift_time(NOW, number))
            state, found = finish_call(state, f"{number}", CallOutcome(ok=True), shift_time(NOW, number))
            assert found is None or found.is_clean
    assert note_at_run_end(state) is None


@given(st.lists(st.tuples(CALLS, OUTCOMES), max_size=8), st.lists(st.tuples(CALLS, OUTCOMES), max_size=8), OUTCOMES)
def test_a_child_never_misses_what_its_parent_has_read(
    parents: list[tuple[Operation, CallOutcome]], children: list[tuple[Operation, CallOutcome]], last: CallOutcome
) -> None:
    """Whatever both did before, a write that misses no read for the parent misses none for the child.

    An update of an index by the child closes its own cycle, so it makes none here.
    """
    parent, child, order = ProtocolState(NOW), ProtocolState(NOW), count(1)
    for operation, outcome in parents:
        at = next(order)
        parent = begin_call(parent, "p", operation, NOW, at)
        parent, _ = finish_call(parent, "p", outcome, NOW, at=next(order))
    for operation, outcome in children:
        if operation.kind is not CallKind.INDEX:
            child = begin_call(child, "c", operation, NOW, next(order))
            child, _ = finish_call(child, "c", outcome, NOW, at=next(order))
    write = Operation(CallKind.WRITE, scopes=("project",), keys=("new",))
    at, last = next(order), last._replace(ok=True)
    _, one = finish_call(begin_call(parent, "w", write, NOW, at), "w", last, NOW)
    _, other = finish_call(begin_call(inherit(parent, child), "w", write, NOW, at), "w", last, NOW)
    assert one is not None
    assert other is not None
    assert one.missing_read or not other.missing_read
    assert inherit(parent, child).unindexed == child.unindexed


HOST = {
    "keeps_index": False,
    "tools": {
        "find_notes": {"kind": "read", "query_in": "words"},
        "add_note": {"kind": "write", "text_in": "body"},
        "reindex": {"kind": "index"},
    },
    "update_index": ["reindex()"],
}
STEPS = st.lists(st.sampled_from(["find_notes", "add_note", "reindex"]), max_size=12)


@given(STEPS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_a_tracker_of_a_host_tells_what_its_steps_say(steps: list[str], works: list[bool]) -> None:
    """One call after the other: a write needs a read since the last index update, and is open until the next one."""
    tracker = Tracker(HOST, clock=lambda: NOW)
    has_read, is_open = False, False
    for number, (tool, ok) in enumerate(zip(steps, works, strict=False)):
        tracker.begin(str(number), tool, {"words": "staging port", "body": "The staging port is 6000."})
        said = tracker.finish(str(number), ok=ok)
        if tool == "add_note" and ok:
            assert said is not None
            assert ("without reading" in said) == (not has_read)
            assert ("Earlier writes" in said) == is_open
            assert ("Not in the index yet" in said) == (has_read and not is_open)
            is_open = True
        else:
            assert said is None
            if ok:
                has_read, is_open = tool == "find_notes" or has_read, is_open and tool != "reindex"
                has_read = has_read and tool != "reindex"
    assert (tracker.end_run() is not None) == is_open
