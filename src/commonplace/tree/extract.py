"""Choose the sentences of units that a summary keeps: verbatim, each with its unit, in order of time.

`settle` makes the text of every node of the tree with it. A sentence scores by what it says: words of its thread's
title and of the centre of its thread, names and numbers, a decision, a promise or a question. What was taken already
counts less, so does what was not admitted. Courtesies, code and logs win no place. The same input gives the same
extract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace
from math import log
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import DENSE_RUN, STOP_WORDS, estimate_tokens
from commonplace.tree.courtesy import is_courtesy
from commonplace.tree.cues import Cues, find_cues
from commonplace.tree.sentences import split_sentences, strip_marks

_WORD = lazy(r"[^\W_]+")
_STEM = 6  # letters of a word that count: most endings come later
_MIN_WORDS, _MAX_TOKENS = 4, 90  # of a sentence
_MIN_LETTERS = 0.6  # of the signs that are no spaces


class Passage(NamedTuple):
    """A text to take sentences from, and what is known of it."""

    unit: str
    thread: str
    title: str
    author: str
    occurred: str
    text: str
    is_admitted: bool = True


class Extracted(NamedTuple):
    """A sentence of a passage, word for word but for white space."""

    passage: Passage
    text: str


class _Sentence(NamedTuple):
    passage: int
    at: int  # in its passage
    text: str
    stems: frozenset[str]
    base: float
    tokens: int


def extract(passages: Sequence[Passage], most_tokens: int = 5_000, share: float = 0.15) -> list[Extracted]:
    """Return the sentences that say most, in order of time.

    They have at most `most_tokens`, and at most that share of the tokens of the passages; or they are a single
    sentence, if that is shorter than the passages.
    """
    total = sum(estimate_tokens(passage.text) for passage in passages)
    limit = min(most_tokens, int(total * share))
    sentences = _find_sentences(passages)
    taken = _choose(sentences, limit)
    if not taken:
        shorter = [one for one in sentences if one.tokens < total and one.tokens <= most_tokens]
        taken = sorted(shorter, key=lambda one: (-one.base, one.tokens, one.passage, one.at))[:1]
    taken.sort(key=lambda one: (passages[one.passage].occurred, one.passage, one.at))
    return [Extracted(passages[one.passage], one.text) for one in taken]


def _find_sentences(passages: Sequence[Passage]) -> list[_Sentence]:
    split = [[strip_marks(sentence) for sentence in split_sentences(passage.text)] for passage in passages]
    stems = [[_find_stems(sentence) for sentence in sentences] for sentences in split]
    weights = _weigh_stems(stems)
    centres = _find_centres(passages, stems, weights)
    found: list[_Sentence] = []
    for number, passage in enumerate(passages):
        title = _find_stems(passage.title)
        lead = 0.3
        for at, (text, own) in enumerate(zip(split[number], stems[number], strict=True)):
            if not _is_telling(text, own):
                continue
            tokens = estimate_tokens(text)
            if tokens > _MAX_TOKENS:
                continue
            cues = find_cues(text, passage.occurred)
            base = _score(text, own, cues, title, centres[passage.thread]) + lead
            lead = 0.0
            if not passage.is_admitted:
                base *= 0.1
            found.append(_Sentence(number, at, text, own, base, tokens))
    return found


def _find_stems(text: str) -> frozenset[str]:
    lowered = text.lower()
    stems = {word[:_STEM] for word in _WORD.findall(lowered) if word not in STOP_WORDS and (len(word) > 2)}
    if not text.isascii() and DENSE_RUN.search(text):
        for run in DENSE_RUN.findall(text):
            stems.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(stems)


def _weigh_stems(stems: Sequence[Sequence[frozenset[str]]]) -> dict[str, float]:
    """Return how much each stem tells: the fewer passages have it, the more."""
    counts = Counter(stem for passage in stems for stem in frozenset().union(*passage))
    total = len(stems) + 1
    return {stem: log(total / count) + 0.1 for stem, count in counts.items()}


def _find_centres(
    passages: Sequence[Passage], stems: Sequence[Sequence[frozenset[str]]], weights: dict[str, float]
) -> dict[str, dict[str, float]]:
    """Return for each thread how much of it is about each stem, at most 1."""
    counts: dict[str, Counter[str]] = {}
    for passage, sentences in zip(passages, stems, strict=True):
        counts.setdefault(passage.thread, Counter()).update(stem for sentence in sentences for stem in sentence)
    centres: dict[str, dict[str, float]] = {}
    for thread, count in counts.items():
        values = {stem: number * weights[stem] for stem, number in count.items()}
        most = max(values.values(), default=1.0)
        centres[thread] = {stem: value / most for stem, value in values.items()}
    return centres


def _is_telling(text: str, stems: frozenset[str]) -> bool:
    if len(stems) < _MIN_WORDS - 1 or is_courtesy(text):
        return False
    solid = text.replace(" ", "")
    return sum(map(str.isalpha, solid)) >= _MIN_LETTERS * len(solid)


def _score(
    text: str,
    stems: frozenset[str],
    cues: Cues,
    title: frozenset[str],
    centre: dict[str, float],
) -> float:
    score = sum(centre.get(stem, 0.0) for stem in stems) / (len(stems) + 4)
    score += 0.3 * min(3, len(title & stems))
    score += 1.0 * cues.decides + 0.7 * cues.promises + 0.5 * bool(cues.dates) + 0.4 * cues.asks
    words = text.split()
    special = sum(not word.isalpha() and any(map(str.isdigit, word)) for word in words)
    special += sum(word[0].isupper() for word in words[1:])
    return score + 0.15 * min(4, special)


def _choose(sentences: Sequence[_Sentence], limit: int) -> list[_Sentence]:
    """Return the sentences to take: the best for its length first, again and again."""
    heap = [(-_value(one, 1.0), number) for number, one in enumerate(sentences)]
    heapify(heap)
    seen: Counter[str] = Counter()
    units: Counter[int] = Counter()
    taken: list[_Sentence] = []
    left = limit
    while heap:
        value, number = heap[0]
        one = sentences[number]
        if one.tokens > left:
            heappop(heap)
            continue
        fresh = sum(0.3 ** seen[stem] for stem in one.stems) / len(one.stems)
        now = -_value(one, fresh / (1 + 0.5 * units[one.passage]))
        if now > value + 1e-9:
            heapreplace(heap, (now, number))
            continue
        heappop(heap)
        taken.append(one)
        left -= one.tokens
        seen.update(one.stems)
        units[one.passage] += 1
    return taken


def _value(one: _Sentence, fresh: float) -> float:
    return one.base * fresh / float((one.tokens + 10) ** 0.5)
