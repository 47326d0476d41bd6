"""Ablations measure what they say: every table of weights, one weight at a time, of books in one condition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from commonplace.recall import candidates
from tests.bench.ablation import TABLES, ablate, replace_weights
from tests.bench.recall_data import BookContents, read_set
from tests.bench.recall_quality import fill_books, measure_mode
from tests.cli.cases import SMALL_SET

THREAD = "garden"
TURNS = ("Where do the beans go?", "The beans go behind the shed.", "And the peas?", "Peas stay in the box.")


def talk() -> BookContents:
    (contents,) = read_set(SMALL_SET)
    items = [
        {"content": text, "key": f"t{place}", "scope": "project", "author": "ann", "thread": THREAD, "seq": place}
        for place, text in enumerate(TURNS)
    ]
    return contents._replace(
        items=items, questions=[item._replace(evidence=frozenset({"t1"})) for item in contents.questions]
    )


def test_every_table_of_weights_is_measured() -> None:
    """A table that recall/candidates.py has or gets is in the list of what is ablated."""
    tables = {name for name, value in vars(candidates).items() if name.isupper() and isinstance(value, Mapping)}
    assert tables == {table.name for table in TABLES}


def test_each_weight_is_left_out_once(tmp_path: Path) -> None:
    """Lone notes have the tables of lone notes, a conversation those of conversations: each weight of them once."""
    for contents, names in (
        (read_set(SMALL_SET)[0], ("LONE", "LONE_FOREIGN", "ANSWERED", "LONE_ROUGH")),
        (talk(), ("CONVERSATION",)),
    ):
        with fill_books([contents], str(tmp_path / names[0])) as books:
            found = ablate(books)
        wanted = [(name, weight, value) for name in names for weight, value in getattr(candidates, name).items()]
        assert [(item.table, item.weight, item.value) for item in found] == wanted
        assert all(item.without.name == f"{item.whole.name} - {item.weight}" for item in found)


def test_other_weights_reach_the_ranking(tmp_path: Path) -> None:
    """With weights in place of a table's own, recall scores by them; afterwards by its own again."""
    with fill_books(read_set(SMALL_SET), str(tmp_path)) as ((_, book),):
        own = book.recall("when does the gate open?").hits[0].score
        with replace_weights("LONE", {"words": 0.05, "meaning": 0.05}):
            assert book.recall("when does the gate open?").hits[0].score < own / 2
        assert book.recall("when does the gate open?").hits[0].score >= own


def test_one_way_leaves_no_trace_for_the_next(tmp_path: Path) -> None:
    """What was found before does not count as used when a way is asked."""
    question = "when does the gate open?"
    with fill_books(read_set(SMALL_SET), str(tmp_path)) as books:
        ((contents, book),) = books
        book.recall(question)
        assert book.recall(question, explain=True).explained[0]["usage"] > 0
        nothing = contents._replace(questions=[item for item in contents.questions if item.question == "penguins"])
        assert measure_mode("hybrid", [(nothing, book)], "hybrid").questions == 1
        assert book.recall(question, explain=True).explained[0]["usage"] == 0
