"""The contract for scripts, field by field, as it was promised. What is asserted here may only grow."""

from __future__ import annotations

from pathlib import Path

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT


def test_the_fields_that_were_promised(book: Path) -> None:
    """store, recall, show, history, verify and an error have the fields of the contract, in its order."""
    stored = fine("store", "Staging listens on port 6000.", "--key", "staging")
    assert list(stored) == [
        "key",
        "scope",
        "scope_id",
        "path",
        "revision",
        "entry",
        "action",
        "similar",
        "notice",
        "superseded",
    ]
    assert (stored["key"], stored["scope"], stored["scope_id"]) == ("staging", "project", "github.com/acme/app")
    assert stored["action"] == "created" and stored["path"].endswith("/staging.md")
    assert [list(item) for item in stored["similar"]] == [["key", "scope", "similarity", "summary", "relation"]]

    found = fine("recall", "which port does staging use")
    assert list(found) == ["hits", "total", "hidden"]
    assert found["total"] == len(found["hits"]) > 2 and found["hidden"] == {}
    assert list(found["hits"][0]) == [
        "kind", "ref", "key", "scope", "scope_id", "path", "entry", "text", "summary", "author", "trust", "time_start",
        "time_end", "updated", "score", "revision", "sources", "status", "strong", "later",
        "session", "title", "tree", "level", "child_ids", "entities", "topics",
    ]  # fmt: skip
    assert found["hits"][0]["kind"] == "memory"

    shown = fine("show", "staging")
    assert shown["revision"] == stored["revision"] and shown["key"] == "staging"
    assert list(shown["entries"][0])[:5] == ["id", "time", "author", "trust", "text"]
    assert shown["entries"][0]["id"] == stored["entry"]

    (past, current) = fine("history", "staging-port")["revisions"]
    assert list(past)[:4] == ["revision", "time", "author", "action"]
    assert (past["action"], current["action"]) == ("replaced", "current")

    proof = fine("verify")
    assert list(proof) == ["ok", "files", "differences"]
    assert proof["ok"] is True and proof["files"] >= 6 and proof["differences"] == []

    refused = run("show", "not-there", "--json")
    assert (refused.status, refused.out) == (1, "")
    assert refused.error()["code"] == "not_found"


def test_a_script_writes_only_over_what_it_read(book: Path) -> None:
    """The revision that show answers is the one that --if-revision takes; an old one is refused with status 32."""
    read = fine("show", "staging-port")["revision"]
    new = fine("store", "Port 7000.", "--key", "staging-port", "--mode", "replace", "--if-revision", read)
    assert new["revision"] != read
    late = run("store", "Port 8000.", "--key", "staging-port", "--mode", "replace", "--if-revision", read, "--json")
    assert (late.status, late.error()["code"]) == (32, "revision_mismatch")
    assert [entry["text"] for entry in fine("show", "staging-port")["entries"]] == ["Port 7000."]


def test_every_option_of_the_contract_is_taken(root: Path) -> None:
    """store and recall take all the options that the contract lists, at once."""
    stored = fine(
        "store", "The cut-over is done.", "--key", "cut-over", "--scope", "project", "--type", "reference", "--tags",
        "a,b", "--summary", "Cut-over", "--mode", "append", "--decision", "create", "--author", "ann", "--occurred",
        "2026-01-02T03:04:05Z", "--thread", "t1", "--seq", "4",
    )  # fmt: skip
    again = fine("store", "It is done twice.", "--key", "cut-over", "--if-revision", stored["revision"])
    assert again["action"] == "appended"
    found = fine(
        "recall", "cut-over done", "--scope", "project", "--type", "reference", "--tags", "a,b", "--kinds", "memory",
        "--since", "2026-01-01", "--until", "2026-02-01", "--as-of", "2099-01-01", "--limit", "5", "--mode", "lexical",
        "--sort", "recency", "--budget-tokens", "500", "--explain", "--all",
    )  # fmt: skip
    assert [(hit["text"], hit["author"]) for hit in found["hits"]] == [("The cut-over is done.", "ann")]
    entry = fine("show", "cut-over")["entries"][0]
    assert (entry["thread"], entry["seq"], entry["occurred"]) == ("t1", 4, "2026-01-02T03:04:05Z")


def test_what_matches_is_counted_to_a_thousand(root: Path) -> None:
    """Where more match than anybody reads, a recall says so, and counts no further."""
    with Book.open(root, project=PROJECT) as book:
        book.store_many({"content": f"The kettle number {n} whistles."} for n in range(1_010))
    words = ("recall", "kettle", "--mode", "lexical", "--limit", "2")
    assert run(*words, "--json").answer()["total"] == 1_000
    assert "2 of 1,000 or more that match." in run(*words).err
