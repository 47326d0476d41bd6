"""The choice of a reader: by what the files are, or as the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.errors import UnknownFormat
from commonplace.tree.formats import FORMATS, find_reader, is_read_by_file, load_reader
from commonplace.tree.source import SourceReader
from commonplace.vault.named_files import open_files

MAIL = "From a@x.example Mon Nov  2 09:00:00 2026\nFrom: a@x.example\nSubject: Hello\n\nText.\n"


def find(place: Path, wanted: str | None = None) -> SourceReader:
    with open_files(str(place)) as files:
        return find_reader(files, wanted)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_reader(name: str) -> None:
    """The reader of each format has the name and the kind that the table says, and the functions of a reader."""
    reader = load_reader(name)
    found = reader.NAME, reader.KIND
    assert found == (name, FORMATS[name].kind)
    assert callable(reader.matches)
    assert callable(reader.read)
    assert is_read_by_file(reader) == FORMATS[name].is_read_by_file


def test_the_format_is_found(tmp_path: Path) -> None:
    """A mailbox is taken for one whatever its name is, and a folder of notes for documents, which are tried last."""
    (tmp_path / "All mail").write_text(MAIL, "utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("A note.\n", "utf-8")
    assert find(tmp_path / "All mail").NAME == "mbox"
    assert find(tmp_path / "notes").NAME == "documents"
    assert list(FORMATS)[-1] == "documents"


def test_what_the_user_says_decides(tmp_path: Path) -> None:
    """A format is taken as named, though one that is tried before it fits, too; a kind leaves out those of others."""
    (tmp_path / "mail.mbox").write_text(MAIL, "utf-8")
    (tmp_path / "a.md").write_text("A note.\n", "utf-8")
    assert find(tmp_path).NAME == "mbox"
    assert find(tmp_path, "documents").NAME == "documents"
    assert find(tmp_path, "document").NAME == "documents"
    assert find(tmp_path, "email").NAME == "mbox"
    with pytest.raises(UnknownFormat, match="of the kind chat"):
        find(tmp_path, "chat")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "mbox"])
def test_a_format_that_the_files_are_not_is_refused(tmp_path: Path, name: str) -> None:
    """Naming the wrong format is an error that says so, and not a source without a message."""
    (tmp_path / "mail.mbox").write_text(MAIL, "utf-8")
    with pytest.raises(UnknownFormat, match=f"does not look like {name}") as caught:
        find(tmp_path / "mail.mbox", name)
    assert "--kind" in caught.value.hint


def test_what_no_reader_takes_is_refused_with_the_list(tmp_path: Path) -> None:
    """A file of no format, a name that is no format, and an empty folder raise an error that says what to do."""
    (tmp_path / "x").mkdir()
    with pytest.raises(UnknownFormat, match="no files"):
        find(tmp_path / "x")
    (tmp_path / "x" / "picture.png").write_bytes(b"\x89PNG\r\n")
    for wanted in (None, "email", "pigeon", ""):
        with pytest.raises(UnknownFormat) as caught:
            find(tmp_path / "x", wanted)
        assert caught.value.code == "unknown_format"
        assert all(name in caught.value.hint for name in ("chat, document, email", *FORMATS))
