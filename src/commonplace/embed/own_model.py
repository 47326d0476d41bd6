"""Run the model inside the install: a transformer of six layers, in numpy or onnxruntime (`onnx_layers.py`).

`ModelEmbedder` loads this module, and numpy with it, with the first text. The model is all-MiniLM-L6-v2, tuned by
tools/train_model.py to bring questions near to notes that answer them in other words (model/NOTICE).

`model/weights.bin` has plain arrays one after the other, and nothing that could be run. First the embeddings of the
word pieces in the order of `model/pieces.txt`, the embeddings of positions, and the norm of their sum. Then for each
layer four dense steps (query, key and value in one; the output of attention; the intermediate step; the output), and
the norms behind attention and behind the output. A matrix is rows of signed bytes, followed by one scale for each row;
a dense step is a matrix and a bias; a norm is a scale and a bias. Scales and biases are little-endian float32.

Texts of equal length are run together, so that none has to be padded: a text has the same vector, but for rounding,
whatever else is embedded with it. The first 254 pieces of a text are read. Six sevenths of numpy's time are products of
matrices, and those run as fast as one core can multiply; what stays in memory is 42 MB of matrices. The embeddings
of word pieces stay bytes in the mapped file, since a text needs a few rows of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from commonplace.embed.port import normalise_rows
from commonplace.embed.static_table import WordPiece
from commonplace.model.errors import EmbedderMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

    Floats = NDArray[np.float32]

LAYERS, HEADS, INTERMEDIATE = 6, 12, 1_536
MAX_POSITIONS = 256  # pieces of a text, with the marks before and after it
_MARKS = ("[CLS]", "[SEP]")
_FOLDER = os.path.join(os.path.dirname(__file__), "model")
_BATCH_PIECES = 512  # about: up to 4096 are equally fast with numpy, slower with onnxruntime, and need more memory
EPSILON = 1e-12  # added to a variance, as in the training
_HINT = "Install Commonplace again, or set embedder to static."
_GELU = (math.sqrt(2 / math.pi), 0.044715)


class DenseWeights(NamedTuple):
    """The weights of a dense step as they are stored: rows of bytes, the scale of each, and a bias."""

    numbers: NDArray[np.int8]
    scales: Floats
    bias: Floats


class _Dense(NamedTuple):
    """One dense step; its matrix is transposed once, when it is made, which halves the time of a question."""

    matrix: Floats
    bias: Floats

    def run(self, rows: Floats) -> Floats:
        """Return the rows after the step."""
        found: Floats = rows @ self.matrix
        found += self.bias
        return found


class _DenseMaker:
    """Makes dense steps with float32 for their bytes.

    The matrices are in one piece of memory: numpy gives the system a hint to use large pages for it, which halves the
    time to load the model.
    """

    def __init__(self, layers: Sequence[LayerWeights]) -> None:
        steps = [step for layer in layers for step in layer if isinstance(step, DenseWeights)]
        self._room, self._used = np.empty(sum(step.numbers.size for step in steps), np.float32), 0

    def make(self, weights: DenseWeights) -> _Dense:
        """Return a dense step."""
        start, self._used = self._used, self._used + weights.numbers.size
        matrix = self._room[start : self._used].reshape(weights.numbers.shape[::-1])
        np.multiply(weights.numbers.T, weights.scales, out=matrix)
        return _Dense(matrix, weights.bias)


class Norm(NamedTuple):
    """What rows are scaled by, and what is added, once their mean and variance are 0 and 1."""

    scale: Floats
    bias: Floats

    def run(self, rows: Floats) -> Floats:
        """Norm the rows in place, and return them."""
        rows -= rows.mean(axis=-1, keepdims=True)
        variance = np.einsum("...i,...i->...", rows, rows)[..., None] / rows.shape[-1]
        rows /= np.sqrt(variance + np.float32(EPSILON))
        rows *= self.scale
        rows += self.bias
        return rows


class LayerWeights(NamedTuple):
    """The weights of one layer."""

    query_key_value: DenseWeights
    attention: DenseWeights
    attention_norm: Norm
    intermediate: DenseWeights
    output: DenseWeights
    output_norm: Norm


class _Layer(NamedTuple):
    """The steps of one layer."""

    query_key_value: _Dense
    attention: _Dense
    attention_norm: Norm
    intermediate: _Dense
    output: _Dense
    output_norm: Norm

    def run(self, rows: Floats, count: int, length: int) -> Floats:
        """Return the rows of all pieces after this layer, for `count` texts of one length."""
        size = rows.shape[1] // HEADS
        projected = self.query_key_value.run(rows).reshape(count, length, 3, HEADS, size)
        query, key, value = projected.transpose(2, 0, 3, 1, 4)
        weights = key @ query.transpose(0, 1, 3, 2)  # keys in rows: numpy is faster at sums over rows than within them
        weights *= np.float32(1 / math.sqrt(size))
        weights -= weights.max(axis=-2, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-2, keepdims=True)
        attended = (weights.transpose(0, 1, 3, 2) @ value).transpose(0, 2, 1, 3).reshape(rows.shape)
        found = self.attention.run(attended)
        found += rows
        rows = self.attention_norm.run(found)
        found = self.output.run(_gelu(self.intermediate.run(rows)))
        found += rows
        return self.output_norm.run(found)


class LayerRuntime(Protocol):
    """Runs the layers: numpy here, onnxruntime in `onnx_layers.py`."""

    def run(self, rows: Floats) -> Floats:
        """Return the mean over the pieces of each text, given the rows of all; all texts have the same length."""


class NumpyLayers:
    """The layers as numpy runs them."""

    def __init__(self, layers: Sequence[LayerWeights]) -> None:
        make = _DenseMaker(layers).make
        self._layers = [
            _Layer(
                make(layer.query_key_value),
                make(layer.attention),
                layer.attention_norm,
                make(layer.intermediate),
                make(layer.output),
                layer.output_norm,
            )
            for layer in layers
        ]

    def run(self, rows: Floats) -> Floats:
        """Return the mean over the pieces of each text."""
        count, length, size = rows.shape
        rows = rows.reshape(count * length, size)
        for layer in self._layers:
            rows = layer.run(rows, count, length)
        mean: Floats = rows.reshape(count, length, size).mean(axis=1)
        return mean


class OwnModel:
    """The model as it is loaded; `use` says what runs its layers."""

    def __init__(self, word_pieces: WordPiece, words: NDArray[np.int8], weights: _WeightReader) -> None:
        count, dimension = words.shape
        self.word_pieces, self.dimension = word_pieces, dimension
        self._first, self._last = (word_pieces[mark][0] for mark in _MARKS)
        self._words, self._word_scales = words, weights.take_row(count)
        self._positions = weights.take_matrix(MAX_POSITIONS, dimension)
        self._norm = weights.take_norm(dimension)
        self._layers = [weights.take_layer(dimension) for _ in range(LAYERS)]

    def use(self, make_layers: Callable[[Sequence[LayerWeights]], LayerRuntime]) -> None:
        """Make what runs the layers; raise whatever that raises."""
        self._run_layers = make_layers(self._layers).run

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, of length one; zeros for a text without words."""
        pieces = [self.word_pieces(text)[: MAX_POSITIONS - len(_MARKS)] for text in texts]
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for batch in _list_batches([len(found) for found in pieces]):
            rows[batch] = self._run(np.array([[self._first, *pieces[at], self._last] for at in batch]))
        return normalise_rows(rows)

    def _run(self, numbers: NDArray[np.intp]) -> Floats:
        """Return the mean over the pieces of each text; all texts have the same length."""
        rows = self._words[numbers] * self._word_scales[numbers, None] + self._positions[: numbers.shape[1]]
        return self._run_layers(self._norm.run(rows))


def _gelu(rows: Floats) -> Floats:
    """Activate the rows in place, and return them; by tanh, which differs from the exact one by less than 0.001."""
    inner = rows * rows
    inner *= np.float32(_GELU[0] * _GELU[1])
    inner += np.float32(_GELU[0])
    inner *= rows
    np.tanh(inner, out=inner)
    inner += np.float32(1)
    inner *= np.float32(0.5)
    rows *= inner
    return rows


def _list_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts that are run together: those of one length, not too many at once."""
    by_length: dict[int, list[int]] = {}
    for at, length in enumerate(lengths):
        if length:
            by_length.setdefault(length, []).append(at)
    for length, places in by_length.items():
        size = max(1, _BATCH_PIECES // (length + len(_MARKS)))
        for first in range(0, len(places), size):
            yield places[first : first + size]


class _WeightReader:
    """Takes arrays from the file, one after the other. Raises ValueError where the file is too short for one."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data, self._at = data, 0

    def check_end(self) -> None:
        """Raise ValueError if something is left."""
        if self._at != len(self._data):
            raise ValueError("the file is too long")

    def _take(self, size: int) -> NDArray[np.uint8]:
        self._at += size
        if self._at > len(self._data):
            raise ValueError("the file is too short")
        return self._data[self._at - size : self._at]

    def take_row(self, size: int) -> Floats:
        """Return a single row."""
        return self._take(4 * size).view("<f4").astype(np.float32)

    def take_bytes(self, count: int, size: int) -> tuple[NDArray[np.int8], Floats]:
        """Return a matrix as it is stored, and the scales of its rows."""
        return self._take(count * size).view(np.int8).reshape(count, size), self.take_row(count)

    def take_matrix(self, count: int, size: int) -> Floats:
        """Return a matrix."""
        numbers, scales = self.take_bytes(count, size)
        return numbers * scales[:, None]

    def take_dense(self, count: int, size: int) -> DenseWeights:
        """Return the weights of a dense step."""
        return DenseWeights(*self.take_bytes(count, size), self.take_row(count))

    def take_norm(self, size: int) -> Norm:
        """Return a norm."""
        return Norm(self.take_row(size), self.take_row(size))

    def take_layer(self, size: int) -> LayerWeights:
        """Return the weights of a layer; its norms stand behind the four dense steps."""
        query_key_value, attention = self.take_dense(3 * size, size), self.take_dense(size, size)
        intermediate, output = self.take_dense(INTERMEDIATE, size), self.take_dense(size, INTERMEDIATE)
        return LayerWeights(
            query_key_value, attention, self.take_norm(size), intermediate, output, self.take_norm(size)
        )


def load_model(dimension: int) -> OwnModel:
    """Return the model; raise EmbedderMissing if it cannot be read or is damaged."""
    try:
        with open(os.path.join(_FOLDER, "pieces.txt"), encoding="utf-8", newline="\n") as file:
            names = file.read().split("\n")
        with open(os.path.join(_FOLDER, "weights.bin"), "rb") as file:
            # A plain array of the mapped pages: a memmap looks at every slice of itself.
            words = np.memmap(file, np.int8, "r", shape=(len(names), dimension)).view(np.ndarray)
            file.seek(words.size)
            weights = _WeightReader(np.fromfile(file, np.uint8))  # not mapped: those pages would stay in memory
        word_pieces = WordPiece(dict(zip(names, range(len(names)), strict=True)))
        model = OwnModel(word_pieces, words, weights)
        weights.check_end()
    except OSError as error:
        raise EmbedderMissing("The model inside the install cannot be read.", hint=_HINT) from error
    except (ValueError, IndexError) as error:
        raise EmbedderMissing("The model inside the install is damaged.", hint=_HINT) from error
    return model
