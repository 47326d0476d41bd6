"""Search by vectors: those of a book in one matrix, loaded once per process and kept up to date.

A vector is stored as one signed byte per dimension. The search is exact: the question is compared with every entry of
its scopes. The sums of the static table lean in one direction, the more so the more a book is about one thing; so if
there are enough entries, their mean is subtracted first. Vectors of other models are used as they are.

The static table embeds thousands of texts a second, so a question waits until every entry has a vector. Any other
embedder may take minutes for a book: each question gives it a short time, each batch is stored at once, and an entry
without a vector is scored by its words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.embed.port import Embedder
from commonplace.embed.static import MODEL as STATIC
from commonplace.embed.static import StaticEmbedder
from commonplace.index.port import Index, Turn, is_in_folders
from commonplace.model.errors import EmbedderError
from commonplace.model.scope import Space
from commonplace.recall.corrections import assume_likeness
from commonplace.recall.query import is_unfamiliar_script

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.coverage import CoverageScore

_TABLE_BATCH = 2_000  # texts in a batch of the static table
_FIRST_BATCH, _MAX_BATCH = 16, 64  # texts in a batch of another embedder
_MAX_BATCH_SECONDS = 2.0  # for a batch of another embedder without a deadline: services abort slow requests
_MIN_FOR_CENTRE = 100  # entries: from here on their mean is subtracted
_DIGITS = 5  # of a cosine: beyond them two machines, or a rebuilt index, may differ
_Row = tuple[int, str, str | None, Turn | None, bool]
"""All of a Vector but its bytes, which are in the matrix."""


class NearEntry(NamedTuple):
    """An entry with its cosine to the question."""

    no: int
    folder: str
    thread: str | None
    cosine: float


class SemanticIndex:
    """The vectors of one space's entries by one embedder. There is one per open book."""

    def __init__(
        self, index: Index, space: Space, embedder: Embedder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._index, self._space, self.embedder, self._clock = index, space, embedder, clock
        self.waiting, self.total = 0, 0  # entries without a vector after the last `fill`; and, if any, how many in all
        self._batch_limit = _FIRST_BATCH  # texts in the next batch
        self._seconds_per_text: float | None = None  # in the last batch
        self._question_vector: tuple[str, NDArray[np.float32]] | None = None
        self._version: tuple[int, int] | None = None  # epoch of the index, and its count of dropped vectors
        self._rows: list[_Row] = []
        self._row_numbers: dict[int, int] = {}  # number of an entry: its row
        self._folders: set[str] = set()
        self._neighbours: dict[int, tuple[int | None, int | None]] | None = None
        self._vectors: NDArray[np.float32] | None = None
        self._matrix: NDArray[np.float32] | None = None
        self._centre: NDArray[np.float32] | None = None
        self._centred_question: NDArray[np.float32] | None = None
        self._cosines: NDArray[np.float32] | None = None
        self._static: StaticEmbedder | None = None

    @property
    def is_quick(self) -> bool:
        """Whether a question can wait until a whole book is embedded."""
        return self.embedder.model == STATIC

    @property
    def _model(self) -> str:
        """The name under which vectors are stored.

        It has the dimension in it: a service may have put another model behind an old name.
        """
        return f"{self.embedder.model} {self.embedder.dimension}"

    def embed_question(self, question: str) -> NDArray[np.float32]:
        """Return the vector of a question, computed once.

        Call it before anything else is embedded: it shows whether the embedder works, and how long a text takes.
        """
        if self._question_vector is None or self._question_vector[0] != question:
            start = self._clock()
            self._question_vector = (question, self.embedder.embed([question])[0])
            self._seconds_per_text = self._clock() - start if self._seconds_per_text is None else self._seconds_per_text
        return self._question_vector[1]

    def embed_pending(self, seconds: float | None = None, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed the entries without a vector of this model, and return how many were embedded.

        With `seconds`, stop after about that time, but not before one batch. Each batch is stored: an error in a later
        one takes nothing back.
        """
        model = self._model
        with self._index.reading(self._space) as reading:
            self.waiting = len(reading.unembedded(model, 1))
            before, total = reading.count_embedded(model) if self.waiting and progress is not None else (0, 0)
        if not self.waiting:
            return 0
        done, end = 0, self._clock() + seconds if seconds is not None else None
        size, least = max(1, self._choose_batch_size(end)), int(end is None)
        try:
            while size and (number := self._embed_batch(size, model)):
                done += number
                if progress is not None:
                    progress(before + done, max(before + done, total))
                size = max(least, self._choose_batch_size(end))
        except EmbedderError:
            self._batch_limit = max(1, size // 2)  # what is too much for it at once is not tried again
            raise
        finally:
            self._count_waiting(model)
        return done

    def _count_waiting(self, model: str) -> None:
        """Count the entries without a vector."""
        with self._index.reading(self._space) as reading:
            self.waiting = 0
            if reading.unembedded(model, 1):  # else there is nothing to say, and to count takes a while
                done, self.total = reading.count_embedded(model)
                self.waiting = self.total - done

    def _choose_batch_size(self, end: float | None) -> int:
        """Return how many texts to embed in the next batch to be done by `end`; 0 if there is no time for one."""
        if self.is_quick:
            return _TABLE_BATCH
        if self._seconds_per_text is None:
            return 1
        left = end - self._clock() if end is not None else _MAX_BATCH_SECONDS
        if left > self._batch_limit * self._seconds_per_text:
            return self._batch_limit
        return int(left / self._seconds_per_text) if left > 0 else 0

    def _embed_batch(self, size: int, model: str) -> int:
        """Embed and store up to `size` more entries; return how many there were."""
        start = self._clock()
        with self._index.reading(self._space) as reading:
            waiting = reading.unembedded(model, size)
        if not waiting:
            return 0
        vectors = self.embedder.embed([text for _, text in waiting])
        with self._index.transaction(self._space) as writing:
            same = dict(writing.unembedded(model, size))  # meanwhile a number may have got another text
            made = zip(waiting, vectors, strict=True)
            writing.put_vectors(model, [(no, _pack_vector(row)) for (no, text), row in made if same.get(no) == text])
        self._seconds_per_text = (self._clock() - start) / len(waiting)
        self._batch_limit = min(2 * self._batch_limit, _MAX_BATCH)
        return len(waiting)

    def set_question(self, question: str, talk: str) -> None:
        """Compare every entry with a question; `find_nearest` and `get_cosines` then answer for it.

        Conversations are compared with `talk`, which may differ from the question.
        """
        import numpy as np  # noqa: PLC0415 - questions by words do without

        self._refresh()
        self._centred_question = self._embed_centred(question)
        self._cosines = self._compare_entries(self._centred_question)
        if talk != question and any(row[2] is not None for row in self._rows):
            other = self._compare_entries(self._embed_centred(talk))
            if self._cosines is not None and other is not None:
                lone = np.fromiter((row[2] is None for row in self._rows), bool, len(self._rows))
                self._cosines = np.where(lone, self._cosines, other)

    def measure_nearness(self, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text to the question; none if the embedder is too slow to embed them now."""
        import numpy as np  # noqa: PLC0415 - see above

        if not texts or self._centred_question is None or self._centre is None or self.embedder.model != STATIC:
            return []
        rows = _normalise_rows(self.embedder.embed(texts) - self._centre)
        found: list[float] = np.round(np.einsum("ij,j->i", rows, self._centred_question), _DIGITS).tolist()
        return found

    def _compare_entries(self, vector: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """Return the cosine of every entry to a question's vector."""
        import numpy as np  # noqa: PLC0415 - see above

        if self._matrix is None or vector is None:
            return None
        # Not `@`: the threads it starts for so little cost more than the work, the more so on a busy machine.
        cosines: NDArray[np.float32] = np.einsum("ij,j->i", self._matrix, vector)
        return np.round(cosines, _DIGITS)

    def _embed_centred(self, question: str) -> NDArray[np.float32] | None:
        """Return the vector of a question without the mean of all entries; None if nothing is known of it."""
        import numpy as np  # noqa: PLC0415 - see above

        vector = self.embed_question(question)
        if self._centre is None or not vector.any():
            return None
        centred = vector - self._centre
        length = float(np.linalg.norm(centred))
        return (centred / length).astype(np.float32) if length > 0 else None

    def find_nearest(self, folders: Sequence[str], limit: int) -> Iterator[NearEntry]:
        """Return the entries of these scopes nearest to the question; ties with the last are included."""
        import numpy as np  # noqa: PLC0415 - see above

        cosines = self._cosines
        if cosines is None:
            return iter(())
        inside = {folder: is_in_folders(folder, folders) for folder in self._folders}
        if not all(inside.values()):
            allowed = np.fromiter((inside[row[1]] for row in self._rows), bool, len(self._rows))
            cosines = np.where(allowed, cosines, -2.0)
        limit = min(limit, len(cosines))
        least = max(float(np.partition(cosines, -limit)[-limit]), -1.0)
        found = np.nonzero(cosines >= least)[0]
        near = zip(map(self._rows.__getitem__, found.tolist()), cosines[found].tolist(), strict=True)
        return (NearEntry(no, folder, thread, cosine) for (no, folder, thread, _, _), cosine in near)

    def get_cosines(self, numbers: Iterable[int]) -> Mapping[int, float]:
        """Return the cosines of entries to the question, by number; an entry without a vector is left out."""
        cosines = self._cosines
        if cosines is None:
            return {}
        places = {number: self._row_numbers[number] for number in numbers if number in self._row_numbers}
        return dict(zip(places, cosines[list(places.values())].tolist(), strict=True))

    def measure_likeness(self, one: int, other: int) -> float:
        """Return the cosine of two entries.

        If one has no vector, that is what `assume_likeness` says while entries wait to be embedded, and 0 otherwise.
        """
        if self._matrix is None or one not in self._row_numbers or other not in self._row_numbers:
            return assume_likeness(one, other) if self.waiting else 0.0
        return float(self._matrix[self._row_numbers[one]] @ self._matrix[self._row_numbers[other]])

    def find_alike(self, numbers: Sequence[int], among: Iterable[int], limit: int) -> list[int]:
        """Return those of `among` that are nearest to one of `numbers`, up to `limit` for each."""
        import numpy as np  # noqa: PLC0415 - see above

        others = np.array([self._row_numbers[number] for number in among if number in self._row_numbers], np.intp)
        few = [self._row_numbers[number] for number in numbers if number in self._row_numbers]
        if self._matrix is None or not len(others) or not few:
            return []
        rows = self._matrix[others]
        cosines = [np.round(np.einsum("ij,j->i", rows, self._matrix[place]), _DIGITS) for place in few]
        best = [np.argsort(-near, kind="stable")[:limit] for near in cosines]
        return sorted({self._rows[others[at]][0] for places in best for at in places})

    def score_coverage(self, question: str, texts: Sequence[str]) -> CoverageScore:
        """Return how much of a question the texts say in words of nearly the same meaning.

        The static table computes it whatever the embedder is: it knows single words.
        """
        if self._static is None:
            self._static = self.embedder if isinstance(self.embedder, StaticEmbedder) else StaticEmbedder()
        return self._static.score_coverage(question, texts)

    def is_unfamiliar(self, question: str) -> bool:
        """Return whether the embedder knows little more of a question than its letters; only the static table is
        checked.
        """
        return self.embedder.model == STATIC and is_unfamiliar_script(question)

    def find_neighbours(self, numbers: Iterable[int]) -> Mapping[int, tuple[int | None, int | None]]:
        """Return the entries just before and after these in their conversation, by number."""
        if self._neighbours is None:
            threads: dict[tuple[str, str], list[tuple[bool, Turn, int]]] = {}
            for no, folder, thread, turn, today in self._rows:
                if thread is not None and turn is not None and today:
                    threads.setdefault((folder, thread), []).append((isinstance(turn, str), turn, no))
            self._neighbours = {}
            for turns in threads.values():
                order: list[int | None] = [None, *(no for _, _, no in sorted(turns)), None]
                for before, here, after in zip(order, order[1:], order[2:], strict=False):
                    if here is not None:
                        self._neighbours[here] = (before, after)
        return {number: self._neighbours[number] for number in numbers if number in self._neighbours}

    def _refresh(self) -> None:
        """Load the vectors that were stored since the last call; all of them if some were dropped."""
        import numpy as np  # noqa: PLC0415 - see above

        with self._index.reading(self._space) as reading:
            now = (self._index.epoch, reading.vectors_dropped())
            if now != self._version:
                self._version, self._rows, self._vectors, self._matrix = now, [], None, None
                self._row_numbers, self._folders, self._neighbours = {}, set(), None
            after = self._rows[-1][0] if self._rows else 0
            new = [row for row in reading.vectors(self._model, after) if row.data]
        if not new:
            return
        more = np.frombuffer(b"".join(row.data for row in new), np.int8).astype(np.float32)
        more = _normalise_rows(more.reshape(len(new), self.embedder.dimension))
        self._vectors = more if self._vectors is None else np.vstack([self._vectors, more])
        self._rows += [row[:5] for row in new]
        self._row_numbers = {row[0]: at for at, row in enumerate(self._rows)}
        self._folders = {row[1] for row in self._rows}
        self._neighbours = None
        enough = len(self._rows) >= _MIN_FOR_CENTRE and self.embedder.model == STATIC
        self._centre = np.round(self._vectors.mean(axis=0), _DIGITS) if enough else np.zeros(more.shape[1], np.float32)
        self._matrix = _normalise_rows(self._vectors - self._centre)


def _normalise_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale the rows to length one in place, and return them: a copy would cost more than the arithmetic."""
    import numpy as np  # noqa: PLC0415 - see above

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None]
    return rows


def _pack_vector(row: NDArray[np.float32]) -> bytes:
    """Return a vector as bytes; none for a text of which nothing is known."""
    import numpy as np  # noqa: PLC0415 - see above

    largest = float(np.abs(row).max())
    return np.rint(row * (127.0 / largest)).astype(np.int8).tobytes() if largest > 0 else b""
