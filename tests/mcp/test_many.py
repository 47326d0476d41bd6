"""Many callers of one book at once, and one caller many times."""

from __future__ import annotations

import queue
import random
import re
import sys
import threading
from pathlib import Path

import pytest

from commonplace import Book
from tests.depth import depths
from tests.mcp.raw import Raw

pytestmark = pytest.mark.deep  # it starts many processes


class _Client(threading.Thread):
    """One conversation: its own session, on a server that it shares with others."""

    def __init__(self, number: int, calls: int, raw: Raw, turn: threading.Lock) -> None:
        super().__init__()
        self.name_, self._raw, self._turn = f"c{number}", raw, turn
        self._calls, self._random = calls, random.Random(number)
        self.shared: list[str] = []
        self.private: list[str] = []
        self.faults: list[str] = []

    def run(self) -> None:
        try:
            for number in range(self._calls):
                self._one(number)
        except (AssertionError, KeyError, OSError, ValueError, queue.Empty) as error:
            self.faults.append(repr(error))

    def _one(self, number: int) -> None:
        place = {"session": self.name_}
        kind = self._random.choice(("shared", "private", "recall", "recall", "list", "show"))
        if kind in ("shared", "private"):
            key = f"{kind}-{self.name_}-{number}"
            scope = "project" if kind == "shared" else "session"
            content = f"Fact {number} of {self.name_}, {kind}: {self._random.random()}"
            self._call("memory_store", content=content, key=key, scope=scope, **place)
            (self.shared if kind == "shared" else self.private).append(key)
        elif kind == "recall":
            self._see(self._call("memory_recall", query=f"private fact {number}", limit=20, **place)["hits"])
        elif kind == "list":
            self._see(self._call("memory_list", limit=500, **place)["memories"])
        elif self.private:
            self._call("memory_show", key=self._random.choice(self.private), **place)

    def _see(self, rows: list[dict[str, str]]) -> None:
        others = [row["key"] for row in rows if re.match(r"private-(?!" + self.name_ + "-)", row["key"])]
        self.faults += [f"saw {key}" for key in others]

    def _call(self, tool: str, **arguments: object) -> dict[str, list[dict[str, str]]]:
        with self._turn:  # of writing to the pipe, and of waiting for the answer
            ident = self._raw.begin("tools/call", {"name": tool, "arguments": arguments})
            result = self._raw.answer(ident)["result"]
        if result["isError"]:
            self.faults.append(result["content"][0]["text"])
            return {"hits": [], "memories": []}
        answer: dict[str, list[dict[str, str]]] = result["structuredContent"]
        return answer


@pytest.mark.parametrize(("number_of_clients", "calls"), depths((4, 8), (8, 125)))
def test_two_servers_many_clients_many_calls(root: Path, number_of_clients: int, calls: int) -> None:
    """With two servers on one book nothing that was acknowledged is lost, and nobody sees another's session."""
    options = ("--project", "acme/app", "--protocol", "off")
    with Raw(root, *options) as one, Raw(root, *options) as two:
        turns = (threading.Lock(), threading.Lock())
        clients = [_Client(n, calls, (one, two)[n % 2], turns[n % 2]) for n in range(number_of_clients)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert [fault for client in clients for fault in client.faults] == []
    assert sum(len(client.shared) + len(client.private) for client in clients) > number_of_clients * calls // 5
    with Book.open(root, project="acme/app") as book:
        kept = {item.key for item in book.list(everything=True)}
        assert kept == {key for client in clients for key in (*client.shared, *client.private)}
        assert book.verify().ok


def _resident(pid: int) -> int:
    """Kilobytes of memory that a process has."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text("ascii"))[0])


@pytest.mark.deep
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_thousand_recalls_do_not_grow(root: Path) -> None:
    """The second five hundred recalls take no memory that the first five hundred did not."""
    with Book.open(root, project="acme/app") as book:
        book.store_many(
            {"content": f"Fact {n} of port {n * 7} and branch {n % 13}.", "key": f"f-{n}"} for n in range(300)
        )
    with Raw(root, "--project", "acme/app") as raw:
        sizes = []
        for _ in range(2):
            idents = [
                raw.begin(
                    "tools/call", {"name": "memory_recall", "arguments": {"query": f"port {n} branch", "limit": 5}}
                )
                for n in range(500)
            ]
            assert all(not raw.answer(ident)["result"]["isError"] for ident in idents)
            sizes.append(_resident(raw.process.pid))
        assert sizes[1] < sizes[0] * 1.05 + 2_000
