"""One of several processes that write to the same book at once: `python worker.py ROOT NAME VERB COUNT`."""

from __future__ import annotations

import sys

from commonplace.index.sqlite import SqliteIndex
from commonplace.memories import lifecycle
from commonplace.memories.store import MemoryStore
from commonplace.model.memory import Entry, Trust
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, BookPath

FOLDER = BookPath("memories", "global")


def main(root: str, name: str, verb: str, count: int) -> None:
    keep = MemoryStore(LocalVault.at(root), SqliteIndex(":memory:"), lock_timeout=300)
    for number in range(count):
        entry = Entry("", f"{name} says {number}.", trust=Trust.AGENT, author=name)
        if verb == "append":
            _store(keep, "shared", entry, lifecycle.Labels(tags=(name,)))
            continue
        _store(keep, f"{name}-{number:03d}", entry, lifecycle.Labels())
        if verb == "churn":
            _forget(keep, f"{name}-{number:03d}")


def _store(keep: MemoryStore, key: str, entry: Entry, labels: lifecycle.Labels) -> None:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        kept = lifecycle.store(unit, key, entry, labels)
        unit.commit()
    print(kept.action, kept.key, flush=True)


def _forget(keep: MemoryStore, key: str) -> None:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.forget(unit, key, None)
        unit.commit()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
