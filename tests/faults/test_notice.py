"""What an answer says when the index could not be brought up to date, on each surface; and what is no damage."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace.index.sqlite.database as index_database
from commonplace import Book
from commonplace.index.sqlite import SqliteIndex
from commonplace.index.sqlite_file import copy_file, explain, is_no_damage
from commonplace.model.errors import DiskFull, LockTimeout, StorageError, WriteFailed
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath
from commonplace.verbs.toolset import toolset
from tests.index.conformance import HERE, put, row

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs statvfs")
FULL = SimpleNamespace(f_blocks=1, f_bavail=0, f_frsize=1, f_files=0, f_ffree=0)
TROUBLE = ["BUSY", "LOCKED", "FULL", "READONLY", "IOERR", "CANTOPEN", "PERM", "PROTOCOL", "NOMEM"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Book.open(tmp_path / "book", role="person") as book:
        book.store("The zebra is striped.", key="zebra", scope="global")
    return tmp_path / "book"


def add_note(root: Path) -> None:
    (root / "memories" / "global" / "emu.md").write_text("The emu is new.\n", encoding="utf-8")


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Another process writes to a database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_every_reading_tool_says_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk each tool that reads says so in its data, and in its text where that is not JSON."""
    monkeypatch.setattr(os, "statvfs", lambda _: FULL)
    notice = (
        "The index could not be opened: the disk, or your quota on it, is full. "
        "This answer was made from the files instead."
    )
    with Book.open(root, role="person") as book:
        tools = {tool.name: tool for tool in toolset(book)}
        calls = {"memory_recall": {"query": "zebra"}, "memory_show": {"key": "zebra"}, "memory_list": {}}
        for name, arguments in calls.items():
            answer = tools[name](**arguments)
            assert answer.data["notice"] == notice and answer.text.endswith(f"\n{notice}"), name
            assert answer.text.count(notice) == 1
        with pytest.raises(DiskFull):
            tools["memory_store"](content="No room.", key="new", scope="global")
        monkeypatch.undo()
        tools["memory_store"](content="Room again.", key="new", scope="global")
        assert "notice" not in tools["memory_recall"](query="zebra").data and not book.notice


def test_a_large_index_is_read_as_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that is too large to be copied is read as it is while another process writes, and the answer says that
    changes are missing; afterwards they are found."""
    monkeypatch.setattr(index_database, "_MAX_COPY", 0)
    monkeypatch.setattr(index_database, "_REST", 3600.0)
    add_note(root)
    with Book.open(root, role="person") as book:
        with written(root / ".commonplace" / "index.db"):
            assert [item.key for item in book.list()] == ["zebra"]
            assert book.notice == (
                "The index could not be refreshed: another process is writing to it. "
                "What changed since its last update is missing from this answer."
            )
        book.context.memories.index.attach()
        assert [item.key for item in book.list()] == ["emu", "zebra"] and not book.notice


def test_a_scope_that_cannot_be_looked_at(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk does not give the list of one folder, the others are answered in full, and the answer says so."""
    real = LocalVault.take_prestat

    def broken(self: LocalVault, space: Space, path: BookPath) -> object:
        if str(path) == "/memories/global":
            raise WriteFailed("The disk reported an error.")
        return real(self, space, path)

    monkeypatch.setattr(LocalVault, "take_prestat", broken)
    with Book.open(root, role="person", project="app") as book:
        book.store("The app is small.", key="small", scope="project")
        assert [item.key for item in book.list()] == ["zebra", "small"]
        assert book.notice.startswith("The disk reported an error.") and book.notice.endswith(
            "missing from this answer."
        )
        monkeypatch.undo()
        assert [item.key for item in book.list()] == ["zebra", "small"] and not book.notice


def test_nothing_that_reads_locks_the_index(root: Path) -> None:
    """While another process writes to the index, a reader of an unchanged book needs no copy and has no notice."""
    with Book.open(root, role="person") as book, written(root / ".commonplace" / "index.db"):
        assert [item.key for item in book.list()] == ["zebra"]
        assert not book.notice


def test_a_writer_waits_and_is_refused(tmp_path: Path) -> None:
    """A writer never uses the copy of a reader: where the file stays locked, it is refused in our words."""
    path = tmp_path / "index.db"
    with closing(SqliteIndex(path)) as index, written(path):
        index.refresh(LOCAL, lambda transaction: transaction.put(row("kettle")))
        assert isinstance(index.problem, LockTimeout)
        with index.reading(LOCAL) as reading:
            assert "kettle" in reading.rows(HERE)
        with pytest.raises(LockTimeout), index.transaction(LOCAL, 0.0):
            pass
    with closing(SqliteIndex(path)) as index, index.reading(LOCAL) as reading:
        assert "kettle" not in reading.rows(HERE)


def test_a_closed_book_says_so(root: Path) -> None:
    """Reading or writing a book that was closed is a typed error that says so, and nothing is moved aside."""
    book = Book.open(root, role="person")
    book.close()
    for call in (lambda: book.recall("zebra"), book.list, lambda: book.store("More.", key="zebra", scope="global")):
        with pytest.raises(StorageError) as caught:
            call()
        assert "elete" not in caught.value.hint
    assert not [item.name for item in (root / ".commonplace").iterdir() if "unusable" in item.name]


@given(st.sampled_from(TROUBLE), st.integers(0, 40))
def test_what_is_no_damage(name: str, more: int) -> None:
    """No code of SQLite for trouble of the moment, however it is extended, counts as damage or advises to delete."""
    error = sqlite3.OperationalError("trouble")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}") | more << 8
    assert is_no_damage(error)
    ours = explain(error, "/nowhere/index.db", "The index could not be opened")
    assert "elete" not in ours.message + ours.hint


@pytest.mark.parametrize("spoil", [b"", b"not a database " * 400, None])
def test_damage_is_still_damage(tmp_path: Path, spoil: bytes | None) -> None:
    """A file that is no database is moved aside and replaced, as before; an empty one becomes an index."""
    path = tmp_path / "index.db"
    if spoil is None:
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.write_bytes(spoil)
    with closing(SqliteIndex(path)) as index:
        put(index, row("kettle"))
        assert index.problem is None
    assert bool(spoil or spoil is None) == any("unusable" in item.name for item in tmp_path.iterdir())


def test_a_copy_is_whole(tmp_path: Path) -> None:
    """A copy of a file has all that was committed: with a log beside it, and without; and nothing that was not."""
    path = tmp_path / "index.db"
    index = SqliteIndex(path)
    for name in ("ant", "bee"):
        put(index, row(name))
        with index.transaction(LOCAL) as transaction:
            transaction.put(row("pending"))
            names = _names(copy_file(str(path)))
            assert name in names and "pending" not in names
            transaction.remove(HERE, "pending")
    index.close()
    assert not path.with_name("index.db-wal").exists()
    assert _names(copy_file(str(path))) == {"ant", "bee"}
    assert copy_file(str(tmp_path / "missing.db")) is None


def _names(copy: sqlite3.Connection | None) -> set[str]:
    assert copy is not None
    with closing(copy):
        return {name for (name,) in copy.execute("SELECT name FROM memory")}
