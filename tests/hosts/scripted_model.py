"""A model that does what a script says, at an address of this machine: enough of three APIs for agents."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Call = tuple[str, dict[str, object]]


class Model:
    """Answers with one tool call after the other, then with a text. Remembers what it was asked."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._left = list(calls)
        self._lock = threading.Lock()
        self.asked: list[str] = []
        self.address = ""
        self.answer = "done"  # the text

    def content(self, request: dict[str, Any]) -> tuple[list[dict[str, object]], str]:
        with self._lock:
            self.asked.append(json.dumps(request))
            offered = {tool.get("name") for tool in request.get("tools", ())}
            if self._left and self._left[0][0] in offered:
                name, given = self._left.pop(0)
                ident = f"toolu_{len(self._left)}"
                return [{"type": "tool_use", "id": ident, "name": name, "input": given}], "tool_use"
        return [{"type": "text", "text": self.answer}], "end_turn"


class _Handler(BaseHTTPRequestHandler):
    model: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nothing: the step says what was seen."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def _google(self, request: dict[str, Any]) -> None:
        self.model.asked.append(json.dumps(request))
        stream = "stream" in self.path
        said = {"role": "model", "parts": [{"text": self.model.answer}]}
        data = json.dumps({"candidates": [{"content": said, "finishReason": "STOP", "index": 0}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.end_headers()
        self.wfile.write(b"data: " + data + b"\n\n" if stream else data)

    def _openai(self, request: dict[str, Any]) -> None:
        self.model.asked.append(json.dumps(request))
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": self.model.answer, "annotations": []}],
        }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        self._stream(
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
        )

    def _stream(self, *events: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "GenerateContent" in self.path or "generateContent" in self.path:
            self._google(request)
            return
        if self.path.endswith("/responses"):
            self._openai(request)
            return
        content, reason = self.model.content(request)
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "content": content,
            "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        if request.get("stream"):
            self._stream(*_events(message, content, reason))
        else:
            data = json.dumps(message).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)


def _events(message: dict[str, Any], content: list[dict[str, Any]], reason: str) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(content):
        start: dict[str, object]
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


@contextmanager
def scripted(calls: Sequence[Call]) -> Iterator[Model]:
    model = Model(calls)
    handler = type("Handler", (_Handler,), {"model": model})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        model.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
