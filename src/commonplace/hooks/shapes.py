"""What each host calls its events, which of them can carry text to the agent, and in what shape. Data, no more.

An event that a host has and that is not in `carries` is run for what it records; nothing is ever printed there. The end
of a turn (`stop`) is in none of them: a host that gets text there makes the agent answer again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

EVENTS = ("session-start", "prompt", "stop", "pre-compact", "subagent-start", "pre-tool", "post-tool")


class Shape(NamedTuple):
    form: str  # see `shaped`
    carries: Mapping[str, str]  # our event: the host's own name of it
    tokens: int | None = None  # what is longer, the host cuts or spills


_CLAUDE = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "subagent-start": "SubagentStart",
    "pre-tool": "PreToolUse",
    "post-tool": "PostToolUse",
}
_GEMINI = {"session-start": "SessionStart", "prompt": "BeforeAgent", "post-tool": "AfterTool"}
_START = {"session-start": ""}
_START_AND_PROMPT = {"session-start": "", "prompt": ""}

SHAPES: Mapping[str, Shape] = {
    "claude-code": Shape("specific", _CLAUDE),  # PreCompact: what it prints would become instructions to the compaction
    "codex": Shape("specific", _CLAUDE, tokens=2_400),  # rejects every other key; spills what is over 2,500
    "vscode": Shape("specific", _CLAUDE),
    "gemini": Shape("specific", _GEMINI),
    "goose": Shape("specific", _CLAUDE),
    "kiro": Shape("text", _START_AND_PROMPT),
    "amazonq": Shape("text", _START_AND_PROMPT),
    "cursor": Shape("additional_context", _START),
    "copilot": Shape("additionalContext", _START),  # what its prompt hook prints is dropped
    "cline": Shape("contextModification", _START_AND_PROMPT),
    "opencode": Shape("context", _START_AND_PROMPT),  # to our own plugin there
}


def shaped(shape: Shape, event: str, text: str) -> bytes:
    """A text as a host takes it at this event; nothing where there is no text, or the event cannot carry one."""
    if not text or event not in shape.carries:
        return b""
    if shape.form == "text":
        return f"{text}\n".encode("utf-8", "backslashreplace")
    if shape.form == "specific":
        answer: object = {"hookSpecificOutput": {"hookEventName": shape.carries[event], "additionalContext": text}}
    elif shape.form == "contextModification":
        answer = {"cancel": False, "contextModification": text}
    else:
        answer = {shape.form: text}
    return f"{json.dumps(answer)}\n".encode("ascii")
