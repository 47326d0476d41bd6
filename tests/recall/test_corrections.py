"""What was learned later comes before what it corrects, and nothing else does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.recall.test_meaning import NOTES, keys, opened

OLD, NEW = "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
BURNER = "The workshop is heated by the Valdor oil burner in the cellar."
PUMP = "Valdor burner sold for scrap; a pump took its place in the cellar, ask Ida for the manual."
QUESTION = "how do we keep the workshop warm"


def test_a_correction_comes_that_does_not_answer_by_itself(tmp_path: Path) -> None:
    """A later note about what was found comes first, though it has nothing of the question in it."""
    with opened(tmp_path / "book") as book:
        book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=NEW)
        assert keys(book, QUESTION) == []
        book.store(BURNER, key="burner", tags=["heating"], occurred=OLD)
        assert keys(book, QUESTION) == ["cellar-pump", "burner"]


def test_what_was_before_does_not_correct(tmp_path: Path) -> None:
    """The same note from an earlier day stays away: it was known when the other was written."""
    with opened(tmp_path / "book") as book:
        book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=OLD)
        book.store(BURNER, key="burner", tags=["heating"], occurred=NEW)
        assert keys(book, QUESTION)[:1] == ["burner"]


def test_an_identifier_must_be_in_a_correction_too(tmp_path: Path) -> None:
    """Whoever asks for an identifier alone wants what has it, and nothing that was written later."""
    with opened(tmp_path / "book") as book:
        book.store(BURNER.replace("Valdor", "Valdor VX-204"), key="burner", tags=["heating"], occurred=OLD)
        book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=NEW)
        assert keys(book, "VX-204") == ["burner"]


def test_the_same_language_is_not_the_same_thing(tmp_path: Path) -> None:
    """A later note in a language that the table hardly knows does not come before one that answers."""
    with opened(tmp_path / "book") as book:
        book.store("Ключ от склада лежит у вахтёра в синем ящике.", key="ru-klyuch", occurred=OLD)
        book.store("Собрание по вторникам начинается в десять утра.", key="ru-sobranie", occurred=NEW)
        assert keys(book, "где лежит ключ от склада")[:1] == ["ru-klyuch"]


def test_what_is_superseded_corrects_nothing(tmp_path: Path) -> None:
    """A later note that was itself superseded does not come before the hit."""
    with opened(tmp_path / "book") as book:
        book.store(BURNER, key="burner", tags=["heating"], occurred=OLD)
        book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=NEW)
        book.store("Ida took the pump home.", key="ida", decision="supersede:cellar-pump")
        assert keys(book, QUESTION)[:1] == ["burner"]


def test_entries_of_one_memory_correct_by_what_they_say(tmp_path: Path) -> None:
    """The name and tags that all entries of a memory have make none of them a correction of another."""
    with opened(tmp_path / "book") as book:
        for text, when in (("The zebra lives in the barn.", OLD), ("Horses were shod.", NEW)):
            book.store(text, key="farm-animals-diary", tags=["stable"], occurred=when)
        hits = book.recall("where does the zebra live").hits
        assert [hit.text for hit in hits][:1] == ["The zebra lives in the barn."]


def test_a_rare_name_and_a_change_make_a_correction(tmp_path: Path) -> None:
    """A later note comes first that says that something is over and has only its name in common with the hit; without a
    word of change, or where many notes have the name, it does not."""
    stays = {f"note-{n}": f"Vondelbak has a shelf for tools of kind {n}." for n in range(4)}
    for others, later, first in (
        ({}, "Vondelbak was retired, ask Ida which room has the keys.", "later"),
        ({}, "Vondelbak has a green door, ask Ida which room has the keys.", "burner"),
        (stays, "Vondelbak was retired, ask Ida which room has the keys.", "burner"),
    ):
        with opened(tmp_path / f"{len(others)}-{first}") as book:
            book.store("The workshop is heated by the oil burner in Vondelbak.", key="burner", occurred=OLD)
            book.store(later, key="later", occurred=NEW)
            for key, text in others.items():
                book.store(text, key=key, occurred=OLD)
            assert keys(book, QUESTION)[:1] == [first]


@pytest.mark.parametrize("frozen", [False, True])
def test_stored_in_one_second(tmp_path: Path, frozen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two notes that were stored in one second, even in one millisecond, the second corrects the first, whichever
    the words of the question are nearer to."""
    if frozen:
        monkeypatch.setattr(time, "time_ns", lambda: 1_900_000_000_000_000_000)
    with opened(tmp_path / "book") as book:
        for first, second in (("100", "250 since May"), ("250 since May", "100")):
            one, two = (f"The limit of the API is {value} requests a minute." for value in (first, second))
            book.store(one, key=f"first-{first[:3]}")
            book.store(two, key=f"second-{first[:3]}")
            assert keys(book, "limit of the API")[:1] == [f"second-{first[:3]}"]
            book.clear("project")


def test_days_that_are_equal_tell_nothing(tmp_path: Path) -> None:
    """What happened at one time, as far as is said, corrects nothing: then the order of storing is an accident."""
    with opened(tmp_path / "book") as book:
        book.store("The limit of the API is 250 requests a minute.", key="one", occurred=OLD)
        book.store("The limit of the API per minute, in requests, is now 100, said Ida.", key="two", occurred=OLD)
        assert keys(book, "the limit of the API is 250 requests")[:1] == ["one"]


def test_by_words_alone(tmp_path: Path) -> None:
    """Asked by words alone, as hooks do, what was learned later comes before what it corrects too."""
    with opened(tmp_path / "book") as book:
        book.store("The limit of the API is 100 requests a minute.", key="old", occurred=OLD)
        book.store("The limit of the API is 250 requests a minute, and 90 for guests of Ida.", key="new", occurred=NEW)
        book.store("The canteen has an API for guests.", key="other", occurred=NEW)
        hits = book.recall("limit of the API", mode="lexical").hits
        assert [hit.key for hit in hits][:2] == ["new", "old"]


def test_a_correction_must_have_the_quoted_words(tmp_path: Path) -> None:
    """A later note that corrects what was found is not brought along where it lacks the words that must occur."""
    with opened(tmp_path / "book") as book:
        book.store("The red fox jumps over the dog.", key="old", occurred=OLD)
        book.store("The fox is red and jumps.", key="new", occurred=NEW)
        assert keys(book, '"red fox"') == ["old"]


def test_a_word_that_is_rare_in_a_small_book_is_no_name(tmp_path: Path) -> None:
    """A note about another thing that says that something is gone, and shares a common word, is not brought along."""
    with opened(tmp_path / "book") as book:
        book.store_many({"content": text, "key": key} for key, text in NOTES.items())
        book.store("Set ACME_FLAGS=dark_mode,beta_search to see the new pages.", key="flags", occurred=OLD)
        book.store("The search migration finished; Elasticsearch is gone.", key="search", occurred=NEW)
        assert keys(book, "dark_mode") == ["flags"]
