"""The one queue of what waits for a verdict: who may judge, and what a verdict does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import InvalidField, NotFound, NotPermitted, SecretFound
from commonplace.model.scope import Scope, ScopeKind
from tests.book.opened import keys, open_book, texts, tick


def proposed(root: Path, *names: str) -> None:
    """Memories of the project that wait for a verdict."""
    with open_book(root) as book:
        paths = [root / book.store(f"Lesson {name}.", key=name).path.lstrip("/") for name in names]
    for path in paths:
        path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")


def waiting(book: Book) -> list[tuple[str, str, str | None, str | None]]:
    return [(item.kind, item.key, item.rel, item.to) for item in book.review()]


def test_a_coordinator_judges_and_writes_nothing_else(root: Path) -> None:
    """A coordinator accepts, edits and rejects what was proposed in its scopes, and may store nothing."""
    proposed(root, "one", "two", "three")
    with open_book(root, role="coordinator") as book:
        book.accept("one")
        book.accept("two", content="Lesson two, corrected.")
        book.reject("three")
        assert book.review() == [] and sorted(keys(book, "lesson")) == ["one", "two"]
        assert [entry.text for entry in book.show("two").entries] == ["Lesson two, corrected."]
        with pytest.raises(NotPermitted):
            book.store("Something.", key="new")
    with open_book(root) as person:
        assert [item.action for item in person.history("two")] == ["replaced", "current"]
        assert person.restore("three").action == "restored"


def test_what_was_rejected_was_never_said(root: Path) -> None:
    """What a verdict took away, all of it or for a better text, is found as of no time, nor after the index is built
    anew; what was accepted is, and so is an accepted text that another replaced."""
    proposed(root, "one", "two", "three")
    with open_book(root) as book:
        tick(book, year=2030)
        book.store("Lesson four.", key="four")
        book.reject("one")
        book.accept("two", content="Lesson two, corrected.")
        book.store("Lesson two, once more.", key="two", mode="replace")
        book.accept("three")
        book.store("Lesson four, replaced.", key="four", mode="replace")
        assert book.verify().ok
    times = ["2029-12-31", *(f"2030-01-01T{hour:02d}:30:00Z" for hour in range(24)), "2100-01-01"]
    for anew in (False, True):
        if anew:
            (root / ".commonplace" / "index.db").unlink()
        with open_book(root, agent="scout", role="agent") as book:
            assert {text for time in times for text in texts(book, as_of=time)} == {
                "Lesson two, corrected.", "Lesson two, once more.", "Lesson three.", "Lesson four.",
                "Lesson four, replaced.",
            }  # fmt: skip


def test_a_proposed_link_waits_like_a_memory(root: Path) -> None:
    """An agent's link is in the queue until somebody accepts or rejects it, and is never proposed again after that."""
    with open_book(root) as person:
        for key in ("one", "two", "three"):
            person.store(f"Memory {key}.", key=key)
    with open_book(root, agent="a", role="agent") as agent:
        agent.link("one", "relates_to", "two", "project")
        agent.link("one", "contradicts", "three", "project")
    with open_book(root) as person:
        assert waiting(person) == [("link", "one", "relates_to", "two"), ("link", "one", "contradicts", "three")]
        person.accept("one", rel="relates_to", to="two")
        person.reject("one", rel="contradicts", to="three")
        assert waiting(person) == []
        assert [item.key for item in person.related("one")] == ["two"]
    with open_book(root, agent="a", role="agent") as agent:
        assert agent.link("one", "contradicts", "three", "project").action == "unchanged"
    with open_book(root) as person:
        person.reindex()
        assert waiting(person) == [] and person.verify().ok
        with pytest.raises(NotFound):
            person.accept("one", rel="supersedes", to="nothing")
        with pytest.raises(InvalidField):
            person.accept("one", rel="relates_to")


@pytest.mark.parametrize("status", ["proposed", "quarantined"])
def test_only_a_reviewer_takes_something_out_of_the_queue(root: Path, status: str) -> None:
    """An agent cannot supersede what waits, nor edit, undo or consolidate it, nor add what nobody would find there."""
    with open_book(root) as person:
        path = root / person.store("Walrus of before.", key="mail").path.lstrip("/")
        person.store("Walrus mail, obey.", key="mail", mode="replace")
        person.store("Walrus of ours.", key="ours")
    text = (
        path.read_text("utf-8").replace("status: active", f"status: {status}").replace("trust=human", "trust=external")
    )
    path.write_text(text, "utf-8")
    with open_book(root, agent="a", role="agent") as agent:
        refusals: list[Callable[[], object]] = [
            lambda: agent.store("Walrus, new.", decision="supersede:mail"),
            lambda: agent.consolidate(["mail", "ours"], "Walrus of both."),
            lambda: agent.consolidate(["ours", "mail"], "Walrus of both."),
            lambda: agent.edit("mail", text.replace(status, "active").encode()),
            lambda: agent.undo("mail"),
            lambda: agent.store("Walrus again.", key="mail", mode="replace"),
            lambda: agent.store("Walrus more.", decision="update:mail"),
        ]
        for refused in refusals:
            with pytest.raises(NotPermitted):
                refused()
        assert keys(agent, "walrus") == ["ours"]  # nothing was written by halves
        assert agent.show("mail").meta.status == status
    with open_book(root) as person:
        assert waiting(person) == [("memory", "mail", None, None)]
        person.store("Walrus, judged.", decision="supersede:mail")
        assert waiting(person) == []


def test_an_accepted_supersedes_marks_the_old_one(root: Path) -> None:
    """Once a link says that one memory supersedes another, the other sinks, says by what, and can be undone."""
    with open_book(root) as person:
        person.store("Port 5432 is for staging.", key="old")
        person.store("Staging moved to another port.", key="new")
    with open_book(root, agent="a", role="agent") as agent:
        agent.link("new", "supersedes", "project/old", "project")
        assert [item.key for item in agent.list()] == ["new", "old"]
    with open_book(root) as person:
        person.accept("new", rel="supersedes", to="project/old")
        assert [item.key for item in person.list()] == ["new"]
        assert ("superseded_by", "new") in [(link.rel, link.to) for link in person.show("old").meta.links]
        person.undo("old")
        assert [item.key for item in person.list()] == ["new", "old"]


def test_an_edit_goes_through_the_secret_gate(root: Path) -> None:
    """A secret typed while reviewing is refused, and the memory still waits."""
    proposed(root, "one")
    with open_book(root) as person:
        with pytest.raises(SecretFound):
            person.accept("one", content="The token is ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo")
        assert waiting(person) == [("memory", "one", None, None)]


def test_a_person_judges_in_any_scope_by_its_id(root: Path) -> None:
    """What waits in somebody else's scope is named with its id, and that name reaches it; an agent may not use one."""
    with open_book(root, session="s1", agent="scout") as other:
        path = root / other.store("A lesson of the scout.", key="lesson", scope="agent").path.lstrip("/")
    path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    with open_book(root) as person:
        (item,) = person.review()
        place = Scope(item.scope, item.scope_id)
        assert str(place) == "agent:scout"
        assert person.show(item.key, place).entries[0].text == "A lesson of the scout."
        person.accept(item.key, place)
        assert person.review() == [] and "lesson" not in keys(person, "scout")
    with open_book(root, agent="spy", role="agent") as spy, pytest.raises(NotPermitted):
        spy.show("lesson", Scope(ScopeKind.AGENT, "scout"))
