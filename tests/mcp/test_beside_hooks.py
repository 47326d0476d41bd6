"""The server beside the hooks of one session: it knows the folder they noted, and reads what they left for later."""

from __future__ import annotations

from pathlib import Path

from commonplace import Book
from tests.context.test_transcripts import claude, lines
from tests.hooks.hooking import hook, repository
from tests.mcp.raw import Raw

APP = "github.com/acme/app"


def test_a_session_has_the_folder_that_its_hook_noted(root: Path, tmp_path: Path) -> None:
    """A server that was started elsewhere keeps a session's memories in the project where the session began."""
    with Book.open(root):
        pass
    repo = repository(tmp_path / "repo", f"https://{APP}")
    hook(root, "session-start", "codex", {"session_id": "s1", "cwd": str(repo), "source": "startup"})
    with Raw(root, "--agent", "codex", cwd=tmp_path) as raw:
        raw.fine("memory_store", content="Tests run with pytest.", key="tests", session="s1")
        raw.fine("memory_store", content="Something of another folder.", key="other")
    with Book.open(root, project=APP) as book:
        assert [item.key for item in book.list("project")] == ["tests"]


def test_what_waits_in_the_spool_is_read_between_calls(root: Path, tmp_path: Path) -> None:
    """With capture = auto a server proposes what a transcript taught, after it has answered, and once."""
    with Book.open(root):
        pass
    transcript = tmp_path / "s1.jsonl"
    transcript.write_bytes(lines(claude("a", None, "user", "Remember that staging listens on 6000.")))
    said = {"session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(transcript)}
    hook(root, "stop", "claude-code", said, COMMONPLACE_CAPTURE="auto")
    with Raw(root, "--agent", "claude-code", "--session", "s1", COMMONPLACE_CAPTURE="auto") as raw:
        for _ in range(3):  # the first call has it read; calls are done one after the other
            raw.fine("memory_list")
    with Book.open(root, session="s1", agent="claude-code", role="person") as book:
        assert [item.summary for item in book.review()] == ["Staging listens on 6000."]
