"""`make bench-recall` prints what it measured, and names what is wrong with a data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.recall import main
from tests.cli.cases import SMALL_SET


def test_figures_are_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Every way to search has its figures in one JSON object; an ablation adds one for each weight left out."""
    assert main(["--data", SMALL_SET, "--json", "--ablate"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["name"] for result in results][:6] == ["hybrid", "lexical", "semantic", "grep", "fts5", "vectors"]
    assert all(" - " in result["name"] for result in results[6:]) and len(results) > 6
    assert list(results[0]) == [
        "name", "questions", "any5", "fraction5", "fraction10", "all10", "mrr", "ndcg10", "false_answers",
        "newer_first", "p50_ms", "tokens", "categories", "nearest",
    ]  # fmt: skip
    assert (results[0]["questions"], results[0]["fraction5"], results[0]["newer_first"]) == (2, 1.0, None)


def test_figures_are_printed_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The table names its columns and fits 80 columns; categories are on lines of their own."""
    assert main(["--data", SMALL_SET]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["WAY", "any@5", "@5", "@10", "all@10", "nDCG", "MRR", "false", "newer", "ms", "tokens"]
    assert max(map(len, lines)) <= 80
    assert lines[-6].strip() == "hybrid: paraphrase:100"


@pytest.mark.parametrize(
    ("data", "missing"),
    [
        ('{"x": 1}', "neither conversations nor memories"),
        ("[1]", "neither conversations nor memories"),
        ('{"memories": [{"id": "m1"}]}', "'key' is missing"),
        ('{"memories": [], "questions": [{"question": "?", "kind": "a", "evidence": ["m9"]}]}', "'m9' is missing"),
        ('{"conversations": [1]}', "wrong shape"),
        ("garbage", "not JSON"),
    ],
)
def test_a_set_of_another_shape_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: str, missing: str
) -> None:
    """A file that is no data set ends with what is missing in it, and where to read what a set looks like."""
    (tmp_path / "set.json").write_text(data, "utf-8")
    assert main(["--data", str(tmp_path / "set.json")]) != 0
    message, hint = capsys.readouterr().err.splitlines()
    assert missing in message and "tests.bench.recall --help" in hint


def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path without a file is refused with that path."""
    assert main(["--data", str(tmp_path / "none.json")]) == 1
    assert "none.json" in capsys.readouterr().err
