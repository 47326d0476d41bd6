"""Guards between a caller and the book: no secrets, look before you write, and an audit log of every call."""

from __future__ import annotations


def find_secret_rule(text: str) -> str | None:
    """Return the name of a rule by which a text contains a secret; None if it contains none.

    For callers that seldom ask: the rules are loaded with the first question.
    """
    from commonplace.guard.secrets import find_secrets  # noqa: PLC0415 - see above

    found = find_secrets(text)
    return found[0].rule if found else None
