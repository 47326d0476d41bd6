"""Make the key and the one-line summary of a memory from its content, for callers that gave none; percent escapes.

The escapes are those of urllib.parse, which takes 5 ms to import.
"""

from __future__ import annotations

import re

from commonplace.model.lazy import lazy
from commonplace.model.names import is_windows_reserved, short_hash, slug

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~-")
_ESCAPES = lazy(r"(?:%[0-9A-Fa-f]{2})+")


def quote(text: str, safe: str = "") -> str:
    """Return the text with %XX for every character but ASCII letters, digits, `_.~-` and the safe ones."""
    plain = _PLAIN.union(safe)
    return "".join(ch if ch in plain else _escape(ch) for ch in text)


def _escape(ch: str) -> str:
    return "".join(f"%{byte:02X}" for byte in ch.encode("utf-8", "replace"))


def unquote(text: str) -> str:
    """Return the text with every %XX decoded."""
    if "%" not in text:
        return text
    return _ESCAPES.sub(lambda match: bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace"), text)


def unquote_to_bytes(data: bytes) -> bytes:
    """Return the bytes with every %XX decoded."""
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match.group(1).decode("ascii")), data)


SUMMARY_LENGTH = 120
_MARKUP = lazy(r"^(?:#{1,6}\s+|[-*+]\s+|>\s*|\d+[.)]\s+|```\S*)")
_SENTENCE_END = lazy(r"(?<=[.!?])\s|(?<=[。！？])")
_LITTLE_WORDS = frozenset(
    "a an and are as at be by for from in is it of on or that the this to was we with".split()  # noqa: SIM905
)
_READ_AT_MOST = 4_000


def make_summary(content: str) -> str:
    """Return the first sentence of the first line with words in it, on one line and cut at a word."""
    for line in content[:_READ_AT_MOST].split("\n"):
        text = one_line(_MARKUP.sub("", line.strip()))
        if any(ch.isalnum() for ch in text):
            return cut(_SENTENCE_END.split(text, maxsplit=1)[0], SUMMARY_LENGTH)
    return cut(one_line(content[:_READ_AT_MOST]), SUMMARY_LENGTH)


def one_line(text: str) -> str:
    """Return the text with one space for every run of white space and control characters."""
    if not text.isprintable():
        text = "".join(ch if ch.isprintable() else " " for ch in text)
    return " ".join(text.split())


def cut(text: str, limit: int) -> str:
    """Return the text, cut at a word to the limit and with an ellipsis if it is longer."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = head.rsplit(" ", 1)[0] if " " in head[limit // 2 :] else head
    return at_word.rstrip(" ,;:-") + "…"


def make_key(content: str) -> str:
    """Return a flat key from the words of the content, in any script; equal for equal content."""
    summary = make_summary(content)
    words = slug(_ascii(summary), limit=200).split("-")
    telling = [word for word in words if word not in _LITTLE_WORDS] or words
    key = slug(" ".join(telling[:7]), limit=48)
    if not key or is_windows_reserved(key) or key == "index":
        return f"note-{short_hash(content)}"
    return key


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    from anyascii import anyascii  # noqa: PLC0415 - its tables are large, and most text is ASCII

    # Chinese becomes one run of capitalised syllables: ShiYong -> Shi Yong.
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", anyascii(text))
