"""Whatever an orchestrator hands over is recorded: as it is, or as text with a warning. No run is lost to its types."""

from __future__ import annotations

import itertools
import json
import math
import tempfile
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.journal.manifest import RUN_FIELDS, TASK_FIELDS, manifest_to_json, read_manifest
from commonplace.model.errors import InvalidManifest
from commonplace.model.journal_results import RecordRunResult
from tests.book.opened import open_book
from tests.cli.calls import run
from tests.depth import examples
from tests.journal.runs import manifest, small

NOW = "2026-11-15T12:00:00Z"


class Colour(Enum):
    RED = "red"


@dataclass
class Report:
    pages: int
    path: Path


Point = namedtuple("Point", "x y")


class Broken:
    """An object that raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError

    def __repr__(self) -> str:
        return "Broken()"  # for the report of a failed test


def _raised() -> Exception:
    try:
        raise ConnectionError("no route to host")
    except ConnectionError as error:
        return error


def _endless() -> list[Any]:
    endless: list[Any] = ["kept"]
    endless.append(endless)
    return endless


def record(root: Path, given_run: object) -> tuple[RecordRunResult, dict[str, Any]]:
    """Record a run, and return the answer and what the journal has of it."""
    with open_book(root, agent="lead", role="orchestrator") as book:
        done = book.record_run(given_run)  # type: ignore[arg-type]
        assert done.action == "recorded", done
        again = book.record_run(given_run)  # type: ignore[arg-type]
        assert again.action == "unchanged" and not [line for line in again.warnings if "said something else" in line]
        return done, dict(book.journal_run(done.run).manifest)


VALUES = [
    (None, None), (math.nan, "nan"), (math.inf, "inf"), (2**20_000, hex(2**20_000)), (Decimal("1.10"), "1.10"),
    (datetime(2026, 11, 15, tzinfo=UTC), "2026-11-15T00:00:00+00:00"), (date(2026, 11, 15), "2026-11-15"),
    (timedelta(seconds=90), 90.0), (PurePosixPath("/tmp/x"), "/tmp/x"), (UUID(int=7), str(UUID(int=7))),
    (ValueError("boom"), "ValueError: boom"), (b"caf\xc3\xa9", "café"), (b"\xff\x00", "\\xff\x00"),
    ({"b", "a"}, ["a", "b"]), (frozenset({2, 1}), [1, 2]), ((1, 2), [1, 2]), (range(3), [0, 1, 2]),
    (Colour.RED, "red"), (Report(3, Path("r.md")), {"pages": 3, "path": "r.md"}), (Point(1, 2), {"x": 1, "y": 2}),
    (SimpleNamespace(a=1), "namespace(a=1)"), (OrderedDict(a=1), {"a": 1}), (1 + 2j, "(1+2j)"),
    ({1: "a", "1": "b"}, {"1": "a", "1#2": "b"}), (object(), "object"), (Broken(), "(Broken)"),
    (_endless(), ["kept", "['kept', [...]]"]), (int, "<class 'int'>"), (lambda: 0, "<function <lambda>>"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kept"), VALUES, ids=[type(value).__name__ for value, _ in VALUES])
def test_every_kind_of_python_value_is_recorded(root: Path, value: object, kept: object) -> None:
    """As a result, in a list, and in a field that we do not know: the run is recorded, and the value can be read."""
    _, kept_run = record(root, {**small("x", result=value, more={"deep": [value]}), "beside": value})
    assert (kept_run["tasks"][0]["result"], kept_run["tasks"][0]["more"]) == (kept, {"deep": [kept]})
    assert kept_run["beside"] == kept


def test_a_run_that_cannot_be_looked_at_is_a_warning(root: Path) -> None:
    """An object that raises whatever is asked of it, in place of a whole run, breaks nothing."""
    with open_book(root, role="orchestrator") as book:
        assert book.record_run(Broken()).action == "not_recorded"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("odd", "warning"),
    [
        (small("x", worker=None), "tasks[0].worker is missing"),
        (small("x", worker=7), "tasks[0].worker (int)"),
        ({**small("x"), "run_id": 7}, "run_id (int)"),
        ({**small("x"), "run_id": UUID(int=7)}, "run_id (UUID)"),
        ({**small("x"), "run_id": None}, "no usable run_id"),
        ({"run_id": "x", "task_list": [{"worker": "a"}]}, "Unknown field task_list: did you mean tasks?"),
        ({"run_id": "x", "tasks": [{"worker": "a", "agent": "b"}]}, ""),
        ({"run_id": "x", "tasks": [{"agent": "b"}]}, "Unknown field tasks[0].agent: did you mean worker?"),
        ({"run_id": "x", "tasks": {"a": {"worker": "w"}, "b": {"worker": "w"}}}, "tasks is an object"),
        ({"run_id": "x", "tasks": {"worker": "w"}}, "tasks is an object"),
        ({"run_id": "x", "tasks": "all of it"}, "tasks[0] is not an object"),
        ({"run_id": "x", "tasks": ["one", None]}, "tasks[1] is not an object"),
        (small("x", duration="quick"), "duration is not a number"),
        (small("x", duration="2.5"), ""),
        (small("x", tools="bash"), "tools should be a list"),
        (small("x", artifacts=[Path("a"), 3]), "artifacts[0] ("),
        (small("x", status="完了"), "status has no letter"),
        ({**small("x"), "finished": "2099-01-01"}, "finished is in the future"),
        ({**small("x"), "finished": datetime(2026, 11, 15, 9, tzinfo=UTC)}, ""),
        ({**small("x"), "started": "yesterday"}, "started is not a time"),
        (Report(3, Path("r.md")), None),
    ],
)  # fmt: skip
def test_what_is_odd_is_recorded_and_told(root: Path, odd: object, warning: str | None) -> None:
    """What was left out, guessed or changed is a warning that names the field; without anything odd there is none."""
    if warning is None:  # nothing in it that we know
        with open_book(root) as book:
            assert book.record_run(odd).action == "not_recorded"  # type: ignore[arg-type]
        return
    done, kept_run = record(root, odd)
    assert (warning in " ".join(done.warnings)) if warning else done.warnings == ()
    assert kept_run["tasks"] or "task_list" in kept_run


def test_tasks_from_a_generator_are_read(root: Path) -> None:
    """A list that is made on the way is a list; an iterator anywhere else is not read, for it might never end."""
    with open_book(root, role="orchestrator") as book:
        done = book.record_run({"run_id": "x", "tasks": ({"worker": name} for name in "abc"), "log": itertools.count()})
        assert done.action == "recorded"
        kept_run = book.journal_run("x").manifest
        assert [task["worker"] for task in kept_run["tasks"]] == ["a", "b", "c"]  # type: ignore[attr-defined]
        assert kept_run["log"] == "count(0)"


def test_a_run_of_2099_is_not_the_newest(root: Path) -> None:
    """Runs are listed as they arrive, whatever year a run claims."""
    with open_book(root, role="orchestrator") as book:
        book.record_run({"run_id": "future", "finished": "2099-01-01T00:00:00Z"})
        book.record_run({"run_id": "second"})
        book.record_run({"run_id": "past", "finished": "2020-01-01"})
        assert [entry.run for entry in book.recent_memory().entries] == ["second", "future", "past"]
        assert book.journal_run("future").manifest["finished_given"] == "2099-01-01T00:00:00Z"


def test_an_exception_is_recorded_with_its_traceback(root: Path) -> None:
    """The entry names it, the file has all of it, and the same exception from elsewhere is the same failure."""
    with open_book(root, agent="lead", role="orchestrator") as book:
        book.record_run(small("a", error=_raised(), result=None))
        (entry,) = book.recent_memory(worker="tester").entries
        assert entry.status == "failed" and "It failed: ConnectionError: no route to host" in entry.text
        error = book.journal_run("a").manifest["tasks"][0]["error"]  # type: ignore[index]
        assert "Traceback (most recent call last)" in error and "in _raised" in error
        book.record_run(small("b", error=ConnectionError("no route to host"), result=None))
        assert book.record_run(small("c", error="ConnectionError: no route to host", result=None)).lessons


def test_the_command_line_reads_what_other_programs_write(root: Path, tmp_path: Path) -> None:
    """A manifest in UTF-16 or with a byte order mark, as PowerShell writes it, is read like any other."""
    for number, code in enumerate(("utf-8", "utf-8-sig", "utf-16")):
        path = tmp_path / "run.json"
        path.write_bytes(json.dumps(manifest(f"run-{number}")).encode(code))
        done = run("journal", "record", str(path), "--root", str(root), "--project", "p", "--agent", "lead")
        assert (done.status, done.err) == (0, "")


NAMES = [field.name for field in (*RUN_FIELDS, *TASK_FIELDS)] + ["other", "task_list"]
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=6)
    | st.datetimes() | st.timedeltas() | st.decimals() | st.uuids() | st.complex_numbers() | st.just(Colour.RED)
    | st.builds(ValueError) | st.builds(object) | st.just(Path("a")) | st.builds(Broken)
)  # fmt: skip
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.builds(Point, inner, inner)
        | st.sets(st.integers() | st.text(max_size=3), max_size=3) | st.builds(lambda a: SimpleNamespace(a=a), inner)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=10,
)  # fmt: skip
TASKS = st.lists(st.dictionaries(st.sampled_from(NAMES), OBJECTS, max_size=6), max_size=3)
RUNS = st.dictionaries(st.sampled_from(NAMES), OBJECTS | TASKS, max_size=7)


@examples(300)
@given(RUNS)
def test_any_python_object_is_recorded_or_has_nothing_to_record(found: dict[str, Any]) -> None:
    """No value makes the reader fail; the same objects give the same JSON; each task that was given is a task."""
    try:
        reading = read_manifest(found, NOW)
    except InvalidManifest:
        assert not any(found.get(field.name) for field in RUN_FIELDS if not isinstance(found.get(field.name), Broken))
        return
    written = manifest_to_json(reading.manifest)
    assert json.loads(json.dumps(written, allow_nan=False)) == json.loads(json.dumps(written))
    assert manifest_to_json(read_manifest(found, NOW).manifest) == written
    given_tasks = found.get("tasks")
    if isinstance(given_tasks, list):
        assert len(reading.manifest.tasks) == len(given_tasks)
    assert {name for name in found if name not in written} == set()


@examples(40, quick=15)
@given(RUNS)
def test_any_run_is_recorded_through_the_book(found: dict[str, Any]) -> None:
    """Through the library, with everything that a recording does: recorded once, unchanged after that; a manifest
    that has nothing in it is a warning, and an error with strict."""
    with tempfile.TemporaryDirectory() as folder, open_book(Path(folder, "book"), agent="lead") as book:
        book.context.memories.clock = _tick().__next__
        done = book.record_run(found)
        if done.action == "not_recorded":
            with pytest.raises(InvalidManifest):
                book.record_run(found, strict=True)
            return
        assert done.action == "recorded"
        again = book.record_run(found)
        assert (again.action, again.run) == ("unchanged", done.run)
        assert book.journal_run(done.run).complete and book.recent_memory().entries[0].run == done.run


def _tick() -> Iterator[str]:
    for second in range(60 * 60):
        yield f"2026-11-15T12:{second // 60:02d}:{second % 60:02d}Z"
