"""Measure recall on a data set: `make bench-recall DATA=FILE`, or `python -m tests.bench.recall --data FILE`.

Stores the set in a scratch book and asks its questions, beside plain grep, FTS5 and vectors. A set is JSON: either

    {"conversations": [{"id", "turns": [{"id", "session", "time", "author", "text"}],
                        "questions": [{"question", "evidence", "category"}]}]}
or
    {"name", "memories": [{"id", "key", "type", "tags", "time", "author", "text"}],
     "questions": [{"kind", "question", "evidence"}]}

Figures are in percent, times in milliseconds at the median. `--json` prints them as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence

from commonplace.model.errors import CommonplaceError
from tests.bench.ablation import ablate
from tests.bench.recall_data import read_set
from tests.bench.recall_quality import Quality, compare_ways, fill_books

_HEADERS = ("WAY", "any@5", "@5", "@10", "all@10", "nDCG", "MRR", "false", "newer", "ms", "tokens")


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.recall",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="FILE", required=True, help="the data set")
    parser.add_argument("--ablate", action="store_true", help="also measure without each weight of the ranking")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(words)
    try:
        results = measure_set(options.data, has_ablation=options.ablate)
    except CommonplaceError as error:
        print(f"{error}\n{error.hint}", file=sys.stderr)
        return error.exit_code
    if options.json:
        print(json.dumps({"results": [result._asdict() for result in results]}, ensure_ascii=False))
    else:
        print(render(results))
    return 0


def measure_set(path: str, *, has_ablation: bool) -> list[Quality]:
    """Return the figures of every way to search; with an ablation, also those without each weight."""
    contents = read_set(path)
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder,
        fill_books(contents, folder) as books,
    ):
        results = compare_ways(books)
        if has_ablation:
            results += [item.without for item in ablate(books)]
    return results


def render(results: Sequence[Quality]) -> str:
    """Return the figures as a table, and those of each category on a line of its own."""
    rows = [_HEADERS, *map(_row, results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += ["", "@5 by category (with the nearest):"]
    lines += [f"  {result.name}: {_by_category(result)}" for result in results]
    return "\n".join(lines)


def _row(result: Quality) -> tuple[str, ...]:
    return (
        result.name, _percent(result.any5), _percent(result.fraction5), _percent(result.fraction10),
        _percent(result.all10), _percent(result.ndcg10), f"{result.mrr:.2f}", _percent(result.false_answers),
        _percent(result.newer_first), f"{result.p50_ms:.1f}", f"{result.tokens:.0f}",
    )  # fmt: skip


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _by_category(result: Quality) -> str:
    words = []
    for name, value in result.categories.items():
        nearest = result.nearest[name]
        words.append(f"{name}:{100 * value:.0f}" + (f" ({100 * nearest:.0f})" if nearest > value else ""))
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main())
