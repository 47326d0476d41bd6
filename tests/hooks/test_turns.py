"""No hook makes an agent continue a turn: what is due at the end of one rides on the next prompt."""

from __future__ import annotations

from itertools import cycle, islice, product
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.context.nudges import NUDGE_EVERY
from commonplace.hooks.host_io import SHAPES
from commonplace.hosts.config_edit.connect import load_hosts
from tests.depth import depths
from tests.hooks.hooking import hook, repository, text_of

TURNS = 40
MARK = "[commonplace]"
# Our own event, and the names by which a later version or a host might ask for something at the end of a turn.
ENDS = ("stop", "subagent-stop", "session-end", "task-complete", "after-agent")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", "https://github.com/acme/app.git")


@pytest.fixture
def book(root: Path, repo: Path) -> Path:
    with Book.open(root, cwd=repo) as made:
        made.store("The staging database listens on port 5432.", "staging-port")
    return root


def said(repo: Path, **more: object) -> dict[str, object]:
    return {"session_id": "s1", "cwd": str(repo), "prompt": "Go on.", **more}


@pytest.mark.parametrize("tries", depths(1, 2 * len(ENDS)))
@pytest.mark.parametrize("host", SHAPES)
def test_the_end_of_a_turn_is_silent_and_the_nudge_rides_on_the_prompt(
    host: str, book: Path, repo: Path, tries: int
) -> None:
    """In 40 turns no end of a turn prints a byte; the prompts that are due carry the nudge, once each."""
    capture = "auto"  # nudges, and a note of how far the transcript goes
    transcript = repo / "t.jsonl"
    transcript.write_text("{}\n", "utf-8")
    ending = said(repo, transcript_path=str(transcript), last_assistant_message="Done.")
    nudged = []
    ends = cycle(product(ENDS, (False, True)))  # all of them in each turn of `make deep`, one by one in `make test`
    for number in range(1, TURNS + 1):
        text = text_of(hook(book, "prompt", host, said(repo), COMMONPLACE_CAPTURE=capture))
        if MARK in text:
            assert text.count(MARK) == 1
            nudged.append(number)
        for event, again in islice(ends, tries):
            answer = hook(book, event, host, {**ending, "stop_hook_active": again}, COMMONPLACE_CAPTURE=capture)
            assert answer == b"", (number, event)
    assert nudged == ([NUDGE_EVERY, 2 * NUDGE_EVERY] if "prompt" in SHAPES[host].carries else [])


@pytest.mark.parametrize("host", [host for host, shape in SHAPES.items() if "prompt" in shape.carries])
def test_a_nudge_after_a_compaction_waits_for_the_prompt(host: str, book: Path, repo: Path) -> None:
    """A compaction makes a nudge due: the end of the turn says nothing of it, the next prompt does, and only once."""
    assert hook(book, "pre-compact", host, said(repo)) == b""
    assert hook(book, "stop", host, said(repo)) == b""
    text = text_of(hook(book, "prompt", host, said(repo)))
    assert text.strip().split("\n")[-1].startswith(MARK) and text.count(MARK) == 1
    assert ("<commonplace-memory" in text) is SHAPES[host].has_brief_at_prompt
    assert hook(book, "stop", host, said(repo)) == b""
    assert hook(book, "prompt", host, said(repo)) == b""


def test_a_nudge_is_short_and_stands_outside_the_memories(book: Path, repo: Path) -> None:
    """Beside recalled memories the nudge comes after the end of their fence, in a few sentences."""
    for _ in range(NUDGE_EVERY - 1):
        hook(book, "prompt", "claude-code", said(repo))
    asked = said(repo, prompt="Which port does the staging database listen on?")
    fenced, _, after = text_of(hook(book, "prompt", "claude-code", asked)).partition("</commonplace-memory>")
    assert "5432" in fenced and MARK not in fenced
    assert after.strip().startswith(MARK)
    assert len(after.strip()) <= 600


def test_no_host_takes_text_at_the_end_of_a_turn() -> None:
    """The table of the hook program lets no end of a turn carry text."""
    assert [host for host, shape in SHAPES.items() if set(ENDS) & set(shape.carries)] == []


def test_the_end_of_a_turn_starts_a_hook_only_where_something_can_be_noted() -> None:
    """Stop is wired for hosts that name a transcript there, for capture; for no other a process starts each turn."""
    wired = {
        host.name for host in load_hosts() if any(hook.event in ENDS and not hook.is_retired for hook in host.hooks)
    }
    assert wired == {"claude-code", "codex", "copilot", "cursor", "gemini", "vscode"}
