"""The protocol's advice, carried out to the letter: what a note or a refusal names works, and leaves one fact."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from commonplace import Book, toolset
from commonplace.model.errors import DecisionNeeded
from commonplace.verbs.toolset import BoundTool
from tests.depth import examples

OLD = "The staging database is on port 5432."
TEXTS = {"same": "The staging DB is on the port 5432!", "contradicts": "The staging database is on port 6000."}
MERGED = "The staging database is on port 5432, as everybody knows."
NUMBERS = itertools.count()


class Desk:
    """One agent's tools on a new book."""

    def __init__(self, root: Path) -> None:
        self.book = Book.open(root, project="acme/app", agent="scout", session="s1", role="agent")
        self.tools: dict[str, BoundTool] = {tool.name: tool for tool in toolset(self.book, "agent")}

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self.tools[name](**arguments).data

    def follow(self, note: str) -> None:
        """Make the calls that a note names, in their order; what it leaves open is filled in."""
        advice = note.partition(" Next: ")[2]
        assert advice, note
        for call in ast.parse(f"[{advice.replace(', then ', ', ')}]", mode="eval").body.elts:  # type: ignore[attr-defined]
            arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
            if arguments.get("content") is ...:
                arguments["content"] = MERGED
            said = self.call(call.func.id, **arguments)
            assert "note" not in said, said

    def facts(self) -> list[str]:
        """The memories about the database that a recall gives as current."""
        hits = self.call("memory_recall", query="staging database port")["hits"]
        return [f"{hit['scope']}/{hit['key']}" for hit in hits if hit.get("status") != "superseded"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("advice")


@pytest.fixture
def desk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "guide")
    made = Desk(folder / str(next(NUMBERS)))
    yield made
    made.book.close()


CASES = st.fixed_dictionaries(
    {
        "relation": st.sampled_from(sorted(TEXTS)),
        "key": st.sampled_from([None, "staging-port", "global/port"]),
        "old_key": st.sampled_from(["staging-port", "global/port", "deep/er"]),
        "scope": st.sampled_from([None, "project", "global", "agent"]),
        "old_scope": st.sampled_from(["project", "global"]),
        "reads": st.booleans(),
    }
)


def make_call(case: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of the store of a case; None where it would go to the old memory itself."""
    if case["key"] == case["old_key"] and case["scope"] in (None, case["old_scope"]):
        return None
    more = {name: case[name] for name in ("key", "scope") if case[name] is not None}
    return {"content": TEXTS[case["relation"]], **more}


@examples(100, quick=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=CASES)
def test_a_note_that_is_followed_leaves_one_fact(folder: Path, desk: Desk, case: dict[str, Any]) -> None:
    """Whatever the keys and scopes: after the calls of the note there is one current fact, and nothing to add."""
    arguments = make_call(case)
    if arguments is None:
        return
    desk = Desk(folder / str(next(NUMBERS)))
    desk.call("memory_store", content=OLD, key=case["old_key"], scope=case["old_scope"])
    if case["reads"]:
        desk.call("memory_recall", query="staging database port")
    stored = desk.call("memory_store", **arguments)
    assert stored["similar"][0]["relation"] == case["relation"]
    desk.follow(stored["note"])
    assert len(desk.facts()) == 1
    desk.book.close()


@examples(100, quick=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=CASES, number=st.integers(0, 2))
def test_every_decision_of_a_refusal_settles_the_same_call(
    folder: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any], number: int
) -> None:
    """The refused call with any of the decisions it names succeeds; all but `create` leave one current fact or text."""
    arguments = make_call(case)
    if arguments is None:
        return
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "strict")
    desk = Desk(folder / str(next(NUMBERS)))
    desk.call("memory_store", content=OLD, key=case["old_key"], scope=case["old_scope"], decision="create")
    with pytest.raises(DecisionNeeded) as caught:
        desk.call("memory_store", **arguments)
    offered = caught.value.message.rpartition("one of: ")[2].rstrip(".").split(", ")
    decision = offered[number].removeprefix("decision=")
    assert "note" not in desk.call("memory_store", **arguments, decision=decision)
    assert len(set(desk.facts())) == (2 if decision == "create" else 1)
    desk.book.close()


def test_a_long_text_is_left_for_the_caller_to_repeat(desk: Desk) -> None:
    """A note repeats a text only if it is short; else it has dots, and the same text does it."""
    long = "The staging database is on port 6000. " + "It was moved after the fire in the second machine room. " * 8
    desk.call("memory_store", content="The staging database is on port 5432. " + long[38:], key="old")
    note = desk.call("memory_store", content=long, key="new")["note"]
    assert 'memory_store(content=..., key="new"' in note and len(note) < 600
    desk.call("memory_store", content=long, key="new", scope="project", decision="supersede:old")
    assert set(desk.facts()) == {"project/new"}


def test_a_read_that_is_advised_is_the_read_that_was_missing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the call that a refusal names, the same write passes."""
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "strict")
    desk = Desk(Path(desk.book.context.root))
    write = {"content": 'Überall gilt: "Strict" isn\'t negotiable, says Maria.\nNever.', "scope": "global"}
    with pytest.raises(DecisionNeeded) as caught:
        desk.call("memory_store", **write)
    call = caught.value.message.partition("Read first, with ")[2].partition(", or repeat")[0]
    desk.follow(f"x Next: {call}")
    assert desk.call("memory_store", **write)["action"] == "created"
