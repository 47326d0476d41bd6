"""The one conformance suite of the embedders, for each embedder there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.embed.port import Embedder
from commonplace.embed.remote import RemoteEmbedder
from commonplace.embed.static import StaticEmbedder
from commonplace.embed.transformer import TransformerEmbedder
from tests.embed.conformance import EmbedderConformance
from tests.embed.memory import MemoryEmbedder
from tests.embed.service import as_ollama, as_openai, serving
from tests.embed.tiny import write_model


class TestMemoryEmbedder(EmbedderConformance):
    module = "tests.embed.memory"

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        yield MemoryEmbedder()


class TestStaticEmbedder(EmbedderConformance):
    module = "commonplace.embed.static"

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        yield StaticEmbedder()


class TestTransformerEmbedder(EmbedderConformance):
    module = "commonplace.embed.transformer"
    tolerance = 1e-6

    @pytest.fixture(params=["mean", "cls"])
    def embedder(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
        pytest.importorskip("onnxruntime")
        pytest.importorskip("tokenizers")
        yield TransformerEmbedder.named(str(write_model(tmp_path / "model", pooling=request.param)))


class TestOpenAiEmbedder(EmbedderConformance):
    module = "commonplace.embed.remote"
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with serving(as_openai) as service:
            yield RemoteEmbedder(service.address, "m", key="k", batch=3)


class TestOllamaEmbedder(EmbedderConformance):
    module = "commonplace.embed.remote"
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with serving(as_ollama) as service:
            yield RemoteEmbedder(service.address, "m", kind="ollama", batch=3)
