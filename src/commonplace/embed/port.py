"""The port of embedders: texts in, one vector each out.

What every implementation promises, and tests/embed/conformance.py checks:

- `embed` returns one row per text, in the order of the texts: float32, of length one, or all zeros for a text of which
  nothing is known. A row of zeros is *no vector*: it is never stored and never compared. `find_known_rows` tells which
  rows are vectors.
- A text has the same row whatever other texts are in the batch, and in whatever order, as nearly as the arithmetic
  allows (the static table: to the bit, on any machine).
- `model` names the model and its version: vectors of two names must not be compared. It and `dimension` are recorded
  with every vector. Neither needs more than a look at the model.
- Creating an embedder never reads a big file or imports numpy; the first `embed` does.
- A failure is an EmbedderError, never a guess, and never contains the text or a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """What turns texts into vectors; the module says what each implementation promises."""

    @property
    def model(self) -> str:
        """The name and version of the model."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""


def find_known_rows(vectors: Vectors) -> NDArray[np.bool_]:
    """Return which rows are vectors; the others belong to texts of which the model knows nothing."""
    return cast("NDArray[np.bool_]", vectors.any(axis=1))


def normalise_rows(rows: NDArray[Any]) -> Vectors:
    """Return the rows at length one; rows of zeros stay so."""
    import numpy as np

    exact = rows.astype(np.float64)  # wide enough that the length of a row of large whole numbers is right
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return (exact / np.where(lengths > 0, lengths, 1)).astype(np.float32)
