"""Connections that broke are named with the command that repairs them; what users changed and own is left alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.calls import fine, run, status

posix = pytest.mark.skipif(sys.platform == "win32", reason="scripts and modes of POSIX")


@pytest.fixture
def home(root: Path) -> Path:
    return root.parent / "home"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation in a folder of its own, which the next `connect` finds beside its Python."""
    (folder / "bin").mkdir(parents=True)
    for name, module in (("commonplace", "commonplace"), ("commonplace-hook", "commonplace.hooks.main")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "python"))


@posix
@pytest.mark.parametrize("host", ["claude-code", "codex", "opencode", "cline"])
@pytest.mark.parametrize("broken", ["removed", "its Python removed", "fails"])
def test_a_moved_install_is_named_and_repaired(
    host: str, broken: str, book: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The virtual environment is gone: the list and doctor name it with the command, which repairs the connection."""
    real = sys.executable
    install(tmp_path / "old", monkeypatch)
    before = files(home)
    fine("connect", host)
    [connection] = status(host)["connections"]
    assert connection["works"], connection
    assert connection["command"] == [str(tmp_path / "old" / "bin" / "commonplace")]
    since = connection["since"]
    if broken == "removed":
        shutil.rmtree(tmp_path / "old")
    else:
        text = "#!/no/such/python\n" if broken == "its Python removed" else "#!/bin/sh\nexit 3\n"
        for path in (tmp_path / "old" / "bin").iterdir():
            path.write_text(text)
    monkeypatch.setattr(sys, "executable", real)
    install(tmp_path / "new", monkeypatch)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "new" / "bin" / "python"))
    [connection] = status(host)["connections"]
    assert (connection["works"], connection["repair"]) == (False, f"commonplace connect {host}")
    assert str(tmp_path / "old" / "bin" / "commonplace") in connection["problems"][0]
    assert f"to repair: commonplace connect {host}" in run("connect", "--list").out
    outcome = run("doctor", "--json")
    [finding] = [one for one in outcome.answer()["findings"] if one["code"] == "broken_connection"]
    assert (outcome.status, finding["path"], finding["hint"]) == (
        1,
        connection["path"],
        f"Run `commonplace connect {host}`.",
    )
    assert "old" in finding["message"] and finding["message"].startswith(f"{host} (user): ")
    assert Path(finding["path"]).is_file()
    assert run(*connection["repair"].split()[1:]).status == 0
    [connection] = status(host)["connections"]
    assert connection["works"], connection
    assert connection["command"] == [str(tmp_path / "new" / "bin" / "commonplace")]
    assert connection["since"] == since
    assert not [one for one in run("doctor", "--json").answer()["findings"] if one["code"] == "broken_connection"]
    fine("disconnect", host)
    assert files(home) == before


@posix
def test_the_repair_keeps_the_book_and_the_protocol(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection to another book, with protocol hooks, is repaired as it was by the command that is named."""
    real = sys.executable
    install(tmp_path / "old", monkeypatch)
    monkeypatch.delenv("COMMONPLACE_ROOT")
    fine("connect", "claude-code", "--protocol", "--root", str(tmp_path / "other"))
    shutil.rmtree(tmp_path / "old")
    monkeypatch.setattr(sys, "executable", real)
    install(tmp_path / "new", monkeypatch)
    [connection] = status("claude-code")["connections"]
    assert connection["repair"] == "commonplace connect claude-code --protocol"
    notes = fine(*connection["repair"].split()[1:])["notes"]
    assert f"It uses the book in {tmp_path / 'other'}, as before. To use another one, add --root DIR." in notes
    text = (home / ".claude" / "skills" / "commonplace" / "hooks" / "hooks.json").read_text()
    assert "pre-tool" in text
    assert text.count(str(tmp_path / "other")) == text.count('"--host"')
    assert str(tmp_path / "old") not in text


def test_a_program_that_a_repository_names_is_not_started(home: Path, tmp_path: Path) -> None:
    """A project's files may name any path: the list looks whether it is there, and does not start it."""
    evil = tmp_path / "evil" / "commonplace"
    evil.parent.mkdir()
    evil.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'started'}'\n")
    evil.chmod(0o755)
    config = tmp_path / "here" / ".cursor" / "mcp.json"
    config.parent.mkdir()
    server = {"command": str(evil), "args": ["mcp", "--agent", "cursor"]}
    config.write_text(json.dumps({"mcpServers": {"commonplace": server}}))
    assert status("cursor")["connected"] == ["project"]
    assert not (tmp_path / "started").exists()


@posix
def test_edits_of_our_entries_survive(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout, a comment, an environment and a hook's time that the user set stay, even if the install moves."""
    config, hooks = home / ".codex" / "config.toml", home / ".codex" / "hooks.json"
    config.parent.mkdir()
    config.write_text('model = "x"')
    hooks.write_text('{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}')
    before = files(home)
    fine("connect", "codex")
    config.write_text(
        config.read_text().replace("startup_timeout_sec = 20", "startup_timeout_sec = 99  # slow disk")
        + 'tool_timeout_sec = 7\n[mcp_servers.commonplace.env]\nTZ = "UTC" # mine\n'
    )
    hooks.write_text(hooks.read_text().replace('"timeout": 10', '"timeout": 25', 1))
    edited = files(home)
    assert fine("connect", "codex")["action"] == "unchanged"
    assert files(home) == edited
    install(tmp_path / "new", monkeypatch)
    assert fine("connect", "codex")["action"] == "connected"
    text = config.read_text()
    assert f'command = "{tmp_path / "new" / "bin" / "commonplace"}"' in text
    for kept in ("startup_timeout_sec = 99  # slow disk\n", "tool_timeout_sec = 7\n", 'TZ = "UTC" # mine\n'):
        assert kept in text
    assert hooks.read_text().count('"timeout": 25') == 1
    assert str(tmp_path / "new") in hooks.read_text()
    assert fine("connect", "codex")["action"] == "unchanged"
    fine("disconnect", "codex")
    assert files(home) == before


def test_edits_of_entries_in_json_and_yaml_survive(home: Path) -> None:
    """An environment that the user added to the server of Cursor and of Goose stays at the next connect."""
    goose = home / ".config" / "goose" / "config.yaml"
    goose.parent.mkdir(parents=True)
    goose.write_text("GOOSE_MODE: auto\n")
    before = files(home)
    fine("connect", "cursor", "goose")
    cursor = home / ".cursor" / "mcp.json"
    cursor.write_text(cursor.read_text().replace('"args"', '"env": {"TZ": "UTC"},\n  "args"'))
    goose.write_text(goose.read_text().replace('"timeout": 300', '"timeout": 77'))
    edited = files(home)
    assert [item["action"] for item in fine("connect", "cursor", "goose")["results"]] == ["unchanged"] * 2
    assert files(home) == edited
    fine("connect", "cursor", "goose", "--root", str(home.parent / "other"))
    assert '"env": {"TZ": "UTC"},\n  "args"' in cursor.read_text()
    assert '"timeout": 77' in goose.read_text()
    assert str(home.parent / "other") in cursor.read_text()
    assert str(home.parent / "other") in goose.read_text()
    fine("disconnect", "cursor", "goose")
    assert files(home) == before


def test_an_edited_file_of_ours_is_kept(home: Path) -> None:
    """An environment that the user added to the server of Claude's plugin stays, and connecting does not fail."""
    fine("connect", "claude-code")
    path = home / ".claude" / "skills" / "commonplace" / ".mcp.json"
    path.write_text(path.read_text().replace('"args"', '"env": {"TZ": "UTC"},\n      "args"'))
    edited = files(home)
    assert fine("connect", "claude-code")["action"] == "unchanged"
    assert files(home) == edited
    assert status("claude-code")["works"]
    fine("connect", "claude-code", "--root", str(home.parent / "other"))
    assert '"env": {"TZ": "UTC"}' in path.read_text()
    assert str(home.parent / "other") in path.read_text()


@pytest.mark.parametrize("command", ["connect", "disconnect"])
def test_a_read_only_file_is_refused(command: str, home: Path) -> None:
    """A file that nobody may write is named and left alone, with every other file of the host."""
    hooks = home / ".codex" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text("{}")
    if command == "disconnect":
        fine("connect", "codex")
    hooks.chmod(0o444)
    before = files(home)
    refused = run(command, "codex", "--json")
    assert (refused.status, refused.error()["code"]) == (87, "host_file_unusable")
    assert f"{hooks} is read-only" in refused.error()["message"]
    assert "writable" in refused.error()["hint"]
    assert files(home) == before
    hooks.chmod(0o644)
    fine(command, "codex")


def test_empty_folders_of_the_user_stay(home: Path) -> None:
    """Folders that were there and empty are there after disconnecting; those that connect made are gone."""
    for name in (".codex/skills", ".copilot", ".cursor", ".claude/skills/commonplace"):
        (home / name).mkdir(parents=True)
    before = tree(home)
    hosts = ("codex", "cursor", "claude-code", "copilot", "vscode", "gemini")
    fine("connect", *hosts)
    fine("connect", *hosts)
    for host in hosts:
        fine("disconnect", host)
    assert tree(home) == before


def test_without_notes_every_empty_folder_was_ours(home: Path) -> None:
    """The notes of this machine are lost, or another one connected the project: no trace of us is left all the same."""
    (home / "keep").mkdir()
    before = tree(home)
    fine("connect", "codex", "claude-code")
    for path in home.rglob("connections.json"):
        path.write_text("{ broken")
    assert status("codex")["connections"][0]["since"] is not None
    fine("disconnect", "codex", "claude-code")
    for path in home.rglob("connections.json"):
        path.unlink()
    shutil.rmtree(home / ".local")
    assert tree(home) == before


def test_a_connection_from_before_there_were_notes_keeps_its_date(home: Path) -> None:
    """Connected by an earlier version: the date is that of its files, and connecting again does not make it today."""
    fine("connect", "gemini")
    for path in home.rglob("connections.json"):
        path.unlink()
    for path in (home / ".gemini").rglob("*.json"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert status("gemini")["connections"][0]["since"] == "2023-11-14T22:13:20Z"
    fine("connect", "gemini")
    assert status("gemini")["connections"][0]["since"] == "2023-11-14T22:13:20Z"


def test_a_broken_file_of_a_connected_host_is_a_finding(book: Path, home: Path) -> None:
    """The file of a host that was connected is not TOML any more: doctor and the list name the host, the file and what
    to do, and that file opens; a broken file of a host that never was connected is not doctor's business."""
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{ broken")
    assert fine("doctor")["ok"]
    fine("connect", "codex")
    config = home / ".codex" / "config.toml"
    config.write_text(f"{config.read_text()}[broken\n")
    outcome = run("doctor", "--json")
    [finding] = [one for one in outcome.answer()["findings"] if one["code"] == "broken_connection"]
    assert (outcome.status, finding["path"]) == (1, str(config))
    assert finding["message"].startswith("codex (user): ") and "Run `commonplace connect" not in finding["hint"]
    assert f"{config}\n" in run("doctor").out
    [row] = [line for line in run("connect", "--list").out.splitlines() if line.startswith("codex ")]
    assert "no (see below)" in row


def test_no_command_is_named_that_repairs_nothing(
    book: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's files start `commonplace` by its name and PATH has none: connecting again would change nothing, so
    what is named is the installation, and once it is there the connection works."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    fine("connect", "codex", "--project")
    assert fine("connect", "codex", "--project")["action"] == "unchanged"
    [connection] = status("codex")["connections"]
    assert (connection["works"], connection["repair"]) == (False, "")
    assert "on your PATH" in connection["hint"]
    [finding] = [one for one in run("doctor", "--json").answer()["findings"] if one["code"] == "broken_connection"]
    assert finding["hint"] == connection["hint"]
    assert f"to repair: {connection['hint']}" in run("connect", "--list").out


def test_the_home_folder_is_listed_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the home folder the files of a project are the user's: a connection there is listed once, as the user's."""
    fine("connect", "codex", "gemini", "claude-code")
    monkeypatch.chdir(home)
    for host in ("codex", "gemini", "claude-code"):
        assert [one["scope"] for one in status(host)["connections"]] == ["user"], host


@posix
def test_a_home_that_is_a_link_is_listed_once(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's folder is a link, as where /home is in /var: the folder that a shell is in has the real path."""
    fine("connect", "codex", "claude-code")
    link = tmp_path / "link"
    link.symlink_to(home)
    monkeypatch.setenv("HOME", str(link))
    monkeypatch.chdir(home)
    for host in ("codex", "claude-code"):
        assert [one["scope"] for one in status(host)["connections"]] == ["user"], host


def test_hooks_beside_those_of_cursor_work(home: Path) -> None:
    """Cursor's hooks.json is there without a version, which is then the user's to set: what we add to it works."""
    hooks = home / ".cursor" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text('{"hooks": {}}')
    fine("connect", "cursor")
    assert (status("cursor")["works"], status("cursor")["problems"]) == (True, [])


def test_a_hook_that_the_user_took_out_of_our_file_stays_out(home: Path) -> None:
    """Connecting again keeps a hooks file of ours as the user has it, says what it lacks, and repairs all else."""
    fine("connect", "claude-code")
    hooks = home / ".claude" / "skills" / "commonplace" / "hooks" / "hooks.json"
    value = json.loads(hooks.read_text())
    del value["hooks"]["UserPromptSubmit"]
    hooks.write_text(json.dumps(value))
    fine("connect", "claude-code", "--root", str(home.parent / "other"))
    assert json.loads(hooks.read_text())["hooks"].keys() == value["hooks"].keys()
    assert hooks.read_text().count(str(home.parent / "other")) == len(value["hooks"])
    assert fine("connect", "claude-code")["notes"][0] == (
        f"{hooks} was edited, and no longer starts all that it should. To have ours again, remove it and connect again."
    )
    [left] = fine("disconnect", "claude-code")["notes"]
    assert left.startswith(f"{hooks} was left in place: ") and left.endswith("delete it to stop that.")


def test_doctor_names_the_repair_of_each_connection(book: Path, home: Path) -> None:
    """Several connections that broke have a command each, and doctor prints all of them."""
    hosts = ("codex", "cursor", "gemini")
    fine("connect", *hosts)
    for path in home.rglob("*"):
        if path.is_file() and path.suffix in (".json", ".toml"):
            path.write_text(re.sub(r'"[^"]*bin/commonplace', '"/gone/bin/commonplace', path.read_text()))
    said = run("doctor").out
    for host in hosts:
        assert said.count(f"Run `commonplace connect {host}`.") == 1, said
