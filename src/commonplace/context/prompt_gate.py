"""Decide what a prompt is told unasked: the questions that a prompt is, and the gate that a hit of one has to pass.

The agent did not ask, so the gate is stricter than recall: a memory passes if it is near the prompt by meaning, or has
three telling words in common with it. Everything else is left for recall. Of memories about the same thing only the
latest passes. `make bench-context` measures what that is worth. `prompt_recall.py` calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.index.values import EntryCandidate
from commonplace.model.lazy import lazy
from commonplace.model.memory import Trust
from commonplace.recall.candidates import find_stems, make_time_key, measure_coverage
from commonplace.recall.ranking import ScoredCandidate
from commonplace.text.words import find_identifiers, query_terms, significant_stems

NEAR = 0.45  # the cosine from which a memory is told for its meaning alone
FAR = 0.2  # the cosine below which words in common are chance
TELLING_WORDS = 3  # in common
TELLING_SHARE = 0.15  # of a memory's telling words: in a long one three are chance
SAME_WORDS = 2  # telling words, besides those of the prompt, that two memories about one thing have in common
NEARLY = 0.65  # of the score of the earlier one: a later one that has less is about something else
BESIDE_BEST = 0.8  # of the best score: what answers a question much worse than another memory is not told with it
_MAX_QUESTIONS = 4
_MAX_QUESTION = 500  # characters
_MAX_PROMPT = 4_000  # characters: the beginning and the end of a longer prompt
_CODE = lazy(r"```.*?(?:```|\Z)|<[a-z-]+>.*?</[a-z-]+>", 16)  # DOTALL
_SENTENCE_END = lazy(r"(?<=[.!?;])\s+")


def split_prompt(prompt: str) -> list[str]:
    """Return the questions that a prompt is, without code and tags: the whole of it, its lines and its sentences.

    What is longer than a question may be is asked by its parts only.
    """
    half = _MAX_PROMPT // 2
    text = prompt if len(prompt) <= _MAX_PROMPT else f"{prompt[:half]}\n{prompt[-half:]}"
    lines = _CODE.sub(" ", text).split("\n")
    parts = [" ".join(lines), *lines, *(sentence for line in lines for sentence in _SENTENCE_END.split(line))]
    parts = [" ".join(part.split()) for part in parts]
    parts = [part for part in dict.fromkeys(parts) if len(part) <= _MAX_QUESTION and _is_question(part)]
    if len(parts) > _MAX_QUESTIONS:  # the first says what it is about, the last ones what is wanted
        parts = [parts[0], *parts[-_MAX_QUESTIONS + 1 :]]
    return parts


def _is_question(text: str) -> bool:
    """Return whether a text has two words that tell something, or an identifier, a version or a path."""
    words = query_terms(text).words
    return len(words) > 1 or any(len(word) > 1 or not all(map(str.isalpha, word)) for word in words)


class PromptGate(NamedTuple):
    """What a hit is judged by: the question, its telling words, and whether it was searched by meaning."""

    question: str
    stems: frozenset[str]
    has_meaning: bool

    @classmethod
    def of(cls, question: str, *, has_meaning: bool) -> PromptGate:
        """Return the gate of a question."""
        return cls(question, frozenset(significant_stems(question)), has_meaning)

    def choose(self, hits: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
        """Return the hits that are told. One that a later memory may contradict gives its place to that memory."""
        passed = [hit for hit in hits if self._is_relevant(hit) and not self._is_overtaken(hit, hits)]
        passed = [hit if hit.later is None else hit._replace(candidate=hit.later) for hit in passed]
        passed = [hit for hit in passed if hit.candidate.entry.trust is not Trust.EXTERNAL]
        scores = [hit.score - hit.parts.get("quoted", 0.0) for hit in passed]  # a quote excludes nothing
        least = BESIDE_BEST * max(scores, default=0.0)
        return [hit for hit, score in zip(passed, scores, strict=True) if score >= least]

    def _is_relevant(self, hit: ScoredCandidate) -> bool:
        """Return whether a hit is relevant enough to be told unasked."""
        cosine = hit.parts.get("meaning", 0.0) if self.has_meaning else FAR
        if cosine >= NEAR or self._is_named(hit.candidate):
            return True
        stems = find_stems(hit.candidate)
        return cosine >= FAR and len(stems & self.stems) >= max(TELLING_WORDS, TELLING_SHARE * len(stems))

    def _is_named(self, candidate: EntryCandidate) -> bool:
        """Return whether the question is no more than an identifier that a memory has."""
        words = query_terms(self.question).words
        return len(words) == 1 and bool(find_identifiers(self.question)) and measure_coverage(candidate, words) == 1

    def _is_overtaken(self, hit: ScoredCandidate, hits: Sequence[ScoredCandidate]) -> bool:
        """Return whether a later hit that is nearly as good is about the same thing."""
        stems, time = find_stems(hit.candidate) - self.stems, make_time_key(hit.candidate)
        return any(
            other.score >= NEARLY * hit.score
            and make_time_key(other.candidate) > time
            and len(stems & find_stems(other.candidate)) >= SAME_WORDS
            for other in hits
        )
