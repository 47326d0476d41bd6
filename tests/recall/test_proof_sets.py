"""Four sets that prove what recall promises: short questions, identifiers, quoted errors, strength in small books.

The notes are beside this file. `make bench-recall` measures the same sets, with every other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.results import Hit
from tests.bench.recall_data import BookContents, RecallQuestion, read_set
from tools.model_texts import find_runs
from tools.table_texts import read_pairs

HERE = Path(__file__).parent
SETS = ("alike", "identifiers", "quoted", "small")
Answers = Sequence[tuple[RecallQuestion, Sequence[Hit]]]


def ask(contents: BookContents, folder: Path) -> Answers:
    """Store the notes of a book, ask its questions, and return them with their hits."""
    with Book.open(folder / contents.name, project=contents.name) as book:
        book.store_many(contents.items)
        book.embed()
        return [(item, book.recall(item.question, scope="project").hits) for item in contents.questions]


def find_misses(answers: Answers) -> list[str]:
    """Return the questions whose note does not come first, each with the note that did."""
    return [
        f"{item.question}: {hits[0].key if hits else 'nothing'}, not {', '.join(item.evidence)}"
        for item, hits in answers
        if item.evidence and (not hits or hits[0].key not in item.evidence)
    ]


@pytest.mark.parametrize(("name", "asked", "wanted"), [("alike", 60, 58), ("identifiers", 40, 40), ("quoted", 40, 36)])
def test_the_right_note_comes_first(tmp_path: Path, name: str, asked: int, wanted: int) -> None:
    """Of notes that begin alike, of near misses of an identifier, and of similar errors, the one meant leads."""
    (contents,) = read_set(HERE / f"{name}.json")
    answers = ask(contents, tmp_path)
    misses = find_misses(answers)
    assert len(answers) == asked
    assert asked - len(misses) >= wanted, "\n".join(misses)


def test_strength_is_right_in_small_books(tmp_path: Path) -> None:
    """In books of one to five notes most right first hits are strong, and few for what the book does not answer."""
    answers = [answer for contents in read_set(HERE / "small.json") for answer in ask(contents, tmp_path)]
    right = [(item, hits[0]) for item, hits in answers if hits and hits[0].key in item.evidence]
    weak = [item.question for item, hit in right if not hit.strong]
    wrong = [item.question for item, hits in answers if not item.evidence and hits and hits[0].strong]
    assert len(right) >= 19, "\n".join(find_misses(answers))
    assert len(weak) <= 10, "weak, though right:\n" + "\n".join(weak)
    assert len(wrong) <= 6, "strong, though there is no answer:\n" + "\n".join(wrong)


def test_a_quoted_text_only_orders_the_hits(tmp_path: Path) -> None:
    """An error that no note has as it is quoted is answered with hits all the same."""
    (contents,) = read_set(HERE / "quoted.json")
    question = RecallQuestion('what to do about "no such error was ever noted" at home', frozenset(), "quoted")
    ((_, hits),) = ask(contents._replace(questions=[question]), tmp_path)
    assert hits


@pytest.mark.parametrize("name", SETS)
def test_the_sets_are_what_they_say(name: str) -> None:
    """Notes and questions are unique, alike has 30 single words, small as many without an answer as with one."""
    books = read_set(HERE / f"{name}.json")
    texts = [str(item["content"]) for contents in books for item in contents.items]
    asked = [item for contents in books for item in contents.questions]
    assert len(set(texts)) == len(texts) and len({item.question for item in asked}) == len(asked)
    assert all(len(contents.items) <= 5 for contents in books) == (name == "small")
    lengths = [len(item.question.split()) for item in asked]
    assert name != "alike" or (lengths.count(1), max(lengths)) == (30, 4)
    assert name != "quoted" or all(re.search('".+"', item.question) for item in asked)
    assert name != "small" or [bool(item.evidence) for item in asked].count(True) == len(asked) / 2 == 20


def test_the_model_was_not_trained_on_them() -> None:
    """No note or question has eight words in a row with a text that the embedders were tuned on."""
    books = [contents for name in SETS for contents in read_set(HERE / f"{name}.json")]
    ours = [str(item["content"]) for contents in books for item in contents.items]
    ours += [item.question for contents in books for item in contents.questions]
    trained = [text for pair in read_pairs() for text in (pair.note, pair.plainly, pair.otherwise)]
    assert find_runs(ours) & find_runs(trained) == set()
