"""Seeded bugs: each breaks one step of the way a file is written. A harness that does not catch them proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

from commonplace.model.scope import Space
from commonplace.vault import commit
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import TEMP_PREFIX, TEMP_SUFFIX, View
from commonplace.vault.port import Change, HeldLock, Stat, VisibleCallback, WrittenCallback
from tests.crash.check import Tally
from tests.crash.explore import explore, prepared
from tests.crash.interleave import two_appends, two_writes

SEQUENCES = (("store",), ("store", "store-beside"), ("store", "rewrite"), ("store", "forget"))


class PageBeforeNote(LocalVault):
    """Writes index pages first, notes after."""

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None] | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        turned = sorted(changes, key=lambda change: change.path.name != "index.md")

        def in_order(stats: Sequence[Stat | None]) -> None:
            found = dict(zip(turned, stats, strict=True))
            if visible:
                visible([found[change] for change in changes])

        return super().apply(space, view, turned, meanwhile, in_order, written)


class LockReleasedEarly(LocalVault):
    """Gives the lock back before the write has happened."""

    @contextmanager
    def lock(self, space: Space, name: str, timeout: float) -> Iterator[HeldLock]:
        with super().lock(space, name, timeout) as held:
            pass
        yield held


def seeded() -> dict[str, int]:
    """Each bug with the number of violations that the harness found in the same runs that find none without it."""
    return {
        "none": _crashes(LocalVault),
        "drop fsync": _with_flags(sync_files=False),
        "drop folder fsync": _with_flags(sync_folders=False),
        "page before note": _crashes(PageBeforeNote),
        "acknowledge before rename": _acknowledge_early(),
        "fixed temp name": _fixed_temp_name(),
        "lock released early": len(two_appends(LockReleasedEarly)),
    }


def _crashes(vault: type[LocalVault]) -> int:
    total = Tally()
    start = prepared(3, vault)
    for names in SEQUENCES:
        total.add(explore(names, start, seeds=4, vault=vault))
    return total.violations + len(two_appends(vault)) + len(two_writes(vault))


def _with_flags(*, sync_files: bool = True, sync_folders: bool = True) -> int:
    total = Tally()
    disk, model = prepared(3)
    disk.sync_files, disk.sync_folders = sync_files, sync_folders
    for names in SEQUENCES:
        total.add(explore(names, (disk, model), seeds=4))
    return total.violations


def _acknowledge_early() -> int:
    """The last publish of a write happens only when the next write comes."""
    late: list[Callable[[], None]] = []
    publish = commit.Commit._publish

    def later(self: commit.Commit, change: Change) -> None:
        late.append(lambda: publish(self, change))

    with mock.patch.object(commit.Commit, "_publish", later):
        total = Tally()
        start = prepared(0)
        for names in SEQUENCES:
            total.add(explore(names, start, seeds=1))
    return total.violations


def _fixed_temp_name() -> int:
    with mock.patch.object(commit, "temp_name", lambda: f"{TEMP_PREFIX}1-fixed{TEMP_SUFFIX}"):
        return len(two_writes(LocalVault))
