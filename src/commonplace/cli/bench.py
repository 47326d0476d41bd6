"""Measure recall on a data set.

Stores the set in a scratch book and asks its questions, beside plain grep, FTS5 and vectors. A set is JSON: either
{"conversations": [{"id", "turns": [{"id", "session", "time", "author", "text"}], "questions": [{"question", "evidence",
"category"}]}]} or {"name", "memories": [{"id", "key", "type", "tags", "time", "author", "text"}], "questions":
[{"kind", "question", "evidence"}]}. Figures are in percent, times in milliseconds at the median.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonplace.cli.call import DONE, Call
from commonplace.model.errors import NotFound, WriteFailed

if TYPE_CHECKING:
    from commonplace.bench.recall import Result

EXAMPLES = (
    "commonplace bench recall --data questions.json",
    "commonplace bench recall --data questions.json --plot quality.png",
    "commonplace bench recall --data questions.json --ablate --json",
)
_HEADERS = ("WAY", "any@5", "@5", "@10", "all@10", "nDCG", "MRR", "false", "newer", "ms", "tokens")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("recall",), help="what to measure")
    parser.add_argument("--data", metavar="FILE", required=True, help="the data set")
    parser.add_argument("--plot", metavar="FILE", help="also a picture (PNG) of quality against time, written there")
    parser.add_argument("--ablate", action="store_true", help="also what each part of the ranking is worth")


def run(call: Call) -> int:
    from commonplace.bench.ablation import ablations  # noqa: PLC0415 - `--help` does without
    from commonplace.bench.data import read_set  # noqa: PLC0415
    from commonplace.bench.ways import compare, filled  # noqa: PLC0415

    args = call.args
    shelves = read_set(args.data)
    if args.plot and not os.path.isdir(os.path.dirname(os.path.abspath(args.plot))):
        raise NotFound("There is no folder for the picture.", hint="Check the path of --plot.")  # now, not at the end
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder,
        filled(shelves, folder) as books,
    ):
        ways = compare(books)
        less = [item.without for item in ablations(books)] if args.ablate else []
    if args.plot:
        _draw(args.data, args.plot, ways)
    if not call.answer({"results": [*ways, *less]}):
        _show(call, [*ways, *less])
    return DONE


def _show(call: Call, results: Sequence[Result]) -> None:
    """The figures with what each is, in a pipe too: a file of them is kept and compared. Categories, as many as a set
    has, have lines of their own."""
    call.screen.table(_HEADERS, [_row(result) for result in results], ("name",), headed=True)
    call.screen.line()
    call.screen.line("@5 by category (with the nearest):")
    for result in results:
        call.screen.block(f"{result.name}: {_by_category(result)}")


def _draw(data: str, place: str, ways: Sequence[Result]) -> None:
    from commonplace.bench.plot import picture  # noqa: PLC0415 - a table does without
    from commonplace.bench.ways import MODES  # noqa: PLC0415

    drawn = picture(os.path.splitext(os.path.basename(data))[0], ways, MODES)
    try:
        with open(place, "wb") as file:
            file.write(drawn)
    except OSError as error:
        raise WriteFailed(
            f"The picture cannot be written: {error.strerror}.", hint="Check the path of --plot."
        ) from None


def _row(result: Result) -> tuple[str, ...]:
    return (
        result.name, _share(result.any5), _share(result.fraction5), _share(result.fraction10), _share(result.all10),
        _share(result.ndcg10), f"{result.mrr:.2f}", _share(result.false_answers), _share(result.newer_first),
        f"{result.p50_ms:.1f}", f"{result.tokens:.0f}",
    )  # fmt: skip


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _by_category(result: Result) -> str:
    said = []
    for name, value in result.categories.items():
        more = result.nearest[name]
        said.append(f"{name}:{100 * value:.0f}" + (f" ({100 * more:.0f})" if more > value else ""))
    return " ".join(said)
