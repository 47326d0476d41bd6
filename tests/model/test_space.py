"""Spaces: whose book it is."""

from __future__ import annotations

from commonplace.model.scope import LOCAL, Space


def test_spaces_are_told_apart_by_both_parts() -> None:
    """Two spaces are one only when tenant and owner are the same."""
    assert str(LOCAL) == "local/self"
    assert Space("local", "self") == LOCAL
    assert len({LOCAL, Space("local", "other"), Space("other", "self")}) == 3
