"""The shell and the files as a person and a script meet them: bytes as they are, a prompt, and a terminal unharmed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT

HOSTILE = "\x1b]0;owned\x07 \x1b[2Jgone\n"


def test_one_command_prints_what_it_prints(book: Path) -> None:
    """-c prints the bytes of the file, its messages on standard error, and ends with the command's own status."""
    content = (book / "data" / "prices.csv").read_text("utf-8")
    outcome = run("sh", "-c", "cat /data/prices.csv")
    assert (outcome.status, outcome.out, outcome.err) == (0, content, "")
    missing = run("sh", "-c", "grep tea prices.csv nope", "--cwd", "/data")
    assert (missing.status, missing.out) == (2, "prices.csv:tea,1\n")
    assert missing.err == "grep: nope: No such file or directory\n"
    assert run("sh", "-c", "rm -rf /").status == 127


def test_lines_from_a_pipe_share_a_place(book: Path) -> None:
    """Commands from standard input run one after the other in one place, and the last one's status is the answer."""
    outcome = run("sh", stdin=b"cd data\n\npwd\nls | wc\ncat nope\nexit\npwd\n")
    assert (outcome.status, outcome.out) == (1, "/data\n")
    assert "joins two commands" in outcome.err and "nope" in outcome.err
    assert run("sh", stdin=b"").status == 0


def test_json_is_for_one_command(book: Path) -> None:
    """With --json a command answers one object; a prompt has none, and says so."""
    answer = fine("sh", "-c", "cd data")
    assert list(answer) == ["stdout", "stderr", "exit_code", "cwd", "truncated", "next"] and answer["cwd"] == "/data"
    assert run("sh", "--json").error()["code"] == "usage"


def test_a_person_may_look_at_everything(book: Path) -> None:
    """A person sees their own scopes, and with --all the whole book; never what is private to the book."""
    assert "session" not in run("sh", "-c", "ls /memories").out
    assert "session" in run("sh", "-c", "ls /memories", "--all").out
    assert ".commonplace" not in run("sh", "-c", "ls -aR /", "--all").out
    assert run("sh", "-c", "cat /.commonplace/config.toml", "--all").status == 1


def test_files_in_words(book: Path) -> None:
    """list, read and search print a line for each thing, and on standard error how to go on."""
    listed = run("files", "list", "/data")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["index.md", "prices.csv"]
    assert run("files", "read", "/data/prices.csv").out == "tea,1\n"
    found = run("files", "search", "THURSDAYS", "/memories/global/release-day.md", "--limit", "1")
    assert found.out.startswith(str(book / "memories" / "global" / "release-day.md:")) and "offset=1" in found.err
    assert run("files", "search", "penguins").err == "Nothing found.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is POSIX's")
def test_at_a_prompt(book: Path) -> None:
    """At a terminal there is a prompt that says where one is; Ctrl-C drops the line, Ctrl-D and `exit` end it."""
    from tests.cli.terminal import Terminal

    with Terminal("sh") as terminal:
        terminal.expect("/> ")
        terminal.type("cd data\n")
        terminal.expect("/data> ")
        terminal.type("half a li")
        terminal.expect("half a li")
        # Python sees a Ctrl-C that comes while readline is at work only with the next key: so there is one.
        terminal.type("\x03\n")
        terminal.expect("/data> ")
        terminal.type("cat prices.csv\n")
        terminal.expect("tea,1")
        terminal.type("exit\n")
        status, text = terminal.end()
    assert status == 0 and "Traceback" not in text
    with Terminal("sh") as terminal:
        terminal.expect("/> ")
        terminal.type("\x04")
        assert terminal.end()[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is POSIX's")
def test_nothing_in_a_file_reaches_the_terminal(book: Path) -> None:
    """What a file holds is shown at a terminal with its escapes as text, by the shell and by read and search."""
    from tests.cli.terminal import shown_at

    with Book.open(book, project=PROJECT) as opened:
        opened.data_put("evil.txt", HOSTILE.encode())
    for words in (
        ("sh", "-c", "cat /data/evil.txt"), ("files", "read", "/data/evil.txt"), ("files", "search", "gone", "/data"),
    ):  # fmt: skip
        status, text = shown_at(*words)
        assert status == 0 and "\x1b]" not in text and "\x1b[2J" not in text and "\x07" not in text
        assert "gone" in text
    piped = run("sh", "-c", "cat /data/evil.txt")
    assert piped.out == HOSTILE
