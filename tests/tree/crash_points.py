"""Run a command on a simulated disk, and keep what a kill at each point would leave: the disk, and the databases.

A point is a call of the disk that changes something, or a moment of a transaction of a database. `record` runs a
command once to its end and keeps a `Snapshot` at every so many points; `open_snapshot` opens a book as the next process
finds it there. The clock stands still, so that two runs of a command write the same bytes.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from commonplace.index.sqlite import SqliteIndex
from commonplace.memories.store import MemoryStore
from commonplace.memories.upkeep import verify
from commonplace.model.scope import Caller, Role
from commonplace.model.settings import Settings
from commonplace.state.sqlite import SqliteState
from commonplace.text.notes import parse
from commonplace.tree.store import TreeStore
from commonplace.tree.units import UNIT_PREFIX
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import SOURCE_PAGE, TREE
from commonplace.verbs.context import BookContext
from commonplace.verbs.tree_opening import open_tree
from tests.crash.simdisk import Left, SimDisk
from tests.stateful.books import digest

NOW = "2026-11-15T12:00:00Z"
NAMES = ("state.db", "tree.db")
ENDINGS = ("", "-wal", "-shm")
Command = Callable[[BookContext], object]
_LABELS = (
    "SELECT l.label, l.surface, e.id FROM mention m JOIN label l ON l.number = m.label JOIN entry e ON e.no = m.no"
)


class Place(NamedTuple):
    """Where a book is: its disk, and the real folder of its databases."""

    disk: SimDisk
    databases: Path

    def copy(self, databases: Path) -> Place:
        """Return another place with the same in it, as a killed process leaves it."""
        databases.mkdir(parents=True)
        for name in (f"{name}{ending}" for name in NAMES for ending in ENDINGS):
            if (self.databases / name).exists():
                shutil.copyfile(self.databases / name, databases / name)
        return Place(self.disk.copy(), databases)

    def after_power_cut(self, databases: Path, seed: int, left: Left) -> Place:
        """Return a place with what the disk had not synced lost in part; the databases are as they were."""
        kept = self.copy(databases)
        return Place(self.disk.after_power_cut(seed, left), kept.databases)


class Snapshot(NamedTuple):
    """What is left if the process is killed at a point."""

    number: int
    what: str  # the call that is not made any more
    place: Place


class Recorder:
    """Keeps the place at every so many points."""

    def __init__(self, place: Place, kept: Path, step: int, most: int) -> None:
        self.points = Counter[str]()
        self.snapshots: list[Snapshot] = []
        self._place, self._kept, self._step, self._most = place, kept, step, most

    @property
    def number(self) -> int:
        """How many points there were."""
        return sum(self.points.values())

    def reach(self, what: str, _: int = 0) -> None:
        """Note that a point was reached."""
        self.points[what] += 1
        if self.number % self._step == 0 and len(self.snapshots) < self._most:
            place = self._place.copy(self._kept / str(self.number))
            self.snapshots.append(Snapshot(self.number, what, place))


def make_place(databases: Path) -> Place:
    """Return a place without a book."""
    databases.mkdir(parents=True)
    return Place(SimDisk(), databases)


@contextmanager
def open_place(place: Place) -> Iterator[BookContext]:
    """Open the book of a place as a new process does; memories themselves are not looked at."""
    vault = LocalVault(place.disk)
    memories = MemoryStore(vault, SqliteIndex(":memory:"), lock_timeout=0.0, clock=lambda: NOW)
    state = SqliteState(str(place.databases / "state.db"))
    caller = Caller(Role.PERSON)
    settings = Settings(lock_timeout=0.0)
    context = BookContext(
        memories, state, settings, caller, root=str(place.databases / "book"), database_folder=str(place.databases),
        flags={}, config={},
    )  # fmt: skip
    try:
        yield context
    finally:
        context.close()


def run(place: Place, command: Command) -> object:
    """Run a command in a process of its own, as far as the book can tell."""
    with open_place(place) as context:
        return command(context)


def record(place: Place, command: Command, kept: Path, step: int = 1, most: int = 1_000_000) -> Recorder:
    """Run a command, and keep what a kill at every so many points leaves, at most so often."""
    recorder = Recorder(place, kept, step, most)
    connect = sqlite3.connect

    def connect_watched(path: str, *arguments: Any, **named: Any) -> sqlite3.Connection:
        if str(path).endswith(NAMES):
            named["factory"] = _watched(recorder, Path(path).name)
        connection: sqlite3.Connection = connect(path, *arguments, **named)
        return connection

    with open_place(place) as context:
        place.disk.fault = recorder.reach
        with patch.object(sqlite3, "connect", connect_watched):
            command(context)
        place.disk.fault = None
    return recorder


def _watched(recorder: Recorder, name: str) -> type[sqlite3.Connection]:
    class WatchedConnection(sqlite3.Connection):
        """Tells of each commit before it happens, and after."""

        def execute(self, sql: str, /, *arguments: Any) -> sqlite3.Cursor:
            is_commit = sql.startswith("COMMIT") and self.total_changes != self._seen
            if is_commit:
                recorder.reach(f"before a commit of {name}")
            done = super().execute(sql, *arguments)
            if is_commit:
                self._seen = self.total_changes
                recorder.reach(f"after a commit of {name}")
            return done

        _seen = 0

    return WatchedConnection


# What a book holds


def tree_files(place: Place) -> dict[str, bytes]:
    """Return every file below tree/ with its bytes, half-made ones included."""
    return {path: data for path, data in place.disk.files().items() if path.startswith(f"{TREE}/")}


def old_versions(place: Place) -> set[tuple[str, bytes]]:
    """Return the old texts that are kept of the tree: of which file, and what it said."""
    found = place.disk.files().items()
    return {(path.rpartition("/")[0], data) for path, data in found if path.startswith("/.commonplace/history/tree/")}


def unit_places(place: Place) -> dict[str, list[str]]:
    """Return the sources in whose files each unit is, one for each time that it is there."""
    found: dict[str, list[str]] = {}
    for path, data in tree_files(place).items():
        if path.endswith(".md") and "/.cp-" not in path:
            for entry in parse(data).entries:
                if entry.id.startswith(UNIT_PREFIX):
                    found.setdefault(entry.id, []).append(path.split("/")[2])
    return found


def index_digest(tree: TreeStore) -> list[str]:
    """Return all that the index of the tree says, without the numbers that count insertions."""
    index = tree.memories.index
    assert isinstance(index, SqliteIndex)
    labels = {repr(row) for row in index.connection.execute(_LABELS)}
    return [*digest(index), *sorted(labels)]


def check_index(place: Place) -> list[str]:
    """Return the digest of the index; fail if it differs from the files, or from one that is built anew from them."""
    with open_place(place) as context:
        tree = open_tree(context)
        said = index_digest(tree)
        found = verify(tree.memories, tree.folders())
        assert found.ok, found.differences
        tree.rebuild()
        anew = index_digest(tree)
        assert anew == said, sorted({*anew} ^ {*said})
    return said


def sources_on_disk(place: Place) -> set[str]:
    """Return the names of the folders below tree/ that have a page of a source."""
    return {path.split("/")[2] for path in tree_files(place) if path.endswith(f"/{SOURCE_PAGE}")}
