"""Embed the entries of a book, and compare a question with them by their vectors.

There is one SemanticIndex per open book; the verbs make it, `search.py` asks it. It loads no numpy until an entry is
embedded or a question compared: the numbers are in `vectors.py`.

The static table embeds thousands of texts a second, so a question waits until every entry has a vector. Any other
embedder may take minutes for a book: each question gives it a short time, each batch is stored at once, and an entry
without a vector is scored by its words.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from commonplace.embed import ModelEmbedder, StaticEmbedder
from commonplace.embed.port import Embedder
from commonplace.index.port import Index, Transaction
from commonplace.model.errors import EmbedderError
from commonplace.model.lazy import lazy
from commonplace.model.scope import Space
from commonplace.recall.later import compare_new

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors
    from commonplace.recall.query import ParsedQuery
    from commonplace.recall.vectors import EntryVectors

_SENTENCE_END = lazy(r"(?<=[.!?。！？])\s+|\n+")
_WRAP = lazy(r"(?<=[^\n]{50})\n(?=\S)")  # a line that a program broke goes on in the next
_PASSAGE_LENGTH = 70  # characters: shorter sentences share a vector
Store = Callable[[Transaction], None]
Keep = Callable[[Store], None]
_TABLE_BATCH = 2_000  # texts in a batch of the static table
_FIRST_BATCH, _MAX_BATCH = 16, 64  # texts in a batch of another embedder
_LEAST_TEXTS = 32  # that a question waits for the model inside the install, however slow the machine is
_COMPARED = 64  # entries that are compared with those like them at a time
_BESIDE_SECONDS = 0.05  # for a batch beside the calls, and to store it
_MAX_BATCH_SECONDS = 2.0  # for a batch of another embedder: services abort slow requests
_LEAST_SECONDS = 1e-6  # that a text takes, however coarse the clock is


class SemanticIndex:
    """The vectors of one space's entries by one embedder.

    `passages` is how many parts of a long text have a vector of their own.
    """

    def __init__(
        self,
        index: Index,
        space: Space,
        embedder: Embedder,
        clock: Callable[[], float] = time.monotonic,
        *,
        passages: int = 1,
    ) -> None:
        self._passages = passages
        self._index, self._space, self.embedder, self._clock = index, space, embedder, clock
        self.waiting = self.total = 0  # entries without a vector after the last batch; if any, how many in all
        self._batch_limit = _FIRST_BATCH  # texts in the next batch
        self._seconds_per_text = _MAX_BATCH_SECONDS  # in the last batch; before there was one, a batch is one text
        self._question_vector: tuple[str, Vectors] | None = None
        self._vectors: EntryVectors | None = None

    @property
    def _is_quick(self) -> bool:
        """Whether a question can wait until a whole book is embedded."""
        return self.embedder.model == StaticEmbedder.model

    @property
    def _model(self) -> str:
        """The name under which vectors are stored.

        It has the dimension in it: a service may have put another model behind an old name. "tags" says what is
        embedded of a note.
        """
        parts = f" {self._passages} passages halved" if self._passages > 1 else ""
        return f"{self.embedder.model} {self.embedder.dimension} tags{parts}"

    def embed_question(self, question: str) -> Vectors:
        """Return the vector of a question, computed once.

        Call it before anything else is embedded: it shows whether the embedder works, and how long a text takes.
        """
        if self._question_vector is None or self._question_vector[0] != question:
            start = self._clock()
            self._question_vector = (question, self.embedder.embed([question])[0])
            self._seconds_per_text = self._clock() - start
        return self._question_vector[1]

    def embed_pending(
        self,
        seconds: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        must_store: bool = False,
    ) -> int:
        """Embed the entries without a vector of this model, and return how many were embedded.

        With `seconds`, stop after about that time, but not before one batch, nor, with what is inside the install,
        before a small book is done: with the static table, any book. Each batch is stored: an error in a later one
        takes nothing back. With `must_store`, wait where another process writes, and raise StorageError if a batch
        cannot be stored; without it, this process alone may get to know the vectors.
        """
        keep: Keep = self._keep if must_store else partial(self._index.refresh, self._space)
        end, least = inf, inf
        if seconds is not None and not self._is_quick:
            end, least = self._clock() + seconds, _LEAST_TEXTS if isinstance(self.embedder, ModelEmbedder) else 1
        done = 0
        try:
            if self.has_pending():
                before = self.total - self.waiting
                while size := max(self._fit_batch(end - self._clock()), int(done < least)):
                    number = self._embed_batch(size, keep)
                    if not number:
                        break
                    done += number
                    if progress is not None:
                        progress(before + done, max(before + done, self.total))
        except EmbedderError:
            self._batch_limit = max(1, size // 2)  # what is too much for it at once is not tried again
            raise
        finally:
            while self._compare_some(keep) and self._clock() < end:
                pass
            if done:
                self.has_pending()
        return done

    def _fit_batch(self, seconds: float) -> int:
        """Return how many texts to embed in a batch that may take so many seconds."""
        if self._is_quick:
            return _TABLE_BATCH
        return min(
            self._batch_limit, int(min(seconds, _MAX_BATCH_SECONDS) / max(self._seconds_per_text, _LEAST_SECONDS))
        )

    def has_pending(self) -> bool:
        """Return whether an entry has no vector of this model yet; `waiting` and `total` say how many of how many."""
        with self._index.reading(self._space) as reading:
            self.waiting = 0
            if reading.unembedded(self._model, 1):  # else there is nothing to say, and to count takes a while
                embedded, self.total = reading.count_embedded(self._model)
                self.waiting = self.total - embedded
        return bool(self.waiting)

    def count_pending(self) -> int:
        """Return how many entries have no vector of this model yet."""
        with self._index.reading(self._space) as reading:
            embedded, total = reading.count_embedded(self._model)
        return total - embedded

    def embed_some(self) -> bool:
        """Embed and store a small batch; return whether there was one. For a thread beside the calls.

        Raises StorageError where the batch cannot be stored at once: a call may be waiting.
        """
        keep = partial(self._keep, wait=_BESIDE_SECONDS)
        if self._embed_batch(max(1, self._fit_batch(_BESIDE_SECONDS)), keep) or self._compare_some(keep):
            return True
        self.waiting = 0
        return False

    def _compare_some(self, keep: Keep) -> bool:
        """Find out which of some entries that were embedded last a later one may contradict; return if there were any.

        Half of a batch that is not compared yet, because the process ended, is found again by the next one.
        """
        with self._index.reading(self._space) as reading:
            new = reading.uncompared(_COMPARED)
            if not new:
                return False
            found = compare_new(reading, self._refresh(reading), new)
        keep(lambda writing: writing.set_later(found))
        return True

    def _keep(self, store: Store, wait: float | None = None) -> None:
        """Store a batch; wait where another process writes."""
        with self._index.transaction(self._space, wait) as writing:
            store(writing)

    def _embed_batch(self, size: int, keep: Keep) -> int:
        """Embed up to `size` more entries and let `keep` store them; return how many there were."""
        start = self._clock()
        with self._index.reading(self._space) as reading:
            waiting = reading.unembedded(self._model, size)
        if not waiting:
            return 0
        # A turn has one vector: it says one thing, and what is said around it counts, too.
        passages = [[item.text] if item.is_turn else split_passages(item.text, self._passages) for item in waiting]
        pack = _pack_vector if self._passages == 1 else _pack_halves
        rows = map(pack, self.embedder.embed([passage for some in passages for passage in some]))
        made = [b"".join(islice(rows, len(some))) for some in passages]

        def store(writing: Transaction) -> None:
            same = {*writing.unembedded(self._model, size)}  # meanwhile a number may have got another text
            new = zip(waiting, made, strict=True)
            writing.put_vectors(self._model, [(item.no, data) for item, data in new if item in same])

        keep(store)
        self._seconds_per_text = (self._clock() - start) / len(waiting)
        self._batch_limit = min(2 * self._batch_limit, _MAX_BATCH)
        return len(waiting)

    def compare_entries(self, reading: Transaction, parsed: ParsedQuery) -> EntryVectors:
        """Return the vectors of all entries, compared with a question. Entries without a vector are left out."""
        vectors = self._refresh(reading)
        vectors.set_question(parsed.text, parsed.talk, self.embed_question)
        return vectors

    def _refresh(self, reading: Transaction) -> EntryVectors:
        """Return the vectors of all entries, as they are now; all are loaded anew if some were dropped."""
        from commonplace.recall.vectors import EntryVectors  # noqa: PLC0415 - it loads numpy

        version = (self._index.epoch, reading.vectors_dropped())
        if self._vectors is None or self._vectors.version != version:
            self._vectors = EntryVectors(self.embedder.dimension, version, is_halved=self._passages > 1)
        self._vectors.load(reading, self._model)
        return self._vectors


def split_passages(text: str, most: int) -> list[str]:
    """Return a text in passages of a sentence or a few, at most so many of them."""
    if most == 1:
        return [text]
    passages = [""]
    for sentence in _SENTENCE_END.split(_WRAP.sub(" ", text)):
        if passages[-1] and len(passages[-1]) + len(sentence) > _PASSAGE_LENGTH:
            passages.append("")
        passages[-1] = f"{passages[-1]} {sentence}".strip()
    size = -(-len(passages) // most)
    return [" ".join(passages[at : at + size]) for at in range(0, len(passages), size)]


def _pack_vector(row: Vectors) -> bytes:
    """Return a vector as bytes; none for a text of which nothing is known."""
    largest = float(abs(row).max())
    return (row * (127.0 / largest)).round().astype("int8").tobytes() if largest > 0 else b""


def _pack_halves(row: Vectors) -> bytes:
    """Return a vector of an even dimension with two numbers in each byte, from -7 to 7; none for one of zeros.

    Of many passages that is enough: their order is the same as with whole bytes, but for some that are as near.
    """
    largest = float(abs(row).max())
    if largest <= 0:
        return b""
    numbers = ((row * (7.0 / largest)).round() + 8).astype("uint8")
    halves: bytes = (numbers[0::2] << 4 | numbers[1::2]).tobytes()
    return halves
