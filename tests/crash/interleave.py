"""Two writers, the second let in at every call of the first: what locks and temporary names are for."""

from __future__ import annotations

from commonplace.memories import lifecycle
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError, LockTimeout
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, BookPath
from commonplace.vault.port import Write
from tests.crash.ops import FOLDER, open_keep
from tests.crash.simdisk import SimDisk


def two_appends(vault: type[LocalVault] = LocalVault) -> list[str]:
    """Two processes append to one note; the second starts at each call of the first. Both texts must be there."""
    faults: list[str] = []
    base = SimDisk()
    _append(open_keep(base, vault), "start")
    point = 1
    while True:
        disk = base.copy()
        first, second = open_keep(disk, vault), open_keep(disk, vault)
        entered: list[int] = []
        refused: list[int] = []
        start = disk.calls

        def come_in(
            _: str, call: int, *, at: int = start + point, other: MemoryStore = second, went: list[int] = entered,
            waited: list[int] = refused,
        ) -> None:  # fmt: skip
            if call == at:
                try:
                    _append(other, "second")
                    went.append(call)
                except LockTimeout:
                    waited.append(call)

        disk.fault = come_in
        try:
            _append(first, "first")
        except CommonplaceError as error:
            faults.append(f"call {point}: {error.code}")
        disk.fault = None
        reached = bool(entered or refused)
        if refused:
            _append(second, "second")
        found = _texts(open_keep(disk, vault))
        if reached and sorted(found) != ["first", "second", "start"]:
            faults.append(f"call {point}: {found}")
        if not reached:
            return faults
        point += 1


def two_writes(vault: type[LocalVault] = LocalVault) -> list[str]:
    """Two vaults write two files of one folder without a lock; neither may fail or change the other's bytes."""
    faults: list[str] = []
    paths = [BookPath("data", "one.bin"), BookPath("data", "two.bin")]
    point = 1
    while True:
        disk = SimDisk()
        first, second = vault(disk), vault(disk)
        done: list[int] = []

        def come_in(_: str, call: int, *, at: int = point, other: LocalVault = second, done: list[int] = done) -> None:
            if call == at:
                done.append(call)
                other.apply(LOCAL, EVERYTHING, [Write(paths[1], b"second")])

        disk.fault = come_in
        try:
            first.apply(LOCAL, EVERYTHING, [Write(paths[0], b"first")])
        except CommonplaceError as error:
            faults.append(f"call {point}: {error.code}")
        disk.fault = None
        if not done:
            return faults
        files = disk.files()
        if [files.get(str(path)) for path in paths] != [b"first", b"second"]:
            faults.append(f"call {point}: {sorted(files)}")
        point += 1


def _append(keep: MemoryStore, text: str) -> None:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.store(unit, "shared", Entry("", text, trust=Trust.AGENT), lifecycle.Labels())
        unit.commit()


def _texts(keep: MemoryStore) -> list[str]:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        found = unit.find("shared")
        return [entry.text for entry in found.note.entries] if found else []
