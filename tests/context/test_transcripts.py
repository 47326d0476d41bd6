"""Transcripts of Claude Code and Codex: who said what, on the branch that was the conversation."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.context.transcripts import read_transcript
from commonplace.model.errors import InvalidContent, NotFound
from commonplace.text.transcripts import Turn, parse_transcript

STAMP = "2026-11-15T09:30:00.123Z"


def claude(ident: str, parent: str | None, role: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": content}
    return {"type": role, "uuid": ident, "parentUuid": parent, "timestamp": STAMP, "message": message, **more}


def lines(*said: object) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in said).encode()


def spoken(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]


def test_claude_code_is_a_tree() -> None:
    """Only what leads to the last message was said: no branch that was taken back, no side conversation, no notes."""
    data = lines(
        {"type": "summary", "summary": "Old", "leafUuid": "x"},
        claude("1", None, "user", "Hello."),
        claude("2", "1", "assistant", [{"type": "text", "text": "Hi."}, {"type": "tool_use", "name": "Bash"}]),
        claude("3", "2", "user", [{"type": "tool_result", "content": "Remember that I am a tool."}]),
        claude("4", "3", "assistant", [{"type": "text", "text": "The branch not taken."}]),
        claude("5", "3", "assistant", [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": "Done."}]),
        claude("s", "5", "assistant", "Aside.", isSidechain=True),
        claude("6", "5", "user", "Caveat.", isMeta=True),
        claude("7", "6", "user", "Thanks."),
        {"type": "file-history-snapshot", "messageId": "x"},
    )
    turns = parse_transcript(data, "claude-code").turns
    assert spoken(turns) == [("user", "Hello."), ("assistant", "Hi."), ("assistant", "Done."), ("user", "Thanks.")]
    assert turns[0].time == "2026-11-15T09:30:00Z"
    assert [data[turn.at : turn.at + 8] for turn in turns] == [b'{"type":'] * 4


def test_a_circle_ends() -> None:
    """Lines that name each other as parents do not keep anybody."""
    data = lines(claude("1", "2", "user", "One."), claude("2", "1", "user", "Two."))
    assert spoken(parse_transcript(data, "claude-code").turns) == [("user", "One."), ("user", "Two.")]


def test_what_came_from_outside_taints_the_turn() -> None:
    """After the agent read the web or another server, what it says is from outside, until the user speaks again."""
    data = lines(
        claude("1", None, "user", "Look it up."),
        claude(
            "2", "1", "assistant", [{"type": "tool_use", "name": "WebFetch"}, {"type": "text", "text": "I read it."}]
        ),
        claude("3", "2", "assistant", [{"type": "text", "text": "It says so."}]),
        claude("4", "3", "user", "Thanks."),
        claude("5", "4", "assistant", [{"type": "tool_use", "name": "mcp__commonplace__recall"}]),
        claude("6", "5", "assistant", "You are welcome."),
    )
    assert [turn.is_external for turn in parse_transcript(data, "claude-code").turns] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_codex_says_what_was_typed() -> None:
    """What the user typed is in events; what the program adds to a user's message is nobody's words."""

    def item(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": STAMP, "type": kind, "payload": payload}

    data = lines(
        item("session_meta", id="x"),
        item(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "<environment_context>"}],
        ),
        item(
            "response_item",
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "# AGENTS.md of mine"}],
        ),
        item("event_msg", type="user_message", message="Hello."),
        item("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Hello."}]),
        item("response_item", type="web_search_call"),
        item("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Hi."}]),
        item("event_msg", type="agent_message", message="Hi."),
        item("response_item", type="function_call", name="shell"),
    )
    turns = parse_transcript(data, "codex").turns
    assert spoken(turns) == [("user", "Hello."), ("assistant", "Hi.")]
    assert [turn.is_external for turn in turns] == [False, True]
    older = lines(
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
    )
    assert spoken(parse_transcript(older, "codex").turns) == [("user", "Hello.")]


@given(st.lists(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9)
    | st.sampled_from(["user", "assistant", "message", "text", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "uuid", "parentUuid", "message", "content", "role", "payload", "text", "name"]),
        inner, max_size=5),
    max_leaves=8), max_size=8), st.binary(max_size=40))  # fmt: skip
def test_anything_is_read(said: list[object], rubbish: bytes) -> None:
    """Any lines, and rubbish between them, are read without an error, into texts of users and agents."""
    data = lines(*said[:4]) + rubbish + b"\n" + lines(*said[4:])
    for host in ("claude-code", "codex"):
        for turn in parse_transcript(data, host).turns:
            assert turn.role in ("user", "assistant")
            assert isinstance(turn.text, str)


def test_a_file_is_read_up_to_where_it_went(tmp_path: Path) -> None:
    """What was written after a hook noted the length is not read, nor half of a line."""
    first, second = lines(claude("1", None, "user", "One.")), lines(claude("2", "1", "user", "Two."))
    path = tmp_path / "t.jsonl"
    path.write_bytes(first + second)
    assert spoken(read_transcript(str(path), "claude-code", len(first)).turns) == [("user", "One.")]
    assert spoken(read_transcript(str(path), "claude-code", len(first) + 9).turns) == [("user", "One.")]
    assert len(read_transcript(str(path), "claude-code", 10_000).turns) == 2
    assert read_transcript(str(path), "claude-code", -1).turns == []


def test_what_is_no_transcript_is_refused(tmp_path: Path) -> None:
    """A folder, a pipe, and what is gone or packed badly is a typed error, at once."""
    with pytest.raises(NotFound):
        read_transcript(str(tmp_path / "gone"), "codex", 9)
    with pytest.raises(NotFound):
        read_transcript("\0", "codex", 9)
    with pytest.raises(InvalidContent):
        read_transcript(str(tmp_path), "codex", 9)
    packed = tmp_path / "rollout.jsonl.zst"
    packed.write_bytes(b"not packed at all")
    with pytest.raises(InvalidContent):
        read_transcript(str(packed), "codex", 9)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InvalidContent):
            read_transcript(str(tmp_path / "pipe"), "codex", 9)
