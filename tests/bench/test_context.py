"""`make bench-context` prints what agents were told of a set, and names what is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.context import Figures, PromptTold, SessionTold, count, main

SMALL = {
    "books": [
        {
            "name": "small",
            "about": "a book of four",
            "memories": [
                {"key": "pies", "type": "user", "tags": [], "time": "2026-01-02T10:00:00Z", "author": "ann",
                 "trust": "human", "text": "Pie charts are not for me.", "standing": True},
                {"key": "port", "project": "small/app", "type": "reference", "tags": ["db"], "author": "codex",
                 "time": "2026-01-03T10:00:00Z", "trust": "agent", "text": "Staging Postgres listens on 6543."},
                {"key": "tabs", "type": "feedback", "tags": [], "time": "2026-01-04T10:00:00Z", "author": "codex",
                 "trust": "agent", "text": "Ann wants two spaces.", "accepted": True, "standing": True},
                {"key": "elsewhere", "project": "small/other", "type": "project", "tags": [], "author": "wiki",
                 "time": "2026-01-05T10:00:00Z", "trust": "external", "text": "The other one is in Go."},
            ],
            "prompts": [
                {"project": "small/app", "prompt": "which port has staging postgres", "helpful": ["port"]},
                {"project": "small/app", "prompt": "thanks", "helpful": []},
            ],
        }
    ]
}  # fmt: skip


@pytest.fixture
def small(tmp_path: Path) -> str:
    file = tmp_path / "set.json"
    file.write_text(json.dumps(SMALL), "utf-8")
    return str(file)


def test_figures_are_printed_as_json_with_what_was_told(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In a book of four everything is told at the start: both preferences, the helpful fact, and nothing needlessly."""
    assert main(["--data", small, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    (session,) = printed["sessions"]
    assert (session["standing"], session["standing_missed"], session["misleading"]) == (["pies", "tabs"], [], [])
    assert [(row["helpful"], row["in_brief"], row["told"]) for row in printed["prompts"]] == [
        (["port"], ["port"], []),
        ([], [], []),
    ]
    figures = Figures(**printed["figures"])
    assert (figures.standing_told, figures.helped, figures.helped_at_prompt) == (1.0, 1.0, 0.0)
    assert (figures.precision, figures.noise) == (None, 0.0)
    assert figures.brief_characters == session["characters"] > 100


def test_figures_are_printed_as_a_table(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure has a line of its own with what is wanted of it, and all fit 80 columns."""
    assert main(["--data", small]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(Figures._fields) and max(map(len, lines)) <= 80
    assert lines[0].split()[-4:] == ["100.0%", ">=", "95", "%"]


def test_figures_count_what_was_told_in_place_of_what_helps() -> None:
    """A wrong memory lowers precision, one told for nothing is noise, and what the brief had already counts as help."""
    session = SessionTold("b", "p", 900, ["a"], ["b", "c", "d"], ["old"])
    prompts = [
        PromptTold("b", "p", "1", 100, ["x"], [], ["x", "old"], ["x", "old"], ["old"]),
        PromptTold("b", "p", "2", 0, ["y"], ["y"], [], [], []),
        PromptTold("b", "p", "3", 60, ["z"], [], ["z"], [], []),  # it was cut
        PromptTold("b", "p", "4", 40, [], [], ["x"], ["x"], []),
        PromptTold("b", "p", "5", 0, [], [], [], [], []),
    ]
    assert count([session], prompts) == Figures(0.25, 2 / 3, 1 / 3, 0.5, 0.5, 1, 1, 900, 40)


@pytest.mark.parametrize("data", ['{"x": 1}', "[1]", "garbage"])
def test_a_file_that_is_no_set_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: str) -> None:
    """A file of another form ends with its name and with where to read what a set is."""
    (tmp_path / "none.json").write_text(data, "utf-8")
    assert main(["--data", str(tmp_path / "none.json")]) == 1
    assert "none.json cannot be read as a context set" in capsys.readouterr().err
