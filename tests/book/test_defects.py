"""Defects that memory systems are known for, each shown to be impossible: who sees what, and which key is meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.choices import ScopeChoice
from commonplace.model.errors import (
    AmbiguousKey,
    CommonplaceError,
    InvalidScope,
    NotFound,
    NotPermitted,
)
from tests.book.opened import keys, open_book, texts
from tests.project.repositories import git, mark, needs_git, repository

SECRET_PLAN = "The zebra plan begins on Monday."


def _other(root: Path) -> Book:
    """Somebody else's book: another session, agent and project on the same root."""
    return open_book(root, project="github.com/other/thing", agent="other", session="other")


@pytest.mark.parametrize("scope", ["session", "agent", "project"])
@pytest.mark.parametrize("role", ["person", "agent"])
def test_nobody_is_shown_anothers_scope(root: Path, scope: ScopeChoice, role: str) -> None:
    """No reading verb shows what another session, agent or project stored, with or without a key to ask for."""
    with _other(root) as other:
        other.store(SECRET_PLAN, key="zebra", scope=scope)
        other.store("The zebra plan is settled.", key="zebra", scope=scope, mode="replace")
    with open_book(root, agent="me", session="mine", role=role) as book:
        path = root / book.store("Horses are fine.", key="mine").path.lstrip("/")
        links = f"links: [{{rel: relates_to, to: {scope}/zebra, origin: human, status: active}}]\n"
        path.write_text(path.read_text("utf-8").replace("type: project\n", f"type: project\n{links}"), "utf-8")
        with pytest.raises(NotFound):
            book.link("mine", "relates_to", f"{scope}/zebra")
        assert {hit.key for hit in book.recall("zebra plan").hits} == {"mine"}
        assert "zebra" not in keys(book, limit=100)
        assert [item.key for item in book.list(hidden=True)] == ["mine"]
        assert [hit.key for hit in book.timeline()] == ["mine"]
        assert list(book.timeline(session="other")) == []
        assert list(book.related("mine")) == []
        assert texts(book, "zebra", as_of="2100-01-01") == []
        for verb in (book.show, book.history, book.forget, book.undo, book.restore, book.related):
            with pytest.raises(NotFound):
                verb("zebra")
            with pytest.raises(NotFound):
                verb("zebra", scope)


@pytest.mark.parametrize("scope", ["session", "agent", "project"])
def test_an_agent_may_not_ask_for_everything(root: Path, scope: ScopeChoice) -> None:
    """Asking for everything is refused to an agent, and the review queue is not an agent's at all."""
    with _other(root) as other:
        other.store(SECRET_PLAN, key="zebra", scope=scope)
    with open_book(root, agent="me", session="mine", role="agent") as book:
        asked: list[Callable[[], object]] = [
            lambda: book.recall("zebra", everything=True), lambda: book.list(everything=True), book.review,
        ]  # fmt: skip
        for ask in asked:
            with pytest.raises(NotPermitted):
                ask()
    with open_book(root) as person:
        assert person.recall("zebra", everything=True).hits[0].key == "zebra"


def test_a_path_for_a_key_leads_nowhere(root: Path) -> None:
    """A key that looks like a path, an absolute one included, reaches no other scope's file."""
    with _other(root) as other:
        path = other.store(SECRET_PLAN, key="zebra").path
    folder = path.split("/")[3]
    tries = [
        path, path.removesuffix(".md"), f"../{folder}/zebra", f"../../project/{folder}/zebra", f"./../{folder}/zebra",
        f"..\\{folder}\\zebra", f"{folder}/zebra", f"%2e%2e/{folder}/zebra", "zebra\0", "/", "", "..", ".",
    ]  # fmt: skip
    with open_book(root) as book:
        verbs: list[Callable[[str], object]] = [book.show, book.history, book.forget, book.undo, book.restore]
        verbs += [book.related, lambda key: book.store("x", key=key), lambda key: book.link(key, "relates_to", "x")]
        for key in tries:
            for verb in verbs:
                if key == f"{folder}/zebra" and verb is verbs[6]:
                    continue  # a key like any other, in the caller's own scope
                with pytest.raises(CommonplaceError):
                    verb(key)
    with _other(root) as other:
        assert other.show("zebra").entries[0].text == SECRET_PLAN


@needs_git
def test_every_address_of_a_remote_is_one_project(root: Path, tmp_path: Path) -> None:
    """What a clone over ssh stored, a clone over https finds, with or without .git at the end."""
    addresses = ["git@github.com:acme/app.git", "https://github.com/acme/app", "ssh://git@github.com/acme/app.git/"]
    first = repository(tmp_path / "first")
    for number, address in enumerate([*addresses, "https://user:word@github.com/acme/app.git"]):
        git(tmp_path, "clone", "--quiet", str(first), str(number))
        git(tmp_path / str(number), "remote", "set-url", "origin", address)
        with open_book(root, project=None, cwd=tmp_path / str(number)) as book:
            book.store(f"Clone {number} was here.", key=f"clone-{number}")
            assert len(book.list("project")) == number + 1
    with open_book(root, project="github.com/acme/app") as book:
        assert len(book.recall("clone").hits) == 4


@needs_git
def test_subfolder_and_worktree_are_the_same_project(root: Path, tmp_path: Path) -> None:
    """A subfolder and a worktree of a repository without a remote see what its main tree stored."""
    main = repository(tmp_path / "main")
    (main / "src" / "deep").mkdir(parents=True)
    git(main, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    with open_book(root, project=None, cwd=main) as book:
        book.store("Tests run with pytest.", key="tests")
    for place in (main / "src" / "deep", tmp_path / "tree"):
        with open_book(root, project=None, cwd=place) as book:
            assert keys(book, "pytest") == ["tests"]


@needs_git
def test_a_moved_repository_is_the_same_project(root: Path, tmp_path: Path) -> None:
    """A marked repository keeps its memories when it moves, and one that gets a remote keeps them too."""
    old = repository(tmp_path / "old")
    mark(old)
    with open_book(root, project=None, cwd=old) as book:
        book.store("Tests run with pytest.", key="tests")
    moved = old.rename(tmp_path / "new")
    with open_book(root, project=None, cwd=moved) as book:
        assert keys(book, "pytest") == ["tests"]
    git(moved, "remote", "add", "origin", "https://github.com/acme/moved.git")
    with open_book(root, project=None, cwd=moved) as book:
        assert keys(book, "pytest") == ["tests"]


def test_a_key_in_two_scopes_hides_neither(root: Path) -> None:
    """Show takes the nearest of two memories with one key and says which, recall finds both, a write must choose."""
    with open_book(root, session="s") as book:
        for scope in ("global", "project", "session"):
            book.store(f"Answers are short in {scope}.", key="style", scope=scope)
        assert book.show("style").scope.kind.value == "session"
        assert book.show("style", "global").entries[0].text == "Answers are short in global."
        assert {hit.scope for hit in book.recall("short answers").hits} == {"session", "project", "global"}
        writes: list[Callable[[], object]] = [
            lambda: book.store("Answers are long.", key="style"), lambda: book.forget("style"),
            lambda: book.undo("style"), lambda: book.link("style", "relates_to", "x"),
            lambda: book.store_many([{"content": "x", "key": "style"}]), lambda: book.forget("style", purge=True),
        ]  # fmt: skip
        for write in writes:
            with pytest.raises(AmbiguousKey) as caught:
                write()
            assert all(name in caught.value.message for name in ("session", "project", "global"))
        assert book.store("Answers are long.", key="style", scope="global").action == "appended"


def test_restore_and_purge_find_the_scope_that_has_something_to_bring_back(root: Path) -> None:
    """A key that is forgotten in one scope and alive in another is restored where it was forgotten."""
    with open_book(root) as book:
        book.store("Short, in the project.", key="style", scope="project")
        book.store("Short, everywhere.", key="style", scope="global")
        book.forget("style", "project")
        assert book.restore("style").scope == "project"
        book.forget("style", "project")
        book.forget("style", "global")
        with pytest.raises(AmbiguousKey):
            book.restore("style")
        assert book.restore("style", "global").scope == "global"


def test_a_near_weak_match_does_not_bury_a_far_strong_one(root: Path) -> None:
    """A full match in global comes before a session memory that is newer, nearer, used, and only half a match."""
    with open_book(root, session="s") as book:
        book.store("The staging database listens on port 6000.", key="strong", scope="global")
        book.store("The database diagram is in the wiki.", key="weak", scope="session")
        for _ in range(3):
            book.show("weak", "session")
        assert keys(book, "staging database port")[0] == "strong"


@pytest.mark.parametrize(("role", "scope"), [("worker", "session"), ("coordinator", "project"), ("agent", "team")])
def test_forget_checks_the_rank(root: Path, role: str, scope: ScopeChoice) -> None:
    """No writing verb lets a role change a scope that is above its rank, forget and clear no more than store."""
    with open_book(root, session="s", agent="a") as book:
        if scope != "team":
            book.store("Horses are fine.", key="horses", scope=scope)
    refused = (InvalidScope, NotPermitted)
    with open_book(root, session="s", agent="a", role=role) as book:
        writes: list[Callable[[], object]] = [
            lambda: book.forget("horses", scope), lambda: book.forget("horses", scope, purge=True),
            lambda: book.store("x", key="horses", scope=scope), lambda: book.clear(scope),
            lambda: book.undo("horses", scope), lambda: book.restore("horses", scope),
            lambda: book.link("horses", "relates_to", "x", scope),
            lambda: book.consolidate(["horses", "x"], "y", scope=scope),
            lambda: book.store_many([{"content": "x", "scope": scope}]),
        ]  # fmt: skip
        for write in writes:
            with pytest.raises(refused):
                write()
    with open_book(root, session="s", agent="a") as book:
        assert scope == "team" or book.show("horses").entries[0].text == "Horses are fine."
