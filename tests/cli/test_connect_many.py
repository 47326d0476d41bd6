"""connect without a name, with several, with --all and as a trial; what the list says."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.calls import fine, run


@pytest.fixture
def home(root: Path) -> Path:
    """A home in which Codex CLI and Cursor seem to be installed."""
    home = root.parent / "home"
    for name in (".codex/history.jsonl", ".cursor/argv.json"):
        (home / name).parent.mkdir()
        (home / name).write_text("")
    return home


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_without_a_name_a_script_is_told_what_there_is(home: Path) -> None:
    """Without a terminal, connect names the programs that it found and the command, and changes nothing."""
    before = files(home)
    outcome = run("connect")
    assert outcome.status == 0
    assert "Codex CLI is installed and not connected." in outcome.out
    assert "  commonplace connect codex cursor\n" in outcome.out
    assert [item["host"] for item in fine("connect")["hosts"]] == ["codex", "cursor"]
    assert files(home) == before
    fine("connect", "codex")
    outcome = run("connect")
    assert "Codex CLI is already connected." in outcome.out
    assert "  commonplace connect cursor\n" in outcome.out


def test_without_anything_installed_the_names_are_listed(root: Path) -> None:
    """Nothing is found: connect says so, and which programs it knows."""
    for words in (("connect",), ("connect", "--all")):
        outcome = run(*words)
        assert outcome.status == 0
        assert "No agent program was found" in outcome.out
        assert "claude-code" in outcome.out
    assert fine("connect", "--all") == {"results": [], "errors": []}


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is POSIX's")
def test_at_a_terminal_a_person_is_asked(home: Path) -> None:
    """Each program that was found is asked for, and only those with a yes are connected."""
    from tests.cli.terminal import Terminal

    with Terminal("connect") as terminal:
        for question, answer in (("Connect Codex CLI? [y/N]", "n"), ("Connect Cursor? [y/N]", "y")):
            terminal.expect(question)
            terminal.type(f"{answer}\n")
        status, text = terminal.end()
    assert status == 0
    assert "is connected (user level)" in text
    known = {item["host"]: item["connected"] for item in fine("connect", "--list")["hosts"]}
    assert (known["codex"], known["cursor"]) == ([], ["user"])


@pytest.mark.parametrize(
    ("key", "line"), [("\x04", "Connect Cursor? [y/N]"), ("\x03", "error: Stopped. [interrupted]")]
)
def test_a_question_without_an_answer_ends_its_line(key: str, line: str, home: Path) -> None:
    """At the end of the input, and after Ctrl-C, what comes next stands on a line of its own."""
    from tests.cli.terminal import COLOUR, Terminal

    with Terminal("connect") as terminal:
        terminal.expect("Connect Codex CLI? [y/N]")
        terminal.type(key)
        terminal.expect(line.rpartition(": ")[2])
        if key == "\x04":
            terminal.type("n\n")
        _, text = terminal.end()
    assert any(COLOUR.sub("", row).startswith(line) for row in text.splitlines()), text


def test_all_and_several_names(home: Path) -> None:
    """--all connects what is installed; several names are connected and disconnected in one call, each once."""
    before = files(home)
    done = fine("connect", "--all")
    assert [(item["host"], item["action"]) for item in done["results"]] == [
        ("codex", "connected"),
        ("cursor", "connected"),
    ]
    assert [item["action"] for item in fine("connect", "--all")["results"]] == ["unchanged"] * 2
    fine("disconnect", "cursor", "codex", "cursor")
    assert files(home) == before
    assert [item["host"] for item in fine("connect", "--all", "--project")["results"]] == ["codex", "cursor"]
    assert (home.parent / "here" / ".cursor" / "mcp.json").exists()


def test_one_that_fails_does_not_stop_the_others(home: Path) -> None:
    """A file of one program is broken: the other is connected; the error comes with its code and its status."""
    (home / ".codex" / "hooks.json").write_text("{ broken")
    outcome = run("connect", "codex", "cursor")
    assert outcome.status == 87
    assert "Cursor is connected" in outcome.out
    assert "hooks.json cannot be changed safely" in outcome.out
    assert "[host_file_unusable]" in outcome.out
    outcome = run("connect", "codex", "cursor", "--json")
    assert outcome.status == 87
    answer = outcome.answer()
    assert [item["host"] for item in answer["results"]] == ["cursor"]
    assert [(item["host"], item["code"]) for item in answer["errors"]] == [("codex", "host_file_unusable")]


def test_an_unknown_name_stops_it_before_anything_is_written(home: Path) -> None:
    """One of several names is unknown: nothing is connected."""
    before = files(home)
    refused = run("connect", "cursor", "vim", "--json")
    assert (refused.status, refused.error()["code"]) == (86, "unknown_host")
    assert files(home) == before


@pytest.mark.parametrize("option", ["--dry-run", "--print"])
def test_a_trial_shows_the_diff_of_every_file(option: str, home: Path) -> None:
    """Every file that would be changed has its diff, for each program, and none is; the same for disconnecting."""
    before = files(home)
    outcome = run("connect", "codex", "cursor", option)
    assert outcome.status == 0
    names = (".codex/config.toml", ".codex/hooks.json", ".codex/skills/commonplace/SKILL.md", ".cursor/mcp.json")
    for name in (*names, ".cursor/hooks.json"):
        assert f"--- /dev/null\n+++ b/{name}\n" in outcome.out
    assert "+<!-- commonplace:owned sha256:" in outcome.out
    assert files(home) == before
    fine("connect", "codex")
    connected = files(home)
    outcome = run("disconnect", "codex", option)
    assert all(f"--- a/{name}\n" in outcome.out for name in names[:3])
    assert files(home) == connected


def test_the_list_says_since_when_and_what_is_started(home: Path) -> None:
    """Each level has its time, the installation that its files start, and whether that runs; the text has the same."""
    before = datetime.now().astimezone().replace(microsecond=0)
    fine("connect", "codex")
    fine("connect", "codex", "--project")
    fine("connect", "codex")
    item = next(item for item in fine("connect", "--list")["hosts"] if item["host"] == "codex")
    assert item["connected"] == ["user", "project"]
    user, project = item["connections"]
    assert before <= datetime.fromisoformat(user["since"]) <= datetime.now().astimezone()
    assert user["command"][0].startswith(str(Path(sys.executable).parent))
    assert (user["source"], user["works"], user["repair"]) == ("connect", True, "")
    assert project["command"] == ["commonplace"]
    text = run("connect", "--list").out
    assert user["command"][0] in text
    assert f"{user['since'][:10]} {user['since'][11:16]}Z" in text
    assert run("hosts").out == text


def test_times_of_the_list_have_their_zone_when_piped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Piped, the list has times in UTC with a Z, as every other command; in JSON, too."""
    fine("connect", "codex")
    row = next(line for line in run("connect", "--list").out.splitlines() if line.startswith("codex"))
    [connection] = next(item for item in fine("connect", "--list")["hosts"] if item["host"] == "codex")["connections"]
    since = connection["since"]
    assert since.endswith("Z") and f"{since[:10]} {since[11:16]}Z" in row


def test_what_is_connected_in_part_is_not_called_unconnected(home: Path) -> None:
    """A server that the user added by hand is a connection that lacks the rest: connect and its list say the same."""
    (home / ".codex" / "config.toml").write_text('[mcp_servers.commonplace]\ncommand = "commonplace"\nargs = ["mcp"]\n')
    outcome = run("connect")
    assert "Codex CLI is connected, but some of it is missing or does not work." in outcome.out
    assert "Cursor is installed and not connected." in outcome.out
    assert "  commonplace connect codex cursor\n" in outcome.out
    listed = run("connect", "--list").out
    assert "Some of our entries are missing or out of date." in listed
    assert listed.count("commonplace connect codex") == 1 and "not known" not in listed


def test_a_new_file_is_new_in_the_diff(home: Path) -> None:
    """The diff of a file that is not there yet starts from /dev/null, so that `patch` and `git apply` take it."""
    diff = fine("connect", "codex", "--dry-run")["diff"]
    assert "--- /dev/null\n+++ b/.codex/hooks.json\n" in diff
    fine("connect", "codex")
    diff = fine("disconnect", "codex", "--dry-run")["diff"]
    assert "--- a/.codex/hooks.json\n+++ /dev/null\n" in diff


def test_options_are_checked_before_anything_is_written(home: Path) -> None:
    """An option that one of several programs cannot have stops all; --all gives it to those that can."""
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{}")
    before = files(home)
    for words in (("claude-code", "codex", "--protocol"), ("codex", "agents-md", "--user")):
        assert run("connect", *words).status == 2
        assert files(home) == before
    done = fine("connect", "--all", "--protocol")
    assert [item["action"] for item in done["results"]] == ["connected"] * 3
    hooks = home / ".claude" / "skills" / "commonplace" / "hooks" / "hooks.json"
    assert "pre-tool" in hooks.read_text()


def test_a_diff_cannot_move_the_cursor(home: Path) -> None:
    """What a file of the user has of control characters is shown as an escape."""
    (home / ".cursor" / "mcp.json").write_text("{\n  // \x1b[31mred\n}\n")
    outcome = run("connect", "cursor", "--dry-run")
    assert "\x1b" not in outcome.out
    assert "  // \\u{001b}[31mred\n" in outcome.out


def test_what_two_hosts_share_is_said(home: Path) -> None:
    """Copilot CLI and VS Code read the same hooks: connecting either says so, and connecting both says it once."""
    assert run("connect", "copilot", "vscode").out.count("gets the brief twice") == 1
    assert "gets the brief twice" in run("connect", "vscode").out
