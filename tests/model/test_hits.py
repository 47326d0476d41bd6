"""Hits: one shape from every retrieval."""

from __future__ import annotations

import pytest

from commonplace.model.results import Hit, HitKind
from commonplace.model.scope import ScopeKind

HIT = Hit(HitKind.MEMORY, "r", "k", ScopeKind.GLOBAL, None, "/p", "e", "t", "s", None, "agent", "", "", "", 1.0, "rev")


def test_the_kinds_of_hits() -> None:
    """The kinds are the five words that every surface prints."""
    assert [*HitKind] == ["memory", "journal", "leaf", "summary", "digest"]


def test_a_hit_is_a_value() -> None:
    """Equal hits are equal and can be put in a set, and none can be changed."""
    same = Hit(*HIT)
    assert len({HIT, same}) == 1
    assert HIT.sources == ()
    with pytest.raises(AttributeError):
        HIT.score = 2.0  # type: ignore[misc]
