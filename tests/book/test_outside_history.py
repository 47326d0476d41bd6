"""History of edits made outside: what a person took out of a note with another program can be brought back."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.book import Book


def edited(root: Path, path: str, old: str, new: str) -> Path:
    file = root / path.lstrip("/")
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return file


def kept(root: Path) -> list[str]:
    return sorted(path.read_text(encoding="utf-8") for path in (root / ".commonplace/history").rglob("*.md"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "book"


def stored(root: Path) -> str:
    with Book.open(root, project="p") as book:
        path = book.store("The port is 8042.", key="port", tags=["net"]).path
        book.store("The proxy is in front of it.", key="port")
        return path


@pytest.mark.parametrize("first", ["recall", "store"])
def test_what_was_edited_away_outside_can_be_undone(root: Path, first: str) -> None:
    """Whether a reader or a writer sees the edit first, the old text goes to the history, and undo brings it back."""
    path = stored(root)
    edited(root, path, "8042", "9000")
    with Book.open(root, project="p") as book:
        if first == "recall":
            assert book.recall("port").hits
        else:
            book.store("Something else.", key="other")
        assert [item.action for item in book.history("port")] == ["appended", "edited", "current"]
        assert "9000" in book.show("port").entries[0].text
        book.undo("port")
        memory = book.show("port")
        assert [entry.text for entry in memory.entries] == ["The port is 8042.", "The proxy is in front of it."]
        assert memory.meta.tags == ("net",)
        assert book.verify().ok and book.doctor() == []


def test_the_old_text_is_found_as_of_then(root: Path) -> None:
    """What a note said before an edit outside answers a question about that time, and no other."""
    path = stored(root)
    edited(root, path, "The port is 8042.", "The harbour is shut.")
    with Book.open(root, project="p") as book:
        then = book.show("port").meta.updated
        book.context.memories.clock = lambda: "2099-01-01T00:00:00Z"  # later than the second of the edit
        assert book.recall("harbour", mode="lexical").hits[0].text == "The harbour is shut."
        assert book.recall("8042", mode="lexical", as_of=then).hits[0].text == "The port is 8042."
        assert not [hit for hit in book.recall("8042").hits if "8042" in hit.text]


def test_what_was_only_added_outside_needs_no_copy(root: Path) -> None:
    """A note that still says all it said has lost nothing: nothing is put aside."""
    path = stored(root)
    edited(root, path, "# port\n", "# port\n\nAsk Dana about it.\n")
    with Book.open(root, project="p") as book:
        assert len(book.show("port").entries) == 3
        assert book.recall("Dana").hits
    assert kept(root) == []


def test_text_by_hand_is_kept_as_it_was(root: Path) -> None:
    """A file that a person wrote without entries is put aside with its text, and comes back."""
    with Book.open(root, project="p") as book:
        file = root / book.store("x", key="seen").path.lstrip("/")
        by_hand = file.with_name("by-hand.md")
        by_hand.write_text("Buy oat milk.\n", encoding="utf-8")
    with Book.open(root, project="p") as book:
        assert book.recall("oat milk").hits
    by_hand.write_text("Buy soy milk.\n", encoding="utf-8")
    with Book.open(root, project="p") as book:
        assert book.recall("soy milk").hits
        assert any("Buy oat milk." in text for text in kept(root))
        book.undo("by-hand")
        assert [entry.text for entry in book.show("by-hand").entries] == ["Buy oat milk."]
