"""Standard input and output as MCP's transport, so that every frame is answered and the server always ends cleanly.

The SDK's own transport drops a frame that it cannot read, without an answer, and waits for a line when it is told to
stop. This one promises:

- Standard output carries the protocol only: while it serves, file descriptor 1 is standard error, so nothing that other
  code prints can get between two frames.
- Every frame is answered: one that is not JSON, not a message or too long with a JSON-RPC error. One that only Python's
  JSON can hold (half of a surrogate pair) is passed on, for the tools to refuse in words.
- When standard input ends, when the client stops reading, or on SIGTERM, calls under way are answered if that takes no
  longer than GRACE; then the server ends. No thread of ours can keep the process alive.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from commonplace.model.lazy import Log

if sys.platform == "win32":
    import msvcrt

log = Log("commonplace.mcp")

MAX_FRAME = 32_000_000  # bytes of one message
GRACE = 0.4  # seconds for calls under way when the input ends
_CHUNK = 1 << 16
_READ_AHEAD = 64  # frames


class StdioTransport:
    """Bytes in by one thread, bytes out by another, frames in the event loop."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._loop = asyncio.get_running_loop()
        self._lines: queue.Queue[bytes | None] = queue.Queue(_READ_AHEAD)
        self._arrived = asyncio.Event()
        self._ended = asyncio.Event()
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._open: set[object] = set()  # ids of requests that are not answered yet
        self._writer = threading.Thread(target=self._write, name="commonplace-mcp-out", daemon=True)
        self._reader = threading.Thread(target=self._read, name="commonplace-mcp-in", daemon=True)

    def start(self) -> None:
        """Start both threads."""
        self._writer.start()
        self._reader.start()

    def end(self) -> None:
        """Stop reading input. May be called from any thread or signal handler."""
        with suppress(RuntimeError):  # the loop is gone: it has ended already
            self._loop.call_soon_threadsafe(self._ended.set)

    async def frames(self) -> AsyncIterator[SessionMessage]:
        """Yield messages as they come; a frame that is not a message is answered here."""
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                if not await self._wait_for_frame():
                    return
                continue
            if line is None:
                return
            message = self._accept_frame(line)
            if message is not None:
                yield message

    async def _wait_for_frame(self) -> bool:
        """Wait for a frame; return False if the input has ended."""
        self._arrived.clear()
        if not self._lines.empty():
            return True
        waits = [asyncio.ensure_future(event.wait()) for event in (self._arrived, self._ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return not self._ended.is_set()

    def send(self, message: JSONRPCResponse | JSONRPCError | JSONRPCNotification | JSONRPCRequest) -> None:
        """Queue a message to the client. One that cannot be written as JSON becomes an error."""
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._open.discard(message.id)
        try:
            data = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        except ValueError:
            log.warning("event=answer_not_json")
            data = _error_frame(getattr(message, "id", None), INTERNAL_ERROR, "The answer cannot be written as JSON.")
        self._out.put(data + b"\n")

    async def wait_for_answers(self) -> None:
        """Wait until all open requests are answered, but no longer than GRACE."""
        with anyio.move_on_after(GRACE):
            while self._open:
                await anyio.sleep(0.005)

    def close(self) -> None:
        """Write what is queued. A client that does not read cannot hold us up."""
        self._out.put(None)
        self._writer.join(GRACE / 2)

    def _accept_frame(self, line: bytes) -> SessionMessage | None:
        found, error = parse_frame(line)
        if error is not None:
            self._out.put(error + b"\n")
        if found is None:
            return None
        if isinstance(found, JSONRPCRequest):
            self._open.add(found.id)
        elif isinstance(found, JSONRPCNotification) and found.method == "notifications/cancelled":
            self._open.discard((found.params or {}).get("requestId"))  # it will not be answered
        return SessionMessage(found)

    # The threads are daemons: at the end of the process they are left where they wait

    def _read(self) -> None:
        parts: list[bytes] = []
        size = 0
        with suppress(OSError):
            while chunk := os.read(self._source, _CHUNK):
                *whole, rest = chunk.split(b"\n")
                for piece in whole:
                    self._put(b"".join([*parts, piece]) if size <= MAX_FRAME else b"\0")  # \0: refused as no JSON
                    parts, size = [], 0
                size += len(rest)
                if rest and size <= MAX_FRAME:
                    parts.append(rest)
        if size:
            self._put(b"".join(parts))
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        if line is None or line.strip():
            self._lines.put(line)
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._arrived.set)

    def _write(self) -> None:
        while (data := self._out.get()) is not None:
            try:
                while data:
                    data = data[os.write(self._sink, data) :]
            except OSError:  # the client stopped reading
                self.end()
                return


def parse_frame(line: bytes) -> tuple[Any, bytes | None]:
    """Return a line as a message; or None and the error to answer with, if an answer is due."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and b'"id"' in line):
            return message, None
    except ValueError:
        pass
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None, _error_frame(None, PARSE_ERROR, "The frame is not JSON, or longer than a frame may be.")
    try:
        message = jsonrpc_message_adapter.validate_python(found, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and "id" in found):  # a request whose id cannot be one
            return message, None
    except ValueError:
        pass
    if isinstance(found, dict) and "method" not in found and ("result" in found or "error" in found):
        return None, None  # an answer to nothing: answering it could go on for ever
    ident = found.get("id") if isinstance(found, dict) else None
    return None, _error_frame(ident, INVALID_REQUEST, "The frame is not a JSON-RPC message.")


def _error_frame(ident: object, code: int, message: str) -> bytes:
    known = ident if isinstance(ident, (str, int)) and not isinstance(ident, bool) else None
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}).encode()


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the pair of streams that `Server.run` takes, over this process's standard input and output."""
    source, sink, restore = _take_standard_streams()
    transport = StdioTransport(source, sink)
    _end_on_signals(transport.end)
    to_server, from_transport = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_transport, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def feed() -> None:
        async with to_server:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for message in transport.frames():
                    await to_server.send(message)
            await transport.wait_for_answers()

    async def drain() -> None:
        async with from_server:
            async for item in from_server:
                transport.send(item.message)

    transport.start()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed)
            tasks.start_soon(drain)
            yield from_transport, to_transport
    finally:
        transport.close()
        restore()


def _take_standard_streams() -> tuple[int, int, Callable[[], None]]:
    """Take standard input and output for the protocol; other code gets the null device and standard error."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        for number in (source, sink):
            msvcrt.setmode(number, os.O_BINARY)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)

    def restore() -> None:
        sys.stdout.flush()
        os.dup2(sink, 1)

    return source, sink, restore


def _end_on_signals(end: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            asyncio.get_running_loop().add_signal_handler(number, end)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: end())
