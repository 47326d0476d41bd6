"""The entry line: attributes come back, odd lines are read leniently, trust is never guessed upward."""

from __future__ import annotations

import pytest
from hypothesis import given

from commonplace.model.memory import Entry, Trust
from commonplace.text.notes import read_attributes, write_attributes
from tests.depth import examples
from tests.strategies import any_text, entries


@examples(200)
@given(entries)
def test_attributes_come_back(entry: Entry) -> None:
    """Any entry's attributes, written and read, are the same, on one line that cannot end its comment."""
    line = write_attributes(entry)
    assert read_attributes(line, time=entry.time, text=entry.text) == entry
    assert "<" not in line and ">" not in line
    assert line.isprintable()


def test_plain_words_stay_bare() -> None:
    """The line is written for people: words bare, in one order, only what is known."""
    entry = Entry("t", "x", id="0197", trust=Trust.AGENT, author="claude-code", session="ab12", tags=("ci", "db"))
    assert write_attributes(entry) == "id=0197 author=claude-code session=ab12 trust=agent tags=ci,db"


@given(any_text)
def test_any_line_can_be_read(line: str) -> None:
    """No line makes reading fail, and one that names no trust is external."""
    entry = read_attributes(line, time="t", text="x")
    assert (entry.time, entry.text) == ("t", "x")
    if "trust=" not in line:
        assert entry.trust is Trust.EXTERNAL


@pytest.mark.parametrize("line", ["", "trust=", "trust=root", "trust=HUMAN", "x-trust=human", "distrust=human"])
def test_unknown_trust_is_external(line: str) -> None:
    """Only the exact words give trust: a part of another attribute's name does not."""
    assert read_attributes(line, time="t", text="").trust is Trust.EXTERNAL


@pytest.mark.parametrize(("seq", "expected"), [("7", 7), ('"-7"', -7), ("7x", None), ("٣", None), ("9" * 30, None)])
def test_seq_is_a_plain_number(seq: str, expected: int | None) -> None:
    """A seq that is not a plain number of ordinary size counts as absent."""
    assert read_attributes(f"seq={seq}", time="t", text="").seq == expected


def test_attributes_of_a_later_version_are_kept() -> None:
    """An attribute this version does not know comes back when the entry is written again."""
    entry = read_attributes('id=1 mood="so so" trust=agent', time="t", text="")
    assert entry.extra == (("mood", "so so"),)
    assert write_attributes(entry) == 'id=1 trust=agent mood="so so"'


@pytest.mark.parametrize("line", ["a" * 1_000_000, 'a="' * 300_000, "a=" + '"' + "\\" * 999_999])
def test_a_megabyte_of_nonsense_is_read(line: str) -> None:
    """A line made to keep the reader busy gives an entry without attributes."""
    assert read_attributes(line, time="t", text="") == Entry("t", "")._replace(trust=Trust.EXTERNAL)
