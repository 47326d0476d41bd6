"""What the MCP server costs: from its start to the answered tools/list, the size of that, and its memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.made import Bench, project, questions
from tests.bench.measure import Amount, Measure, Note, Row, alternate

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip


class _Server:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "commonplace", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.ask(HELLO)
        self._number = 1

    def ask(self, message: Mapping[str, object]) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def request(self, method: str, **params: object) -> Any:
        self._number += 1
        return self.ask({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def run(bench: Bench) -> list[Row]:
    large = bench.large
    root, project_id = bench.root(large), project(large)
    environment = {**os.environ, "COMMONPLACE_ROOT": str(root), "COMMONPLACE_PROJECT": project_id}
    listed: list[str] = []

    def spawn(_: int) -> None:
        server = _Server(environment)
        listed.append(json.dumps(server.request("tools/list")["result"], separators=(",", ":")))
        server.process.kill()
        server.close()

    def floor(_: int) -> None:
        subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)

    floor_ms, ours_ms = alternate(max(7, bench.rounds // 15), floor, spawn)
    return [
        Measure("MCP: spawn to tools/list, / import mcp.server", floor_ms, ours_ms, 1.6),
        Amount("tools/list of an agent, tools", len(json.loads(listed[0])["tools"]), "", 12),
        Amount("tools/list of an agent, characters", len(listed[0]), "", 12_000),
        _memory(environment, large),
    ]


def _memory(environment: Mapping[str, str], large: int) -> Row:
    name = f"MCP: memory after 1,000 recalls, {large:,}"
    if not sys.platform.startswith("linux"):
        return Note(name, "this system has no /proc")
    server = _Server(environment)
    for question in questions(1_000):
        server.request("tools/call", name="memory_recall", arguments={"query": question})
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    server.close()
    kilobytes = int(re.findall(r"VmRSS:\s+(\d+)", status)[0])
    return Amount(name, kilobytes * 1024 / 1e6, "MB", 200)
