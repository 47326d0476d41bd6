"""Questions to the tree are answered by what was said: each sentence of a long mail counts, and no name of a file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from commonplace import Book
from commonplace.recall.meaning import _pack_halves
from commonplace.recall.vectors import unpack_halves
from tests.tree.conftest import write_mbox

FILLER = "The minutes of the last meeting are on the usual page, and nobody asked for a change of them so far. "


def mail(ident: str, title: str, text: str, date: str = "Mon, 2 Nov 2026 09:00:00 +0100") -> tuple[str, ...]:
    return (ident, "", "Ann Lee <ann@example.org>", "bob@example.org", date, title, text)


def test_a_year_favours_no_file_of_that_year(book: Book, tmp_path: Path) -> None:
    """A question that names a year finds the words that answer it, though another day of that year has a file."""
    chat = tmp_path / "chat.txt"
    lines = ["[17.12.22, 11:01:00] Maria: aerial yoga is my workout now"]
    lines += [f"[{day:02}.07.23, 18:00:00] Maria: we had lunch, number {day}" for day in range(1, 15)]
    chat.write_text("\n".join(lines) + "\n", encoding="utf-8")
    book.ingest(str(chat))
    assert "yoga" in book.query_source(query="Which sport has Maria taken up in December 2023?").hits[0].text


def test_each_sentence_of_a_long_mail_is_found_by_what_it_means(book: Book, tmp_path: Path) -> None:
    """Other words find the one sentence that says it in the middle of a mail about something else."""
    needle = "Visitors leave their cars behind the warehouse."
    others = [mail(str(number), "Minutes", FILLER + f"Room {number} is cold.") for number in range(2, 12)]
    book.ingest(str(write_mbox(tmp_path / "m.mbox", (mail("1", "News", 3 * FILLER + needle + 3 * FILLER), *others))))
    assert needle in book.query_source(query="where do guests put a vehicle", limit=1).hits[0].text


def test_two_numbers_share_a_byte_in_order() -> None:
    """A packed vector comes back in order and within half a step; one of zeros, of which nothing is known, is empty."""
    row = np.random.default_rng(1).normal(size=256).astype(np.float32)
    packed = _pack_halves(row)
    assert len(packed) == 128
    step = float(abs(row).max()) / 7
    assert np.abs(unpack_halves(packed) * step - row).max() <= step / 2 + 1e-6
    assert _pack_halves(np.zeros(256, np.float32)) == b""


def test_the_index_keeps_a_text_once(book: Book, root: Path, mailbox: Path) -> None:
    """The full-text index holds no copy of a mail, finds it, and loses its words when it is forgotten."""
    book.ingest(str(mailbox))
    assert book.query_source(query="noodles").hits[0].title == "Lunch on Friday"
    index = sqlite3.connect(f"file:{root / '.commonplace' / 'tree.db'}?mode=ro", uri=True)
    tables = [name for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    having = {
        table
        for table in tables
        for row in index.execute(f'SELECT * FROM "{table}"')
        if any(isinstance(value, str) and "noodles" in value for value in row)
    }
    assert {"entry", "entry_words"} <= having  # the latter reads what the former has
    assert "entry_beside" not in having and "entry_words_content" not in tables
    book.tree_forget("mail")
    assert index.execute("SELECT count(*) FROM entry_words WHERE entry_words MATCH 'noodles'").fetchone() == (0,)
    assert index.execute("SELECT count(*) FROM entry_beside").fetchone() == (0,)
    index.close()
