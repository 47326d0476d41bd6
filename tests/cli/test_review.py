"""The review of what conversations taught, at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT
from tests.context.test_transcripts import claude, lines
from tests.hooks.hooking import hook

APP = "github.com/acme/app"


@pytest.fixture
def proposed(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of a decision that was captured in a project."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    monkeypatch.setenv("COMMONPLACE_PROJECT", APP)
    fine("init")
    path = root.parent / "s1.jsonl"
    path.write_bytes(
        lines(claude("1", None, "user", "Go on."), claude("2", "1", "user", "We decided to use SQLite for the index."))
    )
    said = {"session_id": "s1", "cwd": str(root.parent), "transcript_path": str(path)}
    hook(root, "session-end", "claude-code", said, COMMONPLACE_PROJECT=APP)
    (found,) = fine("review", "--capture")["proposed"]
    assert found["scope"] == "project"
    return str(found["key"])


def test_a_key_is_enough_from_any_folder(proposed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accepting needs no scope, not even from another project, and the memory stays in its own."""
    monkeypatch.setenv("COMMONPLACE_PROJECT", "github.com/acme/other")
    assert run("review", "--accept", proposed).out == f"Accepted {proposed}.\n"
    monkeypatch.setenv("COMMONPLACE_PROJECT", APP)
    assert fine("show", proposed, "--scope", "project")["status"] == "active"


def test_reject_by_key(proposed: str) -> None:
    """Rejecting needs no scope either."""
    assert run("review", "--reject", proposed).out == f"Rejected {proposed}.\n"
    assert run("review", "--list").err.strip() == "Nothing waits."


def test_edit_by_key(proposed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--edit opens the text in the editor, and accepts what is saved."""
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'SQLite, with WAL.' > \"$1\"\n", "utf-8")
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    assert run("review", "--edit", proposed, "--into", "global").out == f"Accepted {proposed} into global.\n"
    assert fine("show", proposed, "--scope", "global")["entries"][-1]["text"] == "SQLite, with WAL."


@pytest.mark.parametrize(("setting", "is_told"), [("auto", True), ("nudge", False), ("off", False)])
def test_connect_says_that_capture_is_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, is_told: bool
) -> None:
    """Where conversations are read, connecting says so and how to turn it off; else it says nothing of it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    monkeypatch.setenv("COMMONPLACE_CAPTURE", setting)
    fine("init")
    for host in ("codex", "cline"):
        said = run("connect", host, "--print").out
        assert ("commonplace config set capture off" in said) == (is_told and host == "codex")


def test_a_key_means_the_one_link_that_waits(book: Path) -> None:
    """Where the memory itself does not wait, a verdict on its key is one on its link: the memory stays as it is. Of
    several links one has to be named; what was named is said."""
    for key in ("port", "old-port", "host"):
        fine("store", f"A fact about the {key}.", "--key", key)
    fine("link", "port", "relates_to", "host", "--agent", "scout")
    assert run("review", "--reject", "port").out == "Rejected the link port relates_to host.\n"
    assert fine("show", "port")["status"] == "active"
    fine("link", "port", "supersedes", "old-port", "--agent", "scout")
    assert run("review", "--accept", "port").out == "Accepted the link port supersedes old-port.\n"
    assert fine("show", "old-port")["status"] == "superseded"
    for key in ("host", "old-port"):
        fine("link", "port", "contradicts", key, "--agent", "scout")
    error = run("review", "--reject", "port", "--json").error()
    assert error["code"] == "ambiguous_key" and "contradicts host and contradicts old-port" in error["message"]
    with Book.open(book, project=PROJECT, role="coordinator") as coordinator:
        coordinator.accept("port", rel="contradicts", to="host")
        coordinator.reject("port")
        assert [item.key for item in coordinator.review() if item.key == "port"] == []
        assert coordinator.show("port").meta.status == "active"
