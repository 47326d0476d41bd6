"""A store that contradicts an older memory proposes a link that says so, and a person judges it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from commonplace.verbs.recall import TOOLS as RECALL_TOOLS
from commonplace.verbs.store import TOOLS as STORE_TOOLS
from tests.cli.calls import fine, run

OLD, NEW = (f"The limit of the API is {number} requests a minute." for number in (100, 250))
LONG = "In the meeting the team went over the limits of the API for guests, partners and staff. " * 6
QUESTION = "limit of the API"


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMMONPLACE_ROOT", str(tmp_path / "book"))
    monkeypatch.setenv("COMMONPLACE_PROJECT", "acme/app")
    return tmp_path / "book"


def list_waiting() -> list[tuple[str, str, str]]:
    return [(item["key"], item["rel"], item["to"]) for item in run("review", "--list", "--json").answer()["waiting"]]


def find_later() -> dict[str, str | None]:
    return {hit["key"]: (hit.get("later") or {}).get("key") for hit in fine("recall", QUESTION)["hits"]}


def test_a_person_rejects_what_store_found() -> None:
    """The new note has the proposed link, which changes no order; rejected, both hold, and it is not proposed again."""
    fine("store", OLD, "--key", "old")
    stored = fine("store", NEW, "--key", "new")
    assert list_waiting() == [("new", "contradicts", "old")]
    assert fine("show", "new")["revision"] == stored["revision"]
    assert find_later() == {"new": None, "old": "new"}
    assert run("review", "--reject", "new", "--rel", "contradicts", "--to", "old").status == 0
    assert find_later() == {"new": None, "old": None}
    fine("store", NEW.replace("250", "300"), "--key", "new")
    assert list_waiting() == [] and find_later() == {"new": None, "old": None}


def test_an_accepted_one_stands() -> None:
    """Accepted, the older memory names the newer whatever the words say, and nothing waits."""
    fine("store", OLD, "--key", "old")
    fine("store", NEW, "--key", "new")
    assert run("review", "--accept", "new", "--rel", "contradicts", "--to", "old").status == 0
    fine("store", "Guests of Ida wait.", "--key", "new", "--mode", "replace")
    assert find_later()["old"] == "new" and list_waiting() == []


def test_an_agent_over_mcp_proposes_it_too(book: Path) -> None:
    """The tool answers as before, with the revision that the file has; forgotten, nothing waits."""
    store, recall = (
        next(tool for tool in tools if tool.name == name)
        for tools, name in ((STORE_TOOLS, "memory_store"), (RECALL_TOOLS, "memory_recall"))
    )
    with Book.open(book, project="acme/app", agent="one") as agent:
        store.run(agent.context, {"content": OLD, "key": "old", "scope": "global"})
        answer = store.run(agent.context, {"content": NEW, "key": "new"})
        assert answer.data["similar"] and answer.data["revision"] == agent.show("new").revision
        hits = recall.run(agent.context, {"query": QUESTION}).data["hits"]
        assert [hit["key"] for hit in hits] == ["new", "old"]
    assert list_waiting() == [("new", "contradicts", "global/old")]
    with Book.open(book, project="acme/app", agent="one") as agent:
        agent.forget("new")
    assert list_waiting() == []


def test_undo_takes_it_back_with_the_text() -> None:
    """Where the text that contradicts was added to a memory, undo leaves nothing to judge."""
    fine("store", OLD, "--key", "old")
    fine("store", "Ida keeps bees.", "--key", "new")
    fine("store", NEW, "--key", "new")
    assert list_waiting() == [("new", "contradicts", "old")]
    fine("undo", "new")
    assert list_waiting() == []


def test_what_supersedes_is_settled() -> None:
    """Where one of the two then supersedes the other, whichever it is, nothing is left to judge."""
    for key, other in (("new", "old"), ("old", "new")):
        fine("store", OLD, "--key", "old")
        fine("store", NEW, "--key", "new")
        assert list_waiting() == [("new", "contradicts", "old")]
        fine("link", key, "supersedes", other)
        assert list_waiting() == []
        fine("clear", "project", "--yes")


def test_nothing_is_proposed_where_nothing_is_to_judge() -> None:
    """Not where the caller decided, repeats itself, adds a turn of a conversation, or says the same at length."""
    fine("store", OLD, "--key", "old")
    fine("store", NEW, "--key", "decided", "--decision", "create")
    fine("store", OLD, "--key", "old")
    fine("store", NEW.replace("250", "300"), "--key", "turn", "--thread", "talk")
    fine("store", f"{LONG} The limit is 100.", "--key", "minutes")
    fine("store", f"{LONG} The limit is 250.", "--key", "later-minutes")
    assert list_waiting() == []
