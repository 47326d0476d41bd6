"""Measure recall on a data set.

Stores the set in a scratch book and asks its questions, beside plain grep, FTS5 and vectors. A set is JSON: either
{"conversations": [{"id", "turns": [{"id", "session", "time", "author", "text"}], "questions": [{"question", "evidence",
"category"}]}]} or {"name", "memories": [{"id", "key", "type", "tags", "time", "author", "text"}], "questions":
[{"kind", "question", "evidence"}]}.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping

from commonplace.cli.call import DONE, Call

EXAMPLES = (
    "commonplace bench recall --data questions.json",
    "commonplace bench recall --data questions.json --ablate --json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("recall",), help="what to measure")
    parser.add_argument("--data", metavar="FILE", required=True, help="the data set")
    parser.add_argument("--ablate", action="store_true", help="also what each part of the ranking is worth")


def run(call: Call) -> int:
    from commonplace.bench import baselines  # noqa: PLC0415 - `--help` does without
    from commonplace.bench.ablation import ablations  # noqa: PLC0415
    from commonplace.bench.data import read_set  # noqa: PLC0415
    from commonplace.bench.recall import fill, measure, through_the_book  # noqa: PLC0415
    from commonplace.book import Book  # noqa: PLC0415

    shelves = read_set(call.args.data)
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
        books = [
            (shelf, Book.open(f"{folder}/{number}", session=shelf.name, project=shelf.name))
            for number, shelf in enumerate(shelves)
        ]
        for shelf, book in books:
            fill(book, shelf)
        results = [
            measure(mode, [(shelf, through_the_book(book, shelf, mode)) for shelf, book in books])
            for mode in ("hybrid", "lexical", "semantic")
        ]
        for name, way in (("grep", baselines.by_grep), ("fts5", baselines.by_fts5), ("vectors", baselines.by_vectors)):
            results.append(measure(name, [(shelf, way(shelf)) for shelf in shelves]))
        if call.args.ablate:
            results += ablations(books)
        for _, book in books:
            book.close()
    if not call.answer({"results": results}):
        rows = [
            (result.name, _share(result.any5), _share(result.fraction5), _share(result.fraction10),
             _share(result.ndcg10), f"{result.mrr:.2f}", _share(result.false_answers), _share(result.newer_first),
             f"{result.p50_ms:.1f}", f"{result.tokens:.0f}", _by_category(result.categories))
            for result in results
        ]  # fmt: skip
        headers = ("WAY", "any@5", "@5", "@10", "nDCG", "MRR", "false", "newer", "ms", "tokens", "@5 BY CATEGORY")
        call.screen.table(headers, rows, ("name",))
    return DONE


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _by_category(categories: Mapping[str, float]) -> str:
    return " ".join(f"{name}:{100 * value:.0f}" for name, value in categories.items())
