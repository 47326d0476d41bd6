"""Measure recall: `make bench-recall`, or `python -m tests.bench.recall`.

Stores every set that is here in scratch books and asks its questions, beside plain FTS5 and plain vectors; with
`--data FILE`, one set alone. A set is JSON: either

    {"conversations": [{"id", "turns": [{"id", "session", "time", "author", "text"}],
                        "questions": [{"question", "evidence", "category"}]}]}
or
    {"name", "memories": [{"id", "key", "type", "tags", "time", "author", "text"}],
     "questions": [{"kind", "question", "evidence", "older"}]}
or
    {"books": [{"name", "memories", "questions"}]}

A memory may lack all but key and text; the evidence is then named by key. Figures are in percent, times in milliseconds
at the median. `--json` prints figures from 0 to 1, and changes in points, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from tests.bench.ablation import (
    MAX_TURN_QUESTIONS,
    LeftOut,
    SetAblation,
    Worth,
    ablate,
    compute_worths,
    leave_one_out,
)
from tests.bench.recall_data import DATA_FOLDER, OTHER_FILES, OWN_FILES, DataSet, read_data_set
from tests.bench.recall_quality import (
    LaterCount,
    Quality,
    QuestionScore,
    Strength,
    add_later_counts,
    compare_ways,
    count_later,
    fill_books,
    get_figure,
    measure_quality,
    measure_strength,
)

_HEADERS = ("SET", "WAY", "any@5", "@5", "@10", "first", "nDCG", "MRR", "ms")
_HIT_HEADERS = (
    "HITS", "right if strong", "if weak", "strong if right", "without answer", "later named", "wrongly",
)  # fmt: skip
_FIGURES = {"paraphrase": "in other words, @5", "first": "first", "fraction5": "@5", "fraction10": "@10"}


class SetReport(NamedTuple):
    """All figures of one set."""

    data: DataSet
    results: Sequence[Quality]
    scores: Sequence[QuestionScore]  # of the shipped recall
    later: LaterCount
    ablation: SetAblation | None


class Check(NamedTuple):
    """A figure in percent beside what is wanted of it."""

    name: str
    found: float | None  # None: nothing here can tell
    wanted: float
    at_most: bool = False

    @property
    def verdict(self) -> str:
        """Whether it is met."""
        if self.found is None:
            return "-"
        return "met" if (self.found <= self.wanted if self.at_most else self.found >= self.wanted) else "MISSED"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.recall",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="FILE", help="measure this set alone")
    parser.add_argument(
        "--data-dir", metavar="FOLDER", type=Path, default=DATA_FOLDER, help="where the sets are that are not ours"
    )
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep the filled books there for the next run")
    parser.add_argument(
        "--ablate", action="store_true", help="also measure with each number of the ranking left out, halved, doubled"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(words)
    others = [options.data_dir / name for name in OTHER_FILES]
    files = [Path(options.data)] if options.data else [*OWN_FILES, *(file for file in others if file.is_file())]
    if not options.data and (missing := [file.stem for file in others if not file.is_file()]):
        print(f"Not measured: {', '.join(missing)} (no such file in {options.data_dir})", file=sys.stderr)
    try:
        with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as scratch:
            folder = options.keep or Path(scratch)
            reports = [measure_set(file, folder, has_ablation=options.ablate) for file in files]
    except CommonplaceError as error:
        print(f"{error}\n{error.hint}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(make_document(reports), ensure_ascii=False) if options.json else render(reports))
    return 0


def measure_set(file: Path, folder: Path, *, has_ablation: bool) -> SetReport:
    """Return the figures of one set, whose books are below a folder."""
    data = read_data_set(file)
    print(f"{data.name} ...", file=sys.stderr, flush=True)
    with fill_books(data, folder) as books:
        answers = dict(compare_ways(books))
        later = LaterCount(0, 0, 0, 0) if data.is_conversation else count_later(books)
        ablation = ablate(data, books) if has_ablation else None
    results = [measure_quality(way, scores) for way, scores in answers.items()]
    return SetReport(data, results, next(iter(answers.values())), later, ablation)


def list_checks(reports: Sequence[SetReport]) -> list[Check]:
    """Return what is wanted of recall, with what was found."""
    checks = [
        Check(
            f"{one.data.name}: {_FIGURES[one.data.target.figure]}", get_figure(one.results[0], one.data.target), wanted
        )
        for one in reports
        if (wanted := one.data.target.wanted) is not None
    ]
    strength, _, updates = sum_up(reports)
    later = add_later_counts([one.later for one in reports if one.later.updates])
    return [
        *checks,
        Check("strong first hits are right more often than weak ones", _percent(strength.gap), 20),
        Check("right first hits that are strong", _percent(strength.strong_if_right), 50),
        Check("unanswerable with a strong hit", _percent(strength.strong_if_unanswerable), 30, at_most=True),
        Check("updates whose older memory names the newer", _share(later.right, later.updates), 90),
        Check("other memories beside them that name a later one", _share(later.wrong, later.others), 5, at_most=True),
        Check("updates with the newer among the first two", _percent(updates.newer_in_two), 95),
        Check("the same, or one of the two names it", _percent(updates.newer_told), 95),
    ]


def sum_up(reports: Sequence[SetReport]) -> tuple[Strength, LaterCount, Quality]:
    """Return the strength, the later memories and the figures of all questions, over all sets."""
    scores = [score for one in reports for score in one.scores]
    later = add_later_counts([one.later for one in reports])
    return measure_strength(scores), later, measure_quality("", scores)


def make_document(reports: Sequence[SetReport]) -> dict[str, object]:
    """Return all figures for `--json`; those of a single set are at the top, too."""
    strength, later, updates = sum_up(reports)
    document: dict[str, object] = {
        "sets": [
            {"name": one.data.name, "results": [result._asdict() for result in one.results]}
            | {"strength": measure_strength(one.scores)._asdict(), "later": one.later._asdict()}
            for one in reports
        ],
        "strength": strength._asdict(),
        "later": later._asdict(),
        "newer_in_two": updates.newer_in_two,
        "newer_told": updates.newer_told,
        "checks": [{**check._asdict(), "verdict": check.verdict} for check in list_checks(reports)],
    }
    if len(reports) == 1:
        document["results"] = [result._asdict() for result in reports[0].results]
    if ablations := [one.ablation for one in reports if one.ablation is not None]:
        document["ablation"] = [worth._asdict() for worth in compute_worths(ablations)]
        document["left_out"] = [item._asdict() for item in leave_one_out(ablations)]
    return document


def render(reports: Sequence[SetReport]) -> str:
    """Return the figures as tables, and those of each category on a line of its own."""
    rows = [_row(one.data.name, result) for one in reports for result in one.results]
    lines = [*_align([_HEADERS, *rows]), "", "@5 by category:"]
    lines += [f"  {one.data.name}: {_by_category(one.results[0])}" for one in reports]
    checks = [
        (check.name, f"{'<=' if check.at_most else '>='} {check.wanted:g}", _number(check.found), check.verdict)
        for check in list_checks(reports)
    ]
    lines += ["", *_align([("WANTED", "", "found", ""), *checks])]
    told = [(one.data.name, measure_strength(one.scores), one.later) for one in reports]
    told.append(("all", *sum_up(reports)[:2]))
    lines += ["", *_align([_HIT_HEADERS, *(_hits_row(*one) for one in told)])]
    if ablations := [one.ablation for one in reports if one.ablation is not None]:
        names = [*(one.data.name for one in ablations), "strong", "newer", "later", "not later"]
        lines += ["", "Points gained by another number (below 0: lost). Of a set of conversations,"]
        lines += [f"{MAX_TURN_QUESTIONS} questions, evenly spaced.", *_align_worths(compute_worths(ablations), names)]
        lines += ["", "The best of x0.5, x1 and x2 on all other sets, and what it gains on the set left out:"]
        lines += _align_left_out(leave_one_out(ablations), names[:-4])
    return "\n".join(lines)


def _align_worths(worths: Sequence[Worth], names: Sequence[str]) -> list[str]:
    rows = []
    for _, same in groupby(worths, lambda one: (one.label, one.points)):  # factors that change the same are one row
        found = list(same)
        first, factors = found[0], " ".join(f"x{one.factor:g}" for one in found)
        rows.append((first.label, f"{first.value:g}", factors, *(_signed(first.points.get(name)) for name in names)))
    return _align([("NUMBER", "is", "times", *names), *rows])


def _align_left_out(found: Sequence[LeftOut], names: Sequence[str]) -> list[str]:
    rows: dict[str, Mapping[str, str]] = {}
    for item in found:
        rows[item.label] = {**rows.get(item.label, {}), item.left_out: f"x{item.factor:g} {_signed(item.points)}"}
    return _align([("NUMBER", *names), *((name, *(row.get(one, "-") for one in names)) for name, row in rows.items())])


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(name: str, result: Quality) -> tuple[str, ...]:
    shares = (result.any5, result.fraction5, result.fraction10, result.first, result.ndcg10)
    return name, result.name, *(f"{100 * share:.1f}" for share in shares), f"{result.mrr:.2f}", f"{result.p50_ms:.1f}"


def _hits_row(name: str, strength: Strength, later: LaterCount) -> tuple[str, ...]:
    shares = (*map(_percent, strength), _share(later.right, later.updates), _share(later.wrong, later.others))
    return name, *map(_number, shares)


def _by_category(result: Quality) -> str:
    return " ".join(f"{name}:{100 * value:.0f}" for name, value in result.categories.items())


def _share(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}" if value else "0"


if __name__ == "__main__":
    sys.exit(main())
