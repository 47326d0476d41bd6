"""Where an import reads: the source and nothing else, whatever lies there; and which format it takes a source for."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import cast

import pytest

from commonplace import SourceFormat
from commonplace.maintenance import import_sources
from commonplace.maintenance.import_sources import FORMATS
from commonplace.model.errors import AmbiguousFormat, NotFound, SourceRefused, TooManyFiles, UnknownFormat, Unreadable
from commonplace.model.results import ImportResult
from tests.book.opened import files, open_book
from tests.maintenance.import_cases import SOURCES, source


def taken(root: Path, place: str | Path, format_name: str | None = None) -> ImportResult:
    with open_book(root) as book:
        return book.import_from(place, cast("SourceFormat | None", format_name), dry_run=True)


def left(root: Path, place: Path) -> dict[str, str]:
    return {one.place: one.reason for one in taken(root, place).left}


def facts(folder: Path) -> Path:
    """The smallest folder that is recognised."""
    place = folder / "memory"
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text("- [A](a.md)\n", "utf-8")
    (place / "a.md").write_text("A fact.\n", "utf-8")
    return place


@pytest.mark.skipif(os.name == "nt", reason="links and pipes are made another way there")
def test_links_and_pipes_inside_a_source_are_not_followed(root: Path, tmp_path: Path) -> None:
    """A link to a file, to a folder, and a pipe are named and not opened; a source that is itself a link is read."""
    place = facts(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "private.md").write_text("Nobody asked for this.\n", "utf-8")
    (place / "file.md").symlink_to(tmp_path / "outside" / "private.md")
    (place / "folder").symlink_to(tmp_path / "outside")
    (place / "loop").symlink_to(place)
    os.mkfifo(place / "pipe.md")
    (tmp_path / "named").symlink_to(place)
    done = taken(root, tmp_path / "named")
    assert [item.key for item in done.items] == ["a"]
    assert {one.place: one.reason for one in done.left} == {
        **dict.fromkeys(("file.md", "folder", "loop", "pipe.md"), "link"), "MEMORY.md": "index_page",
    }  # fmt: skip


def test_a_file_that_becomes_another_one_is_left(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is opened must be what was listed: a link put in its place meanwhile is not read."""
    place = facts(tmp_path)
    (tmp_path / "private.md").write_text("Nobody asked for this.\n", "utf-8")
    real = import_sources.read_files

    def swapped(listed: list[import_sources.SourceEntry]) -> object:
        (place / "a.md").unlink()
        (place / "a.md").symlink_to(tmp_path / "private.md")
        return real(listed)

    monkeypatch.setattr("commonplace.maintenance.import_sources.read_files", swapped)
    assert left(root, place)["a.md"] == "link"


def test_odd_files_are_left_with_a_reason(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not UTF-8, too large, too deep, a NUL, half a character, other kinds: named, and the rest is taken."""
    place = facts(tmp_path)
    (place / "latin.md").write_bytes(b"caf\xe9\n")
    (place / "huge.md").write_text("x" * 2_000, "utf-8")
    (place / "nul.md").write_text("a\0b", "utf-8")
    (place / "picture.png").write_bytes(b"\x89PNG")
    (place / ".git").mkdir()
    (place / ".git" / "x.md").write_text("Hidden.\n", "utf-8")
    deep = place.joinpath(*"abcdefghijkl")
    deep.mkdir(parents=True)
    monkeypatch.setattr(import_sources, "MAX_FILE", 1_000)
    assert left(root, place) == {
        "MEMORY.md": "index_page", "latin.md": "not_utf8", "huge.md": "too_large", "nul.md": "invalid",
        "picture.png": "other_file", "a/b/c/d/e/f/g/h/i/j/k/l": "too_deep",
    }  # fmt: skip
    assert [item.key for item in taken(root, place).items] == ["a"]


def test_what_may_not_be_read_is_left(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be opened is named; with no file handles left, nothing is taken for missing."""
    place = facts(tmp_path)
    (place / "b.md").write_text("Another fact.\n", "utf-8")
    number = errno.EACCES

    def refuse(path: object, *given: object, **more: object) -> object:
        if str(path).endswith("b.md"):
            raise OSError(number, os.strerror(number))
        return open(path, *given, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(import_sources, "open", refuse, raising=False)
    assert left(root, place)["b.md"] == "unreadable"
    number = errno.EMFILE
    with pytest.raises(TooManyFiles):
        taken(root, place)


def test_a_source_that_is_too_much(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More files or bytes than an import takes are refused before anything is written."""
    place = facts(tmp_path)
    monkeypatch.setattr(import_sources, "MAX_FILES", 1)
    with pytest.raises(SourceRefused, match="files"):
        taken(root, place)
    monkeypatch.setattr(import_sources, "MAX_FILES", 100)
    monkeypatch.setattr(import_sources, "MAX_BYTES", 10)
    with pytest.raises(SourceRefused, match="bytes"):
        taken(root, place)


def test_no_source(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is not there, cannot be a path or may not be looked at is an error; so is the book itself."""
    for odd in (tmp_path / "nowhere", "a\0b", ""):
        with pytest.raises((NotFound, UnknownFormat)):
            taken(root, odd)
    for own in (root, root / "memories", tmp_path):
        with pytest.raises(SourceRefused, match="this book"):
            taken(root, own)

    def denied(path: str) -> object:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    place = facts(tmp_path)
    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(Unreadable):
        import_sources.list_source(place, str(root))


@pytest.mark.parametrize("name", FORMATS)
def test_a_single_file_is_recognised_too(name: str, root: Path, tmp_path: Path) -> None:
    """One file of each format is recognised by its name or how it begins; only a scaffold is a folder by nature."""
    found = set()
    for path in sorted(source(tmp_path, name).rglob("*")):
        if path.is_file():
            listed = import_sources.list_source(path, str(root)).files[0]
            found |= import_sources.detect_in_file(listed)
    assert found == ({name} if name != "scaffold" else set())


def test_an_unknown_source_is_refused_with_the_list(root: Path, tmp_path: Path) -> None:
    """No format fits, or the one that was named is none: the error lists all of them and nothing is written."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "README.md").write_text("# Hello\n", "utf-8")
    (tmp_path / "x" / "data.json").write_text('{"a": 1}', "utf-8")
    for place, name in ((tmp_path / "x", None), (tmp_path / "x" / "README.md", None), (SOURCES / "mem0", "zip")):
        with pytest.raises(UnknownFormat) as caught:
            taken(root, place, name)
        assert all(known in caught.value.hint for known in FORMATS)
    assert not any("memories/project" in name for name in files(root))


def test_an_ambiguous_source_is_refused_with_what_it_may_be(root: Path, tmp_path: Path) -> None:
    """Two formats fit: the error names them, and naming one of them takes it for that."""
    place = facts(tmp_path)
    (place / "CLAUDE.md").write_text("# Style\n\nShort.\n", "utf-8")
    with pytest.raises(AmbiguousFormat, match="claude-code and agents-md"):
        taken(root, place)
    assert [item.key for item in taken(root, place, "agents-md").items] == ["style"]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"memory": "x"}\n{"type": "entity", "name": "y", "entityType": "z"}\n', "utf-8")
    with pytest.raises(AmbiguousFormat, match="mcp-memory and mem0"):
        taken(root, mixed)


def test_a_large_document_is_recognised_by_its_beginning(root: Path, tmp_path: Path) -> None:
    """JSON that goes on past what is looked at first is recognised, as lines and as one document."""
    one = '{"id": "%d", "memory": "Fact %d"}'
    many = [one % (number, number) for number in range(2_000)]
    for text in ("\n".join(many), "[\n" + ",\n".join(many) + "\n]", '{"results": [' + ",".join(many) + "]}"):
        place = tmp_path / "big.json"
        place.write_text(text, "utf-8")
        assert len(text) > import_sources.HEAD * 2
        assert len(taken(root, place).items) == 2_000
