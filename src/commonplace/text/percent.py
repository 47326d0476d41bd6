"""Percent signs for what a name cannot hold: urllib's own, loaded only when there is something to escape.

Most names need none of it, and the module takes 5 ms of every start.
"""

from __future__ import annotations

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~-")  # what urllib never escapes


def quote(text: str, safe: str = "") -> str:
    """The text with every other character than letters, digits, `_.~-` and the safe ones as %XX."""
    if _PLAIN.issuperset(set(text).difference(safe)):
        return text
    import urllib.parse  # noqa: PLC0415 - see above

    return urllib.parse.quote(text, safe=safe, errors="replace")


def unquote(text: str) -> str:
    if "%" not in text:
        return text
    import urllib.parse  # noqa: PLC0415 - see above

    return urllib.parse.unquote(text)


def unquote_to_bytes(data: bytes) -> bytes:
    if b"%" not in data:
        return data
    import urllib.parse  # noqa: PLC0415 - see above

    return urllib.parse.unquote_to_bytes(data)
