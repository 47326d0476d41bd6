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
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from commonplace.embed.port import normalise_rows
from commonplace.model.errors import EmbedderFailed, InvalidSettings

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

    from commonplace.embed.port import Vectors

PATHS: Final = {"openai": "/v1/embeddings", "ollama": "/api/embed"}
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
_MAX_ANSWER_BYTES = 64 * 1024 * 1024  # of an answer: 64 texts of 4,096 numbers, written out, are 6 MB
_READ_BYTES = 65_536


class RemoteEmbedder:
    """A model behind an address. `dimension` is learned from the first answer and may not change after it."""

    def __init__(
        self, address: str, model: str, *, kind: str = "openai", key: str | None = None, timeout: float = 10.0,
        batch: int = 64,
    ) -> None:  # fmt: skip
        if kind not in PATHS:
            raise InvalidSettings(f"A remote embedder is of the kind {' or '.join(PATHS)}, not {kind}.")
        self._url = _make_url(address, PATHS[kind], has_key=key is not None)
        self._kind, self._name, self._key = kind, model, key
        self._timeout, self._batch = timeout, max(batch, 1)
        self._dimension: int | None = None
        self.model = f"{kind}:{model}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. A service does not say, so one vector is requested."""
        if self._dimension is None:
            self._request_vectors(["dimension"])
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderFailed if the service does not answer properly."""
        import numpy as np

        filled = [row for row, text in enumerate(texts) if text.strip()]  # services refuse empty texts
        found: list[list[float]] = []
        for start in range(0, len(filled), self._batch):
            found += self._request_vectors([texts[row] for row in filled[start : start + self._batch]])
        rows = np.zeros((len(texts), self.dimension))
        if filled:
            rows[filled] = found
        if not np.isfinite(rows).all():
            raise self._make_error("gave numbers that are none")
        return normalise_rows(rows)

    def _request_vectors(self, texts: list[str]) -> list[list[float]]:
        """Return the service's vectors for some texts."""
        body = json.dumps({"model": self._name, "input": [_replace_surrogates(text) for text in texts]}).encode()
        answer = self._post(body)
        try:
            vectors = _read_vectors(self._kind, json.loads(answer))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise self._make_error("gave an answer of another shape") from None
        if len(vectors) != len(texts):
            raise self._make_error(f"gave {len(vectors)} vectors for {len(texts)} texts")
        sizes = {len(vector) for vector in vectors} | ({self._dimension} if self._dimension else set())
        if len(sizes) != 1 or 0 in sizes:
            raise self._make_error("gave vectors of different lengths")
        self._dimension = len(vectors[0])
        return vectors

    def _post(self, body: bytes) -> bytes:
        """Return the body of the answer. An error names its kind only: its text may quote what was sent."""
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, body, headers, method="POST")  # noqa: S310 - http or https: see _make_url
        deadline = time.monotonic() + self._timeout
        try:
            with _make_opener(self._url).open(request, timeout=self._timeout) as response:
                return self._read_answer(response, deadline)
        except HTTPError as error:
            error.close()
            raise self._make_error(f"answered with status {error.code}") from None
        except TimeoutError:
            raise self._make_error(f"did not answer within {self._timeout:g} s") from None
        except (URLError, OSError, HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)
            if isinstance(cause, TimeoutError):
                raise self._make_error(f"did not answer within {self._timeout:g} s") from None
            raise self._make_error(f"cannot be reached ({type(cause).__name__})") from None

    def _read_answer(self, response: HTTPResponse, deadline: float) -> bytes:
        """Return the whole answer, unless it is too long or too slow: a socket's time-out restarts with every byte."""
        found = bytearray()
        while piece := response.read1(_READ_BYTES):
            found += piece
            if len(found) > _MAX_ANSWER_BYTES:
                raise self._make_error("gave an answer that is too long")
            if time.monotonic() > deadline:
                raise TimeoutError
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
    plain = parts.geturl()
    if parts.path.endswith(path):
        return plain
    version = path[: path.rindex("/")]  # people give .../v1 or .../api as the base as often as not
    return plain + path.removeprefix(version) if parts.path.endswith(version) else plain + path


def _make_opener(url: str) -> OpenerDirector:
    """Return an opener that follows no redirects, and uses no proxy for this machine."""
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class NoRedirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None  # so the 3xx is what the caller gets: an error

    direct = [ProxyHandler({})] if urlsplit(url).hostname in _LOCAL_HOSTS else []
    return build_opener(NoRedirects, *direct)


def _read_vectors(kind: str, answer: Any) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts; OpenAI numbers them, and promises no order."""
    if kind == "ollama":
        rows = answer["embeddings"]
    else:
        numbered = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = [numbered[number] for number in range(len(answer["data"]))]
    return [[float(number) for number in row] for row in rows]


def _replace_surrogates(text: str) -> str:
    """Return a text without lone surrogates: servers refuse a whole batch for one."""
    return text.encode("utf-8", "replace").decode()
