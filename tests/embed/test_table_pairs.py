"""The notes and questions that the table of the default embedder is trained with."""

from __future__ import annotations

import json
import re
from pathlib import Path

from commonplace.guard.secrets import find_secrets
from tools import table_texts

SETS = sorted((Path(__file__).parents[1] / "bench").glob("*_set.json"))
PAIRS = table_texts.read_pairs()
IN_A_ROW = 6  # words that two texts share by chance only if they are a phrase


def test_every_line_is_a_note_and_two_questions() -> None:
    """No line is empty, a note is there once, and none has anything that looks like a secret."""
    assert len({pair.note for pair in PAIRS}) == len(PAIRS) > 4_000
    assert all(len(text.split()) > 1 or len(text) > 5 for pair in PAIRS for text in pair)
    assert not find_secrets("\n".join(text for pair in PAIRS for text in pair))


def test_no_line_is_from_a_set_that_recall_is_measured_with() -> None:
    """What is trained on and what is measured share no six words in a row: else a figure would praise itself."""
    sets = [json.loads(file.read_text("utf-8")) for file in SETS]
    books = [book for of in sets for book in of.get("books", [of])]
    lines = [line for book in books for part in ("memories", "questions", "prompts") for line in book.get(part, ())]
    measured = [line.get("text") or line.get("question") or line["prompt"] for line in lines]
    assert len(measured) > 1_000
    trained = {row for pair in PAIRS for text in pair for row in _rows(text)}
    assert not [text for text in measured if trained & _rows(text)]


def test_whole_blocks_are_held_out() -> None:
    """An eighth of the lines is held out, in blocks: a line's neighbours would give it away."""
    held = [line for line in range(len(PAIRS)) if table_texts.is_held_out(line)]
    assert 0.1 < len(held) / len(PAIRS) < 0.15
    assert all(table_texts.is_held_out(line - line % table_texts.BLOCK) for line in held)


def _rows(text: str) -> set[tuple[str, ...]]:
    words = re.findall("[a-z0-9]+", text.lower())
    return {tuple(words[at : at + IN_A_ROW]) for at in range(len(words) - IN_A_ROW + 1)}
