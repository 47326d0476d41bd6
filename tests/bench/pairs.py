"""How well near duplicates are told apart, on pairs labelled by hand: `python -m tests.bench.pairs`.

tests/recall/pairs.json has pairs of short memories: the same fact in other words, one topic and two facts, and
contradictions. Half of each kind was looked at while the rules were made (`tune`), the other half was not (`held`).
An offer is right when the pair is the same or a contradiction. Of the offers that are right, `update` is right for the
same fact and `supersede` for a contradiction.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

from commonplace.recall.duplicates import CONTRADICTS, SAME, compare_texts

PAIRS = Path(__file__).parents[1] / "recall" / "pairs.json"


class Pair(NamedTuple):
    one: str
    other: str
    label: str  # same, different, contradiction
    part: str  # tune, held


class Figures(NamedTuple):
    part: str
    pairs: int
    offer_precision: float
    offer_recall: float
    supersede_precision: float
    supersede_recall: float
    update_precision: float
    update_recall: float


def load(part: str | None = None) -> list[Pair]:
    return [
        pair for item in json.loads(PAIRS.read_text("utf-8")) if (pair := Pair(**item)).part == part or part is None
    ]


def measure(part: str) -> Figures:
    pairs = load(part)
    found = [(pair.label, compare_texts(pair.one, pair.other).relation) for pair in pairs]
    near = [(label, told) for label, told in found if told]
    right = [(label, told) for label, told in near if label != "different"]
    return Figures(
        part,
        len(pairs),
        _share(len(right), len(near)),
        _share(len(right), sum(label != "different" for label, _ in found)),
        *_of(right, found, "contradiction", CONTRADICTS),
        *_of(right, found, "same", SAME),
    )


def _of(right: list[tuple[str, str]], found: list[tuple[str, str]], label: str, told: str) -> tuple[float, float]:
    """Precision among the offers that are right, and recall among all pairs of the kind."""
    hits = sum(pair == (label, told) for pair in right)
    return _share(hits, sum(said == told for _, said in right)), _share(hits, sum(kind == label for kind, _ in found))


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pairs", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--wrong", metavar="PART", choices=("tune", "held"), help="print the pairs that are judged wrong"
    )
    options = parser.parse_args()
    if options.wrong:
        for pair in load(options.wrong):
            found = compare_texts(pair.one, pair.other)
            wanted = {"same": SAME, "contradiction": CONTRADICTS, "different": ""}[pair.label]
            if found.relation != wanted:
                print(
                    f"{pair.label} taken for {found.relation or 'different'} ({found.similarity}):",
                    f"{pair.one} | {pair.other}",
                )
        return 0
    figures = [measure("tune"), measure("held")]
    if options.json:
        print(json.dumps([item._asdict() for item in figures], indent=2))
        return 0
    print(f"{'':24}{'tune':>8}{'held':>8}")
    for name in Figures._fields[1:]:
        print(f"{name.replace('_', ' '):24}" + "".join(f"{getattr(item, name):>8}" for item in figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
