"""How well digests, summaries and topics tell what happened: `python -m tests.bench.digest_quality`.

A generated mailbox with planted events, topics, questions, dates and new people (events_set.md) is ingested and asked
through the command line; and the conversations of LoCoMo-dev, where they are, ingested as chat. Each row says what was
found, and what is wanted. A part that breaks is a row that says so. `--misses` names what was not found.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

from tests.bench.digest_commands import BookCommands, CommandFailed, scratch_commands
from tests.bench.digest_locomo import measure_locomo
from tests.bench.digest_measures import EventsBook, ProofRow, measure_digests, measure_topics
from tests.bench.digest_summaries import measure_drill_down, measure_summaries
from tests.bench.events_maker import make_events_mailbox
from tests.bench.events_truth import OWNER_ZONE, EventsTruth

SET_END = date(2026, 11, 18)
_MAX_AGE = timedelta(days=14)  # topics and windows count from today
Measuring = Callable[[EventsBook], Iterator[ProofRow]]
PARTS: dict[str, Measuring] = {
    "digests": measure_digests,
    "topics": measure_topics,
    "drill-down": measure_drill_down,
    "summaries": measure_summaries,
}


def main(words: Sequence[str] | None = None) -> int:
    """Print the table of the proof."""
    parser = argparse.ArgumentParser(prog="make bench-digest", description=__doc__)
    parser.add_argument("--messages", type=int, default=2_400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--end", help=f"the last day of the mailbox (default {SET_END}, yesterday if that is long ago)")
    parser.add_argument("--data-dir", type=Path, help="where locomo-dev.json is; without it that part is left out")
    parser.add_argument(
        "--only", action="append", choices=[*PARTS, "locomo"], help="a part; may be given several times"
    )
    parser.add_argument("--keep", type=Path, help="a folder for the mailbox and the book, to look at them afterwards")
    parser.add_argument("--misses", action="store_true", help="also name what was not found, on standard error")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(words)
    chosen = options.only or [*PARTS, "locomo"]
    rows: list[ProofRow] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for row in _measure_all(options, folder, chosen):
            rows.append(row)
            if not options.json:
                print(row.line(), flush=True)
            if options.misses:
                print("".join(f"    {miss}\n" for miss in row.misses), end="", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps([row.as_dict() for row in rows], indent=2))
    return 0


def _measure_all(options: argparse.Namespace, folder: Path, chosen: Sequence[str]) -> Iterator[ProofRow]:
    end = options.end or str(choose_end(date.today()))  # noqa: DTZ011 - the day of this machine is what is meant
    if set(chosen) - {"locomo"}:
        mailbox, root = folder / "mail.mbox", folder / "book"
        truth = make_events_mailbox(mailbox, seed=options.seed, end=end, messages=options.messages)
        with scratch_commands(root, OWNER_ZONE) as commands:
            yield from _prepare(commands, mailbox, truth)
            book = EventsBook(commands, truth)
            for name in [part for part in PARTS if part in chosen]:
                yield from _guard(name, PARTS[name](book))
    if "locomo" in chosen:
        yield from _guard("locomo", measure_locomo(folder / "locomo", options.data_dir))


def choose_end(today: date) -> date:
    """Return the last day of the mailbox: that of the set, unless it is long ago."""
    is_recent = timedelta() <= today - SET_END <= _MAX_AGE
    return SET_END if is_recent else today - timedelta(days=1)


def _prepare(commands: BookCommands, mailbox: Path, truth: EventsTruth) -> Iterator[ProofRow]:
    """Ingest the mailbox, and settle what ingesting leaves to do."""
    started = time.perf_counter()
    report = commands.ingest(mailbox, "mail", [*truth.owner, truth.owner_name], OWNER_ZONE)
    seconds = time.perf_counter() - started
    units = int(report["added"]) + int(report["known"])
    yield ProofRow(
        f"mailbox to {truth.end}: messages ingested",
        f"{units} of {len(truth.messages)}",
        "all",
        units == len(truth.messages),
    )
    yield ProofRow("ingest, with what it settles: seconds", f"{seconds:.1f}", "", None)
    try:
        settled = commands.settle()
    except (CommandFailed, KeyError, TypeError, ValueError) as error:
        yield ProofRow.failed("tree settle", error)
        return
    said = ", ".join(f"{key} {value}" for key, value in settled.items())
    yield ProofRow("tree settle", said, "pending 0", not settled["pending"])


def _guard(name: str, rows: Iterator[ProofRow]) -> Iterator[ProofRow]:
    """Yield the rows of a part; one that breaks is said to, and the others are measured all the same."""
    try:
        yield from rows
    except Exception as error:  # noqa: BLE001 - whatever it was, it is what this row says
        yield ProofRow.failed(name, error)


if __name__ == "__main__":
    sys.exit(main())
