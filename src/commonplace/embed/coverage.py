"""Score how much of a question texts say in other words: a single word still counts where a long note's vector blurs
it.

Each word of the question counts as much as its nearest word in the text, by the static table, and telling words count
more. It compares words, not word pieces: the pieces of rare names occur in every text and say nothing. How much the
texts say *together* shows whether the book knows of such things at all. Importing this module loads numpy, so static.py
imports it with the first question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from commonplace.embed.port import normalise_rows
from commonplace.embed.wordpiece import split_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

_MAX_CACHED_WORDS = 8_192  # words with their vectors: 8 MB
_DIGITS = 5  # beyond them two machines may differ


class CoverageScore(NamedTuple):
    """How much of a question is said, from 0 to 1."""

    each: list[float]  # by each text
    together: float  # by one or the other of them


class SoftCoverage:
    """Compares words by their vectors.

    `tokenize` returns the pieces of a word, `unpack` their vectors as they are in the table.
    """

    def __init__(
        self, tokenize: Callable[[str], Sequence[int]], unpack: Callable[[Sequence[int]], NDArray[np.int32]]
    ) -> None:
        self._tokenize, self._unpack = tokenize, unpack
        self._places: dict[str, int] = {}  # of a word, in the two below; -1: nothing is known of it
        self._count = 0  # of the places that are taken
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._weights: NDArray[Any] = np.empty(0)

    def score(self, question: str, texts: Sequence[str]) -> CoverageScore:
        """Return how much of a question each text says, and all of them together."""
        text_words = [_find_words(text) for text in texts]
        question_words = _find_words(question)
        self._load_vectors({word for found in (question_words, *text_words) for word in found})
        question_places = self._find_places(question_words)
        if not question_places:
            return CoverageScore([0.0] * len(texts), 0.0)
        weights = self._weights[question_places] / self._weights[question_places].sum()
        text_places = [self._find_places(found) for found in text_words]
        near = self._compare_words(question_places, sorted({place for found in text_places for place in found}))
        each = np.zeros(len(texts))
        if any(text_places):
            starts = np.cumsum([0, *(len(found) for found in text_places if found)])[:-1]
            nearest = np.maximum.reduceat(near[:, [place for found in text_places for place in found]], starts, axis=1)
            each[[bool(found) for found in text_places]] = weights @ nearest
        return CoverageScore(np.round(each, _DIGITS).tolist(), round(float(near.max(axis=1) @ weights), _DIGITS))

    def _compare_words(self, question_places: Sequence[int], text_places: Sequence[int]) -> NDArray[np.float32]:
        """Return the cosine of each question word to each text word; the columns are places in the cache."""
        near = np.zeros((len(question_places), self._count), np.float32)
        if text_places:
            # Not `@`: the threads it starts for so little cost more than the work, and go on spinning after it.
            near[:, text_places] = np.einsum("ik,jk->ij", self._vectors[question_places], self._vectors[text_places])
        return near

    def _find_places(self, found: Iterable[str]) -> list[int]:
        """Return the places of the words in the cache, without unknown words."""
        return [place for word in found if (place := self._places[word]) >= 0]

    def _load_vectors(self, wanted: set[str]) -> None:
        """Put the vectors of these words into the cache: most words were in an earlier question."""
        new = sorted(wanted - self._places.keys())
        if not new:
            return
        if len(self._places) + len(new) > _MAX_CACHED_WORDS:
            self._places, self._count, new = {}, 0, sorted(wanted)
            self._vectors, self._weights = np.empty((0, 0), np.float32), np.empty(0)
        cuts = {word: pieces for word in new if (pieces := self._tokenize(word))}
        self._places |= dict.fromkeys(new, -1)
        if not cuts:
            return
        starts = np.cumsum([0, *map(len, cuts.values())])[:-1]
        sums = np.add.reduceat(self._unpack([piece for pieces in cuts.values() for piece in pieces]), starts, axis=0)
        self._places |= {word: place for place, word in enumerate(cuts, start=self._count)}
        self._append_vectors(normalise_rows(sums), (sums.astype(np.float64) ** 2).sum(axis=1))

    def _append_vectors(self, vectors: Vectors, weights: NDArray[Any]) -> None:
        """Append vectors and weights to the cache.

        Nearly every question brings new words, and the cache has up to 8 MB: so it grows by doubling, and is seldom
        copied.
        """
        first, self._count = self._count, self._count + len(vectors)
        if self._count > len(self._vectors):
            room = max(self._count, min(2 * len(self._vectors), _MAX_CACHED_WORDS))
            known = self._vectors[:first], self._weights[:first]
            self._vectors, self._weights = np.empty((room, vectors.shape[1]), np.float32), np.empty(room)
            if first:
                self._vectors[:first], self._weights[:first] = known
        self._vectors[first : self._count], self._weights[first : self._count] = vectors, weights


def _find_words(text: str) -> list[str]:
    """Return the distinct words of a text, without punctuation."""
    return [word for word in dict.fromkeys(split_words(text)) if word[0].isalnum()]
