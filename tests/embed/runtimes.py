"""The model inside the install with what runs it named: numpy, as without the extra `fast`, or onnxruntime."""

from __future__ import annotations

import sys
from functools import cache

import pytest

from commonplace.embed import FEW_TEXTS, ModelEmbedder

RUNTIMES = ("numpy", "onnxruntime")


@cache
def open_model(runtime: str) -> ModelEmbedder:
    """Return the embedder, loaded, once for all tests of a process: to load it takes a while."""
    embedder = ModelEmbedder()
    if runtime == "onnxruntime":
        pytest.importorskip("onnxruntime")
        embedder.embed(["load"] * (FEW_TEXTS + 1))
        return embedder
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "onnxruntime", None)
        embedder.embed(["load"] * (FEW_TEXTS + 1))
    return embedder
