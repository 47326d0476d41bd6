"""A caller of the library may send anything: what is of a wrong type is refused in our words, before it is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace.model.errors import InvalidField, InvalidKey
from tests.book.opened import files, open_book

WRONG: dict[str, Callable[[Any], object]] = {
    "content bytes": lambda book: book.store(b"abc"),
    "content number": lambda book: book.store(5),
    "content none": lambda book: book.store(None),
    "key": lambda book: book.store("Text.", key=5),
    "scope": lambda book: book.store("Text.", scope=3),
    "type": lambda book: book.store("Text.", type=3),
    "tags": lambda book: book.store("Text.", tags=3),
    "tags bytes": lambda book: book.store("Text.", tags=b"ab"),
    "summary": lambda book: book.store("Text.", summary=3),
    "mode": lambda book: book.store("Text.", mode=None),
    "decision": lambda book: book.store("Text.", decision=3),
    "author": lambda book: book.store("Text.", author=3),
    "occurred": lambda book: book.store("Text.", occurred=3),
    "seq fraction": lambda book: book.store("Text.", seq=1.5),
    "seq boolean": lambda book: book.store("Text.", seq=True),
    "seq text": lambda book: book.store("Text.", seq="1"),
    "many seq": lambda book: book.store_many([{"content": "Text.", "seq": True}]),
    "many number": lambda book: book.store_many([1]),
    "many text": lambda book: book.store_many("abc"),
    "consolidate keys": lambda book: book.consolidate("ab", "Text."),
    "consolidate content": lambda book: book.consolidate(["k", "l"], b"Text."),
    "link rel": lambda book: book.link("k", 3, "l"),
    "link to": lambda book: book.link("k", "relates_to", 3),
    "accept content": lambda book: book.accept("k", content=b"Text."),
    "edit": lambda book: book.edit("k", "Text."),
    "data": lambda book: book.data_put("x.txt", "text"),
    "query": lambda book: book.recall(None),
    "limit text": lambda book: book.recall("x", limit="5"),
    "limit fraction": lambda book: book.recall("x", limit=2.5),
    "limit none": lambda book: book.recall("x", limit=None),
    "limit boolean": lambda book: book.recall("x", limit=True),
    "budget": lambda book: book.recall("x", budget_tokens="5"),
    "recall mode": lambda book: book.recall("x", mode=None),
    "recall scope": lambda book: book.recall("x", scope=3),
    "since": lambda book: book.recall("x", since=3),
    "timeline": lambda book: book.timeline(limit="5"),
    "list": lambda book: book.list(scope=3),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_type_is_an_invalid_field(root: Path, what: str) -> None:
    """No field of a wrong type ends in a bare exception of Python, or in a file."""
    with open_book(root) as book:
        book.store("One.", key="k")
        book.store("Two.", key="l")
        before = files(root, databases=False)
        with pytest.raises(InvalidField):
            WRONG[what](book)
        assert files(root, databases=False) == before and book.verify().ok


@pytest.mark.parametrize("verb", ["show", "undo", "forget", "restore", "history", "related"])
def test_a_key_is_a_text(root: Path, verb: str) -> None:
    """A key of another type is no key."""
    with open_book(root) as book, pytest.raises(InvalidKey):
        getattr(book, verb)(5)
