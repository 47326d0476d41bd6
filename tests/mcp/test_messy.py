"""A messy session, in each mode of the protocol: the transcript shows just the notes that the specification asks for.

The transcripts are in messy-MODE.txt beside this; `python -m tests.mcp.test_messy` writes them anew, to be read.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from commonplace.mcp.book_pool import ServerOptions
from commonplace.mcp.server import BookServer
from tests.mcp.raw import Raw

MODES = ("off", "guide", "strict")
TOKEN = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"
SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("memory_store", {"content": "Staging listens on port 6000.", "key": "staging"}),  # nothing was read
    ("memory_store", {"content": "Staging listens on port 6000.", "key": "staging", "decision": "create"}),
    ("memory_recall", {"query": "staging port"}),
    ("memory_store", {"content": "Staging also listens on port 6001.", "key": "staging"}),  # a clean cycle
    ("memory_store", {"content": "The staging listens on port 6000!", "key": "ports"}),  # nearly the same
    ("memory_store", {"content": "The staging listens on port 6000!", "decision": "update:staging"}),
    ("memory_store", {"content": f"The token is {TOKEN}"}),  # refused, and no note
    ("memory_store", {"content": "Deploys are on Thursdays.", "scope": "global"}),  # global was read, deploys were not
    ("memory_recall", {"query": "when do we deploy"}),
    ("memory_store", {"content": "Deploys need two reviews.", "key": "deploy-reviews", "scope": "global"}),
    ("memory_link", {"key": "staging", "rel": "relates_to", "to": "global/deploy-reviews"}),
    ("memory_forget", {"key": "deploy-reviews", "scope": "global"}),  # needs no duplicate check
    ("memory_show", {"key": "staging"}),
    ("memory_store", {"content": "Staging is off at night.", "key": "staging", "mode": "replace"}),
    ("memory_store", {"content": "Deploys are on Thursdays!", "key": "day-1", "scope": "global"}),
    ("memory_store", {"content": "Deploys: on Thursdays.", "key": "day-2", "scope": "global"}),
    ("memory_store", {"content": "The deploys are on Thursdays.", "key": "day-3", "scope": "global"}),  # 3 in a row
    ("memory_store", {"content": "The nightly build uses port 7000 on staging.", "key": "nightly"}),
    ("memory_store", {"content": "The nightly build uses port 8000 on staging.", "key": "night-build"}),  # otherwise
    ("memory_store", {"content": "The nightly build uses port 8000 on staging.", "decision": "supersede:nightly"}),
]


def line(tool: str, arguments: dict[str, Any], result: dict[str, Any]) -> str:
    """A call and what came of it, without what differs from one run to the next."""
    shown = {name: value for name, value in arguments.items() if name != "content" or TOKEN not in value}
    text = result["content"][0]["text"]
    text = re.sub(r"[0-9a-f]{12,32}|\d{4}-\d\d-\d\d(T[\d:]+Z)?", "*", text)
    structured = result.get("structuredContent", {}).get("note")
    assert structured is None or text.endswith(re.sub(r"[0-9a-f]{12,32}", "*", structured))
    return f"> {tool} {json.dumps(shown)}\n{'ERROR ' if result['isError'] else ''}{text}\n"


def transcript(root: Path, mode: str) -> str:
    server = BookServer(ServerOptions(str(root), project="acme/app", agent="scout", protocol=mode))
    try:
        return "\n".join(
            line(tool, arguments, server.call(server.tools[tool], arguments)) for tool, arguments in SCRIPT
        )
    finally:
        server.books.close()
        server.close()


def golden(mode: str) -> Path:
    return Path(__file__).with_name(f"messy-{mode}.txt")


@pytest.mark.parametrize("mode", MODES)
def test_the_transcript_is_the_one_that_was_read(mode: str, root: Path) -> None:
    """The same calls give the same transcript, notes and refusals included."""
    assert transcript(root, mode) == golden(mode).read_text(encoding="utf-8")


def test_off_says_nothing_and_guide_refuses_nothing() -> None:
    """Without the protocol there is no note; with its guidance every write happens that happens without."""
    off, guide, strict = (golden(mode).read_text(encoding="utf-8") for mode in MODES)
    assert "[memory-protocol]" not in off
    assert guide.count("[memory-protocol]") >= 2
    assert guide.count("ERROR") == off.count("ERROR") == 1
    assert strict.count("ERROR error [decision_needed]") >= 2


def test_the_server_has_the_protocol_wired(root: Path) -> None:
    """A server guides by default; a setting makes it strict, and then a decision lets the same call succeed."""
    fact = {"content": "Staging listens on port 6000.", "key": "staging"}
    with Raw(root, "--project", "acme/app") as raw:
        result = raw.call("memory_store", **fact)
        note = result["structuredContent"]["note"]
        assert note.startswith("[memory-protocol]") and result["content"][0]["text"].endswith(note)
        assert "memory_recall(" in note
    (root / ".commonplace" / "config.toml").write_text('protocol = "strict"\n', encoding="utf-8")
    again = {"content": "Staging listens on the port 6000!"}
    with Raw(root, "--project", "acme/app") as raw:
        error = raw.error("memory_store", **again)
        assert error["code"] == "decision_needed" and "decision=update:staging" in error["message"]
        assert raw.fine("memory_store", **again, decision="update:staging")["key"] == "staging"
    with Raw(root, "--project", "acme/app", "--protocol", "off") as raw:
        assert "note" not in raw.fine("memory_store", content="Something unread.", key="unread")


@pytest.mark.deep
def test_a_reading_in_one_process_counts_in_another(root: Path) -> None:
    """Two servers of one session are one runner: what the first has read, the second need not read again."""
    place = ("--project", "acme/app", "--session", "s1", "--agent", "scout")
    with Raw(root, *place) as first, Raw(root, *place) as second:
        first.fine("memory_recall", query="staging")
        assert "note" not in second.fine("memory_store", content="Staging listens on port 6000.", key="staging")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODES:
        with tempfile.TemporaryDirectory() as folder:
            golden(wanted).write_text(transcript(Path(folder) / "book", wanted), encoding="utf-8")
