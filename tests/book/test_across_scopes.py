"""A memory may supersede one of another scope: by a link, a verdict, a decision, or as one made of several."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import AmbiguousKey, CommonplaceError, NotFound
from commonplace.model.scope import Scope, ScopeKind
from tests.book.opened import open_book

OLD, NEW = "The test runner everywhere is nose.", "Here the test runner is pytest."


def made(book: Book) -> None:
    book.store(OLD, key="old-runner", scope="global")
    book.store(NEW, key="testing-framework")


def is_superseded(book: Book, by: str = "project/testing-framework") -> bool:
    """Whether the global one is marked, sinks, is on no page and in no list, and `undo` makes it stand again."""
    meta = book.show("old-runner", "global").meta
    marked = meta.status == "superseded" and [(link.rel, link.to) for link in meta.links] == [("superseded_by", by)]
    listed = "old-runner" in [item.key for item in book.list()] or "](old-runner.md)" in book.page(
        "/memories/global/index.md"
    )
    if marked:
        found = [hit.key for hit in book.recall("test runner").hits]
        assert found.index(by.split("/")[1]) < found.index("old-runner")
        book.undo("old-runner", "global")
        assert book.show("old-runner", "global").meta.status == "active"
    return marked and not listed


def test_a_persons_link_marks_it(root: Path) -> None:
    """The example of the format: a link `supersedes global/old-runner` marks that memory, and says so once."""
    with open_book(root) as book:
        made(book)
        book.link("testing-framework", "supersedes", "global/old-runner")
        book.link("testing-framework", "supersedes", "global/old-runner")
        assert is_superseded(book)


def test_an_agents_link_marks_it_when_it_is_accepted(root: Path) -> None:
    """A proposed link changes nothing until a reviewer who writes no memories accepts it."""
    with open_book(root) as book, open_book(root, agent="a", role="agent") as agent:
        made(book)
        agent.link("testing-framework", "supersedes", "global/old-runner")
        assert book.show("old-runner").meta.status == "active"
        with open_book(root, agent="c", role="coordinator") as coordinator:
            coordinator.accept("testing-framework", rel="supersedes", to="global/old-runner")
        assert is_superseded(book)


def test_a_decision_marks_it(root: Path) -> None:
    """A store into one scope supersedes a memory of another; where several others have the key, it says so."""
    with open_book(root, session="s", agent="a", role="agent") as book:
        made(book)
        book.store("Tests run with tox.", key="tox", scope="project", decision="supersede:old-runner")
        assert [(link.rel, link.to) for link in book.show("tox").meta.links] == [("supersedes", "global/old-runner")]
        assert is_superseded(book, "project/tox")
        book.store("Here it is nose2.", key="old-runner", scope="session")
        with pytest.raises(AmbiguousKey):
            book.store("Tests run with make.", key="make", scope="project", decision="supersede:old-runner")
        with pytest.raises(NotFound):
            book.store("Tests run with make.", key="make", scope="project", decision="supersede:not-there")
        with pytest.raises(NotFound):
            book.show("make")


def test_consolidating_marks_them(root: Path) -> None:
    """Several of different scopes become one, in the scope of the first."""
    with open_book(root) as book:
        made(book)
        one = book.consolidate(["testing-framework", "old-runner"], "The test runner is pytest.", key="runner")
        assert one.scope == "project" and book.show("testing-framework").meta.status == "superseded"
        assert {link.to for link in book.show("runner").meta.links} == {"testing-framework", "global/old-runner"}
        assert is_superseded(book, "project/runner")


def test_what_is_not_the_callers_is_not_marked(root: Path) -> None:
    """A link into a scope that is another's stands as a link and changes nothing else; one to nothing is refused."""
    with open_book(root, project="github.com/other/thing", session="other") as other:
        made(other)
        other.store("Of a session.", key="note", scope="session")
    with open_book(root, session="mine") as book:
        book.store(NEW, key="testing-framework")
        book.store("Mine.", key="note", scope="session")
        for to in ("session/not-there", "team/x", "agent/x", "global/NOT A KEY", "global/"):
            with pytest.raises(CommonplaceError):
                book.link("testing-framework", "supersedes", to)
        book.link("testing-framework", "supersedes", "session/note", Scope(ScopeKind.PROJECT, "github.com/other/thing"))
        assert book.show("note").meta.status == "active"
        assert book.show("note", Scope(ScopeKind.SESSION, "other")).meta.status == "active"


def test_both_ways_at_once_do_not_block_each_other(root: Path) -> None:
    """Two that supersede across the same scopes in opposite directions take the locks in one order, and both finish."""
    with open_book(root) as first, open_book(root) as second:
        made(first)

        def back() -> None:
            for _ in range(10):
                second.link("old-runner", "supersedes", "project/testing-framework", "global")

        other = threading.Thread(target=back)
        other.start()
        for _ in range(10):
            first.link("testing-framework", "supersedes", "global/old-runner", "project")
        other.join()
        assert first.verify().ok


def test_show_says_where_else_a_key_is(root: Path) -> None:
    """Without a scope the nearest memory is shown, with the caller's other scopes that have its key; with one, and
    where no other has it, or its file is gone, there is nothing to say."""
    with open_book(root, session="s1") as book:
        book.store("Here two spaces.", "indent", "project")
        path = root / book.store("Everywhere tabs.", "indent", "global").path.lstrip("/")
        book.store("In this session none.", "indent", "session")
        book.store("Only here.", "alone")
    with open_book(root) as book:
        shown = book.show("indent")
        assert (shown.scope.kind.value, shown.also_in) == ("project", ("global",))
        assert book.show("indent", "project").also_in == () == book.show("alone").also_in
        path.unlink()
        assert book.show("indent").also_in == ()
    with open_book(root, session="s1", sealed=True, role="agent") as book:
        assert (book.show("indent").scope.kind.value, book.show("indent").also_in) == ("session", ())
