"""Reading what a model wrote: lenient about form, and never about which child a sentence names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.summarise import SummarySentence, read_sentences
from tests.strategies import any_text

KNOWN = frozenset({"u-1a2b3c", "u-4d5e6f", "L1-0123"})


@pytest.mark.parametrize(
    "line",
    [
        "- Ann pays. [u-1a2b3c]",
        "* Ann pays [u-1a2b3c].",
        "• Ann pays. [child u-1a2b3c]",
        "1. Ann pays. (u-1a2b3c)",
        "  -   Ann   pays. [child: `u-1a2b3c`]  ",
        "- Ann pays.[u-1a2b3c]",
        "- Ann pays [u-1a2b3c] . **[u-1a2b3c]**",
        "- [u-1a2b3c] Ann pays.",
        "Ann pays. [u-1a2b3c]",
        "Here is the summary:\n\n- Ann pays. [u-1a2b3c]\n\nI hope this helps!",
        "```\n- Ann pays. [u-1a2b3c]\n```",
        "**Payment**\n- Ann pays. [id=u-1a2b3c]\r",
    ],
)
def test_ways_to_write_a_sentence(line: str) -> None:
    """Bullets, numbers, brackets, words around the id and lines around the summary make no difference."""
    (found,) = read_sentences(line, KNOWN)
    assert found.text.strip("* .") == "Ann pays"
    assert found.children == ("u-1a2b3c",) or "id=" in line


def test_several_children() -> None:
    """A sentence may name several children, in one bracket or in several, each counted once."""
    text = "- Ann pays. [u-1a2b3c, u-4d5e6f]\n- Bob (u-4d5e6f) asked Ann. [u-1a2b3c][L1-0123] [u-1a2b3c]"
    assert read_sentences(text, KNOWN) == [
        SummarySentence("Ann pays.", ("u-1a2b3c", "u-4d5e6f")),
        SummarySentence("Bob asked Ann.", ("u-4d5e6f", "u-1a2b3c", "L1-0123")),
    ]


@pytest.mark.parametrize("ending", ["[u-999999]", "[7]", "[u-1a2b3]", "[see above]", "[u-1a2b3c; u-999999]"])
def test_what_is_no_child_stays_one_that_is_named(ending: str) -> None:
    """What stands in brackets at the end is what the sentence names, though no such child was asked about."""
    (found,) = read_sentences(f"- Ann pays. {ending}", KNOWN)
    assert found.text == "Ann pays."
    assert not KNOWN.issuperset(found.children) and found.children


def test_brackets_that_belong_to_the_text() -> None:
    """Brackets within a sentence, and round ones, stay unless they hold ids that are known."""
    text = "- Ann [the owner] pays (as agreed). [u-1a2b3c]\n- Bob agreed (at last)."
    assert read_sentences(text, KNOWN) == [
        SummarySentence("Ann [the owner] pays (as agreed).", ("u-1a2b3c",)),
        SummarySentence("Bob agreed (at last).", ()),
    ]


@given(st.lists(any_text, max_size=5).map("\n- ".join))
def test_anything_is_read(text: str) -> None:
    """Whatever a model writes is read without an error, into single lines."""
    for found in read_sentences(text, KNOWN):
        assert "\n" not in found.text and found.text == " ".join(found.text.split())
