"""Timing two things against each other, and the table that says what came out."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    floor_ms: float
    ours_ms: float
    budget: float

    @property
    def ratio(self) -> float:
        return self.ours_ms / self.floor_ms

    @property
    def verdict(self) -> str:
        return "within" if self.ratio <= self.budget else "OVER"

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "ratio": round(self.ratio, 3), "verdict": self.verdict}


@dataclass(frozen=True, slots=True)
class Start:
    """A process against `python -c pass`: a difference, and a budget that grows as the floor does."""

    name: str
    floor_ms: float
    ours_ms: float
    budget_ms: float
    quiet_ms: float

    @property
    def more_ms(self) -> float:
        return self.ours_ms - self.floor_ms

    @property
    def scaled_ms(self) -> float:
        return self.budget_ms * self.floor_ms / self.quiet_ms

    @property
    def verdict(self) -> str:
        return "within" if self.more_ms <= self.scaled_ms else "OVER"

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "more_ms": round(self.more_ms, 1), "verdict": self.verdict}


def alternate(rounds: int, *actions: Callable[[int], object]) -> list[float]:
    """Median milliseconds of each action, taking turns, after a few rounds to warm up."""
    return [statistics.median(spent) for spent in turns(rounds, *actions)]


def high(spent: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(spent, n=20)[-1]


def turns(rounds: int, *actions: Callable[[int], object]) -> list[list[float]]:
    """Milliseconds of each action in each round, taking turns, after a few rounds to warm up."""
    times: list[list[float]] = [[] for _ in actions]
    gc.collect()
    for turn in range(rounds + 5):
        for action, spent in zip(actions, times, strict=True):
            start = time.perf_counter()
            action(turn)
            spent.append((time.perf_counter() - start) * 1000)
    return [spent[5:] for spent in times]


def once(action: Callable[[], object]) -> float:
    """Milliseconds of one run: for what is too long to repeat."""
    gc.collect()
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def start_table(starts: Sequence[Start]) -> str:
    lines = [f"{'fresh process':<52} {'pass ms':>9} {'ours ms':>9} {'more':>6} {'budget':>7}  verdict"]
    lines += [
        f"{s.name:<52} {s.floor_ms:>9.1f} {s.ours_ms:>9.1f} {s.more_ms:>6.1f} {s.scaled_ms:>7.1f}  {s.verdict}"
        for s in starts
    ]
    return "\n".join(lines)


def table(measures: Sequence[Measure]) -> str:
    lines = [f"{'measure':<52} {'floor ms':>9} {'ours ms':>9} {'ratio':>6} {'budget':>7}  verdict"]
    lines += [
        f"{m.name:<52} {m.floor_ms:>9.3f} {m.ours_ms:>9.3f} {m.ratio:>6.2f} {m.budget:>7.2f}  {m.verdict}"
        for m in measures
    ]
    return "\n".join(lines)
