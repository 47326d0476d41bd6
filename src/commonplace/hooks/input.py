"""What a hook is given: the words of its command line, and the host's JSON on standard input.

Any of it may be missing, odd or hostile, so a field that is not as expected is left out. Hosts name the same things
differently: the names, in the order in which they are tried, are in one table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAX_BYTES = 4_000_000
_CHUNK = 1 << 16
_FIELDS: Mapping[str, tuple[int, tuple[str, ...]]] = {  # our field: its longest value, and the hosts' names for it
    "session": (200, ("session_id", "sessionId", "sessionID", "conversation_id", "conversationId", "taskId")),
    "cwd": (4_000, ("cwd", "workspace_roots", "workspaceRoots", "directory")),
    "transcript": (4_000, ("transcript_path", "transcriptPath")),
    "source": (40, ("source", "trigger")),
    "prompt": (1_000_000, ("prompt", "userPrompt", "user_prompt")),
    "tool": (200, ("tool_name", "toolName")),
    "call": (200, ("tool_use_id", "toolUseId")),
}
_NESTED = ("userPromptSubmit", "taskStart")  # where Cline puts what belongs to one event


class HookInput(NamedTuple):
    """What a host says about an event."""

    session: str | None = None
    cwd: str | None = None
    transcript: str | None = None
    source: str | None = None
    prompt: str | None = None
    tool: str | None = None
    call: str | None = None  # the id of the tool call
    arguments: Mapping[str, object] = {}  # of the tool call
    has_failed: bool = False  # the tool call was made, and did not work


def parse_words(words: Sequence[str]) -> tuple[str, str]:
    """Return the event and the host on the command line; empty if missing. Unknown options are ignored."""
    event = host = ""
    before = ""
    for word in words:
        if before == "--host":
            host = word
        elif word.startswith("--host="):
            host = word.partition("=")[2]
        elif not word.startswith("-") and before != "--root":
            event = event or word
        before = word
    return event, host


def read_standard_input() -> bytes:
    """Return standard input up to its end, or to the end of a JSON object, for hosts that leave it open.

    What exceeds the limit is read and thrown away, so that the host does not get a broken pipe.
    """
    if os.isatty(0):
        return b""
    parts: list[bytes] = []
    size = 0
    while chunk := os.read(0, _CHUNK):
        size += len(chunk)
        if size <= MAX_BYTES + _CHUNK:
            parts.append(chunk)
        if len(chunk) < _CHUNK and chunk.rstrip().endswith(b"}") and _parse_json(b"".join(parts)) is not None:
            break
    return b"".join(parts)


def parse_input(data: bytes) -> HookInput | None:
    """Return what a host says; None if it is not a JSON object."""
    fields = _parse_json(data) if len(data) <= MAX_BYTES else None
    if not isinstance(fields, dict):
        return None
    objects = [fields, *(part for name in _NESTED if isinstance(part := fields.get(name), dict))]
    texts = {name: _find_text(objects, names, longest) for name, (longest, names) in _FIELDS.items()}
    session = texts["session"]
    if session is not None and not session.isprintable():
        texts["session"] = None
    arguments, answer = fields.get("tool_input"), fields.get("tool_response")
    return HookInput(
        **texts,
        arguments=arguments if isinstance(arguments, dict) else {},
        has_failed=isinstance(answer, dict) and (answer.get("is_error") is True or answer.get("success") is False),
    )


def _parse_json(data: bytes) -> object:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _find_text(objects: list[dict[str, object]], names: tuple[str, ...], longest: int) -> str | None:
    for fields in objects:
        for name in names:
            value = fields.get(name)
            if isinstance(value, list) and value:  # several folders are open: the first is the project
                value = value[0]
            if isinstance(value, str) and value and len(value) <= longest and "\0" not in value:
                return value.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is not text
    return None
