"""Decisions about near duplicates, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calls import fine, run


def test_a_contradiction_is_told_and_superseded(book: Path) -> None:
    """A store names what it contradicts; with the decision, the old memory is superseded and linked, and kept."""
    fine("store", "The admin panel listens on port 8042", "--key", "admin-port")
    told = fine("store", "The admin panel listens on port 8043", "--key", "panel", "--scope", "global")
    assert [(item["key"], item["relation"]) for item in told["similar"]] == [("admin-port", "contradicts")]
    new = fine("store", "The admin panel listens on port 8044", "--decision", "supersede:admin-port")
    assert new["action"] == "created"
    old = fine("show", "admin-port")
    assert old["status"] == "superseded"
    assert [(link["rel"], link["to"]) for link in old["links"]] == [("superseded_by", new["key"])]
    assert [(link["rel"], link["to"]) for link in fine("show", new["key"])["links"]] == [("supersedes", "admin-port")]


def test_two_words_are_enough_to_contradict(book: Path) -> None:
    """The shortest facts are found too: one shared word and another number."""
    fine("store", "The port is 8042", "--key", "a")
    assert [item["relation"] for item in fine("store", "The port is 8043", "--key", "b")["similar"]] == ["contradicts"]


def test_the_same_in_other_words_is_told_and_added(book: Path) -> None:
    """A store names what says the same; with the decision the text becomes an entry of that memory."""
    fine("store", "Invoices are sent as PDF attachments on Mondays", "--key", "invoices")
    told = fine("store", "On Mondays invoices are sent as PDF attachments", "--key", "other", "--scope", "global")
    assert [(item["key"], item["relation"]) for item in told["similar"]] == [("invoices", "same")]
    added = fine("store", "Invoices go out on Mondays, as attachments in PDF", "--decision", "update:invoices")
    assert (added["key"], added["action"]) == ("invoices", "appended")
    said = "Invoices are sent as PDF attachments every Monday"
    assert fine("store", said, "--decision", "update:invoices", "--mode", "replace")["action"] == "replaced"
    assert [entry["text"] for entry in fine("show", "invoices")["entries"]] == [said]


def test_create_stores_it_anyway(book: Path) -> None:
    """With decision create a second memory is made, and what it repeats is still named."""
    fine("store", "Invoices are sent as PDF attachments", "--key", "invoices")
    made = fine("store", "Invoices are sent as a PDF attachment", "--decision", "create", "--key", "again")
    assert (made["action"], made["similar"][0]["key"]) == ("created", "invoices")


def test_a_person_sees_which_is_which(book: Path) -> None:
    """On a screen, what says the same and what says otherwise stand under headings of their own."""
    fine("store", "The admin panel listens on port 8042", "--key", "admin-port")
    said = run("store", "The admin panel listens on port 9042", "--key", "b", "--scope", "global").out
    assert "May contradict:\n  admin-port" in said
    said = run(
        "store", "Port 8042 is where the admin panel listens", "--key", "c", "--scope", "agent", "--agent", "kim"
    ).out
    assert "Similar:\n  admin-port" in said


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--decision", "update:nowhere"], "not_found"),
        (["--decision", "supersede:nowhere"], "not_found"),
        (["--decision", "update:../up"], "invalid_key"),
        (["--decision", "update:admin-port", "--key", "other"], "invalid_field"),
        (["--decision", "supersede:admin-port", "--key", "admin-port"], "invalid_field"),
        (["--decision", "merge:admin-port"], "invalid_field"),
    ],
)
def test_a_wrong_decision_stores_nothing(book: Path, words: list[str], code: str) -> None:
    """A decision about a memory that is not there, or that makes no sense, is an error, and nothing is written."""
    fine("store", "The admin panel listens on port 8042", "--key", "admin-port")
    before = fine("list")
    outcome = run("store", "The admin panel listens on port 8043", *words, "--json")
    assert outcome.status
    assert outcome.error()["code"] == code
    assert fine("list") == before
