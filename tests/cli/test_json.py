"""Every verb with --json: one object on standard output, of the shape that docs/cli-schemas.json says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from commonplace.cli.run import find_command
from tests.cli.calls import fine, run
from tests.cli.cases import CASES, Line
from tests.cli.conftest import EDIT
from tests.cli.schema import faults
from tests.depth import depths

SCHEMAS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs" / "cli-schemas.json").read_text("utf-8"))


def lines(kind: str) -> list[Any]:
    return [
        pytest.param(name, line, id=" ".join((name, *line))[:60])
        for name, case in CASES.items()
        for line in getattr(case, kind)
    ]


def schema_of(*words: str) -> Any:
    """The schema of the command that a line means."""
    return SCHEMAS["commands"][find_command(words)[0]]


@pytest.fixture(autouse=True)
def _editor(editor: Path) -> None:
    editor.write_text(EDIT + "path.write_text(path.read_text('utf-8') + 'By hand.\\n', 'utf-8')\n", "utf-8")


@pytest.mark.parametrize(("name", "line"), lines("good"))
def test_an_answer_fits_its_schema(name: str, line: Line, book: Path) -> None:
    """A verb that has something to say says it in one object that fits the schema, with status 0 and no error."""
    answer = fine(name, *line)
    assert faults(answer, schema_of(name, *line), SCHEMAS) == []


@pytest.mark.parametrize(("name", "line"), lines("empty"))
def test_nothing_found_fits_the_schema_too(name: str, line: Line, book: Path) -> None:
    """A question without an answer gets an object of the same shape, with status 1."""
    outcome = run(name, *line, "--json")
    assert (outcome.status, outcome.err) == (1, "")
    assert faults(outcome.answer(), schema_of(name, *line), SCHEMAS) == []


def test_a_value_that_does_not_fit_is_noticed(book: Path) -> None:
    """The check of these tests finds a missing field, an unknown one, a wrong type and a wrong word."""
    hit = fine("recall", "staging")["hits"][0]
    schema = {"$ref": "#/$defs/Hit"}
    assert faults(hit, schema, SCHEMAS) == []
    without = {name: value for name, value in hit.items() if name != "text"}
    for wrong in (without, {**hit, "odd": 1}, {**hit, "score": "1"}, {**hit, "kind": "odd"}, {**hit, "sources": [1]}):
        assert len(faults(wrong, schema, SCHEMAS)) == 1


@pytest.mark.parametrize("step", depths(4, 1))
@pytest.mark.parametrize("name", [name for name in CASES if name != "completion"])
def test_json_may_stand_anywhere(name: str, template: Path, tmp_path: Path, step: int) -> None:
    """--json, and --root, before the verb, after it, or between any two of its words, mean the same.

    `make test` tries some of these places for each verb, `make deep` all of them.
    """
    words = (name, *CASES[name].good[0])
    places = [n for n in range(len(words) + 1) if n == 0 or not _takes_value(words[n - 1])]
    assert len(places) >= 2
    for place in places[::step] if name != "tour" else places[:1]:
        root = tmp_path / f"copy-{place}"
        shutil.copytree(template, root)
        outcome = run(*words[:place], "--json", f"--root={root}", *words[place:])
        assert (outcome.status, outcome.err) == (0, ""), place
        assert faults(outcome.answer(), schema_of(*words), SCHEMAS) == []


def _takes_value(word: str) -> bool:
    switches = ("--list", "--yes", "--purge", "--all", "--explain", "--related")
    return word == "-c" or (word.startswith("--") and word not in switches)
