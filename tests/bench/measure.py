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


def alternate(rounds: int, *actions: Callable[[int], object]) -> list[float]:
    """Median milliseconds of each action, taking turns, after a few rounds to warm up."""
    times: list[list[float]] = [[] for _ in actions]
    gc.collect()
    for turn in range(rounds + 5):
        for action, spent in zip(actions, times, strict=True):
            start = time.perf_counter()
            action(turn)
            spent.append((time.perf_counter() - start) * 1000)
    return [statistics.median(spent[5:]) for spent in times]


def once(action: Callable[[], object]) -> float:
    """Milliseconds of one run: for what is too long to repeat."""
    gc.collect()
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def table(measures: Sequence[Measure]) -> str:
    lines = [f"{'measure':<52} {'floor ms':>9} {'ours ms':>9} {'ratio':>6} {'budget':>7}  verdict"]
    lines += [
        f"{m.name:<52} {m.floor_ms:>9.3f} {m.ours_ms:>9.3f} {m.ratio:>6.2f} {m.budget:>7.2f}  {m.verdict}"
        for m in measures
    ]
    return "\n".join(lines)
