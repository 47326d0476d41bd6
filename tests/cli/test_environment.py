"""COMMONPLACE_* say for a whole shell what options say for one call; options count first."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.book import Book
from tests.cli.calls import fine, process, run


def test_root(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMMONPLACE_ROOT names the book, --root another; without either it is ~/.commonplace."""
    fine("store", "x", "--key", "here")
    fine("--root", str(tmp_path / "other"), "store", "y", "--key", "there")
    monkeypatch.delenv("COMMONPLACE_ROOT")
    fine("store", "z", "--key", "home")
    where = {"here": root, "there": tmp_path / "other", "home": tmp_path / "home" / ".commonplace"}
    assert {
        key: [path.stem for path in place.rglob("memories/project/*/[a-z]*e.md")] for key, place in where.items()
    } == {key: [key] for key in where}
    assert fine("status")["root"] == str(where["home"])


def test_project(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMMONPLACE_PROJECT is the project, --project another; without either it is the folder's."""
    for project in ("github.com/acme/app", "github.com/acme/other"):
        monkeypatch.setenv("COMMONPLACE_PROJECT", project)
        assert fine("store", f"Of {project}.", "--key", "one")["scope_id"] == project
        assert [item["scope_id"] for item in fine("list")["memories"]] == [project]
    assert fine("list", "--project", "github.com/acme/app")["memories"][0]["summary"] == "Of github.com/acme/app."
    monkeypatch.delenv("COMMONPLACE_PROJECT")
    assert run("list").status == 1
    mine = fine("store", "Of this folder.", "--key", "one")
    assert mine["scope"] == "project" and mine["scope_id"] not in ("github.com/acme/app", "github.com/acme/other")


def test_agent_and_session(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMMONPLACE_AGENT and _SESSION say who speaks and in which session, as --agent and --session do."""
    assert run("store", "x", "--scope", "session", "--json").error()["code"] == "invalid_scope"
    monkeypatch.setenv("COMMONPLACE_AGENT", "scout")
    monkeypatch.setenv("COMMONPLACE_SESSION", "s1")
    assert fine("store", "x", "--key", "x", "--scope", "agent")["scope_id"] == "scout"
    assert fine("store", "y", "--key", "y", "--scope", "session")["scope_id"] == "s1"
    entry = fine("show", "x")["entries"][0]
    assert (entry["author"], entry["session"]) == ("scout", "s1")
    assert fine("store", "z", "--key", "z", "--scope", "agent", "--agent", "other")["scope_id"] == "other"
    assert {item["key"] for item in fine("list")["memories"]} == {"x", "y"}


def test_state(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMMONPLACE_STATE is where the databases are; status says so, and none is left in the book."""
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    fine("store", "x", "--key", "x")
    status = fine("status")
    for name in ("index_file", "state_file"):
        assert Path(status[name]).is_relative_to(tmp_path / "state") and Path(status[name]).stat().st_size > 0
    assert list(root.rglob("*.db")) == []


def test_sealed(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMMONPLACE_SEALED=1 keeps a caller to its session: no other scope is seen, named or written."""
    monkeypatch.setenv("COMMONPLACE_SEALED", "1")
    monkeypatch.setenv("COMMONPLACE_SESSION", "s2")
    assert run("list").status == 1 and run("list", "--all").status == 1
    assert fine("store", "Mine.", "--key", "mine")["scope"] == "session"
    assert [item["key"] for item in fine("list", "--all")["memories"]] == ["mine"]
    for line in ("show staging-port", "show release-day --scope global", "show note --scope session:s1", "data list"):
        outcome = run(*line.split())
        assert outcome.status != 0 and outcome.out == ""
    assert "The scout was here" not in run("recall", "scout", "--all", "--json").out
    assert run("store", "x", "--scope", "global").status == 13
    for line in ("recall scout", "list", "history note", "related note"):
        outcome = run(*line.split(), "--scope", "session:s1")
        assert (outcome.status, outcome.out) == (13, "")
    assert run("verify").status == run("reindex").status == run("doctor").status != 0


def test_config_says_where_each_value_comes_from(book: Path) -> None:
    """A flag counts before the environment, that before config.toml, that before the default."""
    fine("config", "set", "agent", "from-file")
    fine("config", "set", "project", "from-file")

    def sources(*words: str) -> dict[str, str]:
        return {item["name"]: item["source"] for item in fine("config", *words)["settings"]}

    said = sources("--session", "s9")
    assert (said["session"], said["project"], said["agent"], said["enabled"]) == (
        "flag", "COMMONPLACE_PROJECT", "config.toml", "default",
    )  # fmt: skip
    assert fine("store", "x", "--scope", "agent")["scope_id"] == "from-file"


@pytest.mark.parametrize("source", ["COMMONPLACE_EMBEDDER_KEY", "config.toml"])
def test_a_key_is_said_to_be_set_and_never_shown(source: str, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """config, with and without --json, status and Book.config() say that a key is set and where, not which it is."""
    empty = {item["name"]: item["value"] for item in fine("config")["settings"]}
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "openai:small@https://me:hunter2@embed.example/v1?code=hunter2")
    if source == "config.toml":
        (book / ".commonplace" / "config.toml").write_text('embedder_key = "hunter2"\n')
    else:
        monkeypatch.setenv(source, "hunter2")
    lines = ("config", "config --json", "config get embedder_key", "config set embedder_key hunter2", "status --json")
    texts = [f"{outcome.out}{outcome.err}" for outcome in (run(*line.split()) for line in lines)]
    with Book.open(book) as opened:
        settings = {item.name: item for item in opened.config()}
    assert "hunter2" not in "".join((*texts, repr(settings)))
    said = settings["embedder_key"]
    assert (empty["embedder_key"], said.value, said.source) == ("", "set, not shown", source)
    assert settings["embedder"].value == "openai:small@https://***@embed.example/v1?***"


def test_an_address_is_told_with_its_host(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind an @ in the path of an embedder's address is not taken for the host that texts go to."""
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "openai:small@https://far.example/x@near.example")
    assert fine("status")["leaves_machine"][0].endswith(" to https://far.example/x@near.example")
    assert run("config", "get", "embedder").out == "openai:small@https://far.example/x@near.example\n"


def test_a_wrong_setting_is_told(book: Path) -> None:
    """A value in the environment or the file that cannot be is an error with status 17, in a process of its own."""
    outcome = process("list", "--json", environment={"COMMONPLACE_LOCK_TIMEOUT": "soon"})
    assert (outcome.status, outcome.error()["code"]) == (17, "invalid_settings")
    (book / ".commonplace" / "config.toml").write_text("odd = 1\n")
    outcome = process("list", "--json")
    assert (outcome.status, outcome.error()["code"]) == (17, "invalid_settings")
    assert "odd" in outcome.error()["message"]


def test_switched_off(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMMONPLACE_ENABLED=0: nothing is found, nothing is written, and that is said."""
    monkeypatch.setenv("COMMONPLACE_ENABLED", "0")
    assert (run("list").status, run("recall", "staging").status) == (1, 1)
    for words in (("store", "x"), ("clear", "project", "--yes"), ("clear", "project")):
        assert run(*words, "--json").error()["code"] == "disabled"
    assert fine("status")["enabled"] is False


def test_logs_are_quiet_until_asked_for(book: Path) -> None:
    """Nothing but errors is on standard error, unless COMMONPLACE_LOG names a level; content is never in a log."""
    (book / ".commonplace" / "state.db").write_bytes(b"not a database" * 100)
    assert process("recall", "staging").err == ""
    (book / ".commonplace" / "state.db").write_bytes(b"not a database" * 100)
    said = process("recall", "staging", environment={"COMMONPLACE_LOG": "debug"})
    assert said.status == 0 and "event=" in said.err and "6000" not in said.err and "staging" not in said.err
