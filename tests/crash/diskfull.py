"""Safety item 5, for real: a full disk, no handles left, a file system that became read-only.

tests/crash/faults.py makes every call fail in memory; here the kernel does it, with its own choice of call and number.
Promised: the error is the typed one, nothing acknowledged is lost, no note is torn, no temporary file stays, reading
goes on, and when the cause is gone, so is the error.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path

from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError, DiskFull, ReadOnly, TooManyFiles, WriteFailed
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, TEMP_PREFIX, note_path
from tests.crash.check import Tally, check, check_texts
from tests.crash.mounts import Ext4, RealBook, Unavailable, small_ext4
from tests.crash.ops import FOLDER, KINDS, OPS, Model, Op, filler, long_store, open_keep, run
from tests.crash.simdisk import Left
from tests.memories.reading import page_faults

KIB = 1024
Trouble = Callable[[], AbstractContextManager[None]]


@dataclass(slots=True)
class RefusalReport:
    """What was tried and what went wrong; `violations` is empty when all is well."""

    name: str
    acknowledged: int = 0
    refused: int = 0
    violations: list[str] = field(default_factory=list)
    skipped_reason: str | None = None

    def __str__(self) -> str:
        if self.skipped_reason:
            return f"{self.name}: skipped: {self.skipped_reason}"
        return (
            f"{self.name}: {self.acknowledged} acknowledged, {self.refused} refused, {len(self.violations)} violations"
        )


class _Tried:
    """A book, what is tried on it, and what it must hold."""

    def __init__(self, name: str, root: str, *errors: type[CommonplaceError]) -> None:
        self.report = RefusalReport(name)
        self.book = RealBook(root)
        self.book.replace_by({})
        self.keep = open_keep(self.book)
        self.model = Model()
        self._coming = self.model
        self._errors = errors
        self._numbers = iter(range(800))

    def start(self) -> None:
        """A book in which every operation has something to do."""
        for number in range(25):
            self.attempt(f"filler {number}", filler(next(self._numbers)))
        for name in ("store", "forget", "store", "rewrite", "store", "store-below"):
            self.attempt(name, OPS[name]())

    def round(self, label: str, rng: random.Random, trouble: Trouble = nullcontext) -> None:
        """Operations of every kind in any order, a new memory and a new folder among them, each in trouble."""
        number = next(self._numbers)
        todo = {name: make() for name, make in OPS.items()}
        todo |= {
            "new": filler(number),
            "new folder": KINDS["store"](f"folder-{number}/note"),
            "long": long_store("long"),
        }
        for name in rng.sample(sorted(todo), len(todo)):
            with trouble():
                self.attempt(f"{label}, {name}", todo[name])
            self.look(f"{label}, {name}")

    def attempt(self, label: str, op: Op) -> bool:
        """One operation: acknowledged (True), or refused with one of the errors that were to come."""

        def noted(unit: Unit, model: Model) -> Model:
            self._coming = op(unit, model)
            return self._coming

        self._coming = self.model
        try:
            after = run(self.keep, noted, self.model)
        except self._errors:
            self.report.refused += 1
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
            self.wrong(f"{label}: {type(error).__name__} where it should not be: {error}")
            return False
        self.report.acknowledged += after is not self.model
        self.model = after
        return True

    def look(self, label: str) -> None:
        """After each attempt: acknowledged texts are there, or all of what was refused too late; no litter."""
        files, tally = self.book.files(), Tally()
        notes = check_texts(files, self.model, self._coming, label, tally)
        self._add(tally)
        litter = [path for path in files if f"/{TEMP_PREFIX}" in path]
        if litter:
            self.wrong(f"{label}: litter {litter}")
        keys = self.model.notes.keys() | self._coming.notes.keys()
        if any(notes.get(key) == self._coming.notes.get(key) != self.model.notes.get(key) for key in keys):
            self.model = self._coming  # visible, though not acknowledged: allowed, and from now on expected
        self._coming = self.model

        vault = LocalVault(self.book)  # a reader that comes now, with nothing in memory
        for key in self.model.notes:
            try:
                vault.read(LOCAL, EVERYTHING, note_path(FOLDER, key))
            except CommonplaceError as error:
                self.wrong(f"{label}: {key} cannot be read: {error.code}: {error.message}")

    def works_again(self, label: str) -> None:
        """The same process can store, and then no page is wrong."""
        if not self.attempt(f"{label}, afterwards", filler(next(self._numbers))):
            self.wrong(f"{label}: still refused when the cause is gone")
        self.look(f"{label}, afterwards")
        self.report.violations += [f"{label}: {fault}" for fault in page_faults(open_keep(self.book), FOLDER)]

    def end(self) -> RefusalReport:
        """The next process finds all of it in order."""
        tally = Tally()
        check(self.book, self.model, self.model, Left.ORDERED, "the next process", tally, open_keep(self.book))
        self._add(tally)
        if not self.report.refused:
            self.wrong("nothing was refused: this has tested nothing")
        self.close()
        return self.report

    def close(self) -> None:
        if isinstance(self.keep.vault, LocalVault):
            self.keep.vault.close()

    def wrong(self, what: str) -> None:
        self.report.violations.append(what)

    def _add(self, tally: Tally) -> None:
        self.report.violations += [*tally.lost, *tally.torn, *tally.pages, *tally.errors]


def full_disk(seed: int = 1) -> RefusalReport:
    """ENOSPC of blocks: with more and more room left, so that another call is the first to fail."""
    return _full("disk full", seed, _fill_blocks, [*range(9), 20, 40] * 2, "-m", "0", "-b", "1024")


def no_inodes(seed: int = 1) -> RefusalReport:
    """ENOSPC of inodes: room for bytes, but for no more files."""
    return _full("no inodes", seed, _fill_inodes, [*range(7)] * 2, "-m", "0", "-N", "512")


def _full(
    name: str, seed: int, fill: Callable[[Ext4, str, int], None], room: Sequence[int], *options: str
) -> RefusalReport:
    rng = random.Random(seed)
    try:
        with small_ext4(8, *options) as system:
            tried = _Tried(name, f"{system.place}/book", DiskFull)
            tried.start()
            for left in room:
                ballast = f"{system.place}/ballast"
                fill(system, ballast, left)
                tried.round(f"{name}, {left} left", rng)
                shutil.rmtree(ballast)
                system.sync()
                tried.works_again(f"{name}, {left} left")
            return tried.end()
    except Unavailable as error:
        return RefusalReport(name, skipped_reason=str(error))


def _fill_blocks(system: Ext4, ballast: str, left: int) -> None:
    os.mkdir(ballast)
    with open(f"{ballast}/file", "wb", buffering=0) as file:
        for size in (64 * KIB, KIB):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
        os.fsync(file.fileno())
        file.truncate(max(0, file.tell() - left * KIB))
    system.sync()


def _fill_inodes(system: Ext4, ballast: str, left: int) -> None:
    os.mkdir(ballast)
    made = 0
    with contextlib.suppress(OSError):
        while True:
            os.close(os.open(f"{ballast}/{made}", os.O_CREAT | os.O_EXCL))
            made += 1
    for number in range(max(0, made - left), made):
        os.unlink(f"{ballast}/{number}")
    system.sync()


def no_handles() -> RefusalReport:
    """EMFILE, in a process of its own: nothing is loaded yet that the first store loads, and our handles stay ours."""
    if sys.platform == "win32":
        return RefusalReport("no handles", skipped_reason="needs resource limits")
    command = [sys.executable, "-m", "tests.crash.diskfull", "--handles"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return RefusalReport("no handles", violations=[f"the process ended with {done.returncode}: {done.stderr}"])
    return RefusalReport(**json.loads(done.stdout))


def _no_handles_here() -> RefusalReport:
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="commonplace-handles-") as folder:
        tried = _Tried("no handles", f"{folder}/book", TooManyFiles)
        for free in range(14):
            tried.round(f"{free} handles", rng, lambda free=free: _few_handles(free))  # type: ignore[misc]
            tried.works_again(f"{free} handles")
        return tried.end()


@contextmanager
def _few_handles(free: int) -> Iterator[None]:
    """This process can open so many files and not one more."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    held: list[int] = []
    try:
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(held.pop())
        yield
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def read_only() -> RefusalReport:
    """A book that is mounted read-only; then one whose disk turns read-only after an error, in the middle of work."""
    rng = random.Random(1)
    name = "read-only"
    try:
        with small_ext4(8, "-e", "remount-ro") as system:
            tried = _Tried(name, f"{system.place}/book", ReadOnly, WriteFailed)
            tried.start()
            tried.close()
            system.remount(read_only=True)
            tried.round("mounted read-only", rng)
            tried.close()
            system.remount(read_only=False)
            tried.works_again("mounted read-only")
            refused = tried.report.refused
            system.report_error()
            tried.round("read-only after an error", rng)
            if tried.report.refused == refused:
                tried.wrong("read-only after an error: nothing was refused")
            tried.close()
            system.boot()
            tried.works_again("read-only after an error")
            return tried.end()
    except Unavailable as error:
        return RefusalReport(name, skipped_reason=str(error))


def main_part() -> int:
    """The part of `make crash`: prints the figures, answers how many of them are wrong."""
    reports = [full_disk(), no_inodes(), no_handles(), read_only()]
    print("Real refusals:", "; ".join(map(str, reports)), flush=True)
    wrong = [line for report in reports for line in report.violations]
    for line in wrong[:20]:
        print(f"    {line[:400]}")
    return len(wrong)


if __name__ == "__main__":
    if sys.argv[1:] == ["--handles"]:
        print(json.dumps(asdict(_no_handles_here())))
    else:
        sys.exit(1 if main_part() else 0)
