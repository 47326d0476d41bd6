"""Pinning: a person pins and unpins, an agent proposes it, and the verdict is in the note."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import InvalidField, NotFound, NotPermitted
from commonplace.verbs.toolset import toolset
from tests.book.opened import open_book

RULE = "Never push to main without asking."


def note(root: Path, key: str = "rule") -> str:
    (path,) = root.glob(f"memories/**/{key}.md")
    return path.read_text("utf-8")


def waiting(book: Book) -> list[tuple[str, str]]:
    return [(item.kind, item.key) for item in book.review()]


def propose(root: Path, content: str = RULE, key: str = "rule") -> str:
    """An agent stores a memory that it wants pinned; return what it is told."""
    with open_book(root, agent="scout", role="agent") as agent:
        return agent.store(content, key, pinned=True).notice


def test_a_person_pins_and_unpins(root: Path) -> None:
    """Pin and unpin change one field of the note, once, with a history that undo takes back, in the scope named."""
    with open_book(root) as book:
        book.store(RULE, "rule", "global")
        before = note(root)
        assert book.pin("rule", "global").action == "pinned" and book.pin("rule").action == "unchanged"
        assert "\npinned: true\n" in note(root) and book.list()[0].pinned
        assert book.unpin("rule").action == "unpinned" and book.unpin("rule").action == "unchanged"
        assert "pinned" not in note(root) and not book.list()[0].pinned
        assert [item.action for item in book.history("rule")] == ["pinned", "unpinned", "current"]
        book.undo("rule")
        assert book.show("rule").meta.pinned and book.verify().ok
        book.unpin("rule")
        kept = [line for line in note(root).splitlines() if not line.startswith("updated")]
        assert kept == [line for line in before.splitlines() if not line.startswith("updated")]
        with pytest.raises(NotFound):
            book.pin("not-there")


def test_a_person_stores_and_pins_at_once(root: Path) -> None:
    """A person's store with `pinned` pins a new memory, and one that says this already; nothing waits for review."""
    with open_book(root) as book:
        book.store(RULE, "rule", pinned=True)
        book.store("Tests run with pytest.", "tests")
        book.store("Tests run with pytest.", "tests", pinned=True)
        book.store_many([{"content": "Reply in English.", "key": "language", "pinned": True}])
        assert {item.key: item.pinned for item in book.list()} == {"rule": True, "tests": True, "language": True}
        assert book.review() == []


def test_an_agent_proposes_and_a_person_accepts(root: Path) -> None:
    """An agent's pin waits in the queue, also after the index is built anew, and pins once a person accepts it."""
    assert "once a person accepts" in propose(root)
    assert "pin: proposed" in note(root) and "pinned" not in note(root)
    (root / ".commonplace" / "index.db").unlink()
    with open_book(root) as person:
        assert waiting(person) == [("pin", "rule")] and person.status().waiting == 1
        assert not person.show("rule").meta.pinned and person.show("rule").meta.status == "active"
        assert person.accept("rule").action == "pinned"
        assert waiting(person) == [] and person.show("rule").meta.pinned and "pin: " not in note(root)
        assert [item.action for item in person.history("rule")][-2:] == ["judged", "current"]
        with pytest.raises(NotFound):
            person.accept("rule", pin=True)
        assert person.verify().ok


def test_what_a_person_rejects_is_not_proposed_again(root: Path) -> None:
    """Rejecting a pin leaves the memory as it is, also a second time, and the agent cannot propose it again."""
    propose(root)
    with open_book(root) as person:
        assert person.reject("rule").action == "unpinned"
        assert waiting(person) == [] and person.show("rule").newest is not None
        with pytest.raises(NotFound):
            person.reject("rule", pin=True)
    assert propose(root, "Never force-push.") == ""
    with open_book(root) as person:
        assert waiting(person) == [] and "pin: rejected" in note(root)
        assert person.pin("rule").action == "pinned" and "pin: " not in note(root)


def test_unpin_rejects_what_waits(root: Path) -> None:
    """A person who unpins what an agent wants pinned has decided: the proposal is gone from the queue."""
    propose(root)
    with open_book(root) as person:
        assert person.unpin("rule").action == "unpinned" and waiting(person) == []
        assert "pin: rejected" in note(root) and person.unpin("rule").action == "unchanged"


def test_a_verdict_on_the_memory_is_not_one_on_its_pin(root: Path) -> None:
    """Where a memory waits itself, the verdict is on the memory; `pin` names the other one, and takes nothing else."""
    propose(root)
    (path,) = root.glob("memories/**/rule.md")
    path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    with open_book(root) as person:
        assert waiting(person) == [("memory", "rule"), ("pin", "rule")]
        person.accept("rule")
        assert waiting(person) == [("pin", "rule")] and not person.show("rule").meta.pinned
        with pytest.raises(InvalidField):
            person.accept("rule", pin=True, content="Another text.")
        person.accept("rule", pin=True)
        assert waiting(person) == [] and person.show("rule").meta.pinned


def test_a_coordinator_does_not_pin(root: Path) -> None:
    """A coordinator, who judges what agents propose, neither sees a pin in the queue nor judges it."""
    propose(root)
    before = note(root)
    with open_book(root, role="coordinator") as book:
        assert waiting(book) == []
        for judge in (book.accept, book.reject):
            for pin in (True, False):
                with pytest.raises(NotPermitted):
                    judge("rule", pin=pin)
    assert note(root) == before


@pytest.mark.parametrize("role", ["agent", "person"])
def test_no_way_of_an_agent_pins(root: Path, tmp_path: Path, role: str) -> None:
    """An agent, also one that a person's process names, gets nothing pinned: by no verb, no import and no undo of what
    a person decided."""
    with open_book(root) as person:
        for key in ("one", "two"):
            person.store(f"Memory {key} of a walrus.", key)
        person.pin("two")
        pinned = note(root, "two").encode()
        person.unpin("two")
    other = tmp_path / "notes" / "three.md"
    other.parent.mkdir()
    other.write_text("---\npinned: true\npin: proposed\n---\nA third memory.\n", "utf-8")
    with open_book(root, agent="scout", role=role) as agent:
        if role == "agent":
            agent.import_from(other.parent, "scaffold")
            with pytest.raises(NotPermitted):
                agent.edit("two", pinned)
        ways: list[Callable[[], object]] = [
            lambda: agent.pin("two"), lambda: agent.unpin("two"), lambda: agent.undo("two"),
        ]  # fmt: skip
        for way in ways if role == "agent" else ways[:2]:
            with pytest.raises(NotPermitted):
                way()
        agent.store("Another one.", "one", pinned=True)
        agent.store_many([{"content": "A fourth memory.", "key": "four", "pinned": True}])
        agent.consolidate(["one", "two"], "Memory of both.", "both")
        agent.store("New.", decision="supersede:both", pinned=True)
        agent.forget("four")
        agent.restore("four")
        assert not [item.key for item in agent.list(hidden=True) if item.pinned]


def test_an_agents_store_leaves_a_pin(root: Path) -> None:
    """What a person pinned stays pinned, and proposes nothing, whatever an agent stores to it and undoes."""
    with open_book(root) as person:
        person.store(RULE, "rule", pinned=True)
    for mode in ("append", "replace"):
        with open_book(root, agent="scout", role="agent") as agent:
            agent.store(f"Never force-push: {mode}.", "rule", mode=mode, pinned=True)
            agent.store(f"Never rebase: {mode}.", "rule", mode=mode)
            agent.undo("rule")
        with open_book(root) as person:
            assert person.show("rule").meta.pinned and waiting(person) == []


def test_the_tool_proposes(root: Path) -> None:
    """memory_store takes `pinned`, tells the model that a person decides, and pins nothing."""
    with open_book(root, agent="scout", role="agent") as agent:
        bound = {tool.name: tool for tool in toolset(agent)}
        answer = bound["memory_store"](content=RULE, key="rule", pinned=True)
        assert "once a person accepts" in answer.text
        assert not agent.show("rule").meta.pinned
    with open_book(root) as person:
        assert waiting(person) == [("pin", "rule")]
