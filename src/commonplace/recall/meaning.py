"""Searching by meaning: the vectors of a book in one matrix, loaded once per process and brought up to date.

A vector is kept as one signed byte per dimension. The search is exact: the question against every entry of the scopes
that are asked. Sums of a table's pieces lean one way, the more so the more a book's entries are about one thing; so,
where there are enough to tell, what they have in common is taken away first. The vectors of a model do better as they
are.

The table inside the install embeds thousands of texts a second, so a question waits until it has all. Any other
embedder may take minutes for a book: each question gives it a moment, every batch is kept as soon as it is there, and
what has no vector yet is judged by its words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.embed.port import Embedder
from commonplace.embed.static import MODEL as STATIC
from commonplace.index.port import Index, Turn, is_in_folders
from commonplace.model.errors import EmbedderError
from commonplace.model.scope import Space
from commonplace.recall.corrections import unknown
from commonplace.recall.query import is_spelled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.coverage import CoverageScore
    from commonplace.embed.static import StaticEmbedder

_BATCH = 2_000  # texts at once, for the table
_FIRST, _MOST = 16, 64  # for others: at first, and at most
_AT_ONCE = 2.0  # seconds for a batch of others, where nothing else limits it: services give up on what takes long
_ENOUGH = 100  # entries, to tell what they have in common
_DIGITS = 5  # of a cosine: beyond them two machines, or a rebuilt index, may differ
_Row = tuple[int, str, str | None, Turn | None, bool]
"""All of a Vector but its bytes, which are in the matrix."""


class Near(NamedTuple):
    no: int
    folder: str
    thread: str | None
    cosine: float


class Meanings:
    """What the entries of one space mean to one embedder. One per open book."""

    def __init__(
        self, index: Index, space: Space, embedder: Embedder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._index, self._space, self.embedder, self._clock = index, space, embedder, clock
        self.waiting, self.total = 0, 0  # entries without a vector after the last `fill`; and, if any, how many in all
        self._most = _FIRST  # texts in the next batch
        self._pace: float | None = None  # seconds for a text in the last one
        self._heard: tuple[str, NDArray[np.float32]] | None = None
        self._known: tuple[int, int] | None = None  # epoch of the index, and its count of dropped vectors
        self._rows: list[_Row] = []
        self._places: dict[int, int] = {}  # number of an entry: its row
        self._folders: set[str] = set()
        self._beside: dict[int, tuple[int | None, int | None]] | None = None
        self._raw: NDArray[np.float32] | None = None
        self._matrix: NDArray[np.float32] | None = None
        self._centre: NDArray[np.float32] | None = None
        self._asked: NDArray[np.float32] | None = None
        self._cosines: NDArray[np.float32] | None = None
        self._table: StaticEmbedder | None = None

    @property
    def is_quick(self) -> bool:
        """Whether a question can wait for a whole book to be embedded."""
        return self.embedder.model == STATIC

    @property
    def _model(self) -> str:
        """What the vectors are kept under. A service may have put another model behind an old name: with another
        dimension it is told by that."""
        return f"{self.embedder.model} {self.embedder.dimension}"

    def hear(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, made once. Before anything else is embedded: it tells whether that can be done, and
        how long a text takes."""
        if self._heard is None or self._heard[0] != question:
            start = self._clock()
            self._heard = (question, self.embedder.embed([question])[0])
            self._pace = self._clock() - start if self._pace is None else self._pace
        return self._heard[1]

    def fill(self, seconds: float | None = None, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed what has no vector of this model yet: all of it, or what takes about so many seconds, and one batch at
        least. Each batch is kept: an error in a later one takes nothing back. Answers how many were embedded."""
        model = self._model
        with self._index.reading(self._space) as reading:
            self.waiting = len(reading.unembedded(model, 1))
            before, total = reading.count_embedded(model) if self.waiting and progress is not None else (0, 0)
        if not self.waiting:
            return 0
        done, end = 0, self._clock() + seconds if seconds is not None else None
        size, least = max(1, self._fitting(end)), int(end is None)
        try:
            while size and (number := self._embed(size, model)):
                done += number
                if progress is not None:
                    progress(before + done, max(before + done, total))
                size = max(least, self._fitting(end))
        except EmbedderError:
            self._most = max(1, size // 2)  # what is too much for it at once is not tried again
            raise
        finally:
            self._count(model)
        return done

    def _count(self, model: str) -> None:
        with self._index.reading(self._space) as reading:
            self.waiting = 0
            if reading.unembedded(model, 1):  # else there is nothing to say, and to count takes a while
                done, self.total = reading.count_embedded(model)
                self.waiting = self.total - done

    def _fitting(self, end: float | None) -> int:
        """How many texts the next batch has, so that it is ready by then; 0 where not even one would be."""
        if self.is_quick:
            return _BATCH
        if self._pace is None:
            return 1
        left = end - self._clock() if end is not None else _AT_ONCE
        if left > self._most * self._pace:
            return self._most
        return int(left / self._pace) if left > 0 else 0

    def _embed(self, size: int, model: str) -> int:
        """Embed some more, and keep that; answers how many there were."""
        start = self._clock()
        with self._index.reading(self._space) as reading:
            waiting = reading.unembedded(model, size)
        if not waiting:
            return 0
        vectors = self.embedder.embed([text for _, text in waiting])
        with self._index.transaction(self._space) as writing:
            same = dict(writing.unembedded(model, size))  # meanwhile a number may have got another text
            made = zip(waiting, vectors, strict=True)
            writing.put_vectors(model, [(no, _packed(row)) for (no, text), row in made if same.get(no) == text])
        self._pace, self._most = (self._clock() - start) / len(waiting), min(2 * self._most, _MOST)
        return len(waiting)

    def ask(self, question: str, talk: str) -> None:
        """How near every entry is to a question; `nearest` and `cosines` answer of this one. Conversations may be asked
        otherwise than lone notes."""
        import numpy as np  # noqa: PLC0415 - questions by words do without

        self._bring_up_to_date()
        self._asked = self._turned(question)
        self._cosines = self._near(self._asked)
        if talk != question and any(row[2] is not None for row in self._rows):
            other = self._near(self._turned(talk))
            if self._cosines is not None and other is not None:
                lone = np.fromiter((row[2] is None for row in self._rows), bool, len(self._rows))
                self._cosines = np.where(lone, self._cosines, other)

    def nearness(self, texts: Sequence[str]) -> list[float]:
        """How near some texts are to the question by the table; none by a model, which would take too long for them."""
        import numpy as np  # noqa: PLC0415 - see above

        if not texts or self._asked is None or self._centre is None or self.embedder.model != STATIC:
            return []
        rows = _unit(self.embedder.embed(texts) - self._centre)
        found: list[float] = np.round(np.einsum("ij,j->i", rows, self._asked), _DIGITS).tolist()
        return found

    def _near(self, asked: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        import numpy as np  # noqa: PLC0415 - see above

        if self._matrix is None or asked is None:
            return None
        # Not `@`: the threads it starts for so little cost more than the work, the more so on a busy machine.
        cosines: NDArray[np.float32] = np.einsum("ij,j->i", self._matrix, asked)
        return np.round(cosines, _DIGITS)

    def _turned(self, question: str) -> NDArray[np.float32] | None:
        """The vector of a question without what all entries have in common; None where nothing is known of it."""
        import numpy as np  # noqa: PLC0415 - see above

        asked = self.hear(question)
        if self._centre is None or not asked.any():
            return None
        turned = asked - self._centre
        length = float(np.linalg.norm(turned))
        return (turned / length).astype(np.float32) if length > 0 else None

    def nearest(self, folders: Sequence[str], limit: int) -> Iterator[Near]:
        """The entries of these scopes that mean most nearly what the question means; equals of the last are in."""
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
        return (Near(no, folder, thread, cosine) for (no, folder, thread, _, _), cosine in near)

    def cosines(self, numbers: Iterable[int]) -> Mapping[int, float]:
        """Those of the question, for any entries; one without a vector has none."""
        cosines = self._cosines
        if cosines is None:
            return {}
        places = {number: self._places[number] for number in numbers if number in self._places}
        return dict(zip(places, cosines[list(places.values())].tolist(), strict=True))

    def likeness(self, one: int, other: int) -> float:
        """How nearly two entries mean the same; 0 where nothing is known, and what words alone would say where there
        is no vector yet."""
        if self._matrix is None or one not in self._places or other not in self._places:
            return unknown(one, other) if self.waiting else 0.0
        return float(self._matrix[self._places[one]] @ self._matrix[self._places[other]])

    def alike(self, numbers: Sequence[int], among: Iterable[int], limit: int) -> list[int]:
        """Those among some entries that mean most nearly the same as one of a few: so many for each of these."""
        import numpy as np  # noqa: PLC0415 - see above

        others = np.array([self._places[number] for number in among if number in self._places], np.intp)
        few = [self._places[number] for number in numbers if number in self._places]
        if self._matrix is None or not len(others) or not few:
            return []
        rows = self._matrix[others]
        cosines = [np.round(np.einsum("ij,j->i", rows, self._matrix[place]), _DIGITS) for place in few]
        best = [np.argsort(-near, kind="stable")[:limit] for near in cosines]
        return sorted({self._rows[others[at]][0] for places in best for at in places})

    def said(self, question: str, texts: Sequence[str]) -> CoverageScore:
        """How much of a question texts say in words that mean nearly the same. The table inside the install tells it,
        whoever embeds: it knows single words."""
        from commonplace.embed.static import StaticEmbedder  # noqa: PLC0415 - questions by words do without

        if self._table is None:
            self._table = self.embedder if isinstance(self.embedder, StaticEmbedder) else StaticEmbedder()
        return self._table.said(question, texts)

    def only_spells(self, question: str) -> bool:
        """Whether the embedder knows of a question little more than its letters. Of others than the table inside the
        install nobody knows what they know."""
        return self.embedder.model == STATIC and is_spelled(question)

    def beside(self, numbers: Iterable[int]) -> Mapping[int, tuple[int | None, int | None]]:
        """What was said just before and after these entries in their conversation, by number."""
        if self._beside is None:
            threads: dict[tuple[str, str], list[tuple[bool, Turn, int]]] = {}
            for no, folder, thread, turn, today in self._rows:
                if thread is not None and turn is not None and today:
                    threads.setdefault((folder, thread), []).append((isinstance(turn, str), turn, no))
            self._beside = {}
            for said in threads.values():
                order: list[int | None] = [None, *(no for _, _, no in sorted(said)), None]
                for before, here, after in zip(order, order[1:], order[2:], strict=False):
                    if here is not None:
                        self._beside[here] = (before, after)
        return {number: self._beside[number] for number in numbers if number in self._beside}

    def _bring_up_to_date(self) -> None:
        import numpy as np  # noqa: PLC0415 - see above

        with self._index.reading(self._space) as reading:
            now = (self._index.epoch, reading.vectors_dropped())
            if now != self._known:
                self._known, self._rows, self._raw, self._matrix = now, [], None, None
                self._places, self._folders, self._beside = {}, set(), None
            after = self._rows[-1][0] if self._rows else 0
            new = [row for row in reading.vectors(self._model, after) if row.data]
        if not new:
            return
        more = np.frombuffer(b"".join(row.data for row in new), np.int8).astype(np.float32)
        more = _unit(more.reshape(len(new), self.embedder.dimension))
        self._raw = more if self._raw is None else np.vstack([self._raw, more])
        self._rows += [row[:5] for row in new]
        self._places = {row[0]: at for at, row in enumerate(self._rows)}
        self._folders = {row[1] for row in self._rows}
        self._beside = None
        enough = len(self._rows) >= _ENOUGH and self.embedder.model == STATIC
        self._centre = np.round(self._raw.mean(axis=0), _DIGITS) if enough else np.zeros(more.shape[1], np.float32)
        self._matrix = _unit(self._raw - self._centre)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same rows at length one, in their own place: a copy of a hundred megabytes would cost more than the sums."""
    import numpy as np  # noqa: PLC0415 - see above

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None]
    return rows


def _packed(row: NDArray[np.float32]) -> bytes:
    """A vector as bytes; none for a text of which nothing is known."""
    import numpy as np  # noqa: PLC0415 - see above

    largest = float(np.abs(row).max())
    return np.rint(row * (127.0 / largest)).astype(np.int8).tobytes() if largest > 0 else b""
