"""Get vectors from a service: OpenAI's `/v1/embeddings`, which many offer, or Ollama's `/api/embed`.

The texts leave the machine, so this is used only if the user has configured it. It takes one POST with JSON, which the
standard library can do; httpx would bring half a dozen packages. Nothing is retried here: indexing comes back to what
is not done, and a question must not wait.

A key goes only to the address it was given for: redirects are refused, and so is a key over plain HTTP to another
machine. A service on this machine is called directly, whatever proxy the environment names.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import numpy as np

from commonplace.embed.port import normalise_rows
from commonplace.model.errors import EmbedderFailed, InvalidSettings

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors

PATHS = {"openai": "/v1/embeddings", "ollama": "/api/embed"}
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
_MAX_ANSWER_BYTES = 64 * 1024 * 1024  # of an answer: 64 texts of 4,096 numbers, written out, are 6 MB
_READ_BYTES = 65_536


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects: the caller gets the 3xx, which is an error."""

    def redirect_request(self, *_: Any) -> None:
        return None


class RemoteEmbedder:
    """A model behind an address. `dimension` is learned from the first answer and may not change after it."""

    timeout = 10.0  # seconds for one answer
    batch = 64  # texts in one request

    def __init__(self, address: str, model: str, *, kind: str = "openai", key: str | None = None) -> None:
        self._url = _make_url(address, PATHS[kind], has_key=key is not None)
        self._kind, self._name, self._key = kind, model, key
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
        answer = self._post(json.dumps({"model": self._name, "input": clean}).encode())
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

    def _post(self, body: bytes) -> bytes:
        """Return the body of the answer. An error names its kind only: its text may quote what was sent."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, body, headers, method="POST")  # noqa: S310 - http or https: see _make_url
        direct = [ProxyHandler({})] if urlsplit(self._url).hostname in _LOCAL_HOSTS else []
        deadline = time.monotonic() + self.timeout
        found = bytearray()
        try:
            with build_opener(_NoRedirects, *direct).open(request, timeout=self.timeout) as response:
                while piece := response.read1(_READ_BYTES):
                    found += piece
                    if len(found) > _MAX_ANSWER_BYTES:
                        raise self._make_error("gave an answer that is too long")
                    if time.monotonic() > deadline:  # a socket's time-out restarts with every byte
                        raise TimeoutError
        except HTTPError as error:
            error.close()
            raise self._make_error(f"answered with status {error.code}") from None
        except (OSError, HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)  # of a URLError
            if isinstance(cause, TimeoutError):
                raise self._make_error(f"did not answer within {self.timeout:g} s") from None
            raise self._make_error(f"cannot be reached ({type(cause).__name__})") from None
        return bytes(found)

    def _make_error(self, what: str) -> EmbedderFailed:
        """Return the error that says what the service did wrong."""
        return EmbedderFailed(f"The embedder at {urlsplit(self._url).hostname} {what}.")


def _make_url(address: str, path: str, *, has_key: bool) -> str:
    """Return the address to post to; the setting may name the base address or the whole of it."""
    try:
        parts = urlsplit(address.rstrip("/"))
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or parts.username is not None or parts.query or parts.fragment:
        raise InvalidSettings(
            "The address of an embedder is http:// or https://, a host, and no user, query or fragment."
        )
    if has_key and parts.scheme == "http" and host not in _LOCAL_HOSTS:
        raise InvalidSettings("A key is not sent over plain http to another machine.", hint="Use an https:// address.")
    version = path.rpartition("/")[0]  # people give .../v1 or .../api as the base as often as not
    end = next((end for end in (path, version) if parts.path.endswith(end)), "")
    return parts.geturl().removesuffix(end) + path


def _read_vectors(kind: str, answer: Any) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts; OpenAI numbers them, and promises no order."""
    if kind == "ollama":
        rows = answer["embeddings"]
    else:
        numbered = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = [numbered[number] for number in range(len(answer["data"]))]
    return [[float(number) for number in row] for row in rows]
