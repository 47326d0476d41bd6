"""Two notes with one id: somebody copied a file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from commonplace import Book


def test_a_copy_gets_an_id_of_its_own_when_it_is_written(tmp_path: Path) -> None:
    """The id belongs to the older file; the copy gets another at the next write to it, and the older one keeps its."""
    root = tmp_path / "book"
    with Book.open(root, project="acme/app") as book:
        stored = book.store("The gate opens at nine.", key="gate")
        ident = book.show("gate").meta.id
    original = root / stored.path.lstrip("/")
    os.utime(original, ns=(1_000_000_000, 1_000_000_000))
    shutil.copyfile(original, original.with_name("copy.md"))
    with Book.open(root, project="acme/app") as book:
        assert book.show("copy").meta.id == ident
        book.store("It closes at five.", key="copy")
        book.store("It is green.", key="gate")
        assert book.show("gate").meta.id == ident
        assert book.show("copy").meta.id not in ("", ident)
        assert book.verify().ok
