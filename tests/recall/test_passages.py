"""What is shown of a long entry."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.recall.candidates import MAX_WHOLE_LENGTH, OMISSION_MARK, cut_passage, estimate_hit_tokens
from commonplace.text.words import query_terms

FILLER = "\n".join(f"Paragraph {number} says nothing of interest to anybody at all." for number in range(120))


def test_a_long_text_is_shown_by_the_passage_that_matches() -> None:
    """The line with the words is there with what stands around it, the rest is not, and the cuts are marked."""
    text = f"{FILLER}\nThe harbour closes at nine in winter.\n{FILLER}"
    shown = cut_passage(text, query_terms("when does the harbour close"))
    assert "The harbour closes at nine in winter." in shown and len(shown) < MAX_WHOLE_LENGTH
    assert shown.startswith(OMISSION_MARK) and shown.endswith(OMISSION_MARK) and "Paragraph 119" in shown


def test_a_short_text_is_shown_whole() -> None:
    """Nothing is cut from a text that is not long."""
    assert cut_passage("The harbour closes at nine.", query_terms("penguins")) == "The harbour closes at nine."


@given(st.text(max_size=300), st.integers(1, 60), st.text(max_size=40))
def test_every_line_shown_is_in_the_text(line: str, times: int, question: str) -> None:
    """Whatever the text and the question, what is shown is of the text, and never much longer than is meant."""
    text = f"{line}\n" * times + "end " * times
    shown = cut_passage(text, query_terms(question))
    for piece in shown.split(OMISSION_MARK):
        assert piece.strip("\n") in text or line in piece
    assert (
        len(shown) <= max(MAX_WHOLE_LENGTH, len(text))
        if len(text) <= MAX_WHOLE_LENGTH
        else len(shown) < MAX_WHOLE_LENGTH
    )


def test_recall_shows_the_passage_and_show_all_of_it(tmp_path: Path) -> None:
    """A hit in a long entry has the passage as its text; show still has every character."""
    text = f"{FILLER}\nThe harbour closes at nine in winter.\n{FILLER}"
    with Book.open(tmp_path / "book", project="acme/app") as book:
        book.store(text, key="harbour")
        (hit,) = book.recall("when does the harbour close").hits
        assert "closes at nine" in hit.text and len(hit.text) < MAX_WHOLE_LENGTH
        assert book.show("harbour").entries[0].text == text


def test_what_stands_deep_in_a_long_note_is_found(tmp_path: Path) -> None:
    """A long note is among the first for words deep in it, where the model does not read; the passage is shown."""
    filler = "We walked through the dashboards and compared them to the numbers of the last quarter. " * 60
    needle = "The beehive belongs to Mrs Achterberg and must not be moved before Candlemas."
    with Book.open(tmp_path / "book", project="acme/app") as book:
        book.store(f"{filler}\n\n{needle}\n\n{filler}", key="log", occurred="2026-05-01")
        book.store(filler, key="other-log", occurred="2026-06-01")
        book.store("The album has photos of the harbour.", key="photos")
        book.store("Mrs Bakker waters the plants.", key="plants")
        for question in ("who owns the beehive", "beehive Mrs Achterberg", "Candlemas"):
            found = {hit.key: hit.text for hit in book.recall(question).hits[:2]}
            assert needle in found.get("log", ""), question


@given(st.text(st.sampled_from("ab \n\u6e2f.1"), max_size=3_000), st.integers(1, 900))
def test_a_budget_is_kept(text: str, budget: int) -> None:
    """Whatever the text, what is shown of it costs no more than the budget, but for a few characters in a tiny one; and
    without its marks it is a part of the text."""
    shown = cut_passage(text, query_terms("a b"), budget)
    assert estimate_hit_tokens(shown) <= max(budget, 30)
    assert shown.removeprefix("[...]\n").removesuffix("\n[...]") in text
