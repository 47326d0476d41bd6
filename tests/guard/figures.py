"""How much the secret rules find, and how often they alarm at nothing: `python -m tests.guard.figures`."""

from __future__ import annotations

import timeit
from collections import Counter
from dataclasses import dataclass, field

from commonplace.guard.secrets import find_secrets
from tests.guard import benign, planted

NOTE = (
    "We decided to run the integration tests on the nightly build only, because they take eleven minutes and the "
    "database container has to be warm; see docs/testing.md for how to run one of them by hand."
)


@dataclass
class Figures:
    planted: int = 0
    found: int = 0
    whole: int = 0  # found, and nothing of it left outside
    lines: int = 0
    alarms: int = 0
    by_format: dict[str, tuple[int, int]] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    missed_in: Counter[str] = field(default_factory=Counter)
    alarm_rules: Counter[str] = field(default_factory=Counter)
    alarm_lines: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.found / self.planted

    @property
    def false_rate(self) -> float:
        return self.alarms / self.lines

    def __str__(self) -> str:
        return (
            f"recall {self.recall:.2%} ({self.found} of {self.planted}; {self.whole} whole), "
            f"false alarms {self.false_rate:.3%} ({self.alarms} of {self.lines} lines; {dict(self.alarm_rules)})"
        )


def measure(times: int = 3, lines: int = 21_000) -> Figures:
    figures = Figures()
    for plant in planted.plants(times):
        found = [f for f in find_secrets(plant.text) if f.start < plant.end and plant.start < f.end]
        good, total = figures.by_format.get(plant.format, (0, 0))
        figures.by_format[plant.format] = (good + bool(found), total + 1)
        figures.planted += 1
        figures.found += bool(found)
        figures.whole += bool(found) and (found[-1].end >= plant.end or plant.format == "url password")
        if not found:
            figures.missed.append(f"{plant.format} / {plant.context}: {plant.text!r}")
            figures.missed_in[plant.context] += 1
    for line in benign.lines(lines):
        rules = {finding.rule for finding in find_secrets(line)}
        figures.lines += 1
        figures.alarms += bool(rules)
        figures.alarm_rules.update(rules)
        figures.alarm_lines += [line] if rules else []
    return figures


def best_of(text: str, runs: int) -> float:
    """Seconds of the fastest of several runs."""
    find_secrets(text)
    return min(timeit.repeat(lambda: find_secrets(text), number=1, repeat=runs))


def main() -> None:
    figures = measure(times=10, lines=50_000)
    print(figures)
    for format_, (good, total) in sorted(figures.by_format.items()):
        print(f"  {format_:20} {good / total:8.2%}")
    for miss in figures.missed[:40]:
        print("  missed:", miss[:160])
    print("  missed by context:", dict(figures.missed_in))
    for line in figures.alarm_lines[:60]:
        print("  alarm:", line[:160])
    source = "\n".join(benign.own_lines())
    print(f"a note of {len(NOTE)} characters: {best_of(NOTE, 2000) * 1e6:.1f} us")
    for name, text in (("prose", (NOTE + "\n") * 5300), ("prose, one line", NOTE * 5300), ("our source", source * 9)):
        print(f"1 MB of {name}: {best_of(text[:1_000_000], 5) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
