"""Two processes on one book, and a person with an editor: what one of them saw is mended by whoever writes next."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.errors import Conflict
from tests.stateful.books import open_book


def test_a_reader_saw_it_and_a_writer_mends_it(tmp_path: Path) -> None:
    """A note made by hand, first seen by a process that only reads, is on a page after the next write of any other."""
    with open_book(tmp_path) as writer, open_book(tmp_path) as reader:
        writer.store("Quartz.", key="first", scope="global")
        (tmp_path / "memories" / "global" / "mine.md").write_text("Basalt.\n")
        assert [item.key for item in reader.list()] == ["first", "mine"]
        writer.store("Granite.", key="second", scope="global")
        assert "mine.md" in (tmp_path / "memories" / "global" / "index.md").read_text()
        assert reader.verify().differences == ()


def test_clear_takes_what_was_put_there_by_hand(tmp_path: Path) -> None:
    """Clearing a scope takes notes that nobody of us has seen, and does not stumble over those that are gone."""
    with open_book(tmp_path) as book:
        folder = tmp_path / "memories" / "global"
        book.store("Quartz.", key="first", scope="global")
        (folder / "mine.md").write_text("Basalt.\n")
        (folder / "first.md").unlink()
        assert book.clear("global") == 1
        assert book.list() == []
        assert book.verify().differences == ()
        book.restore("mine", "global")
        assert [entry.text for entry in book.show("mine").entries] == ["Basalt."]


def test_a_key_that_is_used_again(tmp_path: Path) -> None:
    """Undo never brings back the text of another memory that had the same key before."""
    with open_book(tmp_path) as book:
        book.store("Quartz.", key="first", scope="global")
        book.store("Basalt.", key="first", scope="global", mode="replace")
        book.forget("first", "global")
        book.store("Granite.", key="first", scope="global")
        with pytest.raises(Conflict):
            book.undo("first", "global")


def test_undo_of_what_was_added_to_a_note_made_by_hand(tmp_path: Path) -> None:
    """An entry added to a note that a person wrote can be undone, and their text is as it was."""
    with open_book(tmp_path) as book:
        (tmp_path / "memories" / "global" / "mine.md").write_text("Basalt.\n")
        book.store("Granite.", key="mine", scope="global")
        book.undo("mine", "global")
        assert [entry.text for entry in book.show("mine").entries] == ["Basalt."]
        assert "Granite." not in [hit.text for hit in book.recall("granite").hits]
        assert [hit.text for hit in book.recall("basalt", mode="lexical").hits] == ["Basalt."]


def test_what_is_purged_from_the_trash_is_out_of_the_index(tmp_path: Path) -> None:
    """A memory that was forgotten and then purged is found as of no time, and no file or database has its words."""
    with open_book(tmp_path) as book:
        book.store("Obsidianite.", key="first", scope="global")
        book.store("Quartz.", key="second", scope="global")
        book.recall("obsidianite")
        book.forget("first", "global")
        book.forget("first", "global", purge=True)
        for question in ("obsidianite", "quartz"):
            assert [hit.key for hit in book.recall(question, as_of="2099-01-01").hits] == ["second"]
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert [path.name for path in files if b"bsidianit" in path.read_bytes()] == []
