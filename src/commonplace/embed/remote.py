"""Vectors from a service: OpenAI's `/v1/embeddings`, which many speak, or Ollama's `/api/embed`.

The texts leave the machine, so this is used only where the user has said so. One POST with JSON is all there is to it;
the standard library does that. What httpx would add (pools, HTTP/2) matters to servers, and it
brings half a dozen packages. Not retried here: indexing comes back to what is not done, and a question must not wait.

A key goes to the address it was given for and nowhere else: redirects are refused, and so is a key over plain HTTP to
another machine. A service on this machine is asked directly, whatever proxy the environment names.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from commonplace.embed.port import unit
from commonplace.model.errors import EmbedderFailed, InvalidSettings

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

    from commonplace.embed.port import Vectors

PATHS: Final = {"openai": "/v1/embeddings", "ollama": "/api/embed"}
_HERE = {"localhost", "127.0.0.1", "::1"}
_MOST_BYTES = 64 * 1024 * 1024  # of an answer: 64 texts of 4,096 numbers, written out, are 6 MB
_PIECE = 65_536


class RemoteEmbedder:
    """A model behind an address. `dimension` is learned from the first answer and may not change after it."""

    def __init__(
        self, address: str, model: str, *, kind: str = "openai", key: str | None = None, timeout: float = 10.0,
        batch: int = 64,
    ) -> None:  # fmt: skip
        if kind not in PATHS:
            raise InvalidSettings(f"A remote embedder is of the kind {' or '.join(PATHS)}, not {kind}.")
        self._url = _endpoint(address, PATHS[kind], has_key=key is not None)
        self._kind, self._name, self._key = kind, model, key
        self._timeout, self._batch = timeout, max(batch, 1)
        self._dimension: int | None = None
        self.model = f"{kind}:{model}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. A service does not say, so it is asked for one."""
        if self._dimension is None:
            self._ask(["dimension"])
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        told = [row for row, text in enumerate(texts) if text.strip()]  # services refuse empty texts
        found: list[list[float]] = []
        for start in range(0, len(told), self._batch):
            found += self._ask([texts[row] for row in told[start : start + self._batch]])
        rows = np.zeros((len(texts), self.dimension))
        if told:
            rows[told] = found
        if not np.isfinite(rows).all():
            raise self._failed("gave numbers that are none")
        return unit(rows)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"model": self._name, "input": [_valid(text) for text in texts]}).encode()
        answer = self._post(body)
        try:
            vectors = _vectors(self._kind, json.loads(answer))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise self._failed("gave an answer of another shape") from None
        if len(vectors) != len(texts):
            raise self._failed(f"gave {len(vectors)} vectors for {len(texts)} texts")
        sizes = {len(vector) for vector in vectors} | ({self._dimension} if self._dimension else set())
        if len(sizes) != 1 or 0 in sizes:
            raise self._failed("gave vectors of different lengths")
        self._dimension = len(vectors[0])
        return vectors

    def _post(self, body: bytes) -> bytes:
        """The bytes of the answer. Errors are told by what they are: their texts may quote what was sent."""
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, body, headers, method="POST")  # noqa: S310 - http or https: see _endpoint
        deadline = time.monotonic() + self._timeout
        try:
            with _opener(self._url).open(request, timeout=self._timeout) as response:
                return self._read(response, deadline)
        except HTTPError as error:
            error.close()
            raise self._failed(f"answered with status {error.code}") from None
        except TimeoutError:
            raise self._failed(f"did not answer within {self._timeout:g} s") from None
        except (URLError, OSError, HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)
            if isinstance(cause, TimeoutError):
                raise self._failed(f"did not answer within {self._timeout:g} s") from None
            raise self._failed(f"cannot be reached ({type(cause).__name__})") from None

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        """All of it, if it is not too much and does not trickle: a socket's time-out begins anew with every byte."""
        found = bytearray()
        while piece := response.read1(_PIECE):
            found += piece
            if len(found) > _MOST_BYTES:
                raise self._failed("gave an answer that is too long")
            if time.monotonic() > deadline:
                raise TimeoutError
        return bytes(found)

    def _failed(self, what: str) -> EmbedderFailed:
        return EmbedderFailed(f"The embedder at {urlsplit(self._url).hostname} {what}.")


def _endpoint(address: str, path: str, *, has_key: bool) -> str:
    """The address to post to: the base that people configure, or the whole of it, which they configure as well."""
    try:
        parts = urlsplit(address.rstrip("/"))
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or parts.username is not None or parts.query or parts.fragment:
        raise InvalidSettings(
            "The address of an embedder is http:// or https://, a host, and no user, query or fragment."
        )
    if has_key and parts.scheme == "http" and host not in _HERE:
        raise InvalidSettings("A key is not sent over plain http to another machine.", hint="Use an https:// address.")
    plain = parts.geturl()
    if parts.path.endswith(path):
        return plain
    version = path[: path.rindex("/")]  # people give .../v1 or .../api as the base as often as not
    return plain + path.removeprefix(version) if parts.path.endswith(version) else plain + path


def _opener(url: str) -> OpenerDirector:
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class NoRedirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None  # so the 3xx is what the caller gets: an error

    direct = [ProxyHandler({})] if urlsplit(url).hostname in _HERE else []
    return build_opener(NoRedirects, *direct)


def _vectors(kind: str, answer: Any) -> list[list[float]]:
    """The vectors of an answer in the order of the texts; OpenAI numbers them, and promises no order."""
    if kind == "ollama":
        rows = answer["embeddings"]
    else:
        numbered = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = [numbered[number] for number in range(len(answer["data"]))]
    return [[float(number) for number in row] for row in rows]


def _valid(text: str) -> str:
    """Half of a surrogate pair is no text, and servers refuse all of a batch for one."""
    return text.encode("utf-8", "replace").decode()
