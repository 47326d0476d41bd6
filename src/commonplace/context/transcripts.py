"""Read the transcripts of agent programs: who said what, and which commands the agent ran.

Claude Code writes a tree of lines (`uuid`, `parentUuid`): only the branch that leads to the last line was the
conversation. Codex writes a list. A line of either that cannot be parsed is skipped. Transcripts are outside the book:
only a regular file whose path a hook gave us is opened, for reading, up to a limit. The verb `capture` calls
`read_transcript`, and `context/capture.py` finds facts in what it returns.
"""

import json
import os
import stat as st
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidContent, InvalidField, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.times import read_time

MAX_TRANSCRIPT_BYTES = 64_000_000
_USER, _AGENT = "user", "assistant"
_CODEX_TEXTS = ("input_text", "output_text", "text")
_EXTERNAL_TOOLS = ("webfetch", "websearch", "web_search", "web_fetch", "mcp__", "browser", "fetch")
_SHELLS = ("bash", "shell", "exec_command", "local_shell", "shell_command", "container.exec")
_EDITS = ("edit", "write", "multiedit", "notebookedit", "apply_patch")
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_EXIT_CODE = lazy(r"\A(?:Chunk ID.*\n|Wall time.*\n)*(?:Exit code:?|Process exited with code) (\d+)")
_REFUSED = lazy(r"\A\s*(?:The user doesn't want|\[Request interrupted|.{0,60}(?:rejected|aborted) by (?:the )?user)")


class Turn(NamedTuple):
    """One message of a conversation."""

    role: str  # user, assistant
    text: str
    time: str  # a timestamp; empty if unknown
    at: int  # the offset of its line, in bytes
    is_external: bool = False  # since the user's last message, the agent has read something from outside this machine


class AgentCommand(NamedTuple):
    """One command that the agent ran in a shell; or, without a command, a change that it made to a file."""

    command: str
    time: str
    at: int
    is_external: bool = False
    has_failed: bool = False


class Transcript(NamedTuple):
    """What a transcript says, first to last: the messages, and the commands whose outcome is known."""

    turns: Sequence[Turn]
    runs: Sequence[AgentCommand] = ()


class _ToolCall(NamedTuple):
    """A call of a tool: its id, and the command if the tool is a shell."""

    tool: str
    id: str = ""
    command: str = ""


class _Message(NamedTuple):
    """A message as a host writes it: a role, its text, tool calls, and which calls failed; any may be empty."""

    at: int
    time: object
    role: str
    text: str
    calls: Sequence[_ToolCall] = ()
    outcomes: Mapping[str, bool] = {}  # id of a call: whether it failed
    is_typed: bool = False  # the program says that the user typed it


def read_transcript(path: str, host: str, end: int) -> Transcript:
    """Return what the first `end` bytes of a file say. Raise NotFound or InvalidContent if it is unreadable."""
    return parse_transcript(_read_bytes(path, end), host)


def parse_transcript(data: bytes, host: str) -> Transcript:
    """Return what a transcript in the format of its host says."""
    turns: list[Turn] = []
    runs: list[AgentCommand] = []
    waiting: dict[str, AgentCommand] = {}
    is_external = False
    for message in _codex_messages(data) if host == "codex" else _claude_messages(data):
        if message.text and message.role == _USER:
            is_external = False
        is_external = is_external or any(map(_is_external, message.calls))
        time = _parse_time(message.time)
        if message.text:
            turns.append(Turn(message.role, message.text, time, message.at, is_external))
        for call in message.calls:
            run = AgentCommand(call.command, time, message.at, is_external)
            if call.command:
                waiting[call.id] = run
            elif call.tool.casefold() in _EDITS:
                runs.append(run)
        for ident, has_failed in message.outcomes.items():
            if ident in waiting:
                runs.append(waiting.pop(ident)._replace(has_failed=has_failed))
    return Transcript(turns, runs)


def _is_external(call: _ToolCall) -> bool:
    """Return whether a tool reads something from outside this machine."""
    tool = call.tool.casefold()
    return tool.startswith(_EXTERNAL_TOOLS) and not tool.startswith("mcp__commonplace")


def _read_bytes(path: str, end: int) -> bytes:
    """Return the first `end` bytes of a file; the whole of a compressed one."""
    is_compressed = path.endswith(".zst")
    try:
        # Neither a pipe, which would wait for a writer, nor a link, which may lead anywhere.
        with open(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as file:
            found = os.fstat(file.fileno())
            if not st.S_ISREG(found.st_mode):
                raise InvalidContent("The transcript is not a file.")
            size = found.st_size if is_compressed else min(found.st_size, end)
            if size > MAX_TRANSCRIPT_BYTES:
                raise InvalidContent(f"The transcript is longer than {MAX_TRANSCRIPT_BYTES:,} bytes.")
            data = file.read(max(0, size))
    except IsADirectoryError:
        raise InvalidContent("The transcript is not a file.") from None
    except (OSError, ValueError):
        raise NotFound("The transcript is missing or cannot be read.") from None
    return _decompress(data) if is_compressed else data


def _decompress(data: bytes) -> bytes:
    """Return the content of a Zstandard file up to the limit, if Python or an installed package can read it."""
    zstd = _load_zstd()
    decompressor = zstd.ZstdDecompressor()
    try:
        if not hasattr(decompressor, "stream_reader"):
            return bytes(decompressor.decompress(data, MAX_TRANSCRIPT_BYTES))
        with decompressor.stream_reader(data) as reader:
            return bytes(reader.read(MAX_TRANSCRIPT_BYTES))
    except zstd.ZstdError:
        raise InvalidContent("The transcript cannot be decompressed.") from None


def _load_zstd() -> Any:
    for name in ("compression.zstd", "zstandard"):  # Python has the first since 3.14
        with suppress(ImportError):
            return import_module(name)
    raise InvalidContent("The transcript is compressed with Zstandard; install `zstandard` to read it.")


def _parse_lines(data: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects in the lines of a transcript, each with its offset, one at a time: lines may be long."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        with suppress(ValueError, RecursionError):  # also the last line, while it is still being written
            if data.startswith(b"{", start):
                yield start, json.loads(data[start:end])
        start = end + 1


def _claude_messages(data: bytes) -> list[_Message]:
    """Return the messages on the branch that leads to the last one, first to last."""
    by_id: dict[str, tuple[object, _Message | None]] = {}  # uuid: the parent, and the message if the line has one
    here: Any = None
    for at, fields in _parse_lines(data):
        ident = fields.get("uuid")
        if isinstance(ident, str):
            is_message = _is_message(fields)
            by_id[ident] = fields.get("parentUuid"), _claude_message(at, fields) if is_message else None
            here = ident if is_message else here
    messages: list[_Message] = []
    while isinstance(here, str) and here in by_id:
        here, message = by_id.pop(here)  # once: a line may name itself as its parent
        if message is not None:
            messages.append(message)
    return messages[::-1]


def _is_message(fields: Mapping[str, Any]) -> bool:
    """Return whether a line is a message of the user or the agent: no side conversation, program note or summary."""
    if fields.get("type") not in (_USER, _AGENT) or not isinstance(fields.get("uuid"), str):
        return False
    return not any(fields.get(mark) is True for mark in ("isSidechain", "isMeta", "isCompactSummary"))


def _claude_message(at: int, fields: Mapping[str, Any]) -> _Message:
    """Return the text of a line, the tools it calls, and the outcomes it reports."""
    found = _Message(at, fields.get("timestamp"), fields["type"], "")
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return found._replace(text=content)
    texts, calls, outcomes = [], [], {}
    for part in _dicts_in(content):
        kind = part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "tool_use":
            calls.append(_tool_call(part.get("name"), part.get("id"), part.get("input")))
        elif kind == "tool_result" and not _REFUSED.match(_text_in(part.get("content"))):
            outcomes[str(part.get("tool_use_id"))] = part.get("is_error") is True
    return found._replace(text="\n".join(texts), calls=calls, outcomes=outcomes)


def _tool_call(tool: object, ident: object, given: object) -> _ToolCall:
    """Return a call as its line describes it; `given` are its arguments, which Codex writes as JSON."""
    name = str(tool)
    if name.casefold() not in _SHELLS:
        return _ToolCall(name, str(ident))
    fields = given
    if isinstance(given, str):
        try:
            fields = json.loads(given)
        except (ValueError, RecursionError):
            fields = None
    command = (fields.get("command") or fields.get("cmd")) if isinstance(fields, dict) else None
    if isinstance(command, list):  # ["bash", "-lc", "make test"], or the words themselves
        words = [word for word in command if isinstance(word, str)]
        command = words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return _ToolCall(name, str(ident), command if isinstance(command, str) else "")


def _text_in(content: object) -> str:
    """Return the text of a tool's answer."""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in _dicts_in(content))


def _codex_outcome(output: object) -> bool | None:
    """Return whether a command failed, by the output that Codex notes; None if that says nothing."""
    fields: object = output
    if isinstance(output, str):
        if _REFUSED.match(output):
            return None
        code = _EXIT_CODE.match(output)
        if code is not None:
            return code[1] != "0"
        try:
            fields = json.loads(output)
        except (ValueError, RecursionError):
            return None
    metadata = fields.get("metadata") if isinstance(fields, dict) else None
    status = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return status != 0 if isinstance(status, int) else None


def _codex_messages(data: bytes) -> list[_Message]:
    """Return the messages of a Codex transcript. Its items include what the program added, so its events come first."""
    typed: list[_Message] = []
    messages: list[_Message] = []
    for at, fields in _parse_lines(data):
        message = _codex_message(at, fields.get("timestamp"), _payload(fields))
        if message is not None:
            messages.append(message)
            typed += [message] if message.is_typed else []
    return [message for message in messages if message.is_typed or message.role != _USER or not typed]


def _codex_message(at: int, time: object, payload: Mapping[str, Any]) -> _Message | None:
    """Return what one line says; None if it is of no use."""
    found = _Message(at, time, "", "")
    kind, role = payload.get("type"), payload.get("role")
    if kind == "web_search_call":
        return found._replace(calls=[_ToolCall("web_search")])
    if kind in ("function_call", "custom_tool_call"):
        return found._replace(calls=[_tool_call(payload.get("name"), payload.get("call_id"), payload.get("arguments"))])
    if kind in ("function_call_output", "custom_tool_call_output"):
        has_failed = _codex_outcome(payload.get("output"))
        return None if has_failed is None else found._replace(outcomes={str(payload.get("call_id")): has_failed})
    if kind == "user_message" and isinstance(payload.get("message"), str):
        text = payload["message"]
        return found._replace(role=_USER, text=text if text.strip() else "", is_typed=True)
    if kind != "message" or role not in (_USER, _AGENT):
        return None
    parts = [part for part in _dicts_in(payload.get("content")) if part.get("type") in _CODEX_TEXTS]
    text = "\n".join(str(part.get("text", "")) for part in parts)
    is_added = role == _USER and text.lstrip().startswith("<")  # <environment_context> and the like
    return found._replace(role=role, text=text) if text.strip() and not is_added else None


def _payload(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    found = fields.get("payload")
    return found if isinstance(found, dict) else fields  # older files have the items themselves


def _dicts_in(content: object) -> list[dict[str, Any]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _parse_time(value: object) -> str:
    try:
        return read_time(value) if isinstance(value, str) and len(value) < 60 else ""
    except InvalidField:
        return ""
