"""No text that the index knows is forgotten before it is in a file: what was replaced or deleted outside is saved."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from commonplace.memories.upkeep import sweep_trash
from commonplace.model.errors import Conflict, DiskFull, ReadOnly, StorageError, Unreadable
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from tests.book.opened import PROJECT, holds, open_book, texts, tick

OLD = "The heron nests by the weir."


def path_of(root: Path, key: str, scope: str = "global") -> Path:
    return root / "memories" / scope / f"{key}.md"


def saved(root: Path, text: str = OLD) -> list[str]:
    """The names, from the time on, of the texts in the history that have a text in them: KEY and ACTION of each."""
    base = root / ".commonplace" / "history"
    found = [path for path in sorted(base.rglob("*.md")) if text.encode() in path.read_bytes()]
    return [f"{path.parent.name} {path.name.split('.')[1]}" for path in found]


@pytest.fixture
def note(root: Path) -> Path:
    with open_book(root) as book:
        book.store(OLD, key="k", scope="global")
        book.store("The otter is another matter.", key="other", scope="global")
    return path_of(root, "k")


# A writer that reads the file it changes


@pytest.mark.parametrize("verb", ["append", "replace", "forget"])
@pytest.mark.parametrize("change", ["edited", "emptied", "deleted"])
def test_a_write_after_a_hand_edit(root: Path, verb: Any, change: str) -> None:
    """A book that is open and has looked at its files already saves what a note said before an edit that it meets only
    when it writes to that note; an undo brings back the edited text first."""
    with open_book(root) as book:
        book.store(OLD, key="k", scope="global")
        book.list()
        note = path_of(root, "k")
        if change == "edited":
            note.write_text(note.read_text("utf-8").replace("weir", "mill"), "utf-8")
        elif change == "emptied":
            note.write_bytes(b"")
        else:
            note.unlink()
        if verb != "forget":
            book.store("A later fact.", key="k", scope="global", mode=verb)
        elif change != "deleted":
            book.forget("k", "global")
        else:
            book.list()
            assert book.history("k", "global")
        assert saved(root) == ["k deleted" if change == "deleted" else "k edited"]
        if (verb, change) == ("replace", "edited"):
            assert [item.action for item in book.history("k", "global")] == ["edited", "replaced", "current"]
            book.undo("k", "global")
            assert "mill" in book.show("k").entries[0].text
        assert book.verify().differences == ()


def rot(note: Path) -> None:
    """Change a byte, and nothing that can be seen from outside."""
    looks = note.stat()
    note.write_bytes(note.read_bytes().replace(b"weir", b"weis"))
    os.utime(note, ns=(looks.st_atime_ns, looks.st_mtime_ns))


@pytest.mark.parametrize("verb", ["append", "reindex"])
def test_bytes_that_changed_unseen(root: Path, note: Path, verb: str) -> None:
    """A note whose bytes rotted, though it looks as it did, is saved as the index knows it before the index forgets."""
    rot(note)
    with open_book(root) as book:
        if verb == "append":
            book.store("A later fact.", key="k", scope="global")
        else:
            book.reindex()
        assert saved(root) == ["k damaged"]
        assert book.verify().differences == ()


# Moved, copied, swapped: the text is in a file


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("to", ["memories/global/z/moved.md", "memories/agent/ada/k.md", "memories/team/k.md"])
def test_a_note_that_was_moved_is_not_saved(root: Path, note: Path, to: str, by_hand: bool) -> None:
    """Nothing is put into the history when a note is renamed or moved to another scope, whoever wrote it."""
    if by_hand:
        note.write_text(f"{OLD}\n", "utf-8")
    with open_book(root) as book:
        book.list()
    shutil.rmtree(root / ".commonplace" / "history", ignore_errors=True)
    (root / to).parent.mkdir(parents=True, exist_ok=True)
    note.rename(root / to)
    with open_book(root) as book:
        assert book.list(everything=True) and saved(root) == []
        book.reindex()
        assert book.verify().differences == ()
    assert saved(root) == []


def test_notes_that_were_swapped_are_not_saved(root: Path, note: Path) -> None:
    """Two notes that swapped names are each still in a file: nothing is put into the history."""
    other, between = path_of(root, "other"), root / "between"
    for source, to in ((note, between), (other, note), (between, other)):
        source.rename(to)
    with open_book(root) as book:
        assert len(book.list()) == 2 and book.verify().differences == ()
    assert not (root / ".commonplace" / "history").exists()


def test_a_note_moved_over_another(root: Path, note: Path) -> None:
    """What a moved note overwrote is saved, and undo brings it back with its own id."""
    with open_book(root) as book:
        ident = book.show("k").meta.id
    shutil.copy(path_of(root, "other"), note)
    with open_book(root) as book:
        assert saved(root) == [] and len(book.list()) == 2 and saved(root) == ["k edited"]
        book.undo("k", "global")
        assert (book.show("k").meta.id, book.show("k").entries[0].text) == (ident, OLD)
        assert book.verify().differences == () and book.doctor() == []


# What must not be saved


def copy_index(source: Path, to: Path) -> None:
    """Copy the index, with its log, and leave no other index there."""
    for path in to.glob("index.db*"):
        path.unlink()
    to.mkdir(exist_ok=True)
    for path in source.glob("index.db*"):
        shutil.copy(path, to)


def test_an_index_older_than_a_purge_brings_nothing_back(root: Path, note: Path, tmp_path: Path) -> None:
    """An index that still knows a purged memory, as after a power cut, puts nothing of it into the history."""
    copy_index(root / ".commonplace", tmp_path / "kept")
    with open_book(root) as book:
        book.forget("k", "global", purge=True)
    copy_index(tmp_path / "kept", root / ".commonplace")
    with open_book(root) as book:
        assert [item.key for item in book.list()] == ["other"]
        book.reindex()
        assert book.verify().differences == ()
    assert saved(root) == [] and holds(root / "memories", OLD) == []


def test_an_index_older_than_a_forget_saves_nothing(root: Path, note: Path, tmp_path: Path) -> None:
    """An index that still knows a forgotten memory finds it in the trash, and puts nothing into the history."""
    copy_index(root / ".commonplace", tmp_path / "kept")
    with open_book(root) as book:
        book.forget("k", "global")
    copy_index(tmp_path / "kept", root / ".commonplace")
    with open_book(root) as book:
        assert [item.key for item in book.list()] == ["other"] and book.verify().differences == ()
    assert saved(root) == []


def test_a_purge_under_another_name(root: Path, note: Path) -> None:
    """A note that was renamed and edited at once leaves its old text under the old name; purging it under the new name
    takes that text too, though another memory has the old name by then."""
    moved = path_of(root, "moved")
    note.rename(moved)
    moved.write_text(moved.read_text("utf-8").replace("weir", "mill"), "utf-8")
    with open_book(root) as book:
        book.store("Something else.", key="k", scope="global")
        assert saved(root) == ["k deleted"]
        book.forget("moved", "global", purge=True)
        assert holds(root, "heron") == [] and book.show("k").entries[0].text == "Something else."


def test_what_waits_for_a_verdict_still_waits(root: Path, note: Path) -> None:
    """A proposed memory that was deleted outside is saved as proposed: restored, it waits, and it was never said."""
    note.write_text(note.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    with open_book(root) as book:
        tick(book, year=2099)
        book.list()
        note.unlink()
        book.history("k", "global")
        assert saved(root) == ["k deleted"] and texts(book, "heron", as_of="2098-01-01T00:00:00Z") == []
        book.restore("k")
        assert book.show("k").meta.status == "proposed" and book.verify().differences == ()


# Where it cannot be saved now


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC])
@pytest.mark.parametrize("change", ["retyped", "deleted"])
def test_where_nothing_can_be_written(
    root: Path, note: Path, monkeypatch: pytest.MonkeyPatch, number: int, change: str
) -> None:
    """A reader on a read-only or full disk answers with the old text and keeps it in the index; once the disk can be
    written, the text is saved. A reindex is refused meanwhile."""
    note.write_text("New.\n", "utf-8") if change == "retyped" else note.unlink()
    real = os.open

    def refuse(path: object, flags: int, *rest: object, **more: object) -> int:
        if flags & os.O_CREAT and str(path).startswith(".cp-"):
            raise OSError(number, "no")
        return real(path, flags, *rest, **more)  # type: ignore[arg-type]

    with open_book(root) as book:
        monkeypatch.setattr(os, "open", refuse)
        for _ in range(2):
            assert texts(book, "heron") == [OLD] and [item.key for item in book.list()] == ["k", "other"]
            assert book.verify().differences != () and book.doctor() != []
            with pytest.raises((ReadOnly, DiskFull)):
                book.reindex()
        monkeypatch.undo()
        assert OLD not in texts(book, "heron") and book.verify().differences == ()
    assert saved(root) == ["k deleted" if change == "deleted" else "k edited"]


def test_a_deletion_while_another_writes(root: Path, note: Path) -> None:
    """Recall waits for no lock to save what was deleted: it answers with it, and saves it once the lock is free."""
    note.unlink()
    vault = LocalVault.at(root)
    with open_book(root) as book:
        with vault.lock(LOCAL, "global", 0):
            assert texts(book, "heron") == [OLD]
        assert texts(book, "heron") == [] and saved(root) == ["k deleted"]
        assert book.restore("k").action == "restored" and texts(book, "heron") == [OLD]
    vault.close()


def test_a_file_that_cannot_be_read_for_a_while(root: Path, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the index knows of a file that cannot be read is not forgotten: deleted later, its text is saved."""
    real = LocalVault.read
    note.touch()

    def read(self: LocalVault, space: object, view: object, path: object) -> object:
        if str(path) == "/memories/global/k.md":
            raise Unreadable("It cannot be read.")
        return real(self, space, view, path)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(LocalVault, "read", read)
        with open_book(root) as book:
            assert len(book.list()) == 2
            assert book.verify().differences == ("/memories/global/k.md: it cannot be read",)
    note.unlink()
    with open_book(root) as book:
        assert len(book.list()) == 1 and saved(root) == ["k deleted"] and book.verify().differences == ()


# When the index is built anew


def test_a_reindex_after_a_whole_scope_was_deleted(root: Path) -> None:
    """A reindex saves the memories of a project whose folder is gone, and that nobody has asked about since."""
    with open_book(root, project="github.com/acme/gone") as book:
        folder = root / Path(book.store(OLD, key="k", scope="project").path.lstrip("/")).parent
    shutil.rmtree(folder)
    with open_book(root, project=PROJECT) as book:
        book.reindex()
        assert saved(root) == ["k deleted"] and book.verify().differences == ()
    with open_book(root, project="github.com/acme/gone") as book:
        assert book.restore("k").action == "restored" and texts(book, "heron") == [OLD]


@pytest.mark.parametrize("change", ["retyped", "deleted", "nothing"])
def test_an_index_of_an_earlier_version(root: Path, note: Path, change: str) -> None:
    """A program with another schema saves what only the index of the earlier version knew, and nothing else."""
    with sqlite3.connect(root / ".commonplace" / "index.db") as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version = {version - 1}")
    if change != "nothing":
        note.write_text("New.\n", "utf-8") if change == "retyped" else note.unlink()
    with open_book(root) as book:
        book.list()
        assert saved(root) == {"retyped": ["k edited"], "deleted": ["k deleted"], "nothing": []}[change]
        assert book.verify().differences == () and book.doctor() == []
        book.reindex()
        assert book.verify().differences == ()


def test_a_damaged_index_is_kept_beside_the_new_one(root: Path, note: Path) -> None:
    """A reindex of a damaged index cannot save from it, and leaves its file where it can be found."""
    note.unlink()
    index = root / ".commonplace" / "index.db"
    with sqlite3.connect(index) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    data = index.read_bytes()
    index.write_bytes(data[:100] + b"\xff" * 300 + data[400:])
    with open_book(root) as book:
        for _ in range(2):
            try:
                book.reindex()
            except StorageError:
                continue
        assert book.verify().differences == ()
    assert any(OLD.encode() in path.read_bytes() for path in index.parent.glob("index.db.unusable-*"))


# Undo and restore


def test_undo_after_an_emptied_note_was_stored_to(root: Path, note: Path) -> None:
    """A note that was emptied outside and then got a new text from an agent can be undone to what it said before."""
    note.write_bytes(b"")
    with open_book(root) as book:
        book.store("A later fact.", key="k", scope="global")
        book.undo("k", "global")
        assert [entry.text for entry in book.show("k").entries] == [OLD]
        book.undo("k", "global")
        assert book.show("k").entries[-1].text == "A later fact."


def test_undo_does_not_bring_back_another_memory(root: Path, note: Path) -> None:
    """A memory that was stored under the key of one that was deleted outside, or forgotten, has nothing to undo."""
    with open_book(root) as book:
        note.write_text("Retyped.\n", "utf-8")
        book.list()
        assert saved(root) == ["k edited"]
        note.unlink()
        book.store("Another memory.", key="k", scope="global")
        with pytest.raises(Conflict):
            book.undo("k", "global")
        book.forget("k", "global")
        book.store("A third one.", key="k", scope="global")
        with pytest.raises(Conflict):
            book.undo("k", "global")


def test_restore_takes_the_latest_of_trash_and_deleted(root: Path, note: Path) -> None:
    """Of a memory that was forgotten and one that was deleted outside, restore brings back the later."""
    with open_book(root) as book:
        book.forget("k", "global")
        book.store("The second.", key="k", scope="global")
        note.unlink()
        assert book.restore("k").action == "restored" and book.show("k").entries[0].text == "The second."
        assert [item.action for item in book.history("k")][-3:] == ["deleted", "restored", "current"]
        book.forget("k", "global")
        assert book.restore("k").action == "restored" and book.show("k").entries[0].text == "The second."
        assert book.verify().differences == ()


def test_what_was_deleted_is_found_as_of_then(root: Path) -> None:
    """What a note said before it was deleted outside answers a question about that time, and no other."""
    with open_book(root) as book:
        tick(book)
        book.store(OLD, key="k", scope="global")
        then = book.show("k").meta.updated
        path_of(root, "k").unlink()
        assert book.history("k")[-1].action == "deleted"
        assert texts(book, "heron", as_of=then) == [OLD] and texts(book, "heron") == []


def test_sweeping_the_trash_keeps_what_is_said_now(root: Path) -> None:
    """A memory is still found after an earlier one of its key has left the trash for good."""
    with open_book(root) as book:
        book.store("The first.", key="k", scope="global")
        book.forget("k", "global")
        book.store(OLD, key="k", scope="global")
        assert (
            sweep_trash(
                book.context.memories,
                book.context.folder(book.context.caller.scope("global")),
                now="2099-01-01T00:00:00Z",
            )
            == 1
        )
        assert texts(book, "heron") == [OLD] and book.verify().differences == ()
