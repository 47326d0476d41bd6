"""Get vectors from a service: OpenAI's `/v1/embeddings`, which many offer, or Ollama's `/api/embed`.

The texts leave the machine, so this is used only if the user has configured it; `service.py` sends them. Nothing is
retried here: indexing comes back to what is not done, and a question must not wait.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from commonplace.embed.port import normalise_rows
from commonplace.embed.service import Service, make_url
from commonplace.model.errors import EmbedderFailed, ServiceFailed

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors

PATHS = {"openai": "/v1/embeddings", "ollama": "/api/embed"}
_MAX_ANSWER_BYTES = 64 * 1024 * 1024  # of an answer: 64 texts of 4,096 numbers, written out, are 6 MB


class RemoteEmbedder:
    """A model behind an address. `dimension` is learned from the first answer and may not change after it."""

    timeout = 10.0  # seconds for one answer
    batch = 64  # texts in one request

    def __init__(self, address: str, model: str, *, kind: str = "openai", key: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
        self._service = Service(make_url(address, PATHS[kind], has_key=bool(headers)), headers, noun="embedder")
        self._kind, self._name = kind, model
        self._dimension = 0
        self.model = f"{kind}:{model}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. A service does not say, so one vector is requested."""
        if not self._dimension:
            self._request_vectors(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderFailed if the service does not answer properly."""
        filled = [row for row, text in enumerate(texts) if text.strip()]  # services refuse empty texts
        found: list[list[float]] = []
        for start in range(0, len(filled), self.batch):
            found += self._request_vectors([texts[row] for row in filled[start : start + self.batch]])
        rows = np.zeros((len(texts), self.dimension))
        if filled:
            rows[filled] = found
        if not np.isfinite(rows).all():
            raise self._make_error("gave numbers that are none")
        return normalise_rows(rows)

    def _request_vectors(self, texts: list[str]) -> list[list[float]]:
        """Return the service's vectors for some texts."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]  # servers refuse a lone surrogate
        value = {"model": self._name, "input": clean}
        try:
            answer = self._service.post(value, timeout=self.timeout, most_bytes=_MAX_ANSWER_BYTES)
        except ServiceFailed as error:
            raise EmbedderFailed(error.message) from None
        try:
            vectors = _read_vectors(self._kind, json.loads(answer))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise self._make_error("gave an answer of another shape") from None
        if len(vectors) != len(texts):
            raise self._make_error(f"gave {len(vectors)} vectors for {len(texts)} texts")
        size = self._dimension or len(vectors[0])
        if not size or any(len(vector) != size for vector in vectors):
            raise self._make_error("gave vectors of different lengths")
        self._dimension = size
        return vectors

    def _make_error(self, what: str) -> EmbedderFailed:
        """Return the error that says what the service did wrong."""
        return EmbedderFailed(self._service.make_error(what).message)


def _read_vectors(kind: str, answer: Any) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts; OpenAI numbers them, and promises no order."""
    if kind == "ollama":
        rows = answer["embeddings"]
    else:
        numbered = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = [numbered[number] for number in range(len(answer["data"]))]
    return [[float(number) for number in row] for row in rows]
