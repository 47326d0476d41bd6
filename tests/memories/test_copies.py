"""Two notes with one id: somebody copied a file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import Conflict
from commonplace.model.scope import ScopeKind
from tests.book.opened import tick

Copy = Callable[[Path, Path], object]
COPIES: dict[str, Copy] = {"cp": shutil.copyfile, "cp -p": shutil.copy2}
WRITES: dict[str, Callable[[Book, str], object]] = {
    "append": lambda book, key: book.store(f"More of {key}.", key=key, scope="project"),
    "replace": lambda book, key: book.store(f"All of {key}.", key=key, scope="project", mode="replace"),
    "edit": lambda book, key: book.edit(key, book.source(key)[0] + b"\nBy hand.\n"),
    "link": lambda book, key: (
        book.store("Another one.", key="elsewhere"),
        book.link(key, "relates_to", "elsewhere", scope="project"),
    ),
}


def copied(root: Path, copy: Copy, to: str = "a-copy.md") -> str:
    """A book with a note `gate`, and a copy of it; answers the id of both."""
    with Book.open(root, project="acme/app") as book:
        stored = book.store("The gate opens at nine.", key="gate")
        ident = book.show("gate").meta.id
    original = root / stored.path.lstrip("/")
    os.utime(original, ns=(1_000_000_000, 1_000_000_000))
    place = root / to if "/" in to else original.with_name(to)
    copy(original, place)
    return ident


@pytest.mark.parametrize("rebuilt", [False, True])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("how", COPIES)
def test_writing_to_the_original_leaves_it_its_id(tmp_path: Path, how: str, write: str, rebuilt: bool) -> None:
    """However a file is copied and however often its original is written to, the id stays with the original, and the
    copy gets one of its own at the first write to it; an index built anew in between changes nothing of that."""
    ident = copied(tmp_path, COPIES[how])
    with Book.open(tmp_path, project="acme/app") as book:
        for _ in range(3):
            WRITES[write](book, "gate")
            if rebuilt:
                book.reindex()
        assert (book.show("gate").meta.id, book.show("a-copy").meta.id) == (ident, ident)
        WRITES[write](book, "a-copy")
        own = book.show("a-copy").meta.id
        assert own not in ("", ident)
        WRITES[write](book, "gate")
        WRITES[write](book, "a-copy")
        assert (book.show("gate").meta.id, book.show("a-copy").meta.id) == (ident, own)
        assert book.verify().ok


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("first", ["gate", "a-copy"])
def test_a_copy_under_the_same_name_in_another_scope(tmp_path: Path, how: str, first: str) -> None:
    """Where the key says nothing of which was first, the one that has the id is decided once, and keeps it."""
    ident = copied(tmp_path, COPIES[how], "memories/global/gate.md")
    with Book.open(tmp_path, project="acme/app") as book:
        if how == "cp -p":  # nothing in the files tells them apart, so the first path has it
            other, owner = ScopeKind.PROJECT, ScopeKind.GLOBAL
        else:
            other, owner = ScopeKind.GLOBAL, ScopeKind.PROJECT
        for number in range(2):
            book.store(f"Number {number}.", key="gate", scope=owner)
            book.reindex()
        if first == "a-copy":
            book.store("More.", key="gate", scope=other)
            assert book.show("gate", scope=other).meta.id != ident
        assert book.show("gate", scope=owner).meta.id == ident and book.verify().ok


def test_undo_of_the_first_change_to_a_copy(tmp_path: Path) -> None:
    """The change that gave a copy its own id can be undone; the id stays its own."""
    ident = copied(tmp_path, shutil.copyfile)
    with Book.open(tmp_path, project="acme/app") as book:
        book.store("The copy says ten.", key="a-copy", mode="replace")
        own = book.show("a-copy").meta.id
        book.undo("a-copy")
        shown = book.show("a-copy")
        assert [entry.text for entry in shown.entries] == ["The gate opens at nine."] and shown.meta.id == own != ident


def test_undo_brings_no_text_of_a_memory_that_was_renamed(tmp_path: Path) -> None:
    """A new memory under the key that a renamed one had does not become that one's earlier text."""
    with Book.open(tmp_path, project="acme/app") as book:
        tick(book)
        path = tmp_path / book.store("Nine.", key="gate").path.lstrip("/")
        book.store("Ten.", key="gate", mode="replace")
        path.rename(path.with_name("door.md"))
        book.store("Another gate.", key="gate")
        with pytest.raises(Conflict):
            book.undo("gate")


@pytest.mark.parametrize(("purged", "other"), [("gate", "a-copy"), ("a-copy", "gate")])
def test_purging_one_of_two_leaves_the_other_whole(tmp_path: Path, purged: str, other: str) -> None:
    """A purge buries no id that another note has: that one keeps its use and its history, and doctor finds no fault."""
    ident = copied(tmp_path, shutil.copyfile)
    with Book.open(tmp_path, project="acme/app") as book:
        book.recall("gate opens")
        uses = book.context.use_counts([ident])
        book.forget(purged, purge=True)
        assert not list(tmp_path.glob(".commonplace/tombstones/*")) and uses == book.context.use_counts([ident]) != {}
        assert {found.code for found in book.doctor()} <= {"key_differs", "open_to_others"}
        assert [hit.key for hit in book.recall("gate opens").hits] == [other]
        book.forget(other, purge=True)
        assert [path.name for path in tmp_path.glob(".commonplace/tombstones/*")] == [ident]
        assert not book.context.use_counts([ident])


def test_purging_a_copy_leaves_what_the_original_was_called_before(tmp_path: Path) -> None:
    """What was put aside under the old name of the original is the original's, not its copy's."""
    with Book.open(tmp_path, project="acme/app") as book:
        path = tmp_path / book.store("Nine.", key="door").path.lstrip("/")
        book.store("Ten.", key="door", mode="replace")
    path.rename(path.with_name("gate.md"))
    shutil.copyfile(path.with_name("gate.md"), path.with_name("a-copy.md"))
    with Book.open(tmp_path, project="acme/app") as book:
        book.forget("a-copy", purge=True)
        assert list(tmp_path.glob(".commonplace/history/*/*/door/*.md"))
        book.forget("gate", purge=True)
        assert not list(tmp_path.glob(".commonplace/history/*/*/door/*.md"))


def test_doctor_names_the_copy(tmp_path: Path) -> None:
    """Of two notes with one id, the copy is the one that doctor finds fault with, whatever the order of their names."""
    copied(tmp_path, shutil.copyfile)
    with Book.open(tmp_path, project="acme/app") as book:
        book.store("More.", key="gate")
        found = [finding.path.rsplit("/", 1)[1] for finding in book.doctor() if finding.code == "duplicate_id"]
        assert found == ["a-copy.md"]
