"""Files that people write: their text keeps its date, and their bytes keep byte order mark and line ends."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.model.memory import Entry, Meta, Trust
from commonplace.text.notes import parse
from tests.book.opened import open_book
from tests.strategies import STAMP

WRITTEN = "2026-11-01T10:00:00Z"
SECONDS = 1793527200  # the same
BOM = "\ufeff"


def write_by_hand(root: Path, data: str | bytes, key: str = "by-hand") -> Path:
    """Write a note as a person does, on 1 November."""
    path = root / "memories" / "global" / f"{key}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    os.utime(path, (SECONDS, SECONDS))
    return path


def dates(book: Book, text: str = "The heron nests by the weir.") -> tuple[str, ...]:
    """The date of a text as show, recall and the timeline give it."""
    shown = [entry.time for entry in book.show("by-hand", "global").entries if entry.text == text]
    hits = [hit.time_start for hit in book.recall("where does the heron nest").hits if hit.text == text]
    lately = [hit.time_start for hit in book.timeline() if hit.text == text]
    return (*shown, *hits, *lately)


@pytest.mark.parametrize(
    "start",
    [
        "The heron nests by the weir.\n",
        "# by-hand\n\nThe heron nests by the weir.\n",
        "---\ntags: [birds]\n---\nThe heron nests by the weir.\n",
    ],
)
def test_text_by_hand_keeps_its_date(root: Path, start: str) -> None:
    """The date of what a person wrote is shown; an append, a label, an undo and a new index do not change it."""
    with open_book(root) as book:
        path = write_by_hand(root, start)
        assert dates(book) == (WRITTEN,) * 3
        assert [item.updated for item in book.list() if item.key == "by-hand"] == [WRITTEN]
        memory = book.show("by-hand", "global")
        assert (memory.meta.created, memory.meta.updated) == (WRITTEN, WRITTEN)
        book.store("It left in October.", key="by-hand", scope="global", author="bob")
        assert dates(book) == (WRITTEN,) * 3
        assert "summary:" not in path.read_text("utf-8") and '""' not in path.read_text("utf-8")
        book.store("It is back.", key="by-hand", scope="global", tags=["birds", "weir"])
        book.undo("by-hand", "global")
        assert dates(book) == (WRITTEN,) * 3
        assert book.verify().differences == ()
        book.reindex()
        assert dates(book) == (WRITTEN,) * 3
        assert book.verify().differences == ()


def test_text_by_hand_that_is_replaced_and_undone_keeps_its_date(root: Path) -> None:
    """What a person wrote, replaced by an agent and brought back by an undo, has the date it had, and the book knew it
    as of then and no earlier."""
    with open_book(root) as book:
        write_by_hand(root, "The heron nests by the weir.\n")
        book.list()
        book.store("There is no heron.", key="by-hand", scope="global", mode="replace")
        for _ in range(2):
            assert [hit.text for hit in book.recall("heron", as_of="2026-11-02").hits] == [
                "The heron nests by the weir."
            ]
            assert book.recall("heron", as_of="2026-10-31").hits == ()
            assert book.verify().differences == ()
            book.reindex()
        book.undo("by-hand", "global")
        assert dates(book)[:2] == (WRITTEN,) * 2
        assert book.verify().differences == ()


def test_text_by_hand_that_is_restored_has_a_date(root: Path) -> None:
    """A file that a person wrote comes back from the trash byte for byte, and the index has the date of its file."""
    with open_book(root) as book:
        path = write_by_hand(root, "The heron nests by the weir.\n")
        book.list()
        book.forget("by-hand", "global")
        book.restore("by-hand", "global")
        assert path.read_bytes() == b"The heron nests by the weir.\n"
        assert all(dates(book))
        assert book.verify().differences == ()


def test_an_edit_keeps_the_date(root: Path) -> None:
    """A person who edits a file of their own through the book does not change when it was made."""
    with open_book(root) as book:
        write_by_hand(root, "The heron nests by the weir.\n")
        book.edit("by-hand", b"The heron nests by the mill.\n", "global")
        assert book.show("by-hand", "global").meta.created == WRITTEN
        assert book.verify().differences == ()


# Byte order marks and line ends


def line_ends(data: bytes) -> set[bytes]:
    return set(re.findall(rb"\r?\n", data))


@pytest.mark.parametrize("bom", ["", BOM])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("front", ["", "---\nmine: kept\n---\n"])
def test_a_store_keeps_byte_order_mark_and_line_ends(root: Path, bom: str, eol: str, front: str) -> None:
    """An append to a file with a byte order mark or Windows line ends keeps the mark first, every byte of the text, and
    one kind of line end; the text that was added comes back as it was given."""
    body = "# Birds\n\nThe heron nests by the weir.\nIt is grey.\n"
    start = f"{bom}{front}{body}".replace("\n", eol).encode()
    with open_book(root) as book:
        path = write_by_hand(root, start)
        book.store("Two lines:\nthis is the second.", key="by-hand", scope="global", tags=["birds"])
        data = path.read_bytes()
        assert data.startswith(f"{bom}---{eol}".encode()) and data.count(BOM.encode()) == len(bom)
        assert body.replace("\n", eol).encode() in data
        assert line_ends(data) == {eol.encode()}
        said = [entry.text for entry in book.show("by-hand", "global").entries]
        assert said == [f"The heron nests by the weir.{eol}It is grey.", "Two lines:\nthis is the second."]
        assert book.verify().differences == ()


_lines = st.lists(st.sampled_from(["", "text", "# title", "---", "mine: 1", "<<<<<<< x", "=======", "\\"]), max_size=6)
_ends = st.sampled_from(["\n", "\r\n"])
_files = st.builds(
    lambda bom, front, lines, ends: (
        bom + front + "".join(f"{line}{end}" for line, end in zip(lines, ends, strict=False))
    ),
    st.sampled_from(["", BOM]),
    st.sampled_from(["", "---\nmine: 1\n---\n", "---\r\nmine: 1\r\n---\r\n", "---\r\nopen: 1\r\n"]),
    _lines,
    st.lists(_ends, min_size=6, max_size=6),
)
_parts = ["", "a", "\r", "<!-- entry x -->", "<<<<<<< HEAD", "\\<<<<<<< x", "=======", ">>>>>>> b"]
_texts = st.lists(st.sampled_from(_parts)).map("\n".join)


@given(_files, st.lists(_texts, min_size=1, max_size=3))
def test_what_is_added_has_the_files_line_end(start: str, texts: list[str]) -> None:
    """Appends and labels on any mix of byte order mark, line ends and frontmatter keep every byte of the body, put the
    mark first, end their lines as most of the file's lines do, and read back equal, never in conflict."""
    before = parse(start.encode())
    note = before
    for text in texts:
        note = note.append(Entry(STAMP, text, id="0197", trust=Trust.AGENT))
    data = note.with_meta(Meta(id="1", key="k", created=STAMP)).render()
    read = parse(data)
    assert not read.in_conflict and read.render() == data
    assert [block.entry.text for block in read.blocks] == texts
    assert data.startswith(BOM.encode()) == start.startswith(BOM) and data.count(BOM.encode()) == start.count(BOM)
    assert before.lead.encode() in data and before.hand_text == read.hand_text
    usual = "\r\n" if start.count("\r\n") * 2 >= start.count("\n") > 0 else "\n"
    assert all(block.eol == usual for block in read.blocks)
    assert read.front.names()[-1] == "created" and read.front.fields[-1].raw.endswith(f"Z{usual}")
