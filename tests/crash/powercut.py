"""Safety item 1: real power cuts on a real ext4. What was acknowledged is there after the journal has been replayed.

SimDisk shows what a file system may do; this shows what one does, with the kernel's own write-back, delayed allocation
and journal. Each trial starts from a book that is on the medium, lets the shipped vault and keep work on it in another
process, and shuts the file system down in the middle with FS_IOC_SHUTDOWN and NOLOGFLUSH: whatever no sync has put on
the medium is gone. The moment is random in operations and, by a spin of up to an operation's length, within one.

What is promised: each key holds the acknowledged texts, or those of the one operation that was on its way; what was put
aside is kept; no file is torn; no page is wrong but for the key on its way; the next process mends that and can write.

The writer says over a pipe what it is about to do and that it was acknowledged. Words sent count, even if they are read
only after the cut; the pipe is no part of the file system.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from commonplace.vault.local import LocalVault
from tests.crash.check import Tally, check
from tests.crash.explore import prepared
from tests.crash.lax import BUGS
from tests.crash.mounts import Ext4, RealBook, Unavailable, small_ext4
from tests.crash.ops import Model, open_keep
from tests.crash.simdisk import Left
from tests.crash.writer import make_plan, start_writer

MIB = 48
SIZES = (0, 3, 50, 55)  # a folder of more than 50 has sub-pages; from 50 on, the next memory splits it
PATIENCE = 30.0  # seconds without a word from the writer: it hangs


@dataclass(frozen=True)
class PowerCutReport:
    trials: int = 0
    acknowledged: int = 0
    in_flight: int = 0  # cuts that hit an operation between its first write and its acknowledgement
    lost: int = 0
    torn: int = 0
    page_faults: int = 0
    errors: int = 0
    first_violation: int | None = None  # the trial, counted from 1
    skipped_reason: str | None = None
    details: list[str] = field(default_factory=list)
    elapsed: float = 0.0

    @property
    def violations(self) -> int:
        return self.lost + self.torn + self.page_faults + self.errors

    def __str__(self) -> str:
        if self.skipped_reason:
            return f"skipped: {self.skipped_reason}"
        return (
            f"{self.trials:,} cuts ({self.in_flight:,} inside an operation), {self.acknowledged:,} acknowledged; "
            f"lost {self.lost}, torn {self.torn}, pages wrong {self.page_faults}, errors {self.errors} "
            f"({self.elapsed:.0f} s)"
        )


@dataclass(slots=True)
class _Heard:
    """What the writer said: the last acknowledged state, and the one that was on its way."""

    before: Model
    coming: Model | None = None
    acknowledged: int = 0
    ended: bool = False
    errors: list[str] = field(default_factory=list)

    def listen(self, pipe: Connection) -> None:
        """Take in one word."""
        if not pipe.poll(PATIENCE):
            raise TimeoutError("the writer hangs")
        try:
            word, said = pipe.recv()
        except EOFError:
            self.ended = True
            return
        if word == "begins":
            self.coming = said
        elif word == "done":
            if self.coming is not None:
                self.before, self.coming = self.coming, None
                self.acknowledged += 1
        else:
            self.errors.append(said)


def run(trials: int, seed: int = 1, vault: type[LocalVault] = LocalVault) -> PowerCutReport:
    """Cut the power so many times. Nothing is left behind, and a machine that cannot do it says why."""
    start = time.perf_counter()
    tally, acknowledged, in_flight, first = Tally(), 0, 0, None
    try:
        with small_ext4(MIB) as system:
            _check_that_a_cut_cuts(system)
            trial = _Trial(system, vault)
            for number in range(1, trials + 1):
                heard = trial.run(random.Random(f"{seed}/{number}"), f"seed {seed}, cut {number}", tally)
                acknowledged += heard.acknowledged
                in_flight += heard.coming is not None
                if first is None and tally.violations:
                    first = number
    except Unavailable as error:
        return PowerCutReport(skipped_reason=str(error))
    return PowerCutReport(
        tally.states,
        acknowledged,
        in_flight,
        len(tally.lost),
        len(tally.torn),
        len(tally.pages),
        len(tally.errors),
        first,
        None,
        [*tally.lost, *tally.torn, *tally.pages, *tally.errors],
        time.perf_counter() - start,
    )


def _check_that_a_cut_cuts(system: Ext4) -> None:
    """A harness on a file system that forgets nothing would always be content."""
    path = f"{system.place}/forgotten"
    try:
        with open(path, "wb") as file:
            file.write(b"never synced")
        system.cut_power()
        system.boot()
    except OSError as error:
        raise Unavailable(f"this kernel cannot shut down a file system: {error}") from error
    if os.path.exists(path):
        raise Unavailable("shutting down the file system loses nothing here")


class _Trial:
    """Book, work, cut, boot, look; the next one goes on from the same mount."""

    def __init__(self, system: Ext4, vault: type[LocalVault]) -> None:
        self._system = system
        self._vault = vault
        self._book = RealBook(f"{system.place}/book")
        self._starts = {size: (disk.files(), model) for size in SIZES for disk, model in [prepared(size)]}
        self._pace = 0.002  # seconds per operation, as lately seen

    def run(self, rng: random.Random, where: str, tally: Tally) -> _Heard:
        files, model = self._starts[rng.choice(SIZES)]
        bulk = rng.random() < 0.08
        if bulk:  # so many new memories that they have to be filed
            files, model = self._starts[SIZES[-1]]
        self._book.replace_by(files)
        if not files and rng.random() < 0.5:
            os.rmdir(self._book.path)  # the writer makes the book, too
        self._system.sync()
        wanted = rng.randint(17, 22) if bulk else rng.randint(0, 9)
        heard = _Heard(model)
        pipe, child = start_writer(self._book, self._vault, make_plan(rng, model, wanted + 4, bulk=bulk), model)
        try:
            self._cut(rng, wanted, pipe, heard)
        except TimeoutError as error:
            heard.errors.append(str(error))
        finally:
            pipe.close()
            if not heard.ended:
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        if status != 0:
            heard.errors.append(f"the writer ended with {status}")
        tally.errors.extend(f"{where}: {error}" for error in heard.errors)
        self._system.boot()
        os.makedirs(self._book.path, exist_ok=True)
        after = heard.before if heard.coming is None else heard.coming
        check(self._book, heard.before, after, Left.ORDERED, where, tally, open_keep(self._book))
        return heard

    def _cut(self, rng: random.Random, wanted: int, pipe: Connection, heard: _Heard) -> None:
        """Listen to so many acknowledgements, then cut somewhere in what comes next, and hear the writer out."""
        began = time.perf_counter()
        while heard.acknowledged < wanted and not heard.ended:
            heard.listen(pipe)
        if heard.acknowledged:
            self._pace = min(0.02, (time.perf_counter() - began) / heard.acknowledged)
        until = time.perf_counter() + rng.uniform(0, 1.2 * self._pace)
        while time.perf_counter() < until:
            pass
        self._system.cut_power()
        while not heard.ended:
            heard.listen(pipe)


def seeded_reports(trials: int, seed: int) -> dict[str, PowerCutReport]:
    return {name: run(trials, seed, bug) for name, bug in BUGS.items()}


def seeded(trials: int, seed: int = 1) -> dict[str, int]:
    """Each seeded bug, with the violations that so many cuts found."""
    return {name: report.violations for name, report in seeded_reports(trials, seed).items()}


def main_part(trials: int, seed: int | None = None) -> int:
    """The part of `make crash`: prints the figures, answers how many of them are wrong."""
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    report = run(trials, seed)
    print(f"Power cuts on ext4, seed {seed}: {report}", flush=True)
    for line in report.details[:20]:
        print(f"    {line[:400]}")
    if report.skipped_reason:
        return 0
    found = seeded_reports(max(40, trials // 20), seed)
    caught = sum(1 for bug in found.values() if bug.violations)
    print(f"Power cuts on ext4, seeded bugs caught: {caught} of {len(found)}", flush=True)
    for name, bug in found.items():
        print(f"    {name}: first at cut {bug.first_violation}; {bug}")
    return report.violations + len(found) - caught


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    sys.exit(1 if main_part(*(words or [100])) else 0)
