"""The index is a file of the book's own: what else stands in its place is not followed, read or written through."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from commonplace.index.sqlite import SqliteIndex
from commonplace.index.sqlite.reader import SqliteIndexReader
from commonplace.model.errors import StorageError
from tests.book.opened import holds, keys, open_book
from tests.index.conformance import put, row

NAMES = ("index.db", "index.db-wal", "index.db-shm")


@pytest.mark.parametrize("target", ["nothing", "a file", "another index"])
@pytest.mark.parametrize("name", NAMES)
def test_a_link_in_its_place_is_not_followed(tmp_path: Path, name: str, target: str) -> None:
    """Whatever a link in the place of the index leads to is left as it is, and the index is begun where it belongs."""
    root, outside = tmp_path / "book", tmp_path / "outside"
    outside.mkdir()
    with open_book(root) as book:
        book.store("The okapi text.", key="okapi")
    if target == "a file":
        (outside / "target").write_bytes(b"somebody else's")
    elif target == "another index":
        with closing(SqliteIndex(outside / "target")) as theirs:
            put(theirs, row("kettle"))
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    place = root / ".commonplace" / name
    place.unlink(missing_ok=True)
    place.symlink_to(outside / "target")
    with open_book(root) as book:
        assert keys(book, "okapi") == ["okapi"]
        book.store("Very private words.", key="private")
        assert not place.is_symlink() and {path.name: path.read_bytes() for path in outside.iterdir()} == before
        assert all(stat.S_IMODE(path.lstat().st_mode) == 0o600 for path in place.parent.glob("index.db*")
                   if not path.is_symlink()) or os.name == "nt"  # fmt: skip
        assert keys(book, "private words")[:1] == ["private"]
        book.forget("okapi", purge=True)
    assert not holds(root, "okapi text") and not list(place.parent.glob("*.unusable-*"))


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_in_its_place_is_moved_aside(tmp_path: Path, name: str) -> None:
    """A folder where the index or its log belongs is kept under another name, and stops nobody."""
    (tmp_path / name / "inside").mkdir(parents=True)
    with closing(SqliteIndex(tmp_path / "index.db")) as index:
        put(index, row("kettle"))
    assert (tmp_path / "index.db").is_file() and len(list(tmp_path.glob("*.unusable-*/inside"))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_who_only_reads_follows_no_link(tmp_path: Path, name: str) -> None:
    """A hook is told that there is no index, and does without, where a link to somebody's index is in its place."""
    (tmp_path / "outside").mkdir()
    with closing(SqliteIndex(tmp_path / "outside" / "index.db")) as theirs:
        put(theirs, row("kettle"))
        SqliteIndexReader(tmp_path / "outside" / "index.db").close()
        if name != "index.db":
            SqliteIndex(tmp_path / "index.db").close()
        (tmp_path / name).symlink_to(tmp_path / "outside" / name)
        with pytest.raises(StorageError):
            SqliteIndexReader(tmp_path / "index.db")
