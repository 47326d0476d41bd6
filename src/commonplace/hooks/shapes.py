"""What each host calls its events, which of them can carry text to the agent, and in what shape. Only data.

An event that is not in `carries` is run for what it records; nothing is ever printed there. The end of a turn (`stop`)
is in none of them: a host that gets text there makes the agent answer again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple


class HookShape(NamedTuple):
    """How one host takes text from a hook."""

    form: str  # see `format_answer`
    carries: Mapping[str, str]  # our event: the host's own name of it
    tokens: int | None = None  # the host cuts or spills what is longer


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

SHAPES: Mapping[str, HookShape] = {
    "claude-code": HookShape(
        "specific", _CLAUDE
    ),  # PreCompact: what it prints would become instructions to the compaction
    "codex": HookShape("specific", _CLAUDE, tokens=2_400),  # rejects every other key; spills what is over 2,500
    "vscode": HookShape("specific", _CLAUDE),
    "gemini": HookShape("specific", _GEMINI),
    "goose": HookShape("specific", _CLAUDE),
    "kiro": HookShape("text", _START_AND_PROMPT),
    "amazonq": HookShape("text", _START_AND_PROMPT),
    "cursor": HookShape("additional_context", _START),
    "copilot": HookShape("additionalContext", _START),  # what its prompt hook prints is dropped
    "cline": HookShape("contextModification", _START_AND_PROMPT),
    "opencode": HookShape("context", _START_AND_PROMPT),  # to our own plugin there
}


def format_answer(shape: HookShape, event: str, text: str) -> bytes:
    """Return a text as a host takes it at this event; nothing if there is no text or the event cannot carry one."""
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
