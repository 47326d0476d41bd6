"""Speed, as ratios against a floor measured in the same run: `make bench`, or `python -m tests.bench --json`.

Machines are shared and noisy, so each measure alternates floor and ours, both in fresh folders of one book on one
disk, and compares medians. It never fails a build.

Let the disk rest for a minute before: ext4 does not use inodes again that were freed in the last half minute, and
while it looks for others every new file takes up to half a millisecond longer, ours and the floor's by chance.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.bench import books, servers, starts, stores
from tests.bench.measure import Measure, start_table, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--where", type=Path, default=Path(".bench"), help="a folder on the disk to measure")
    parser.add_argument("--rounds", type=int, default=150, help="how often each side is timed")
    parser.add_argument("--large", type=int, default=10_000, help="how many memories the large book has")
    options = parser.parse_args()
    options.where.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.where) as folder:
        measures: list[Measure] = stores.run(Path(folder) / "units", options.rounds, options.large)
        measures += books.run(Path(folder), options.rounds, options.large)
        begun = starts.run(Path(folder), options.rounds, options.large)
        served, amounts = servers.run(Path(folder), options.rounds, options.large)
        measures += served
    options.where.rmdir()
    if options.json:
        found = [measure.as_dict() for measure in measures] + [start.as_dict() for start in begun]
        found += [amount.as_dict() for amount in amounts]
        print(json.dumps(found, indent=2))
    else:
        print(table(measures))
        print()
        print(start_table(begun))
        print()
        print(servers.amount_table(amounts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
