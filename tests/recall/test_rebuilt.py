"""The same book and question have the same answer, however the index came to be what it is."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from tests.depth import examples
from tests.recall.test_meaning import opened

SUBJECTS = ("the staging database", "web-01", "web-02", "the release branch", "Ann", "Ключ от склада")
FACTS = ("listens on port 5432", "moved to Frankfurt in May", "is watched by Tomasz", "не работает", "was switched off")
QUESTIONS = ("where is the staging database", "who watches web-01", '"port 5432"', "is anything off", "ключ")
Note = tuple[str, str, int, bool]
NOTES = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(FACTS), st.integers(1, 9), st.booleans())


def fill(book: Book, notes: list[Note]) -> None:
    """Store notes and turns one by one, replace the first and forget the second."""
    for number, (subject, fact, day, is_turn) in enumerate(notes):
        book.store(
            f"{subject} {fact}.",
            key=f"note-{number}",
            occurred=f"2026-01-0{day}T00:00:00Z",
            thread="talk" if is_turn else None,
            decision="create",
        )
    book.store("The staging database has gone to Oslo.", key="note-0", mode="replace")
    book.forget("note-1")


def ask(root: Path) -> list[list[tuple[str, bool, str | None]]]:
    """Return for each question the hits in order, whether each is strong, and what each names as later."""
    with opened(root) as book:
        book.recall("what was asked first is counted as used")
        answers = [book.recall(question).hits for question in QUESTIONS]
    return [[(hit.key, hit.strong, hit.later.key if hit.later else None) for hit in hits] for hits in answers]


@examples(40, quick=2)
@given(st.lists(NOTES, min_size=3, max_size=10))
def test_an_index_that_was_built_anew_answers_the_same(notes: list[Note]) -> None:
    """Hits, order, strength and later memories are the same after a reindex, and after the index was deleted."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "book")
        with opened(root) as book:
            fill(book, notes)
        ask(root)  # the first use of a memory counts, and no other within a minute
        before = ask(root)
        with opened(root) as book:
            book.reindex()
        assert ask(root) == before
        for file in (root / ".commonplace").glob("index.db*"):
            file.unlink()
        assert ask(root) == before
