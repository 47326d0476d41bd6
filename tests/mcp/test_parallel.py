"""Calls that a client sends together do not know each other's answers, however the server's turns fall."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commonplace.book import Book
from tests.mcp.raw import LEGACY, META, MODERN, Raw

STRICT = ("--project", "acme/app", "--agent", "scout", "--protocol", "strict")
RECALL = ("memory_recall", {"query": "staging database"})
STORE = ("memory_store", {"content": "The staging database moved to another machine in Berlin."})


@pytest.fixture
def book(root: Path) -> Path:
    with Book.open(root, project="acme/app") as book:
        book.store("The staging database is on port 5432.", "staging-port")
    return root


def send_together(raw: Raw, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Send calls in one write, and answer their results in the same order."""
    frames = [
        {"jsonrpc": "2.0", "id": f"batch-{at}", "method": "tools/call", "params": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(calls)
    ]
    if raw.era == MODERN:
        for frame in frames:
            frame["params"]["_meta"] = META  # type: ignore[index]
    raw.send_bytes(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
    return [raw.answer(f"batch-{at}")["result"] for at in range(len(calls))]


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_store_does_not_know_the_recall_beside_it(book: Path, era: str) -> None:
    """Strict mode refuses a store that was sent with its recall, and lets the same one pass that is sent afterwards."""
    with Raw(book, *STRICT, era=era) as raw:
        recalled, stored = send_together(raw, RECALL, STORE)
        assert not recalled["isError"] and stored["isError"]
        assert stored["_meta"]["commonplace/error"]["code"] == "decision_needed"
        again = send_together(raw, STORE)[0]
        assert not again["isError"]


def test_a_store_in_a_batch_knows_what_was_answered_before_it(book: Path) -> None:
    """A recall of before counts for a store in a batch, whatever else is in it."""
    with Raw(book, *STRICT) as raw:
        raw.fine(*RECALL[:1], **RECALL[1])
        unrelated = ("memory_recall", {"query": "printers"})
        assert not send_together(raw, unrelated, STORE, unrelated)[1]["isError"]
