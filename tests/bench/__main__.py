"""Speed, as ratios against a floor measured in the same run: `make bench`, or `python -m tests.bench --json`.

Machines are shared and noisy, so each measure alternates floor and ours, both in fresh folders of one book on one
disk, and compares medians. It never fails a build. `--only NAME` runs a part; it may be given several times.

Let the disk rest for a minute before: ext4 does not use inodes again that were freed in the last half minute, and
while it looks for others every new file takes up to half a millisecond longer, ours and the floor's by chance.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench import digest_speed, embedding, load, processes, recall_speed, store_speed, tree_speed
from tests.bench.measure import Note, Row, tables
from tests.bench.scratch_books import Bench

SECTIONS: dict[str, Callable[[Bench], Sequence[Row]]] = {
    "store": store_speed.store,
    "bulk": store_speed.bulk,
    "recall": recall_speed.recall,
    "embed": embedding.embed,
    "open": store_speed.opening,
    "journal": store_speed.journal,
    "starts": processes.starts,
    "prompts": processes.prompts,
    "load": load.load,
    "mcp": processes.server,
    "install": processes.install,
    "growth": recall_speed.growth,
    "whole": processes.whole_book,
    "ingest": tree_speed.ingest,
    "tree": tree_speed.questions,
    "digest": digest_speed.digest,
    "prefetch": digest_speed.prefetch,
}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--only", action="append", choices=SECTIONS, metavar="NAME", help=f"one of {', '.join(SECTIONS)}"
    )
    parser.add_argument("--where", type=Path, default=Path(".bench"), help="a folder on the disk to measure")
    parser.add_argument("--rounds", type=int, default=150, help="how often each side is timed")
    parser.add_argument("--large", type=int, default=10_000, help="how many memories the large book has")
    parser.add_argument("--largest", type=int, default=100_000, help="how many the largest has")
    options = parser.parse_args(words)
    options.where.mkdir(exist_ok=True)
    rows: list[tuple[str, Row]] = []
    with tempfile.TemporaryDirectory(dir=options.where) as folder:
        bench = Bench(Path(folder).resolve(), options.rounds, options.large, options.largest)
        for name in options.only or SECTIONS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            rows += [(name, row) for row in _run(name, bench)]
    with contextlib.suppress(OSError):  # what else is in it stays
        options.where.rmdir()
    if options.json:
        print(json.dumps([{"section": name, **row.as_dict()} for name, row in rows], indent=2))
    else:
        print(tables([row for _, row in rows]))
    return 0


def _run(name: str, bench: Bench) -> Sequence[Row]:
    """A part that breaks is said to have, and the others are measured all the same."""
    try:
        return SECTIONS[name](bench)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is what this row says
        return [Note(name, f"it failed: {type(error).__name__}: {error}")]


if __name__ == "__main__":
    sys.exit(main())
