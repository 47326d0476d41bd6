"""Token estimates: never nothing for something, never less for more."""

from __future__ import annotations

import pytest
from hypothesis import given

from commonplace.text.words import estimate_tokens
from tests.depth import examples
from tests.strategies import LONG_LINES, hostile_text


@examples(300)
@given(hostile_text)
def test_text_costs_something(text: str) -> None:
    """Only the empty text is free."""
    assert (estimate_tokens(text) > 0) == bool(text)


@examples(300)
@given(hostile_text, hostile_text)
def test_more_text_never_costs_less(first: str, second: str) -> None:
    """A text costs at least what its beginning and its end cost, and at most one more than both together."""
    both = estimate_tokens(first + second)
    assert max(estimate_tokens(first), estimate_tokens(second)) <= both
    assert both <= estimate_tokens(first) + estimate_tokens(second) + 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Use pytest for every test in this project.", 8, 12),
        ("日本語のテキスト", 8, 10),
        ("x = {'a': 1}\n", 7, 12),
        ("1234567890", 3, 5),
        ("word " * 1000, 1000, 1200),
    ],
)
def test_estimates_are_near(text: str, least: int, most: int) -> None:
    """The estimate of ordinary text is near what tokenizers count."""
    assert least <= estimate_tokens(text) <= most


@pytest.mark.parametrize("text", LONG_LINES)
def test_a_megabyte_is_never_cheap(text: str) -> None:
    """A long line costs thousands of tokens, whatever it is made of: white space too."""
    assert estimate_tokens(text) > 10_000
