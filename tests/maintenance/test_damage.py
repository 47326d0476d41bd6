"""One bad file or folder costs itself only: recall, list, store, reindex and doctor work, and doctor names it."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError, StorageError, TooLarge
from commonplace.vault.paths import MAX_NOTE
from tests.maintenance.damage import (
    GATE,
    MILL,
    make_book,
    make_file,
    make_folder,
    make_huge,
    make_link,
    open_damaged,
    unreadable,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there, and modes are others")

HISTORY, TRASH = ".commonplace/history/global/bell", ".commonplace/trash/global/fence"
FOLDERS = (
    ".commonplace/history", ".commonplace/history/global", HISTORY, ".commonplace/trash", TRASH,
    ".commonplace/tombstones", "memories/global/people", "memories/project", "system", "data", "journal",
)  # fmt: skip
FILES = ("index.md", "memories/global/index.md", "memories/global/people/index.md", "memories/global/people/alice.md")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book without damage, to be copied."""
    root = tmp_path_factory.mktemp("damage") / "book"
    make_book(root)
    return root


def _only_file(root: Path, place: str) -> str:
    (path,) = (root / place).iterdir()
    return str(path.relative_to(root))


def _use(root: Path, place: str) -> None:
    """Call what a person uses on a damaged book, and ask for what is not damaged."""
    with open_damaged(root) as book:
        assert GATE in [hit.text for hit in book.recall("when does the gate open", scope="global").hits]
        assert "gate" in [item.key for item in book.list(everything=True)]
        assert book.show("gate").entries[0].text == GATE
        book.store(MILL, key="mill", scope="global")
        book.store("It closes at six.", key="gate", scope="global")
        book.brief(), book.timeline(), book.status(), book.history("gate", "global"), book.verify()
        findings = book.doctor()
        assert any(finding.path.lstrip("/") == place for finding in findings), (place, findings)
        book.reindex()
        assert MILL in [hit.text for hit in book.recall("mill", scope="global").hits]


def _damage(root: Path, place: str, kind: str) -> AbstractContextManager[None]:
    path = root / place
    if kind in ("EACCES", "EIO"):
        return unreadable(path, getattr(errno, kind))
    makers: dict[str, Callable[[Path], None]] = {
        "folder": make_folder, "file": make_file, "link": make_link, "huge": make_huge,
    }  # fmt: skip
    makers[kind](path)
    return nullcontext()


def _cases(places: Sequence[str], kinds: Sequence[str]) -> list[object]:
    """Every place with every kind of damage, with and without the index; all but a few of them in `make deep`."""
    cases = list(product(places, kinds, ("kept", "lost")))
    return [pytest.param(*case, marks=[pytest.mark.deep] if number % 9 else []) for number, case in enumerate(cases)]


@pytest.mark.parametrize(
    ("place", "kind", "index"),
    [
        *_cases(FOLDERS, ("EACCES", "EIO", "link", "file")),
        *_cases([*FILES, HISTORY, TRASH], ("EACCES", "EIO", "link", "folder", "huge")),
    ],
)
def test_one_bad_file_or_folder_costs_itself(sound: Path, tmp_path: Path, place: str, kind: str, index: str) -> None:
    """What cannot be read, is a link, of another kind or far too large stops nothing else, and doctor names it."""
    root = tmp_path / "book"
    shutil.copytree(sound, root)
    if kind in ("folder", "huge") or (kind != "file" and place in (HISTORY, TRASH) and index == "lost"):
        place = _only_file(root, place) if place in (HISTORY, TRASH) else place
    if index == "lost":
        (root / ".commonplace/index.db").unlink()
    with _damage(root, place, kind):
        _use(root, place)


def test_the_verb_that_needs_a_bad_file_names_it(sound: Path, tmp_path: Path) -> None:
    """`undo` and `restore` say which old text they cannot read, and `purge` does not claim to have removed it."""
    root = tmp_path / "book"
    shutil.copytree(sound, root)
    for place, act in ((HISTORY, Book.undo), (TRASH, Book.restore)):
        key = place.rpartition("/")[2]
        with open_damaged(root) as book:
            with unreadable(root / _only_file(root, place), errno.EIO), pytest.raises(StorageError, match=key):
                act(book, key, "global")
            with unreadable(root / place, errno.EACCES), pytest.raises(CommonplaceError, match=key):
                book.forget(key, "global", purge=True)


def test_what_the_index_knows_of_an_unreadable_note_survives_a_rebuild(sound: Path, tmp_path: Path) -> None:
    """`reindex` saves to the history what only the index knows of a note that cannot be read, before it forgets it."""
    root = tmp_path / "book"
    shutil.copytree(sound, root)
    with unreadable(root / "memories/global/gate.md", errno.EIO), open_damaged(root) as book:
        assert GATE in [hit.text for hit in book.recall("gate", scope="global").hits]
        book.reindex()
    (saved,) = (root / ".commonplace/history/global/gate").iterdir()
    assert GATE.encode() in saved.read_bytes()


def test_a_huge_note_is_named_and_never_read(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall and list say that a note is too large, no byte of it is read, and a store to its key is refused."""
    root = tmp_path / "book"
    shutil.copytree(sound, root)
    path = root / "memories/global/huge.md"
    path.write_bytes(b"")
    os.truncate(path, MAX_NOTE + 1)
    real = os.read

    def guarded(fd: int, number: int) -> bytes:
        assert number <= MAX_NOTE + 1 and os.fstat(fd).st_size <= MAX_NOTE
        return real(fd, number)

    monkeypatch.setattr(os, "read", guarded)
    with open_damaged(root) as book:
        assert "/memories/global/huge.md" in book.recall("gate").notice
        assert "huge" not in [item.key for item in book.list("global")]
        assert any("huge.md" in problem for problem in book.status().problems)
        with pytest.raises(TooLarge):
            book.store("More.", key="huge", scope="global")


def test_no_write_makes_a_note_that_cannot_be_read(tmp_path: Path) -> None:
    """A text that would make a note larger than a book reads is refused, and the note stays as it was."""
    with open_damaged(tmp_path / "book") as book:
        book.store("word " * 700_000, key="big", scope="global")
        with pytest.raises(TooLarge):
            book.store("more " * 700_000, key="big", scope="global")
        assert len(book.show("big").entries) == 1
