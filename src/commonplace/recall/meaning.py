"""Searching by meaning: the vectors of a book in one matrix, loaded once per process and brought up to date.

A vector is kept as one signed byte per dimension. The search is exact: the question against every entry of the scopes
that are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.embed.port import Embedder
from commonplace.index.port import Index, Vector, within
from commonplace.model.space import Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 2_000


class Near(NamedTuple):
    no: int
    folder: str
    thread: str | None
    cosine: float


class Meanings:
    """What the entries of one space mean to one embedder. One per open book."""

    def __init__(self, index: Index, space: Space, embedder: Embedder) -> None:
        self._index, self._space, self.embedder = index, space, embedder
        self._known: tuple[int, int] | None = None  # epoch of the index, and its count of dropped vectors
        self._rows: list[Vector] = []
        self._places: dict[int, int] = {}  # number of an entry: its row
        self._matrix: NDArray[np.float32] | None = None

    def fill(self) -> int:
        """Embed what has no vector of this model yet; answers how many that were."""
        model, done = self.embedder.model, 0
        with self._index.reading(self._space) as reading:
            if not reading.has_unembedded(model):
                return 0
        while True:
            with self._index.reading(self._space) as reading:
                waiting = reading.unembedded(model, _BATCH)
            if not waiting:
                return done
            vectors = self.embedder.embed([text for _, text in waiting])
            data = [(no, _packed(row)) for (no, _), row in zip(waiting, vectors, strict=True)]
            with self._index.transaction(self._space) as writing:
                writing.put_vectors(model, data)
            done += len(waiting)

    def nearest(self, question: str, folders: Sequence[str], limit: int) -> list[Near]:
        """The entries of these scopes that mean most nearly what the question means, nearest first."""
        import numpy as np  # noqa: PLC0415 - questions by words do without

        self._bring_up_to_date()
        asked = self.embedder.embed([question])[0]
        if self._matrix is None or not len(self._rows) or not asked.any():
            self._cosines = None
            return []
        cosines = self._matrix @ asked
        self._cosines = cosines
        inside = {folder: within(folder, folders) for folder in {row.folder for row in self._rows}}
        allowed = np.fromiter((inside[row.folder] for row in self._rows), bool, len(self._rows))
        ranked = np.where(allowed, cosines, -2.0)
        count = min(limit, int(allowed.sum()))
        best = np.argpartition(-ranked, count - 1)[:count] if count else np.empty(0, int)
        found = [(round(float(cosines[at]), 6), self._rows[at]) for at in best]
        found.sort(key=lambda pair: (-pair[0], pair[1].no))
        return [Near(row.no, row.folder, row.thread, cosine) for cosine, row in found]

    def cosines(self, numbers: Iterable[int]) -> Mapping[int, float]:
        """Those of the last question, for any entries; one without a vector has none."""
        cosines = self._cosines
        if cosines is None:
            return {}
        places = {number: self._places[number] for number in numbers if number in self._places}
        return {number: round(float(cosines[at]), 6) for number, at in places.items()}

    def _bring_up_to_date(self) -> None:
        import numpy as np  # noqa: PLC0415 - see above

        with self._index.reading(self._space) as reading:
            now = (self._index.epoch, reading.vectors_dropped())
            if now != self._known:
                self._known, self._rows, self._matrix = now, [], None
            after = self._rows[-1].no if self._rows else 0
            new = [row for row in reading.vectors(self.embedder.model, after) if row.data]
        if not new:
            return
        more = np.frombuffer(b"".join(row.data for row in new), np.int8).astype(np.float32)
        more = more.reshape(len(new), self.embedder.dimension)
        more /= np.linalg.norm(more, axis=1, keepdims=True)
        self._matrix = more if self._matrix is None else np.vstack([self._matrix, more])
        self._rows += [row._replace(data=b"") for row in new]
        self._places = {row.no: at for at, row in enumerate(self._rows)}

    _cosines: NDArray[np.float32] | None = None


def _packed(row: NDArray[np.float32]) -> bytes:
    """A vector as bytes; none for a text of which nothing is known."""
    import numpy as np  # noqa: PLC0415 - see above

    largest = float(np.abs(row).max())
    return np.rint(row * (127.0 / largest)).astype(np.int8).tobytes() if largest > 0 else b""
