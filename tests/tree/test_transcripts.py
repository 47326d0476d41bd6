"""Transcripts of Claude Code and Codex as sources of the tree."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.fence import fence
from commonplace.text.transcripts import strip_additions, strip_private
from commonplace.tree.readers import claude_code, codex
from commonplace.tree.readers.lines import iterate_lines
from commonplace.tree.source import MAX_MESSAGE, Person
from commonplace.vault.named_files import open_files
from tests.depth import examples
from tests.tree.chat_sources import damaged, matches, read_all, twisted

STAMP = "2026-11-15T09:30:00.123Z"
ID = "0b5c1f9e-1111-4222-8333-444455556666"
CLAUDE_FILE, CODEX_FILE = f"-home-ann-lunch/{ID}.jsonl", f"2026/11/15/rollout-2026-11-15T10-30-00-{ID}.jsonl"


def lines(*said: object) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in said).encode()


def claude(ident: str, parent: str | None, role: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": content}
    return {
        "type": role,
        "uuid": ident,
        "parentUuid": parent,
        "sessionId": ID,
        "timestamp": STAMP,
        "message": message,
        **more,
    }


def codex_line(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": STAMP, "type": kind, "payload": payload}


def typed(text: str) -> dict[str, object]:
    return codex_line("event_msg", type="user_message", message=text)


def answered(text: str, role: str = "assistant") -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return codex_line("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


META = codex_line("session_meta", id=ID, cwd="/home/ann")
CLAUDE = (
    {"type": "summary", "summary": "Of another session", "leafUuid": "elsewhere"},
    claude("1", None, "user", "Please fix the parser.\nIt is slow."),
    claude("2", "1", "assistant", [{"type": "thinking", "thinking": "?"}, {"type": "tool_use", "name": "Bash"}]),
    claude("3", "2", "user", [{"type": "tool_result", "content": "Remember that I am a tool."}]),
    claude("x", "3", "assistant", "Taken back."),
    claude("4", "3", "assistant", [{"type": "text", "text": "Done."}]),
    claude("s", "4", "assistant", "Aside.", isSidechain=True),
    claude("m", "4", "user", "Caveat.", isMeta=True),
    {"type": "attachment", "uuid": "q", "parentUuid": "m", "sessionId": ID, "timestamp": STAMP,
     "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "And the tests?"}},
    claude("e", "q", "assistant", "API Error: 500", isApiErrorMessage=True),
    claude("5", "e", "assistant", [{"type": "text", "text": "They pass."}]),
)  # fmt: skip
CODEX = (
    META,
    answered("Words that a program added.", "user"),
    answered("<environment_context>x</environment_context>", "user"),
    answered("# AGENTS.md instructions for /home/ann\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>", "user"),
    typed("Please fix the parser."),
    answered("Please fix the parser.", "user"),
    codex_line("response_item", type="function_call", name="shell", arguments="{}"),
    answered("Done."),
    codex_line("event_msg", type="agent_message", message="Done."),
    typed("Forget it."),
    answered("Forgotten."),
    codex_line("event_msg", type="thread_rolled_back", num_turns=1),
    typed("# Context from my IDE setup:\n## Open tabs:\n- a.py\n\n## My request for Codex:\nThanks."),
    answered("Welcome."),
)


def test_claude_code_has_what_was_typed_and_answered() -> None:
    """Tools, side conversations, notes of the program and what was taken back are left out; a queued prompt is not."""
    units, skipped = read_all(claude_code, {CLAUDE_FILE: lines(*CLAUDE)})
    assert skipped == []
    assert [(unit.author, unit.text) for unit in units] == [
        (Person("user"), "Please fix the parser.\nIt is slow."),
        (Person("assistant"), "Done."),
        (Person("user"), "And the tests?"),
        (Person("assistant"), "They pass."),
    ]
    assert [unit.native_id for unit in units] == [f"claude-code:{ID}/{ident}" for ident in ("1", "4", "q", "5")]
    assert [unit.signals for unit in units] == [{"sent"}, set()] * 2
    assert {(unit.thread, unit.title, unit.occurred) for unit in units} == {
        (ID, "Please fix the parser.", "2026-11-15T09:30:00Z")
    }
    assert units[0].place == f"{CLAUDE_FILE}, line 2"


def test_codex_has_what_was_typed_and_answered() -> None:
    """What Codex and editors add to a prompt, tools, and turns that were rolled back are left out."""
    units, skipped = read_all(codex, {CODEX_FILE: lines(*CODEX)})
    assert skipped == []
    assert [(unit.author.name, unit.text) for unit in units] == [
        ("user", "Please fix the parser."),
        ("assistant", "Done."),
        ("user", "Thanks."),
        ("assistant", "Welcome."),
    ]
    assert [unit.native_id for unit in units] == [f"codex:{ID}/{line}" for line in (5, 8, 13, 14)]
    assert {(unit.thread, unit.title) for unit in units} == {(ID, "Please fix the parser.")}


def test_older_transcripts_of_codex() -> None:
    """Before there were events, the items themselves stood in the lines, and the first one named the session."""
    old = lines(
        {"id": "s1", "timestamp": STAMP, "instructions": "Be kind."},
        {"record_type": "state"},
        answered("# AGENTS.md instructions for /home/ann", "user"),
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]},
    )
    units, skipped = read_all(codex, {"rollout-1.jsonl": old})
    assert [(unit.text, unit.native_id) for unit in units] == [("Hello.", "codex:s1/4"), ("Hi.", "codex:s1/5")]
    assert skipped == []


def test_a_compacted_conversation_is_one() -> None:
    """What was said before a conversation was compacted is on its branch, and so is what is before a broken line."""
    said = [
        claude("1", None, "user", "One."),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "logicalParentUuid": "1"},
        claude("c", "b", "user", "A summary.", isCompactSummary=True),
        claude("2", "c", "assistant", "Two."),
        claude("4", "lost", "assistant", "Four."),
    ]
    data = lines(*said[:4]) + b'{"uuid": "lost", "type": "us\n' + lines(said[4])
    units, skipped = read_all(claude_code, {CLAUDE_FILE: data})
    assert [unit.text for unit in units] == ["One.", "Two.", "Four."]
    assert [(item.place, item.reason) for item in skipped] == [(f"{CLAUDE_FILE}, line 5", "unreadable")]


def test_titles_and_copies() -> None:
    """A title that was given comes before a summary, and that before the first prompt; a fork names its origin."""
    first = claude("1", None, "user", "word " * 40, forkedFrom={"sessionId": "before", "messageUuid": "1"})
    summary = {"type": "summary", "summary": "A summary", "leafUuid": "1"}
    for more, title in (
        ([], "word " * 15 + "word…"),
        ([summary], "A summary"),
        ([summary, {"type": "custom-title", "customTitle": "Mine"}, {"type": "ai-title", "aiTitle": "Its"}], "Mine"),
    ):
        units, _ = read_all(claude_code, {CLAUDE_FILE: lines(first, *more)})
        assert [(unit.title, unit.native_id, unit.thread) for unit in units] == [
            (title, "claude-code:before/1", "before")
        ]


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ("<system-reminder>\nBe brief.\n</system-reminder>\nHello.", "Hello."),
        ("Hello.\n<private>My key.</private> Bye.", "Hello.\n Bye."),
        ("Hello. <private>My key.", "Hello."),
        ("Hello.\n" + fence("Known.", {"source": "x"}), "Hello."),
        ("<command-name>/review</command-name>\n<command-args>the parser</command-args>", "/review the parser"),
        ("<command-message>clear</command-message>\n<command-name>/clear</command-name>", ""),
        ("<local-command-stdout>ok</local-command-stdout>", ""),
        ("<task-notification><status>done</status></task-notification>", ""),
        ("[Request interrupted by user for tool use]", ""),
        (
            "Why does <my-tag> fail?\n```\n<my-tag>x</my-tag>\n```",
            "Why does <my-tag> fail?\n```\n<my-tag>x</my-tag>\n```",
        ),
        ("```\n<system-reminder>Be brief.</system-reminder>\nHello.", "```\n\nHello."),
        ("<ide_selection>x</ide_selection>a", "a"),
        ("<image name=[Image #1]>\n</image>\nLook.", "Look."),
        ("<div>\nx</div>", "<div>\nx</div>"),
        ("<my-tag>\nnever closed", "<my-tag>\nnever closed"),
    ],
)
def test_what_was_added_is_left_out(prompt: str, left: str) -> None:
    """Programs, hooks and this memory add to prompts; private text is private; code and HTML are the user's own."""
    assert strip_additions(prompt) == left


def test_what_this_memory_said_is_not_captured_again() -> None:
    """An answer that repeats a fence, or private text, is kept without it; nothing else leaves no unit."""
    block = fence("Known.", {"source": "x"})
    answer = f"I know:\n{block}\n<private>x</private>Yes."
    data = lines(claude("1", None, "user", block), claude("2", "1", "assistant", answer))
    units, _ = read_all(claude_code, {CLAUDE_FILE: data})
    assert [unit.text for unit in units] == ["I know:\n\nYes."]


def test_long_prompts_are_read_in_the_time_of_their_length() -> None:
    """Tags that are never closed, and code in code, cost no more than their length."""
    for piece in (
        "<a-b>\n",
        "```\n<a-b>",
        "<private",
        "<command-name>x</command-name>",
        "<image a>",
        "<commonplace-memory>\n",
    ):
        strip_additions(piece * 100_000)
        strip_private(piece * 100_000)


def test_each_knows_its_own() -> None:
    """Each takes its own transcripts, by name or content; other JSON, and notes with a transcript in them, neither."""
    ours, theirs = lines(*CLAUDE), lines(*CODEX)
    assert matches(claude_code, {CLAUDE_FILE: ours, "memory/notes.md": b"# A"})
    assert matches(claude_code, {"mine.jsonl": ours})
    assert matches(codex, {CODEX_FILE: theirs, "config.toml": b"", "AGENTS.md": b"# A"})
    assert matches(codex, {"mine.jsonl": theirs})
    assert matches(codex, {f"{CODEX_FILE}.zst": b"\x28\xb5\x2f\xfd"})
    for reader, other in ((claude_code, {CODEX_FILE: theirs}), (codex, {CLAUDE_FILE: ours})):
        assert not matches(reader, other)
    others: list[dict[str, bytes]] = [
        {"notes/a.md": b"# A", "notes/log.jsonl": ours},
        {"notes/a.md": b"# A", "x.jsonl": theirs},
        {"a.jsonl": b'{"type": "user"}\n'},
        {"a.json": ours},
        {f"{ID}.jsonl": b"[]"},
        {"rollout-1.jsonl": b"{}"},
        {"rollout-1.jsonl.zst": b"not packed at all"},
        {},
    ]
    for other in others:
        assert not matches(claude_code, other)
        assert not matches(codex, other)


def test_files_of_other_kinds_are_passed_over() -> None:
    """Beside transcripts lie histories and settings, which are no sessions."""
    files = {CLAUDE_FILE: lines(*CLAUDE), "history.jsonl": lines({"display": "x"}), "locked.jsonl": b""}
    units, skipped = read_all(claude_code, files)
    assert (len(units), skipped) == (4, [])


def test_a_compressed_transcript() -> None:
    """A transcript compressed with Zstandard says the same; one that is damaged is said to be unreadable."""
    zstd = pytest.importorskip("zstandard")
    packed = zstd.ZstdCompressor().compress(lines(*CODEX))
    name = f"{CODEX_FILE}.zst"
    units, skipped = read_all(codex, {name: packed})
    assert [unit.text for unit in units] == [unit.text for unit in read_all(codex, {CODEX_FILE: lines(*CODEX)})[0]]
    assert skipped == []
    for data in (packed[:40], packed[:40] + b"rubbish" * 99):
        units, skipped = read_all(codex, {name: data})
        assert (units, [item.reason for item in skipped]) == ([], ["unreadable"])
    bomb = zstd.ZstdCompressor().compress(b" " * 30_000_000)
    assert [item.reason for item in read_all(codex, {name: bomb})[1]] == ["too_large"]


def test_a_compressed_transcript_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither Python nor a package can decompress it, that is said for each file."""
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    units, skipped = read_all(codex, {f"{CODEX_FILE}.zst": b"\x28\xb5\x2f\xfd", CODEX_FILE: lines(*CODEX)})
    assert (len(units), [item.reason for item in skipped]) == (4, ["extra_missing"])


def test_a_long_line_is_passed_over() -> None:
    """A line longer than any message is named, and what follows it is read."""
    data = lines(claude("1", None, "user", "One.")) + b'{"x": "' + b"x" * MAX_MESSAGE + b'"}\n'
    units, skipped = read_all(claude_code, {CLAUDE_FILE: data + lines(claude("2", "1", "assistant", "Two."))})
    assert [unit.text for unit in units] == ["One.", "Two."]
    assert [(item.place, item.reason) for item in skipped] == [(f"{CLAUDE_FILE}, line 2", "too_large")]


def test_a_folder_on_the_disk(tmp_path: Path) -> None:
    """The folder of a program, as it is on the disk, is a source."""
    path = tmp_path / CLAUDE_FILE
    path.parent.mkdir()
    path.write_bytes(lines(*CLAUDE))
    with open_files(str(tmp_path)) as files:
        assert claude_code.matches(files)
        assert len(read_all(claude_code, files)[0]) == 4


@examples(60, 10)
@given(st.data())
def test_damaged_transcripts_are_read(data: st.DataObject) -> None:
    """Cut, doubled and overwritten bytes raise nothing, and neither do values of other types."""
    for reader, name, said in ((claude_code, CLAUDE_FILE, CLAUDE), (codex, CODEX_FILE, CODEX)):
        read_all(reader, {name: data.draw(damaged(lines(*said)))})
        odd = data.draw(twisted(list(said)))
        read_all(reader, {name: lines(said[1], *(odd if isinstance(odd, list) else [odd]))})


@given(st.binary(max_size=60).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 9), st.integers(0, 20))
def test_lines_are_those_of_the_file(data: bytes, step: int, limit: int) -> None:
    """However a file is read piece by piece, its lines are the same, and those that are too long are None."""
    file = io.BytesIO(data)
    expected = data.split(b"\n") if data else []
    found = list(iterate_lines(lambda size: file.read(min(step, size)), limit))
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    assert [line.data for line in found] == [
        line if len(line) <= limit else None for line in (expected[:-1] if expected[-1:] == [b""] else expected)
    ]
