"""Cut off at every call of the disk, and recorded again, the journal is what it would have been."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace.journal.manifest import read_manifest
from commonplace.journal.writer import compact, write_run
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError
from commonplace.vault.commit import Commit
from tests.book.opened import open_book
from tests.crash.ops import open_keep
from tests.crash.simdisk import Left, PowerCut, SimDisk
from tests.depth import depths
from tests.journal.runs import ABOUT, FOLDER, journal_files, manifest, small

NOW = "2026-11-15T12:00:00Z"
SEEDS = 2
STEPS = depths(9, 1)  # every ninth call of the disk in `make test`, every one in `make deep`
LAST = manifest("run-2", tasks=[*manifest()["tasks"], {"worker": "fixer", "description": "Mend it", "result": "ok"}])


def recorded(keep: MemoryStore, given: dict[str, object]) -> str:
    return write_run(keep, FOLDER, read_manifest(given, NOW).manifest, ABOUT).action


def prepared() -> SimDisk:
    """A disk with a run on it, so that every file but one is added to, and something failed that is fixed now."""
    disk = SimDisk()
    keep = open_keep(disk)
    recorded(keep, manifest())
    recorded(keep, small("early", worker="fixer", description="Mend it", error="no hammer"))
    return disk


def journal(disk: SimDisk) -> dict[str, bytes]:
    """All of the journal but the page above it, which may lag; half-made files included, because none may stay."""
    return {path: data for path, data in disk.files().items() if path.startswith(f"{FOLDER}/")}


@pytest.mark.parametrize("step", STEPS)
def test_a_recording_cut_off_at_any_call_is_completed_by_recording_again(step: int) -> None:
    """Killed or without power at each call, then recorded twice: the files are those of a recording that was not cut
    off, to the byte, and nothing half-made is left."""
    start = prepared()
    whole = start.copy()
    assert recorded(open_keep(whole), LAST) == "recorded"
    wanted = journal(whole)
    states = points = 0
    actions = set()
    for point in itertools.count(1, step):
        disk = start.copy()
        disk.calls, disk.fail_at = 0, point
        try:
            recorded(open_keep(disk), LAST)
            break
        except PowerCut:
            points += 1
        killed = disk.copy()
        left = [disk.after_power_cut(point * 31 + seed, kind) for seed in range(SEEDS) for kind in Left]
        for state in (killed, *left):
            states += 1
            actions.add(recorded(open_keep(state), LAST))
            assert journal(state) == wanted, (point, states)
            assert recorded(open_keep(state), LAST) == "unchanged"
            assert journal(state) == wanted
    assert points >= 50 // step and states == points * (1 + SEEDS * len(Left))
    expected = {"recorded", "completed", "unchanged"}  # cut before run.json was there, after, and at the end
    assert actions == expected or (step > 1 and actions < expected)


@pytest.mark.parametrize("step", STEPS)
def test_a_disk_that_fails_once_costs_nothing(step: int) -> None:
    """An error of the disk at each call is a typed one, and recording again comes to the files it should have made."""
    start = prepared()
    whole = start.copy()
    recorded(open_keep(whole), LAST)
    wanted = journal(whole)
    failed = 0
    for point in itertools.count(1, step):
        disk = start.copy()
        disk.calls = 0

        def fail(_: str, call: int, point: int = point) -> None:
            if call == point:
                raise OSError(errno.ENOSPC if point % 2 else errno.EIO, "the disk")

        disk.fault = fail
        try:
            recorded(open_keep(disk), LAST)
        except CommonplaceError:
            failed += 1
        if disk.calls < point:
            break
        disk.fault = None
        recorded(open_keep(disk), LAST)
        assert journal(disk) == wanted, point
    assert failed >= 50 // step


def test_a_run_that_was_answered_survives_a_power_cut() -> None:
    """Whatever the disk had not synced when recording answered is nothing of the journal."""
    disk = prepared()
    recorded(open_keep(disk), LAST)
    wanted = journal(disk)
    for seed, kind in itertools.product(range(20), Left):
        assert journal(disk.after_power_cut(seed, kind)) == wanted


@pytest.mark.parametrize("step", STEPS)
def test_compaction_cut_off_at_any_call_loses_nothing_and_is_completed(step: int) -> None:
    """At every call of compaction each run stands in the timeline or in the summary, each old file is there or in the
    archive, and doing it again comes to the same files."""
    start = SimDisk()
    keep = open_keep(start)
    for number in range(3):
        recorded(keep, manifest(f"old-{number}", finished=f"2026-0{number // 2 + 2}-1{number}T09:30:00Z"))
    before = journal(start)
    events = {path: data for path, data in before.items() if "/event-" in path}
    assert len(events) == 3
    whole = start.copy()
    assert compact(_at_noon(whole), FOLDER, ABOUT, days=90).runs == 3
    wanted = journal(whole)
    points = 0
    for point in itertools.count(1, step):
        disk = start.copy()
        disk.calls, disk.fail_at = 0, point
        try:
            compact(_at_noon(disk), FOLDER, ABOUT, days=90)
            break
        except PowerCut:
            points += 1
        for state in (disk.copy(), *(disk.after_power_cut(point * 7 + seed, Left.SCATTERED) for seed in range(SEEDS))):
            found = journal(state)
            for path, data in events.items():
                assert data in (found.get(path), found.get(path.replace("/event-", "/_archive/event-")))
            for number in range(3):
                sign = f"run=old-{number} ".encode()
                assert any(sign in data for path, data in found.items() if "/event-" in path or "/summary-" in path)
            compact(_at_noon(state), FOLDER, ABOUT, days=90)
            assert journal(state) == wanted, point
    assert points >= 30 // step


def _at_noon(disk: SimDisk) -> MemoryStore:
    keep = open_keep(disk)
    keep.clock = lambda: NOW
    return keep


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_book_that_dies_at_any_write_is_whole_after_recording_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    """With the real index, before or after each group of writes: lesson, mark and journal are there once, and the index
    says what the files say."""
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)
    third = manifest("run-3")
    whole = tmp_path / "whole"
    start = tmp_path / "start"
    with open_book(start, agent="lead") as book:
        book.record_run(manifest("run-1"))
        book.record_run(manifest("run-2"))
    shutil.copytree(start, whole)
    with open_book(whole, agent="lead") as book:
        assert len(book.record_run(third).lessons) == 2
    wanted = {path: data for path, data in journal_files(whole).items() if "/_lessons/" not in path}
    cut = 0
    for point in itertools.count(1):
        root = tmp_path / str(point)
        shutil.copytree(start, root)
        with monkeypatch.context() as patch, open_book(root, agent="lead") as book:
            patch.setattr(Commit, "run", _cut(point, done=done))
            try:
                book.record_run(third)
                break
            except PowerCut:
                cut += 1
        with open_book(root, agent="lead") as book:
            book.record_run(third)
            assert book.record_run(third).action == "unchanged"
            assert len(book.review()) == 2 and book.verify().ok
        found = journal_files(root)
        assert {path: data for path, data in found.items() if "/_lessons/" not in path} == wanted, point
        assert len(found) == len(wanted) + 2
    assert cut >= 4


def _cut(point: int, *, done: bool) -> Callable[..., None]:
    """The vault's way of writing, which ends at the n-th time, before anything is written or after all of it."""
    whole, calls = Commit.run, itertools.count(1)

    def run(self: Commit, *given: Any) -> None:
        last = next(calls) == point
        if done or not last:
            whole(self, *given)
        if last:
            raise PowerCut

    return run
