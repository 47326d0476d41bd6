"""A record says the same of the same behaviour, and a comparison finds what changed. Nothing of the product is run."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.baseline.__main__ import dump, main
from tests.baseline.compare import compare
from tests.baseline.normal import WORDING, Normaliser, as_table, from_table, hash_text
from tests.baseline.product import HERE

ID, OTHER_ID = "01a1e3a9-34f4-70d9-ab18-c221470281bf", "01a1e3a9-34f4-70d9-ab18-c221470281c0"
RECORD: dict[str, Any] = {
    "about": {"python": "3.11.7"},
    "behaviour": {
        "help": {"commonplace": {"exit": 0, "verbs": ["store", "recall"]}},
        "walk": {
            "recall port": {
                "exit": 0,
                "answer": {"hits": as_table([{"key": "a", "score": 0.9}, {"key": "b", "score": 0.5}]), "total": 2},
            }
        },
        "errors": {"store": {"exit": 2, "errors": {"error": {"code": "usage", "message": WORDING}}}},
        "recall": {"own_set hybrid": {"any5": 0.5, "questions": "aaaaaa=1 bbbbbb=-"}, "locomo-dev hybrid": None},
    },
    "wording": {"errors": {"store": {"errors.error.message": "0123456789abcdef"}}},
    "figures": {"house": {"tokens": 267_501}},
}


@pytest.fixture
def changed() -> dict[str, Any]:
    return copy.deepcopy(RECORD)


def found_in(record: dict[str, Any]) -> list[tuple[str, object, object]]:
    return [(f"{one.section}/{one.path}", one.old, one.new) for one in compare(RECORD, record).behaviour]


def test_ids_revisions_folders_and_scores_are_the_same_in_every_run() -> None:
    """What chance, the machine or the file system decides gets a name; what the stopped clock says stays."""
    answer = {
        "id": ID,
        "sources": [OTHER_ID, ID],
        "revision": "0" * 32,
        "path": "/project/app-98d9fc12e020/20260302T091300Z.5f7b864ce40b.md",
        "root": "/tmp/x/book",
        "score": 0.123456,
        "time": "2026-03-02T09:13:00Z",
        "touched": "2027-01-01T00:00:00Z",
        "index_bytes": 4096,
        "pinned": False,
        "text": "x" * 1_000,
    }
    normal = Normaliser({"/tmp/x": "<scratch>"}, today="2026-11-16").normalise(answer)
    assert normal.behaviour == {
        "id": "<id 1>",
        "sources": ["<id 2>", "<id 1>"],
        "revision": "<revision 1>",
        "path": "/project/app-98d9fc12e020/20260302T091300Z.<revision 2>.md",
        "root": "<scratch>/book",
        "score": 0.1235,
        "time": "2026-03-02T09:13:00Z",
        "touched": "<now>",
        "index_bytes": "<int>",
        "pinned": False,
        "text": f"<1000 characters {hash_text('x' * 1_000)}>",
    }
    assert normal.wording == {}


def test_wording_is_kept_apart_as_hashes() -> None:
    """A message is a hash in the branch of wording; that it was there is behaviour, and so is its code."""
    normal = Normaliser({}).normalise({"error": {"code": "usage", "message": "No verb.", "hint": ""}})
    assert normal.behaviour == {"error": {"code": "usage", "message": WORDING, "hint": ""}}
    assert normal.wording == {"error.message": hash_text("No verb.")}


def test_a_table_holds_what_the_list_held() -> None:
    """A list of like objects becomes a table and is the same again; one of unlike objects stays a list."""
    items = [{"key": "a", "pinned": False, "count": 0}, {"key": "b", "pinned": False, "count": False}]
    table = as_table(items)
    assert table == {"fields": ["key", "pinned", "count"], "all": {"pinned": False}, "rows": [["a", 0], ["b", False]]}
    assert from_table(table) == items
    assert as_table([{"a": 1}, {"b": 1}]) == [{"a": 1}, {"b": 1}]


def test_the_same_record_is_the_same(changed: dict[str, Any]) -> None:
    """Nothing is found where nothing changed, and the exit status is 0."""
    comparison = compare(RECORD, changed)
    assert (comparison.behaviour, comparison.wording, comparison.figures) == ([], [], [])
    assert comparison.exit_status == 0
    assert comparison.skipped == ["recall: locomo-dev hybrid"]


def test_a_changed_value_is_found(changed: dict[str, Any]) -> None:
    """A value that differs in one row of an answer is named by its place, with both values."""
    hits = changed["behaviour"]["walk"]["recall port"]["answer"]
    hits["hits"] = as_table([{"key": "a", "score": 0.9}, {"key": "c", "score": 0.5}])
    assert found_in(changed) == [("walk/answer.hits.1.key", "b", "c")]
    hits["hits"] = as_table([{"key": "a", "score": 1}, {"key": "b", "score": True}])
    assert [place for place, _, _ in found_in(changed)] == ["walk/answer.hits.0.score", "walk/answer.hits.1.score"]
    assert compare(RECORD, changed).exit_status == 1


def test_a_changed_type_is_found(changed: dict[str, Any]) -> None:
    """A value that only Python takes for the same, False for 0, is a difference wherever it stands."""
    changed["behaviour"]["walk"]["recall port"]["exit"] = False
    assert found_in(changed) == [("walk/exit", 0, False)]


def test_a_missing_key_is_found(changed: dict[str, Any]) -> None:
    """A key that an answer no longer has, and a row that is gone, are differences of behaviour."""
    del changed["behaviour"]["walk"]["recall port"]["answer"]["total"]
    assert found_in(changed) == [("walk/answer.total", 2, "(not there)")]
    changed["behaviour"]["walk"]["recall port"]["answer"] = {"hits": [{"key": "a", "score": 0.9}], "total": 2}
    assert found_in(changed) == [("walk/answer.hits.1", [{"key": "b", "score": 0.5}], "(not there)")]


def test_an_added_verb_is_found(changed: dict[str, Any]) -> None:
    """A new verb is a difference of the overview, and its help an item that was not there."""
    changed["behaviour"]["help"]["commonplace"]["verbs"].append("pin")
    changed["behaviour"]["help"]["pin"] = {"exit": 0, "usage": []}
    assert found_in(changed) == [
        ("help/verbs.2", "(not there)", ["pin"]),
        ("help/", "(not there)", {"exit": 0, "usage": []}),
    ]


def test_a_changed_exit_status_is_found(changed: dict[str, Any]) -> None:
    """Another exit status of a wrong call is a difference of behaviour."""
    changed["behaviour"]["errors"]["store"]["exit"] = 11
    assert found_in(changed) == [("errors/exit", 2, 11)]


def test_other_words_and_figures_do_not_fail(changed: dict[str, Any]) -> None:
    """A reworded message and a moved figure are listed, each apart, and the exit status stays 0."""
    changed["wording"]["errors"]["store"]["errors.error.message"] = "fedcba9876543210"
    changed["figures"]["house"]["tokens"] = 150_000
    comparison = compare(RECORD, changed)
    assert [one.path for one in comparison.wording] == ["errors.error.message"]
    assert [(one.item, one.new) for one in comparison.figures] == [("tokens", 150_000)]
    assert (comparison.behaviour, comparison.exit_status) == ([], 0)


def test_a_comparison_can_be_read(changed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed comparison has a line for each section, and of a recall set how many answers are better or worse."""
    changed["behaviour"]["recall"]["own_set hybrid"] = {"any5": 1.0, "questions": "aaaaaa=1 cccccc=2"}
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, record in zip(files, (RECORD, changed), strict=True):
        path.write_text(dump(record), encoding="utf-8")
    assert json.loads(files[0].read_text(encoding="utf-8")) == RECORD
    assert main(["compare", *map(str, files)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert {"walk       same (1)", "recall     1 of 1 items differ"} <= set(lines)
    assert "    questions.1: 'bbbbbb=-' -> 'cccccc=2'" in lines
    assert "  own_set hybrid: 1 answers differ, 1 better, 0 worse, any@5 0.5 -> 1.0" in lines
    assert main(["compare", str(files[0]), str(files[0])]) == 0


def test_the_clock_of_a_process_can_be_stopped() -> None:
    """With the clock's folder on its path, a process sees one moment in every wall clock."""
    script = (
        "import time, datetime\n"
        "assert time.time_ns() == 1_000_000_000 * 10**9 and time.gmtime().tm_year == 2001\n"
        "assert time.strftime('%Y') == '2001' and datetime.date.today().year == 2001\n"
        "now = datetime.datetime.now(datetime.UTC)\n"
        "assert now.year == 2001 and isinstance(now - datetime.timedelta(1), datetime.datetime)\n"
        "print(now.isoformat())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE / "clock"), "BASELINE_CLOCK": "1000000000"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2001-09-09T01:46:40+00:00"
