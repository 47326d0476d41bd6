"""Run the layers of the model inside the install with onnxruntime, where the extra `fast` is installed.

`ModelEmbedder` gives `OnnxLayers` the weights that `own_model.py` read, and takes numpy where this module cannot be
loaded. onnxruntime wants a graph in the format of ONNX, which is protobuf. `_Graph` writes it when the model is loaded,
so that there is one file of weights for both ways.

Weights stay the bytes that they are, and each row that a matrix is multiplied with is rounded to bytes, too: such
products are four times as fast as those of floats. There are two ways to round a row:

- *in two steps*: 63 steps to each side of zero, and each of those in 126. The cosine to numpy's vector is above 0.9999.
- *in one step*: 127 steps to each side, or 255 where all is positive. That is half the products. The cosine is above
  0.9993 for texts of 12 pieces and more, whose errors make up for each other, but only above 0.998 for shorter ones.

So texts of `_LONG` pieces and more are rounded in one step, shorter ones in two: questions and most notes, so that
recall finds the same first whatever runs the model (`make bench` counts it). Every row is rounded by itself: a text
has the same vector whatever else is embedded with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from commonplace.embed.own_model import EPSILON, HEADS
from commonplace.model.errors import EmbedderFailed
from commonplace.model.lazy import Log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.own_model import DenseWeights, Floats, LayerWeights, Norm

log = Log("commonplace.embed")

_LONG = 40  # pieces, with the marks before and after a text
# Numbers of a piece that are far larger than the others, and in how many equal parts each is rounded: as one number it
# would make the steps of all the others too wide. Measured on our sets: the same few in every layer.
_LARGE = {99: 8, 223: 5, 63: 4, 127: 3, 157: 2, 267: 2, 303: 2, 319: 2, 338: 2, 347: 2, 363: 2}
_LEAST_GELU = 0.17  # no activation is below minus this
_MICROSOFT = "com.microsoft"  # operators that onnxruntime has beyond the standard
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}  # TensorProto.DataType
_AXIS = 2  # of the numbers of a piece; before it are the texts and their pieces


class OnnxLayers:
    """The layers as onnxruntime runs them. Whatever it raises when it is made means: use numpy."""

    def __init__(self, layers: Sequence[LayerWeights]) -> None:
        self._layers = layers
        self._in_two_steps = _open_session(_write_layers(layers, in_two_steps=True))

    def run(self, rows: Floats) -> Floats:
        """Return the mean over the pieces of each text, given the rows of all; raise EmbedderFailed if that fails."""
        session = self._in_two_steps if rows.shape[1] < _LONG else self._in_one_step
        try:
            mean: Floats = session.run(None, {"rows": rows})[0]
        except Exception as error:  # noqa: BLE001 - the runtime's have no common class
            raise EmbedderFailed(
                f"onnxruntime failed at the model inside the install ({type(error).__name__})."
            ) from None
        return mean

    @cached_property
    def _in_one_step(self) -> Any:
        """The session for long texts, made with the first of them; where it does not work, that for short ones."""
        try:
            if _adds_exactly():
                return _open_session(_write_layers(self._layers, in_two_steps=False))
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("event=onnxruntime_failed error=%s", type(error).__name__)
        return self._in_two_steps


def _adds_exactly() -> bool:
    """Return whether the sum of two large products of bytes is right: older processors cut it at 32,767.

    Rounding in two steps has no byte above 127, so that it is right on those as well.
    """
    graph = _Graph()
    bytes_ = graph.add("QuantizeLinear", "rows", graph.one, graph.constant(np.uint8(0)))
    found = graph.multiply(bytes_, np.full((16, 64), 127, np.int8), np.ones(16, np.float32), np.uint8(0))
    session = _open_session(graph.write(64, graph.add("ReduceMean", found, axes=[1], keepdims=0), 16))
    sums = session.run(None, {"rows": np.full((1, 16, 64), 255, np.float32)})[0]
    return bool((sums == 64 * 255 * 127).all())


def _open_session(graph: bytes) -> Any:
    """Return a session in one thread."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it is chatty about the machine, on stderr
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The graph is as it should be: onnxruntime would join the steps of a norm to one that takes longer.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _write_layers(layers: Sequence[LayerWeights], *, in_two_steps: bool) -> bytes:
    """Return the graph from the rows of pieces to the mean of each text."""
    size = len(layers[0].output_norm.bias)
    graph = _TwoStepGraph() if in_two_steps else _OneStepGraph()
    rows = "rows"
    for layer in layers:
        projected = graph.add_dense(rows, layer.query_key_value, has_large=True)
        parts = graph.split(projected, 3, axis=_AXIS)
        bias = graph.constant(layer.query_key_value.bias)
        attended = graph.add("MultiHeadAttention", *parts, bias, domain=_MICROSOFT, num_heads=HEADS)
        found = graph.add("Add", graph.add_dense(attended, layer.attention), graph.constant(layer.attention.bias))
        rows = graph.add_norm(graph.add("Add", found, rows), layer.attention_norm)
        wide = graph.add_dense(rows, layer.intermediate, has_large=True)
        wide = graph.add("FastGelu", wide, graph.constant(layer.intermediate.bias), domain=_MICROSOFT)
        found = graph.add_output(wide, layer.output)
        rows = graph.add_norm(graph.add("Add", found, rows), layer.output_norm)
    return graph.write(size, graph.add("ReduceMean", rows, axes=[1], keepdims=0), size)


class _Graph:
    """Writes a graph in the format of ONNX: nodes in the order of running, and constants. Numbers are its fields."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._outputs = 0
        self.one = self.constant(np.float32(1))

    def constant(self, value: NDArray[Any] | np.generic) -> str:
        """Add a constant, and return its name."""
        array = np.asarray(value)
        name = f"constant{len(self._constants)}"
        sizes = b"".join(_number(1, size) for size in array.shape)
        kind = _number(2, _TYPES[array.dtype.name])
        self._constants.append(_field(5, sizes + kind + _field(8, name.encode()) + _field(9, array.tobytes())))
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: int | list[int]) -> str:
        """Add a node with one output, and return the output's name."""
        return self._add(kind, inputs, 1, domain, attributes)[0]

    def split(self, given: str, parts: int, *, axis: int) -> list[str]:
        """Add a node that splits an array into equal parts, and return their names."""
        return self._add("Split", [given], parts, "", {"axis": axis})

    def _add(
        self, kind: str, inputs: Sequence[str], outputs: int, domain: str, attributes: dict[str, int | list[int]]
    ) -> list[str]:
        names = [f"output{self._outputs + number}" for number in range(outputs)]
        self._outputs += outputs
        fields = [_field(1, name.encode()) for name in inputs] + [_field(2, name.encode()) for name in names]
        fields += [_field(4, kind.encode()), _field(7, domain.encode())]
        for name, value in attributes.items():
            if isinstance(value, int):
                written = _number(3, value) + _number(20, 2)
            else:
                written = b"".join(_number(8, number) for number in value) + _number(20, 7)
            fields.append(_field(5, _field(1, name.encode()) + written))
        self._nodes.append(_field(1, b"".join(fields)))
        return names

    def multiply(self, rows: str, numbers: NDArray[np.int8], scales: Floats, zero: np.uint8) -> str:
        """Add the product of rows of bytes, in which `zero` stands for 0, and a matrix; return its name, as floats."""
        matrix = self.constant(numbers.T)
        scale = self.constant(scales)
        return self.add("MatMulIntegerToFloat", rows, matrix, self.one, scale, self.constant(zero), domain=_MICROSOFT)

    def add_norm(self, rows: str, norm: Norm) -> str:
        """Add a norm in plain steps, which onnxruntime runs three times as fast as its own."""
        centred = self.add("Sub", rows, self.add("ReduceMean", rows, axes=[_AXIS]))
        variance = self.add("ReduceMean", self.add("Mul", centred, centred), axes=[_AXIS])
        deviation = self.add("Sqrt", self.add("Add", variance, self.constant(np.float32(EPSILON))))
        scaled = self.add(
            "Mul", self.add("Mul", centred, self.add("Div", self.one, deviation)), self.constant(norm.scale)
        )
        return self.add("Add", scaled, self.constant(norm.bias))

    def write(self, size_in: int, output: str, size_out: int) -> bytes:
        """Return the model: it takes `rows` (texts, pieces, numbers), and gives an output (texts, numbers)."""
        given = _describe("rows", b"texts", b"pieces", size_in)
        graph = b"".join([*self._nodes, _field(2, b"layers"), *self._constants])
        graph += _field(11, given) + _field(12, _describe(output, b"texts", size_out))
        opsets = _field(8, _number(2, 17)) + _field(8, _field(1, _MICROSOFT.encode()) + _number(2, 1))
        return _number(1, 8) + _field(7, graph) + opsets


class _TwoStepGraph(_Graph):
    """A graph in which rows are rounded in two steps."""

    def add_dense(self, rows: str, weights: DenseWeights, *, has_large: bool = False) -> str:
        """Add a dense step without its bias, and return the name of its output."""
        del has_large  # the second step is fine enough for the others
        steps = self.constant(np.float32(63))
        largest = self.add("ReduceMax", self.add("Abs", rows), axes=[_AXIS])
        scaled = self.add("Mul", rows, self.add("Div", steps, largest))
        coarse = self.add("Round", scaled)
        fine = self.add("Mul", self.add("Sub", scaled, coarse), self.constant(np.float32(126)))
        # Both are multiplied at once, along an axis of their own: to plan axes of unknown length takes 0.1 s.
        axis, zero = self.constant(np.array([0], np.int64)), np.uint8(64)
        both = self.add("Concat", *(self.add("Unsqueeze", part, axis) for part in (coarse, fine)), axis=0)
        both = self.add("QuantizeLinear", both, self.one, self.constant(zero))
        both = self.multiply(both, weights.numbers, weights.scales, zero)
        coarse, fine = (self.add("Gather", both, self.constant(np.int64(part)), axis=0) for part in (0, 1))
        found = self.add("Add", coarse, self.add("Mul", fine, self.constant(np.float32(1 / 126))))
        return self.add("Mul", found, self.add("Div", largest, steps))

    def add_output(self, rows: str, weights: DenseWeights) -> str:
        """Add the dense step behind the activation, with its bias."""
        return self.add("Add", self.add_dense(rows, weights), self.constant(weights.bias))


class _OneStepGraph(_Graph):
    """A graph in which rows are rounded in one step."""

    def add_dense(self, rows: str, weights: DenseWeights, *, has_large: bool = False) -> str:
        """Add a dense step without its bias, and return the name of its output."""
        numbers = weights.numbers
        if has_large:
            again = [place for place, parts in _LARGE.items() for _ in range(parts - 1)]
            places = [*range(numbers.shape[1]), *again]
            more = self.add("Gather", rows, self.constant(np.array(again, np.int64)), axis=_AXIS)
            shares = np.array([1 / _LARGE.get(place, 1) for place in places], np.float32)
            rows = self.add("Mul", self.add("Concat", rows, more, axis=_AXIS), self.constant(shares))
            numbers = numbers[:, places]
        largest = self.add("ReduceMax", self.add("Abs", rows), axes=[_AXIS])
        return self._add_product(rows, largest, numbers, weights.scales, steps=127, zero=128)

    def add_output(self, rows: str, weights: DenseWeights) -> str:
        """Add the dense step behind the activation, with its bias; from the least activation up, all is positive."""
        rows = self.add("Add", rows, self.constant(np.float32(_LEAST_GELU)))
        largest = self.add("ReduceMax", rows, axes=[_AXIS])
        found = self._add_product(rows, largest, weights.numbers, weights.scales, steps=255, zero=0)
        added = weights.numbers.sum(axis=1, dtype=np.float32) * weights.scales * np.float32(_LEAST_GELU)
        return self.add("Add", found, self.constant(weights.bias - added))

    def _add_product(
        self, rows: str, largest: str, numbers: NDArray[np.int8], scales: Floats, *, steps: int, zero: int
    ) -> str:
        count = self.constant(np.float32(steps))
        scaled = self.add("Mul", rows, self.add("Div", count, largest))
        rounded = self.add("QuantizeLinear", scaled, self.one, self.constant(np.uint8(zero)))
        found = self.multiply(rounded, numbers, scales, np.uint8(zero))
        return self.add("Mul", found, self.add("Div", largest, count))


def _describe(name: str, *axes: bytes | int) -> bytes:
    """Return the description of an array of floats, whose axes have a name or a size."""
    shape = b"".join(_field(1, _number(1, axis) if isinstance(axis, int) else _field(2, axis)) for axis in axes)
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, 1) + _field(2, shape)))


def _number(field: int, value: int) -> bytes:
    """Return a field with a number."""
    return _varint(field << 3) + _varint(value)


def _field(field: int, value: bytes) -> bytes:
    """Return a field with bytes: a text, an array or a message."""
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Return a number as protobuf writes it: seven bits a byte, the lowest first."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
