"""What a host says of an event, on standard input: read with distrust, since any of it may be missing, odd or hostile.

Hosts name the same things differently; what is looked for, and in which order, stands in one table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

MOST_BYTES = 4_000_000
_NAMES: Mapping[str, tuple[str, ...]] = {
    "session": ("session_id", "sessionId", "sessionID", "conversation_id", "conversationId", "taskId"),
    "cwd": ("cwd", "workspace_roots", "workspaceRoots", "directory"),
    "transcript": ("transcript_path", "transcriptPath"),
    "source": ("source", "trigger"),
    "prompt": ("prompt", "userPrompt", "user_prompt"),
    "tool": ("tool_name", "toolName"),
    "call": ("tool_use_id", "toolUseId"),
}
_WITHIN = ("userPromptSubmit", "taskStart")  # where Cline puts what is special to an event
_LONGEST = {"session": 200, "cwd": 4_000, "transcript": 4_000, "source": 40, "prompt": 1_000_000, "tool": 200,
            "call": 200}  # fmt: skip


class Asked(NamedTuple):
    session: str | None = None
    cwd: str | None = None
    transcript: str | None = None
    source: str | None = None
    prompt: str | None = None
    tool: str | None = None
    call: str | None = None  # which call of it
    arguments: Mapping[str, object] = {}  # of the tool
    failed: bool = False  # the call was made, and did not work


def read_asked(data: bytes) -> Asked | None:
    """What was said; None when it is not a JSON object."""
    if not data or len(data) > MOST_BYTES:
        return None
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    inner = [said, *(part for name in _WITHIN if isinstance(part := said.get(name), dict))]
    words = {field: _find(inner, names, _LONGEST[field]) for field, names in _NAMES.items()}
    session = words["session"]
    if session is not None and not session.isprintable():
        words["session"] = None
    arguments, answer = said.get("tool_input"), said.get("tool_response")
    return Asked(
        **words,
        arguments=arguments if isinstance(arguments, dict) else {},
        failed=isinstance(answer, dict) and (answer.get("is_error") is True or answer.get("success") is False),
    )


def _find(places: list[dict[str, object]], names: tuple[str, ...], longest: int) -> str | None:
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, list) and value:  # several folders are open: the first is the project
                value = value[0]
            if isinstance(value, str) and value and len(value) <= longest and "\0" not in value:
                return value.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is no text
    return None
