"""The embedder inside the install: a table of word pieces, each with a vector; a text is the sum of its pieces.

No model is run and nothing is downloaded, so a question costs microseconds, and meaning is found right after install.
The table is potion-base-8M (table/NOTICE), taught by tools/train_static_table.py to bring questions near to notes that
answer them in other words, and brought from 30 MB to under 4: 256 numbers of four bits for each piece and one weight.
Rounded so, potion measured as good as before, and better than with half as many numbers of eight bits
(docs/adr/0007-static-table.md). Sums are of whole numbers, and so the same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from commonplace.embed.coverage import CoverageScore, SoftCoverage
from commonplace.embed.port import unit
from commonplace.embed.wordpiece import WordPiece
from commonplace.model.errors import EmbedderMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

MODEL: Final = "commonplace-256-int4-v2"  # a new table has a new name: tests/embed/test_static.py holds them together
DIMENSION: Final = 256
MOST_PIECES: Final = 4_096  # of one text: 7 * 65535 * 4096 is the last power of two below 2**31
_FOLDER = os.path.join(os.path.dirname(__file__), "table")
_AT_ONCE = 512  # pieces that are unpacked together: 512 KB, which stays in the processor's cache


class _Table(NamedTuple):
    cut: WordPiece
    numbers: NDArray[np.int8]  # one row of bytes per piece: the low halves are its first 128 numbers, the high the rest
    weights: NDArray[np.uint16]  # of each piece: how much it says


class StaticEmbedder:
    """See the module. The table is loaded with the first text."""

    model = MODEL
    dimension = DIMENSION

    def __init__(self) -> None:
        self._table: _Table | None = None
        self._hearing: SoftCoverage | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if self._table is None:
            self._table = _load()
        cut = self._table.cut
        sums = np.zeros((len(texts), DIMENSION), np.int32)
        for rows, starts, pieces in _batches(cut(text)[:MOST_PIECES] for text in texts):
            sums[rows] = np.add.reduceat(_unpacked(self._table, np.array(pieces)), starts, axis=0)
        return unit(sums)

    def said(self, question: str, texts: Sequence[str]) -> CoverageScore:
        """How much of a question each text says in words that mean nearly the same, and all of them together."""
        import numpy as np

        if self._hearing is None:
            table = self._table = self._table or _load()
            self._hearing = SoftCoverage(table.cut.of_word, lambda pieces: _unpacked(table, np.array(pieces)))
        return self._hearing(question, texts)


def _batches(cuts: Iterator[list[int]]) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Texts with pieces, some at a time: their rows, where each begins, and all of their pieces in one list."""
    rows: list[int] = []
    starts: list[int] = []
    pieces: list[int] = []
    for row, cut in enumerate(cuts):
        if cut:
            rows.append(row)
            starts.append(len(pieces))
            pieces += cut
        if len(pieces) >= _AT_ONCE:
            yield rows, starts, pieces
            rows, starts, pieces = [], [], []
    if pieces:
        yield rows, starts, pieces


def _unpacked(table: _Table, pieces: NDArray[np.intp]) -> NDArray[np.int32]:
    """The vectors of some pieces: each byte is two numbers of -7 to 7, to be multiplied by the weight of the piece."""
    import numpy as np

    packed = table.numbers[pieces]
    half = DIMENSION // 2
    found = np.empty((len(pieces), DIMENSION), np.int32)
    found[:, :half] = (packed << 4) >> 4  # shifting back brings the sign along
    found[:, half:] = packed >> 4
    found *= table.weights[pieces, None]
    return found


def _load() -> _Table:
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
