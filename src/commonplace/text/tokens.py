"""Estimate how many tokens a text costs a model, without a tokenizer.

A token is about four letters of an alphabetic script, fewer digits or punctuation marks, one character of a script
without spaces, or several white spaces. Budgets use the estimate, so it errs on the high side.
"""

from __future__ import annotations

from commonplace.model.lazy import lazy

_WORD = lazy(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f]+|[^\sA-Za-z0-9\x80-\U0010ffff]+|\n+|[^\S\n]{2,}")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few."""
    total = 0.0
    for match in _WORD.finditer(text):
        run = match.group()
        head = run[0]
        if "a" <= head.lower() <= "z":
            total += max(1.0, len(run) / 4.5)
        elif "0" <= head <= "9":
            total += max(1.0, len(run) / 2.5)
        elif head > "\x7f":
            total += sum(0.5 if ord(ch) < 0x2E80 else 1.1 for ch in run)
        elif head != "\n" and head.isspace():
            total += max(1.0, len(run) / 16)
        else:
            total += max(1.0, len(run) / 3)
    return max(int(total + 0.999), 1 if text else 0)
