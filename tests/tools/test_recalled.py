"""What recall tells an agent beside the texts: which hits are weak, and which later memory may contradict one."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book, toolset
from commonplace.verbs.tool import Answer

QUESTION = "where is the launch party"
ROOF, CANTEEN = "The launch party is on the roof terrace.", "The launch party is in the canteen."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a book with the answer to the question, and something else."""
    with Book.open(tmp_path / "book", project="acme/app") as person:
        person.store(ROOF, "roof", occurred="2026-01-01")
        person.store("Lunch is at noon.", "lunch", occurred="2026-01-01")
    return tmp_path / "book"


def ask(root: Path, tool: str = "memory_recall", agent: str = "scout", **arguments: object) -> Answer:
    """Call a tool as some agent."""
    with Book.open(root, project="acme/app", role="agent", agent=agent) as book:
        tools = {item.name: item for item in toolset(book, extra=["pair"])}
        return tools[tool](**arguments)


def test_weaker_matches_stand_apart(root: Path) -> None:
    """The text has the strong hits, a heading, then the weak ones; the data marks each; `strong` leaves them out."""
    answer = ask(root, query=QUESTION)
    strong, weak = answer.text.split("Weaker matches, perhaps about something else:")
    assert ROOF in strong and "Lunch" not in strong and "Lunch is at noon." in weak
    assert [(hit["key"], hit["strong"]) for hit in answer.data["hits"]] == [("roof", True), ("lunch", False)]
    alone = ask(root, query=QUESTION, strong=True)
    assert [hit["key"] for hit in alone.data["hits"]] == ["roof"] and alone.data["total"] == 1
    assert "Weaker" not in alone.text
    pair = ask(root, "search", query=QUESTION).data["results"]
    assert [(item["id"], item["strong"]) for item in pair] == [("project/roof", True), ("project/lunch", False)]


def test_nothing_found_says_why(root: Path) -> None:
    """An agent reads whether the book is empty, the filters left nothing, or only weak matches are there."""
    assert ask(root, query="penguins", strong=True).text.startswith("No strong match.")
    assert ask(root, query="penguins", tags=["nowhere"]).text == "Nothing found that passes the filters."
    assert ask(root, query="penguins", scope="global").text == "Nothing is stored here yet."


def test_only_strong_matches_count_as_used(root: Path) -> None:
    """What came along as a weak match was not used by that: of two equals the later is first, unless one is used."""
    ask(root, query=QUESTION)
    with Book.open(root, project="acme/app") as person:
        assert [hit.key for hit in person.recall(sort="usage").hits] == ["roof", "lunch"]


def test_a_later_memory_is_named_to_who_may_see_it(root: Path) -> None:
    """A later memory that says otherwise is named beside the older one, on its fence; another agent's own is not."""
    ask(root, "memory_store", content=CANTEEN, key="canteen", scope="agent", decision="create")

    def fence_of(agent: str) -> str:
        (line,) = (line for line in ask(root, agent=agent, query=QUESTION).text.splitlines() if "project/roof" in line)
        return line

    assert f"may say otherwise: {CANTEEN}" in fence_of("scout") and "agent/canteen of 20" in fence_of("scout")
    assert "later=" not in fence_of("other")
    with Book.open(root, project="acme/app") as person:
        assert [hit.later for hit in person.recall(QUESTION).hits] == [None, None]
        there = {hit.key: hit.later for hit in person.recall(QUESTION, everything=True).hits}
        assert there["roof"] is not None and person.show(there["roof"].ref).entries[0].text == CANTEEN


def test_a_later_memory_that_says_the_same_is_not_named(root: Path) -> None:
    """A copy contradicts nothing."""
    with Book.open(root, project="acme/app") as person:
        person.store(ROOF, "copy", decision="create")
        assert {hit.key: hit.later for hit in person.recall(QUESTION).hits}["roof"] is None


def test_memory_that_is_off_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is switched off, a question is answered with that."""
    monkeypatch.setenv("COMMONPLACE_ENABLED", "false")
    with Book.open(root, project="acme/app") as person:
        assert person.recall(QUESTION).reason == "Memory is switched off here."
