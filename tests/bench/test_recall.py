"""`make bench-recall` prints what it measured, and names what is wrong with a data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import recall
from tests.bench.recall import Check, main
from tests.bench.recall_data import OWN_FILES, RecallQuestion, read_data_set
from tests.bench.recall_quality import (
    QuestionScore,
    SearchAnswer,
    count_later,
    fill_books,
    measure_quality,
    measure_strength,
)
from tests.cli.cases import SMALL_SET

OLD, NEW, OTHER = "The bakery opens at seven.", "Since May the bakery opens at six.", "Ladders are in the barn."


def write_set(folder: Path) -> Path:
    """A set of which one memory updates another."""
    texts = {
        "old": ("2025-01-01T00:00:00Z", OLD),
        "new": ("2025-05-01T00:00:00Z", NEW),
        "ladder": ("2025-02-01T00:00:00Z", OTHER),
    }
    memories = [{"key": key, "time": time, "text": text} for key, (time, text) in texts.items()]
    asked = {"kind": "update", "question": "when does the bakery open", "evidence": ["new"], "older": "old"}
    file = folder / "bakery.json"
    file.write_text(json.dumps({"name": "bakery", "memories": memories, "questions": [asked]}), "utf-8")
    return file


def score(*keys: str, strong: str = "", evidence: str = "", older: str | None = None) -> QuestionScore:
    question = RecallQuestion("?", frozenset(evidence.split()), "update" if older else "paraphrase", older)
    return QuestionScore(question, SearchAnswer(list(keys), frozenset(strong.split())), 1.0)


def test_figures_are_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Every way to search has its figures in one JSON object, with what is said of the hits and what is wanted."""
    assert main(["--data", SMALL_SET, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["sets", "strength", "later", "newer_in_two", "newer_told", "checks", "results"]
    results = document["results"]
    assert [result["name"] for result in results] == ["hybrid", "lexical", "fts5", "vectors"]
    assert list(results[0]) == [
        "name", "questions", "any5", "fraction5", "fraction10", "first", "mrr", "ndcg10", "newer_in_two", "newer_told",
        "p50_ms", "categories",
    ]  # fmt: skip
    assert (results[0]["questions"], results[0]["fraction5"], results[0]["newer_in_two"]) == (2, 1.0, None)


def test_figures_are_printed_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The table names its columns and fits 90 columns; categories are on lines of their own, then what is wanted."""
    assert main(["--data", SMALL_SET]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["SET", "WAY", "any@5", "@5", "@10", "first", "nDCG", "MRR", "ms"]
    assert max(map(len, lines)) <= 90
    assert lines[lines.index("@5 by category:") + 1] == "  small: paraphrase:100"
    assert any(line.startswith("right first hits that are strong") for line in lines)


def test_without_a_file_every_set_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All sets of this repository and those in the folder are measured; those that are not there are named."""
    assert [read_data_set(file).target.wanted for file in OWN_FILES] == [78, 82, 80, 96.6, 100, 90, 95]
    monkeypatch.setattr(recall, "OWN_FILES", [Path(SMALL_SET)])
    (tmp_path / "mtrag-notes.json").write_text(Path(SMALL_SET).read_text("utf-8"), "utf-8")
    assert main(["--data-dir", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr()
    assert [one["name"] for one in json.loads(printed.out)["sets"]] == ["small", "mtrag-notes"]
    assert "Not measured: locomo-dev, realmem-asked, qmsum-committee" in printed.err


def test_kept_books_are_not_filled_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run finds the books of the first as they were; one that was cut while it was filled is completed."""
    found = []
    for _ in range(3):
        assert main(["--data", SMALL_SET, "--keep", str(tmp_path), "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["results"][0]["fraction5"])
        (note,) = tmp_path.glob("*/memories/project/*/rope.md")
        assert note.read_text("utf-8").count("\nRope is in the shed.") == 1
        if len(found) == 2:
            (filled,) = tmp_path.glob("*.filled")
            filled.unlink()
            note.unlink()
    assert found == [1.0, 1.0, 1.0]


def test_a_later_memory_is_counted_where_it_updates(tmp_path: Path) -> None:
    """The older of two memories that names the newer is right; every other that names one is wrong."""
    with fill_books(read_data_set(write_set(tmp_path)), tmp_path) as books:
        count = count_later(books)
    assert (count.updates, count.right, count.others, count.wrong) == (1, 1, 2, 0)


def test_strength_is_what_it_tells_about_first_hits() -> None:
    """How often strong and weak first hits are right, how many right ones are strong, and what absent answers get."""
    scores = [
        score("a", "b", strong="a", evidence="a"),
        score("a", "b", strong="a", evidence="b"),
        score("a", "b", strong="b", evidence="a"),
        score("a", evidence="b"),
        score("a", evidence="b"),
        score("a", "b", strong="b"),
        score("a"),
    ]
    strength = measure_strength(scores)
    assert strength.gap == 1 / 2 - 1 / 3
    assert strength == (1 / 2, 1 / 3, 1 / 2, 1 / 2)
    assert measure_strength([]) == (None, None, None, None)


def test_the_newer_memory_counts_among_the_first_two() -> None:
    """An update is met where the newer memory is first or second, whatever the place of the older."""
    found = [score("old", "new", evidence="new", older="old"), score("old", "b", "new", evidence="new", older="old")]
    assert measure_quality("hybrid", found).newer_in_two == 0.5
    named = found[1]._replace(answer=found[1].answer._replace(later={"b": "new"}))
    assert measure_quality("hybrid", [found[1], named]).newer_told == 0.5


def test_a_verdict_says_whether_a_figure_is_as_wanted() -> None:
    """At least, or at most, as much as is wanted is met; what no set can tell has no verdict."""
    verdicts = [
        Check("x", found, 30, at_most=at_most).verdict for found in (30, 20, 40, None) for at_most in (False, True)
    ]
    assert verdicts == ["met", "met", "MISSED", "met", "met", "MISSED", "-", "-"]


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
