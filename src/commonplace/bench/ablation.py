"""What each part of the ranking is worth: the same questions with one weight at nothing."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

from commonplace.bench.data import Shelf
from commonplace.bench.recall import Result, measure, through_the_book
from commonplace.book import Book
from commonplace.recall import ranking, search
from commonplace.recall.fusion import CONVERSATION, LONE


def ablations(books: Sequence[tuple[Shelf, Book]]) -> list[Result]:
    """One result per weight of the table that the set's entries use."""
    found = []
    for table, weights in (("CONVERSATION", CONVERSATION), ("LONE", LONE)):
        wanted = table == "CONVERSATION"
        chosen = [(shelf, book) for shelf, book in books if any("thread" in item for item in shelf.items) == wanted]
        for name in weights if chosen else ():
            without = {**weights, name: 0.0}
            with patch.object(ranking, table, without), patch.object(search, table, without):
                found.append(measure(f"- {name}", [(s, through_the_book(book, s, "hybrid")) for s, book in chosen]))
    return found
