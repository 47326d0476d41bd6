"""Score candidates: relevance first, and small adjustments within fixed bounds.

Relevance is from 0 to 1: how much of the question a candidate has, and how well it ranks by words and vectors. Recency,
use, nearness of scope and trust change a score by at most a fifth together, so a clearly better match is never buried
by a newer or more used one. A superseded entry ranks below the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from commonplace.index.port import EntryCandidate
from commonplace.model.lazy import lazy
from commonplace.recall.candidates import (
    ANSWERED,
    CONVERSATION,
    LONE,
    LONE_FOREIGN,
    find_stems,
    get_memory_id,
    get_time,
    sum_weighted,
)
from commonplace.recall.query import MIN_LETTER_SHARE, ParsedQuery, measure_letter_share
from commonplace.text.words import append_numbers, normalize_words

_QUESTION_END = lazy(r"\?[\s\"'”’)]*\Z")
_MAX_QUESTION_WORDS = 25  # words: a longer text with a question mark at its end also says something
MIN_COSINE = 0.3  # from here on, an entry of a conversation answers without a word in common
_MIN_COSINE_BESIDE_WORDS, _MIN_COSINE_LITERAL, _MIN_COSINE_FOREIGN, _UNREACHABLE_COSINE = 0.5, 0.6, 0.7, 2.0
_MOST_WORDS, _ALL_BUT_ONE_WORD = 0.6, 0.75  # coverage, in a conversation and of a lone note
_FIRST_NON_LATIN = "\u0370"
_MIN_RELATED = 0.2  # coverage or cosine, in a conversation
MIN_COVERAGE = 0.4  # of the question's words: with fewer in common, no answer is better than this one
MIN_ANSWER, MIN_ANSWER_LITERAL, MIN_ANSWER_FOREIGN = 0.40, 0.49, 0.36  # of the best lone note
_MIN_SHARE_OF_BEST = 0.4  # of the best lone note's value: from here on, another is shown beside it
_LONE_WORDS = {"coverage": 0.6, "words": 0.4, "when": LONE["when"]}
_PARTIAL_WORD = 0.8  # at most, of a word with several parts of which some are missing
_LABEL_FACTOR = 0.7  # a word in the key, the summary or a tag counts less than one in the text
ADJUSTMENT_BOUNDS = {"recency": 0.06, "usage": 0.04, "nearness": 0.04, "trust": 0.06}
_TRUST_SIGNS = {"human": 1.0, "agent": 0.5, "external": -1.0}
ORDER_MARKS = ("superseded", "corrects", "named", "copy")
_ROUNDING = 1e-9
_MAX_FACTOR = 1.0 + sum(ADJUSTMENT_BOUNDS.values())  # so that a score is never above 1
_SUPERSEDED_FACTOR = 0.25
_MAX_COPY_CHECKS = 40
_MIN_COPY_SHARE = 0.68  # of the telling words of two texts: with two thirds, corrections would be taken for copies
# Copies have the same of these little words: after lunch is not before it, and plan B is not plan C.
_DISTINCTION = lazy(r"\b(?:[B-HJ-Z]|(?i:before|after|until|over|under|up|down|off|out|more|most|only))\b")
_HALF_LIFE_DAYS = 120.0


class ScoredCandidate(NamedTuple):
    """A candidate with its score, and the parts and weights that explain it."""

    candidate: EntryCandidate
    score: float
    parts: Mapping[str, float]
    weights: Mapping[str, float] = {}  # of the parts of the relevance
    divisor: float = 1.0  # of the weighted sum


def measure_coverage(candidate: EntryCandidate, words: Sequence[Sequence[str]]) -> float:
    """Return how much of the question's words a candidate has, from 0 to 1."""
    if not words:
        return 1.0
    text = normalize_words(append_numbers(candidate.recorded.entry.text))
    shares = [_measure_share(text, word) for word in words]
    if min(shares) < 1.0:
        about = normalize_words(append_numbers(_join_labels(candidate)))
        shares = [
            share if share == 1.0 else max(share, _LABEL_FACTOR * _measure_share(about, word))
            for share, word in zip(shares, words, strict=True)
        ]
    return sum(shares) / len(words)


def _join_labels(candidate: EntryCandidate) -> str:
    """Return the text beside a note's own: its key, author and tags, and its summary if that says more."""
    entry, row = candidate.recorded.entry, candidate.row
    labels = [candidate.name, entry.author or "", *entry.tags]
    if row is not None:
        labels += row.tags
        if not entry.text.startswith(row.summary.removesuffix("…").rstrip()):  # else it says nothing more
            labels.append(row.summary)
    return " ".join(labels)


def _measure_share(text: str, word: Sequence[str]) -> float:
    """Return how much of a word a text has, from 0 to 1.

    An identifier may be there in part, but a part with a digit must be there: `ERR_2041` is not `ERR_9999`.
    """
    if len(word) == 1:
        return float(_has_word_start(text, word[0]))
    missing = [part for part in dict.fromkeys(word) if not _has_word_start(text, part)]
    if not missing:
        numbers = _compile_numbers(tuple(word))
        return float(numbers is None or numbers.search(text) is not None)
    if any(not part.isalpha() for part in missing):
        return 0.0
    return _PARTIAL_WORD * (1.0 - len(missing) / len(dict.fromkeys(word)))


@lru_cache(maxsize=64)
def _compile_numbers(word: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a pattern for the numbers of a version or an address in their order: 2.3.1 is not 1.3.2."""
    runs = [list(run) for short, run in groupby(word, lambda part: len(part) < 4 and not part.isalpha()) if short]
    run = max(runs, key=len, default=[])
    return re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, run))) if len(run) > 1 else None


def _has_word_start(text: str, part: str) -> bool:
    """Return whether a word of the text begins with `part`; in scripts without spaces, whether it occurs at all."""
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and part.isascii():
        at = text.find(part, at + 1)
    return at >= 0


def score_candidates(
    candidates: Sequence[EntryCandidate],
    parts: Mapping[int, Mapping[str, float]],
    parsed: ParsedQuery,
    *,
    folders: Sequence[str],
    uses: Mapping[str, int],
    now: str,
    has_vectors: bool,
    is_unfamiliar: bool = False,
    floor: bool = True,
) -> list[ScoredCandidate]:
    """Return the candidates that answer the question, with their scores and parts, best first.

    With `is_unfamiliar`, the embedder knows only the letters of the question: then its words decide whether a lone note
    answers. Without `floor`, candidates that do not answer are scored too.
    """
    words, talk_words = parsed.terms.words, parsed.for_conversations.terms.words
    covered = {
        item.no: measure_coverage(item, talk_words if item.recorded.entry.thread else words) for item in candidates
    }
    near = choose_min_cosine(parsed.for_conversations, max(covered.values(), default=0.0))
    good = {no for no in covered if covered[no] >= MIN_COVERAGE or parts[no].get("cosine", -1.0) >= near}
    lone = {item.no: item for item in candidates if item.recorded.entry.thread is None}
    if has_vectors:
        good -= lone.keys()
        if is_unfamiliar:
            good |= {no for no, item in lone.items() if _measure_letters(item, words) >= MIN_LETTER_SHARE}
        else:
            good |= _find_answers(lone, parts, covered, parsed)
    # An entry of a conversation may answer through its neighbours, if anything in there is related to the question.
    talk = covered.keys() - lone.keys()
    if any(max(covered[no], parts[no].get("cosine", -1.0)) >= _MIN_RELATED for no in talk):
        good |= talk
    scored, is_foreign, today = [], has_non_latin_letters(parsed), _count_days(now)
    nearness = {folder: _compute_nearness(folder, folders) for folder in {item.folder for item in candidates}}
    for candidate in candidates:
        if floor and candidate.no not in good:
            continue
        known = {**parts[candidate.no], "coverage": covered[candidate.no]}
        known |= _compute_text_parts(candidate, parsed)
        value, weights, divisor = _compute_relevance(candidate, known, has_vectors, is_foreign)
        relevance = min(1.0, max(0.0, value))
        adjustments = _compute_adjustments(candidate, nearness[candidate.folder], uses, today)
        known |= {"relevance": relevance, **adjustments}
        total = relevance * (1.0 + sum(adjustments.values())) / _MAX_FACTOR
        if candidate.status == "superseded":
            known["superseded"] = _SUPERSEDED_FACTOR
            total *= _SUPERSEDED_FACTOR
        scored.append(ScoredCandidate(candidate, total, known, weights, divisor))
    return sorted(scored, key=_make_score_key)


def _make_score_key(item: ScoredCandidate) -> tuple[float, str, str, str]:
    """Return the key that sorts hits best first, and always in the same order."""
    return -item.score, item.candidate.folder, item.candidate.name, item.candidate.recorded.entry.id


def explain_score(item: ScoredCandidate) -> dict[str, float]:
    """Return what a score is made of, for `--explain`.

    That is what each part adds to the relevance, the relevance, the share by which each adjustment changes it, and a
    mark of 1 for each rule that moved the hit up or down.
    """
    parts = item.parts
    if not parts:
        return {}
    made = {name: weight * parts[name] / item.divisor for name, weight in item.weights.items() if parts.get(name)}
    beyond = parts["relevance"] - sum(made.values())
    made |= {"bound": beyond} if abs(beyond) > _ROUNDING else {}
    return made | {name: parts[name] for name in ("relevance", *ADJUSTMENT_BOUNDS, *ORDER_MARKS) if name in parts}


def put_copies_last(scored: Sequence[ScoredCandidate], wanted: int) -> list[ScoredCandidate]:
    """Return the hits in their order, but near copies of a hit after the first `wanted` distinct ones."""
    order: list[ScoredCandidate] = []
    copies: list[ScoredCandidate] = []
    for item in scored[:_MAX_COPY_CHECKS]:
        if len(order) == wanted:
            break
        text = item.candidate.recorded.entry.text
        if any(_is_copy(text, other.candidate.recorded.entry.text) for other in order):
            copies.append(item._replace(parts={**item.parts, "copy": 1.0}))
        else:
            order.append(item)
    return [*order, *copies, *scored[len(order) + len(copies) :]]


def _is_copy(text: str, other: str) -> bool:
    """Return whether two texts have nearly the same telling words and say the same.

    Room 3 is not room 5, and a note is not a copy of what it corrects.
    """
    words, others = find_stems(text), find_stems(other)
    shared = len(words & others)
    if shared < _MIN_COPY_SHARE * (len(words) + len(others) - shared):
        return False
    from commonplace.recall.duplicates import CONTRADICTS, SAME, compare_texts  # noqa: PLC0415 - two are seldom so much alike

    if {*map(str.upper, _DISTINCTION.findall(text))} != {*map(str.upper, _DISTINCTION.findall(other))}:
        return False
    relation = compare_texts(text, other).relation
    return relation == SAME or (words == others and relation != CONTRADICTS)


def choose_min_cosine(parsed: ParsedQuery, best_coverage: float) -> float:
    """Return the cosine from which an entry of a conversation may answer without the words of the question.

    It is higher where another entry has the words, and where the question has a number, an identifier or a script that
    the static table hardly knows.
    """
    if is_all_literals(parsed):
        return _UNREACHABLE_COSINE
    if not parsed.text.isascii():
        return _MIN_COSINE_FOREIGN
    if _has_literal(parsed):
        return _MIN_COSINE_LITERAL
    return _MIN_COSINE_BESIDE_WORDS if best_coverage >= _MOST_WORDS else MIN_COSINE


def choose_min_answer(parsed: ParsedQuery) -> float:
    """Return how good the best lone note has to be for there to be an answer at all."""
    if parsed.terms.all_of:
        return 0.0
    if has_non_latin_letters(parsed):
        return MIN_ANSWER_FOREIGN
    return MIN_ANSWER_LITERAL if _has_literal(parsed) else MIN_ANSWER


def has_non_latin_letters(parsed: ParsedQuery) -> bool:
    """Return whether the question has letters beyond Latin, of which the static table knows little."""
    return any(ch.isalpha() and ch >= _FIRST_NON_LATIN for ch in parsed.text)


def _has_literal(parsed: ParsedQuery) -> bool:
    """Return whether the question has a number or an identifier, which must occur as it is written."""
    return any(not part.isalpha() for word in parsed.terms.words for part in word)


def is_all_literals(parsed: ParsedQuery) -> bool:
    """Return whether the question has only numbers and identifiers: then only entries that have them answer."""
    return all(any(not part.isalpha() for part in word) for word in parsed.terms.words)


def _compute_text_parts(candidate: EntryCandidate, parsed: ParsedQuery) -> dict[str, float]:
    """Return the parts of a score that come from the entry's text and time."""
    entry = candidate.recorded.entry
    ends_in_question = "?" in entry.text and _QUESTION_END.search(entry.text) is not None
    return {
        "question": float(ends_in_question and len(entry.text.split()) <= _MAX_QUESTION_WORDS),
        "when": float(parsed.span is not None and parsed.span.contains(get_time(candidate))),
    }


def _compute_relevance(
    candidate: EntryCandidate, parts: Mapping[str, float], has_vectors: bool, is_foreign: bool
) -> tuple[float, Mapping[str, float], float]:
    """Return a candidate's relevance, the weights of its parts, and the divisor of their sum."""
    if candidate.recorded.entry.thread is not None:
        divisor = sum(weight for weight in CONVERSATION.values() if weight > 0)
        return sum_weighted(parts, CONVERSATION) / divisor, CONVERSATION, divisor
    if not has_vectors:
        return sum_weighted(parts, _LONE_WORDS), _LONE_WORDS, 1.0
    return _score_lone_note(parts, LONE_FOREIGN if is_foreign else LONE)


def _score_lone_note(
    parts: Mapping[str, float], weights: Mapping[str, float]
) -> tuple[float, Mapping[str, float], float]:
    """Return how well a lone note answers, with the weights and the divisor of that.

    A note without a vector is scored by its words alone. If the table knows none of them either, their being there
    still counts a little.
    """
    divisor = 1.0 if "cosine" in parts else 1.0 - weights["cosine"]
    known = sum_weighted(parts, weights)
    if known:
        return known / divisor, weights, divisor
    return _MIN_RELATED * parts["coverage"] / divisor, {"coverage": _MIN_RELATED}, divisor


def _find_answers(
    lone: Collection[int], parts: Mapping[int, Mapping[str, float]], covered: Mapping[int, float], parsed: ParsedQuery
) -> set[int]:
    """Return the numbers of the lone notes that may be shown: those with the words of the question, and, if the best of
    all is good enough, those that come near it.
    """
    if is_all_literals(parsed):
        return {no for no in lone if covered[no] >= MIN_COVERAGE}
    is_foreign = has_non_latin_letters(parsed)
    weights, enough = (LONE_FOREIGN, _MIN_RELATED) if is_foreign else (LONE, _ALL_BUT_ONE_WORD)
    value = {no: _score_lone_note({**parts[no], "coverage": covered[no]}, weights)[0] for no in lone}
    having_words = {no for no in lone if covered[no] >= enough}
    best = max(value.values(), default=0.0)
    together = max((parts[no].get("together", 0.0) for no in lone), default=0.0)
    sure = best if is_foreign else sum_weighted({"best": best, "together": together}, ANSWERED)
    if sure < choose_min_answer(parsed):
        return having_words
    min_value = _MIN_SHARE_OF_BEST * best
    return having_words | {no for no in lone if value[no] >= min_value}


def _measure_letters(candidate: EntryCandidate, words: Sequence[Sequence[str]]) -> float:
    """Return how much of the question's words a note has by their letters, from 0 to 1."""
    return measure_letter_share(f"{candidate.recorded.entry.text} {_join_labels(candidate)}", words)


def _compute_nearness(folder: str, folders: Sequence[str]) -> float:
    """Return 1 for the nearest of the question's scopes, less for the next ones, 0 for none of them."""
    near = next((at for at, asked in enumerate(folders) if f"{folder}/".startswith(f"{asked}/")), len(folders))
    return 1.0 - near / max(1, len(folders))


def _compute_adjustments(
    candidate: EntryCandidate, nearness: float, uses: Mapping[str, int], today: float
) -> dict[str, float]:
    """Return the share by which recency, use, nearness and trust change a score."""
    age = max(0.0, today - _count_days(get_time(candidate)))
    return {
        "recency": ADJUSTMENT_BOUNDS["recency"] * 0.5 ** (age / _HALF_LIFE_DAYS),
        "usage": ADJUSTMENT_BOUNDS["usage"] * min(1.0, uses.get(get_memory_id(candidate), 0) / 10),
        "nearness": ADJUSTMENT_BOUNDS["nearness"] * nearness,
        "trust": _TRUST_SIGNS[candidate.recorded.entry.trust.value] * ADJUSTMENT_BOUNDS["trust"],
    }


def _count_days(stamp: str) -> float:
    """Return a timestamp as days since 1970; 0 if it cannot be read."""
    try:
        return datetime.fromisoformat(stamp).timestamp() / 86_400
    except ValueError:
        return 0.0
