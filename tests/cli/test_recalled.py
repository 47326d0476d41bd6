"""What `recall` and `show` say beside the texts: marks, why the hits stand in their order, where else a key is."""

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


def test_the_order_is_explained_on_the_screen() -> None:
    """Each score stands with what adds up to its relevance and what moved it; a correction, a copy and an answer
    without scores say why they are where they are."""
    fine("store", "The launch party is on the roof terrace.", "--key", "roof", "--occurred", "2026-01-01")
    fine("store", "The launch party is in the canteen.", "--key", "canteen", "--occurred", "2026-02-01")
    fine("store", "The party for the launch is in the canteen!", "--key", "again", "--occurred", "2026-01-02",
         "--decision", "create")  # fmt: skip
    why = [
        line
        for line in run("recall", "launch party on the roof terrace", "--explain").out.splitlines()
        if "score" in line
    ]
    assert all(" = relevance 0." in line and "recency +" in line for line in why)
    assert why[0].endswith("before an older one about the same")
    assert why[-1].endswith("later, as a copy")
    assert "no score: ordered by time" in run("recall", "--explain").out


def test_show_names_the_other_scopes_of_a_key() -> None:
    """One line says which other scopes have the key, and `also_in` does for scripts; nothing does where none has it."""
    fine("store", "Here two spaces.", "--key", "indent")
    assert fine("show", "indent")["also_in"] == [] and "also in" not in run("show", "indent").out
    fine("store", "Everywhere tabs.", "--key", "indent", "--scope", "global")
    assert fine("show", "indent")["also_in"] == ["global"]
    assert [line.split() for line in run("show", "indent").out.splitlines() if "also in" in line] == [
        ["also", "in", "global"]
    ]
    assert fine("show", "indent", "--scope", "global")["also_in"] == []
