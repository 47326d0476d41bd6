"""Compare a question with the vectors of a book: one matrix, loaded once per process and kept up to date.

`SemanticIndex.compare_entries` loads this module, and numpy with it, with the first question that needs vectors.

A vector is stored as one signed byte per dimension; one of a passage as half a byte, because a mail has several. The
search is exact: the question is compared with every entry of its scopes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from commonplace.embed.port import Embedder
from commonplace.index.port import Transaction, Vector
from commonplace.recall.candidates import FoundEntry
from commonplace.recall.query import RecallQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

_MOMENT = "S32"  # of a timestamp
_PACKED_ROWS = 4_096  # that are unpacked at a time
_DIGITS = 5  # of a cosine: beyond them two machines, or a rebuilt index, may differ


class EntryVectors:
    """The vectors of one space's entries by one embedder, and their cosines to the question that was set last."""

    def __init__(
        self, embedder: Embedder, embed_question: Callable[[str], NDArray[np.float32]], *, is_packed: bool = False
    ) -> None:
        """`is_packed`: entries have a vector for each passage, of half a byte per dimension. They are kept as bytes, a
        quarter of the memory for twice the work."""
        self._is_packed = is_packed
        self._lengths = np.empty(0, np.float32)  # of packed vectors
        self._embed_question = embed_question
        self._version: tuple[int, int] | None = None  # epoch of the index, and its count of dropped vectors
        self._rows: list[Vector] = []  # their bytes are in the matrix, their moments in an array
        self._row_numbers: dict[int, int] = {}  # number of an entry: its row
        self._moments = np.empty(0, _MOMENT)
        self._folders: set[str] = set()
        self._neighbours: Mapping[int, list[int]] = {}
        kind = np.int8 if is_packed else np.float32
        self._matrix: NDArray[Any] = np.empty((0, embedder.dimension), kind)  # a row for each passage
        self._firsts = np.empty(0, np.intp)  # the first row of each entry in it
        self._cosines: NDArray[np.float32] | None = None

    def refresh(self, reading: Transaction, epoch: int, model: str) -> None:
        """Load the vectors that were stored since the last call; all of them if some were dropped.

        `epoch` is that of the index.
        """
        now = (epoch, reading.vectors_dropped())
        if now != self._version:
            self._version, self._rows, self._row_numbers, self._matrix = now, [], {}, self._matrix[:0]
            self._moments, self._firsts, self._lengths = self._moments[:0], self._firsts[:0], self._lengths[:0]
        new = [row for row in reading.vectors(model, self._rows[-1].no if self._rows else 0) if row.data]
        if new:
            size = self._matrix.shape[1]
            stored = b"".join(row.data for row in new)
            numbers = unpack_halves(stored) if self._is_packed else np.frombuffer(stored, np.int8)
            more: NDArray[Any] = numbers.reshape(-1, size)
            counts = np.array([len(row.data) * len(numbers) // len(stored) // size for row in new], np.intp)
            self._firsts = np.append(self._firsts, len(self._matrix) + np.cumsum(counts) - counts)
            if self._is_packed:
                self._lengths = np.append(self._lengths, _measure_rows(more))
            else:
                more = more.astype(np.float32)
                more /= np.sqrt(np.einsum("ij,ij->i", more, more))[:, None]
            self._matrix = np.vstack([self._matrix, more]) if self._rows else more
            self._row_numbers |= {row.no: at for at, row in enumerate(new, len(self._rows))}
            self._folders |= {row.folder for row in new}
            self._moments = np.append(self._moments, np.array([row.moment.encode() for row in new], _MOMENT))
            self._rows += [row._replace(data=b"", moment="") for row in new]
            self._neighbours = {}

    def set_question(self, question: str, talk: str) -> None:
        """Compare every entry with a question; `find_nearest` and `get_cosines` then answer for it.

        Conversations are compared with `talk`, which may differ from the question.
        """
        self._cosines = self._compare(question)
        is_turn = [row.thread is not None for row in self._rows] if talk != question else []
        if any(is_turn) and self._cosines is not None and (cosines := self._compare(talk)) is not None:
            self._cosines = np.where(is_turn, cosines, self._cosines)

    def _compare(self, question: str) -> NDArray[np.float32] | None:
        """Return the cosine of each entry to a question; None if there is nothing to compare."""
        vector = self._embed_question(question)
        if not (self._rows and vector.any()):
            return None
        cosines = (
            _multiply_packed(self._matrix, self._lengths, vector)
            if self._is_packed
            else _multiply_rows(self._matrix, vector)
        )
        return cosines if len(cosines) == len(self._rows) else np.maximum.reduceat(cosines, self._firsts)

    def find_nearest(self, question: RecallQuery, limit: int) -> Iterator[FoundEntry]:
        """Yield the entries nearest to the question, of its scopes; ties with the last are included."""
        cosines = self._cosines
        if cosines is None:
            return
        inside = set(filter(question.covers, self._folders))
        if inside != self._folders:
            cosines = np.where([row.folder in inside for row in self._rows], cosines, -2.0)
        if question.since is not None:
            cosines = np.where(self._moments >= question.since.encode(), cosines, -2.0)
        if question.until is not None:
            cosines = np.where(self._moments <= question.until.encode(), cosines, -2.0)
        if question.only is not None:
            cosines = np.where([row[0] in question.only for row in self._rows], cosines, -2.0)
        limit = min(limit, len(cosines))
        least = max(float(np.partition(cosines, -limit)[-limit]), -1.0)
        for at in np.nonzero(cosines >= least)[0].tolist():
            yield FoundEntry(*self._rows[at][:4], 0.0, float(cosines[at]))

    @property
    def mean_cosine(self) -> float:
        """The mean of all entries' cosines to the question: what is no nearer than that has nothing to do with it."""
        return float(self._cosines.mean()) if self._cosines is not None else 0.0

    def get_cosines(self, numbers: Iterable[int]) -> Mapping[int, float]:
        """Return the cosines of entries to the question, by number; an entry without a vector is left out."""
        if self._cosines is None:
            return {}
        places = {number: self._row_numbers[number] for number in numbers if number in self._row_numbers}
        return dict(zip(places, self._cosines[list(places.values())].tolist(), strict=True))

    def measure_likeness(self, one: int, other: int) -> float | None:
        """Return the cosine of two entries; None if one has no vector."""
        if one not in self._row_numbers or other not in self._row_numbers:
            return None
        matrix = self._first_vectors()
        return round(float(matrix[self._row_numbers[one]] @ matrix[self._row_numbers[other]]), _DIGITS)

    def _first_vectors(self) -> Vectors:
        """Return one vector of each entry: of a text in passages that of the first."""
        if not self._is_packed:
            return self._matrix
        return self._matrix[self._firsts].astype(np.float32) / self._lengths[self._firsts, None]

    def find_alike(self, numbers: Iterable[int], limit: int) -> dict[int, list[int]]:
        """Return for each of some lone entries the lone ones that are said today and nearest to it, itself included."""
        lone = np.array([row.thread is None and row.today for row in self._rows], bool)
        few = [no for no in numbers if no in self._row_numbers and lone[self._row_numbers[no]]]
        if not few:
            return {}
        matrix = self._first_vectors()
        cosines = np.round(matrix[[self._row_numbers[no] for no in few]] @ matrix.T, _DIGITS)
        limit = min(limit, int(lone.sum()))
        best = np.argpartition(np.where(lone, -cosines, 2.0), limit - 1, axis=1)[:, :limit]
        return {no: [self._rows[at].no for at in places] for no, places in zip(few, best.tolist(), strict=True)}

    def find_neighbours(self) -> Mapping[int, Sequence[int]]:
        """Return the entries just before and after each one in its conversation, by number."""
        if not self._neighbours:
            turns = sorted(
                (row.folder, row.thread, isinstance(row.turn, str), row.turn, row.no)
                for row in self._rows
                if row.turn is not None and row.today
            )
            self._neighbours = defaultdict(list)
            for (*place, _, _, no), (*next_place, _, _, next_no) in pairwise(turns):
                if place == next_place:
                    self._neighbours[no].append(next_no)
                    self._neighbours[next_no].append(no)
        return self._neighbours


def unpack_halves(data: bytes) -> NDArray[np.int8]:
    """Return the numbers of which each byte has two, from -7 to 7."""
    pairs = np.frombuffer(data, np.uint8)
    numbers = np.empty((len(pairs), 2), np.int8)
    numbers[:, 0], numbers[:, 1] = pairs >> 4, pairs & 15
    numbers -= 8
    return numbers.reshape(-1)


def _measure_rows(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the length of each packed vector."""
    squares = [np.einsum("ij,ij->i", part, part, dtype=np.float32) for part in _split_rows(rows)]
    lengths: NDArray[np.float32] = np.sqrt(np.concatenate(squares))
    return lengths


def _multiply_packed(
    rows: NDArray[np.int8], lengths: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the cosine of each packed vector to another, rounded."""
    products = np.concatenate([np.einsum("ij,j->i", part.astype(np.float32), vector) for part in _split_rows(rows)])
    cosines: NDArray[np.float32] = np.round(products / lengths, _DIGITS)
    return cosines


def _split_rows(rows: NDArray[np.int8]) -> Iterator[NDArray[np.int8]]:
    return (rows[at : at + _PACKED_ROWS] for at in range(0, len(rows), _PACKED_ROWS))


def _multiply_rows(rows: Vectors, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the dot product of each row with a vector, rounded."""
    # Not `@`: the threads it starts for so little cost more than the work, the more so on a busy machine.
    products: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return np.round(products, _DIGITS)
