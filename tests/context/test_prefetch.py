"""Prefetch: when a digest is put beside a prompt, by times alone; and that its text is only what we wrote."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import prefetch
from commonplace.context.prefetch import (
    INTERVAL,
    MOST_CHARACTERS,
    format_prefetch,
    parse_prefetch,
)
from commonplace.text.fence import TAG, open_fences
from tests.depth import examples
from tests.strategies import hostile_text

NOW = 1_800_000_000
DAY = date(2026, 11, 15)
MINUTES = (1, 2, 4, 8, 16, 30, 30)  # that a failure waits, by how many there were
_gaps = st.integers(0, 4_000)
_outcomes = st.sampled_from(["ok", "empty", "failed"])


def test_the_first_turn_prefetches() -> None:
    """Where nothing was tried yet, it is time, whatever the clock says and however long the interval is."""
    assert all(prefetch(None, None, 0, now) for now in (0, NOW, -5, 1.5))
    assert prefetch(None, None, 0, NOW, interval=10**9)


@pytest.mark.parametrize(("interval", "at"), [(INTERVAL, 1_800), (60, 60), (7_200, 7_200)])
def test_after_a_success_the_interval_passes(interval: int, at: int) -> None:
    """To the second: not before the interval is over, and from then on at every turn until it is done."""
    assert not prefetch(NOW, NOW, 0, NOW, interval)
    assert not prefetch(NOW, NOW, 0, NOW + at - 1, interval)
    assert prefetch(NOW, NOW, 0, NOW + at, interval) and prefetch(NOW, NOW, 0, NOW + 10 * at, interval)


@pytest.mark.parametrize("last_ok", [None, NOW - 60, NOW - 10**6])
def test_after_failures_it_waits_longer_each_time(last_ok: int | None) -> None:
    """1, 2, 4, 8, 16 and then 30 minutes since the last try, whenever the last success was."""
    for failures, minutes in enumerate(MINUTES, 1):
        assert not prefetch(last_ok, NOW, failures, NOW + 60 * minutes - 1)
        assert prefetch(last_ok, NOW, failures, NOW + 60 * minutes)
    assert not prefetch(last_ok, NOW, 10**9, NOW + 1_799) and prefetch(last_ok, NOW, 10**9, NOW + 1_800)


@given(turns=st.lists(st.tuples(_gaps, _outcomes), min_size=1, max_size=40), interval=st.integers(1, 5_000))
def test_any_session_keeps_to_the_rule(turns: list[tuple[int, str]], interval: int) -> None:
    """In any sequence of turns, each that comes after the wait of the last outcome prefetches, and no other does."""
    now, last_ok, last_try, failures = NOW, None, None, 0
    allowed_at = NOW
    for gap, outcome in turns:
        now += gap
        is_due = prefetch(last_ok, last_try, failures, now, interval)
        assert is_due == (now >= allowed_at)
        if is_due:
            last_try = now
            failures = failures + 1 if outcome == "failed" else 0
            last_ok = last_ok if outcome == "failed" else now
            wait = 60 * MINUTES[min(failures, len(MINUTES)) - 1] if failures else interval
            allowed_at = now + wait


_times = st.none() | st.integers(-(10**10), 10**10) | st.floats(-1e10, 1e10)


@given(last_ok=_times, last_try=_times, failures=st.integers(-3, 10**6), now=st.integers(-(10**10), 10**10))
def test_what_is_due_stays_due(last_ok: float | None, last_try: float | None, failures: int, now: int) -> None:
    """Whatever a record holds, time alone never takes a turn back, half an hour is always enough, and a clock that
    was set back stops nothing."""
    times = [now, *(at for at in (last_ok, last_try) if at is not None)]
    if prefetch(last_ok, last_try, failures, now) and now == max(times):
        assert prefetch(last_ok, last_try, failures, now + 1)
    assert prefetch(last_ok, last_try, failures, max(times) + INTERVAL)
    assert prefetch(last_ok, last_try, failures, min(times) - 1)


@examples(400)
@given(page=hostile_text, allowed=st.lists(st.text("ab-", max_size=5), max_size=4))
def test_a_text_is_read_back_and_cannot_leave_its_fence(page: str, allowed: list[str]) -> None:
    """Whatever messages say: what is written is one fence from end to end, and is read back as it is. With anything
    more, less or else, for other sources or by another key it is nothing."""
    text = format_prefetch(page, DAY, allowed, "key")
    assert text.count(f"<{TAG} ") == text.count(f"</{TAG}>") == 1 and text.endswith(f"\n</{TAG}>")
    assert open_fences(text)[0].labels["trust"] == "external"
    data = text.encode("utf-8")
    found = parse_prefetch(data)
    assert (found is not None) == (len(text) <= MOST_CHARACTERS)
    if found is not None:
        assert found.text == text and found.day == DAY and found.is_ours(reversed(allowed), "key")
        assert not any(found.is_ours([*allowed, "c"], key) for key in ("key", "")) and not found.is_ours(allowed, "k")
        assert not allowed or not found.is_ours(allowed[1:], "key")
    changes = [data[:-1], data[1:], data + b"\n", b"Obey. " + data, data + data]
    words = ((b"external", b"human"), (b"2026-11-15", b"2026-11-16"), (b"\n</", b".\n</"), (b"tree", b"mail"))
    for other in (*changes, *(data.replace(old, new) for old, new in words)):
        changed = parse_prefetch(other)
        assert changed is None or not changed.is_ours(allowed, "key")


@given(data=st.binary(max_size=300) | hostile_text.map(lambda text: text.encode("utf-8", "replace")))
def test_anything_else_is_nothing(data: bytes) -> None:
    """Bytes that we did not write are no digest."""
    assert parse_prefetch(data) is None


@pytest.mark.parametrize(("age", "is_recent"), [(-2, False), (-1, True), (0, True), (1, True), (2, True), (3, False)])
def test_a_digest_is_told_for_two_days(age: int, is_recent: bool) -> None:
    """It carries its day; older than two days it is not told, nor if its day is still far off."""
    found = parse_prefetch(format_prefetch("# Page", DAY, ["mail"], "key").encode())
    assert found is not None and found.is_recent(DAY + timedelta(days=age)) == is_recent
