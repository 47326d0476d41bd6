"""Ids: uuid version 7, always rising, whatever the clock and the threads do."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model import names
from commonplace.model.names import new_id, revision_of, short_hash


def test_ids_rise() -> None:
    """Every id is greater than the one before, as text too."""
    made = [new_id() for _ in range(5_000)]
    assert made == sorted(set(made))


def test_ids_are_uuid7_of_now() -> None:
    """An id is a version 7 uuid in its usual form, and begins with the milliseconds of its making."""
    before = time.time_ns() // 1_000_000
    text = new_id()
    value = uuid.UUID(text)
    assert (str(value), value.version, value.variant) == (text, 7, uuid.RFC_4122)
    assert value.int >> 80 >= before


def test_ids_rise_in_every_thread() -> None:
    """Ids made in many threads at once are all different and rise within each thread."""
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: [new_id() for _ in range(1_000)], range(8)))
    assert all(run == sorted(run) for run in runs)
    assert len({made for run in runs for made in run}) == 8_000


def test_ids_rise_when_the_clock_stands_or_steps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still, steps back or jumps never makes an id that is not greater."""
    start = time.time_ns()
    ticks = iter([start, start, start - 10**12, 0, start + 10**7, start])
    monkeypatch.setattr(time, "time_ns", lambda: next(ticks))
    made = [new_id() for _ in range(6)]
    assert made == sorted(set(made))


def test_ids_rise_over_the_end_of_the_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the counter of one millisecond is used up, the next id takes the next millisecond."""
    monkeypatch.setattr(names, "_last", (2**47 << 42) + 2**42 - 2)
    made = [new_id() for _ in range(4)]
    assert made == sorted(set(made))
    assert [uuid.UUID(text).int >> 80 for text in made] == [2**47, 2**47 + 1, 2**47 + 1, 2**47 + 1]
    assert all(uuid.UUID(text).version == 7 for text in made)


@given(st.binary(), st.binary())
def test_revisions_tell_contents_apart(first: bytes, second: bytes) -> None:
    """Equal bytes have the same revision, different bytes another, in 32 hex digits."""
    assert (revision_of(first) == revision_of(second)) == (first == second)
    assert len(revision_of(first)) == 32
    assert set(revision_of(first)) <= set("0123456789abcdef")


@given(st.text(st.characters()), st.integers(1, 64))
def test_short_hash_takes_any_text(text: str, length: int) -> None:
    """Any text, half surrogate pairs included, has a hash of the length asked for, the same each time."""
    assert len(short_hash(text, length)) == length
    assert short_hash(text, length) == short_hash(text)[:length] or length > 12


def test_known_hashes() -> None:
    """Revisions and hashes are SHA-256, so that they stay the same in every version."""
    assert revision_of(b"abc") == "ba7816bf8f01cfea414140de5dae2223"
    assert short_hash("abc") == "ba7816bf8f01"
    for size in (16_383, 16_384, 100_000):
        assert revision_of(b"x" * size) == sha256(b"x" * size).hexdigest()[:32]
