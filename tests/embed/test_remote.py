"""The embedder that asks a service: against a real server on this machine, which does all that servers do wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest

from commonplace.embed import remote
from commonplace.embed.remote import RemoteEmbedder
from commonplace.model.errors import EmbedderFailed, InvalidSettings
from tests.embed.service import Answer, Asked, as_ollama, as_openai, rows_of, send, serving

KEY = "key-that-nobody-may-see"
TEXT = "text that nobody may see"


def reply(body: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda handler, asked: send(handler, data, status, headers)


def item(index: int, *numbers: object) -> dict[str, object]:
    return {"index": index, "embedding": list(numbers)}


WRONG = {
    "not JSON": (reply(b"<html>"), "another shape"),
    "not UTF-8": (reply(b'"\xff"'), "another shape"),
    "a list": (reply([1]), "another shape"),
    "no data": (reply({"error": TEXT}), "another shape"),
    "no numbers": (reply({"data": [item(0, TEXT)]}), "another shape"),
    "a number beyond numbers": (reply(b'{"data": [{"index": 0, "embedding": [1%s]}]}' % (b"0" * 400)), "another shape"),
    "deep": (reply(b"[" * 100_000), "another shape"),
    "two for one": (reply({"data": [item(0, 1.0), item(1, 1.0)]}), "2 vectors for 1 texts"),
    "none for one": (reply({"data": []}), "0 vectors for 1 texts"),
    "an empty vector": (reply({"data": [item(0)]}), "different lengths"),
    "not a number": (reply(b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'), "numbers that are none"),
    "refused": (reply({"error": f"bad key {KEY} for {TEXT}"}, 401), "status 401"),
    "too many requests": (reply(TEXT, 429), "status 429"),
    "broken": (reply(TEXT, 500), "status 500"),
    "cut off": (reply(b"{", 200, {"Content-Length": "100"}), "broke off within its answer"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_answers(case: str) -> None:
    """Every wrong answer is an EmbedderFailed that says what was wrong, and neither the key nor the text."""
    answer, said = WRONG[case]
    with serving(answer) as service, pytest.raises(EmbedderFailed, match=said) as caught:
        RemoteEmbedder(service.address, "m", key=KEY).embed([TEXT])
    assert not any(hidden in f"{caught.value} {caught.value.hint}" for hidden in (KEY, TEXT))
    assert caught.value.__cause__ is None


def test_what_is_asked() -> None:
    """The model, the texts and the key are sent, as many texts at a time as was said, and empty ones not at all."""
    with serving(as_openai) as service:
        embedder = RemoteEmbedder(service.address, "some-model", key=KEY)
        embedder.batch = 2
        embedder.embed(["a", " ", "b", "c"])
    assert service.asked == [
        Asked("/v1/embeddings", f"Bearer {KEY}", {"model": "some-model", "input": texts})
        for texts in (["a", "b"], ["c"])
    ]


def test_only_text_is_sent() -> None:
    """Half of a surrogate pair, which servers refuse with all of its batch, goes as a question mark."""
    with serving(as_openai) as service:
        RemoteEmbedder(service.address, "m").embed(["a\ud800b"])
    assert service.asked[0].body["input"] == ["a?b"]


def test_ollama_is_asked_its_way() -> None:
    """Ollama has its own path and needs no key, and the kind is part of the model's name."""
    with serving(as_ollama) as service:
        embedder = RemoteEmbedder(service.address, "nomic-embed-text", kind="ollama")
        vectors = embedder.embed(["a"])
    assert [(asked.path, asked.key) for asked in service.asked] == [("/api/embed", None)]
    assert embedder.model == "ollama:nomic-embed-text"
    expected = np.array(rows_of(service.asked[0]))
    assert np.allclose(vectors, expected / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/", "/v1/embeddings", "/proxy", "/proxy/v1"])
def test_addresses_people_give(base: str) -> None:
    """The host, the base with its version and the whole address mean the same."""
    with serving(as_openai) as service:
        RemoteEmbedder(service.address + base, "m").embed(["a"])
    assert service.asked[0].path == ("/proxy" if "proxy" in base else "") + "/v1/embeddings"


@pytest.mark.parametrize(
    "address",
    ["", "localhost:11434", "file:///etc/passwd", "ftp://host/", "http://", "https://user:pass@host", "https://host/?k=v",
     "http://[::1", "http://host:port", "http://host:99999"],
)  # fmt: skip
def test_addresses_that_are_none(address: str) -> None:
    """What is not an address of the web is refused when the embedder is made, and not repeated in the error."""
    with pytest.raises(InvalidSettings) as caught:
        RemoteEmbedder(address, "m")
    assert "pass" not in str(caught.value)


def test_a_key_stays_where_it_belongs() -> None:
    """A key goes over https, or to this machine."""
    RemoteEmbedder("https://example.org", "m", key=KEY)
    RemoteEmbedder("http://localhost:1", "m", key=KEY)
    with pytest.raises(InvalidSettings, match="plain http"):
        RemoteEmbedder("http://example.org", "m", key=KEY)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_refused(status: int) -> None:
    """A service that sends us elsewhere gets no second request there: the key and the text were not meant for it."""
    with serving(as_openai) as other, serving(reply(b"", status, {"Location": other.address})) as service:
        with pytest.raises(EmbedderFailed, match=f"status {status}"):
            RemoteEmbedder(service.address, "m", key=KEY).embed([TEXT])
        assert not other.asked


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment says of proxies does not send the texts for a local service through another machine."""
    with serving(as_openai) as proxy, serving(as_openai) as service:
        monkeypatch.setenv("http_proxy", proxy.address)
        RemoteEmbedder(service.address, "m").embed(["a"])
        assert (len(proxy.asked), len(service.asked)) == (0, 1)


def test_nobody_there() -> None:
    """A service that does not run is an EmbedderFailed at once."""
    with serving(as_openai) as service:
        pass
    with pytest.raises(EmbedderFailed, match="cannot be reached"):
        RemoteEmbedder(service.address, "m").embed(["a"])


def slow(seconds: float, rounds: int) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(rounds):
            time.sleep(seconds)
            try:
                handler.wfile.write(b" ")
            except OSError:
                return

    return answer


def slow_headers(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    handler.send_response(200)
    handler.flush_headers()
    for _ in range(60):
        time.sleep(0.05)
        try:
            handler.wfile.write(b"X-Wait: yes\r\n")
            handler.wfile.flush()
        except OSError:
            return


@pytest.mark.parametrize(
    "answer", [slow(2.0, 1), slow(0.05, 60), slow_headers], ids=["silent", "trickling", "trickling headers"]
)
def test_time_is_bounded(answer: Answer) -> None:
    """A service that says nothing, or a byte now and then, is given up when the time is over."""
    start = time.monotonic()
    with serving(answer) as service:
        embedder = RemoteEmbedder(service.address, "m")
        embedder.timeout = 0.3
        with pytest.raises(EmbedderFailed, match=r"within 0\.3 s"):
            embedder.embed(["a"])
        assert time.monotonic() - start < 1.8


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer without end is not read to its end."""
    monkeypatch.setattr(remote, "_MAX_ANSWER_BYTES", 1_000)
    with serving(reply(b" " * 2_000)) as service, pytest.raises(EmbedderFailed, match="too long"):
        RemoteEmbedder(service.address, "m").embed(["a"])


def growing() -> Callable[[BaseHTTPRequestHandler, Asked], None]:
    sizes = iter(range(1, 9))
    return lambda handler, asked: reply({"data": [item(0, *[1.0] * next(sizes))]})(handler, asked)


def test_the_dimension_does_not_change() -> None:
    """A service that changes its model behind our back is found out by the length of its vectors."""
    with serving(growing()) as service:
        embedder = RemoteEmbedder(service.address, "m")
        assert embedder.dimension == 1
        with pytest.raises(EmbedderFailed, match="different lengths"):
            embedder.embed(["a"])
