"""connect, disconnect, hosts and status on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calls import fine, run, status


@pytest.fixture
def home(root: Path) -> Path:
    return root.parent / "home"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_host_is_connected_and_disconnected(home: Path) -> None:
    """connect says what it wrote and that hooks of Codex wait for approval; again it changes nothing; then no trace."""
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text('model = "x"')
    before = files(home)
    outcome = run("connect", "codex")
    assert (outcome.status, outcome.err) == (0, "")
    assert "Codex CLI is connected (user level)." in outcome.out
    assert "changed" in outcome.out and str(home / ".codex" / "config.toml") in outcome.out
    assert "/hooks" in outcome.out and "approve" in outcome.out
    assert "is already connected" in run("connect", "codex").out
    assert "is disconnected" in run("disconnect", "codex").out
    assert files(home) == before
    assert fine("disconnect", "codex")["action"] == "unchanged"


def test_print_shows_a_diff_and_makes_no_change(home: Path) -> None:
    """--print shows the lines that would come, and leaves no file, folder or book behind."""
    outcome = run("connect", "cursor", "--print")
    assert outcome.status == 0
    assert "+++ b/.cursor/mcp.json" in outcome.out and "+{" in outcome.out and "nothing was changed" in outcome.out
    assert list(home.iterdir()) == []
    run("connect", "cursor")
    assert "-{" in run("disconnect", "cursor", "--print").out
    assert fine("connect", "cursor", "--print")["diff"] == ""
    assert (home / ".cursor" / "mcp.json").exists()


def test_print_helps_where_connect_refuses(home: Path) -> None:
    """A file that cannot be changed is named, and what a person would add to it is shown."""
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{ broken")
    refused = run("connect", "cursor", "--json")
    assert (refused.status, refused.error()["code"]) == (87, "host_file_unusable")
    outcome = run("connect", "cursor", "--print")
    assert outcome.status == 0
    assert "mcp.json cannot be changed safely" in outcome.out and "mcpServers" in outcome.out
    assert (home / ".cursor" / "mcp.json").read_text() == "{ broken"


def test_a_project_is_the_repository_and_not_the_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--project writes to the root of the repository that one is in, with names instead of paths."""
    here = home.parent / "here"
    (here / ".git").mkdir()
    (here / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(here / "deep" / "er")
    done = fine("connect", "cursor", "--project")
    assert {Path(item["path"]).is_relative_to(here / ".cursor") for item in done["files"]} == {True}
    assert '"command": "commonplace"' in (here / ".cursor" / "mcp.json").read_text()
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["connections.json"]


def test_the_book_that_was_named_is_written_down(root: Path, home: Path) -> None:
    """A host started from elsewhere has another environment: the book that was named goes along."""
    config = home / ".config" / "opencode" / "opencode.json"
    run("connect", "opencode")
    assert json.loads(config.read_text())["mcp"]["commonplace"]["command"][-2:] == ["--root", str(root)]
    run("connect", "opencode", "--root", str(home / "other"))
    assert json.loads(config.read_text())["mcp"]["commonplace"]["command"][-2:] == ["--root", str(home / "other")]


def test_hosts_says_what_is_connected_and_what_does_not_work(home: Path) -> None:
    """A connected host is named; a command that is gone, a file that cannot be read and a missing part are told."""
    fine("connect", "codex")
    fine("connect", "gemini")
    fine("connect", "cursor")
    known = {item["host"]: item for item in fine("hosts")["hosts"]}
    assert (known["codex"]["connected"], known["codex"]["works"]) == (["user"], True)
    assert (known["kiro"]["connected"], known["kiro"]["works"], known["kiro"]["problems"]) == ([], False, [])
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace('command = "', 'command = "/gone'))
    (home / ".cursor" / "mcp.json").write_text("{")
    (home / ".gemini" / "extensions" / "commonplace" / "hooks" / "hooks.json").unlink()
    known = {item["host"]: item for item in fine("hosts")["hosts"]}
    assert [known[name]["works"] for name in ("codex", "cursor", "gemini")] == [False] * 3
    assert "which does not exist" in known["codex"]["problems"][0]
    assert "mcp.json" in known["cursor"]["problems"][0]
    assert known["gemini"]["problems"] == ["Some of our entries are missing or out of date."]
    assert [one["repair"] for one in known["gemini"]["connections"]] == ["commonplace connect gemini"]
    (home / ".kiro" / "settings").mkdir(parents=True)
    (home / ".kiro" / "settings" / "mcp.json").write_text("{")  # of one that never was connected
    shown = run("hosts").out
    assert "which does not exist" in shown and "mcp.json cannot be changed safely" in shown
    rows = {line.split()[0]: line for line in shown.splitlines()}
    assert "cannot be read" in rows["kiro"] and "cannot be read" not in rows["cursor"]


def test_a_host_is_here_only_if_there_is_more_than_ours(home: Path) -> None:
    """Connecting a program that is not on this machine says so, and what we wrote does not make it look installed."""
    assert "is not installed on this machine" in run("connect", "cursor").out
    assert not {item["host"]: item for item in fine("hosts")["hosts"]}["cursor"]["installed"]
    (home / ".cursor" / "theirs").mkdir()
    assert {item["host"]: item for item in fine("hosts")["hosts"]}["cursor"]["installed"]


def test_status_names_the_connected(book: Path) -> None:
    """status has a line for it, and the same in JSON."""
    assert "no agent program" in run("status").out
    fine("connect", "claude-code")
    assert "claude-code" in run("status").out
    assert [item["host"] for item in fine("status")["hosts"]] == ["claude-code"]


def test_anything_else_gets_its_line(home: Path) -> None:
    """agents-md writes the block and prints the command for the MCP settings of whatever it is."""
    outcome = run("connect", "agents-md")
    assert "mcp --agent NAME" in outcome.out
    assert "<!-- commonplace:begin -->" in (home.parent / "here" / "AGENTS.md").read_text()


def test_disconnect_says_what_it_leaves(home: Path) -> None:
    """A file of ours that the user edited stays; connect and disconnect name it on the terminal and in JSON.

    What disconnecting leaves is no connection.
    """
    fine("connect", "kiro")
    rule = home / ".kiro" / "steering" / "commonplace.md"
    rule.write_text(rule.read_text() + "Mine.\n")
    again = fine("connect", "kiro")
    assert again["action"] == "unchanged"
    assert again["notes"][0].startswith(f"{rule} was edited, and stays as it is. ")
    assert status("kiro")["works"]
    sentence = f"{rule} was left in place: it is your own file, or was edited after Commonplace wrote it."
    assert sentence in run("disconnect", "kiro").out
    assert rule.read_text().endswith("Mine.\n")
    assert fine("disconnect", "kiro")["notes"] == [sentence]
    assert status("kiro")["connected"] == []
