"""Keep secrets out of the book: a store with a secret in it is refused, an import has it redacted.

RE2 runs every rule in time linear in the text. It is loaded for the first text that has a keyword of a rule in it, or
once enough text was scanned that loading it pays, so a process with few writes never pays for it. After that much text,
one set of all keywords tells in a single pass which rules to run. Nothing here returns, prints or logs a secret: a
finding is the name of a rule and a position.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from commonplace.guard.secret_rules import CONTEXT_RULES, RULES
from commonplace.model.errors import SecretFound

NOT_A_SECRET = "commonplace:not-a-secret"  # noqa: S105 - marks a line as a false positive
_MARK = "[secret removed: "
_MARKS = rb"\[secret removed: [a-z0-9-]{1,40}\]"  # compiled when first used, by re itself
# A word starts after anything but a letter or digit, or after the end of an escape (\n, \u0022, %3D, a colour).
_WORD_START = r"(?:[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,8}m)\Z"
_INVISIBLE = (  # characters that show nothing, or only change how their neighbours show
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
_LOAD_AFTER = 20_000  # bytes in all: up to here, matching keywords one by one is cheaper than loading RE2
_SHORTEST_TOKEN = 16  # no token is shorter; only passwords are
_RESCAN_BELOW = 200  # a rejected value shorter than this is searched for another that starts inside
_SHOWN = 5
_PROBE = 8_192  # bytes: a NUL among them means that the file is not text


class SecretFinding(NamedTuple):
    """A secret in a text: the name of the rule and the position in characters."""

    rule: str
    start: int
    end: int


def find_secrets(text: str) -> list[SecretFinding]:
    """Return every secret in the text, in order and without overlaps."""
    found = _find_spans(text)
    if not text.isascii() and any(ch in text for ch in _INVISIBLE):
        # Both searches: text copied from a page may have an invisible character in a token, but one may also be all
        # that separates a token from a word. Positions are those in the given text: a redaction removes it, too.
        shown = _find_spans(text.translate(dict.fromkeys(map(ord, _INVISIBLE))))
        places = [at for at, character in enumerate(text) if character not in _INVISIBLE] if shown else []
        found += [(places[start], places[end - 1] + 1, rank) for start, end, rank in shown]
    return _merge_spans(found)


def find_unmarked(text: str) -> list[SecretFinding]:
    """Return the secrets whose line is not marked as a false positive."""
    found = find_secrets(text)
    if found and NOT_A_SECRET in text:
        found = [finding for finding in found if NOT_A_SECRET not in _lines_around(text, finding)]
    return found


def check_secrets(text: str) -> None:
    """Raise SecretFound for a text with a secret, unless its line is marked as a false positive."""
    found = find_unmarked(text)
    if found:
        places = []
        for rule, at, _ in found[:_SHOWN]:
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            places.append(f"{rule} (line {line}, column {column})")
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise SecretFound(f"The text contains what looks like a secret: {', '.join(places)}{more}. Nothing was stored.")


def check_data(data: bytes) -> None:
    """Raise SecretFound for a file with a secret, in any encoding.

    In a binary file only token formats count: context means nothing there, and a line cannot be marked.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        check_secrets(data.decode("utf-16", "replace"))
        return
    if data.count(0) * 3 >= len(data) > 0:  # UTF-16 without a byte order mark, or UTF-32
        data = data.replace(b"\0", b"")
    if b"\0" not in data[:_PROBE]:
        check_secrets(data.decode("utf-8", "replace"))
        return
    bytewise = _merge_spans(_find_spans(data.decode("latin-1")))
    found = next((finding for finding in bytewise if finding.rule not in CONTEXT_RULES), None)
    if found is not None:
        raise SecretFound(
            f"The file contains what looks like a secret: {found.rule} (byte {found.start}). It was not stored."
        )


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with every secret replaced by `[secret removed: RULE]`, and how many each rule found.

    Repeats until nothing is found, since the rest may read as a secret once its neighbour is gone. Every round leaves
    fewer characters outside the marks, so it ends.
    """
    counts: Counter[str] = Counter()
    while found := find_secrets(text):
        counts.update(finding.rule for finding in found)
        parts, at = [], 0
        for finding in found:
            parts += [text[at : finding.start], _MARK, finding.rule, "]"]
            at = finding.end
        text = "".join([*parts, text[at:]])
    return text, dict(counts)


def _find_spans(text: str) -> list[tuple[int, int, int]]:
    """Return start, end and rank of every secret that a rule finds; spans may overlap."""
    data = text.encode("ascii", "replace")  # one byte per character, so that positions are the same in both
    if _MARK in text:
        data = re.sub(_MARKS, lambda mark: b"\n" * len(mark.group()), data)
    return [(start, end, rank) for rank in _rules_to_try(data) for start, end in _matches(rank, text, data)]


def _matches(rank: int, text: str, data: bytes) -> Iterator[tuple[int, int]]:
    rule, pattern, at = RULES[rank], _compile_rule(rank), 0
    while match := pattern.search(data, at):
        start, end = next(span for group in range(1, pattern.groups + 1) if (span := match.span(group)) != (-1, -1))
        first = match.span()[0]
        lead = text[max(0, first - 24) : start]
        whole = start > first or not lead or re.search(_WORD_START, lead)
        if whole and rule.check(text[start:end], lead, text[end : end + 1]):
            yield start, end
            at = end
        else:
            at = max(start, first + 1) if end - start < _RESCAN_BELOW else end


def _merge_spans(found: list[tuple[int, int, int]]) -> list[SecretFinding]:
    """Return findings in which overlapping spans are one, named by the rule of highest rank."""
    joined: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(found):
        if joined and start < joined[-1][1]:
            first, last, best = joined.pop()
            joined.append((first, max(last, end), min(best, rank)))
        else:
            joined.append((start, end, rank))
    return [SecretFinding(RULES[rank].name, start, end) for start, end, rank in joined]


def _lines_around(text: str, finding: SecretFinding) -> str:
    last = text.find("\n", finding.end)
    return text[text.rfind("\n", 0, finding.start) + 1 : last if last >= 0 else len(text)]


# Which rules to try


_scanned = 0


def _rules_to_try(data: bytes) -> list[int]:
    """Return the ranks of the rules whose keywords are in the text."""
    global _scanned  # noqa: PLW0603 - bytes that this process has scanned
    _scanned += len(data)
    if _scanned <= _LOAD_AFTER:
        ranks = _match_keywords(data)
    else:
        ranks = {rank for at in _keyword_set().Match(data) or () for rank in _keywords()[at][2]}
    return sorted(rank for rank in ranks if RULES[rank].also.encode() in data)


def _match_keywords(data: bytes) -> set[int]:
    """Return the ranks of the rules with a keyword in the text, found without RE2."""
    small = data.lower()
    found: set[int] = set()
    for kind, word, ranks in _keywords():
        if re.search(word, data) if kind == "~" else word in (small if kind == "/" else data):
            found.update(ranks)
    if found and not any(len(run) >= _SHORTEST_TOKEN for run in data.split()):
        found = {rank for rank in found if RULES[rank].short}
    return found


@cache
def _keywords() -> list[tuple[str, bytes, list[int]]]:
    """Return each keyword with its kind (`/` any case, `~` an expression) and the ranks of the rules that have it."""
    ranks: dict[str, list[int]] = {}
    for rank, rule in enumerate(RULES):
        for word in rule.keywords.split(", "):
            ranks.setdefault(word, []).append(rank)
    return [(word[0], word.strip("/~").encode(), ranks[word]) for word in ranks]


@cache
def _load_re2() -> tuple[Any, Any]:
    """Return RE2 and the options to compile with."""
    import re2  # noqa: PLC0415 - 10 ms that most short processes save

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2, options


@cache
def _keyword_set() -> Any:
    """Return the set of all keywords, which finds in one pass those that a text has."""
    re2, options = _load_re2()
    lookup = re2.Set.SearchSet(options)
    for kind, word, _ in _keywords():
        pattern = word if kind == "~" else re2.escape(word)
        lookup.Add(b"(?i)" + pattern if kind == "/" else pattern)
    lookup.Compile()
    return lookup


@cache
def _compile_rule(rank: int) -> re.Pattern[bytes]:
    """Return the pattern of a rule: RE2's patterns have the methods of re's."""
    re2, options = _load_re2()
    compiled: re.Pattern[bytes] = re2.compile(RULES[rank].pattern.encode(), options)
    return compiled
