"""Ablations measure what they say: every number of the ranking, one at a time, of books in one condition."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from commonplace.recall import later, ranking
from tests.bench import ablation
from tests.bench.ablation import (
    Constant,
    SetAblation,
    Variant,
    ablate,
    compute_worths,
    find_constants,
    leave_one_out,
    replace_constant,
)
from tests.bench.recall import main
from tests.bench.recall_data import DataSet, RecallQuestion, Target, read_data_set
from tests.bench.recall_quality import QuestionScore, SearchAnswer, ask_mode, fill_books
from tests.cli.cases import SMALL_SET

QUESTION = "when does the gate open?"
TURNS = ("Where do the beans go?", "The beans go behind the shed.", "And the peas?", "Peas stay in the box.")
SOURCE = 'import math\nFEW = 3\nTABLE = {"a": 0.5, "b": -1.0}\n_HALF, NAME = 0.5, "x"\nFLAG = True\n'


def read_talk() -> DataSet:
    """A set with one small conversation."""
    (contents,) = read_data_set(SMALL_SET).books
    items = [
        {"content": text, "key": f"t{place}", "scope": "project", "author": "ann", "thread": "garden", "seq": place}
        for place, text in enumerate(TURNS)
    ]
    questions = [RecallQuestion(f"where do the beans go {number}", frozenset({"t1"}), "a") for number in range(8)]
    return DataSet("talk", [contents._replace(items=items, questions=questions)], Target("fraction10"))


def load(folder: Path) -> ModuleType:
    """Return a module with some numbers."""
    (folder / "numbers.py").write_text(SOURCE, "utf-8")
    module = ModuleType("numbers")
    module.__file__ = str(folder / "numbers.py")
    exec(SOURCE, vars(module))
    return module


def score(key: str) -> QuestionScore:
    """The answer to a question of which `a` is the evidence."""
    return QuestionScore(RecallQuestion("?", frozenset({"a"}), "x"), SearchAnswer([key]), 1.0)


def test_every_number_of_a_module_is_found(tmp_path: Path) -> None:
    """Numbers and tables of numbers at the top level are found, whole ones to be halved and doubled alone."""
    found = find_constants(load(tmp_path))
    assert [(item.label, item.value, len(item.factors)) for item in found] == [
        ("FEW", 3, 2), ("TABLE[a]", 0.5, 3), ("TABLE[b]", -1.0, 3), ("_HALF", 0.5, 3),
    ]  # fmt: skip
    ours = {item.label for item in find_constants(ranking, later)}
    tables = {f"{name}[{weight}]" for name in ("CONVERSATION", "LONE") for weight in getattr(ranking, name)}
    assert tables < ours


@pytest.mark.parametrize("table", ["LONE", "CONVERSATION"])
def test_each_number_is_tried_once(tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lone notes are asked with each number but those of conversations, and conversations, of which a part of the
    questions is asked, with each but those of lone notes."""
    monkeypatch.setattr(ablation, "MAX_TURN_QUESTIONS", 3)
    data = read_data_set(SMALL_SET) if table == "LONE" else read_talk()
    with fill_books(data, tmp_path) as books:
        found = ablate(data, books)
    modules = (ranking, later) if table == "LONE" else (ranking,)
    wanted = [
        (item.label, factor)
        for item in find_constants(*modules)
        if item.name not in {"LONE", "CONVERSATION"} - {table}
        for factor in item.factors
    ]
    tried = [variant for variant in (*found.scores, *found.later) if variant is not None]
    assert [(variant.constant.label, variant.factor) for variant in tried] == wanted
    assert {len(scores) for scores in found.scores.values()} == ({2} if table == "LONE" else {3})


def test_other_numbers_reach_the_ranking(tmp_path: Path) -> None:
    """With another weight in a table, recall scores by it; afterwards by its own again."""
    weight = next(item for item in find_constants(ranking) if item.label == "BOTH[nearness]")
    with fill_books(read_data_set(SMALL_SET), tmp_path) as ((_, book),):
        own = book.recall(QUESTION).hits[0].score
        with replace_constant(weight, 100.0):
            assert book.recall(QUESTION).hits[0].score > own + 0.5
        assert book.recall(QUESTION).hits[0].score < own + 0.5


def test_one_way_leaves_no_trace_for_the_next(tmp_path: Path) -> None:
    """What was found before does not count as used when a way is asked."""
    with fill_books(read_data_set(SMALL_SET), tmp_path) as books:
        ((contents, book),) = books
        book.recall(QUESTION)
        assert book.recall(QUESTION, explain=True).explained[0]["usage"] > 0
        assert len(ask_mode([(contents._replace(questions=[]), book)])) == 0
        assert "usage" not in book.recall(QUESTION, explain=True).explained[0]


def test_the_choice_for_a_set_is_made_on_the_others() -> None:
    """The factor that is best on the other sets is measured on the set left out; where nothing differs, it stays."""
    constant = Constant(ranking, "BAND", None, 0.1)
    answers = {"one": "bba", "two": "bab"}  # as it is, halved, doubled: evidence is found, or not
    sets = [
        SetAblation(
            DataSet(name, [], Target("first")),
            {
                None: [score(keys[0])],
                Variant(constant, 0.5): [score(keys[1])],
                Variant(constant, 2.0): [score(keys[2])],
            },
            {},
        )
        for name, keys in answers.items()
    ]
    assert [(item.left_out, item.factor, item.points) for item in leave_one_out(sets)] == [
        ("one", 0.5, 0.0), ("two", 2.0, 0.0),
    ]  # fmt: skip
    assert [(item.factor, item.points) for item in leave_one_out(sets[1:])] == [(1.0, 0.0)]
    assert [(worth.factor, dict(worth.points)) for worth in compute_worths(sets)] == [
        (0.5, {"one": 0.0, "two": 100.0}), (2.0, {"one": 100.0, "two": 0.0}),
    ]  # fmt: skip


def test_an_ablation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """The table has a row for each number, and says what part of the questions was asked; JSON has them too."""
    assert main(["--data", SMALL_SET, "--ablate"]) == 0
    printed = capsys.readouterr().out
    assert "150 questions, evenly spaced" in printed and "LONE[words]" in printed
    assert main(["--data", SMALL_SET, "--ablate", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    labels = list(dict.fromkeys(item["label"] for item in document["ablation"]))
    assert labels == [item.label for item in find_constants(ranking, later) if item.name != "CONVERSATION"]
    assert {item["left_out"] for item in document["left_out"]} == {"small"}
