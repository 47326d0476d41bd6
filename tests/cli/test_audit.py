"""The audit from the command line: verbs, connect and disconnect, status, and what a view shows of it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.calls import fine, run
from tests.guard.audit_lines import audit_folder, lines, verbs


def test_commands_leave_their_lines(root: Path, tmp_path: Path) -> None:
    """Stored, asked, refused, imported, forgotten: a line each, in order, by a person or an agent."""
    (tmp_path / "AGENTS.md").write_text("# Rules\n\n- Releases are on Thursdays.\n", "utf-8")
    fine("store", "Tests run with pytest.", "--key", "runner", "--agent", "scout", "--session", "s1")
    fine("recall", "which runner", "--mode", "lexical")
    assert run("forget", "nothing").status == 1
    fine("import", str(tmp_path / "AGENTS.md"))
    fine("show", "runner")
    fine("sh", "-c", "grep -r pytest /memories")
    fine("forget", "runner")
    assert verbs(root) == [
        ("store", "ok"), ("recall", "ok"), ("forget", "not_found"), ("import", "ok"), ("shell", "ok"), ("forget", "ok"),
    ]  # fmt: skip
    found = lines(root)
    assert [line["role"] for line in found] == ["agent", *["person"] * 5]
    assert {line["surface"] for line in found} == {"cli"}
    assert (found[0]["agent"], found[0]["session"]) == ("scout", "s1") and "agent" not in found[1]
    said = "".join(path.read_text("ascii") for path in audit_folder(root).iterdir())
    assert not any(word in said for word in ("pytest", "which", "Thursdays", str(tmp_path), "AGENTS"))


def test_connecting_is_in_it(root: Path) -> None:
    """connect and disconnect leave a line with the host and how many files changed; --print none; no file is named."""
    home = root.parent / "home"
    fine("connect", "cursor", "--print")
    assert not root.exists()
    fine("connect", "cursor")
    fine("connect", "cursor")
    fine("disconnect", "cursor")
    (home / ".cursor").mkdir(exist_ok=True)
    (home / ".cursor" / "mcp.json").write_text("{ broken")
    assert run("connect", "cursor").status == 87
    found = lines(root)
    assert [(line["verb"], line["outcome"], line.get("action")) for line in found] == [
        ("connect", "ok", "connected"),
        ("connect", "ok", "unchanged"),
        ("disconnect", "ok", "disconnected"),
        ("connect", "host_file_unusable", None),
    ]
    assert {(line["host"], line["surface"]) for line in found} == {("cursor", "cli")}
    assert found[0]["files"] > 0 and found[1]["files"] == 0
    said = "".join(path.read_text("ascii") for path in audit_folder(root).iterdir())
    assert str(home) not in said and ".cursor" not in said
    assert stat.S_IMODE(audit_folder(root).stat().st_mode) == 0o700 and stat.S_IMODE(root.stat().st_mode) == 0o700
    fine("store", "A book begins here as anywhere.", "--key", "first")
    assert fine("verify")["ok"] and fine("doctor")["ok"]


@pytest.mark.parametrize("how", ["disabled", "a file as the root"])
def test_connecting_needs_no_audit(root: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Where memory is switched off, or the book's folder cannot be one, a host is connected all the same."""
    if how == "disabled":
        monkeypatch.setenv("COMMONPLACE_ENABLED", "false")
    else:
        root.write_text("a file")
    assert fine("connect", "cursor")["action"] == "connected"
    assert root.is_file() or not root.exists()


def test_status_and_config_know_it(root: Path) -> None:
    """status says where the audit is, config how long it is kept, and doctor finds nothing wrong with it."""
    fine("store", "Anything.", "--key", "anything")
    assert fine("status")["audit_folder"] == str(audit_folder(root))
    assert str(audit_folder(root)) in run("status").out
    settings = {item["name"]: item["value"] for item in fine("config")["settings"]}
    assert settings["audit_days"] == "90"
    assert fine("doctor")["findings"] == []
