"""What the upper tree costs: sealing, settling what is new, and the digest of a week in a large book.

The mailboxes are generated (mailbox_set.md, events_set.md). Sealing is timed on its own by taking summaries, digests,
topics and the index away, having the index built again, and settling: the work is found again from the files.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from commonplace import Book
from tests.bench.digest_commands import scratch_commands
from tests.bench.events_maker import make_events_mailbox
from tests.bench.mailbox_maker import SPAN, START, make_mailbox
from tests.bench.measure import WORK, Amount, Measure, Row, alternate, turns
from tests.bench.processes import run_hook
from tests.bench.scratch_books import Bench, project

_ZONE = "UTC"
_NEW = 1_000  # units that are settled at two sizes
_NEW_MONTHS = 4  # that they are about, after the last day of the book
_BATCHES = 3
_WEEKS = 40  # that a digest is asked for
_SETTLED = ("tree/*/summary", "tree/digest", "tree/topic")
_INDEX = ".commonplace/tree.db*"


def digest(bench: Bench) -> list[Row]:
    """Seal trees of two sizes; ask for weeks of a large one; settle a thousand new units in two."""
    small, large = bench.folder / "digest-small", bench.folder / "digest-large"
    rows = [_seal(bench.folder / "seal", bench.large // 10, bench.large)]
    _fill(small, bench.large)
    _fill(large, bench.largest)
    rows.append(_ask_weeks(large, bench))
    rows.append(_settle_new(small, large, bench))
    return rows


def _fill(root: Path, messages: int) -> None:
    """Ingest a mailbox of so many messages, and settle it."""
    print(f"  ingesting {messages:,} messages ...", file=sys.stderr, flush=True)
    file = root.with_suffix(".mbox")
    make_mailbox(file, messages=messages, threads=max(20, messages * 2 // 25))
    with scratch_commands(root, _ZONE) as commands:
        commands.ingest(file, "mail", [], _ZONE)
        commands.settle()
    file.unlink()


def _seal(folder: Path, few: int, many: int) -> Row:
    """Return what a unit costs to seal, by how many there are."""
    spent: dict[int, float] = {}
    for size in (few, many):
        root = folder / str(size)
        folder.mkdir(exist_ok=True)
        _fill(root, size)
        for pattern in _SETTLED:
            for path in root.glob(pattern):
                shutil.rmtree(path)
        for path in root.glob(_INDEX):
            path.unlink()
        with scratch_commands(root, _ZONE) as commands:
            units = int(commands.ask("tree", "status")["units"])  # builds the index
            spent[size] = _time_work(commands.settle) / units
    return Measure(f"settling {many:,} units at once, each, against {few:,}", spent[few], spent[many], 1.2)


def _time_work(action: Callable[[], object]) -> float:
    """Return the milliseconds of work that an action takes."""
    start = WORK()
    action()
    return (WORK() - start) * 1000


def _ask_weeks(root: Path, bench: Bench) -> Row:
    """Time the digest of a week in an open book against reading the texts of its units from the index."""
    weeks = [(START + timedelta(days=7 * number)).date() for number in range(2, SPAN.days // 7 - 2)]
    weeks = weeks[:: max(1, len(weeks) // _WEEKS)]
    with closing(sqlite3.connect(f"file:{root}/.commonplace/tree.db?mode=ro", uri=True)) as index:
        numbers = [_list_units(index, week) for week in weeks]
        read = partial(_read_units, index, numbers)
        with Book.open(root, project="bench") as book:
            ask = open_digest(book)
            floor_ms, ours_ms = alternate(
                min(bench.rounds, len(weeks) - 5), read, lambda turn: ask(weeks[turn]), clock=WORK
            )
    count = round(statistics.mean(len(found) for found in numbers))
    return Measure(f"digest of a week ({count:,} of {bench.largest:,} units)", floor_ms, ours_ms, 3.0)


def open_digest(book: Any) -> Callable[[date], object]:
    """Return what asks an open book for the digest of the week of a day."""

    def ask(day: date) -> object:
        return book.digest(period="week", date=str(day))

    return ask


def _list_units(index: sqlite3.Connection, day: date) -> list[int]:
    """Return the numbers of the units of an ISO week in the index."""
    start = day - timedelta(days=day.weekday())
    query = "SELECT no FROM entry WHERE moment >= ? AND moment < ? AND id >= 'u-' AND id < 'u.' AND recorded_to IS NULL"
    return [no for (no,) in index.execute(query, (str(start), str(start + timedelta(days=7))))]


def _read_units(index: sqlite3.Connection, numbers: Sequence[Sequence[int]], turn: int) -> int:
    """Read what a digest needs of the units of a week."""
    query = "SELECT text, author, moment, extra FROM entry WHERE no = ?"
    return sum(len(index.execute(query, (no,)).fetchone()[0]) for no in numbers[turn])


def _settle_new(small: Path, large: Path, bench: Bench) -> Row:
    """Time a thousand new units, read and settled, in a book of each size; each time others."""
    end = (START + SPAN).date() + timedelta(days=round((_NEW_MONTHS + 1) * 30.44))
    spent: dict[Path, list[float]] = {small: [], large: []}
    for seed in range(1, _BATCHES + 1):
        file = bench.folder / f"new-{seed}.mbox"
        make_events_mailbox(file, events=10, topics=4, messages=_NEW, months=_NEW_MONTHS, seed=seed, end=str(end))
        for root, found in spent.items():
            with scratch_commands(root, _ZONE) as commands:
                ask = partial(commands.ingest, file, "new", [], _ZONE)
                found.append(_time_work(ask) + _time_work(commands.settle))
    floor_ms, ours_ms = (statistics.median(found) for found in spent.values())
    name = f"{_NEW:,} new units, read and settled: {bench.largest:,} to {bench.large:,}"
    return Measure(name, floor_ms, ours_ms, 1.2)


def prefetch(bench: Bench) -> list[Row]:
    """A hook at the first prompt where a source is allowed and a digest is ready, against one without a source."""
    bare = bench.root(bench.large)
    root, file = bench.folder / "prefetch", bench.folder / "prefetch.mbox"
    shutil.copytree(bare, root)
    make_events_mailbox(file, end=str(datetime.now(UTC).date() - timedelta(days=1)))
    with scratch_commands(root, _ZONE) as commands:
        commands.ask("ingest", str(file), "--name", "mail", "--brief", "--project", project(bench.large))
        commands.settle()
    environments = [
        {**os.environ, "COMMONPLACE_ROOT": str(place), "COMMONPLACE_PROJECT": project(bench.large)}
        for place in (bare, root)
    ]
    said = [run_hook(environment, "prompt", 0) for environment in environments]
    assert len(said[1]) > len(said[0]), "without a digest in what the hook says, this would time nothing"
    actions = [partial(run_hook, environment, "prompt") for environment in environments]
    floor, ours = (statistics.median(found) for found in turns(max(40, bench.rounds // 3), *actions))
    return [Amount(f"hook prompt with a prefetch, {bench.large:,}: more than without", ours - floor, "ms", 5.0)]
