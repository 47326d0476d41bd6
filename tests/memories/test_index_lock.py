"""The index is not locked while files are synced: a writer on a slow disk is in the way of nobody in another scope."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.book import Book
from commonplace.index.sqlite import SqliteIndex
from commonplace.memories import lifecycle
from commonplace.memories.layout import new_key_writes
from commonplace.memories.store import MemoryStore
from commonplace.memories.upkeep import verify_scope
from commonplace.model.errors import StorageError
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, KEEPER, BookPath
from commonplace.vault.port import Write
from tests.crash.ops import FOLDER, OPS, Model, filler, run
from tests.crash.simdisk import SimDisk
from tests.memories.reading import page_faults

OTHER = BookPath("memories", "team")
Action = Callable[[MemoryStore], object]


def open_store(disk: SimDisk, index: Path) -> MemoryStore:
    """A process of its own with the book open: it shares files and index with the others."""
    return MemoryStore(LocalVault(disk), SqliteIndex(index), lock_timeout=0.0)


def close(*stores: MemoryStore) -> None:
    for store in stores:
        assert isinstance(store.index, SqliteIndex)
        store.index.close()


@cache
def prepared(name: str, notes: int) -> tuple[SimDisk, bytes, Model]:
    """A book in which an operation has something to do: its disk, its index, and what it holds."""
    disk, model = SimDisk(), Model()
    with TemporaryDirectory() as folder:
        index = Path(folder, "index.db")
        store = open_store(disk, index)
        store.files.apply(new_key_writes())
        for number in range(notes):
            model = run(store, filler(number), model)
        for step in ("store", "forget", "store", "rewrite", "store", *(["forget"] if name == "restore" else [])):
            model = run(store, OPS[step](), model)
        close(store)
        return disk, index.read_bytes(), model


def start(folder: Path, name: str, notes: int) -> tuple[SimDisk, MemoryStore, Model]:
    """The same, to be changed."""
    disk, index, model = prepared("restore" if name == "restore" else "", notes)
    (folder / "index.db").write_bytes(index)
    disk = disk.copy()
    disk.calls = 0
    return disk, open_store(disk, folder / "index.db"), model


def by_hand(disk: SimDisk, name: str, text: str) -> None:
    """Change a note as a person does, past the book."""
    LocalVault(disk).apply(LOCAL, KEEPER, [Write(FOLDER / name, text.encode())])


def other_changes(disk: SimDisk) -> dict[str, Action]:
    """What else writes files: a look at the files that mends, one that saves a lost text, a rebuild."""

    def edited(store: MemoryStore) -> None:
        by_hand(disk, "release-rule.md", "Another text.\n")
        store.reconcile(FOLDER)

    def edited_and_stored(store: MemoryStore) -> None:
        with store.unit(FOLDER, EVERYTHING) as unit:
            by_hand(disk, "release-rule.md", "Another text.\n")
            lifecycle.store(unit, "release-rule", Entry("", "More.", trust=Trust.AGENT), lifecycle.Labels())
            unit.commit()

    def rebuilt(store: MemoryStore) -> None:
        by_hand(disk, "index.md", "A page without our lines.\n")
        store.rebuild([FOLDER])

    return {"reconcile": edited, "store onto an edit": edited_and_stored, "rebuild": rebuilt}


@pytest.mark.parametrize("name", [*OPS, "reconcile", "store onto an edit", "rebuild"])
def test_the_index_is_free_at_every_sync(name: str, tmp_path: Path) -> None:
    """Whatever changes files, another process can write to the index at every single sync of a file or a folder."""
    disk, store, model = start(tmp_path, name, notes=70)
    syncs: list[str] = []
    with closing(sqlite3.connect(tmp_path / "index.db", timeout=0, isolation_level=None)) as other:

        def lock_index(what: str, _: int) -> None:
            if what.startswith("sync"):
                other.execute("BEGIN IMMEDIATE")  # raises OperationalError where the index is locked
                other.execute("ROLLBACK")
                syncs.append(what)

        disk.fault = lock_index
        if name in OPS:
            run(store, OPS[name](), model)
        else:
            other_changes(disk)[name](store)
    assert len(syncs) >= 3
    close(store)


@given(st.sampled_from(sorted(OPS)), st.integers(0, 60), st.booleans(), st.sampled_from((0, 49, 70)))
def test_a_reader_at_any_moment_of_a_write(
    tmp_path_factory: pytest.TempPathFactory, name: str, point: int, edited: bool, notes: int
) -> None:
    """A reader that looks at the files at any call of the disk during a write, an outside edit before its eyes or not,
    makes nothing appear twice, saves nothing wrongly, and leaves index and pages as the files say."""
    folder = tmp_path_factory.mktemp("book")
    disk, writer, model = start(folder, name, notes)
    reader = open_store(disk, folder / "index.db")
    before = {path for path in disk.files() if "/history/" in path}
    looks: list[bool] = []

    def look(_: str, call: int) -> None:
        if call == point:
            if edited:
                by_hand(disk, "by-hand.md", "Written meanwhile.\n")
            looks.append(reader.freshen(FOLDER))

    disk.fault = look
    run(writer, OPS[name](), model)
    disk.fault = None
    known = {path: data for path, data in disk.files().items() if "/history/" in path and path not in before}
    assert [path for path in known if ".edited.-." in path or ".deleted.-." in path] == []
    assert verify_scope(reader, FOLDER)[1] == [] or edited
    run(writer, OPS["store-beside"](), model)
    assert verify_scope(reader, FOLDER)[1] == []
    assert page_faults(writer, FOLDER) == []
    assert all(looks)
    close(writer, reader)


def test_an_index_that_cannot_be_written_costs_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the files are durable and the index then fails, the store is acknowledged; the same process and the next one
    find the memory, with its trust, and nothing is saved to the history."""
    with Book.open(tmp_path / "book", project="acme/app") as book:
        book.store("The staging port is 8042.", key="port")
        index = book.context.memories.index
        assert isinstance(index, SqliteIndex)
        real, calls = index._execute, list[str]()

        def fail(statement: str) -> None:
            calls.append(statement)
            if statement == "BEGIN IMMEDIATE" and calls.count(statement) > 1:
                raise sqlite3.OperationalError("database is locked")
            real(statement)

        monkeypatch.setattr(index, "_execute", fail)
        assert book.store("The staging port is 8043.", key="port", mode="replace").action == "replaced"
        monkeypatch.undo()
        assert calls.count("BEGIN IMMEDIATE") == 2
        (hit,) = book.recall("staging port").hits
        assert hit.text == "The staging port is 8043."
        assert hit.trust == "human"
        assert book.verify().differences == ()
    with Book.open(tmp_path / "book", project="acme/app") as book:
        assert [item.action for item in book.history("port")] == ["replaced", "current"]


def test_an_index_that_cannot_be_read_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are made from the index: where it fails before anything is written, the store is refused, and nothing is
    left of it."""
    with Book.open(tmp_path / "book", project="acme/app") as book:
        book.store("The staging port is 8042.", key="port")
        index = book.context.memories.index
        assert isinstance(index, SqliteIndex)

        def fail(statement: str) -> None:
            raise sqlite3.OperationalError("database is locked")

        monkeypatch.setattr(index, "_execute", fail)
        with pytest.raises(StorageError):
            book.store("The production port is 9000.", key="production")
        monkeypatch.undo()
        assert [item.key for item in book.list()] == ["port"]


BLOCKED = """
import os, sys
from commonplace.book import Book
book = Book.open(sys.argv[1], project="acme/slow")
sync, calls = os.fsync, []
def blocked(fd):
    calls.append(fd)
    if len(calls) == int(sys.argv[2]):
        print("syncing", flush=True)
        sys.stdin.readline()
    sync(fd)
os.fsync = blocked
print(book.store("The disk is slow here.", key="slow").action, flush=True)
"""


@pytest.mark.parametrize("sync", [1, 5, 6], ids=["file", "folder", "parent page"])
def test_a_stuck_sync_holds_up_nobody_in_another_project(tmp_path: Path, sync: int) -> None:
    """While one process waits for a sync that does not end, the command line stores and recalls in other projects, one
    of them new; then the first one is acknowledged, too."""
    root = tmp_path / "book"
    with Book.open(root, project="acme/app") as book:
        book.store("The build takes ten minutes.", key="build")
    environment = {**os.environ, "COMMONPLACE_ROOT": str(root)}

    def commonplace(*arguments: str) -> str:
        command = [sys.executable, "-m", "commonplace", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    arguments = [sys.executable, "-c", BLOCKED, str(root), str(sync)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as slow:
        assert slow.stdin is not None
        assert slow.stdout is not None
        try:
            assert slow.stdout.readline() == "syncing\n"
            assert "Stored" in commonplace("store", "Releases are on Monday.", "--key", "day", "--project", "acme/new")
            assert "Stored" in commonplace("store", "Use ruff.", "--key", "lint", "--project", "acme/app")
            assert "ten minutes" in commonplace("recall", "build", "--project", "acme/app")
            assert slow.poll() is None
        finally:
            slow.stdin.write("go on\n")
            slow.stdin.close()
        assert slow.stdout.read() == "created\n"
    with Book.open(root, project="acme/slow") as book:
        assert [item.key for item in book.list()] == ["slow"]
        assert book.verify().differences == ()
