"""What `recall` shows beside the texts: marks, and why the hits stand in their order."""

from __future__ import annotations

from tests.cli.calls import fine, run


def said(*words: str) -> list[str]:
    """What a call prints, without the texts themselves, which are indented."""
    outcome = run(*words)
    assert (outcome.status, outcome.err) == (0, "")
    return [line for line in outcome.out.splitlines() if line[:1] != " "]


def test_what_is_superseded_is_marked_on_the_screen() -> None:
    """The line above a superseded text says so, and no other does; as JSON every hit has its status."""
    fine("store", "Parking is free behind the building.", "--key", "free")
    fine("store", "Parking costs 5 euros a day.", "--key", "paid", "--decision", "supersede:free")
    new, old = said("recall", "parking")
    assert old.startswith("free") and old.endswith("superseded")
    assert new.startswith("paid") and "active" not in new
    assert [hit["status"] for hit in fine("recall", "parking")["hits"]] == ["active", "superseded"]
