"""Recall by meaning: found in other words, kept up to date, deterministic, and said when it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.choices import SearchMode
from commonplace.model.errors import EmbedderMissing


def opened(root: Path, agent: str | None = None) -> Book:
    return Book.open(root, project="acme/app", agent=agent)


def keys(book: Book, question: str, mode: SearchMode = "hybrid") -> list[str]:
    return [hit.key for hit in book.recall(question, mode=mode).hits]


NOTES = {
    "parking": "Visitors leave their cars behind the warehouse.",
    "lunch": "The canteen serves food from noon until two.",
    "backup": "Every night the database is copied to the other building.",
    "tone": "Write politely and keep sentences brief.",
}


def test_other_words_find_it(tmp_path: Path) -> None:
    """A question without a word of the note finds it by meaning, and by words alone does not."""
    with opened(tmp_path / "book") as book:
        book.store_many({"content": text, "key": key} for key, text in NOTES.items())
        for question, wanted in (("where do guests put a vehicle", "parking"), ("eating meals", "lunch")):
            assert keys(book, question)[:1] == [wanted], question
            assert keys(book, question, "semantic")[:1] == [wanted]
            assert wanted not in keys(book, question, "lexical")


def test_what_is_stored_replaced_and_forgotten_is_known_at_once(tmp_path: Path) -> None:
    """In one process, each answer knows the last store, replace and forget, also of another book on the same root."""
    with opened(tmp_path / "book") as book, opened(tmp_path / "book") as other:
        book.store_many({"content": text, "key": key} for key, text in NOTES.items())
        assert keys(book, "guests park a vehicle")[:1] == ["parking"]
        other.store("Automobiles of guests belong on the roof.", key="roof")
        assert "roof" in keys(book, "guests park a vehicle")
        book.store("Bicycles are repaired on Fridays.", key="roof", mode="replace")
        assert "roof" not in keys(book, "guests park a vehicle", "semantic")[:1]
        book.forget("parking")
        assert "parking" not in keys(book, "guests park a vehicle")


def test_a_rebuilt_index_answers_the_same(tmp_path: Path) -> None:
    """Hits, their order and their scores are the same from an index that was built anew."""
    questions = ["guests park a vehicle", "eating meals", "copy of the data", "how to write"]

    def answers(book: Book) -> list[list[tuple[str, float]]]:
        return [[(hit.key, hit.score) for hit in book.recall(question).hits] for question in questions]

    with opened(tmp_path / "book") as book:
        for key in sorted(NOTES, reverse=True):
            book.store(NOTES[key], key=key)
        answers(book)  # the first use counts, and a count moves a score a little
        before = answers(book)
        book.reindex()
        after = answers(book)
    assert [[key for key, _ in found] for found in after] == [[key for key, _ in found] for found in before]
    assert [score for found in after for _, score in found] == pytest.approx(
        [score for found in before for _, score in found], abs=0.001
    )


def test_a_missing_model_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an embedder that is not there, hybrid goes on by words and says so; semantic is an error."""
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "transformer:/not/there")
    with opened(tmp_path / "book") as book:
        book.store("The gate opens at nine.", key="gate")
        answer = book.recall("gate")
        assert [hit.key for hit in answer.hits] == ["gate"] and answer.notice.startswith("Searched by words alone.")
        with pytest.raises(EmbedderMissing):
            book.recall("gate", mode="semantic")
        assert book.recall("gate", mode="lexical").notice == ""


def test_a_book_cannot_choose_a_service_by_itself(tmp_path: Path) -> None:
    """An embedder named in a book's own config.toml is used only once a person trusts it; status says what leaves."""
    with opened(tmp_path / "book") as book:
        book.store("The gate opens at nine.", key="gate")
        book.configure("embedder", "ollama:some-model@http://127.0.0.1:9")
    with opened(tmp_path / "book") as book:
        assert "not trusted" in book.recall("gate").notice
        assert book.status().leaves_machine == ("texts and questions, to be embedded, to http://127.0.0.1:9",)
        assert book.trust()
        assert "not trusted" not in book.recall("gate").notice and book.recall("gate").notice


def test_switched_off_is_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever switches meaning off gets words alone without being told each time."""
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "off")
    with opened(tmp_path / "book") as book:
        book.store("The gate opens at nine.", key="gate")
        assert [hit.key for hit in book.recall("gate").hits] == ["gate"] and book.recall("gate").notice == ""


def test_the_newer_of_two_facts_comes_first(tmp_path: Path) -> None:
    """Of two notes about the same thing the later one is first, even where the older has more of the words."""
    with opened(tmp_path / "book") as book:
        book.store("The staging database listens on port 5432.", key="old", occurred="2025-01-01T00:00:00Z")
        book.store("The staging database now listens on port 6000.", key="new", occurred="2026-01-01T00:00:00Z")
        assert keys(book, "on which port does the staging database listen") == ["new", "old"]


def test_nobody_finds_what_is_not_theirs(tmp_path: Path) -> None:
    """However near in meaning, an entry of another agent or project is no hit."""
    with opened(tmp_path / "book", agent="one") as book:
        book.store("Visitors leave their cars behind the warehouse.", key="parking", scope="agent")
    with opened(tmp_path / "book", agent="two") as book:
        book.store("The canteen serves food from noon until two.", key="lunch", scope="agent")
        assert keys(book, "where can guests park a vehicle", "semantic") in ([], ["lunch"])


def test_what_the_table_does_not_know_has_a_score(tmp_path: Path) -> None:
    """A note that has the signs of the question, of which the table knows nothing, is found and worth something."""
    with opened(tmp_path / "book") as book:
        book.store("\U0001f680 \U0001f389", key="rocket")
        (hit,) = book.recall("\U0001f680 \U0001f389").hits
        assert hit.key == "rocket" and hit.score > 0


def test_what_has_the_identifier_is_looked_at(tmp_path: Path) -> None:
    """The one note with an identifier is found, though many that look like it mean more nearly the same."""
    long = "the tablet crashed when somebody turned it while the camera was open in the greenhouse, and in the barn"
    with opened(tmp_path / "book") as book:
        book.store_many({"content": f"QX-{n}."} for n in range(100, 180))
        book.store(f"{long.capitalize()}, and {long}: see QX-977, where {long}.", key="tablet")
        assert keys(book, "QX-977")[:1] == ["tablet"]


def test_a_lone_note_is_about_whom_it_names(tmp_path: Path) -> None:
    """A name, or a word of an author's name, is looked for in notes like any other, though somebody of that name wrote
    some of them."""
    notes = [
        ("Maria drinks green tea in the morning.", None), ("Jonas drinks black coffee in the morning.", None),
        ("The invoice exporter was rewritten in Rust.", "maria"), ("The app was rewritten in Kotlin.", "jonas"),
        ("Code review: every pull request needs two approvals.", "claude-code"),
        ("Design review: mockups are looked at on Tuesdays.", None),
        ("The release checklist is in Notion.", None), ("The travel checklist is in Confluence.", "release-bot"),
    ]  # fmt: skip
    with opened(tmp_path / "book") as book:
        for content, author in notes:
            book.store(content, author=author, occurred="2026-05-01")
        for question, begins in (
            ("what does Maria drink", "Maria"), ("what does Jonas drink", "Jonas"), ("code review", "Code"),
            ("where is the release checklist", "The release"),
        ):  # fmt: skip
            assert book.recall(question).hits[0].text.startswith(begins), question
        assert book.recall('"Maria" drinks').hits[0].text == notes[0][0]
