"""Admission: which units may enter digests, topics and briefs, and by which signals."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.admission import find_signals, is_admitted
from commonplace.tree.source import Person, SourceUnit
from tests.strategies import LONG_LINES

ME = frozenset({"ann@example.org", "ann lee", "annl"})
ANN, BOB = Person("Ann Lee", "Ann@Example.org"), Person("Bob", "bob@example.org")
TEXT = (
    "The tests of the migration are green since this morning. " * 2
    + "We can go on with the second part of it tomorrow."
)


def signals_of(text: str = TEXT, **fields: Any) -> frozenset[str]:
    """Return the signals of a mail."""
    return find_signals(SourceUnit("email", text, "message 1")._replace(**fields), text, ME)


@pytest.mark.parametrize("signal", ["bulk", "bot", "spam", "trash"])
def test_machines_and_rejected_mail_are_kept_out_unless_the_user_answered(signal: str) -> None:
    """Each of these is enough to be kept out; what the user wrote or answered is admitted all the same."""
    assert not is_admitted(frozenset({signal, "direct", "mentioned"}))
    assert is_admitted(frozenset({signal, "replied"}))
    assert is_admitted(frozenset({signal, "sent"}))


def test_everything_else_is_admitted() -> None:
    """Being short or of few words keeps nothing out, and no signal at all is no reason."""
    assert is_admitted(frozenset())
    assert is_admitted(frozenset({"tiny", "few-words", "short"}))


def test_what_the_source_says_stays() -> None:
    """The signals of the source are among those that are found."""
    assert {"bulk", "trash"} <= signals_of(signals=frozenset({"bulk", "trash"}))


@pytest.mark.parametrize(
    ("author", "is_sent"),
    [
        (ANN, True),
        (Person("", "ann@example.org"), True),
        (Person("ann lee"), True),
        (Person("Somebody", "ANNL"), True),
        (Person("Ann Lee", "ann@elsewhere.org"), False),
        (BOB, False),
        (Person(), False),
    ],
)
def test_sent_is_what_the_user_wrote(author: Person, is_sent: bool) -> None:
    """The user is known by an address or handle, and by a name only where there is no address."""
    assert ("sent" in signals_of(author=author)) is is_sent


def test_direct_is_what_few_got_besides_the_user() -> None:
    """To the user and two others is direct; to a crowd, to others, or from the user is not."""
    others = tuple(Person("", f"{number}@example.org") for number in range(10))
    assert "direct" in signals_of(recipients=(ANN,))
    assert "direct" in signals_of(recipients=(*others[:2], ANN))
    assert "direct" not in signals_of(recipients=(*others, ANN))
    assert "direct" not in signals_of(recipients=others[:2])
    assert "direct" not in signals_of(recipients=(ANN,), author=ANN)


@pytest.mark.parametrize(
    ("text", "is_mentioned"),
    [
        ("Could ANN  LEE look at it?", True),
        ("@annl please", True),
        ("write to ann@example.org", True),
        ("Ann Leeds did", False),
        ("the channel of Bob", False),
        ("", False),
    ],
)
def test_mentioned_is_what_names_the_user(text: str, is_mentioned: bool) -> None:
    """A name or handle counts as whole words, in any case; not in what the user wrote."""
    assert ("mentioned" in signals_of(text)) is is_mentioned
    assert "mentioned" not in signals_of(text, author=ANN)


def test_size_and_variety_are_signals() -> None:
    """A word of thanks is tiny, a sentence short, a log of one line has few words, and prose of any length none."""
    assert "tiny" in signals_of("Thanks!")
    assert signals_of("Thanks! The tests of the migration are green, and we can go on with the rest of it.") == {
        "short"
    }
    assert signals_of() == {"short"}
    assert "few-words" in signals_of("connection lost, trying again\n" * 100)
    assert signals_of(" ".join(f"word{number}" for number in range(3_000))) == frozenset()


@given(st.text(max_size=80), st.frozensets(st.text(max_size=5), max_size=3))
def test_any_text_and_any_name_is_read(text: str, me: frozenset[str]) -> None:
    """No text and no name of the user raises, and no unit is both tiny and short."""
    assert not {"tiny", "short"} <= find_signals(SourceUnit("chat", text, "1"), text, me)


@pytest.mark.parametrize("text", LONG_LINES, ids=range(len(LONG_LINES)))
def test_long_lines_are_neither_tiny_nor_short(text: str) -> None:
    """A megabyte in one line is read in a moment."""
    assert not {"tiny", "short"} & signals_of(text) or not text.strip()
