"""Turn texts into vectors, so that recall finds other words. Recall gets its embedder from `choose_embedder`.

    static                              the table inside the install (the default)
    model                               the model inside the install: finds more, takes milliseconds for a text
    transformer                         the first of `transformer.PREFERRED_MODELS` on this machine
    transformer:NAME                    a path, an installed package, or a name in fastembed's cache
    openai:MODEL@ADDRESS                a service with OpenAI's API
    ollama:MODEL@ADDRESS                Ollama; @ADDRESS is optional

An embedder that is not here is an error: none is replaced by another. Importing this room loads no numpy and no table,
and no service is called until the first text. `port.py` has what every embedder promises.

The static embedder has a vector for each word piece of a table; a text is the sum of its pieces. No model is run and
nothing is downloaded, so a question costs microseconds, and semantic recall works right after install. The model is a
small transformer (`own_model.py`): it reads a text as a whole, for some 7 ms of one core with numpy, and 1 ms with
onnxruntime (`onnx_layers.py`) where that is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from commonplace.model.errors import InvalidSettings
from commonplace.model.lazy import Log

if TYPE_CHECKING:
    from commonplace.embed.own_model import OwnModel
    from commonplace.embed.port import Embedder, Vectors
    from commonplace.embed.static_table import CoverageScore, StaticTable

log = Log("commonplace.embed")

_THREADS = "OPENBLAS_NUM_THREADS"
_DEFAULT_ADDRESSES = {"openai": "", "ollama": "http://127.0.0.1:11434"}


class StaticEmbedder:
    """Embeds with the table inside the install, which is loaded with the first text."""

    model = "commonplace-256-int4-v2"  # a new table has a new name: tests/embed/test_static.py checks it
    dimension = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderMissing if the table cannot be read."""
        return self._table.embed(texts)

    def score_coverage(self, question: str, texts: Sequence[str]) -> CoverageScore:
        """Return how much of a question each text, and all together, say in words of nearly the same meaning."""
        return self._table.coverage.score(question, texts)

    @cached_property
    def _table(self) -> StaticTable:
        """The table."""
        table: StaticTable = _load_module("static_table").load_table(self.dimension)
        return table


class ModelEmbedder:
    """Embeds with the model inside the install, which is loaded with the first text.

    onnxruntime runs it where the extra `fast` is installed, else numpy. The cosine of their vectors is 0.999 or more:
    they share a name and may be compared.
    """

    model = "commonplace-minilm-384-int8-v1"  # a new model has a new name: tests/embed/test_own_model.py checks it
    dimension = 384

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderMissing if the model cannot be read."""
        return self._loaded.embed(texts)

    @cached_property
    def _loaded(self) -> OwnModel:
        """The model, and what runs it."""
        own_model = _load_module("own_model")
        loaded: OwnModel = own_model.load_model(self.dimension)
        if find_spec("onnxruntime") is not None:
            try:
                loaded.use(_load_module("onnx_layers").OnnxLayers)
                return loaded
            except Exception as error:  # noqa: BLE001 - the runtime's have no common class, and numpy can do it as well
                log.warning("event=onnxruntime_failed error=%s", type(error).__name__)
        loaded.use(own_model.NumpyLayers)
        return loaded


def choose_embedder(setting: str, *, key: str | None = None) -> Embedder:
    """Return the embedder of a setting; `key` is for a service that needs one.

    Raises InvalidSettings for an unknown setting, EmbedderMissing for a model that is not here.
    """
    if setting == "static":
        return StaticEmbedder()
    if setting == "model":
        return ModelEmbedder()
    kind, _, name = setting.partition(":")
    if kind == "transformer":
        transformer: Embedder = _load_module("transformer").open_model(name)
        return transformer
    model, _, address = name.partition("@")
    address = address or _DEFAULT_ADDRESSES.get(kind, "")
    if kind in _DEFAULT_ADDRESSES and model and address:
        service: Embedder = _load_module("remote").RemoteEmbedder(address, model, kind=kind, key=key)
        return service
    raise InvalidSettings(
        "That is no embedder.",  # the setting is not repeated: an address may have a password in it
        hint="Use static, model, transformer, transformer:NAME, openai:MODEL@ADDRESS or ollama:MODEL.",
    )


def _load_module(name: str) -> Any:
    """Return a module of this room that loads numpy.

    Where numpy is not loaded yet, and OPENBLAS_NUM_THREADS is not set, its products run in one thread. They are small:
    two threads take two to three times the processor time, most of it for spinning, and save a question 2 ms of 7 where
    the other core is idle. OpenBLAS reads the variable while it is loaded; then it is taken back, so that programs that
    are started from here do not inherit it.
    """
    is_first = "numpy" not in sys.modules and _THREADS not in os.environ
    if is_first:
        os.environ[_THREADS] = "1"
    try:
        return import_module(f"{__name__}.{name}")
    finally:
        if is_first:
            del os.environ[_THREADS]
