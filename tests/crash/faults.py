"""Safety item 5: every call of a write fails once, with each error a disk can give. No acknowledgement may be false."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field

from commonplace.model.errors import CommonplaceError
from tests.crash.check import Tally, check
from tests.crash.explore import prepared
from tests.crash.ops import FOLDER, OPS, Model, expected, open_keep, run
from tests.crash.simdisk import Left, SimDisk

NUMBERS = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EROFS, errno.EDQUOT)


@dataclass(slots=True)
class FaultReport:
    injected: int = 0
    acknowledged: int = 0
    untyped: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def violations(self) -> int:
        return len(self.untyped) + self.tally.violations


def inject(operations: tuple[str, ...] = tuple(OPS)) -> FaultReport:
    """Fail each call of each operation on a book where every operation has something to do."""
    report = FaultReport()
    disk, model = prepared(52)
    keep = open_keep(disk)
    for name in ("store", "store", "forget", "store", "rewrite"):
        model = run(keep, OPS[name](), model)
    for name in operations:
        for number in NUMBERS:
            point = 1
            while _fail_once(disk, model, name, number, point, report):
                point += 1
    return report


def _fail_once(start: SimDisk, model: Model, name: str, number: int, point: int, report: FaultReport) -> bool:
    """One run in which one call fails; False when the operation has fewer calls."""
    disk = start.copy()
    op = OPS[name]()
    after = expected(op, open_keep(disk.copy()), model)
    keep = open_keep(disk)
    keep.reconcile(FOLDER)
    disk.calls = 0
    hit: list[str] = []

    def fail(what: str, call: int) -> None:
        if call == point:
            hit.append(what)
            raise OSError(number, os.strerror(number))

    disk.fault = fail
    where = f"{name}@{point} {errno.errorcode[number]}"
    acknowledged = False
    try:
        run(keep, op, model)
        acknowledged = True
    except CommonplaceError:
        pass
    except Exception as error:  # noqa: BLE001 - an untyped error is what this looks for
        report.untyped.append(f"{where}: {error!r}")
    disk.fault = None
    if not hit:
        return False
    report.injected += 1
    report.acknowledged += acknowledged
    # An acknowledgement in spite of the fault is true only if the power may now be cut and nothing is missing.
    for left in Left:
        state = disk.after_power_cut(point, left)
        before = after if acknowledged else model
        check(state, before, after, left, f"{where} in {hit[0]}", report.tally, keep)
    return True
