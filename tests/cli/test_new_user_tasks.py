"""Tasks of a new user, written before the work: each is done with what `--help` says, in at most three commands."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from commonplace.cli.run import SUMMARIES
from tests.cli.calls import run
from tests.cli.new_user import COMMANDS, TRANSCRIPTS, run_tasks, tasks

posix = pytest.mark.skipif(sys.platform == "win32" or shutil.which("git") is None, reason="needs bash and git")


@posix
def test_the_transcripts_are_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Done for real in a scratch home, the tasks print what the transcripts show, but for times and revisions.

    `python -m tests.cli.new_user` writes them anew.
    """
    for name in ("COMMONPLACE_PROJECT", "COMMONPLACE_ROOT"):
        monkeypatch.delenv(name)
    (tmp_path / "user").mkdir()
    assert run_tasks((tmp_path / "user").resolve()) == TRANSCRIPTS.read_text("utf-8")


@pytest.mark.parametrize("number", range(25))
def test_the_help_is_enough(number: int) -> None:
    """A task takes at most three commands; the overview has each, and its own help has each option that is used."""
    folder, commands = COMMANDS[number]
    assert folder in ("app", "web") and len(commands) <= 3 and len(tasks()) == len(COMMANDS)
    for command in commands:
        program, *words = shlex.split(command)
        if program != "commonplace":
            continue
        assert words[0] in SUMMARIES
        subcommands = [word for word in words[1:2] if words[0] in ("config", "project")]
        text = run(words[0], *subcommands, "--help").out
        for option in re.findall(r"(?<= )--[a-z-]+", command):
            assert f"{option} " in text or f"{option}\n" in text or f"{option}]" in text, option
        for word in subcommands:
            assert re.search(rf"^  {word} ", run(words[0], "--help").out, re.M), word


def test_no_task_fails() -> None:
    """No command of the transcripts ends with an error or with nothing found."""
    text = TRANSCRIPTS.read_text("utf-8")
    assert re.findall(r"^\d+\. (.*)$", text, re.M) == tasks()
    assert "error:" not in text and "exit status" not in text


def test_there_are_few_commands() -> None:
    """`commonplace --help` lists at most thirty commands."""
    assert len(SUMMARIES) <= 30
