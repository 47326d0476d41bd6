"""The one conformance suite of the state, for each state there is, and one against the other."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.costs import ModelCost
from commonplace.model.scope import LOCAL, Space
from commonplace.state.port import SpoolItem, State
from commonplace.state.sqlite import SqliteState
from tests.state.conformance import BORN, ELSEWHERE, StateConformance, at
from tests.state.files import open_at
from tests.state.memory import MemoryState

Step = tuple[str, Space, str, int, int]


class TestMemoryState(StateConformance):
    def fresh(self, folder: Path) -> State:
        return MemoryState(created_at=BORN)


class TestSqliteStateInMemory(StateConformance):
    def fresh(self, folder: Path) -> State:
        return open_at(BORN, lambda: SqliteState(None))


class TestSqliteState(StateConformance):
    def fresh(self, folder: Path) -> State:
        return open_at(BORN, lambda: SqliteState(folder / "state.db"))


class Driver:
    """Takes steps on a state; ids, which no two states share, become the order in which they were given."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.ids: list[str] = []
        self.claimed: list[bool] = []

    def take(self, step: Step, now: str) -> list[SpoolItem]:
        verb, space, name, number, _ = step
        state = self.state
        match verb:
            case "put":
                self.ids.append(state.spool_put(space, name, f"payload {len(self.ids)}", now))
            case "take":
                taken = state.spool_take(space, name, number, now, 1 + number * 40)
                return [item._replace(id=str(self.ids.index(item.id))) for item in taken]
            case "done":
                state.spool_done(space, self.ids[number : number + 2])
            case "used":
                state.record_uses(space, [name, f"{name}{number}"], now)
            case "forget":
                state.forget_uses(space, [name])
            case "protocol":
                state.protocol_put(space, name, str(number), now)
            case "remember":
                state.set_fact(space, name + "/" * number, str(number) if number < 4 else None)
            case "cost":
                state.add_cost(space, ModelCost(f"2026-11-{1 + number:02}", name, 1, number, number - 2, number * 7))
            case "claim":
                self.claimed.append(state.claim_job(space, name, now, 1 + number * 40))
            case "fail":
                state.fail_job(space, name, now)
            case "finish":
                state.finish_job(space, name)
            case _:
                state.flush()
        return []

    def answers(self, now: str) -> list[object]:
        refs = [f"{name}{number}" for name in NAMES for number in ("", *range(6))]
        return [
            (
                dict(self.state.usage(space, refs)),
                [self.state.protocol_get(space, name, now) for name in NAMES],
                [self.state.list_facts(space, prefix) for prefix in ("", *NAMES)],
                list(self.state.costs(space)),
                self.claimed,
            )
            for space in (LOCAL, ELSEWHERE)
        ]


NAMES = ["a", "a/", "é", "a\x00"]
_steps = st.tuples(
    st.sampled_from(
        [
            "put",
            "take",
            "done",
            "used",
            "used",
            "forget",
            "protocol",
            "remember",
            "flush",
            "open",
            "cost",
            "claim",
            "claim",
            "fail",
            "finish",
        ]
    ),
    st.sampled_from([LOCAL, LOCAL, ELSEWHERE]),
    st.sampled_from(NAMES),
    st.integers(0, 5),
    st.sampled_from([0, 0, 1, 10, 29, 30, 31, 59, 60, 61, 900, 1800, -45]),
)


@given(st.lists(_steps, max_size=25))
def test_both_states_answer_alike(steps: list[Step]) -> None:
    """After every step, with the clock going on and back, the database says what the plain dicts say, closed and opened
    again in between as often as you like."""
    with TemporaryDirectory() as folder:
        memory = Driver(MemoryState(created_at=BORN))
        disk = Driver(open_at(BORN, lambda: SqliteState(Path(folder, "state.db"))))
        seconds = 0
        for step in steps:
            seconds += step[4]
            if step[0] == "open":
                disk.state.close()
                disk.state = SqliteState(Path(folder, "state.db"))
            assert memory.take(step, at(seconds)) == disk.take(step, at(seconds))
            assert memory.answers(at(seconds)) == disk.answers(at(seconds))
        disk.state.close()
