"""Folders that no book would make: one of them never stops the others."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.memories.lookup import scope_folders
from commonplace.memories.reconcile import sync_scope
from commonplace.model.errors import Unreadable


def opened(root: Path) -> Book:
    return Book.open(root, project="acme/app")


def test_an_odd_name_among_the_scopes(tmp_path: Path) -> None:
    """A folder whose name no path of a book can have is left out of every verb that goes through all scopes."""
    root = tmp_path / "book"
    with opened(root) as book:
        book.store("The gate opens at nine.", key="gate")
    (root / "memories" / "project" / "a:b").mkdir()
    with opened(root) as book:
        assert book.verify().ok and book.reindex() == 1 and len(book.list(everything=True)) == 1
        assert [item.scope for item in book.status().scopes if item.memories] == ["project"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_instead_of_a_kind(tmp_path: Path) -> None:
    """Where the folder of all agents is a link, nothing is followed and the rest works."""
    root = tmp_path / "book"
    with opened(root) as book:
        book.store("The gate opens at nine.", key="gate")
        os.symlink(tmp_path, root / "memories" / "agent")
        assert book.verify().ok and len(book.list(everything=True)) == 1


def test_a_folder_instead_of_a_scope_page(tmp_path: Path) -> None:
    """A _scope.md that is a folder does not lock the project out."""
    root = tmp_path / "book"
    with opened(root) as book:
        stored = book.store("The gate opens at nine.", key="gate")
    page = (root / stored.path.lstrip("/")).with_name("_scope.md")
    page.unlink()
    page.mkdir()
    with opened(root) as book:
        assert book.show("gate").entries[0].text == "The gate opens at nine."


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the index knows of a folder stays while the folder cannot be listed, and the other folders are looked at."""
    root = tmp_path / "book"
    with opened(root) as book:
        book.store("Alice likes tea.", key="people/alice")
        book.store("Bob likes milk.", key="people/near/bob")
        path = root / book.store("The gate opens at nine.", key="gate").path.lstrip("/")
        keep = book.context.memories
        survey = keep.vault.survey

        def refuse(space: object, view: object, folder: object, ending: str) -> object:
            if str(folder).endswith("/people"):
                raise Unreadable
            return survey(space, view, folder, ending)  # type: ignore[arg-type]

        monkeypatch.setattr(keep.vault, "survey", refuse)
        path.unlink()
        (folder,) = [place for place in scope_folders(keep) if place.parts[1] == "project"]
        with keep.index.transaction(keep.space) as index:
            sync_scope(keep, index, folder)
            assert index.get(str(folder / "people"), "alice") and index.get(str(folder / "people" / "near"), "bob")
            assert index.get(str(folder), "gate") is None
