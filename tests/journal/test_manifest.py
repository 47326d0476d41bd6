"""Manifests: what is taken and with which warnings, what is refused, and that the published schema says the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard.secrets import redact
from commonplace.journal import plain_json
from commonplace.journal.manifest import (
    RUN_FIELDS,
    TASK_FIELDS,
    Manifest,
    is_same_run,
    manifest_schema,
    manifest_to_json,
    read_manifest,
    read_stored_manifest,
)
from commonplace.model.errors import InvalidManifest
from tests.cli.schema import faults
from tests.depth import depths, examples
from tests.journal.runs import manifest, small

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


def taken(found: object) -> Manifest:
    """The manifest that is made of what a caller gave."""
    return read_manifest(found, NOW).manifest


def _bare(found: Any) -> Any:
    """A schema without what only explains or measures, for the small checker of the tests."""
    if isinstance(found, dict):
        hidden = ("description", "title", "$schema", "minLength", "maxLength")
        return {k: {} if v is True else _bare(v) for k, v in found.items() if k not in hidden or isinstance(v, dict)}
    return found


def test_the_published_schema_allows_a_good_manifest_and_no_bad_one() -> None:
    """The file in docs/ is a schema that the five workers' run fits, recorded or not; what does not fit is recorded
    with a warning that names the field."""
    published = json.loads(PUBLISHED.read_text("utf-8"))
    assert published == manifest_schema()
    bare = _bare(published)
    assert faults(manifest(), bare, bare) == []
    assert read_manifest(manifest(), NOW).warnings == ()
    assert faults(manifest_to_json(taken(manifest())), bare, bare) == []
    for wrong, name in (
        ({"run_id": 3}, "run_id"), (small("x", worker=None), "worker"), ({"run_id": "x", "tasks": {}}, "tasks"),
        ({"goal": "x"}, "run_id"), (small("x", duration="soon"), "duration"),
    ):  # fmt: skip
        assert faults(wrong, bare, bare) != []
        assert name in " ".join(read_manifest(wrong, NOW).warnings)


@examples(150)
@given(ANYTHING)
def test_any_json_is_recorded_or_has_nothing_to_record(found: dict[str, Any]) -> None:
    """Only a manifest without any field that we know is refused; what fits the schema needs no warning; and what is
    written down fits it and reads again as the same."""
    bare = _bare(manifest_schema())
    try:
        reading = read_manifest(found, NOW)
    except InvalidManifest as error:
        assert error.message and error.hint
        assert not any(found.get(field.name) for field in RUN_FIELDS)
        return
    plain = json.loads(json.dumps(found, allow_nan=True), parse_constant=str)
    if faults(plain, bare, bare) != []:
        assert reading.warnings
    written = json.loads(json.dumps(manifest_to_json(reading.manifest)))
    assert faults(written, bare, bare) == []
    assert read_stored_manifest(written) == reading.manifest


@examples(100)
@given(GOOD)
def test_nothing_of_a_manifest_is_lost(found: dict[str, Any]) -> None:
    """Every field that was given, known or not, is in what is written down: as it was, but for times and statuses."""
    written = manifest_to_json(taken(found))
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
    assert taken(small("x", status=given_words)).tasks[0].status == known


def test_what_is_not_said_follows_from_what_is() -> None:
    """Outcome, status, ids and the end of a run are derived; ids that come twice are told apart."""
    tasks = [{"worker": "a", "error": "x"}, {"worker": "b"}, {"worker": "c", "id": "1"}]
    run = taken({"run_id": "r", "tasks": tasks})
    assert (run.outcome, run.finished) == ("partial", NOW)
    assert [(task.id, task.status) for task in run.tasks] == [("1", "failed"), ("2", "done"), ("1#2", "done")]
    assert taken({"run_id": "r", "tasks": tasks[:1]}).outcome == "failed"
    assert taken({"run_id": "r"}).outcome == "done"


@pytest.mark.parametrize(
    ("given_time", "kept", "word"),
    [
        ("9999-12-31", NOW, "future"), ("2026-11-15T13:00:00Z", NOW, "future"), ("2026-11-15T12:00:30Z", NOW, ""),
        ("2026-11-14T10:00:00+02:00", "2026-11-14T08:00:00Z", ""), (1_763_000_000, "2025-11-13T02:13:20Z", ""),
        (1_763_000_000_000, "2025-11-13T02:13:20Z", ""), (1_763_000_000.5, "2025-11-13T02:13:20Z", ""),
        ("soon", NOW, "not a time"), (2099, NOW, "not a time"), ([1], NOW, "not a time"),
    ],
)  # fmt: skip
def test_no_time_is_ahead_of_the_clock(given_time: object, kept: str, word: str) -> None:
    """A run that says it ended in the year 9999 would be the newest for ever: it ended when it was recorded. What was
    said is kept, and told; and recording it again later is not taken for another run."""
    reading = read_manifest(small("x", finished=given_time), NOW)
    assert reading.manifest.finished == kept
    assert (word in " ".join(reading.warnings)) if word else reading.warnings == ()
    assert reading.manifest.extra == ({"finished_given": given_time} if word else {})
    later = read_manifest(small("x", finished=given_time), "2027-01-01T00:00:00Z")
    assert is_same_run(reading.manifest, later.manifest, is_dated=later.is_dated) or kept == NOW != given_time


@pytest.mark.parametrize("scale", depths(100, 1))
def test_one_long_result_is_cut_and_told(monkeypatch: pytest.MonkeyPatch, scale: int) -> None:
    """A result of 20 MB, or a list without end, does not cost the run its other tasks: as much as fits is kept, with a
    warning; a result of 10 MB is kept whole; only a manifest that has too much of everything is refused."""
    for name in ("MAX_BYTES", "_SPARE_BYTES"):
        monkeypatch.setattr(plain_json, name, getattr(plain_json, name) // scale)
    million = 1_000_000 // scale
    other = {"worker": "b", "result": "short"}
    for long, word in (("x" * 20 * million, "of its"), ([*range(100)] * 4 * (million // 100), "its first")):
        reading = read_manifest({"run_id": "x", "tasks": [{"worker": "a", "result": long}, other]}, NOW)
        assert [task.worker for task in reading.manifest.tasks] == ["a", "b"]
        assert reading.manifest.tasks[1].result == "short"
        assert "tasks[0].result is too long" in reading.warnings[0] and word in reading.warnings[0]
        assert 8 * million < len(json.dumps(manifest_to_json(reading.manifest), indent=1)) < 16.7 * million
    whole = read_manifest(small("x", result="é" * 5 * million), NOW)
    assert whole.manifest.tasks[0].result == "é" * 5 * million and whole.warnings == ()
    many = [{"worker": "w" * 900, "description": "d" * 900}] * (million // 100)
    with pytest.raises(InvalidManifest, match="bytes as JSON"):
        read_manifest({"run_id": "x", "tasks": many}, NOW)


def test_secrets_are_taken_out_everywhere_and_counted() -> None:
    """In results, errors, names, unknown fields and keys of maps; a password is known by the name it stands under."""
    found = small(
        "x", result={"password": "hunter2hunter2xyzA1", "n": [TOKEN]}, error=f"401 with {TOKEN}", worker=TOKEN
    )
    found["notes"] = {TOKEN: TOKEN}
    clean, count, _, _ = read_manifest(found, NOW, redact)
    text = json.dumps(manifest_to_json(clean))
    assert TOKEN not in text and "hunter2" not in text and count == 6
    assert clean.tasks[0].error is not None and "401 with [secret removed" in str(clean.tasks[0].error)
    hidden = read_manifest(small(TOKEN), NOW, redact)
    assert hidden.manifest.run_id.startswith("run-") and "run_id contains" in hidden.warnings[0]
    assert read_manifest(small(TOKEN), "2027-01-01T00:00:00Z", redact).manifest == hidden.manifest
    twice = read_manifest(small("x", result={TOKEN: 1, TOKEN[::-1] + "x": 2, f"{TOKEN[:-1]}q": 3}), NOW, redact)
    assert sorted(twice.manifest.tasks[0].result.values()) == [1, 2, 3]  # type: ignore[union-attr]
