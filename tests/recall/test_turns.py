"""What was said just before and after in a conversation speaks for a turn, numbered or not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from commonplace.model.choices import SearchMode
from tests.recall.test_meaning import opened

TALK = (
    "I finally named the boat.",
    "Oh, what did you call it?",
    "Peregrine. The paint is still wet.",
    "Nice. Dinner at eight?",
    "Sure, bring olives.",
)


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_neighbours_are_known_by_number_or_by_time(tmp_path: Path, mode: SearchMode, numbered: bool) -> None:
    """Turns without a number are in the order of their times, however they were stored: asked by what stands beside
    it, the answer is found the same."""
    with opened(tmp_path / "book") as book:
        turns = list(enumerate(TALK))
        random.Random(5).shuffle(turns)
        for place, text in turns:
            book.store(
                text, f"t{place}", thread="talk", seq=place if numbered else None, author="ab"[place % 2],
                occurred=f"2026-05-01T10:0{place}:00Z",
            )  # fmt: skip
        answer = book.recall("what did you call it", mode=mode, explain=True)
    places = {hit.key: parts for hit, parts in zip(answer.hits, answer.explained, strict=True)}
    assert "t2" in places
    if mode == "hybrid":
        assert places["t2"]["beside"] > 0 and places["t0"]["beside"] > 0
    else:
        assert places["t2"]["own"] > 0  # it has none of the words itself


@pytest.mark.parametrize("user", ["user", "human", "me"])
def test_the_first_person_is_the_user(tmp_path: Path, user: str) -> None:
    """Asked what I like, what the user said comes before the same words of the assistant; asked what was suggested, who
    said it does not count."""
    with opened(tmp_path / "book") as book:
        for place, author in enumerate(("assistant", user, "assistant")):
            book.store(f"Ramen for dinner, number {place}.", f"t{place}", thread=f"talk {place}", seq=0, author=author)
        assert book.recall("what do I like for dinner").hits[0].key == "t1"
        suggested = book.recall("what was suggested to me for dinner", explain=True)
        assert len(suggested.explained) == 3 and not any("author" in parts for parts in suggested.explained)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_an_author_counts_before_candidates_are_cut(tmp_path: Path, mode: SearchMode) -> None:
    """Of a hundred turns that say the same, the only one of the person who is named comes first, though in the
    others the question's words are more of what is said."""
    with opened(tmp_path / "book") as book:
        turns = [("Bob", "The garden plan needs a pond.")] * 99 + [("Ann", "The garden plan needs a pond, I think.")]
        book.store_many(
            [
                {"content": text, "key": f"t{place}", "thread": "talk", "seq": place, "author": author}
                for place, (author, text) in enumerate(turns)
            ]
        )
        assert book.recall("what did Ann say about the garden plan", mode=mode).hits[0].key == "t99"


FAR = "Der Zug nach Bremen fiel gestern wieder aus."


def test_the_nearest_turn_comes_first_where_nothing_is_near(tmp_path: Path) -> None:
    """Asked in a scope where every turn is farther from the question than the rest of the book, the one that says most
    of it is still before the one that says nothing of it."""
    with opened(tmp_path / "book") as book:
        book.store_many(
            {"content": f"The espresso machine number {n} needs descaling and fresh coffee beans.", "scope": "global"}
            for n in range(30)
        )
        for place, text in enumerate(("A kettle stands in the kitchen.", FAR)):
            book.store(text, f"t{place}", thread="talk", seq=place, author="ab"[place])
        found = book.recall("how do I descale the espresso machine with coffee beans", scope="project")
    assert [hit.key for hit in found.hits] == ["t0", "t1"]


@pytest.mark.parametrize("question", ["kiwi", "kiwi?", "Kiwi!"])
def test_one_word_is_found_as_it_is_written(tmp_path: Path, question: str) -> None:
    """A note that has the one word of a question has the whole question, whatever mark stands behind it."""
    with opened(tmp_path / "book") as book:
        book.store("The kiwi is in the bowl.", "kiwi-note")
        answer = book.recall(question, explain=True)
    assert answer.explained[0]["quoted"] > 0
