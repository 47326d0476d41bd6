"""What a caller asks is nowhere on the disk afterwards: no query, no prompt, no secret that came as an id."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError
from tests.hooks.hooking import hook
from tests.mcp.raw import Raw

TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"
PHRASE = "quokkazeppelin"  # a query is nobody's business, secret or not
QUERY = f"deploy {PHRASE} with {TOKEN}"


def on_disk(*folders: Path) -> Iterator[str]:
    """The files below these folders that have a word of the query in them, in UTF-8 or UTF-16."""
    for folder in folders:
        for path in folder.rglob("*"):
            data = path.read_bytes() if path.is_file() else os.fsencode(path.name)
            for word in (TOKEN, PHRASE):
                if word.encode() in data or word.encode("utf-16-le") in data or word in path.name:
                    yield f"{path.name}: {word}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Book.open(tmp_path / "book", project="acme/app") as book:
        book.store("Deploy with the blue script.", "deploy")
    return tmp_path / "book"


def test_a_query_at_the_command_line(root: Path) -> None:
    """`recall`, `search`, `brief --prompt` and a refused store leave none of their words."""
    for words in (["recall", QUERY], ["search", TOKEN], ["brief", "--prompt", QUERY], ["store", QUERY]):
        environment = {**os.environ, "COMMONPLACE_ROOT": str(root)}
        subprocess.run([sys.executable, "-m", "commonplace", *words], env=environment, capture_output=True, check=False)
    assert [*on_disk(root.parent)] == []


def test_a_query_of_the_library(root: Path) -> None:
    """`recall`, by words and in an error, leaves none of its words while the book is open, and none afterwards."""
    with Book.open(root, project="acme/app") as book:
        book.recall(QUERY)
        with pytest.raises(CommonplaceError):
            book.show(f"no-{TOKEN}")
        assert [*on_disk(root.parent)] == []
    assert [*on_disk(root.parent)] == []


GROUPS = ("--tools", "files", "--tools", "pair")


def test_a_query_over_mcp(root: Path) -> None:
    """Tools that ask, and then a store that the protocol compares with what was asked, leave none of the words."""
    with Raw(root, "--project", "acme/app", "--agent", "scout", "--session", "talk", *GROUPS) as raw:
        for tool in ("memory_recall", "search", "search_memory"):
            raw.call(tool, query=QUERY)
        raw.call("memory_shell", command=f"grep -r {TOKEN} /memories")
        raw.call("memory_show", key=f"no-{PHRASE}")
        raw.call("memory_recall", query="x", session=TOKEN)
        raw.call("memory_store", content="Deploy with the green script.")
        assert [*on_disk(root.parent)] == []
    assert [*on_disk(root.parent)] == []


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_a_prompt_and_a_secret_in_an_id_of_a_hook(root: Path, host: str, tmp_path: Path) -> None:
    """A hook that gets a token in the prompt, and as the id of the session, keeps neither."""
    for event in ("session-start", "prompt", "stop"):
        said = {
            "session_id": TOKEN, "cwd": str(tmp_path), "prompt": QUERY, "source": "startup",
            "transcript_path": str(tmp_path / "transcript.jsonl"), "hook_event_name": event,
        }  # fmt: skip
        hook(root, event, host, said)
        hook(root, event, host, {**said, "session_id": "talk", "conversation_id": TOKEN})
    assert [*on_disk(root.parent)] == []
