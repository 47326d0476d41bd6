"""Guards between a caller and the book: no secrets, look before you write, and an audit log of every call."""

from __future__ import annotations

_BREAKS = str.maketrans(dict.fromkeys("-_./:", " "))


def find_secret_rule(text: str) -> str | None:
    """Return the name of a rule by which a text contains a secret; None if it contains none.

    For callers that seldom ask: the rules are loaded with the first question.
    """
    from commonplace.guard.secrets import find_secrets  # noqa: PLC0415 - see above

    found = find_secrets(text)
    return found[0].rule if found else None


def find_secret_in_id(word: str | None) -> str | None:
    """Return the name of a rule by which an id contains a secret. Most ids are too short for one, and load no rules."""
    pieces = (word or "").translate(_BREAKS).split()  # of a UUID, a path or an address: none is long enough
    is_long = any(len(piece) > 20 or (len(piece) > 12 and not piece.isalpha()) for piece in pieces)
    return find_secret_rule(word) if word and is_long else None
