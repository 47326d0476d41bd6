"""The crash programme: `make crash`, or `make crash-short` for CI. One figure per part; exits 1 on any violation.

1. power cuts on a real ext4 (needs root and a loop device, else it says so and goes on)
2. every crash point of every operation on SimDisk, on small and large folders, many seeds
3. every sequence of up to three of eight operations, every crash point of the last
4. the command line killed (SIGKILL) before every system call that matters, with strace (else it says so and goes on)
5. an error from every call of every operation; a disk that is really full, really read-only, out of handles
and the seeded bugs, each of which these must catch.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.crash import bugs, diskfull, faults, powercut, strace_kill
from tests.crash.check import Tally
from tests.crash.explore import explore, prepared, rich, sequences
from tests.crash.interleave import two_appends, two_writes
from tests.crash.ops import OPS, TOPIC_OPS


def sequence_part(names: tuple[str, ...], seeds: int, start: str) -> Tally:
    return explore(names, rich(0) if start == "rich" else prepared(0), seeds)


def verb_part(item: tuple[str, int], seeds: int) -> Tally:
    name, memories = item
    return explore((name,), rich(memories), seeds)


def topic_part(item: tuple[str, int], seeds: int) -> Tally:
    name, memories = item
    return explore((name,), rich(memories, ("ci", "ci", "docs", "")), seeds)


def report(label: str, tally: Tally, start: float) -> int:
    print(
        f"{label}: {tally.points:,} crash points, {tally.states:,} states; lost {len(tally.lost)}, "
        f"torn {len(tally.torn)}, pages wrong {len(tally.pages)}, errors {len(tally.errors)} "
        f"({time.monotonic() - start:.0f} s)",
        flush=True,
    )
    for line in (*tally.lost, *tally.torn, *tally.pages, *tally.errors)[:20]:
        print(f"    {line[:400]}")
    return tally.violations


def simulated(*, short: bool) -> int:
    bad = 0
    with ProcessPoolExecutor(max_workers=2) as pool:
        for start in ("empty", "rich"):
            began, total = time.monotonic(), Tally()
            for tally in pool.map(
                partial(sequence_part, seeds=1, start=start), list(sequences(2 if short else 3)), chunksize=4
            ):
                total.add(tally)
            bad += report(
                f"SimDisk, sequences of up to {2 if short else 3} of 8 operations, {start} book", total, began
            )
        began, total = time.monotonic(), Tally()
        sizes = (49, 70) if short else (48, 49, 50, 51, 69, 70, 71, 72)
        for tally in pool.map(
            partial(verb_part, seeds=1 if short else 3), [(name, size) for size in sizes for name in OPS]
        ):
            total.add(tally)
        bad += report("SimDisk, every operation, large folders", total, began)
        began, total = time.monotonic(), Tally()
        topic_sizes = (38, 70) if short else (36, 38, 50, 51, 70, 71)
        for tally in pool.map(
            partial(topic_part, seeds=1 if short else 3), [(name, size) for size in topic_sizes for name in TOPIC_OPS]
        ):
            total.add(tally)
        bad += report("SimDisk, every operation, folders with topics", total, began)
    return bad


def injected(*, short: bool) -> int:
    began = time.monotonic()
    found = faults.inject(("store", "rewrite", "forget") if short else tuple(OPS))
    print(
        f"Injected errors: {found.injected:,} (EIO, ENOSPC, EMFILE, EROFS, EDQUOT at every call); untyped "
        f"{len(found.untyped)}, violations {found.tally.violations} ({time.monotonic() - began:.0f} s)",
        flush=True,
    )
    for line in (*found.untyped, *found.tally.lost, *found.tally.torn, *found.tally.pages, *found.tally.errors)[:20]:
        print(f"    {line[:400]}")
    return found.violations


def interleaved() -> int:
    wrong = [*two_appends(), *two_writes()]
    print(f"Two writers, interleaved at every call: violations {len(wrong)}", flush=True)
    return len(wrong)


def seeded() -> int:
    found = bugs.seeded()
    clean = found.pop("none")
    caught = sum(1 for violations in found.values() if violations)
    print(f"Seeded bugs caught: {caught} of {len(found)}; without a bug: {clean} violations", flush=True)
    for name, violations in found.items():
        print(f"    {name}: {violations} violations")
    return clean + len(found) - caught


def main() -> int:
    parser = argparse.ArgumentParser(prog="make crash", description=__doc__)
    parser.add_argument("--short", action="store_true", help="under two minutes, for CI")
    parser.add_argument("--cuts", type=int, help="how many real power cuts")
    options = parser.parse_args()
    bad = simulated(short=options.short) + injected(short=options.short) + interleaved() + seeded()
    bad += strace_kill.main_part(short=options.short)
    bad += powercut.main_part(options.cuts or (60 if options.short else 1000))
    bad += diskfull.main_part()
    print("Violations in all:", bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
