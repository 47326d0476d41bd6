"""Timing things against each other, and the rows of the tables that show the results.

Every kind of row has a heading, a line and a dict: the tables and `--json` are made of these alone.
"""

from __future__ import annotations

import gc
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import ClassVar

Clock = Callable[[], float]
WALL: Clock = time.perf_counter
# For what only computes: a busy machine takes the processor away from what runs for long, not from a floor that is done
# before its turn is over, and a ratio of wall times would tell of the neighbours. Windows counts too coarsely for it.
WORK: Clock = time.process_time if time.get_clock_info("process_time").resolution < 1e-4 else WALL
QUIET_MS = 13.0  # `python -c pass` on a quiet machine


class Row(ABC):
    HEADING: ClassVar[str]

    @abstractmethod
    def line(self) -> str: ...

    @abstractmethod
    def as_dict(self) -> dict[str, object]: ...


@dataclass(frozen=True)
class Measure(Row):
    """Ours as a ratio to a floor that was timed in the same run."""

    HEADING: ClassVar[str] = f"{'measure':<56} {'floor ms':>9} {'ours ms':>9} {'ratio':>6} {'budget':>7}  verdict"
    name: str
    floor_ms: float
    ours_ms: float
    budget: float | None  # None: no verdict

    @property
    def ratio(self) -> float:
        return self.ours_ms / self.floor_ms

    def line(self) -> str:
        figures = f"{self.floor_ms:>9.3f} {self.ours_ms:>9.3f} {self.ratio:>6.2f}"
        return f"{self.name:<56} {figures} {_or_dash(self.budget):>7}  {verdict(self.ratio, self.budget)}"

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "ratio": round(self.ratio, 3), "verdict": verdict(self.ratio, self.budget)}


@dataclass(frozen=True)
class Start(Row):
    """A process against `python -c pass`: a difference, and a budget that grows as the floor does."""

    HEADING: ClassVar[str] = f"{'fresh process':<56} {'pass ms':>9} {'ours ms':>9} {'more':>6} {'budget':>7}  verdict"
    name: str
    floor_ms: float
    ours_ms: float
    budget_ms: float | None

    @property
    def more_ms(self) -> float:
        return self.ours_ms - self.floor_ms

    @property
    def scaled_ms(self) -> float | None:
        return None if self.budget_ms is None else self.budget_ms * self.floor_ms / QUIET_MS

    def line(self) -> str:
        figures = f"{self.floor_ms:>9.1f} {self.ours_ms:>9.1f} {self.more_ms:>6.1f}"
        budget = _or_dash(self.scaled_ms, ".1f")
        return f"{self.name:<56} {figures} {budget:>7}  {verdict(self.more_ms, self.scaled_ms)}"

    def as_dict(self) -> dict[str, object]:
        scaled_ms = None if self.scaled_ms is None else round(self.scaled_ms, 1)
        figures = {"more_ms": round(self.more_ms, 1), "scaled_ms": scaled_ms}
        return {**asdict(self), **figures, "verdict": verdict(self.more_ms, self.scaled_ms)}


@dataclass(frozen=True)
class Duration(Row):
    """Milliseconds of our own, without a floor."""

    HEADING: ClassVar[str] = f"{'time':<56} {'':>9} {'ours ms':>9} {'':>6} {'budget':>7}  verdict"
    name: str
    ours_ms: float
    budget_ms: float | None

    def line(self) -> str:
        figures = f"{self.ours_ms:>9.3f} {'':>6} {_or_dash(self.budget_ms, '.0f'):>7}"
        return f"{self.name:<56} {'':>9} {figures}  {verdict(self.ours_ms, self.budget_ms)}"

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "verdict": verdict(self.ours_ms, self.budget_ms)}


@dataclass(frozen=True)
class Amount(Row):
    """What is counted and not timed."""

    HEADING: ClassVar[str] = f"{'amount':<56} {'':>9} {'ours':>9} {'':>6} {'budget':>7}  verdict"
    name: str
    value: float
    unit: str
    budget: float | None

    def line(self) -> str:
        said = f"{self.value:>9.6g} {self.unit:<6} {_or_dash(self.budget, '.0f'):>7}"
        return f"{self.name:<56} {'':>9} {said}  {verdict(self.value, self.budget)}"

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "verdict": verdict(self.value, self.budget)}


@dataclass(frozen=True)
class Growth(Row):
    """The same thing in books of several sizes. Sizes take turns, so that noise falls on all of them."""

    HEADING: ClassVar[str] = f"{'growth, ms by memories':<56} each size, and how many times the one before"
    name: str
    by_size: Mapping[int, float]  # milliseconds by how many memories there are

    def line(self) -> str:
        said, before = [], None
        for size, ms in self.by_size.items():
            said.append(f"{size:>7,}: {ms:>10.2f}" + ("" if before is None else f" (x{ms / before:.1f})"))
            before = ms
        return f"{self.name:<40} {'  '.join(said)}"

    def as_dict(self) -> dict[str, object]:
        return {"name": self.name, "ms": {str(size): round(ms, 3) for size, ms in self.by_size.items()}}


@dataclass(frozen=True)
class Note(Row):
    """What was not measured, and why: a row that is missing must not look like one that was met."""

    HEADING: ClassVar[str] = "not measured"
    name: str
    why: str

    def line(self) -> str:
        return f"{self.name:<56} {self.why}"

    def as_dict(self) -> dict[str, object]:
        return {"name": self.name, "not_measured": self.why}


def verdict(value: float, budget: float | None) -> str:
    if budget is None:
        return "-"
    return "within" if value <= budget else "OVER"


def tables(rows: Sequence[Row]) -> str:
    """Rows of one kind that follow each other are one table."""
    blocks = []
    for _, group in groupby(rows, key=lambda row: row.HEADING):
        found = list(group)
        blocks.append("\n".join([found[0].HEADING, *(row.line() for row in found)]))
    return "\n\n".join(blocks)


def alternate(rounds: int, *actions: Callable[[int], object], clock: Clock = WALL) -> list[float]:
    """Median milliseconds of each action, taking turns, after a few rounds to warm up."""
    return [statistics.median(spent) for spent in turns(rounds, *actions, clock=clock)]


def high(spent: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(spent, n=20)[-1]


def turns(rounds: int, *actions: Callable[[int], object], clock: Clock = WALL) -> list[list[float]]:
    """Milliseconds of each action in each round, taking turns, after a few rounds to warm up."""
    times: list[list[float]] = [[] for _ in actions]
    gc.collect()
    for turn in range(rounds + 5):
        for action, spent in zip(actions, times, strict=True):
            start = clock()
            action(turn)
            spent.append((clock() - start) * 1000)
    return [spent[5:] for spent in times]


def once(action: Callable[[], object]) -> float:
    """Milliseconds of one run: for what is too long to repeat."""
    gc.collect()
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def _or_dash(value: float | None, how: str = ".2f") -> str:
    return "-" if value is None else format(value, how)
