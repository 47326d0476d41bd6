"""Standard input and output as MCP's transport, so that every frame is answered and the server always ends cleanly.

The SDK's own transport drops a frame that it cannot read, without an answer, and waits for a line when it is told to
stop. This one promises:

- Standard output carries the protocol only: while it serves, file descriptor 1 is standard error, so nothing that other
  code prints can get between two frames.
- Every message says when its bytes arrived, not when its turn came: calls that were sent together began together.
- Every frame is answered: one that is not JSON, not a message or too long with a JSON-RPC error. One that only Python's
  JSON can hold (half of a surrogate pair) is passed on, for the tools to refuse in words.
- When standard input ends, when the client stops reading, or on SIGTERM, calls under way are answered if that takes no
  longer than GRACE; then the server ends. No thread of ours can keep the process alive.
"""

import asyncio
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
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

from commonplace.verbs.toolset import read_order

if sys.platform == "win32":
    import msvcrt

MAX_FRAME = 32_000_000  # bytes of one message
GRACE = 0.4  # seconds for calls under way when the input ends
_CHUNK = 1 << 16
_READ_AHEAD = 64  # frames


class StdioTransport:
    """Bytes in by one thread, bytes out by another, frames in the event loop."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()  # each with when it arrived
        self._room = threading.Semaphore(_READ_AHEAD)  # in the queue: the reader waits where there is none
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._open: set[object] = set()  # ids of requests that are not answered yet
        self._writer = threading.Thread(target=self._write, name="commonplace-mcp-out", daemon=True)
        self._writer.start()
        threading.Thread(target=self._read, name="commonplace-mcp-in", daemon=True).start()

    def end(self) -> None:
        """Stop reading input. May be called from any thread or signal handler."""
        self._put(None)

    async def frames(self) -> AsyncIterator[SessionMessage]:
        """Yield messages as they come; a frame that is not a message is answered here."""
        while (frame := await self._lines.get()) is not None:
            self._room.release()
            arrived, line = frame
            found = _parse_frame(line)
            if isinstance(found, bytes):
                self._out.put(found)
                continue
            if isinstance(found, JSONRPCRequest):
                self._open.add(found.id)
            elif isinstance(found, JSONRPCNotification) and found.method == "notifications/cancelled":
                self._open.discard((found.params or {}).get("requestId"))  # it will not be answered
            if found:
                yield SessionMessage(found, ServerMessageMetadata(request_context=arrived))

    def send(self, message: JSONRPCResponse | JSONRPCError | JSONRPCNotification | JSONRPCRequest) -> None:
        """Queue a message to the client. One that cannot be written as JSON becomes an error."""
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._open.discard(message.id)
        try:
            data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        except ValueError:
            data = _error_frame(getattr(message, "id", None), INTERNAL_ERROR, "The answer cannot be written as JSON.")
        self._out.put(data)

    async def wait_for_answers(self) -> None:
        """Wait until all open requests are answered, but no longer than GRACE."""
        with anyio.move_on_after(GRACE):
            while self._open:
                await anyio.sleep(0.005)

    def close(self) -> None:
        """Write what is queued. A client that does not read cannot hold us up."""
        self._out.put(None)
        self._writer.join(GRACE / 2)

    # The threads are daemons: at the end of the process they are left where they wait

    def _read(self) -> None:
        parts: list[bytes] = []
        size = 0
        with suppress(OSError):
            while chunk := os.read(self._source, _CHUNK):
                arrived = read_order()
                *whole, rest = chunk.split(b"\n")
                for piece in whole:
                    line = b"".join([*parts, piece]) if size <= MAX_FRAME else b"\0"  # \0: refused as no JSON
                    self._put_frame(arrived, line)
                    parts, size = [], 0
                size += len(rest)
                if rest and size <= MAX_FRAME:
                    parts.append(rest)
        self._put_frame(read_order(), b"".join(parts))
        self._put(None)

    def _put_frame(self, arrived: int, line: bytes) -> None:
        if line.strip():
            self._room.acquire()
            self._put((arrived, line))

    def _put(self, frame: tuple[int, bytes] | None) -> None:
        with suppress(RuntimeError):  # the loop is gone: it has ended already
            self._loop.call_soon_threadsafe(self._lines.put_nowait, frame)

    def _write(self) -> None:
        while (data := self._out.get()) is not None:
            try:
                while data:
                    data = data[os.write(self._sink, data) :]
            except OSError:  # the client stopped reading
                self.end()
                return


def _parse_frame(line: bytes) -> Any:
    """Return a line as a message; where it is not one the error to answer with, or None if no answer is due."""
    try:
        found = json.loads(line)  # not by the SDK's own parser, which refuses half of a surrogate pair
    except (ValueError, RecursionError):
        return _error_frame(None, PARSE_ERROR, "The frame is not JSON, or longer than a frame may be.")
    try:
        message = jsonrpc_message_adapter.validate_python(found, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and "id" in found):  # a request whose id cannot be one
            return message
    except ValueError:
        pass
    if isinstance(found, dict) and "method" not in found and ("result" in found or "error" in found):
        return None  # an answer to nothing: answering it could go on for ever
    ident = found.get("id") if isinstance(found, dict) else None
    return _error_frame(ident, INVALID_REQUEST, "The frame is not a JSON-RPC message.")


def _error_frame(ident: object, code: int, message: str) -> bytes:
    known = ident if isinstance(ident, (str, int)) and not isinstance(ident, bool) else None
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": error}).encode() + b"\n"


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the pair of streams that `Server.run` takes, over this process's standard input and output."""
    source, sink = _take_standard_streams()
    transport = StdioTransport(source, sink)
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            asyncio.get_running_loop().add_signal_handler(number, transport.end)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: transport.end())
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

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed)
            tasks.start_soon(drain)
            yield from_transport, to_transport
    finally:
        transport.close()
        sys.stdout.flush()
        os.dup2(sink, 1)


def _take_standard_streams() -> tuple[int, int]:
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
    return source, sink
