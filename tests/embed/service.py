"""A service of embeddings on this machine, real enough for the embedder that asks one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.embed.memory import MemoryEmbedder


class Asked(NamedTuple):
    path: str
    key: str | None
    body: dict[str, Any]


Answer = Callable[[BaseHTTPRequestHandler, Asked], None]
twin = MemoryEmbedder(8)


def send(
    handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def rows_of(asked: Asked) -> list[list[float]]:
    """What the model behind the service makes of the texts: not of length one, as many are not."""
    rows: list[list[float]] = (3 * twin.embed(asked.body["input"]) + 0.001).tolist()
    return rows


def as_openai(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    """In some order: the numbers tell which is which."""
    items = [{"index": number, "embedding": row} for number, row in enumerate(rows_of(asked))]
    send(handler, json.dumps({"object": "list", "data": items[::-1]}).encode())


def as_ollama(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    send(handler, json.dumps({"model": "m", "embeddings": rows_of(asked)}).encode())


class Service(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[Asked] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(self.path, self.headers["Authorization"], body)
        self.server.asked.append(asked)
        self.server.answer(self, asked)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has above
        """Silent."""


@contextmanager
def serving(answer: Answer) -> Iterator[Service]:
    with Service(answer) as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
