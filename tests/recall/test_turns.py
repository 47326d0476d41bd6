"""What was said just before and after in a conversation speaks for a turn, numbered or not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.recall.test_meaning import opened

TALK = (
    "I finally named the boat.",
    "Oh, what did you call it?",
    "Peregrine. The paint is still wet.",
    "Nice. Dinner at eight?",
    "Sure, bring olives.",
)


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_neighbours_are_known_by_number_or_by_time(tmp_path: Path, mode: str, numbered: bool) -> None:
    """Turns without a number are in the order of their times, however they were stored: asked by what stands beside
    it, the answer is found the same."""
    with opened(tmp_path / "book") as book:
        turns = list(enumerate(TALK))
        random.Random(5).shuffle(turns)
        for place, text in turns:
            book.store(
                text, f"t{place}", thread="talk", seq=place if numbered else None, author="ab"[place % 2],
                occurred=f"2026-05-01T10:0{place}:00Z",
            )  # fmt: skip
        answer = book.recall("what did you call it", mode=mode, explain=True)
    places = {hit.key: parts for hit, parts in zip(answer.hits, answer.explained, strict=True)}
    assert "t2" in places
    if mode == "hybrid":
        assert places["t2"]["meaning_before"] > 0 and places["t0"]["meaning_after"] > 0
        assert "meaning_before" not in places["t0"]
    else:
        assert places["t2"]["words"] > 0  # it has none of the words itself
