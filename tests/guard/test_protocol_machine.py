"""The protocol against a plain model, over random calls that run side by side, fail, and end in any order."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from commonplace.guard.protocol import (
    MARK,
    begin_call,
    build_refusal,
    check_write,
    finish_call,
    inherit,
    note_at_run_end,
    write_note,
)
from commonplace.guard.protocol_state import CallOutcome, DuplicateCandidate, MemoryRef, MissedSteps, ProtocolState
from commonplace.guard.vocabulary import CallKind, Operation, ReadReach
from commonplace.model.times import shift_time
from tests.depth import examples

NOW = "2026-11-15T09:30:00Z"
SCOPES, KEYS = ["project", "global"], ["a", "b", "c"]
TOOLS = frozenset({"memory_recall", "memory_show", "memory_consolidate", "memory_link"})
PLACES = st.sampled_from([MemoryRef(scope, key) for scope in SCOPES for key in KEYS])
READS = st.tuples(
    st.sampled_from([(), ("project",), ("global",)]), st.sampled_from(ReadReach), st.sampled_from(["", "port", "name"])
).map(lambda it: Operation(CallKind.READ, scopes=it[0], reach=it[1], query=it[2]))
WRITES = st.tuples(st.sampled_from(SCOPES), st.sampled_from(KEYS), st.booleans(), st.booleans()).map(
    lambda it: Operation(CallKind.WRITE, scopes=(it[0],), keys=(it[1],), settled=it[2], keeps_index=it[3])
)
INDEXES = st.sampled_from([(), ("project",), ("global",)]).map(lambda scopes: Operation(CallKind.INDEX, scopes=scopes))
RETIRES = st.just(Operation(CallKind.RETIRE, scopes=("project",), keys=("a",)))
OTHERS = st.just(Operation(CallKind.OTHER))
CALLS = READS | WRITES | WRITES | INDEXES | RETIRES | OTHERS
CANDIDATES = st.lists(PLACES, max_size=3, unique=True).map(
    lambda found: tuple(DuplicateCandidate(it.key, it.scope) for it in found)
)
RELEVANT = st.sampled_from([frozenset(), frozenset({"port"}), frozenset({"port", "name"})])
OUTCOMES = st.tuples(
    st.integers(0, 3), st.lists(PLACES, max_size=3).map(tuple), st.booleans(), CANDIDATES, RELEVANT
).map(lambda it: CallOutcome(it[0] > 0, it[1], it[2], None, it[3], it[4]))


class Told:
    """What the specification says, kept the long way: every finished call in order, nothing thrown away."""

    def __init__(self) -> None:
        self.clock = 0
        self.begun: dict[str, tuple[Operation, int]] = {}
        self.reads: list[tuple[int, Operation, CallOutcome]] = []
        self.known: list[tuple[int, MemoryRef]] = []
        self.open: dict[MemoryRef, int] = {}
        self.indexed: set[str] = set()

    def begin(self, call: str, operation: Operation) -> None:
        self.clock += 1
        if operation.kind is not CallKind.OTHER:
            self.begun[call] = (operation, self.clock)

    def finish(self, call: str, outcome: CallOutcome) -> MissedSteps | None:
        self.clock += 1
        operation, since = self.begun.pop(call, (Operation(CallKind.OTHER), 0))
        indexed = call in self.indexed
        self.indexed.discard(call)
        if not outcome.ok or operation.kind is CallKind.OTHER:
            return None
        places = [MemoryRef(operation.scope, key) for key in operation.keys]
        if operation.kind is CallKind.READ:
            self.known += [(self.clock, place) for place in outcome.returned]
            if operation.reach is ReadReach.SCOPE:
                self.reads.append((self.clock, operation, outcome))
        elif operation.kind is CallKind.INDEX:
            hit = operation.scopes or tuple(SCOPES)
            self.open = {place: at for place, at in self.open.items() if place.scope not in hit}
            self.indexed |= {
                name for name, (other, _) in self.begun.items() if other.kind is CallKind.WRITE and other.scope in hit
            }
        elif operation.kind is CallKind.RETIRE:
            for place in places:
                self.open.pop(place, None)
        else:
            found = self.judge(operation, since, outcome)
            self.known += [(self.clock, place) for place in places]
            if not operation.keeps_index and not indexed:
                for place in places:
                    self.open.setdefault(place, self.clock)
            return found
        return None

    def judge(self, operation: Operation, since: int, outcome: CallOutcome) -> MissedSteps:
        updating = any(other.kind is CallKind.INDEX for other, _ in self.begun.values())
        drift = tuple(place for place, at in self.open.items() if at < since and not updating)
        if operation.settled:
            return MissedSteps(operation, drift=drift)
        target = MemoryRef(operation.scope, operation.keys[0])
        known = {place for at, place in self.known if at < since}
        reads = [(read, result) for at, read, result in self.reads if at < since]
        others = [item for item in outcome.candidates if MemoryRef(item.scope, item.key) != target]

        def could(item: DuplicateCandidate) -> bool:
            return any(
                (not read.scopes or item.scope in read.scopes)
                and (read.query in outcome.relevant if read.query else result.complete)
                for read, result in reads
            )

        unread = tuple(item for item in others if MemoryRef(item.scope, item.key) not in known and not could(item))
        covered = any(not read.scopes or operation.scope in read.scopes for read, _ in reads) or any(
            MemoryRef(item.scope, item.key) in known for item in others if item.scope == operation.scope
        )
        missing = bool(unread) or not covered
        if target in known:
            missing, unread = False, ()
        return MissedSteps(operation, missing, unread, tuple(others), drift)


class Protocol(RuleBasedStateMachine):
    """Calls begin and end in any order; the tracker answers as the model does, through JSON every time."""

    def __init__(self) -> None:
        super().__init__()
        self.state, self.told = ProtocolState(NOW), Told()
        self.flying: dict[str, Operation] = {}
        self.count = 0

    @precondition(lambda self: len(self.flying) < 6)
    @rule(operation=CALLS)
    def starts(self, operation: Operation) -> None:
        self.count += 1
        call = str(self.count)
        self.flying[call] = operation
        self.state = begin_call(self.state, call, operation, NOW)
        self.told.begin(call, operation)

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), outcome=OUTCOMES)
    def ends(self, data: st.DataObject, outcome: CallOutcome) -> None:
        call = data.draw(st.sampled_from(sorted(self.flying)))
        operation = self.flying.pop(call)
        before = self.state
        if operation.kind is CallKind.WRITE and outcome.ok:
            asked = check_write(before, call, outcome.candidates, outcome.relevant)
        else:
            asked = None
        self.state, found = finish_call(before, call, outcome, NOW)
        wanted = self.told.finish(call, outcome)
        assert (found is None) == (wanted is None)
        if found is None or wanted is None:
            if not outcome.ok:
                kept = ("reads", "seen", "unindexed", "missed")
                assert [getattr(self.state, name) for name in kept] == [getattr(before, name) for name in kept]
            assert write_note(found, TOOLS) is None
            return
        assert found._replace(drift=(), missed_before=0) == wanted._replace(drift=())
        assert set(found.drift) == set(wanted.drift)
        assert asked == found
        said = write_note(found, TOOLS)
        missed = found.missing_read or found.near_duplicate or found.drift
        assert (said is None) == (not missed)
        assert said is None or (said.startswith(MARK) and "\n" not in said)
        assert (build_refusal(found) is None) == (not (found.missing_read or found.near_duplicate))

    @rule()
    def is_kept_and_read_back(self) -> None:
        again = ProtocolState.from_json(self.state.to_json())
        assert again == self.state
        self.state = again

    @invariant()
    def the_end_of_the_run_tells_just_what_is_open(self) -> None:
        assert {MemoryRef(item.scope, item.key) for item in self.state.unindexed} == set(self.told.open)
        assert (note_at_run_end(self.state) is None) == (not self.told.open)


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
                # Which earlier writes are still open is the one thing that an update of the index may change meanwhile.
                found[number] = findings._replace(missed_before=0, drift=())
        open_now = frozenset() if retires else frozenset((item.scope, item.key) for item in state.unindexed)
        results.add((tuple(sorted(found.items())), open_now, frozenset(item[:2] for item in state.seen)))
    assert len(results) == 1


@given(st.lists(st.tuples(st.sampled_from(SCOPES), st.sampled_from(KEYS)), min_size=1, max_size=8))
def test_closed_cycles_are_silent(written: list[tuple[str, str]]) -> None:
    """Read, write, index, again and again: no note, and nothing open at the end, for any host."""
    state = ProtocolState(NOW)
    for number, (scope, key) in enumerate(written):
        steps = [
            Operation(CallKind.READ, scopes=(scope,)),
            Operation(CallKind.WRITE, scopes=(scope,), keys=(key,), keeps_index=False),
            Operation(CallKind.INDEX, scopes=(scope,)),
        ]
        for step in steps:
            state = begin_call(state, f"{number}", step, shift_time(NOW, number))
            state, found = finish_call(state, f"{number}", CallOutcome(ok=True), shift_time(NOW, number))
            assert write_note(found, TOOLS) is None
    assert note_at_run_end(state) is None


@given(st.lists(st.tuples(CALLS, OUTCOMES), max_size=8), st.lists(st.tuples(CALLS, OUTCOMES), max_size=8), OUTCOMES)
def test_a_child_never_misses_what_its_parent_has_read(
    parents: list[tuple[Operation, CallOutcome]], children: list[tuple[Operation, CallOutcome]], last: CallOutcome
) -> None:
    """Whatever both did before, a write that misses no read for the parent misses none for the child."""
    parent, child = ProtocolState(NOW), ProtocolState(NOW)
    for operation, outcome in parents:
        parent, _ = finish_call(parent, "p", outcome, NOW, operation)
    for operation, outcome in children:
        child, _ = finish_call(child, "c", outcome, NOW, operation)
    write = Operation(CallKind.WRITE, scopes=("project",), keys=("new",))
    _, one = finish_call(parent, "w", last._replace(ok=True), NOW, write)
    _, other = finish_call(inherit(parent, child), "w", last._replace(ok=True), NOW, write)
    assert one is not None
    assert other is not None
    assert one.missing_read or not other.missing_read
    assert inherit(parent, child).unindexed == child.unindexed
