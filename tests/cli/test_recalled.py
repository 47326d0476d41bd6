"""What `recall` and `show` say beside the texts: marks, strength, what came later, why the hits stand so."""

from __future__ import annotations

import pytest

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
    lines = [line for line in said("recall", "parking") if line != "Weaker matches:"]
    new, old = lines
    assert old.startswith("free") and old.endswith("superseded")
    assert new.startswith("paid") and "active" not in new
    assert [hit["status"] for hit in fine("recall", "parking")["hits"]] == ["active", "superseded"]


def test_the_order_is_explained_on_the_screen() -> None:
    """Each score stands with the parts that add up to it; an answer without scores says what its order is."""
    fine("store", "The launch party is on the roof terrace.", "--key", "roof")
    fine("store", "Lunch is at noon.", "--key", "lunch")
    lines = run("recall", "launch party on the roof", "--explain").out.splitlines()
    explained = [line.split() for line in lines if line.startswith("  score ")]
    assert len(explained) == 2
    for words in explained:
        assert sum(map(float, words[3::3])) == pytest.approx(float(words[1].rstrip(":")), abs=0.005)
        assert words[2] == "meaning" and "trust" in words
    assert "no score: ordered by time" in run("recall", "--explain").out


def test_weaker_matches_stand_apart() -> None:
    """The heading stands once, above the weak hits and below the strong ones, however they are sorted; --strong leaves
    the weak ones out."""
    fine("store", "The launch party is on the roof terrace.", "--key", "roof", "--occurred", "2026-01-02")
    fine("store", "No party pays for lunch.", "--key", "lunch", "--occurred", "2026-01-03")
    fine("store", "Who comes to a party signs in.", "--key", "guests", "--occurred", "2026-01-01")
    question = ("recall", "where is the launch party on the roof")
    for order in ("score", "recency"):
        lines = [line.split()[0] for line in said(*question, "--sort", order)]
        assert lines[:2] == ["roof", "Weaker"] and {*lines[2:]} == {"lunch", "guests"} and len(lines) == 4
    assert [line.split()[0] for line in said(*question, "--strong")] == ["roof"]
    strengths = {hit["key"]: hit["strong"] for hit in fine(*question)["hits"]}
    assert strengths == {"roof": True, "lunch": False, "guests": False}


def test_nothing_found_says_why() -> None:
    """An empty book, filters that leave nothing, and a question without a strong match each have their own reason, on
    the screen and for scripts, with status 1."""

    def reason(*words: str) -> str:
        printed, answer = run("recall", *words), run("recall", *words, "--json").answer()
        assert (
            printed.status == 1 and answer["hits"] == [] and (printed.out, printed.err) == ("", f"{answer['reason']}\n")
        )
        return str(answer["reason"])

    assert reason("lunch") == "Nothing is stored here yet."
    fine("store", "Lunch is at noon.", "--key", "lunch")
    assert reason("lunch", "--tags", "nowhere") == "Nothing found that passes the filters."
    for more in ((), ("--since", "2020-01-01")):
        assert reason("penguins", "--strong", *more) == "No strong match. Without `--strong` you see the weaker ones."
    assert reason("penguins", "--mode", "lexical") == "Nothing found."
    assert "reason" not in fine("recall", "lunch")


def test_a_later_memory_is_named() -> None:
    """Below a text that a later memory may contradict stands which one, and since when; that one names nothing."""
    fine("store", "The launch party is on the roof terrace.", "--key", "roof", "--occurred", "2026-01-01")
    fine("store", "The launch party is in the canteen.", "--key", "canteen", "--occurred", "2026-02-01",
         "--decision", "create")  # fmt: skip
    later = {hit["key"]: hit["later"] for hit in fine("recall", "where is the launch party")["hits"]}
    assert later == {
        "canteen": None,
        "roof": {
            "ref": "project/canteen", "key": "canteen", "date": "2026-02-01T00:00:00Z",
            "summary": "The launch party is in the canteen.",
        },
    }  # fmt: skip
    printed = run("recall", "where is the launch party").out
    named = "later: project/canteen of 2026-02-01 may say otherwise: The launch party is in the canteen."
    assert [line.strip() for line in printed.splitlines() if "later:" in line] == [named]


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
