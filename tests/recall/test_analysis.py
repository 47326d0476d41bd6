"""What a question asks for, apart from its words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.query import AuthorLookup, parse_query
from commonplace.text.words import split_words

NOW = "2026-11-15T10:00:00Z"


def find_in(authors: Sequence[str]) -> AuthorLookup:
    """Return a lookup of these authors by a word of their names, as the index has it."""
    return lambda words: [author for author in authors if not frozenset(words).isdisjoint(split_words(author))]


def test_names_of_authors_say_who_and_not_what() -> None:
    """Conversations are compared with the question without an author's name, in any case and with an 's behind it; a
    lone note is about whom it names."""
    asked = parse_query("What did CAROLINE's sister say to Mel?", find_in(["Caroline", "Melanie", "Bob"]), NOW)
    assert asked.authors == {"Caroline"} and "caroline" not in asked.talk.lower()
    assert "sister" in asked.talk and "Mel" in asked.talk
    assert "CAROLINE" in asked.text and ("caroline",) in asked.terms.any_of


def test_a_part_of_a_handle_names_nobody() -> None:
    """One of a person's names is enough; claude-code is named by both of its words, and the user by none."""
    authors = ["claude-code", "Asha Pillai", "human"]
    assert parse_query("code review of human work", find_in(authors), NOW).authors == frozenset()
    assert parse_query("what did Pillai ask claude-code for", find_in(authors), NOW).authors == {
        "claude-code",
        "Asha Pillai",
    }


def test_a_word_is_a_name_only_where_it_is_written_as_one() -> None:
    """Among thousands of authors many have names that are words: those are meant where they have their capitals. A
    handle in small letters is meant in any case."""
    find = find_in(["James Bond", "Vincent Price", "May Li", "tomasz"])
    assert parse_query("what may be the price of a bond", find, NOW).authors == frozenset()
    assert parse_query("what did Bond pay", find, NOW).authors == {"James Bond"}
    assert parse_query("ask Tomasz about the bond", find, NOW).authors == {"tomasz"}


def test_a_question_that_is_only_a_name_is_about_the_name() -> None:
    """Nothing else being asked for, the name itself is searched."""
    asked = parse_query("Caroline?", find_in(["Caroline"]), NOW)
    assert asked.terms.any_of == (("caroline",),) and asked.authors == {"Caroline"} and asked.talk == "Caroline?"


def test_what_is_quoted_names_nobody() -> None:
    """A name in quotes stays in the words, and is no author; the same name outside of them is."""
    asked = parse_query('"Caroline" met Bob', find_in(["Caroline", "Bob"]), NOW)
    assert asked.authors == {"Bob"} and asked.terms.quoted == ("caroline",)
    assert asked.talk == '"Caroline" met'


def test_who_and_when_alone_ask_for_whatever_was_then() -> None:
    """A time, and a name with it, are all that is asked; not so with another word, a quotation or half a name."""
    authors = ["tomasz", "claude-code", "April"]
    assert parse_query("what did Tomasz do last week", find_in(authors), NOW).is_vague
    april = parse_query("what did we do in April", find_in(authors), NOW)
    assert april.is_vague and not april.authors
    for question in ("what did Tomasz deploy last week", 'what did "we do" last week', "what code changed last week"):
        assert not parse_query(question, find_in(authors), NOW).is_vague


@pytest.mark.parametrize(
    ("question", "author", "asked"),
    [
        ("When did we move?", "human", True),
        ("When did we move?", "User", True),
        ("What do I like to eat?", "me", True),
        ("What do I like to eat?", "assistant", False),
        ("What did you suggest for my trip?", "user", False),  # somebody else said that
        ("What did you recommend to me?", "user", False),
        ("staging database", "human", False),
        ("What did I tell Ann?", "Ann", True),
        ("What did I tell Ann?", "human", False),
        ("What did I tell Ann?", None, False),
    ],
)
def test_whose_words_are_asked_for(question: str, author: str | None, asked: bool) -> None:
    """A question in the first person asks for what the user said, by any of the names that hosts give to users, unless
    it names somebody or asks for what was suggested."""
    assert parse_query(question, find_in(["Ann", "human", "User", "me"]), NOW).is_by(author) is asked


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=5))
def test_any_text_can_be_asked(query: str, authors: list[str]) -> None:
    """No question and no author's name breaks the analysis, and all of it is the same the second time."""
    assert parse_query(query, find_in(authors), NOW) == parse_query(query, find_in(authors), NOW)


@pytest.mark.parametrize("question", ["Ann's dog didn't bark", "Ann\u2019s dog didn\u2019t bark"])
def test_the_rest_of_a_possessive_is_no_word(question: str) -> None:
    """The s behind an apostrophe, and the t, are not looked for; a lone s or t still is."""
    assert parse_query(question, find_in([]), NOW).terms.words == (("ann",), ("dog",), ("didn",), ("bark",))
    assert ("t",) in parse_query("T shirt", find_in([]), NOW).terms.words


def test_where_somebody_was_is_not_whatever_was_then() -> None:
    """A question for a place, a person or a reason wants that, and not all that was noted at the time."""
    assert parse_query("what did John do last week", find_in(["John"]), NOW).is_vague
    for question in ("where was John last week", "who did it yesterday", "why was that in March"):
        assert not parse_query(question, find_in(["John"]), NOW).is_vague, question
