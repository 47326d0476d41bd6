"""Safety item 5, for real: a full disk, no handles left, a file system that became read-only.

tests/crash/faults.py makes every call fail in memory; here the kernel does it, with its own choice of call and number.
Promised: the error is the typed one, nothing acknowledged is lost, no note is torn, no temporary file stays, reading
goes on, and when the cause is gone, so is the error.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from commonplace.keep.unit import Unit
from commonplace.model.errors import CommonplaceError, DiskFull, ReadOnly, TooManyFiles, WriteFailed
from commonplace.model.space import LOCAL
from commonplace.vault.local import TEMP_PREFIX, LocalVault
from commonplace.vault.paths import note_path
from commonplace.vault.view import EVERYTHING
from tests.crash.check import Tally, check, check_texts
from tests.crash.mounts import Ext4, RealBook, Unavailable, small_ext4
from tests.crash.ops import FOLDER, KINDS, OPS, Model, Op, filler, open_keep, run
from tests.crash.simdisk import Left

KIB = 1024


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
        return f"{self.name}: {self.acknowledged} acknowledged, {self.refused} refused, {len(self.violations)} violations"


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

    def round(self, label: str, rng: random.Random) -> None:
        """Operations of every kind in any order, a new memory and a new folder among them; then a look."""
        number = next(self._numbers)
        todo = {name: make() for name, make in OPS.items()}
        todo |= {"new": filler(number), "new folder": KINDS["store"](f"folder-{number}/note")}
        for name in rng.sample(sorted(todo), len(todo)):
            self.attempt(f"{label}, {name}", todo[name])

    def attempt(self, label: str, op: Op) -> bool:
        """One operation: acknowledged (True), or refused with one of the errors that were to come."""

        def noted(unit: Unit, model: Model) -> Model:
            self._coming = op(unit, model)
            return self._coming

        self._coming = self.model
        try:
            self.model = run(self.keep, noted, self.model)
        except self._errors:
            self.report.refused += 1
            return False
        except (CommonplaceError, OSError, ImportError) as error:
            self.wrong(f"{label}: {type(error).__name__} where it should not be: {error}")
            return False
        self.report.acknowledged += 1
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

    def read_all(self, label: str) -> None:
        """A reader that comes now, with nothing in memory, can read every note."""
        vault = LocalVault(self.book)
        for key in self.model.notes:
            try:
                vault.read(LOCAL, EVERYTHING, note_path(FOLDER, key))
            except CommonplaceError as error:
                self.wrong(f"{label}: {key} cannot be read: {error.code}: {error.message}")

    def works_again(self, label: str) -> None:
        """The same process can store, and then all is as if nothing had been."""
        if not self.attempt(f"{label}, afterwards", filler(next(self._numbers))):
            self.wrong(f"{label}: still refused when the cause is gone")
        tally = Tally()
        check(_LookedAt(self.book), self.model, self.model, Left.ORDERED, label, tally, self.keep)
        self._add(tally)

    def close(self) -> None:
        if isinstance(self.keep.vault, LocalVault):
            self.keep.vault.close()

    def wrong(self, what: str) -> None:
        self.report.violations.append(what)

    def _add(self, tally: Tally) -> None:
        self.report.violations += [*tally.lost, *tally.torn, *tally.pages, *tally.errors]
