"""The embedder inside the install: a table of word pieces, each with a vector; a text is the sum of its pieces.

No model is run and nothing is downloaded, so a question costs microseconds, and semantic recall works right after
install. The table is potion-base-8M (table/NOTICE), trained by tools/train_static_table.py to bring questions near to
notes that answer them in other words, and reduced from 30 MB to under 4: 256 numbers of four bits for each piece and
one weight. Rounded so, potion measured as good as before, and better than with half as many numbers of eight bits
(docs/adr/0007-static-table.md). Sums are of whole numbers, and so the same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from commonplace.embed.port import normalise_rows
from commonplace.embed.wordpiece import WordPiece
from commonplace.model.errors import EmbedderMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.coverage import CoverageScore, SoftCoverage
    from commonplace.embed.port import Vectors

MODEL: Final = "commonplace-256-int4-v2"  # a new table has a new name: tests/embed/test_static.py holds them together
DIMENSION: Final = 256
MAX_PIECES: Final = 4_096  # of one text: 7 * 65535 * 4096 is the last power of two below 2**31
_FOLDER = os.path.join(os.path.dirname(__file__), "table")
_UNPACK_BATCH = 512  # pieces that are unpacked together: 512 KB, which stays in the processor's cache


class _Table(NamedTuple):
    """The table as it is loaded."""

    cut: WordPiece
    numbers: NDArray[np.int8]  # one row of bytes per piece: the low halves are its first 128 numbers, the high the rest
    weights: NDArray[np.uint16]  # of each piece: how much it says


class StaticEmbedder:
    """Embeds with the table inside the install, which is loaded with the first text."""

    model = MODEL
    dimension = DIMENSION

    def __init__(self) -> None:
        self._table: _Table | None = None
        self._coverage: SoftCoverage | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderMissing if the table cannot be read."""
        import numpy as np

        if self._table is None:
            self._table = _load_table()
        cut = self._table.cut
        sums = np.zeros((len(texts), DIMENSION), np.int32)
        for rows, starts, pieces in _batch_pieces(cut(text)[:MAX_PIECES] for text in texts):
            sums[rows] = np.add.reduceat(_unpack_vectors(self._table, pieces), starts, axis=0)
        return normalise_rows(sums)

    def score_coverage(self, question: str, texts: Sequence[str]) -> CoverageScore:
        """Return how much of a question each text, and all together, say in words of nearly the same meaning."""
        if self._coverage is None:
            from commonplace.embed.coverage import SoftCoverage

            table = self._table = self._table or _load_table()
            self._coverage = SoftCoverage(table.cut.cut_word, partial(_unpack_vectors, table))
        return self._coverage.score(question, texts)


def _batch_pieces(cuts: Iterator[list[int]]) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield texts with pieces in batches: their rows, where each begins, and all of their pieces in one list."""
    rows: list[int] = []
    starts: list[int] = []
    pieces: list[int] = []
    for row, cut in enumerate(cuts):
        if cut:
            rows.append(row)
            starts.append(len(pieces))
            pieces += cut
        if len(pieces) >= _UNPACK_BATCH:
            yield rows, starts, pieces
            rows, starts, pieces = [], [], []
    if pieces:
        yield rows, starts, pieces


def _unpack_vectors(table: _Table, pieces: Sequence[int]) -> NDArray[np.int32]:
    """Return the vectors of some pieces: each byte is two numbers of -7 to 7, times the weight of the piece."""
    import numpy as np

    places = np.array(pieces)
    packed = table.numbers[places]
    half = DIMENSION // 2
    found = np.empty((len(pieces), DIMENSION), np.int32)
    found[:, :half] = (packed << 4) >> 4  # shifting back brings the sign along
    found[:, half:] = packed >> 4
    found *= table.weights[places, None]
    return found


def _load_table() -> _Table:
    """Return the table; raise EmbedderMissing if it cannot be read or is damaged."""
    import numpy as np

    try:
        with open(os.path.join(_FOLDER, "pieces.txt"), encoding="utf-8", newline="\n") as file:
            names = file.read().split("\n")
        count, half = len(names), DIMENSION // 2
        # Mapped, not read: a question touches a few rows, and processes share the pages.
        data = np.memmap(os.path.join(_FOLDER, "vectors.bin"), np.uint8, "r")
    except (OSError, ValueError) as error:
        raise EmbedderMissing("The table of the default embedder cannot be read.") from error
    if len(data) != count * (half + 2):
        raise EmbedderMissing("The table of the default embedder is damaged.")
    plain = data.view(np.ndarray)  # a memmap looks at every slice of itself; a plain array of the same pages does not
    numbers = plain[: count * half].view(np.int8).reshape(count, half)
    weights = plain[count * half :].view("<u2")
    return _Table(WordPiece(dict(zip(names, range(count), strict=True))), numbers, weights)
