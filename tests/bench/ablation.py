"""What each weight of the ranking is worth: the points that are lost with that weight at nothing, on every set here.

Every table of recall/candidates.py is listed, with the mode that reads it and the entries that it is for. A weight that
a set cannot tell apart (no author is ever named in it) shows no difference; that is not a reason to drop it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple
from unittest.mock import patch

from commonplace.recall import candidates
from tests.bench.measure import Note, Row
from tests.bench.recall_data import BookContents, read_set
from tests.bench.recall_quality import FilledBooks, Quality, fill_books, measure_mode
from tests.bench.scratch_books import Bench

HERE = Path(__file__).parent
# A set of conversations has a licence of its own and is not ours to ship: it is used where somebody has put it.
CONVERSATIONS = HERE.parents[2] / "shared" / "data" / "locomo-dev.json"
SETS = (HERE / "own_set.json", HERE / "natural_set.json", HERE / "fresh_set.json", CONVERSATIONS)
FIGURES = ("fraction5", "fraction10", "ndcg10", "false_answers", "newer_first")


class WeightTable(NamedTuple):
    """A table of weights, by its name in recall/candidates.py."""

    name: str
    mode: str  # that reads it
    threads: bool  # whether it is for entries of a conversation


TABLES = (
    WeightTable("CONVERSATION", "hybrid", threads=True),
    WeightTable("LONE", "hybrid", threads=False),
    WeightTable("LONE_FOREIGN", "hybrid", threads=False),
    WeightTable("ANSWERED", "hybrid", threads=False),
    WeightTable("LONE_ROUGH", "hybrid", threads=False),
)


class Ablation(NamedTuple):
    """The figures with and without one weight."""

    table: str
    weight: str
    value: float
    whole: Quality  # with all weights, of the same books in the same mode
    without: Quality


@dataclass(frozen=True)
class WeightRow(Row):
    """One weight on one set. Below nothing, the set is better off without it."""

    HEADING: ClassVar[str] = (
        f"{'points lost without a weight':<56} {'weight':>6} {'@5':>6} {'@10':>6} {'nDCG':>6} {'false':>6} {'newer':>6}"
    )
    data: str
    ablation: Ablation

    def line(self) -> str:
        one = self.ablation
        name = f"{self.data} {one.whole.name}: {one.table}[{one.weight}]"
        said = " ".join(f"{'-' if value is None else format(value, '+.1f'):>6}" for value in self.lost().values())
        return f"{name:<56} {one.value:>6.2f} {said}"

    def lost(self) -> dict[str, float | None]:
        """Return the points that are lost without the weight, by figure."""
        whole, without = self.ablation.whole, self.ablation.without
        return {name: _lost_points(whole, without, name) for name in FIGURES}

    def as_dict(self) -> dict[str, object]:
        one = self.ablation
        return {
            "name": f"{one.table}[{one.weight}]",
            "data": self.data,
            "weight": one.value,
            "whole": {name: getattr(one.whole, name) for name in FIGURES},
            "lost_points": {name: None if value is None else round(value, 2) for name, value in self.lost().items()},
        }


def run(bench: Bench) -> list[Row]:
    """Leave out each weight on every set that is here."""
    rows: list[Row] = []
    missing: list[Row] = []
    for file in SETS:
        if not file.is_file():
            missing.append(Note(f"weights on {file.stem}", "the file is not here"))
            continue
        with fill_books(read_set(file), str(bench.folder / f"weights-{file.stem}")) as books:
            rows += [WeightRow(file.stem.removesuffix("_set"), item) for item in ablate(books)]
    return [*rows, *missing]


def ablate(books: FilledBooks) -> list[Ablation]:
    """Return one ablation for each weight of the tables that the set's entries use."""
    found = []
    for table in TABLES:
        chosen = [pair for pair in books if table.threads == _has_threads(pair[0])]
        if not chosen:
            continue
        weights: Mapping[str, float] = getattr(candidates, table.name)
        whole = measure_mode(table.mode, chosen, table.mode)
        for name, value in weights.items():
            with replace_weights(table.name, {**weights, name: 0.0}):
                without = measure_mode(f"{table.mode} - {name}", chosen, table.mode)
            found.append(Ablation(table.name, name, value, whole, without))
    return found


@contextmanager
def replace_weights(table: str, weights: Mapping[str, float]) -> Iterator[None]:
    """Rank with other weights in one of the tables, wherever that has been imported to."""
    own = getattr(candidates, table)
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("commonplace.recall.")]
    with ExitStack() as stack:
        for module in modules:
            if getattr(module, table, None) is own:
                stack.enter_context(patch.object(module, table, weights))
        yield


def _has_threads(contents: BookContents) -> bool:
    return any("thread" in item for item in contents.items)


def _lost_points(whole: Quality, without: Quality, name: str) -> float | None:
    """Return how much worse a figure is: of false answers there are more when something is lost, of the rest less."""
    before: float | None = getattr(whole, name)
    after: float | None = getattr(without, name)
    if before is None or after is None:
        return None
    return 100 * (after - before if name == "false_answers" else before - after)
