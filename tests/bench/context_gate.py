"""Measure the gate for prompts on other sets than its own: the questions of the sets for recall, as prompts.

`make bench-context ARGS=--gate` prints it. These people asked, so more memories answer than at a prompt. What counts is
how many of those that pass are right, and how often a question without an answer gets something.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from commonplace.context.prompt_gate import PromptGate
from commonplace.recall.query import RecallQuery
from commonplace.recall.search import search_indexed
from tests.bench.recall_data import DATA_FOLDER, DataSet, read_data_set
from tests.bench.recall_quality import FilledBooks, fill_books

MOST_TOLD = 3
HITS = 8
NOW = "2026-11-15T09:00:00Z"


class GateFigures(NamedTuple):
    """What passes the gate on one set; shares are from 0 to 1."""

    name: str
    precision: float  # of what passes
    answered: float  # of the questions that have an answer
    unanswerable: int
    unanswerable_told: int


def read_note_sets() -> list[DataSet]:
    """Return the sets of lone notes in other words, and the one of long notes where it is here."""
    files = [Path(__file__).with_name(f"{name}_set.json") for name in ("own", "natural", "fresh")]
    return [read_data_set(file) for file in [*files, DATA_FOLDER / "mtrag-notes.json"] if file.is_file()]


def measure_gate(sets: Sequence[DataSet]) -> list[GateFigures]:
    """Return what passes the gate on each set of lone notes."""
    figures = []
    for data in sets:
        with (
            tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder,
            fill_books(data, Path(folder)) as books,
        ):
            figures.append(_measure_books(data.name, books))
    return figures


def _measure_books(name: str, books: FilledBooks) -> GateFigures:
    told = right = answered = answerable = unanswerable = unanswerable_told = 0
    for contents, book in books:
        context = book.context
        folders = tuple(map(str, context.folders_to_search(None)))
        semantic, memories = context.semantic_index(), context.memories
        for question in contents.questions:
            query = RecallQuery(question.question, folders, limit=HITS)
            hits = search_indexed(
                memories.index, memories.space, query, now=NOW, uses=lambda _: {}, semantic=semantic
            ).hits
            passed = PromptGate.of(question.question, has_meaning=True).choose(hits)[:MOST_TOLD]
            keys = {hit.candidate.name for hit in passed}
            if not question.evidence:
                unanswerable += 1
                unanswerable_told += bool(keys)
                continue
            answerable += 1
            told += len(keys)
            right += len(keys & question.evidence)
            answered += not keys.isdisjoint(question.evidence)
    return GateFigures(
        name, right / max(1, told), answered / max(1, answerable), unanswerable, unanswerable_told
    )  # fmt: skip


def render_gate(figures: Sequence[GateFigures]) -> str:
    """Return the figures as a table."""
    lines = [f"{'set':<16}{'right of what passes':>22}{'questions answered':>20}{'without an answer':>20}"]
    for row in figures:
        without = f"{row.unanswerable_told} of {row.unanswerable}"
        lines.append(f"{row.name:<16}{row.precision:>22.1%}{row.answered:>20.1%}{without:>20}")
    return "\n".join(lines)
