"""Manifests: what is taken, what is refused, and that the published schema says the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard.secrets import redact
from commonplace.journal.manifest import (
    RUN_FIELDS,
    TASK_FIELDS,
    manifest_to_json,
    read_manifest,
    redact_manifest,
)
from commonplace.model.errors import InvalidManifest
from tests.cli.schema import faults
from tests.depth import examples
from tests.journal.runs import manifest, small
from tools.make_docs import manifest_schema

NOW = "2026-11-15T12:00:00Z"
PUBLISHED = Path(__file__).parents[2] / "docs" / "run-manifest.schema.json"
TOKEN = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"


def _json(floats: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | floats | st.text(max_size=30),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
        max_leaves=8,
    )


JSON = _json(st.floats(allow_nan=False, allow_infinity=False))
PYTHON = _json(st.floats())  # with what JSON has no word for
NAMES = [field.name for field in (*RUN_FIELDS, *TASK_FIELDS)] + ["other"]
TASKS = st.lists(st.dictionaries(st.sampled_from(NAMES), PYTHON, max_size=6), max_size=3)
ANYTHING = st.dictionaries(st.sampled_from(NAMES), PYTHON | TASKS, max_size=6)
GOOD_TASK = st.fixed_dictionaries(
    {"worker": st.text(min_size=1, max_size=40)},
    optional={
        "id": st.text(max_size=20) | st.integers(), "description": st.text(max_size=60), "status": st.text(max_size=50),
        "result": JSON, "error": JSON, "tools": st.lists(st.text(max_size=9), max_size=3), "other": JSON,
    },
)  # fmt: skip
GOOD = st.fixed_dictionaries(
    {"run_id": st.text(min_size=1, max_size=60), "tasks": st.lists(GOOD_TASK, max_size=4)},
    optional={"goal": st.text(max_size=80), "outcome": st.text(max_size=50), "mood": JSON},
)


def _bare(found: Any) -> Any:
    """A schema without what only explains or measures, for the small checker of the tests."""
    if isinstance(found, dict):
        hidden = ("description", "title", "$schema", "minLength", "maxLength")
        return {k: {} if v is True else _bare(v) for k, v in found.items() if k not in hidden or isinstance(v, dict)}
    return found


def test_the_published_schema_allows_a_good_manifest_and_no_bad_one() -> None:
    """The file in docs/ is a schema that the five workers' run fits, and one without a worker or a run id does not."""
    published = json.loads(PUBLISHED.read_text("utf-8"))
    assert published == manifest_schema()
    bare = _bare(published)
    assert faults(manifest(), bare, bare) == []
    assert faults(manifest_to_json(read_manifest(manifest(), NOW)), bare, bare) == []
    for wrong in ({}, {"run_id": 3}, small("x", worker=None), {"run_id": "x", "tasks": {}}, small("x", tools="a")):
        assert faults(wrong, bare, bare) != []
        with pytest.raises(InvalidManifest):
            read_manifest(wrong, NOW)


@examples(150)
@given(ANYTHING)
def test_anything_is_taken_or_refused_in_words_as_the_schema_does(found: dict[str, Any]) -> None:
    """No JSON makes the reader fail in another way; what the schema refuses is refused; what is taken reads again as
    the same."""
    bare = _bare(manifest_schema())
    try:
        taken = read_manifest(found, NOW)
    except InvalidManifest as error:
        assert error.message and error.hint
        return
    plain = json.loads(json.dumps(found, allow_nan=True), parse_constant=str)
    assert faults(plain, bare, bare) == []
    assert read_manifest(json.loads(json.dumps(manifest_to_json(taken))), taken.finished) == taken


@examples(100)
@given(GOOD)
def test_nothing_of_a_manifest_is_lost(found: dict[str, Any]) -> None:
    """Every field that was given, known or not, is in what is written down: as it was, but for times and statuses."""
    written = manifest_to_json(read_manifest(found, NOW))
    tasks = written["tasks"]
    assert isinstance(tasks, list) and len(tasks) == len(found["tasks"])
    assert [task["worker"] for task in tasks] == [task["worker"] for task in found["tasks"]]  # type: ignore[call-overload, index]
    for name in ("goal", "mood"):
        if name in found:
            assert str(written[name]) == str(found[name])
    for task, said in zip(tasks, found["tasks"], strict=True):
        assert isinstance(task, dict)
        for name in ("description", "result", "error", "other"):
            if name in said:
                assert str(task[name]) == str(said[name])
    assert len({task["id"] for task in tasks}) == len(tasks)  # type: ignore[call-overload, index]


@pytest.mark.parametrize(
    ("given_words", "known"),
    [("Success", "done"), ("timed_out", "failed"), ("Canceled", "cancelled"), ("needs review", "needs-review")],
)
def test_statuses_of_other_frameworks_become_ours(given_words: str, known: str) -> None:
    """Words that mean the same are one status; others stay, as one word."""
    assert read_manifest(small("x", status=given_words), NOW).tasks[0].status == known


def test_what_is_not_said_follows_from_what_is() -> None:
    """Outcome, status, ids and the end of a run are derived; ids that come twice are told apart."""
    tasks = [{"worker": "a", "error": "x"}, {"worker": "b"}, {"worker": "c", "id": "1"}]
    taken = read_manifest({"run_id": "r", "tasks": tasks}, NOW)
    assert (taken.outcome, taken.finished) == ("partial", NOW)
    assert [(task.id, task.status) for task in taken.tasks] == [("1", "failed"), ("2", "done"), ("1#2", "done")]
    assert read_manifest({"run_id": "r", "tasks": tasks[:1]}, NOW).outcome == "failed"
    assert read_manifest({"run_id": "r"}, NOW).outcome == "done"


def test_a_time_years_ahead_is_not_taken() -> None:
    """A run that says it ended in the year 9999 would be the newest for ever: it ended tomorrow at the latest."""
    assert read_manifest(small("x", finished="9999-12-31"), NOW).finished == "2026-11-16T12:00:00Z"
    assert read_manifest(small("x", finished="2026-11-14T10:00:00+02:00"), NOW).finished == "2026-11-14T08:00:00Z"
    with pytest.raises(InvalidManifest, match="finished"):
        read_manifest(small("x", finished="soon"), NOW)


def test_what_python_has_and_json_has_not_is_refused_by_name() -> None:
    """A set, an endless list, a text of 20 MB: refused, with where it is."""
    endless: list[object] = []
    endless.append(endless)
    for wrong, words in (({1, 2}, "tasks.0..result is a set"), (endless, "nested"), ("x" * 20_000_000, "characters")):
        with pytest.raises(InvalidManifest, match=words):
            read_manifest(small("x", result=wrong), NOW)


def test_secrets_are_taken_out_everywhere_and_counted() -> None:
    """In results, errors, names, unknown fields and keys of maps; a password is known by the name it stands under."""
    found = small(
        "x", result={"password": "hunter2hunter2xyzA1", "n": [TOKEN]}, error=f"401 with {TOKEN}", worker=TOKEN
    )
    found["notes"] = {TOKEN: TOKEN}
    clean, count = redact_manifest(read_manifest(found, NOW), redact)
    text = json.dumps(manifest_to_json(clean))
    assert TOKEN not in text and "hunter2" not in text and count == 6
    assert clean.tasks[0].error is not None and "401 with [secret removed" in str(clean.tasks[0].error)
    with pytest.raises(InvalidManifest, match="run_id"):
        redact_manifest(read_manifest(small(TOKEN), NOW), redact)
