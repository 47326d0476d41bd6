"""Turn texts into vectors, so that recall finds other words. Recall gets its embedder from `choose_embedder`.

    static                              the table inside the install
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
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from commonplace.model.errors import InvalidSettings
from commonplace.model.lazy import Log

if TYPE_CHECKING:
    from commonplace.embed.own_model import OwnModel
    from commonplace.embed.port import Embedder, Vectors
    from commonplace.embed.static_table import StaticTable

log = Log("commonplace.embed")
_FIRST_BEYOND_LATIN = "\u0370"
FEW_TEXTS = 16  # that numpy embeds before onnxruntime is loaded
_THREADS = "OPENBLAS_NUM_THREADS"
_DEFAULT_ADDRESSES = {"openai": "", "ollama": "http://127.0.0.1:11434"}


def _embed_readable(texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
    """Return the rows of some texts; zeros for those in a script of which the embedder knows little but the letters.

    Any two texts in such a script would be near each other, whatever they say.
    """
    return embed([text if _is_readable(text) else "" for text in texts])


def _is_readable(text: str) -> bool:
    """Return whether at least half of a text's letters are Latin, or it has none."""
    if text.isascii():
        return True
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter < _FIRST_BEYOND_LATIN for letter in letters) >= len(letters)


class StaticEmbedder:
    """Embeds with the table inside the install, which is loaded with the first text."""

    model = "commonplace-256-int4-v2"  # a new table has a new name: tests/embed/test_static.py checks it
    dimension = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderMissing if the table cannot be read."""
        return _embed_readable(texts, self._table.embed)

    @cached_property
    def _table(self) -> StaticTable:
        """The table."""
        table: StaticTable = _load_module("static_table").load_table(self.dimension)
        return table


class ModelEmbedder:
    """Embeds with the model inside the install, which is loaded with the first text.

    numpy runs it. Where the extra `fast` is installed, onnxruntime takes over after the first texts of a process: it is
    four times as fast, and takes longer to load than numpy takes for a question. The cosine of their vectors is 0.999
    or more: they share a name and may be compared.
    """

    model = "commonplace-minilm-384-int8-v1"  # a new model has a new name: tests/embed/test_own_model.py checks it
    dimension = 384
    _embedded = 0  # texts, by all embedders of the process

    def __init__(self) -> None:
        self._loaded: OwnModel | None = None
        self._is_fast = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderMissing if the model cannot be read."""
        ModelEmbedder._embedded += len(texts)
        is_fast = self._is_fast or ModelEmbedder._embedded > FEW_TEXTS
        if self._loaded is None or is_fast != self._is_fast:
            self._is_fast = is_fast
            self._loaded = _load_own_model(self.dimension, is_fast=is_fast and find_spec("onnxruntime") is not None)
        return _embed_readable(texts, self._loaded.embed)


@lru_cache(maxsize=1)
def _load_own_model(dimension: int, *, is_fast: bool) -> OwnModel:
    """Return the model, one for all books of a process; with `is_fast`, onnxruntime runs it if it can."""
    own_model = _load_module("own_model")
    loaded: OwnModel = own_model.load_model(dimension)
    if is_fast:
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
