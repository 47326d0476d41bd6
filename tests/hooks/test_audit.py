"""The audit at a hook: what an agent is told because of a prompt is in it; the brief, and a prompt that tells it
nothing, are not."""

from __future__ import annotations

from pathlib import Path

from commonplace import Book
from tests.guard.audit_lines import audit_folder, lines
from tests.hooks.hooking import repository, tell


def with_a_memory(root: Path, tmp_path: Path) -> Path:
    """A repository whose project has a memory, and a book whose audit is empty."""
    repo = repository(tmp_path / "repo", "https://github.com/acme/app.git")
    with Book.open(root, cwd=repo) as book:
        book.store("The okapi deploys with helm charts on Thursdays.", "deploys")
    for day in audit_folder(root).iterdir():
        day.unlink()
    return repo


def test_what_a_prompt_brought_up_is_in_it(root: Path, tmp_path: Path) -> None:
    """One line for a prompt that recalled something: the host, the session, the keys; nothing of the prompt."""
    repo = with_a_memory(root, tmp_path)
    said = {"session_id": "s1", "cwd": str(repo), "source": "startup"}
    prompt = {"session_id": "s2", "cwd": str(repo), "prompt": "When does the okapi deploy with helm charts?"}
    assert "okapi" in tell(root, "session-start", "claude-code", said)
    assert tell(root, "prompt", "claude-code", {**prompt, "prompt": "Thanks a lot, good bye."}) == ""
    assert lines(root) == []
    assert "okapi" in tell(root, "prompt", "claude-code", prompt)
    (line,) = lines(root)
    assert (line["verb"], line["outcome"], line["surface"], line["host"]) == ("recall", "ok", "hook", "claude-code")
    assert (line["session"], line["keys"], line["hits"]) == ("s2", ["project/deploys"], 1)
    assert line["project"].startswith("app-") and "okapi" not in "".join(map(str, line.values()))


def test_a_hook_without_an_audit_says_the_same(root: Path, tmp_path: Path) -> None:
    """Where it is switched off, or cannot be written, the agent is told what it would be."""
    repo = with_a_memory(root, tmp_path)
    audit_folder(root).rmdir()
    for number, settings in enumerate(({"COMMONPLACE_AUDIT_DAYS": "0"}, {})):
        prompt = {
            "session_id": f"s{number}",
            "cwd": str(repo),
            "prompt": "When does the okapi deploy with helm charts?",
        }
        assert "okapi" in tell(root, "prompt", "claude-code", prompt, **settings)
        assert not audit_folder(root).is_dir()
        audit_folder(root).write_text("in the way") if number == 0 else None
    assert not (root / ".commonplace" / "hook.log").exists()
