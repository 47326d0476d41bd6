"""Within one second, what came later comes first, wherever the newest comes first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.book.opened import open_book
from tests.depth import examples

NOW = "2026-11-16T10:00:00Z"


def stored(root: Path, keys: list[str]) -> dict[str, list[str]]:
    """Store facts under some keys, all in one second; return the keys in the order in which each way shows them."""
    with open_book(root) as book:
        book.context.memories.clock = lambda: NOW
        for at, key in enumerate(keys):
            book.store(f"Fact {at}: the tide table is on page {key}.", key=key, scope="global")
        page = (root / "memories" / "global" / "index.md").read_text("utf-8")
        found = {
            "page": re.findall(r"^- \[([a-z]+)\]", page, re.M),
            "all": [hit.key for hit in book.recall("", limit=50).hits],
            "recency": [hit.key for hit in book.recall("tide table page", sort="recency", limit=50).hits],
            "timeline": [hit.key for hit in book.timeline()],
            "brief": [ref.rpartition("/")[2] for ref in book.brief().memories],
        }
        book.reindex()
        again = (root / "memories" / "global" / "index.md").read_text("utf-8")
        assert re.findall(r"^- \[([a-z]+)\]", again, re.M) == found["page"]
    return found


def test_what_came_later_comes_first(root: Path) -> None:
    """Pages, recall, timeline and brief have facts of one second in the order of their arrival, latest first."""
    expected = ["bear", "ant", "cat", "dog"]
    assert stored(root, expected[::-1]) == dict.fromkeys(("page", "all", "recency", "timeline", "brief"), expected)


@examples(30, quick=6)
@given(order=st.permutations(["ant", "bear", "cat", "dog", "eel", "fox"]))
def test_any_order_of_arrival_is_kept(order: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever the names, the order of arrival decides."""
    found = stored(tmp_path_factory.mktemp("order") / "book", order)
    assert found["page"] == found["all"] == found["recency"] == found["timeline"] == order[::-1]
