"""A clock that is set back or ahead: the order of what happened holds, and nothing is lost for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from commonplace.model.choices import StoreMode
from commonplace.model.errors import Conflict
from commonplace.model.names import is_signed_id, new_id
from commonplace.state import port as state_port
from tests.book.opened import texts
from tests.book.wall_clock import DAY, NOON, YEAR, WallClock
from tests.depth import depths, examples


@pytest.fixture
def clock() -> Iterator[WallClock]:
    with WallClock() as clock:
        yield clock


def trash(root: Path) -> list[Path]:
    return sorted(root.glob(".commonplace/trash/**/*.md"))


def command(root: Path, at: int, *words: str) -> str:
    """Run the real program with a clock that shows this moment."""
    place = str(Path(__file__).parents[1] / "baseline/clock")
    environment = {**os.environ, "PYTHONPATH": place, "BASELINE_CLOCK": str(at), "COMMONPLACE_ROOT": str(root)}
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", *words], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout


def test_undo_and_restore_at_the_command_line(root: Path) -> None:
    """With the clock a year back, `undo` brings back the text before, and `restore` what was forgotten last."""
    for text, at in (("one", NOON), ("two", NOON + 9), ("three", NOON - YEAR)):
        command(root, at, "store", f"The {text} lynx.", "--key", "lynx", "--scope", "global", "--mode", "replace")
    command(root, NOON - YEAR + 9, "undo", "lynx")
    assert "The two lynx." in command(root, NOON, "show", "lynx")
    command(root, NOON, "forget", "lynx")
    command(root, NOON - YEAR, "store", "The four lynx.", "--key", "lynx", "--scope", "global")
    command(root, NOON - YEAR, "forget", "lynx")
    command(root, NOON + 99, "restore", "lynx")
    assert "The four lynx." in command(root, NOON, "show", "lynx")


@pytest.mark.parametrize("wrong_by", [-YEAR, YEAR])
def test_an_append_after_a_replace_is_undone_first(root: Path, clock: WallClock, wrong_by: int) -> None:
    """What was added last is undone first, though the clock says that it was added before the text was replaced; the
    index says what the files say."""
    with clock.process(root, max(wrong_by, 0)) as book:
        book.store("One lynx.", key="lynx")
        book.store("Two lynxes.", key="lynx", mode="replace")
    with clock.process(root, min(wrong_by, 0)) as book:
        book.store("Three lynxes.", key="lynx")
        assert book.verify().ok
        book.undo("lynx")
        assert [entry.text for entry in book.show("lynx").entries] == ["Two lynxes."]
        assert texts(book, "lynx") == ["Two lynxes."] and book.verify().ok


def test_a_year_ahead_for_one_store(root: Path, clock: WallClock) -> None:
    """One store with the clock a year ahead empties no trash and hides no project memory; nor do more on that day."""
    with clock.process(root, role="agent") as book:
        book.store("A project lynx.", key="plynx")
        book.store("A lynx to forget.", key="gone")
        book.forget("gone")
        book.retire(daily=True)
    for hour in (0, 1, 5):
        with clock.process(root, YEAR + hour * 3600) as book:
            book.store(f"Lynx {hour}.", key="other")
            assert book.retire() == ((), (), 0)
    clock.seconds += DAY
    with clock.process(root) as book:
        assert book.retire() == ((), (), 0) and len(trash(root)) == 1
        assert [item.status for item in book.list() if item.key == "plynx"] == ["active"]
        assert book.restore("gone").action == "restored"


@pytest.mark.parametrize("sign", ["another day", "another boot"])
def test_a_second_sign_is_believed(root: Path, clock: WallClock, monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    """After two months away, the first look does nothing; one on the next day, or after another start, retires."""
    with clock.process(root) as book:
        book.store("A lynx to forget.", key="gone")
        book.forget("gone")
        book.retire(daily=True)
    clock.seconds += 60 * DAY
    with clock.process(root) as book:
        assert book.retire(daily=True).swept == 0
    if sign == "another boot":
        monkeypatch.setattr(state_port, "_boot_id", lambda: "another")
    else:
        clock.seconds += DAY
    with clock.process(root) as book:
        assert book.retire().swept == 1 and trash(root) == []


def test_a_book_that_is_opened_every_second_month(root: Path, clock: WallClock) -> None:
    """Each look confirms the one before, so that the trash is emptied although every look comes after a jump."""
    with clock.process(root) as book:
        book.store("A lynx to forget.", key="gone")
        book.forget("gone")
    swept = []
    for _ in range(3):
        clock.seconds += 60 * DAY
        with clock.process(root) as book:
            swept.append(book.retire().swept)
    assert swept == [0, 1, 0]


def test_what_is_kept_while_the_clock_is_back_is_not_old(root: Path, clock: WallClock) -> None:
    """A session memory, and one that is forgotten, with the clock a year back: neither is old when it is set right."""
    with clock.process(root) as book:
        book.retire()
    clock.seconds += DAY
    with clock.process(root) as book:
        book.retire()
    with clock.process(root, -YEAR, role="agent") as book:
        book.store("A project lynx.", key="plynx")
        book.store("A lynx to forget.", key="gone")
        book.forget("gone")
    with clock.process(root) as book:
        assert book.retire() == ((), (), 0) and len(trash(root)) == 1


def test_a_date_in_the_future_is_not_for_ever(root: Path, clock: WallClock) -> None:
    """A memory that was stored with the clock years ahead grows old from the first look that sees it."""
    with clock.process(root, 10 * YEAR, role="agent") as book:
        book.store("A lynx of tomorrow.", key="lynx")
    with clock.process(root) as book:  # the state began with the wrong clock: a new one
        pass
    for path in root.glob(".commonplace/state.db*"):
        path.unlink()
    expired: list[str] = []
    for day in range(0, 130, 10):
        with clock.process(root) as book:
            found = book.retire().expired
            expired += found
            assert not found or day > 90
        clock.seconds += 10 * DAY
    assert expired == ["lynx"]


def test_use_counts_when_the_clock_was_ahead(root: Path, clock: WallClock) -> None:
    """A use in the future does not hide the uses of today, and a lease or a protocol state from there ends."""
    with clock.process(root) as book:
        state, space = book.context.state, book.context.memories.space
        today = clock.stamp()
        clock.seconds += YEAR
        ahead = clock.stamp()
        clock.seconds -= YEAR
        state.record_uses(space, ["lynx"], ahead)
        state.flush()
        state.record_uses(space, ["lynx"], today)
        state.flush()
        assert state.usage(space, ["lynx"])["lynx"] == (2, today)
        state.protocol_put(space, "key", "value", ahead)
        assert state.protocol_get(space, "key", today) is None
        state.spool_put(space, "kind", "work", today)
        assert len(state.spool_take(space, "kind", 1, ahead, 60)) == 1
        assert len(state.spool_take(space, "kind", 1, today, 60)) == 1


def test_the_audit_outlives_a_wrong_day(root: Path, clock: WallClock) -> None:
    """One day with the clock years ahead deletes no audit file; two days do."""
    with clock.process(root) as book:
        book.store("A lynx.", key="lynx")
    (day,) = (root / ".commonplace/audit").iterdir()
    with clock.process(root, 3 * YEAR) as book:
        book.store("A lynx.", key="other")
    assert day.exists()
    with clock.process(root, 3 * YEAR + DAY) as book:
        book.store("A lynx.", key="third")
    assert not day.exists()


KEY = "0" * 64


@given(st.lists(st.tuples(st.integers(-YEAR, YEAR), st.booleans()), min_size=2, max_size=20))
def test_ids_follow_one_another_whatever_the_clock(jumps: list[tuple[int, bool]]) -> None:
    """An id made `after` another is greater, signed or not, however the clock jumps between processes."""
    last = ""
    with WallClock() as clock:
        for jump, signed in jumps:
            clock.begin_process(NOON + jump)
            new = new_id(KEY if signed else "", last)
            assert new > last and new[14] == "7" and new[19] in "89ab" and is_signed_id(new, KEY) is signed
            last = new


class ClockMachine(RuleBasedStateMachine):
    """One memory, changed by processes whose clocks are right, back or ahead, against a list of what happened."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.clock = WallClock()
        self.clock.__enter__()
        self.number = 0
        self.note: list[str] | None = None
        self.life = 0  # which memory of this key it is
        self.added = 0  # entries since the text was last put aside
        self.aside: list[tuple[int, list[str]]] = []
        self.trash: list[tuple[int, list[str], int]] = []

    def teardown(self) -> None:
        self.clock.__exit__(None, None, None)
        self.folder.cleanup()

    def put(self, texts: list[str]) -> None:
        assert self.note is not None
        self.aside.append((self.life, self.note))
        self.note, self.added = texts, 0

    @initialize()
    def begin(self) -> None:
        """With a version from a year ahead, every right clock is behind."""
        self.store("append", 0)
        self.store("replace", YEAR)
        self.store("replace", 0)

    @rule(mode=st.sampled_from(["append", "replace"]), wrong_by=st.sampled_from([0, 0, -YEAR, YEAR, -1]))
    def store(self, mode: StoreMode, wrong_by: int) -> None:
        self.number += 1
        text = f"Lynx number {self.number}."
        with self.clock.process(self.root, wrong_by) as book:
            book.store(text, key="lynx", mode=mode, summary="A lynx")
        if self.note is None:
            self.life += 1
            self.note, self.added = [text], 0
        elif mode == "replace":
            self.put([text])
        else:
            self.note, self.added = [*self.note, text], self.added + 1

    @precondition(lambda self: self.note)
    @rule(wrong_by=st.sampled_from([0, -YEAR, YEAR, -1]))
    def undo(self, wrong_by: int) -> None:
        assert self.note
        with self.clock.process(self.root, wrong_by) as book:
            if self.added:
                book.undo("lynx")
                self.put(self.note[:-1])
            elif self.aside and self.aside[-1][0] == self.life:
                book.undo("lynx")
                self.put(self.aside[-1][1])
            else:
                with pytest.raises(Conflict):
                    book.undo("lynx")

    @precondition(lambda self: self.note)
    @rule(wrong_by=st.sampled_from([0, -YEAR, YEAR, -1]))
    def forget(self, wrong_by: int) -> None:
        assert self.note
        with self.clock.process(self.root, wrong_by) as book:
            book.forget("lynx")
        self.trash.append((self.life, self.note, self.added))
        self.note = None

    @precondition(lambda self: self.note is None and self.trash)
    @rule(wrong_by=st.sampled_from([0, -YEAR, YEAR, -1]))
    def restore(self, wrong_by: int) -> None:
        with self.clock.process(self.root, wrong_by) as book:
            book.restore("lynx")
        self.life, self.note, self.added = self.trash.pop()

    @rule(seconds=st.integers(0, 3 * DAY))
    def wait(self, seconds: int) -> None:
        self.clock.seconds += seconds

    @rule()
    def check(self) -> None:
        with self.clock.process(self.root) as book:
            if self.note is not None:
                assert [entry.text for entry in book.show("lynx").entries] == self.note
            assert book.verify().ok


@pytest.mark.parametrize(("tries", "steps"), depths((3, 10), (60, 20)))
def test_the_order_of_what_happened_holds(tries: int, steps: int) -> None:
    """Undo and restore take the latest in the order of action, whatever the clocks of the processes said."""
    run_state_machine_as_test(ClockMachine, settings=settings(max_examples=tries, stateful_step_count=steps))


wrong = st.sampled_from([0, -YEAR, YEAR, 2 * YEAR, -50 * DAY, 50 * DAY])
days = st.lists(st.tuples(st.integers(1, 20), wrong, st.sampled_from(["forget", "look", "both"])), max_size=8)


@examples(60, quick=4)
@given(days)
def test_nothing_leaves_the_trash_before_its_time(steps: list[tuple[int, int, str]]) -> None:
    """With a look at each visit, and clocks that are wrong by weeks or years for an hour, nothing is swept that was
    forgotten less than 30 days ago; and it is swept in the end."""
    forgotten: dict[str, int] = {}
    ahead: set[str] = set()  # with a date in the future: these stay until then
    with TemporaryDirectory() as folder, WallClock() as clock:
        root = Path(folder)

        def look(wrong_by: int) -> None:
            with clock.process(root, wrong_by) as book:
                book.retire()
            there = {path.parent.name for path in trash(root)}
            for key in forgotten.keys() - there:
                assert clock.seconds - forgotten.pop(key) >= 30 * DAY

        look(0)
        clock.seconds += DAY
        look(0)
        for number, (gap, wrong_by, act) in enumerate(steps):
            clock.seconds += gap * DAY
            look(0)
            if act != "look":
                with clock.process(root, wrong_by) as book:
                    book.store("A lynx.", key=f"lynx-{number}")
                    book.forget(f"lynx-{number}")
                forgotten[f"lynx-{number}"] = clock.seconds
                ahead.update([f"lynx-{number}"] if wrong_by > 0 else [])
            if act != "forget":
                look(wrong_by)
        for _ in range(3):
            clock.seconds += 31 * DAY
            look(0)
            clock.seconds += DAY
            look(0)
        assert forgotten.keys() <= ahead
