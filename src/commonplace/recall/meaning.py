"""Embed the entries of a book, and compare a question with them by their vectors.

There is one SemanticIndex per open book; the verbs make it, `search.py` asks it. It loads no numpy until an entry is
embedded or a question compared: the numbers are in `vectors.py`.

The static table embeds thousands of texts a second, so a question waits until every entry has a vector. Any other
embedder may take minutes for a book: each question gives it a short time, each batch is stored at once, and an entry
without a vector is scored by its words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from commonplace.embed import ModelEmbedder, StaticEmbedder, choose_embedder
from commonplace.embed.port import Embedder
from commonplace.index.port import Index, PendingText, Transaction
from commonplace.model.errors import EmbedderError
from commonplace.model.lazy import lazy
from commonplace.model.scope import Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
_MAX_BATCH_SECONDS = 2.0  # for a batch of another embedder without a deadline: services abort slow requests


def open_semantic_index(
    index: Index, space: Space, setting: str, *, key: str | None = None, passages: int = 1
) -> SemanticIndex:
    """Return the semantic index of a space by the embedder that a setting names; `key` is for a service, and `passages`
    is how many parts of a long text have a vector of their own.

    Raises InvalidSettings or EmbedderMissing, as `choose_embedder` does.
    """
    return SemanticIndex(index, space, choose_embedder(setting, key=key), passages=passages)


class SemanticIndex:
    """The vectors of one space's entries by one embedder."""

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
        self._question_vector: tuple[str, NDArray[np.float32]] | None = None
        self._vectors: EntryVectors | None = None

    @property
    def is_quick(self) -> bool:
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

    def embed_question(self, question: str) -> NDArray[np.float32]:
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

        With `seconds`, stop after about that time, but not before one batch, nor, with the model inside the install,
        before a small book is done. Each batch is stored: an error in a later one takes nothing back. With
        `must_store`, wait where another process writes, and raise StorageError if a batch cannot be stored; without it,
        this process alone may get to know the vectors.
        """
        end = self._clock() + seconds if seconds is not None else None
        keep = self._keep if must_store else self._keep_if_free
        least = _LEAST_TEXTS if isinstance(self.embedder, ModelEmbedder) else 1
        done = 0
        try:
            if self.has_pending():
                before = self.total - self.waiting
                while size := max(self._choose_batch_size(end), int(end is None or done < least)):
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
            while self._compare_some(keep) and (end is None or self._clock() < end):
                pass
            if done:
                self.has_pending()
        return done

    def _choose_batch_size(self, end: float | None) -> int:
        """Return how many texts to embed in the next batch to be done by `end`; 0 if there is no time for one."""
        if self.is_quick:
            return _TABLE_BATCH
        left = end - self._clock() if end is not None else _MAX_BATCH_SECONDS
        return min(self._batch_limit, int(max(0.0, left) / (self._seconds_per_text or left or 1.0)))

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
        size = max(1, int(_BESIDE_SECONDS / (self._seconds_per_text or _BESIDE_SECONDS)))

        def keep(store: Store) -> None:
            self._keep(store, _BESIDE_SECONDS)

        if self._embed_batch(size, keep) or self._compare_some(keep):
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
            from commonplace.recall.later import compare_new  # noqa: PLC0415 - not needed by most questions

            found = compare_new(reading, self._refresh(reading), new)
        keep(lambda writing: writing.set_later(found))
        return True

    def _keep(self, store: Store, wait: float | None = None) -> None:
        """Store a batch; wait where another process writes."""
        with self._index.transaction(self._space, wait) as writing:
            store(writing)

    def _keep_if_free(self, store: Store) -> None:
        """Store a batch, or keep it in this process where another one writes."""
        self._index.refresh(self._space, store)

    def _embed_batch(self, size: int, keep: Keep) -> int:
        """Embed up to `size` more entries and let `keep` store them; return how many there were."""
        start = self._clock()
        with self._index.reading(self._space) as reading:
            waiting = reading.unembedded(self._model, size)
        if not waiting:
            return 0
        made = self._embed_texts(waiting)

        def store(writing: Transaction) -> None:
            same = {*writing.unembedded(self._model, size)}  # meanwhile a number may have got another text
            new = zip(waiting, made, strict=True)
            writing.put_vectors(self._model, [(item.no, data) for item, data in new if item in same])

        keep(store)
        self._seconds_per_text = (self._clock() - start) / len(waiting)
        self._batch_limit = min(2 * self._batch_limit, _MAX_BATCH)
        return len(waiting)

    def _embed_texts(self, texts: Sequence[PendingText]) -> list[bytes]:
        """Return the vector of each text as bytes; of a long one those of its passages, one after the other.

        A turn has one: it says one thing, and what is said around it counts, too.
        """
        if self._passages == 1:
            return list(map(_pack_vector, self.embedder.embed([item.text for item in texts])))
        passages = [[item.text] if item.is_turn else split_passages(item.text, self._passages) for item in texts]
        rows = iter(self.embedder.embed([passage for some in passages for passage in some]))
        return [b"".join([_pack_halves(next(rows)) for _ in some]) for some in passages]

    def compare_entries(self, reading: Transaction, parsed: ParsedQuery) -> EntryVectors:
        """Return the vectors of all entries, compared with a question. Entries without a vector are left out."""
        vectors = self._refresh(reading)
        vectors.set_question(parsed.text, parsed.talk)
        return vectors

    def _refresh(self, reading: Transaction) -> EntryVectors:
        """Return the vectors of all entries, as they are now."""
        if self._vectors is None:
            from commonplace.recall.vectors import EntryVectors  # noqa: PLC0415 - it loads numpy

            self._vectors = EntryVectors(self.embedder, self.embed_question, is_packed=self._passages > 1)
        self._vectors.refresh(reading, self._index.epoch, self._model)
        return self._vectors


def split_passages(text: str, most: int) -> list[str]:
    """Return a text in passages of a sentence or a few, at most so many of them."""
    whole = _WRAP.sub(" ", text)
    sentences = [sentence for sentence in _SENTENCE_END.split(whole) if sentence.strip()]
    passages: list[str] = []
    for sentence in sentences:
        if passages and len(passages[-1]) + len(sentence) <= _PASSAGE_LENGTH:
            passages[-1] = f"{passages[-1]} {sentence}"
        else:
            passages.append(sentence)
    if len(passages) > most:
        size = -(-len(passages) // most)
        passages = [" ".join(passages[at : at + size]) for at in range(0, len(passages), size)]
    return passages or [text]


def _pack_vector(row: NDArray[np.float32]) -> bytes:
    """Return a vector as bytes; none for a text of which nothing is known."""
    largest = float(abs(row).max())
    return (row * (127.0 / largest)).round().astype("int8").tobytes() if largest > 0 else b""


def _pack_halves(row: NDArray[np.float32]) -> bytes:
    """Return a vector of an even dimension with two numbers in each byte, from -7 to 7; none for one of zeros.

    Of many passages that is enough: their order is the same as with whole bytes, but for some that are as near.
    """
    largest = float(abs(row).max())
    if largest <= 0:
        return b""
    numbers = ((row * (7.0 / largest)).round() + 8).astype("uint8")
    halves: bytes = (numbers[0::2] << 4 | numbers[1::2]).tobytes()
    return halves
