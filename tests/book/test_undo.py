"""Undo brings back the revision before the last change, whatever the change was, and no verdict gets lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.choices import StoreMode
from commonplace.model.errors import Conflict, NotPermitted
from commonplace.model.memory import Meta
from tests.book.opened import keys, open_book, texts, tick


def labels(book: Book, key: str) -> tuple[object, ...]:
    meta: Meta = book.show(key).meta
    return (meta.type, meta.summary, meta.tags, meta.status, meta.links)


def said(book: Book, key: str) -> list[str]:
    return [entry.text for entry in book.show(key).entries]


def links(book: Book, key: str) -> list[tuple[str, str, str]]:
    return [(link.rel, link.to, link.status) for link in book.show(key).meta.links]


def actions(book: Book, key: str) -> list[str]:
    return [item.action for item in book.history(key)]


def test_labels_that_came_with_an_entry_go_with_it(root: Path) -> None:
    """Undo of an append takes back summary, type and tags as well, and undoing that brings all of them again."""
    with open_book(root) as book:
        book.store("One.", key="k", summary="one", tags=["a"])
        before = labels(book, "k")
        book.store("Two.", key="k", summary="two", tags=["b"], type="feedback")
        after = labels(book, "k")
        book.undo("k")
        assert (labels(book, "k"), said(book, "k")) == (before, ["One."])
        book.undo("k")
        assert (labels(book, "k"), said(book, "k")) == (after, ["One.", "Two."])
        assert actions(book, "k") == ["appended", "undone", "undone", "current"] and book.verify().ok


def test_new_labels_alone_are_a_change(root: Path) -> None:
    """Labels given with the text that is there already can be undone, and the history says who gave them."""
    with open_book(root) as book:
        book.store("Same.", key="k", summary="one")
        before = labels(book, "k")
        assert book.store("Same.", key="k", summary="two", type="user").action == "unchanged"
        assert [(item.action, item.author) for item in book.history("k")][:1] == [("relabelled", "human")]
        book.undo("k")
        assert labels(book, "k") == before and said(book, "k") == ["Same."]


def test_a_link_is_a_change_of_its_own(root: Path) -> None:
    """Replace, link, undo takes the link back and nothing else; linking twice is one change."""
    with open_book(root) as book:
        book.store("Other.", key="o")
        book.store("v one", key="k")
        book.store("v two", key="k", mode="replace")
        book.link("k", "relates_to", "o")
        book.link("k", "relates_to", "project/o")
        assert len(links(book, "k")) == 1
        book.undo("k")
        assert links(book, "k") == [("relates_to", "o", "active")]
        book.undo("k")
        book.undo("k")
        assert (links(book, "k"), said(book, "k")) == ([("relates_to", "o", "active")], ["v two"])


def test_the_history_lists_appends(root: Path) -> None:
    """Every entry that was added is in the history, with who and when, between what was put aside before and after."""
    with open_book(root) as book, open_book(root, agent="scout", role="agent") as scout:
        tick(book)
        book.store("One.", key="k")
        book.store("Two.", key="k")
        scout.store("Three.", key="k")
        found = book.history("k")
        assert [(item.action, item.author) for item in found] == [
            ("appended", "human"), ("appended", "scout"), ("current", "scout"),
        ]  # fmt: skip
        assert found[0].time == book.show("k").entries[1].time
        book.store("Four.", key="k", mode="replace")
        book.store("Five.", key="k")
        book.forget("k")
        book.restore("k")
        book.store("Six.", key="k")
        assert actions(book, "k") == [
            "appended", "appended", "replaced", "appended", "forgotten", "restored", "appended", "current",
        ]  # fmt: skip


def test_a_plain_append_puts_nothing_aside(root: Path) -> None:
    """An entry without labels, or with labels that are there already, costs no copy."""
    with open_book(root) as book:
        book.store("One.", key="k", tags=["a"], type="user")
        book.store("Two.", key="k")
        book.store("Three.", key="k", tags=["a"], type="user")
        assert not list((root / ".commonplace" / "history").rglob("*.md"))


def test_an_agent_undoes_no_verdict(root: Path) -> None:
    """A rejected link stays rejected and a person's link stays, whatever an agent undoes; a person takes both back."""
    with open_book(root) as person, open_book(root, agent="scout", role="agent") as agent:
        person.store("Other.", key="o")
        person.store("v one", key="k")
        person.store("v two", key="k", mode="replace")
        agent.link("k", "contradicts", "o")
        person.reject("k", rel="contradicts", to="project/o")
        with pytest.raises(NotPermitted):
            agent.undo("k")
        agent.store("v three", key="k", mode="replace")
        agent.undo("k")
        assert (said(agent, "k"), links(agent, "k")) == (["v two"], [("contradicts", "o", "rejected")])
        for to in ("o", "project/o"):
            assert agent.link("k", "contradicts", to).action == "unchanged"
        assert person.review() == []
        person.link("k", "relates_to", "o")
        with pytest.raises(NotPermitted):
            agent.undo("k")
        person.undo("k")
        assert links(person, "k") == [("contradicts", "o", "rejected")]


def test_an_agents_own_link_can_be_undone(root: Path) -> None:
    """What an agent proposed, and nobody has judged, it takes back itself."""
    with open_book(root, agent="scout", role="agent") as agent:
        agent.store("v one", key="k")
        agent.store("Other.", key="o")
        agent.link("k", "relates_to", "o")
        agent.undo("k")
        assert links(agent, "k") == [] and said(agent, "k") == ["v one"]


def test_a_verdict_on_a_memory_is_a_persons_to_undo(root: Path) -> None:
    """What was accepted waits again after a person's undo, and no agent's undo takes it in or out of the queue."""
    with open_book(root) as person:
        path = root / person.store("From a mail.", key="k").path.lstrip("/")
    text = path.read_text("utf-8").replace("status: active", "status: quarantined")
    path.write_text(text.replace("trust=human", "trust=external"), "utf-8")
    with open_book(root) as person, open_book(root, agent="scout", role="agent") as agent:
        person.accept("k")
        with pytest.raises(NotPermitted):
            agent.undo("k")
        assert keys(agent, "mail") == ["k"] and person.show("k").entries[0].trust == "human"
        person.undo("k")
        assert [item.key for item in person.review()] == ["k"] and person.show("k").entries[0].trust == "external"
        with pytest.raises(NotPermitted):
            agent.undo("k")
        assert keys(agent, "mail") == []


def test_what_was_judged_without_a_history_outlives_an_undo(root: Path) -> None:
    """A verdict that stands in the file alone, by hand or of an earlier version, is carried over by an undo."""
    with open_book(root) as book:
        book.store("v one", key="k")
        path = root / book.store("v two", key="k", mode="replace").path.lstrip("/")
    link = "links: [{rel: contradicts, to: o, origin: agent, status: rejected}]\n"
    path.write_text(path.read_text("utf-8").replace("created:", link + "created:"), "utf-8")
    with open_book(root) as book:
        book.undo("k")
        assert (said(book, "k"), links(book, "k")) == (["v one"], [("contradicts", "o", "rejected")])


@pytest.mark.parametrize("mode", ["append", "replace"])
@pytest.mark.parametrize("role", ["person", "agent"])
def test_undo_of_a_store_that_supersedes_is_one_step(root: Path, role: str, mode: StoreMode) -> None:
    """A store with a decision, to a memory that is there, is one change: its text goes, and what it superseded stands;
    undoing that brings back both, and once more takes both."""
    with open_book(root, agent="a" if role == "agent" else None, role=role) as book:
        book.store("Port 5432.", key="old")
        book.store("Ports are open.", key="new")
        book.store("Port 6000.", key="new", decision="supersede:old", mode=mode)
        after = (said(book, "new"), links(book, "new"), labels(book, "old"))
        for _ in range(2):
            book.undo("new")
            assert (said(book, "new"), links(book, "new")) == (["Ports are open."], [])
            assert labels(book, "old")[3:] == ("active", ())
            book.undo("new")
            assert (said(book, "new"), links(book, "new"), labels(book, "old")) == after
        book.undo("old")
        assert labels(book, "old")[3:] == ("active", ())
    with open_book(root) as book:
        assert book.verify().ok


def test_an_agents_undo_leaves_a_persons_decision(root: Path) -> None:
    """The text that a person stored with a decision may be undone by an agent; what it superseded stays superseded."""
    with open_book(root) as person, open_book(root, agent="a", role="agent") as agent:
        person.store("Port 5432.", key="old")
        person.store("Ports are open.", key="new")
        person.store("Port 6000.", key="new", decision="supersede:old")
        agent.undo("new")
        assert said(agent, "new") == ["Ports are open."] and links(agent, "new") == [("supersedes", "old", "active")]
        assert agent.show("old").meta.status == "superseded"


def test_undo_after_reviving_leaves_it_in_sight(root: Path) -> None:
    """Undo is a use: what an undo brings back from when it had expired is found."""
    with open_book(root, agent="a", role="agent") as book:
        path = root / book.store("The train leaves.", key="k").path.lstrip("/")
    path.write_text(path.read_text("utf-8").replace("status: active", "status: expired"), "utf-8")
    with open_book(root, agent="a", role="agent") as book:
        book.store("On Monday.", key="k")
        book.undo("k")
        assert texts(book, "train") == ["The train leaves."]
        with open_book(root) as person:
            person.store("Fresh.", key="fresh")
            with pytest.raises(Conflict):
                person.undo("fresh")


def test_the_timeline_keeps_what_was_replaced(root: Path) -> None:
    """What a session stored stays on the timeline, marked, after another session replaced, edited or undid it; it is no
    hit of recall; forgotten and purged text goes from both."""
    with open_book(root, session="one") as book:
        tick(book)
        book.store("The heron nests by the weir.", key="heron", scope="global")
        book.store("The otter is shy.", key="otter", scope="global")
    with open_book(root, session="two") as book:
        tick(book, day=2)
        book.store("The heron left.", key="heron", scope="global", mode="replace")
        first = [(hit.text, hit.status) for hit in book.timeline(session="one")]
        assert first == [("The otter is shy.", "active"), ("The heron nests by the weir.", "replaced")]
        everything = [(hit.text, hit.status) for hit in book.timeline()]
        assert everything == [("The heron left.", "active"), *first]
        assert [hit.text for hit in book.recall("").hits] == ["The heron left.", "The otter is shy."]
        book.undo("heron", "global")
        assert [(hit.text, hit.status) for hit in book.timeline()] == [
            ("The heron left.", "replaced"),
            ("The otter is shy.", "active"),
            ("The heron nests by the weir.", "active"),
        ]  # fmt: skip
        book.forget("heron", "global")
        assert [hit.text for hit in book.timeline()] == ["The otter is shy."]
