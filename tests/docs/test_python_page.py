"""docs/python.md is true: its programs print what it says, a type checker accepts them, and no method is missing."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import AsyncBook, Book

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```\n\nprints\n\n```\n(.*?)^```$", PAGE, re.M | re.S)
NAMES = ("first", "chatbot", "notebook", "import")


@pytest.mark.parametrize(("code", "printed"), PROGRAMS, ids=NAMES)
def test_a_program_of_the_page_prints_what_it_says(
    code: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run as it stands, in an empty folder and without settings, each program prints the lines below it."""
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "python.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


def test_every_program_is_run() -> None:
    """Each Python block of the page is followed by what it prints, and so is one of the programs above."""
    assert len(PROGRAMS) == PAGE.count("```python\n") == len(NAMES)


@pytest.mark.deep  # `make docs` runs it
def test_a_type_checker_accepts_the_programs(tmp_path: Path) -> None:
    """`mypy --strict` has nothing to say about any program of the page."""
    for name, (code, _) in zip(NAMES, PROGRAMS, strict=True):
        (tmp_path / f"{name}_program.py").write_text(code, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_page_lists_every_method_and_no_other() -> None:
    """The table has each public name of Book once; the sentence above it says what AsyncBook lacks."""
    table = PAGE.partition("## Every method")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| for")]
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[2])]
    public = {name for name, _ in inspect.getmembers(Book) if not name.startswith("_")}
    assert sorted(listed) == sorted(public)
    properties = {name for name in public if isinstance(inspect.getattr_static(Book, name), property)}
    there = {name for name, _ in inspect.getmembers(AsyncBook) if not name.startswith("_")}
    assert public - there == properties | {"init", "shell_session"}
