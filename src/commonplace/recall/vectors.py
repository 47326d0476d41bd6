"""Compare a question with the vectors of a book: one matrix, loaded once per process and kept up to date.

`SemanticIndex.compare_entries` loads this module, and numpy with it, with the first question that needs vectors.

A vector is stored, and kept here, as one signed byte per dimension; one of a passage is stored as half a byte, because
a mail has several. The search is exact: the question is compared with every entry of its scopes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from commonplace.index.port import Transaction
from commonplace.index.values import Vector
from commonplace.recall.candidates import FoundEntry
from commonplace.recall.query import RecallQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

Likeness = Mapping[int, Mapping[int, float]]
"""The cosines of some entries to others, by the numbers of both."""
_DIGITS = 5  # of a cosine: beyond them two machines, or a rebuilt index, may differ
_MOMENT = 40  # characters of a moment that are compared: who wrote a file by hand may have written more


class EntryVectors:
    """The vectors of one space's entries by one embedder, and their cosines to the question that was set last."""

    def __init__(self, dimension: int, version: object, *, is_halved: bool = False) -> None:
        """`is_halved`: two numbers of a vector share a byte where it is stored."""
        self._is_halved = is_halved
        self.version = version  # of the index, as long as none of its vectors is dropped
        self._rows: list[Vector] = []  # their bytes are in the matrix
        self._places: dict[int, int] = {}  # number of an entry: its row
        self._folders: dict[str, int] = {}  # each with its place among them
        self._folder_codes = np.empty(0, np.int32)  # of each row
        self._moments = np.empty(0, np.str_)  # of each row
        self._is_turn = np.empty(0, np.bool_)  # of each row
        self._matrix: NDArray[Any] = np.empty((0, dimension), np.int8)  # a row for each passage
        self._lengths: Vectors = np.empty(0, np.float32)  # of each of these
        self._firsts = np.empty(0, np.intp)  # the first of these of each entry
        self._neighbours: Mapping[int, list[int]] = {}
        self._cosines: Vectors | None = None

    def load(self, reading: Transaction, model: str) -> None:
        """Load the vectors that were stored since the last call."""
        new = [row for row in reading.vectors(model, self._rows[-1].no if self._rows else 0) if row.data]
        if not new:
            return
        dimension = self._matrix.shape[1]
        stored = b"".join(row.data for row in new)
        numbers = unpack_halves(stored) if self._is_halved else np.frombuffer(stored, np.int8)
        passages = numbers.reshape(-1, dimension)
        ends = np.cumsum([len(row.data) * len(passages) // len(stored) for row in new])
        self._firsts = np.append(self._firsts, len(self._matrix) + np.append(0, ends[:-1]))
        self._lengths = np.append(self._lengths, np.sqrt(np.einsum("ij,ij->i", passages, passages, dtype=np.float32)))
        self._matrix = np.append(self._matrix, passages, axis=0)
        self._is_turn = np.append(self._is_turn, np.array([row.thread is not None for row in new], np.bool_))
        self._places |= {row.no: at for at, row in enumerate(new, len(self._rows))}
        self._rows += [row._replace(data=b"") for row in new]
        codes = [self._folders.setdefault(row.folder, len(self._folders)) for row in new]
        self._folder_codes = np.append(self._folder_codes, np.array(codes, np.int32))
        self._moments = np.append(self._moments, np.array([row.moment[:_MOMENT] for row in new], np.str_))
        self._neighbours = {}

    def set_question(self, question: str, talk: str, embed: Callable[[str], Vectors]) -> None:
        """Compare every entry with a question; `find_nearest` and `get_cosines` then answer for it.

        Conversations are compared with `talk`, which may differ from the question.
        """
        self._cosines = self._compare(embed(question))
        has_talk = talk != question and bool(self._is_turn.any())
        if has_talk and self._cosines is not None and (cosines := self._compare(embed(talk))) is not None:
            self._cosines = np.where(self._is_turn, cosines, self._cosines)

    def _compare(self, vector: Vectors) -> Vectors | None:
        """Return the cosine of each entry to a vector; None if there is nothing to compare."""
        if not (self._rows and vector.any()):
            return None
        cosines = np.round(_multiply(vector[None], self._matrix)[0] / self._lengths, _DIGITS)
        return np.maximum.reduceat(cosines, self._firsts)

    def find_nearest(self, question: RecallQuery, limit: int) -> Iterator[FoundEntry]:
        """Yield the entries nearest to the question, of its scopes; ties with the last are included."""
        if self._cosines is None:
            return
        cosines, inside = self._cosines, set(filter(question.covers, self._folders))
        since, until, only = question.since or "", question.until or "9999", question.only
        if len(inside) < len(self._folders):
            codes = [code for folder, code in self._folders.items() if folder in inside]
            cosines = np.where(np.isin(self._folder_codes, codes), cosines, -2.0)
        if question.since or question.until:
            cosines = np.where((since <= self._moments) & (self._moments <= until), cosines, -2.0)
        if only is not None:
            cosines = np.where([row.no in only for row in self._rows], cosines, -2.0)
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
        places = {number: self._places[number] for number in numbers if number in self._places}
        return dict(zip(places, self._cosines[list(places.values())].tolist(), strict=True))

    def list_lone(self) -> set[int]:
        """Return the numbers of the lone entries that are said today."""
        return {row.no for row in self._rows if row.thread is None and row.today}

    def find_alike(self, numbers: Iterable[int], others: Iterable[int], limit: int) -> Likeness:
        """Return for each of some entries the others that are nearest to it, with their cosines."""
        ours, theirs = ([no for no in some if no in self._places] for some in (numbers, others))
        if not (ours and theirs):
            return {}
        cosines = np.round(_multiply(self._take_vectors(ours), self._take_vectors(theirs)), _DIGITS)
        best = np.argpartition(-cosines, min(limit, len(theirs)) - 1, axis=1)[:, :limit]
        nearest = np.take_along_axis(cosines, best, axis=1).tolist()
        found = zip(ours, best.tolist(), nearest, strict=True)
        return {no: dict(zip([theirs[at] for at in places], row, strict=True)) for no, places, row in found}

    def _take_vectors(self, numbers: Iterable[int]) -> Vectors:
        """Return the vectors of some entries; of a text in passages that of the first."""
        firsts = self._firsts[[self._places[number] for number in numbers]]
        vectors: Vectors = np.divide(self._matrix[firsts], self._lengths[firsts, None], dtype=np.float32)
        return vectors

    def find_neighbours(self) -> Mapping[int, Sequence[int]]:
        """Return the entries just before and after each one in its conversation, by number."""
        if not self._neighbours:
            turns = [row for row in self._rows if row.turn is not None and row.today]
            turns.sort(key=lambda row: (row.folder, row.thread, isinstance(row.turn, str), row.turn, row.no))
            self._neighbours = defaultdict(list)
            for one, other in pairwise(turns):
                if (one.folder, one.thread) == (other.folder, other.thread):
                    self._neighbours[one.no].append(other.no)
                    self._neighbours[other.no].append(one.no)
        return self._neighbours


def unpack_halves(data: bytes) -> NDArray[np.int8]:
    """Return the numbers of which each byte has two, from -7 to 7."""
    pairs = np.frombuffer(data, np.uint8)
    numbers = np.empty((len(pairs), 2), np.int8)
    numbers[:, 0], numbers[:, 1] = pairs >> 4, pairs & 15
    numbers -= 8
    return numbers.reshape(-1)


def _multiply(ones: NDArray[Any], others: NDArray[Any]) -> Vectors:
    """Return the dot product of each row with each other row."""
    # Not `@`: the threads it starts for so little cost more than the work, the more so on a busy machine.
    products: Vectors = np.einsum("ij,kj->ik", ones, others)
    return products
