"""What each weight of the ranking is worth: how many points are lost without it, on every set that is here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from commonplace.bench.ablation import Ablation, ablations
from commonplace.bench.data import read_set
from commonplace.bench.recall import Result
from commonplace.bench.ways import filled
from tests.bench.made import Bench
from tests.bench.measure import Note, Row

HERE = Path(__file__).parent
# A set of conversations has a licence of its own and is not ours to ship: it is used where somebody has put it.
CONVERSATIONS = HERE.parents[2] / "shared" / "data" / "locomo-dev.json"
SETS = (HERE / "own_set.json", HERE / "natural_set.json", HERE / "fresh_set.json", CONVERSATIONS)


@dataclass(frozen=True)
class Worth(Row):
    """One weight on one set. What is lost without it is its worth; below nothing, the set is better off without."""

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
        whole, without = self.ablation.whole, self.ablation.without
        return {name: _less(whole, without, name) for name in FIGURES}

    def as_dict(self) -> dict[str, object]:
        one = self.ablation
        return {
            "name": f"{one.table}[{one.weight}]",
            "data": self.data,
            "weight": one.value,
            "whole": {name: getattr(one.whole, name) for name in FIGURES},
            "lost_points": {name: None if value is None else round(value, 2) for name, value in self.lost().items()},
        }


FIGURES = ("fraction5", "fraction10", "ndcg10", "false_answers", "newer_first")


def _less(whole: Result, without: Result, name: str) -> float | None:
    """Of false answers there are more when something is lost, of everything else less."""
    before: float | None = getattr(whole, name)
    after: float | None = getattr(without, name)
    if before is None or after is None:
        return None
    return 100 * (after - before if name == "false_answers" else before - after)


def ablation(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    missing: list[Row] = []
    for file in SETS:
        if not file.is_file():
            missing.append(Note(f"weights on {file.stem}", "the file is not here"))
            continue
        with filled(read_set(file), str(bench.folder / f"weights-{file.stem}")) as books:
            rows += [Worth(file.stem.removesuffix("_set"), item) for item in ablations(books)]
    return [*rows, *missing]
