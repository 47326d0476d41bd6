"""How much of a question texts say in other words: where a sum of pieces blurs a long note, this still sees the word.

Each word of the question is worth its nearest word in the text, by the table of word pieces, and the more it tells, the
more it counts. Words, not pieces: the endings that rare names are cut into are in every text, and say nothing. What the
texts say of it *together* tells whether the book knows of such things at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.embed.port import unit
from commonplace.embed.wordpiece import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

_REMEMBERED = 8_192  # words with their vectors: 8 MB
_DIGITS = 5  # beyond them two machines may differ


class CoverageScore(NamedTuple):
    """How much of a question is said, from 0 to 1."""

    each: list[float]  # by each text
    together: float  # by one or the other of them


class SoftCoverage:
    """Compares words; `cut` gives the pieces of one, `unpacked` their vectors as they are in the table."""

    def __init__(
        self, cut: Callable[[str], Sequence[int]], unpacked: Callable[[Sequence[int]], NDArray[np.int32]]
    ) -> None:
        import numpy as np

        self._cut, self._unpacked = cut, unpacked
        self._places: dict[str, int] = {}  # of a word, in the two below; -1: nothing is known of it
        self._count = 0  # of the places that are taken
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._telling: NDArray[Any] = np.empty(0)

    def __call__(self, question: str, texts: Sequence[str]) -> CoverageScore:
        import numpy as np

        spoken = [_words(text) for text in texts]
        wanted = _words(question)
        self._learn({word for found in (wanted, *spoken) for word in found})
        asked = self._known(wanted)
        if not asked:
            return CoverageScore([0.0] * len(texts), 0.0)
        telling = self._telling[asked] / self._telling[asked].sum()
        said = [self._known(found) for found in spoken]
        near = self._near(asked, sorted({place for found in said for place in found}))
        each = np.zeros(len(texts))
        if any(said):
            starts = np.cumsum([0, *(len(found) for found in said if found)])[:-1]
            nearest = np.maximum.reduceat(near[:, [place for found in said for place in found]], starts, axis=1)
            each[[bool(found) for found in said]] = telling @ nearest
        return CoverageScore(np.round(each, _DIGITS).tolist(), round(float(near.max(axis=1) @ telling), _DIGITS))

    def _near(self, asked: Sequence[int], said: Sequence[int]) -> NDArray[np.float32]:
        """How near each of some words is to each of others, in columns of their own places."""
        import numpy as np

        near = np.zeros((len(asked), self._count), np.float32)
        if said:
            # Not `@`: the threads it starts for so little cost more than the work, and go on spinning after it.
            near[:, said] = np.einsum("ik,jk->ij", self._vectors[asked], self._vectors[said])
        return near

    def _known(self, found: Iterable[str]) -> list[int]:
        return [place for word in found if (place := self._places[word]) >= 0]

    def _learn(self, wanted: set[str]) -> None:
        """Have the vectors of these words at hand. Words repeat, from question to question more than in a text."""
        import numpy as np

        new = sorted(wanted - self._places.keys())
        if not new:
            return
        if len(self._places) + len(new) > _REMEMBERED:
            self._places, self._count, new = {}, 0, sorted(wanted)
            self._vectors, self._telling = np.empty((0, 0), np.float32), np.empty(0)
        cuts = {word: pieces for word in new if (pieces := self._cut(word))}
        self._places |= dict.fromkeys(new, -1)
        if not cuts:
            return
        starts = np.cumsum([0, *map(len, cuts.values())])[:-1]
        sums = np.add.reduceat(self._unpacked([piece for pieces in cuts.values() for piece in pieces]), starts, axis=0)
        self._places |= {word: place for place, word in enumerate(cuts, start=self._count)}
        self._add(unit(sums), (sums.astype(np.float64) ** 2).sum(axis=1))

    def _add(self, vectors: Vectors, telling: NDArray[Any]) -> None:
        """Put these behind the others. Nearly every question brings new words, and the others are up to 8 MB: so there
        is room for more, and they are seldom copied."""
        import numpy as np

        first, self._count = self._count, self._count + len(vectors)
        if self._count > len(self._vectors):
            room = max(self._count, min(2 * len(self._vectors), _REMEMBERED))
            known = self._vectors[:first], self._telling[:first]
            self._vectors, self._telling = np.empty((room, vectors.shape[1]), np.float32), np.empty(room)
            if first:
                self._vectors[:first], self._telling[:first] = known
        self._vectors[first : self._count], self._telling[first : self._count] = vectors, telling


def _words(text: str) -> list[str]:
    return [word for word in dict.fromkeys(words(text)) if word[0].isalnum()]
