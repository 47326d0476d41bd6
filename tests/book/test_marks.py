"""What is superseded says so wherever it is found; for a question about an earlier time, by what was known then."""

from __future__ import annotations

from pathlib import Path

from commonplace.book import Book
from commonplace.context.coordinator import brief_task
from commonplace.verbs.pair import TOOLS as PAIR
from commonplace.verbs.recall import TOOLS
from tests.book.opened import open_book, tick

FREE, PAID = "Parking is free behind the building.", "Parking costs 5 euros a day behind the building."


def marked(book: Book, query: str = "parking", as_of: str | None = None) -> list[tuple[str, str]]:
    return [(hit.key, hit.status) for hit in book.recall(query, as_of=as_of).hits]


def superseding(book: Book) -> tuple[str, str]:
    """A note, and one that supersedes it; the times before and after that."""
    tick(book)
    book.store(FREE, key="free")
    before = book.context.memories.clock()
    book.store(PAID, key="paid", decision="supersede:free")
    return before, book.context.memories.clock()


def test_what_is_superseded_is_marked(root: Path) -> None:
    """The hit of a superseded note has that status, and what a model or a worker reads says so; others say nothing."""
    with open_book(root) as book:
        superseding(book)
        found = book.recall("parking")
        assert [(hit.key, hit.status) for hit in found.hits] == [("paid", "active"), ("free", "superseded")]
        tool = next(tool for tool in TOOLS if tool.name == "memory_recall")
        data, text = tool.run(book.context, {"query": "parking"})[:2]
        for shown in (text, brief_task("Write a sign.", found)):
            assert shown.count("superseded") == 1 and shown.index("superseded") < shown.index(FREE)
        assert [hit.get("status") for hit in data["hits"]] == [None, "superseded"]
        search = next(tool for tool in PAIR if tool.name == "search")
        titles = [item["title"] for item in search.run(book.context, {"query": "parking"})[0]["results"]]
        assert titles == [PAID, f"superseded: {FREE}"]


def test_before_it_was_superseded_it_stood(root: Path) -> None:
    """As of a time before, a note neither sinks nor is marked; as of one after, it does, also with the index made anew
    and once it is forgotten."""
    with open_book(root) as book:
        before, after = superseding(book)
        full = book.recall("parking", as_of=before).hits[0].score
        for _ in range(2):
            assert marked(book, as_of=before) == marked(book, "", before) == [("free", "active")]
            assert marked(book, as_of=after) == [("paid", "active"), ("free", "superseded")]
            assert book.recall("parking", as_of=after).hits[1].score < full / 3
            book.reindex()
        book.forget("free")
        assert marked(book, as_of=before) == [("free", "active")]
        assert marked(book, as_of=after) == [("paid", "active"), ("free", "superseded")]


def test_without_the_texts_put_aside_the_newer_note_tells(root: Path) -> None:
    """Where the text before was cleared away, a note was superseded once the other was there, and not before."""
    with open_book(root) as book:
        before, after = superseding(book)
        for path in (root / ".commonplace" / "history").rglob("*.superseded.*.md"):
            path.unlink()
        assert marked(book, as_of=before) == [("free", "active")]
        assert marked(book, as_of=after) == [("paid", "active"), ("free", "superseded")]


def test_undone_it_stands_again(root: Path) -> None:
    """Once superseding is undone, a note has no mark any more."""
    with open_book(root) as book:
        superseding(book)
        book.undo("free")
        assert dict(marked(book)) == {"free": "active", "paid": "active"}
