"""A client that knows nothing but JSON-RPC: it sends bytes to a server's process and reads the lines that come back.

Waiting has a bound far beyond what any machine needs; it is reached only by a server that hangs.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import commonplace
from commonplace.memories.layout import find_run_folder

HANGS = 90.0
LEGACY, MODERN = "2025-06-18", "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment(root: Path, **more: str) -> dict[str, str]:
    """The environment of a server: nothing of the machine's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    ours = str(Path(commonplace.__file__).parents[1])  # the same code as these tests have
    path = os.pathsep.join([*filter(None, [more.pop("PYTHONPATH", "")]), ours])
    return {**kept, "COMMONPLACE_ROOT": str(root), "HOME": str(root.parent), "PYTHONPATH": path, **more}


def _user_state(settings: Mapping[str, str]) -> str:
    """Where a server with these settings keeps the user's state, on Linux."""
    base = settings.get("XDG_STATE_HOME") or os.path.join(settings["HOME"], ".local", "state")
    return os.path.join(base, "commonplace")


class Raw:
    """One server's process, and what it says."""

    def __init__(
        self, root: Path, *words: str, era: str = LEGACY, cwd: Path | None = None, deaf: bool = False, **more: str
    ) -> None:
        self.era, self.deaf = era, deaf
        settings = environment(root, **more)
        self.run_folder = find_run_folder(settings.get("COMMONPLACE_STATE") or _user_state(settings))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "commonplace", "mcp", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=settings, cwd=cwd or root.parent,
        )  # fmt: skip
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        if deaf and self.process.stdout is not None:
            self.process.stdout.close()
        else:
            self._reader.start()
        self._number = 0
        self._early: dict[object, dict[str, Any]] = {}
        self.hello: dict[str, Any] = {}

    def __enter__(self) -> Raw:
        if self.era == LEGACY and not self.deaf:
            client = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
            self.hello = self.request("initialize", client)["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(HANGS)
        if not self.deaf:
            self._reader.join(HANGS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        if self.run_folder.startswith("/tmp/commonplace-"):  # it stood for one whose path is too long
            shutil.rmtree(self.run_folder, ignore_errors=True)

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def begin(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request, in the way of this client's era; answers its id."""
        self._number += 1
        given = dict(params or {})
        if self.era == MODERN:
            given["_meta"] = META
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": given})
        return self._number

    def line(self) -> dict[str, Any]:
        """The next message, whatever it is."""
        line = self._lines.get(timeout=HANGS)
        assert line is not None, "the server has ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def answer(self, ident: object) -> dict[str, Any]:
        """The answer to one request; others that come before it are kept."""
        while ident not in self._early:
            found = self.line()
            self._early[found.get("id")] = found
        return self._early.pop(ident)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self.answer(self.begin(method, params))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A call of a tool that must be answered with a result, be it an error of the tool."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return dict(answer["result"])

    def fine(self, tool: str, **arguments: Any) -> Any:
        """What a call that must work answers, as data."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def error(self, tool: str, **arguments: Any) -> dict[str, str]:
        """What a call that must fail says."""
        result = self.call(tool, **arguments)
        assert result["isError"] is True and "structuredContent" not in result
        error: dict[str, str] = result["_meta"]["commonplace/error"]
        assert error["code"] in result["content"][0]["text"] and error["hint"] in result["content"][0]["text"]
        return error

    def end(self) -> tuple[int, str]:
        """Close its input and wait for the end: exit status, and what it said on standard error."""
        assert self.process.stdin is not None and self.process.stderr is not None
        self.process.stdin.close()
        status = self.process.wait(HANGS)
        return status, self.process.stderr.read().decode()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(ValueError):  # a test has closed it
            for line in self.process.stdout:
                self._lines.put(line)
        self._lines.put(None)
