"""Make the key and the one-line summary of a memory from its content, for callers that gave none; percent escapes.

The escapes are those of urllib.parse, which takes 5 ms to import.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
_CODE_SPAN = lazy(r"(`+)(?!`)[^`](?:.*?[^`])??\1(?!`)")
_WORD = lazy(r"\w+")
_ADDITION = lazy(r"\W*(?:also|additionally|and|plus|another|besides|furthermore|in addition|moreover)\b", re.I)
_LITTLE_WORDS = frozenset(
    "a an and are as at be by for from in is it of on or that the this to was we with".split()  # noqa: SIM905
)
_JOINING = frozenset("at by for from in of on over per to with without".split())  # noqa: SIM905
_KEY_WORDS, _ENOUGH_WORDS, _NAME_WORDS = 6, 3, 7
_REQUEST = lazy(
    r"^(?:(?:no|nah|ok|okay|yes|well|so|and|also|but|actually|wait|hey|please|pls|just|remember|note|keep in mind|fyi"
    r"|don'?t forget|make sure|from now on|going forward|in (?:the )?future|as a rule|i(?:'d| would)? (?:\w+ly )?prefer"
    r"|i(?:'d| would) (?:like|rather)|i want(?: you)?|we(?:'ve| have)? (?:decided|agreed)|you (?:should|must|have to)"
    r"|let'?s|use|go with|stick with|it turn(?:s|ed) out)(?:[,:.!]+\s*|\s+(?:that\b|to\b)?[,:]?\s*))+",
    re.I,
)
_FORBIDDEN = lazy(
    r"\b(?:(?:do|must|should|may|can) ?not|(?:do|must|should|can)n'?t|avoid|stop)(?= )"
    r"(?: (?:ever|use|using|do|doing|please|to|be)\b)*",
    re.I,
)
_NOT = lazy(r"(?<=\w)n['’]t\b", re.I)
_ENDING = lazy(r"(?<=\w)['’](?:m|s|ve|re|ll|d)\b", re.I)
_CLAUSE_END = lazy(r"[,;:!?—–]\s|\s[-–—(]\s?|\.\s")
_READ_AT_MOST = 4_000


def make_summary(content: str) -> str:
    """Return the first sentence of the first line with words in it, on one line and cut at a word."""
    for line in content[:_READ_AT_MOST].split("\n"):
        text = one_line(_MARKUP.sub("", line.strip()))
        if any(ch.isalnum() for ch in text):
            return cut(_first_sentence(text), SUMMARY_LENGTH)
    return cut(one_line(content[:_READ_AT_MOST]), SUMMARY_LENGTH)


def _first_sentence(text: str) -> str:
    """Return the text up to the first end of a sentence that is not in a code span."""
    spans = [match.span() for match in _CODE_SPAN.finditer(text)] if "`" in text else []
    for end in _SENTENCE_END.finditer(text):
        if not any(start < end.start() < stop for start, stop in spans):
            return text[: end.start()]
    return text


def is_same_subject(summary: str, text: str) -> bool:
    """Return whether a later text is about what a summary says, as a correction is, and no addition to it."""
    if _ADDITION.match(text):
        return False
    one, other = _subject_words(summary), _subject_words(make_summary(text))
    return bool(one and other) and 2 * len(one & other) >= min(len(one), len(other))


def _subject_words(text: str) -> set[str]:
    """Return the words of a text that say what it is about; of a script without spaces, its pairs of characters."""
    words = {word for word in _WORD.findall(text.casefold()) if word not in _LITTLE_WORDS}
    if text.isascii() or " " in text.strip():
        return words
    return {word[at : at + 2] for word in words for at in range(max(len(word) - 1, 1))}


def one_line(text: str) -> str:
    """Return the text with one space for every run of white space and control characters."""
    if not text.isprintable():
        text = "".join(ch if ch.isprintable() else " " for ch in text)
    return " ".join(text.split())


def cut(text: str, limit: int) -> str:
    """Return the text, cut at a word to the limit and with an ellipsis if it is longer. No code span is left open."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = head.rsplit(" ", 1)[0] if " " in head[limit // 2 :] else head
    span = next((match for match in _CODE_SPAN.finditer(text) if match.start() < len(at_word) < match.end()), None)
    if span is None:
        return at_word.rstrip(" ,;:-") + "…"
    if span.start() >= limit // 2:
        return text[: span.start()].rstrip(" ,;:-(") + "…"
    # Most of it is that code: it is cut, and its span closed.
    mark = span[1]
    return at_word[: limit - 1 - len(mark)].rstrip(" ,;:-`") + "…" + mark


def make_key(content: str) -> str:
    """Return a flat key from the telling words of the content, in any script; equal for equal content.

    Of a request only what is asked for counts: `please don't use time.sleep in tests` is `no-time-sleep-in-tests`.
    """
    summary = make_summary(content)
    text = _ENDING.sub("", _NOT.sub(" not ", _FORBIDDEN.sub(" no ", _REQUEST.sub("", summary)))).strip()
    words = _telling_words(text) or _telling_words(summary) or slug(_ascii(summary), limit=200).split("-")
    return _join_key(words[:_KEY_WORDS], content)


def make_key_of_name(name: str) -> str:
    """Return a flat key from the name that something has already, in any script; equal for equal names."""
    words = slug(_ascii(make_summary(name)), limit=200).split("-")
    telling = [word for word in words if word not in _LITTLE_WORDS] or words
    return _join_key(telling[:_NAME_WORDS], name)


def _join_key(words: Sequence[str], content: str) -> str:
    key = slug(" ".join(words), limit=48)
    if not key or is_windows_reserved(key) or key == "index":
        return f"note-{short_hash(content)}"
    return key


def _telling_words(text: str) -> list[str]:
    """Return the words that a key is made of: those of the first clauses, up to one with enough of them.

    A preposition stays where it joins two of them.
    """
    found: list[str] = []
    for clause in _CLAUSE_END.split(text):
        waiting = ""
        for word in filter(None, slug(_ascii(clause), limit=200).split("-")):
            if word in _JOINING:
                waiting = word if found else ""
            elif word not in _LITTLE_WORDS:
                found += [waiting, word] if waiting and len(found) < _KEY_WORDS - 1 else [word]
                waiting = ""
        if len(found) >= _ENOUGH_WORDS:
            break
    return found


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    from anyascii import anyascii  # noqa: PLC0415 - its tables are large, and most text is ASCII

    # Chinese becomes one run of capitalised syllables: ShiYong -> Shi Yong.
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", anyascii(text))
