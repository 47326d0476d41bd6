"""Standard input and output as MCP's transport, so that every frame is answered and every end is clean.

The SDK's own transport drops a frame that it cannot read, without an answer, and waits for a line when it is told to
stop. This one promises:

- Standard output carries the protocol only: while it serves, file descriptor 1 is standard error, so nothing that is
  printed by anybody else can get between two frames.
- Every frame is answered: one that is no JSON, no message or too long with a JSON-RPC error. One that only JSON of
  Python's kind can hold (half of a surrogate pair) is passed on, for the tools to refuse in words.
- When standard input ends, when nobody reads the output any more, or on SIGTERM: what is under way is answered if it
  takes no longer than GRACE, and then it is over. No thread of ours can keep the process alive.
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

from commonplace.model.log import Log

log = Log("commonplace.mcp")

MOST_FRAME = 32_000_000  # bytes of one message
GRACE = 0.4  # seconds for what is under way when the input ends
_CHUNK = 1 << 16
_WAITING = 64  # frames that are read ahead


class Wire:
    """The two ends of the protocol: bytes in by one thread, bytes out by another, frames in the event loop."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._loop = asyncio.get_running_loop()
        self._lines: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._arrived = asyncio.Event()
        self._ended = asyncio.Event()
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._open: set[object] = set()  # ids of requests that are not answered yet
        self._writer = threading.Thread(target=self._write, name="commonplace-mcp-out", daemon=True)
        self._reader = threading.Thread(target=self._read, name="commonplace-mcp-in", daemon=True)

    def start(self) -> None:
        self._writer.start()
        self._reader.start()

    def end(self) -> None:
        """No more input is read. May be called from any thread, or from a signal's handler."""
        with suppress(RuntimeError):  # the loop is gone: it has ended already
            self._loop.call_soon_threadsafe(self._ended.set)

    async def frames(self) -> AsyncIterator[SessionMessage]:
        """Messages as they come; what is none is answered here."""
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                if not await self._more():
                    return
                continue
            if line is None:
                return
            message = self._message(line)
            if message is not None:
                yield message

    async def _more(self) -> bool:
        """Wait for a frame; False when it has ended."""
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
        """A message to the client. One that cannot be written as JSON becomes an error."""
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._open.discard(message.id)
        try:
            data = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        except ValueError:
            log.warning("event=answer_not_json")
            data = _refusal(getattr(message, "id", None), INTERNAL_ERROR, "The answer cannot be written as JSON.")
        self._out.put(data + b"\n")

    async def answered(self) -> None:
        """Until everything under way is answered, but no longer than GRACE."""
        with anyio.move_on_after(GRACE):
            while self._open:
                await anyio.sleep(0.005)

    def close(self) -> None:
        """Write what is waiting. A client that does not read cannot hold us up."""
        self._out.put(None)
        self._writer.join(GRACE / 2)

    def _message(self, line: bytes) -> SessionMessage | None:
        found, fault = read_frame(line)
        if fault is not None:
            self._out.put(fault + b"\n")
        if found is None:
            return None
        if isinstance(found, JSONRPCRequest):
            self._open.add(found.id)
        elif isinstance(found, JSONRPCNotification) and found.method == "notifications/cancelled":
            self._open.discard((found.params or {}).get("requestId"))  # it will not be answered
        return SessionMessage(found)

    # Threads: daemons, which at the end of the process are left where they wait

    def _read(self) -> None:
        parts: list[bytes] = []
        size = 0
        with suppress(OSError):
            while chunk := os.read(self._source, _CHUNK):
                *whole, rest = chunk.split(b"\n")
                for piece in whole:
                    self._put(b"".join([*parts, piece]) if size <= MOST_FRAME else b"\0")  # \0: refused as no JSON
                    parts, size = [], 0
                size += len(rest)
                if rest and size <= MOST_FRAME:
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
            except OSError:  # nobody reads any more
                self.end()
                return


def read_frame(line: bytes) -> tuple[Any, bytes | None]:
    """A line as a message; or nothing, and the error to answer with, if an answer is due."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and b'"id"' in line):
            return message, None
    except ValueError:
        pass
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None, _refusal(None, PARSE_ERROR, "The frame is not JSON, or longer than a frame may be.")
    try:
        message = jsonrpc_message_adapter.validate_python(found, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and "id" in found):  # a request whose id cannot be one
            return message, None
    except ValueError:
        pass
    if isinstance(found, dict) and "method" not in found and ("result" in found or "error" in found):
        return None, None  # an answer to nothing: to answer it could go on for ever
    ident = found.get("id") if isinstance(found, dict) else None
    return None, _refusal(ident, INVALID_REQUEST, "The frame is no JSON-RPC message.")


def _refusal(ident: object, code: int, message: str) -> bytes:
    known = ident if isinstance(ident, (str, int)) and not isinstance(ident, bool) else None
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}).encode()


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """The pair of streams that `Server.run` takes, over this process's standard input and output."""
    source, sink, restore = _claim()
    wire = Wire(source, sink)
    _end_on_signals(wire.end)
    to_server, from_wire = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_wire, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def feed() -> None:
        async with to_server:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for message in wire.frames():
                    await to_server.send(message)
            await wire.answered()

    async def drain() -> None:
        async with from_server:
            async for item in from_server:
                wire.send(item.message)

    wire.start()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed)
            tasks.start_soon(drain)
            yield from_wire, to_wire
    finally:
        wire.close()
        restore()


def _claim() -> tuple[int, int, Callable[[], None]]:
    """Take standard input and output for the protocol: duplicates for us, the null device and stderr for all others."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - there is none elsewhere

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
