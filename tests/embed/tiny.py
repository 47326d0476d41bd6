"""The smallest model that a transformer embedder takes: a table in an ONNX graph, and a tokenizer of a few words.

ONNX is protobuf, of which a graph of one node needs so little that it is written here by hand: no binary file has to be
committed, and no package installed to make one.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

SIZE = 4
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "vault", "deploy", "by", "hand", "the", "x")
ROWS = [[float((row * 7 + column * 3) % 5 - 2 + row / 8) for column in range(SIZE)] for row in range(len(WORDS))]


def write_model(folder: Path, *, pooling: str | None = "mean", name: str = "tiny") -> Path:
    """A folder with a model; each token's vector is its row of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(graph())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    about = {"_name_or_path": f"somebody/{name}", "hidden_size": SIZE, "max_position_embeddings": 16}
    (folder / "config.json").write_text(json.dumps(about))
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        noted = {"pooling_mode_cls_token": pooling == "cls", "pooling_mode_mean_tokens": pooling == "mean"}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(noted))
    return folder


def tokenizer() -> dict[str, object]:
    ends = {
        "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
        "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
    }
    whole = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]  # fmt: skip
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "decoder": None,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": whole, "pair": whole, "special_tokens": ends},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {word: number for number, word in enumerate(WORDS)}},
    }  # fmt: skip


def graph() -> bytes:
    """ModelProto with one Gather; the numbers are the fields of onnx.proto."""
    numbers = struct.pack(f"<{len(ROWS) * SIZE}f", *(number for row in ROWS for number in row))
    table = _number(1, len(ROWS)) + _number(1, SIZE) + _number(2, 1) + _bytes(8, b"table") + _bytes(9, numbers)
    node = _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, b"found") + _bytes(4, b"Gather")
    whole = _bytes(1, node) + _bytes(2, b"tiny") + _bytes(5, table)
    whole += _bytes(11, _value(b"input_ids", 7, b"batch", b"length"))
    whole += _bytes(12, _value(b"found", 1, b"batch", b"length", b"size"))
    return _number(1, 8) + _bytes(7, whole) + _bytes(8, _bytes(1, b"") + _number(2, 13))


def _value(name: bytes, kind: int, *axes: bytes) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, axis)) for axis in axes)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
