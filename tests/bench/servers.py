"""What the MCP server costs: from its start to the answered tools/list, the size of that, and its memory."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from commonplace.book import Book
from tests.bench.books import WORDS, texts
from tests.bench.measure import Measure, alternate

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """Something counted against a budget."""

    name: str
    found: float
    budget: float

    @property
    def verdict(self) -> str:
        return "within" if self.found <= self.budget else "OVER"

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "verdict": self.verdict}


def amount_table(amounts: list[Amount]) -> str:
    lines = [f"{'amount':<52} {'found':>9} {'budget':>9}  verdict"]
    return "\n".join([*lines, *(f"{a.name:<52} {a.found:>9,.0f} {a.budget:>9,.0f}  {a.verdict}" for a in amounts)])


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


def run(root: Path, rounds: int, large: int) -> tuple[list[Measure], list[Amount]]:
    environment = {**os.environ, "COMMONPLACE_ROOT": str(root / "served"), "COMMONPLACE_PROJECT": "bench/served"}
    listed: list[str] = []

    def spawn(_: int) -> None:
        server = _Server(environment)
        listed.append(json.dumps(server.request("tools/list")["result"], separators=(",", ":")))
        server.process.kill()
        server.close()

    def floor(_: int) -> None:
        subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)

    floor_ms, ours_ms = alternate(max(7, rounds // 15), floor, spawn)
    amounts = [
        Amount("tools/list of an agent, tools", len(json.loads(listed[0])["tools"]), 12),
        Amount("tools/list of an agent, characters", len(listed[0]), 12_000),
    ]
    amounts += _memory(environment, root / "served", large) if sys.platform.startswith("linux") else []
    return [Measure("MCP: spawn to tools/list, / import mcp.server", floor_ms, ours_ms, 1.6)], amounts


def _memory(environment: Mapping[str, str], root: Path, large: int) -> list[Amount]:
    with Book.open(root, project="bench/served") as book:
        book.store_many({"content": text, "key": f"fact-{n:05d}"} for n, text in enumerate(texts(large)))
    server = _Server(environment)
    rng = random.Random(5)
    for _ in range(1_000):
        server.request("tools/call", name="memory_recall", arguments={"query": " ".join(rng.sample(WORDS, 3))})
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    server.close()
    kilobytes = int(re.findall(r"VmRSS:\s+(\d+)", status)[0])
    return [Amount(f"MCP: MB after 1,000 recalls, {large:,} memories", kilobytes / 1_000, 200)]
