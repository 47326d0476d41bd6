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
    "u-3": CitedText("The price is 1500 EUR, or 3.50 a day, from 10:30 on. 我们周五搬家。 cafe\u0301", []),
    "L1-9": CitedText("A summary of many things.", [], is_leaf=False),
}
NOTES = "\n\n[^1]: u-1 · mail:<1@example.org>\n[^2]: u-2\n[^3]: L1-9\n[^4]: u-3\n"


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
        '~~~~ python\nprint("a text of code with many words")\n~~~\n```\n~~~~~',
        "> The staging database moves\n> to Frankfurt on 3 March.\n>\n> Ann owns it.\n\n[^1] says so.",
        ">\n>\n\n[^1]",
        '"3.50 a day", "10:30", "1500" and "周五"[^4]',
        'Ann wrote "moves to **Frankfurt** on _3 March_".[^1]',
        "日本語では「我们周五搬家」と書かれている。[^4]",
        "A sign is no citation:\n```\n[^1]: u-404\n[^9]\n```\nIt moves.[^1]",
    ],
)
def test_what_holds(answer: str) -> None:
    """Paraphrases, quotations wrapped or shortened or in a block, other quotation marks, and code pass the check; so
    do parts of a sentence in a script without spaces."""
    assert check(answer) == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("It moves.[^9]", "unknown_marker"),
        ('Ann wrote "moves to Berlin on 3 March".[^1]', "not_verbatim"),
        ('"on 3 March ... The staging database"[^1]', "not_verbatim"),
        ("> The database stays.\n\n[^1]", "not_verbatim"),
        ('Ann wrote "moves to **Berlin** on 3 March".[^1]', "not_verbatim"),
        ("『我们周一搬家』[^4]", "not_verbatim"),
        ('The summary says "A summary of many things".[^3]', "not_a_leaf"),
        ('Somebody said "this is a text that nobody cites".', "uncited_quote"),
        ('"The price is 150"[^4]', "not_verbatim"),
        ('"The price is 150 ... a day"[^4]', "not_verbatim"),
        ('"rice is 1500"[^4]', "not_verbatim"),
        ('"or 3"[^4]', "not_verbatim"),
        ('"50 a day"[^4]', "not_verbatim"),
        ('"from 10."[^4]', "not_verbatim"),
        ('"cafe"[^4]', "not_verbatim"),
        ('"to Frankfurt on 3 Mar"[^1]', "not_verbatim"),
        ('"..."[^1]', "not_verbatim"),
        ('"[…]"[^1]', "not_verbatim"),
        ("> …\n\n[^1]", "not_verbatim"),
        ("> Ann owns it.\n>\n> All of it.\n\n[^1]", "not_verbatim"),
        ('```\nAnn wrote "moves to Berlin"[^1]', "not_verbatim"),
        ('~~~\n```\nx\n```\nAnn wrote "moves to Berlin"[^1]', "not_verbatim"),
        ('````\nx\n```\nAnn wrote "moves to Berlin"[^1]', "not_verbatim"),
        ('```\nx\n``` y\nAnn wrote "moves to Berlin"[^1]', "not_verbatim"),
        ("It moves.[^8]\n```\n[^8]: u-1\n```", "unknown_marker"),
        ('"moves to Berlin"[^8]\n\n[^8]: u-2\n[^8]: u-3', "not_verbatim"),
    ],
)
def test_what_does_not_hold(answer: str, code: str) -> None:
    """A marker without a footnote, other words, another order, a quoted summary, a long quotation of nothing; a part
    of a word or of a number, what was left out alone, what stands below a fence that is never closed."""
    assert check(answer) == [code]


def test_footnotes_are_checked() -> None:
    """A footnote of a node that is not there, or with another source than its node has, is a fault at its line."""
    answer = "One.[^1] Two.[^2]\n\n[^1]: u-404\n[^1]: u-1\n[^2]: u-2 · mail:<other@example.org>\n"
    found = check_citations(answer, LEAVES.get)
    assert [(fault.line, fault.code) for fault in found.faults] == [(3, "unknown_node"), (5, "wrong_source")]
    assert (found.ok, found.citations, found.quotes) == (False, 2, 0)


def test_lines_are_those_of_the_answer() -> None:
    """A fault is at its line, though code and footnotes above it are passed over."""
    answer = '```\n"x"\n```\n[^5]: u-1\n\nOne\n"moves to Berlin"[^5] and\n\n> Ann owns\n\nTwo.[^9]\n'
    assert [(fault.line, fault.code) for fault in check_citations(answer, LEAVES.get).faults] == [
        (7, "not_verbatim"),
        (11, "unknown_marker"),
    ]


@given(st.text(alphabet='ab1 "“”>[]^:·.…\n`~'))
def test_any_answer_is_checked(answer: str) -> None:
    """Whatever an answer looks like, the check ends with a verdict: good if and only if nothing is wrong."""
    found = check_citations(answer, LEAVES.get)
    assert found.ok == (not found.faults)


def test_a_fault_is_one_line() -> None:
    """What does not hold is named on one line, however the quotation is wrapped."""
    [fault] = check_citations('"The staging database\n  stays here"[^1]' + NOTES, LEAVES.get).faults
    assert fault.text == '"The staging database stays here" is not in u-1.'
