"""The scaffold: a new book has what it needs, and nobody's text is ever overwritten."""

from __future__ import annotations

import pytest

from commonplace.memories.layout import BOOK_ID, scaffold
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import InvalidField
from commonplace.model.scope import LOCAL
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import Delete, Write

DEFINITION = BookPath("system", "definition.md")


def everything(keep: MemoryStore) -> dict[BookPath, bytes]:
    paths = [BookPath("index.md"), DEFINITION, BookPath("memories", "global", "index.md"), BookPath("data", "index.md")]
    return {path: keep.vault.read(LOCAL, KEEPER, path).data for path in [*paths, BOOK_ID]}


def test_running_it_twice_changes_nothing(keep: MemoryStore) -> None:
    """The first run makes nine files beside the key, the second none, and no byte of any differs."""
    assert len(scaffold(keep.vault)) == 9
    before = everything(keep)
    assert scaffold(keep.vault, "full") == []
    assert everything(keep) == before


def test_an_edit_is_never_overwritten(keep: MemoryStore) -> None:
    """A page that the owner rewrote stays; only what is missing is made again."""
    scaffold(keep.vault)
    keep.vault.apply(LOCAL, KEEPER, [Write(DEFINITION, b"My own rules.\n"), Delete(BookPath("data", "index.md"))])
    assert scaffold(keep.vault) == [BookPath("data", "index.md")]
    assert keep.vault.read(LOCAL, KEEPER, DEFINITION).data == b"My own rules.\n"


@pytest.mark.parametrize("template", ["minimal", "full"])
def test_the_doctrine_carries_the_rubric(keep: MemoryStore, template: str) -> None:
    """Both templates say when to save, what never to save, to update rather than duplicate, and to doubt."""
    scaffold(keep.vault, template)
    text = keep.vault.read(LOCAL, KEEPER, DEFINITION).data.decode().lower()
    for words in ("decision", "correction", "preference", "never save", "secrets", "duplicate", "missing or uncertain"):
        assert words in text
    assert len(text) < 4_000


def test_an_unknown_template_is_an_error(keep: MemoryStore) -> None:
    """A template that does not exist is refused by name, with those that do in the hint."""
    with pytest.raises(InvalidField) as caught:
        scaffold(keep.vault, "baroque")
    assert "minimal, full" in caught.value.hint


def test_a_book_keeps_its_id(keep: MemoryStore) -> None:
    """The id of a book is made once."""
    scaffold(keep.vault)
    first = keep.vault.read(LOCAL, KEEPER, BOOK_ID).data
    scaffold(keep.vault)
    assert keep.vault.read(LOCAL, KEEPER, BOOK_ID).data == first
