"""What people and programs put into a book by hand: whatever it is, the memories beside it can be kept."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from commonplace.memories import lifecycle, pages
from commonplace.memories.store import MemoryStore
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import LOCAL
from commonplace.text.notes import parse
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, KEEPER, MAX_LEVELS, BookPath
from tests.memories.reading import FOLDER, follow, forget, open_keep, page_faults, store, text_of, write
from tests.vault.memory import MemoryVault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "book" / "memories" / "global").mkdir(parents=True)
    return tmp_path / "book"


def works(root: Path) -> set[str]:
    """A new process stores and forgets; answers the names on the pages, which must have no fault."""
    keep = open_keep(LocalVault.at(root))
    store(keep, "added", "A fact.")
    store(keep, "other", "Another.")
    forget(keep, "other")
    keep.reconcile(FOLDER)
    assert page_faults(keep, FOLDER) == []
    return follow(keep.vault) - {"added"}


@pytest.mark.parametrize("length", [196, 197, 198, 200, 201, 203, 252])
def test_long_names(root: Path, length: int) -> None:
    """A file whose name is as long as a book allows is on the pages; a longer one is left alone."""
    name = "n" * length
    (root / "memories" / "global" / f"{name}.md").write_text("By hand.\n")
    assert works(root) == ({name} if length + len(".md") <= 200 else set())


@pytest.mark.parametrize("depth", range(1, 14))
def test_deep_folders(root: Path, depth: int) -> None:
    """A note in a folder deeper than a key can be is left alone, and those above it are kept."""
    place = root.joinpath("memories", "global", *(f"level-{number}" for number in range(depth)))
    place.mkdir(parents=True)
    (place / "deep.md").write_text("By hand.\n")
    (root / "memories" / "global" / "top.md").write_text("By hand.\n")
    assert works(root) == {"top"}
    named = (place / "index.md").exists()
    assert named == (2 + depth + len(("_index", "x.md")) <= MAX_LEVELS)
    if named:
        assert follow(LocalVault.at(root), BookPath(*place.relative_to(root).parts)) == {"deep"}


@pytest.mark.parametrize("name", [b"what?.md", b"a: b.md", b"bad\xff.md", b"con.md", b"dot..md", b"x" * 240 + b".md"])
@pytest.mark.parametrize("folder", ["memories/global", "memories/global/_index", "memories/global/people"])
def test_names_that_no_book_can_hold(root: Path, name: bytes, folder: str) -> None:
    """A file with such a name, among the notes or the pages, is in nobody's way and stays."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    place = root / folder / os.fsdecode(name)
    place.write_bytes(b"mine")
    assert works(root) == set()
    assert place.read_bytes() == b"mine"


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\0", b"---\n", b"---\nid: [\n---\n", b"\0" * 1_000])
def test_files_that_are_no_notes(root: Path, data: bytes) -> None:
    """Any bytes in a .md file are one memory on the pages, and stay as they are."""
    (root / "memories" / "global" / "odd.md").write_bytes(data)
    assert works(root) == {"odd"}
    assert (root / "memories" / "global" / "odd.md").read_bytes() == data


def test_a_folder_that_ends_like_a_note(root: Path) -> None:
    """A folder called x.md is a folder."""
    (root / "memories" / "global" / "x.md").mkdir()
    (root / "memories" / "global" / "x.md" / "inside.md").write_text("By hand.\n")
    assert works(root) == set()
    assert follow(LocalVault.at(root), FOLDER / "x.md") == {"inside"}


def test_many_spellings_of_one_name() -> None:
    """Names that differ in case alone share a place in the order, and all of them are on a page."""
    names = {"".join(letters) for letters in itertools.product(*zip("abcdefg", "ABCDEFG", strict=True))}
    assert len(names) > 2 * 50
    vault = MemoryVault()
    for name in names | {"abcdefgh"}:
        write(vault, FOLDER / f"{name}.md", "By hand.\n")
    open_keep(vault).reconcile(FOLDER)
    assert follow(vault) == names | {"abcdefgh"}


def test_pages_that_people_spoilt(root: Path) -> None:
    """Pages that were deleted, emptied or overwritten are made again by the next process."""
    keep = open_keep(LocalVault.at(root))
    for number in range(60):
        store(keep, f"{'abc'[number % 3]}-{number}", "A fact.")
    folder = root / "memories" / "global"
    (folder / "index.md").write_bytes(b"\xff not text")
    (folder / "_index" / "a.md").unlink()
    (folder / "_index" / "b.md").write_bytes(b"")
    assert len(works(root)) == 60
    assert (folder / "index.md").read_bytes().startswith(b"\xff not text\n")


def _entry(text: str) -> Entry:
    return Entry("", text, trust=Trust.AGENT)


def _texts(keep: MemoryStore, key: str) -> list[str]:
    note = parse(keep.vault.read(LOCAL, KEEPER, FOLDER / f"{key}.md").data)
    return [entry.text for entry in note.entries]


def test_forgotten_and_stored_again_in_one_unit() -> None:
    """A memory that is forgotten and stored again in one unit is the new one, and the old one is in the trash."""
    keep = open_keep(MemoryVault())
    store(keep, "fact", "Old.")
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.forget(unit, "fact", None)
        assert lifecycle.store(unit, "fact", _entry("New."), lifecycle.Labels()).action == "created"
        unit.commit()
    assert _texts(keep, "fact") == ["New."]
    assert follow(keep.vault) == {"fact"}
    forget(keep, "fact")
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.restore(unit, "fact")
        unit.commit()
    assert _texts(keep, "fact") == ["New."]


def test_stored_and_forgotten_in_one_unit() -> None:
    """A memory that is made, or added to, and forgotten in one unit is not there, and can be restored."""
    keep = open_keep(MemoryVault())
    store(keep, "old", "One.")
    with keep.unit(FOLDER, EVERYTHING) as unit:
        for key in ("old", "new"):
            lifecycle.store(unit, key, _entry("Two."), lifecycle.Labels())
            lifecycle.forget(unit, key, None)
        unit.commit()
    assert follow(keep.vault) == set()
    for key, texts in {"old": ["One.", "Two."], "new": ["Two."]}.items():
        with keep.unit(FOLDER, EVERYTHING) as unit:
            lifecycle.restore(unit, key)
            unit.commit()
        assert _texts(keep, key) == texts


def test_a_unit_that_is_not_committed_changes_nothing() -> None:
    """What was staged and never committed is not there for the next unit, nor on a page."""
    keep = open_keep(MemoryVault())
    store(keep, "fact", "A fact.")
    before = text_of(keep.vault, FOLDER / "index.md")
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.store(unit, "other", _entry("Never."), lifecycle.Labels())
        lifecycle.forget(unit, "fact", None)
    with keep.unit(FOLDER, EVERYTHING) as unit:
        assert unit.find("other") is None
        assert unit.find("fact") is not None
    assert text_of(keep.vault, FOLDER / "index.md") == before
    assert pages.SUB_PAGES not in [item.name for item in keep.vault.list_folder(LOCAL, KEEPER, FOLDER)]
