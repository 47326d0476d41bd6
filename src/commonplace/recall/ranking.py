"""Scores: relevance first, everything else within bounds.

Relevance is between 0 and 1: how much of the question a candidate has, and how well the index ranks its words against
the best there is. Recency, use, nearness and trust move a score by at most a fifth of it together, so that a clearly
better match is never buried by a nearer, newer or more used one. What was superseded sinks below what was not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from commonplace.index.port import EntryCandidate, within
from commonplace.model.lazy import lazy
from commonplace.recall.fusion import (
    ANSWERED,
    CONVERSATION,
    LONE,
    LONE_FOREIGN,
    WORDS_ONLY,
    has_number,
    has_time,
    is_short_question,
    weighed,
)
from commonplace.recall.query import ENOUGH, ParsedQuery, share_of
from commonplace.text.words import append_numbers, normalize_words, significant_stems

NEAR = 0.3  # cosine: as near as this, a text answers without a word in common
_NEAR_BESIDE_WORDS, _NEAR_UNSURE, _NEAR_FOREIGN, _NEVER = 0.5, 0.6, 0.7, 2.0
_HAS_THE_WORDS, _HAS_ALL_BUT_ONE = 0.6, 0.75  # coverage, in a conversation and of a lone note
_BEYOND_LATIN = "\u0370"
_ABOUT_IT = 0.2  # coverage or cosine, in a conversation
FLOOR = 0.4  # of the question's words: with less in common, no answer is the better answer
ANSWER, ANSWER_UNSURE, ANSWER_FOREIGN = 0.40, 0.49, 0.36  # of a lone note: the best has to be as good as that
_BESIDE = 0.4  # of the best: as good as that, another is shown beside it
_LONE_WORDS: Mapping[str, float] = {"coverage": 0.6, "words": 0.4, "when": WORDS_ONLY["when"]}
_BY_PART = 0.8  # of a word with several parts, when some are missing
_ABOUT = 0.7  # what a key, a summary or a tag has in common counts less than the text
BOUNDS: Mapping[str, float] = {"recency": 0.06, "usage": 0.04, "nearness": 0.04, "trust": 0.06}
_TRUSTED: Mapping[str, float] = {"human": 1.0, "agent": 0.5, "external": -1.0}
MARKS = ("superseded", "corrects", "named", "copy")
_ROUNDING = 1e-9
_HIGHEST = 1.0 + sum(BOUNDS.values())  # so that a score is never above 1
_SUPERSEDED = 0.25
_COMPARED_COPIES = 40
_COPIED = 0.68  # of the telling words of two texts: with two thirds, corrections would be taken for copies
# Little words in which copies are the same: after lunch is not before it, and plan B is not plan C.
_TURNING = lazy(r"\b(?:[B-HJ-Z]|(?i:before|after|until|over|under|up|down|off|out|more|most|only))\b")
_HALF_LIFE_DAYS = 120.0


class Scored(NamedTuple):
    candidate: EntryCandidate
    score: float
    parts: Mapping[str, float]
    weights: Mapping[str, float] = {}  # of the parts that make the relevance
    whole: float = 1.0  # what their sum is divided by


def coverage(candidate: EntryCandidate, asked: Sequence[Sequence[str]]) -> float:
    """How much of the question the candidate has, from 0 to 1."""
    if not asked:
        return 1.0
    text = normalize_words(append_numbers(candidate.recorded.entry.text))
    shares = [_share(text, word) for word in asked]
    if min(shares) < 1.0:
        about = normalize_words(append_numbers(_about(candidate)))
        shares = [
            share if share == 1.0 else max(share, _ABOUT * _share(about, word))
            for share, word in zip(shares, asked, strict=True)
        ]
    return sum(shares) / len(asked)


def _about(candidate: EntryCandidate) -> str:
    """What stands beside a note's text: its key, author, tags, and its summary if that says more."""
    entry, row = candidate.recorded.entry, candidate.row
    labels = [candidate.name, entry.author or "", *entry.tags]
    if row is not None:
        labels += row.tags
        if not entry.text.startswith(row.summary.removesuffix("…").rstrip()):  # else it says nothing more
            labels.append(row.summary)
    return " ".join(labels)


def _share(text: str, word: Sequence[str]) -> float:
    """How much of a word a text has: an identifier may be there by part, but what has a number in it must be there.
    `ERR_2041` is not `ERR_9999`."""
    if len(word) == 1:
        return float(_has(text, word[0]))
    missing = [part for part in dict.fromkeys(word) if not _has(text, part)]
    if not missing:
        numbers = _numbers(tuple(word))
        return float(numbers is None or numbers.search(text) is not None)
    if any(not part.isalpha() for part in missing):
        return 0.0
    return _BY_PART * (1.0 - len(missing) / len(dict.fromkeys(word)))


@lru_cache(maxsize=64)
def _numbers(word: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds the numbers of a version or an address, which stand in one order: 2.3.1 is not 1.3.2."""
    runs = [list(run) for short, run in groupby(word, lambda part: len(part) < 4 and not part.isalpha()) if short]
    run = max(runs, key=len, default=[])
    return re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, run))) if len(run) > 1 else None


def _has(text: str, part: str) -> bool:
    """Whether a word of the text begins so; where scripts have no spaces, whether it is there at all."""
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and part.isascii():
        at = text.find(part, at + 1)
    return at >= 0


def score(
    candidates: Sequence[EntryCandidate],
    parts: Mapping[int, Mapping[str, float]],
    asked: ParsedQuery,
    *,
    folders: Sequence[str],
    uses: Mapping[str, int],
    now: str,
    meaning: bool,
    spelled: bool = False,
    floor: bool = True,
) -> list[Scored]:
    """Every candidate above the floor with its score and the parts of it, best first. Where the question is only
    spelled to the embedder, its words say whether a lone note answers."""
    words = [tuple(dict.fromkeys(word)) for word in asked.terms.words]
    covered = {
        item.no: coverage(item, (asked.talk if item.recorded.entry.thread else asked).terms.words)
        for item in candidates
    }
    near = near_enough(asked.talk, max(covered.values(), default=0.0))
    good = {no for no in covered if covered[no] >= FLOOR or parts[no].get("cosine", -1.0) >= near}
    if meaning:
        lone = {item.no: item for item in candidates if item.recorded.entry.thread is None}
        good -= lone.keys()
        good |= _worded(lone.values(), words) if spelled else _answering(lone, parts, covered, asked)
    # What was said around it speaks for an entry of a conversation, if only something there is about it at all.
    about = {no for no in covered if covered[no] >= _ABOUT_IT or parts[no].get("cosine", -1.0) >= _ABOUT_IT}
    talked = any(candidate.recorded.entry.thread is not None for candidate in candidates if candidate.no in about)
    scored, foreign, today = [], is_foreign(asked), _days(now)
    nearness = {folder: _nearness(folder, folders) for folder in {candidate.folder for candidate in candidates}}
    for candidate in candidates:
        if floor and candidate.no not in good and not (talked and candidate.recorded.entry.thread is not None):
            continue
        known = {**parts[candidate.no], "coverage": covered[candidate.no]}
        known |= _close_parts(candidate, asked)
        value, weights, whole = _relevance(candidate, known, meaning, foreign)
        relevance = min(1.0, max(0.0, value))
        adjustments = _adjustments(candidate, nearness[candidate.folder], uses, today)
        known |= {"relevance": relevance, **adjustments}
        total = relevance * (1.0 + sum(adjustments.values())) / _HIGHEST
        if candidate.status == "superseded":
            known["superseded"] = _SUPERSEDED
            total *= _SUPERSEDED
        scored.append(Scored(candidate, total, known, weights, whole))
    return sorted(scored, key=lambda item: (-item.score, item.candidate.folder, item.candidate.name, _id(item)))


def explained(item: Scored) -> dict[str, float]:
    """What a score is made of, and why the hit stands where it does: what each part adds to the relevance, that, the
    share by which each of the others moves it, and marks of 1 for a hit that another rule put earlier or later."""
    parts = item.parts
    if not parts:
        return {}
    made = {name: weight * parts[name] / item.whole for name, weight in item.weights.items() if parts.get(name)}
    beyond = parts["relevance"] - sum(made.values())
    made |= {"bound": beyond} if abs(beyond) > _ROUNDING else {}
    return made | {name: parts[name] for name in ("relevance", *BOUNDS, *MARKS) if name in parts}


def apart(scored: Sequence[Scored], wanted: int) -> list[Scored]:
    """The same order, but what says nearly the same as something above it comes after all that does not: as far as the
    first few that are wanted go."""
    order: list[Scored] = []
    copies: list[Scored] = []
    said: list[tuple[str, frozenset[str]]] = []
    for item in scored[:_COMPARED_COPIES]:
        if len(order) == wanted:
            break
        text = item.candidate.recorded.entry.text
        words = frozenset(significant_stems(text))
        if any(_is_copy(text, words, *other) for other in said):
            copies.append(item._replace(parts={**item.parts, "copy": 1.0}))
        else:
            order.append(item)
            said.append((text, words))
    return [*order, *copies, *scored[len(order) + len(copies) :]]


def _is_copy(text: str, words: frozenset[str], other: str, others: frozenset[str]) -> bool:
    """Whether two texts have nearly the same telling words, and say the same: room 3 is not room 5, nor is a note the
    copy of what it corrects."""
    shared = len(words & others)
    if shared < _COPIED * (len(words) + len(others) - shared):
        return False
    from commonplace.recall.duplicates import CONTRADICTS, SAME, compare  # noqa: PLC0415 - two are seldom so much alike

    if {*map(str.upper, _TURNING.findall(text))} != {*map(str.upper, _TURNING.findall(other))}:
        return False
    relation = compare(text, other).relation
    return relation == SAME or (words == others and relation != CONTRADICTS)


def near_enough(asked: ParsedQuery, best_coverage: float) -> float:
    """The cosine from which on an entry of a conversation may answer without the words of the question.

    Where another has the words, or the question has what must be there as it is written (a number, an identifier) or a
    script that the tables of meaning hardly know, nearness has to say more.
    """
    if is_written(asked):
        return _NEVER
    if not asked.text.isascii():
        return _NEAR_FOREIGN
    if _has_written(asked):
        return _NEAR_UNSURE
    return _NEAR_BESIDE_WORDS if best_coverage >= _HAS_THE_WORDS else NEAR


def good_enough(asked: ParsedQuery) -> float:
    """How good the best lone note has to be, that there is an answer at all."""
    if asked.terms.all_of:
        return 0.0
    if is_foreign(asked):
        return ANSWER_FOREIGN
    return ANSWER_UNSURE if _has_written(asked) else ANSWER


def is_foreign(asked: ParsedQuery) -> bool:
    """Whether the question has letters of which the tables of meaning know little more than their shapes."""
    return any(ch.isalpha() and ch >= _BEYOND_LATIN for ch in asked.text)


def _has_written(asked: ParsedQuery) -> bool:
    """Whether the question has what must be there as it is written: a number, an identifier."""
    return any(not part.isalpha() for word in asked.terms.words for part in word)


def is_written(asked: ParsedQuery) -> bool:
    """Whether it has nothing else: then only what has it answers."""
    return all(any(not part.isalpha() for part in word) for word in asked.terms.words)


def _close_parts(candidate: EntryCandidate, asked: ParsedQuery) -> dict[str, float]:
    """What only the text itself and its author tell."""
    entry = candidate.recorded.entry
    speaks = entry.author is not None and (
        entry.author in asked.authors or (asked.first_person and not asked.authors and entry.author == "human")
    )
    fits = (asked.wants_time and has_time(entry.text)) or (asked.wants_number and has_number(entry.text))
    return {
        "author": float(speaks),
        "question": float(is_short_question(entry.text)),
        "answer_type": float(fits),
        "when": float(asked.span is not None and asked.span.has(entry.occurred or entry.time)),
    }


def _relevance(
    candidate: EntryCandidate, parts: Mapping[str, float], meaning: bool, foreign: bool
) -> tuple[float, Mapping[str, float], float]:
    """How well a candidate answers; the weights of what that is made of, and what the sum was divided by."""
    if candidate.recorded.entry.thread is not None:
        weights = CONVERSATION if meaning and "cosine" in parts else WORDS_ONLY
        whole = sum(weight for weight in weights.values() if weight > 0)
        return weighed(parts, weights) / whole, weights, whole
    if not meaning:
        return weighed(parts, _LONE_WORDS), _LONE_WORDS, 1.0
    weights = LONE_FOREIGN if foreign else LONE
    whole = 1.0 if "cosine" in parts else 1.0 - weights["cosine"]
    return _alone(parts, weights), weights if weighed(parts, weights) else {"coverage": _ABOUT_IT}, whole


def _alone(parts: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """How well a lone note answers. One without a vector is judged by its words: that it has none says nothing. Where
    the table knows nothing of them either, it still counts that they are there."""
    known = weighed(parts, weights) or _ABOUT_IT * parts["coverage"]
    return known if "cosine" in parts else known / (1.0 - weights["cosine"])


def _answering(
    lone: Collection[int], parts: Mapping[int, Mapping[str, float]], covered: Mapping[int, float], asked: ParsedQuery
) -> set[int]:
    """The lone notes that may be shown: those that have the words; and, unless the best of all says too little, those
    that come near it."""
    if is_written(asked):
        return {no for no in lone if covered[no] >= FLOOR}
    foreign = is_foreign(asked)
    weights, enough = (LONE_FOREIGN, _ABOUT_IT) if foreign else (LONE, _HAS_ALL_BUT_ONE)
    value = {no: _alone({**parts[no], "coverage": covered[no]}, weights) for no in lone}
    worded = {no for no in lone if covered[no] >= enough}
    best = max(value.values(), default=0.0)
    together = max((parts[no].get("together", 0.0) for no in lone), default=0.0)
    sure = best if foreign else weighed({"best": best, "together": together}, ANSWERED)
    if sure < good_enough(asked):
        return worded
    least = _BESIDE * best
    return worded | {no for no in lone if value[no] >= least}


def _worded(lone: Iterable[EntryCandidate], words: Sequence[Sequence[str]]) -> set[int]:
    texts = {item.no: f"{item.recorded.entry.text} {_about(item)}" for item in lone}
    return {no for no, text in texts.items() if share_of(text, words) >= ENOUGH}


def _id(item: Scored) -> str:
    return item.candidate.recorded.entry.id


def _nearness(folder: str, folders: Sequence[str]) -> float:
    """1 in the nearest of the asked scopes, 0 in none."""
    near = next((place for place, asked in enumerate(folders) if within(folder, (asked,))), len(folders))
    return 1.0 - near / max(1, len(folders))


def _adjustments(candidate: EntryCandidate, nearness: float, uses: Mapping[str, int], today: float) -> dict[str, float]:
    entry = candidate.recorded.entry
    age = max(0.0, today - _days(entry.occurred or entry.time))
    used = uses.get(candidate.row.id, 0) if candidate.row is not None else 0
    return {
        "recency": BOUNDS["recency"] * 0.5 ** (age / _HALF_LIFE_DAYS),
        "usage": BOUNDS["usage"] * min(1.0, used / 10),
        "nearness": BOUNDS["nearness"] * nearness,
        "trust": _TRUSTED[entry.trust.value] * BOUNDS["trust"],
    }


def _days(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp() / 86_400
    except ValueError:
        return 0.0
