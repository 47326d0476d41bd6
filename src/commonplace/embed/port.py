"""The port of embedders: texts in, one vector each out.

What every implementation promises, and tests/embed/conformance.py checks:

- `embed` returns one row per text, in the order of the texts: float32, of length one, or all zeros for a text of which
  nothing is known. A row of zeros is *no vector*: it is never stored and never compared.
- A text has the same row whatever other texts are in the batch, and in whatever order, as nearly as the arithmetic
  allows (the static table: to the bit, on any machine).
- `model` names the model and its version: vectors of two names must not be compared. It and `dimension` are recorded
  with every vector. Neither needs more than a look at the model.
- Creating an embedder reads no big file and calls no service; the first `embed` does. Those inside the install
  do not load numpy before that either.
- A failure is an EmbedderError, never a guess, and never contains the text or a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors; the module says what each implementation promises."""

    @property
    def model(self) -> str:
        """The name and version of the model."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""


def normalise_rows(rows: NDArray[Any]) -> Vectors:
    """Return the rows at length one; rows of zeros stay so. It uses their methods alone: a port loads no numpy."""
    exact = rows.astype("float64")  # wide enough that the length of a row of large whole numbers is right
    lengths = (exact * exact).sum(axis=1, keepdims=True) ** 0.5
    lengths[lengths == 0] = 1
    exact /= lengths
    return exact.astype("float32")
