"""What calls of a model cost: the row of the ledger for a day and a model, and the price of tokens."""

# Without `from __future__ import annotations`: see model/tree_results.py.

import re
from typing import NamedTuple

from commonplace.model.errors import InvalidSettings
from commonplace.model.lazy import lazy

_PRICE = lazy(r"(\d{1,6}(?:\.\d{1,6})?)/(\d{1,6}(?:\.\d{1,6})?)", re.ASCII)
_TOKENS = 1_000_000  # that a price is for


class ModelCost(NamedTuple):
    """What the calls of one model cost on one day (UTC)."""

    day: str  # 2026-11-15
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    billionths: int  # of a dollar: whole numbers add up exactly

    @property
    def tokens(self) -> int:
        """The tokens in and out, as the daily budget counts them."""
        return self.tokens_in + self.tokens_out

    @property
    def usd(self) -> float:
        """The dollars."""
        return self.billionths / 1e9


class TokenPrice(NamedTuple):
    """What a million tokens cost, in dollars; zero where nobody said."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def billionths(self, tokens_in: int, tokens_out: int) -> int:
        """Return what some tokens cost, in billionths of a dollar."""
        return round((tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _TOKENS * 1e9)


def read_price(text: str | None) -> TokenPrice:
    """Return the price that a setting names, such as `3/15`: dollars for a million tokens in, and out."""
    if text is None:
        return TokenPrice()
    found = _PRICE.fullmatch(text)
    if found is None:
        raise InvalidSettings(
            f"summary_price cannot be {text[:40]!a}.",
            hint="Write the dollars for a million tokens in and out: 3/15.",
        )
    return TokenPrice(float(found[1]), float(found[2]))
