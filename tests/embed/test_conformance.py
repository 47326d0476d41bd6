"""The one conformance suite of the embedders, for each embedder there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.embed import StaticEmbedder
from commonplace.embed.port import Embedder
from commonplace.embed.remote import RemoteEmbedder
from commonplace.embed.transformer import TransformerEmbedder, find_model
from tests.embed.conformance import EmbedderConformance
from tests.embed.memory import MemoryEmbedder
from tests.embed.runtimes import RUNTIMES, open_model
from tests.embed.service import as_ollama, as_openai, serving
from tests.embed.tiny import write_model


class TestMemoryEmbedder(EmbedderConformance):
    module = "tests.embed.memory"

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        yield MemoryEmbedder()


class TestStaticEmbedder(EmbedderConformance):
    reads_latin_alone = True

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        yield StaticEmbedder()


class TestModelEmbedder(EmbedderConformance):
    reads_latin_alone = True
    tolerance = 1e-5  # batches of other sizes are multiplied in another order

    @pytest.fixture(params=RUNTIMES)
    def embedder(self, request: pytest.FixtureRequest) -> Iterator[Embedder]:
        yield open_model(request.param)


class TestTransformerEmbedder(EmbedderConformance):
    tolerance = 1e-6

    @pytest.fixture(params=["mean", "cls"])
    def embedder(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
        pytest.importorskip("onnxruntime")
        pytest.importorskip("tokenizers")
        yield TransformerEmbedder(find_model(str(write_model(tmp_path / "model", pooling=request.param))))


class TestOpenAiEmbedder(EmbedderConformance):
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with serving(as_openai) as service:
            embedder = RemoteEmbedder(service.address, "m", key="k")
            embedder.batch = 3
            yield embedder


class TestOllamaEmbedder(EmbedderConformance):
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with serving(as_ollama) as service:
            embedder = RemoteEmbedder(service.address, "m", kind="ollama")
            embedder.batch = 3
            yield embedder
