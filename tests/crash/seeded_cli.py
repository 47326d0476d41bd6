"""The command line with a seeded bug: `python -m tests.crash.seeded_cli BUG ARGUMENTS`. Killing it must find each.

Nothing of this is in the product: a bug is put over it from outside, in a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from unittest import mock

from commonplace.cli import call
from commonplace.cli.main import main
from commonplace.cli.screen import as_json
from commonplace.model.results import StoreResult
from commonplace.vault import commit, disk, local
from commonplace.verbs import store


def acknowledge_before_rename() -> None:
    """The answer goes out when the temporary files are synced, before any of them has its name."""
    told: list[StoreResult] = []
    store_draft, publish = store.store_draft, commit.Commit._publish

    def remembered(*given: object, **named: object) -> StoreResult:
        told.append(store_draft(*given, **named))  # type: ignore[arg-type]
        return told[-1]

    def answered(self: commit.Commit, *given: object) -> None:
        while told:
            os.write(1, f"{as_json(told.pop())}\n".encode())
        publish(self, *given)  # type: ignore[arg-type]

    mock.patch.object(store, "store_draft", remembered).start()
    mock.patch.object(commit.Commit, "_publish", answered).start()
    mock.patch.object(call.Call, "answer", lambda self, value: True).start()


def write_in_place() -> None:
    """A file gets its new text by being overwritten, a part after the other, instead of by a rename."""

    def overwritten(self: disk.PosixFolder, name: str, folder: disk.PosixFolder, to: str) -> None:
        data, _ = self.read(name)
        fd = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=folder._fd)
        for start in range(0, len(data), 1000):
            os.write(fd, data[start : start + 1000])
        os.close(fd)
        self.remove(name)

    mock.patch.object(disk.PosixFolder, "rename", overwritten).start()


def leave_litter() -> None:
    """What a killed writer left is never swept."""
    mock.patch.object(local.LocalVault, "sweep", lambda *_: 0).start()


BUGS: dict[str, Callable[[], None]] = {
    "acknowledge before rename": acknowledge_before_rename,
    "write in place": write_in_place,
    "litter is never swept": leave_litter,
}
CAUGHT_AS = dict(zip(BUGS, ("lost", "torn", "litter"), strict=True))  # what each must be found as
TO_THE_END = frozenset({"litter is never swept"})  # the command after the killed one has it, too

if __name__ == "__main__":
    BUGS[sys.argv[1]]()
    sys.exit(main(sys.argv[2:]))
