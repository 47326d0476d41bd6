"""Roles, seals and settings: who may do what, and what a book that is switched off answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.model.errors import (
    CommonplaceError,
    Disabled,
    InvalidField,
    InvalidScope,
    InvalidSettings,
    NotFound,
    NotPermitted,
)
from commonplace.model.scope import Scope, ScopeKind
from commonplace.verbs.brief import find_session_folder
from tests.book.opened import keys, open_book


def _config(root: Path, text: str) -> None:
    with open_book(root):
        pass
    (root / ".commonplace" / "config.toml").write_text(text, "utf-8")


def test_a_scope_that_is_not_known_says_what_was_missing(root: Path) -> None:
    """Without a session, agent or project its scope is an error that says how to give one; team wants a server."""
    with open_book(root, project=None) as book:
        for scope in ("session", "agent", "project"):
            verbs: list[Callable[[], object]] = [
                lambda scope=scope: book.store("x", scope=scope),  # type: ignore[misc]
                lambda scope=scope: book.recall("x", scope=scope),  # type: ignore[misc]
                lambda scope=scope: book.list(scope),  # type: ignore[misc]
            ]
            for verb in verbs:
                with pytest.raises(InvalidScope) as caught:
                    verb()
                assert f"COMMONPLACE_{scope.upper()}" in caught.value.hint
        with pytest.raises(InvalidScope):
            book.store("x")
        with pytest.raises(InvalidScope, match="server"):
            book.store("x", scope="team")
        with pytest.raises(InvalidScope):
            book.store("x", scope="planet")  # type: ignore[arg-type]
        assert book.recall("x", scope="team").hits == () and book.list() == []


def test_a_worker_reads_nothing(root: Path) -> None:
    """A worker has no memory: no verb of reading answers it."""
    with open_book(root, session="s", role="worker") as book:
        for verb in (book.recall, book.list, book.timeline, book.data_list, lambda: book.show("x"),
                     lambda: book.history("x"), lambda: book.related("x"), lambda: book.data_get("x"),
                     lambda: book.similar("x"), book.status):  # fmt: skip
            with pytest.raises(NotPermitted):
                verb()
    with pytest.raises(InvalidField):
        open_book(root, role="king")


def test_sealed_is_one_session_and_nothing_else(root: Path) -> None:
    """A sealed book reads and writes its own session; no other scope, no data, no everything."""
    with open_book(root, session="s", agent="a") as book:
        for scope in (ScopeKind.SESSION, ScopeKind.AGENT, ScopeKind.PROJECT, ScopeKind.GLOBAL):
            book.store(f"Meeting of the {scope}.", key=f"m-{scope}", scope=scope)
        book.data_put("x", b"")
    with open_book(root, session="s", agent="a", sealed=True) as book:
        assert keys(book, "meeting") == ["m-session"] and [item.key for item in book.list()] == ["m-session"]
        assert [hit.key for hit in book.recall("meeting", everything=True).hits] == ["m-session"]
        assert [item.key for item in book.list(everything=True)] == ["m-session"]
        assert book.review() == [] and [hit.key for hit in book.timeline()] == ["m-session"]
        assert book.store("More of it.").scope == "session"
        for scope in (ScopeKind.AGENT, ScopeKind.PROJECT, ScopeKind.GLOBAL):
            with pytest.raises(InvalidScope):
                book.store("x", scope=scope)
            with pytest.raises(NotFound):
                book.show(f"m-{scope}")
            with pytest.raises(NotFound):
                book.forget(f"m-{scope}")
        for verb in (book.data_list, lambda: book.data_get("x"), lambda: book.data_put("y", b"")):
            with pytest.raises(CommonplaceError):
                verb()


def test_sealed_sees_no_other_session(root: Path) -> None:
    """Who is sealed in cannot name another's session, in any verb, nor read of it what tells of the whole book."""
    with open_book(root, session="s1") as book:
        book.store("The zebra of session one.", key="zebra", scope="session")
    other = Scope(ScopeKind.SESSION, "s1")
    for session in ("s2", None):
        with open_book(root, session=session, sealed=True) as book:
            named: list[Callable[[], object]] = [
                lambda: book.recall("zebra", scope=other), lambda: book.list(other), lambda: book.show("zebra", other),
                lambda: book.source("zebra", other), lambda: book.history("zebra", other),
                lambda: book.related("zebra", other), lambda: book.store("x", scope=other),
                lambda: book.store_many([{"content": "x", "scope": other}]), lambda: book.undo("zebra", other),
                lambda: book.forget("zebra", other), lambda: book.forget("zebra", other, purge=True),
                lambda: book.restore("zebra", other), lambda: book.clear(other),
                lambda: book.link("zebra", "relates_to", "x", other), lambda: book.accept("zebra", other),
                lambda: book.consolidate(["zebra", "x"], "y", scope=other), lambda: book.import_from(root, scope=other),
            ]  # fmt: skip
            for verb in named:
                with pytest.raises(InvalidScope):
                    verb()
            for verb in (book.verify, book.reindex, book.doctor, book.scan, book.capture):
                with pytest.raises(NotPermitted):
                    verb()
            assert find_session_folder(book.context, "s1") is None
    with open_book(root, session="s1", sealed=True) as book:
        assert [item.key for item in book.list(other)] == ["zebra"]


def test_what_tells_of_the_whole_book_is_a_persons(root: Path) -> None:
    """Names of memories in everybody's scopes are told by `verify` and `reindex`: no agent and no worker may ask."""
    for role in ("agent", "coordinator", "orchestrator", "worker"):
        with open_book(root, session="s", role=role) as book:
            for verb in (book.verify, book.reindex):
                with pytest.raises(NotPermitted):
                    verb()


def test_disabled_writes_fail_and_reads_are_empty(root: Path) -> None:
    """With enabled = false every write says Disabled and every read has nothing; enabled again, all is there."""
    with open_book(root) as book:
        book.store("Meeting.", key="m")
        book.data_put("x", b"data")
    _config(root, "enabled = false\n")
    with open_book(root) as book:
        assert book.recall("meeting").hits == () and book.list() == [] and list(book.timeline()) == []
        assert book.data_list() == [] and book.review() == []
        for read in (lambda: book.show("m"), lambda: book.history("m"), lambda: book.data_get("x")):
            with pytest.raises(NotFound):
                read()
        writes: list[Callable[[], object]] = [
            lambda: book.store("x"), lambda: book.forget("m"), lambda: book.undo("m"), lambda: book.restore("m"),
            lambda: book.clear("project"), lambda: book.consolidate(["m", "n"], "x"), lambda: book.accept("m"),
            lambda: book.link("m", "relates_to", "n"), lambda: book.data_put("y", b""), lambda: book.data_remove("x"),
            lambda: book.store_many([{"content": "x"}]), lambda: book.forget("m", purge=True),
            lambda: book.import_from("x"),
        ]  # fmt: skip
        for write in writes:
            with pytest.raises(Disabled):
                write()
    _config(root, "")
    with open_book(root) as book:
        assert keys(book, "meeting") == ["m"] and book.data_get("x") == b"data"


@pytest.mark.parametrize(
    "text", ["enabeld = false\n", "[section]\nx = 1\n", "enabled = 'maybe'\n", "= nonsense", "\xff"]
)
def test_a_wrong_setting_is_an_error(root: Path, text: str) -> None:
    """An unknown name, a value that cannot be and a file that is no TOML are errors, never a silent default."""
    with open_book(root):
        pass
    (root / ".commonplace" / "config.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidSettings):
        open_book(root)
