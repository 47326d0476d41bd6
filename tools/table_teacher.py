"""What MiniLM says of texts, for tools/train_static_table.py: its vectors, kept in a folder, as asking takes long."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools import make_onnx_model

WIDTH = 384
MOST = 72  # pieces of a text
AT_ONCE = 64


def told(folder: Path, texts: list[str]) -> NDArray[np.float16]:
    """The vector of each text; what was said before is in the folder, and what is new is added to it."""
    names, vectors = folder / "told.json", folder / "told.npy"
    known = dict[str, NDArray[np.float16]]()
    if names.exists():
        known = dict(zip(json.loads(names.read_text("utf-8")), np.load(vectors), strict=True))
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        known |= zip(new, _ask(folder / "minilm", new), strict=True)
        np.save(vectors, np.stack(list(known.values())))
        names.write_text(json.dumps(list(known)), "utf-8")
    return np.stack([known[text] for text in texts])


def _ask(model: Path, texts: list[str]) -> NDArray[np.float16]:
    if not model.exists():
        make_onnx_model.main(model, exact=False)
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(MOST)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model / "model_int8.onnx"), options)
    pieces = [found.ids for found in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda place: len(pieces[place]))
    vectors = np.zeros((len(texts), WIDTH), np.float16)
    for first in range(0, len(order), AT_ONCE):
        places = order[first : first + AT_ONCE]
        longest = len(pieces[places[-1]])
        ids = np.array([pieces[place] + [0] * (longest - len(pieces[place])) for place in places])
        mask = np.array([[1] * len(pieces[place]) + [0] * (longest - len(pieces[place])) for place in places])
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        sums = (session.run(None, given)[0] * mask[:, :, None]).sum(axis=1)
        vectors[places] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return vectors
