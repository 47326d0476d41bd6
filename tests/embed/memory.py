"""A second embedder, which needs no model: the conformance suite runs on it, and tests that need any embedder use it.

Every word gets a direction of its own from a hash, so texts are near as far as they share words. It knows nothing of
what words mean, and any dimension will do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonplace.embed.port import normalise_rows

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors


class MemoryEmbedder:
    def __init__(self, dimension: int = 16, model: str = "words-v1") -> None:
        self.dimension = dimension
        self.model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        from commonplace.embed.static_table import split_words

        sums = np.zeros((len(texts), self.dimension), np.int64)
        for row, text in enumerate(texts):
            for word in split_words(text):
                if any(map(str.isalnum, word)):
                    sums[row] += self._direction(word)
        return normalise_rows(sums)

    def _direction(self, word: str) -> list[int]:
        """Numbers of -128 to 127 from the hash of a word."""
        return [byte - 128 for byte in hashlib.shake_128(word.encode()).digest(self.dimension)]
