"""What every state promises (commonplace.state.port), as tests that each implementation runs.

A test class inherits StateConformance and has a method `fresh` that makes a new state, in a folder if it needs one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commonplace.model.costs import ModelCost
from commonplace.model.errors import InvalidField
from commonplace.model.scope import LOCAL, Space
from commonplace.model.times import shift_time
from commonplace.state.port import SpoolItem, State, UseCount

ELSEWHERE = Space("acme", "bob")
BORN = "2026-11-01T00:00:00Z"
NOW = "2026-11-15T09:30:00Z"
HARD_NAMES = ["", "a", "A", "a_", "a%", "é", "e\u0301", "a\x00b", "\U0010ffff", "'; DROP TABLE usage; --", "x" * 5000]


def at(seconds: int) -> str:
    return shift_time(NOW, seconds)


def payloads(items: Sequence[SpoolItem]) -> list[str]:
    return [item.payload for item in items]


class StateConformance:
    def fresh(self, folder: Path) -> State:
        raise NotImplementedError

    @pytest.fixture
    def state(self, tmp_path: Path) -> Iterator[State]:
        state = self.fresh(tmp_path)
        yield state
        state.close()

    def test_it_knows_when_it_began(self, state: State) -> None:
        """The time at which the state began is kept, for every space."""
        assert state.created_at(LOCAL) == state.created_at(ELSEWHERE) == BORN

    def test_uses_count_once_a_minute(self, state: State) -> None:
        """Of several uses within a minute the first counts, and the last use is the last that counted."""
        for seconds in (0, 1, 59, 60, 100, 119, 120, 121):
            state.record_uses(LOCAL, ["a"], at(seconds))
        assert state.usage(LOCAL, ["a"]) == {"a": UseCount(3, at(120))}

    def test_a_use_that_comes_late_is_counted_once(self, state: State) -> None:
        """A use before the last one that counted, as after a clock was set back, changes nothing."""
        state.record_uses(LOCAL, ["a"], at(1000))
        state.record_uses(LOCAL, ["a"], at(0))
        assert state.usage(LOCAL, ["a"]) == {"a": UseCount(1, at(1000))}

    def test_each_ref_has_its_own_usage(self, state: State) -> None:
        """Refs are counted apart, named twice in one call as once, and those never used are in no answer."""
        state.record_uses(LOCAL, iter(["a", "b", "a"]), at(0))
        state.record_uses(LOCAL, ["b"], at(90))
        state.record_uses(LOCAL, [], at(90))
        assert state.usage(LOCAL, iter(["a", "b", "b", "c"])) == {"a": UseCount(1, at(0)), "b": UseCount(2, at(90))}

    def test_flushing_changes_no_answer(self, state: State) -> None:
        """What was counted is the same before and after it is written, and a minute goes on over a flush."""
        state.record_uses(LOCAL, ["a"], at(0))
        state.flush()
        state.record_uses(LOCAL, ["a"], at(50))
        state.record_uses(LOCAL, ["a"], at(70))
        before = dict(state.usage(LOCAL, ["a"]))
        state.flush()
        state.flush()
        assert state.usage(LOCAL, ["a"]) == before == {"a": UseCount(2, at(70))}

    def test_many_uses(self, state: State) -> None:
        """A thousand refs used one by one are all counted."""
        refs = [f"ref-{number}" for number in range(1000)]
        for ref in refs:
            state.record_uses(LOCAL, [ref], at(0))
        assert state.usage(LOCAL, refs) == dict.fromkeys(refs, UseCount(1, at(0)))

    def test_forgotten_refs_were_never_used(self, state: State) -> None:
        """A purge takes the usage of a ref, written or not, and of no other ref."""
        state.record_uses(LOCAL, ["a", "b"], at(0))
        state.flush()
        state.record_uses(LOCAL, ["a", "b", "c"], at(90))
        state.forget_uses(LOCAL, ["a", "c", "never"])
        state.flush()
        assert state.usage(LOCAL, ["a", "b", "c"]) == {"b": UseCount(2, at(90))}
        state.record_uses(LOCAL, ["a"], at(95))
        assert state.usage(LOCAL, ["a"]) == {"a": UseCount(1, at(95))}

    def test_the_spool_is_a_queue(self, state: State) -> None:
        """What was put first is taken first, as it was put, and what is done is gone."""
        ids = [state.spool_put(LOCAL, "embed", f"text {number}", at(number)) for number in range(3)]
        assert len(set(ids)) == 3
        taken = state.spool_take(LOCAL, "embed", 2, at(9), 60)
        assert list(taken) == [SpoolItem(ids[n], "embed", f"text {n}", at(n), 1) for n in (0, 1)]
        state.spool_done(LOCAL, iter(ids[:2]))
        assert payloads(state.spool_take(LOCAL, "embed", 9, at(9), 60)) == ["text 2"]

    def test_a_lease_keeps_others_away_until_it_has_run_out(self, state: State) -> None:
        """A leased item is given to nobody until its time is over; then it comes back, with its tries counted."""
        state.spool_put(LOCAL, "k", "x", at(0))
        assert [item.tries for item in state.spool_take(LOCAL, "k", 9, at(0), 60)] == [1]
        assert list(state.spool_take(LOCAL, "k", 9, at(59), 60)) == []
        assert [item.tries for item in state.spool_take(LOCAL, "k", 9, at(60), 60)] == [2]
        assert list(state.spool_take(LOCAL, "k", 9, at(61), 60)) == []

    def test_what_comes_back_is_first_again(self, state: State) -> None:
        """An item whose worker died keeps its place before those put later."""
        for name in ("first", "second"):
            state.spool_put(LOCAL, "k", name, at(0))
        state.spool_take(LOCAL, "k", 1, at(0), 10)
        assert payloads(state.spool_take(LOCAL, "k", 2, at(10), 10)) == ["first", "second"]

    def test_kinds_and_limits(self, state: State) -> None:
        """Kinds are queues of their own, and a limit of nothing takes nothing."""
        state.spool_put(LOCAL, "k", "x", at(0))
        for limit in (0, -1):
            assert list(state.spool_take(LOCAL, "k", limit, at(0), 60)) == []
        assert list(state.spool_take(LOCAL, "other", 9, at(0), 60)) == []
        state.spool_done(LOCAL, ["never"])
        state.spool_done(LOCAL, [])
        assert payloads(state.spool_take(LOCAL, "k", 1, at(0), 60)) == ["x"]

    def test_threads_never_lease_the_same(self, state: State) -> None:
        """Eight threads that take from one spool get every item, each of them once."""
        ids = [state.spool_put(LOCAL, "k", "x", at(0)) for _ in range(40)]

        def take(_: int) -> list[str]:
            return [item.id for item in state.spool_take(LOCAL, "k", 3, at(1), 60)]

        with ThreadPoolExecutor(8) as pool:
            taken = [one for some in pool.map(take, range(30)) for one in some]
        assert sorted(taken) == sorted(ids)

    def test_threads_count_no_use_twice(self, state: State) -> None:
        """Eight threads that use and ask and flush at once agree on one use a minute."""

        def use(number: int) -> None:
            state.record_uses(LOCAL, ["a", f"b{number}"], at(number % 2 * 60))
            if number % 10 == 0:
                state.flush()
            assert state.usage(LOCAL, ["a"])["a"].times in (1, 2)

        state.record_uses(LOCAL, ["a"], at(0))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(use, range(200)))
        assert state.usage(LOCAL, ["a", "b7"]) == {"a": UseCount(2, at(60)), "b7": UseCount(1, at(60))}

    def test_protocol_state_lives_for_thirty_minutes(self, state: State) -> None:
        """A value is there until 30 minutes after it was last put, and not any longer."""
        state.protocol_put(LOCAL, "a", "one", at(0))
        assert state.protocol_get(LOCAL, "a", at(1799)) == "one"
        assert state.protocol_get(LOCAL, "a", at(1800)) is None
        state.protocol_put(LOCAL, "a", "two", at(1000))
        assert state.protocol_get(LOCAL, "a", at(2799)) == "two"
        assert state.protocol_get(LOCAL, "b", at(0)) is None

    def test_facts(self, state: State) -> None:
        """A fact is what was last remembered under its very name; None forgets it; names are found by their start."""
        for name in HARD_NAMES:
            state.set_fact(LOCAL, name, f"old {name}")
            state.set_fact(LOCAL, name, name[::-1])
        assert {name: state.get_fact(LOCAL, name) for name in HARD_NAMES} == {name: name[::-1] for name in HARD_NAMES}
        for prefix in [*HARD_NAMES, "b", "\x00"]:
            found = state.list_facts(LOCAL, prefix)
            assert list(found) == sorted(name for name in HARD_NAMES if name.startswith(prefix))
        state.set_fact(LOCAL, "b", "soon", lasting=False)
        assert state.get_fact(LOCAL, "b") == "soon"
        state.set_fact(LOCAL, "b", None, lasting=False)
        assert state.get_fact(LOCAL, "b") is None
        state.set_fact(LOCAL, "a", None)
        state.set_fact(LOCAL, "never", None)
        assert state.get_fact(LOCAL, "a") is None
        assert list(state.list_facts(LOCAL, "a")) == ["a\x00b", "a%", "a_"]

    def test_costs_add_up(self, state: State) -> None:
        """What calls cost is added in the row of its day and model; what was too much can be taken back."""
        assert list(state.costs(LOCAL)) == []
        state.add_cost(LOCAL, ModelCost("2026-11-15", "b", 1, 100, 20, 7))
        state.add_cost(LOCAL, ModelCost("2026-11-15", "a", 1, 1, 1, 0))
        state.add_cost(LOCAL, ModelCost("2026-11-14", "b", 3, 5, 6, 1))
        state.add_cost(LOCAL, ModelCost("2026-11-15", "b", 0, -40, 0, -2))
        assert list(state.costs(LOCAL)) == [
            ModelCost("2026-11-14", "b", 3, 5, 6, 1),
            ModelCost("2026-11-15", "a", 1, 1, 1, 0),
            ModelCost("2026-11-15", "b", 1, 60, 20, 5),
        ]

    def test_threads_lose_no_cost(self, state: State) -> None:
        """Eight threads that add at once add up."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: state.add_cost(LOCAL, ModelCost("2026-11-15", "m", 1, 10, 3, 2)), range(80)))
        assert list(state.costs(LOCAL)) == [ModelCost("2026-11-15", "m", 80, 800, 240, 160)]

    def test_a_job_is_claimed_once(self, state: State) -> None:
        """Of all who claim a name one gets it, until its lease has run out or the job is finished."""
        with ThreadPoolExecutor(8) as pool:
            claimed = list(pool.map(lambda _: state.claim_job(LOCAL, "j", at(0), 60), range(16)))
        assert sorted(claimed) == [False] * 15 + [True]
        assert state.claim_job(LOCAL, "other", at(0), 60)
        assert not state.claim_job(LOCAL, "j", at(59), 60)
        assert state.claim_job(LOCAL, "j", at(60), 60)
        assert not state.claim_job(LOCAL, "j", at(61), 60)
        state.finish_job(LOCAL, "j")
        state.finish_job(LOCAL, "never")
        assert state.claim_job(LOCAL, "j", at(61), 60)

    def test_a_failed_job_waits_longer_each_time(self, state: State) -> None:
        """After a failure a job waits 1, 2, 4, 8, 16, then 30 minutes, from the tenth on a day; finished, it starts
        from the first again."""
        now = 0
        for minutes in (1, 2, 4, 8, 16, 30, 30, 30, 30, 1440, 1440):
            assert state.claim_job(LOCAL, "j", at(now), 3600)
            state.fail_job(LOCAL, "j", at(now))
            assert not state.claim_job(LOCAL, "j", at(now + 60 * minutes - 1), 3600)
            now += 60 * minutes
        state.finish_job(LOCAL, "j")
        state.fail_job(LOCAL, "j", at(now))
        assert state.claim_job(LOCAL, "j", at(now + 60), 3600)

    def test_a_lease_that_runs_out_counts_no_failure(self, state: State) -> None:
        """A job whose worker died is claimed again with the failures that it had."""
        state.fail_job(LOCAL, "j", at(0))
        assert state.claim_job(LOCAL, "j", at(60), 10)
        assert state.claim_job(LOCAL, "j", at(70), 10)
        state.fail_job(LOCAL, "j", at(70))
        assert not state.claim_job(LOCAL, "j", at(70 + 119), 10)
        assert state.claim_job(LOCAL, "j", at(70 + 120), 10)

    def test_a_job_does_not_wait_for_a_wrong_clock(self, state: State) -> None:
        """A job that was claimed or failed years ahead, before the clock was set right, can be claimed."""
        years = 10**8
        assert state.claim_job(LOCAL, "claimed", at(years), 60)
        state.fail_job(LOCAL, "failed", at(years))
        assert state.claim_job(LOCAL, "claimed", at(0), 60)
        assert state.claim_job(LOCAL, "failed", at(0), 60)

    def test_spaces_are_apart(self, state: State) -> None:
        """Whatever one space keeps, another does not see, take, finish or forget."""
        state.record_uses(LOCAL, ["a"], at(0))
        kept = state.spool_put(LOCAL, "k", "x", at(0))
        state.protocol_put(LOCAL, "a", "x", at(0))
        state.set_fact(LOCAL, "a", "x")
        state.add_cost(LOCAL, ModelCost("2026-11-15", "m", 1, 1, 1, 1))
        assert state.claim_job(LOCAL, "a", at(0), 60)
        assert state.claim_job(ELSEWHERE, "a", at(0), 60)
        state.finish_job(ELSEWHERE, "a")
        state.spool_done(ELSEWHERE, [kept])
        state.forget_uses(ELSEWHERE, ["a"])
        state.set_fact(ELSEWHERE, "a", None)
        state.protocol_put(ELSEWHERE, "b", "x", at(5000))
        for space, count in ((ELSEWHERE, 0), (LOCAL, 1)):
            assert len(state.usage(space, ["a"])) == count
            assert len(state.spool_take(space, "k", 9, at(0), 60)) == count
            assert (state.protocol_get(space, "a", at(0)) is not None) == bool(count)
            assert len(state.list_facts(space, "")) == count
            assert len(state.costs(space)) == count
            assert state.claim_job(space, "a", at(1), 60) == (not count)

    @pytest.mark.parametrize("when", ["", "now", "2026-11-15", "2026-11-15T09:30:00+01:00", "2026-13-41T09:30:00Z"])
    def test_times_are_timestamps(self, state: State, when: str) -> None:
        """A time that is no timestamp is an error that says so, and nothing is kept."""
        for call in (
            lambda: state.record_uses(LOCAL, ["a"], when),
            lambda: state.spool_put(LOCAL, "k", "x", when),
            lambda: state.spool_take(LOCAL, "k", 1, when, 60),
            lambda: state.protocol_put(LOCAL, "a", "x", when),
            lambda: state.protocol_get(LOCAL, "a", when),
            lambda: state.add_cost(LOCAL, ModelCost(f"{when}?", "m", 1, 1, 1, 1)),
            lambda: state.claim_job(LOCAL, "j", when, 60),
            lambda: state.fail_job(LOCAL, "j", when),
        ):
            with pytest.raises(InvalidField):
                call()
        assert state.usage(LOCAL, ["a"]) == {}
        assert not state.spool_take(LOCAL, "k", 9, at(0), 60)

    def test_text_is_unicode(self, state: State) -> None:
        """A lone surrogate, which no file can hold, is an error everywhere, and nothing is kept."""
        bad = "a\ud800"
        for call in (
            lambda: state.record_uses(LOCAL, ["b", bad], at(0)),
            lambda: state.usage(LOCAL, [bad]),
            lambda: state.forget_uses(LOCAL, [bad]),
            lambda: state.spool_put(LOCAL, "k", bad, at(0)),
            lambda: state.spool_put(LOCAL, bad, "x", at(0)),
            lambda: state.spool_take(LOCAL, bad, 1, at(0), 60),
            lambda: state.spool_done(LOCAL, [bad]),
            lambda: state.protocol_put(LOCAL, "a", bad, at(0)),
            lambda: state.protocol_get(LOCAL, bad, at(0)),
            lambda: state.set_fact(LOCAL, "a", bad),
            lambda: state.get_fact(LOCAL, bad),
            lambda: state.list_facts(LOCAL, bad),
            lambda: state.add_cost(LOCAL, ModelCost("2026-11-15", bad, 1, 1, 1, 1)),
            lambda: state.claim_job(LOCAL, bad, at(0), 60),
            lambda: state.fail_job(LOCAL, bad, at(0)),
            lambda: state.finish_job(LOCAL, bad),
        ):
            with pytest.raises(InvalidField):
                call()
        assert state.usage(LOCAL, ["b"]) == {}

    @pytest.mark.parametrize("seconds", [0, -1])
    def test_a_lease_has_a_length(self, state: State, seconds: int) -> None:
        """A lease that would be over before it begins is an error."""
        with pytest.raises(InvalidField):
            state.spool_take(LOCAL, "k", 1, at(0), seconds)
        with pytest.raises(InvalidField):
            state.claim_job(LOCAL, "j", at(0), seconds)

    def test_the_end_of_time(self, state: State) -> None:
        """The first and the last second of the calendar are times like others."""
        for when in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
            state.record_uses(LOCAL, ["a"], when)
            state.spool_put(LOCAL, when, "x", when)
            state.protocol_put(LOCAL, "a", "x", when)
            assert len(state.spool_take(LOCAL, when, 1, when, 60)) == 1
        assert state.usage(LOCAL, ["a"])["a"].times == 2

    def test_closing_twice(self, tmp_path: Path) -> None:
        """A state can be closed again."""
        state = self.fresh(tmp_path / "another")
        state.close()
        state.close()
