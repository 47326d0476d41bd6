"""Secrets stay out of the book: a store with one in it is refused, what is taken in from elsewhere loses it.

RE2 runs every rule in time linear in the text, whatever the text. It is loaded at the first text that has a keyword of
a rule in it, or once so much was looked at that loading it has paid, so a process of few writes never pays for it; from
then on one set of all keywords says in a single pass which rules to run. Nothing here ever returns, prints or logs a
secret: a finding is the rule's name and a place.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple, Protocol, cast

from commonplace.guard.secret_rules import CONTEXT_RULES, RULES
from commonplace.model.errors import SecretFound

NOT_A_SECRET = "commonplace:not-a-secret"  # noqa: S105 - what a caller writes on a line to say that it has none
_MARK = "[secret removed: "
_MARKS = rb"\[secret removed: [a-z0-9-]{1,40}\]"  # compiled when first used, by re itself
# Where a word starts: after no letter or digit, or after one that ends an escape (\n, \u0022, %3D, a colour).
_WORD_START = r"(?:[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,8}m)\Z"
_INVISIBLE = (  # shows nothing, or only says how its neighbours are shown
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
_LOAD_AFTER = 20_000  # characters in all: up to here, looking for keywords one by one costs less than loading RE2
_SHORTEST_TOKEN = 16  # no token is shorter; only passwords are
_RESCAN_BELOW = 200  # a rejected value shorter than this is looked into, for another one that starts inside
_SHOWN = 5
_PROBE = 8_192  # a NUL in so many bytes: not text


class SecretFinding(NamedTuple):
    rule: str
    start: int
    end: int


class _Match(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Pattern(Protocol):
    groups: int

    def search(self, text: bytes, pos: int | None = None) -> _Match | None: ...


def find_secrets(text: str) -> list[SecretFinding]:
    """Every secret in the text, in order, none overlapping another; places are characters of the text."""
    found = _find_spans(text)
    if not text.isascii() and any(ch in text for ch in _INVISIBLE):
        found += _find_spans_ignoring_invisible(
            text
        )  # besides: what does not show may also be all that parts a token from a word
    return _merge_spans(found)


def find_unmarked(text: str) -> list[SecretFinding]:
    """The same without those whose line says that it is none."""
    found = find_secrets(text)
    if found and NOT_A_SECRET in text:
        found = [finding for finding in found if NOT_A_SECRET not in _lines_around(text, finding)]
    return found


def check_secrets(text: str) -> None:
    """Refuse a text with a secret in it, unless the line says that it is none."""
    found = find_unmarked(text)
    if found:
        places = [f"{finding.rule} ({_describe_position(text, finding.start)})" for finding in found[:_SHOWN]]
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise SecretFound(f"The text has what looks like a secret: {', '.join(places)}{more}. Nothing was stored.")


def check_data(data: bytes) -> None:
    """Refuse a file with a secret in it, whatever its encoding. Of one that is no text only tokens count: what stands
    before and behind something says nothing there, and nobody could write into it that it is none."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        check_secrets(data.decode("utf-16", "replace"))
        return
    if data.count(0) * 3 >= len(data) > 0:  # the same without a mark, or four bytes for each character
        data = data.replace(b"\0", b"")
    if b"\0" not in data[:_PROBE]:
        check_secrets(data.decode("utf-8", "replace"))
        return
    bytewise = _merge_spans(_find_spans(data.decode("latin-1")))
    found = next((finding for finding in bytewise if finding.rule not in CONTEXT_RULES), None)
    if found is not None:
        raise SecretFound(
            f"The file has what looks like a secret: {found.rule} (byte {found.start}). It was not stored."
        )


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text with every secret replaced by `[secret removed: RULE]`, and how many of each rule there were.

    Repeated until nothing is found, since what is left may read as a secret once its neighbour is gone. Every round
    leaves fewer characters outside the marks, so there is a last one.
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
    """Start, end and rank of every secret that one of the rules finds."""
    data = text.encode("ascii", "replace")  # one byte for every character, so that places are the same in both
    if _MARK in text:
        data = re.sub(_MARKS, lambda mark: b"\n" * len(mark.group()), data)
    return [(start, end, rank) for rank in _rules_to_try(data) for start, end in _matches(rank, text, data)]


def _find_spans_ignoring_invisible(text: str) -> list[tuple[int, int, int]]:
    """The same of the text without what does not show, which a copy from a page or a chat may have in a token. Places
    are those in the text as given, so that what does not show goes with the token it is in."""
    from bisect import bisect_right  # noqa: PLC0415 - hardly ever: most texts have none of it

    pieces, starts, places, at, length = list[str](), list[int](), list[int](), 0, 0
    for gap in re.finditer(f"[{_INVISIBLE}]+|\\Z", text):
        pieces.append(text[at : gap.start()])
        starts.append(length)
        places.append(at)
        length += gap.start() - at
        at = gap.end()

    def place(seen: int) -> int:
        piece = bisect_right(starts, seen) - 1
        return places[piece] + seen - starts[piece]

    return [(place(start), place(end - 1) + 1, rank) for start, end, rank in _find_spans("".join(pieces))]


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
    """Findings that overlap become one, under the name of the rule of highest rank."""
    joined: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(found):
        if joined and start < joined[-1][1]:
            first, last, best = joined.pop()
            joined.append((first, max(last, end), min(best, rank)))
        else:
            joined.append((start, end, rank))
    return [SecretFinding(RULES[rank].name, start, end) for start, end, rank in joined]


def _describe_position(text: str, at: int) -> str:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return f"line {line}, column {column}"


def _lines_around(text: str, finding: SecretFinding) -> str:
    last = text.find("\n", finding.end)
    return text[text.rfind("\n", 0, finding.start) + 1 : last if last >= 0 else len(text)]


# Which rules to try


class _Keywords(NamedTuple):
    exact: dict[bytes, list[int]]
    any_case: dict[bytes, list[int]]
    patterns: dict[bytes, list[int]]


class _Engine(NamedTuple):
    compile: Callable[[str], _Pattern]
    words_in: Callable[[bytes], list[int] | None]
    ranks: list[list[int]]  # of each word of the set


_engine: _Engine | None = None
_scanned = 0


def _rules_to_try(data: bytes) -> list[int]:
    """The ranks of the rules whose words are in the text."""
    global _scanned  # noqa: PLW0603 - what this process has spent on going without RE2
    _scanned += len(data)
    if _engine is None and _scanned <= _LOAD_AFTER:
        ranks = _match_keywords(data)
    else:
        engine = _load_engine()
        ranks = {rank for word in engine.words_in(data) or () for rank in engine.ranks[word]}
    return sorted(rank for rank in ranks if all(word.encode() in data for word in RULES[rank].also))


def _match_keywords(data: bytes) -> set[int]:
    words, small = _keywords(), data.lower()
    lists = [ranks for word, ranks in words.exact.items() if word in data]
    lists += [ranks for word, ranks in words.any_case.items() if word in small]
    lists += [ranks for word, ranks in words.patterns.items() if re.search(word, data)]
    found = {rank for ranks in lists for rank in ranks}
    if found and not any(len(run) >= _SHORTEST_TOKEN for run in data.split()):
        found = {rank for rank in found if RULES[rank].short}
    return found


@cache
def _keywords() -> _Keywords:
    words = _Keywords({}, {}, {})
    for rank, rule in enumerate(RULES):
        for word in rule.keywords:
            kind = {"/": words.any_case, "~": words.patterns}.get(word[0], words.exact)
            kind.setdefault(word.strip("/~").encode(), []).append(rank)
    return words


def _load_engine() -> _Engine:
    global _engine  # noqa: PLW0603 - its absence is what tells the first call from the rest
    if _engine is None:
        import re2  # noqa: PLC0415 - 10 ms that most writes of a short-lived process need not pay

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        lookup, words = re2.Set.SearchSet(options), _keywords()
        for word in words.exact:
            lookup.Add(re2.escape(word))
        for word in words.any_case:
            lookup.Add(b"(?i)" + re2.escape(word))
        for word in words.patterns:
            lookup.Add(word)
        lookup.Compile()
        ranks = [*words.exact.values(), *words.any_case.values(), *words.patterns.values()]
        _engine = _Engine(lambda pattern: cast(_Pattern, re2.compile(pattern.encode(), options)), lookup.Match, ranks)
    return _engine


@cache
def _compile_rule(rank: int) -> _Pattern:
    return _load_engine().compile(RULES[rank].pattern)
