"""The transcripts in README.md are what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from commonplace.cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\dZ?")


def transcript() -> list[tuple[list[str], str]]:
    """Each command of the console block, and the lines below it."""
    block = re.search(r"^```console\n(.*?)^```$", README, re.M | re.S)
    assert block is not None
    parts = re.split(r"^\$ (.*)\n", block.group(1), flags=re.M)[1:]
    return [(shlex.split(command), text) for command, text in zip(parts[::2], parts[1::2], strict=True)]


def test_the_transcript_is_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run one after the other in a fresh book, the commands of the README print what it shows, but for the times."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(tmp_path / "book"))
    monkeypatch.setenv("COMMONPLACE_PROJECT", "github.com/acme/app")
    commands = transcript()
    assert len(commands) > 5
    for (program, *words), wanted in commands:
        assert program == "commonplace"
        main(words)
        printed = capsys.readouterr()
        text = (printed.out + printed.err).replace(str(tmp_path / "book"), "~/.commonplace")
        assert MOMENT.sub("TIME", text) == MOMENT.sub("TIME", wanted), words


def test_the_readme_is_short() -> None:
    """A stranger finishes it: it has under 150 lines."""
    assert len(README.splitlines()) < 150
