"""Scores: relevance first, everything else within bounds.

Relevance is between 0 and 1: how much of the question a candidate has, and how well the index ranks its words against
the best there is. Recency, use, nearness and trust move a score by at most a fifth of it together, so that a clearly
better match is never buried by a nearer, newer or more used one. What was superseded sinks below what was not.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from commonplace.index.port import Candidate, within
from commonplace.text.words import Terms, bare

FLOOR = 0.3  # of the question's words: with less in common, no answer is the better answer
_COVERAGE, _WORDS = 0.6, 0.4
_BY_PART = 0.8  # of a word with several parts, when some are missing
_ABOUT = 0.7  # what a key, a summary or a tag has in common counts less than the text
BOUNDS: Mapping[str, float] = {"recency": 0.06, "usage": 0.04, "nearness": 0.04, "trust": 0.06}
_HIGHEST = 1.0 + sum(BOUNDS.values())  # so that a score is never above 1
_SUPERSEDED = 0.25
_HALF_LIFE_DAYS = 120.0


class Scored(NamedTuple):
    candidate: Candidate
    score: float
    parts: Mapping[str, float]


Asked = Sequence[Mapping[str, re.Pattern[str] | None]]
"""Each word of a question as its parts, with what finds one at the beginning of a word; None where scripts have no
spaces."""


def asked_words(terms: Terms) -> Asked:
    return [
        {part: re.compile(rf"(?<![^\W_]){re.escape(part)}") if part.isascii() else None for part in word}
        for word in terms.words
    ]


def coverage(candidate: Candidate, asked: Asked) -> float:
    """How much of the question the candidate has, from 0 to 1."""
    if not asked:
        return 1.0
    entry, row = candidate.recorded.entry, candidate.row
    text = bare(entry.text)
    shares = [_share(text, word) for word in asked]
    if min(shares) < 1.0:
        labels = [candidate.name, entry.author or "", *entry.tags]
        about = bare(" ".join([*labels, row.summary, *row.tags] if row else labels))
        shares = [
            share if share == 1.0 else max(share, _ABOUT * _share(about, word))
            for share, word in zip(shares, asked, strict=True)
        ]
    return sum(shares) / len(asked)


def _share(text: str, word: Mapping[str, re.Pattern[str] | None]) -> float:
    """How much of a word a text has: an identifier may be there by part, but what has a number in it must be there.
    `ERR_2041` is not `ERR_9999`."""
    missing = [part for part, pattern in word.items() if not _has(text, part, pattern)]
    if not missing:
        return 1.0
    if any(not part.isalpha() for part in missing):
        return 0.0
    return _BY_PART * (1.0 - len(missing) / len(word))


def _has(text: str, part: str, pattern: re.Pattern[str] | None) -> bool:
    return part in text if pattern is None else pattern.search(text) is not None


def score(
    candidates: Sequence[Candidate],
    terms: Terms,
    *,
    folders: Sequence[str],
    uses: Mapping[str, int],
    now: str,
) -> list[Scored]:
    """Every candidate above the floor with its score and the parts of it, best first."""
    asked = asked_words(terms)
    best = max((candidate.score for candidate in candidates), default=0.0)
    scored = []
    for candidate in candidates:
        covered = coverage(candidate, asked)
        if covered < FLOOR:
            continue
        words = candidate.score / best if best > 0 else 0.0
        relevance = _COVERAGE * covered + _WORDS * words
        parts = {"coverage": covered, "words": words, "relevance": relevance}
        parts |= _adjustments(candidate, folders, uses, now)
        total = relevance * (1.0 + sum(parts[name] for name in BOUNDS)) / _HIGHEST
        if candidate.row is not None and candidate.row.status == "superseded":
            parts["superseded"] = _SUPERSEDED
            total *= _SUPERSEDED
        scored.append(Scored(candidate, total, parts))
    return sorted(scored, key=lambda item: (-item.score, item.candidate.folder, item.candidate.name, _id(item)))


def _id(item: Scored) -> str:
    return item.candidate.recorded.entry.id


def _adjustments(candidate: Candidate, folders: Sequence[str], uses: Mapping[str, int], now: str) -> dict[str, float]:
    entry = candidate.recorded.entry
    age = max(0.0, _days(now) - _days(entry.occurred or entry.time))
    used = uses.get(candidate.row.id, 0) if candidate.row is not None else 0
    near = next((place for place, folder in enumerate(folders) if within(candidate.folder, (folder,))), len(folders))
    return {
        "recency": BOUNDS["recency"] * 0.5 ** (age / _HALF_LIFE_DAYS),
        "usage": BOUNDS["usage"] * min(1.0, used / 10),
        "nearness": BOUNDS["nearness"] * (1.0 - near / max(1, len(folders))),
        "trust": {"human": 1.0, "agent": 0.5, "external": -1.0}[entry.trust.value] * BOUNDS["trust"],
    }


def _days(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp() / 86_400
    except ValueError:
        return 0.0
