"""What a hook exchanges with its host: its input, the shape of its answer, and the log of what failed.

Input is the host's JSON on standard input. Any of it may be missing, odd or hostile, so a field that is not as expected
is left out. Hosts name the same things differently: the names, in the order in which they are tried, are in one table.

`SHAPES` says what each host calls its events, and which of them can carry text to the agent. An event that is not in
`carries` is run for what it records; nothing is ever printed there. The end of a turn (`stop`) is in none of them: a
host that gets text there makes the agent answer again.

The log, `.commonplace/hook.log`, has one line per failure, with nothing that a user or an agent wrote. `hooks/main.py`
needs this module before all others, so that a failure or a deadline while the rest is loading can still be logged: it
imports little.
"""

# Without postponed annotations: a named tuple would compile each of them at every start.
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from commonplace.model.settings import load_settings
from commonplace.model.times import now
from commonplace.vault.disk import append_line
from commonplace.vault.paths import PRIVATE

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
_MAX_LOG_BYTES = 64_000


# Input


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
        if len(chunk) < _CHUNK and chunk.rstrip().endswith(b"}") and _load_json(b"".join(parts)) is not None:
            break
    return b"".join(parts)


def parse_input(data: bytes) -> HookInput | None:
    """Return what a host says; None if it is not a JSON object."""
    fields = _load_json(data) if len(data) <= MAX_BYTES else None
    if not isinstance(fields, dict):
        return None
    objects = [fields, *(part for name in _NESTED if isinstance(part := fields.get(name), dict))]
    texts = {name: _find_text(objects, names, longest) for name, (longest, names) in _FIELDS.items()}
    session = texts["session"]
    if session and not session.isprintable():
        texts["session"] = None
    arguments, answer = fields.get("tool_input"), fields.get("tool_response")
    return HookInput(
        **texts,
        arguments=arguments if isinstance(arguments, dict) else {},
        has_failed=isinstance(answer, dict) and _is_failure(answer),
    )


def _is_failure(answer: dict[str, object]) -> bool:
    """Return whether the answer of a tool says, in the way of any host, that the call did not work."""
    status = next((answer[name] for name in ("exit_code", "exitCode", "code") if name in answer), 0)
    return (
        any(answer.get(name) is True for name in ("is_error", "isError", "interrupted"))
        or answer.get("success") is False
        or bool(answer.get("error"))
        or (isinstance(status, int) and status != 0)
    )


def _load_json(data: bytes) -> object:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _find_text(objects: list[dict[str, object]], names: tuple[str, ...], longest: int) -> str | None:
    for value in [fields.get(name) for fields in objects for name in names]:
        # Several folders are open: the first is the project.
        text = value[0] if isinstance(value, list) and value else value
        if isinstance(text, str) and 0 < len(text) <= longest and "\0" not in text:
            return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is not text
    return None


# Answers


class HookShape(NamedTuple):
    """How one host takes text from a hook."""

    form: str  # see `format_answer`
    carries: Mapping[str, str]  # our event: the host's own name of it
    tokens: int | None = None  # the host cuts or spills what is longer
    knows_doctrine: bool = True  # by the skill or the rules that `connect` writes
    keeps_told: bool = False  # its session-start is another brief in the system prompt: the conversation goes on
    checks_compaction: bool = False  # its pre-compact with the trigger "auto" comes at every turn, compacted or not

    @property
    def has_brief_at_prompt(self) -> bool:
        """Whether the brief goes with a session's first prompt, since the start of the session carries no text."""
        return "session-start" not in self.carries and "prompt" in self.carries


_CLAUDE = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "subagent-start": "SubagentStart",
    "pre-tool": "PreToolUse",
    "post-tool": "PostToolUse",
}
# Gemini would take text at SessionStart, too, but put it before the user's own words in the first message, and leave
# out that whole message when the session is resumed.
_GEMINI = {"prompt": "BeforeAgent", "post-tool": "AfterTool"}
_START = {"session-start": ""}
_START_AND_PROMPT = {"session-start": "", "prompt": ""}

SHAPES: Mapping[str, HookShape] = {
    "claude-code": HookShape(
        "specific", _CLAUDE
    ),  # PreCompact: what it prints would become instructions to the compaction
    "codex": HookShape("specific", _CLAUDE, tokens=2_400),  # rejects every other key; spills what is over 2,500
    "vscode": HookShape("specific", _CLAUDE, knows_doctrine=False),
    "gemini": HookShape("specific", _GEMINI, checks_compaction=True),
    "goose": HookShape("specific", _CLAUDE, knows_doctrine=False),
    "kiro": HookShape("text", _START_AND_PROMPT),
    "amazonq": HookShape("text", _START_AND_PROMPT, knows_doctrine=False),
    "cursor": HookShape("additional_context", _START),
    "copilot": HookShape("additionalContext", _START, knows_doctrine=False),  # what its prompt hook prints is dropped
    "cline": HookShape("contextModification", _START_AND_PROMPT),
    "opencode": HookShape("context", _START_AND_PROMPT, keeps_told=True),  # to our own plugin there
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


# The log


def log_failure(environment: Mapping[str, str], event: str, error: BaseException) -> None:
    """Append the event, the error and its line in our code. Never raises, and creates no folder."""
    code = error.code if isinstance(error, CommonplaceError) else type(error).__name__
    trace, line = error.__traceback__, ""
    while trace:
        name = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/commonplace/" in name:
            line = f"{name.rpartition('/commonplace/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    printable = "".join(ch if ch.isprintable() else "?" for ch in event)
    text = f"{now()} event={printable!a} error={code} at={line or '-'}\n"
    with suppress(Exception):
        root = os.path.abspath(os.path.expanduser(load_settings({}, environment, {}).root))
        append_line(os.path.join(root, PRIVATE.name), "hook.log", text.encode("ascii", "replace"), _MAX_LOG_BYTES)
