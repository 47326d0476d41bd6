"""Cut the power at every call of every operation, in every sequence of a few of them, and look at what is left."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from functools import cache

from commonplace.memories.store import MemoryStore
from commonplace.vault.local import LocalVault
from tests.crash.check import Tally, check
from tests.crash.ops import OPS, TOPIC_OPS, Model, Op, expected, filler, open_keep, run
from tests.crash.simdisk import Left, PowerCut, SimDisk


def sequences(longest: int) -> Iterator[tuple[str, ...]]:
    for length in range(1, longest + 1):
        yield from itertools.product(OPS, repeat=length)


def prepared(
    memories: int, vault: type[LocalVault] = LocalVault, topics: tuple[str, ...] = ("",)
) -> tuple[SimDisk, Model]:
    """A disk with some memories in the folder, all of them synced."""
    disk = SimDisk()
    keep = open_keep(disk, vault)
    model = Model()
    for number in range(memories):
        model = run(keep, filler(number, topics), model)
    return disk, model


@cache
def rich(memories: int, topics: tuple[str, ...] = ("",)) -> tuple[SimDisk, Model]:
    """A disk on which every operation has something to do: a memory with a history, one of its name in the trash."""
    disk, model = prepared(memories, topics=topics)
    keep = open_keep(disk)
    for name in ("store", "forget", "store", "rewrite", "store"):
        model = run(keep, OPS[name](), model)
    return disk, model


def explore(
    names: Sequence[str], start: tuple[SimDisk, Model], seeds: int, vault: type[LocalVault] = LocalVault
) -> Tally:
    """Do all but the last operation, then the last one once for each point at which it can be cut off."""
    tally = Tally()
    disk, model = start[0].copy(), start[1]
    keep = open_keep(disk, vault)
    for name in names[:-1]:
        model = run(keep, OPS[name](), model)
    op = TOPIC_OPS[names[-1]]()
    after = expected(op, open_keep(disk.copy(), vault), model)
    point = 1
    while _cut(disk, op, model, after, f"{'+'.join(names)}@{point}", point, seeds, tally, vault):
        point += 1
    return tally


def _cut(
    disk: SimDisk,
    op: Op,
    before: Model,
    after: Model,
    where: str,
    point: int,
    seeds: int,
    tally: Tally,
    vault: type[LocalVault],
) -> bool:
    """One run that ends at a point; False when the operation was acknowledged before it got there."""
    twin = disk.copy()
    twin.calls, twin.fail_at = 0, point
    keep: MemoryStore = open_keep(twin, vault)
    acknowledged = True
    try:
        run(keep, op, before)
    except PowerCut:
        acknowledged = False
    tally.points += 1
    for seed, left in itertools.product(range(seeds), Left):
        state = twin.after_power_cut(zlib.crc32(f"{where}/{seed}".encode()), left)
        check(state, after if acknowledged else before, after, left, f"{where}/{left}/{seed}", tally, keep)
    return not acknowledged
