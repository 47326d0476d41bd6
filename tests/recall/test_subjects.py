"""Notes that differ in a number, an identifier or a name: two subjects, or one with another value.

`subjects.json` has the pairs: an earlier note, a later one, and what is asked.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Book
from tests.depth import depths
from tests.recall.test_corrections import BURNER, NEW, OLD, PUMP
from tests.recall.test_meaning import NOTES, keys, opened

PAIRS: dict[str, list[list[str | list[str]]]] = json.loads(
    Path(__file__).with_name("subjects.json").read_text(encoding="utf-8")
)


def answers(root: Path, kind: str, step: int = 1) -> list[tuple[list[str], str, list[str]]]:
    """For each question about each pair, asked in a small book of its own: what is wanted first, and the pair; the
    question; the texts of the hits. `step` leaves pairs out."""
    found = []
    for number, (earlier, later, *questions) in enumerate(PAIRS[kind][::step]):
        assert isinstance(earlier, str) and isinstance(later, str)
        with opened(root / str(number)) as book:
            book.store_many({"content": text, "occurred": OLD} for text in (*NOTES.values(), earlier))
            book.store(later, occurred=NEW)
            firsts = (earlier, later) if kind != "corrections" else (later,)
            for wanted, asked in zip(firsts, questions, strict=False):
                for question in asked:
                    found.append(([wanted, earlier, later], question, [hit.text for hit in book.recall(question).hits]))
    return found


@pytest.mark.parametrize("step", depths(6, 1))
def test_of_two_subjects_the_one_that_is_asked_for_is_first(tmp_path: Path, step: int) -> None:
    """Of two notes that differ by number, version, letter, path, identifier or name, the one named comes first."""
    found = answers(tmp_path, "two subjects", step)
    wrong = [(asked, texts[:2]) for (wanted, *_), asked, texts in found if texts[0] != wanted]
    assert wrong == []


@pytest.mark.parametrize("step", depths(5, 1))
def test_a_correction_is_first_whatever_value_is_asked_for(tmp_path: Path, step: int) -> None:
    """A later note with another value comes first, also when the question has the old value in it."""
    found = answers(tmp_path, "corrections", step)
    wrong = [(asked, texts[:2]) for (wanted, *_), asked, texts in found if texts[0] != wanted]
    assert wrong == []


def test_where_the_rule_errs_the_right_note_is_second(tmp_path: Path) -> None:
    """A value before the verb is taken for a subject, and a subject behind it for a value; both notes are shown."""
    for (wrong, *pair), asked, texts in answers(tmp_path, "taken wrongly"):
        (right,) = set(pair) - {wrong}
        assert texts[:2] == [wrong, right], asked


def test_every_one_of_a_series_is_found_by_its_number(tmp_path: Path) -> None:
    """Of many notes that only numbers tell apart, written one after the other, the one that is named comes first."""
    with opened(tmp_path / "book") as book:
        series = {f"web-{n:02}": f"Server web-{n:02} is in rack {n * 3 % 17}" for n in range(30)}
        series |= {f"fact-{n}-{m}": f"Fact {n} {m}" for n in range(5) for m in range(5)}
        when = (f"2025-{1 + n // 28:02}-{1 + n % 28:02}T00:00:00Z" for n in range(len(series)))
        book.store_many(
            {"content": text, "key": f"n{n}", "occurred": day}
            for n, (text, day) in enumerate(zip(series.values(), when, strict=True))
        )
        for n, name in enumerate(series):
            question = name.replace("-", " ") if name.startswith("fact") else f"in which rack is {name}"
            assert keys(book, question)[:1] == [f"n{n}"], question


def test_a_correction_of_something_else_is_not_brought_along(tmp_path: Path) -> None:
    """A later note that does not answer by itself does not come before a hit whose subject the question names."""
    with opened(tmp_path / "book") as book:
        hit = BURNER.replace("The workshop is", "Workshop VX-204 is")
        book.store(hit, key="burner", tags=["heating"], occurred=OLD)
        book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=NEW)
        assert keys(book, "how do we keep the workshop warm")[:1] == ["cellar-pump"]
        assert keys(book, "how do we keep the workshop VX-204 warm")[:1] == ["burner"]


def test_a_name_tells_what_a_note_is_about(tmp_path: Path) -> None:
    """What only the name of a note has is its subject; and a later note has it, if its name or a tag has."""
    text = "Stands in rack {}, beside the door of the cellar."
    for name, tags, first in (("web-02", [], "web-01"), ("moved", ["web-01"], "moved")):
        with opened(tmp_path / name) as book:
            book.store(text.format(4), key="web-01", occurred=OLD)
            book.store(text.format(7), key=name, tags=tags, occurred=NEW)
            assert keys(book, "where in the cellar is web-01, which rack")[:1] == [first]


def test_what_was_superseded_does_not_come_back_by_its_number(tmp_path: Path) -> None:
    """A note that was set aside stays below what replaced it, though the question names its number."""
    with opened(tmp_path / "book") as book:
        book.store("Port 6000 is for staging.", key="old", occurred=OLD)
        book.store("Port 7000 is for staging.", key="new", occurred=NEW, decision="supersede:old")
        assert keys(book, "is port 6000 for staging")[:1] == ["new"]


@pytest.mark.parametrize("question", ["which room has a projector", "projector in room 3"])
def test_notes_that_differ_in_one_digit_are_no_copies(tmp_path: Path, question: str) -> None:
    """Room 3 and room 5 are not taken for near copies, which come after everything else."""
    with Book.open(tmp_path / "book", project="acme/app") as book:
        book.store_many({"content": f"Room {n} has a projector", "key": f"room-{n}"} for n in range(1, 6))
        for key, text in (("hall", "The projector in the hall is broken"), ("door", "The room key hangs at the door")):
            book.store(text, key=key)
        assert set(keys(book, question)[:5]) == {f"room-{n}" for n in range(1, 6)}
