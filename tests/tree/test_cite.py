"""Citations of an answer: each leads to a leaf, and each quotation is in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.cite import CitedText, check_citations

LEAVES = {
    "u-1": CitedText(
        "The staging database moves\nto Frankfurt on 3 March. Ann owns it.", ["u-1 · mail:<1@example.org>"]
    ),
    "u-2": CitedText("We said “no” twice.", ["u-2 · mail:<2@example.org>"]),
    "L1-9": CitedText("A summary of many things.", [], is_leaf=False),
}
NOTES = "\n\n[^1]: u-1 · mail:<1@example.org>\n[^2]: u-2\n[^3]: L1-9\n"


def check(text: str) -> list[str]:
    """Return the codes of what does not hold."""
    return [fault.code for fault in check_citations(text + NOTES, LEAVES.get).faults]


@pytest.mark.parametrize(
    "answer",
    [
        "It moves in March.[^1]",
        'Ann wrote "staging database moves to Frankfurt on 3 March".[^1]',
        'She wrote "The staging database moves ... on 3 March."[^1]',
        "> The staging database moves\n> to Frankfurt on 3 March.\n\n[^1] says so.",
        "> Ann owns it.[^1]",
        '"We said "no" twice"[^2]',
        'They “said "no" twice”.[^2] It is a "move" of sorts, as `say "hello there my good friend"` prints.',
        "A summary says that much happened.[^3]",
        '```\nprint("a text of code with many words")\n```',
    ],
)
def test_what_holds(answer: str) -> None:
    """Paraphrases, quotations wrapped or shortened or in a block, other quotation marks, and code pass the check."""
    assert check(answer) == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("It moves.[^9]", "unknown_marker"),
        ('Ann wrote "moves to Berlin on 3 March".[^1]', "not_verbatim"),
        ('"on 3 March ... The staging database"[^1]', "not_verbatim"),
        ("> The database stays.\n\n[^1]", "not_verbatim"),
        ('The summary says "A summary of many things".[^3]', "not_a_leaf"),
        ('Somebody said "this is a text that nobody cites".', "uncited_quote"),
    ],
)
def test_what_does_not_hold(answer: str, code: str) -> None:
    """A marker without a footnote, other words, another order, a quoted summary, a long quotation of nothing."""
    assert check(answer) == [code]


def test_footnotes_are_checked() -> None:
    """A footnote of a node that is not there, or with another source than its node has, is a fault at its line."""
    answer = "One.[^1] Two.[^2]\n\n[^1]: u-404\n[^2]: u-2 · mail:<other@example.org>\n"
    found = check_citations(answer, LEAVES.get)
    assert [(fault.line, fault.code) for fault in found.faults] == [(3, "unknown_node"), (4, "wrong_source")]
    assert (found.ok, found.citations, found.quotes) == (False, 2, 0)


@given(st.text(alphabet='ab "“”>[]^1:·.\n`'))
def test_any_answer_is_checked(answer: str) -> None:
    """Whatever an answer looks like, the check ends with a verdict: good if and only if nothing is wrong."""
    found = check_citations(answer, LEAVES.get)
    assert found.ok == (not found.faults)
