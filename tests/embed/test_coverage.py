"""How much of a question texts say, word by word: other words for it, unknown names, and what they say together."""

from __future__ import annotations

import pytest

from commonplace.embed import StaticEmbedder, static_table


def test_what_a_text_says_of_a_question() -> None:
    """Every word in the text is all of the question; other words for it are much; nothing like it is little."""
    table = StaticEmbedder()
    texts = ["The password of the database.", "Login secret for Postgres.", "A walk in the woods.", ""]
    whole, near, far, empty = table.score_coverage("database password", texts).each
    assert whole == 1.0 and whole > near > far >= 0.0 and empty == 0.0
    assert table.score_coverage("", ["anything"]) == ([0.0], 0.0) and table.score_coverage("anything", []) == ([], 0.0)
    assert table.score_coverage("?!", ["Why?!"]) == ([0.0], 0.0)  # marks are not words


def test_a_name_is_not_said_by_its_endings() -> None:
    """A rare name is cut into pieces that many words have: a text with all of the pieces does not say the name."""
    table = StaticEmbedder()
    having, pieces = table.score_coverage("zustand", ["Der Zustand.", "Zu viel, kickstand, umbrellastand."]).each
    assert having == 1.0 and pieces < 0.8


def test_texts_say_a_question_together() -> None:
    """What one text says and what another says are added up, word by word; one text alone says what it says."""
    table = StaticEmbedder()
    garden, ladder, both = "The garden is locked.", "A ladder leans there.", "The garden has a ladder."
    heard = table.score_coverage("garden ladder", [garden, ladder])
    assert heard.together == 1.0 and max(heard.each) < 1.0
    assert (
        table.score_coverage("garden ladder", [both]).together == table.score_coverage("garden ladder", [both]).each[0]
    )


def test_what_is_remembered_of_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that were met before, or were forgotten since for want of room, are worth what they were."""
    questions = ["who waters the plants", "when is the gate open", "qqqq zzzz", "who waters the plants"]
    texts = ["Ida gives the ferns a drink on Mondays.", "The door is unlocked at nine."]
    fresh = [StaticEmbedder().score_coverage(question, texts) for question in questions]
    table = StaticEmbedder()
    assert [table.score_coverage(question, texts) for question in questions] == fresh
    monkeypatch.setattr(static_table, "_MAX_CACHED_VECTORS", 3)
    table = StaticEmbedder()
    assert [table.score_coverage(question, texts) for question in questions] == fresh


def test_a_text_without_words_says_nothing() -> None:
    """One that is empty, or has nothing but marks, changes nothing for those before and after it."""
    table, garden, ladder = StaticEmbedder(), "The garden is locked.", "A ladder leans there."
    one, other = table.score_coverage("a garden", [garden, ladder]).each
    assert table.score_coverage("a garden", ["", garden, "?!", ladder, ""]).each == [0.0, one, 0.0, other, 0.0]
    assert (
        table.score_coverage("a garden", ["", "?!"]).each == [0.0, 0.0]
        and table.score_coverage("a garden", []).each == []
    )
