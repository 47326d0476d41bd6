"""Transcripts of agent programs: what was said in a session, by whom and when.

Claude Code writes a tree of lines (`uuid`, `parentUuid`): only the branch that leads to the last line was the
conversation. Codex writes a list. Both are read with distrust: a line that cannot be understood is passed over. Files
are outside the book: only a regular file whose path a hook handed us is opened, for reading, to a limit.
"""

import json
import os
import stat as st
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidContent, InvalidField, NotFound
from commonplace.model.times import read_time

MOST_BYTES = 64_000_000
_USER, _AGENT = "user", "assistant"
_FROM_OUTSIDE = ("webfetch", "websearch", "web_search", "web_fetch", "mcp__", "browser", "fetch")


class Turn(NamedTuple):
    """One message. `outside`: since the user last spoke, the agent has read something from beyond this machine."""

    role: str  # user, assistant
    text: str
    time: str  # a timestamp; empty when none is known
    at: int  # where its line begins, in bytes
    outside: bool = False


class _Line(NamedTuple):
    at: int
    said: Mapping[str, Any]


def read_transcript(path: str, host: str, end: int) -> list[Turn]:
    """What was said up to a number of bytes. NotFound, InvalidContent: there is nothing here that could be read."""
    return read_turns(_bytes(path, end), host)


def read_turns(data: bytes, host: str) -> list[Turn]:
    lines = list(_lines(data))
    return _codex(lines) if host == "codex" else _claude(lines)


def _bytes(path: str, end: int) -> bytes:
    """The file up to there; a packed one whole."""
    packed = path.endswith(".zst")
    try:
        found = os.stat(path)
        if not st.S_ISREG(found.st_mode):  # a pipe would wait for a writer
            raise InvalidContent("The transcript is not a file.")
        if (found.st_size if packed else min(found.st_size, end)) > MOST_BYTES:
            raise InvalidContent(f"The transcript is longer than {MOST_BYTES:,} bytes.")
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES if packed else max(0, min(end, MOST_BYTES)))
    except (OSError, ValueError):
        raise NotFound("The transcript is gone, or cannot be read.") from None
    return _unpacked(data) if packed else data


def _unpacked(data: bytes) -> bytes:
    """What a Zstandard file holds, where Python or the environment can read one, up to the limit."""
    try:
        from compression import zstd  # type: ignore[import-not-found]  # noqa: PLC0415 - Python 3.14
    except ImportError:
        zstd = None
    if zstd is not None:
        try:
            return bytes(zstd.ZstdDecompressor().decompress(data, MOST_BYTES))
        except zstd.ZstdError:
            raise InvalidContent("The transcript cannot be unpacked.") from None
    try:
        import zstandard  # type: ignore[import-not-found]  # noqa: PLC0415 - not ours to bring
    except ImportError:
        raise InvalidContent("This transcript is packed with Zstandard, and nothing here can unpack it.") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            return bytes(reader.read(MOST_BYTES))
    except zstandard.ZstdError:
        raise InvalidContent("The transcript cannot be unpacked.") from None


def _lines(data: bytes) -> Iterator[_Line]:
    at = 0
    for raw in data.split(b"\n"):
        start, at = at, at + len(raw) + 1
        if not raw.startswith(b"{"):
            continue
        try:
            said = json.loads(raw)
        except (ValueError, RecursionError):  # also the last line, while somebody is still writing it
            continue
        if isinstance(said, dict):
            yield _Line(start, said)


# Claude Code


def _claude(lines: list[_Line]) -> list[Turn]:
    by_id = {str(line.said["uuid"]): line for line in lines if isinstance(line.said.get("uuid"), str)}
    branch: list[_Line] = []
    seen: set[str] = set()
    here = next((line.said["uuid"] for line in reversed(lines) if _is_spoken(line.said)), None)
    while isinstance(here, str) and here in by_id and here not in seen:
        seen.add(here)
        branch.append(by_id[here])
        here = by_id[here].said.get("parentUuid")
    turns: list[Turn] = []
    outside = False
    for line in reversed(branch):
        if not _is_spoken(line.said):
            continue
        role, text, tools = _claude_message(line.said)
        if role == _USER and text:
            outside = False
        outside = outside or any(_is_from_outside(tool) for tool in tools)
        if text:
            turns.append(Turn(role, text, _time(line.said.get("timestamp")), line.at, outside))
    return turns


def _is_spoken(said: Mapping[str, Any]) -> bool:
    """What the user or the agent said: no side conversation, no note of the program, no summary of a compaction."""
    if said.get("type") not in (_USER, _AGENT) or not isinstance(said.get("uuid"), str):
        return False
    return not any(said.get(mark) is True for mark in ("isSidechain", "isMeta", "isCompactSummary"))


def _claude_message(said: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    message = said.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return str(said["type"]), content, []
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str)]
    tools = [str(part.get("name")) for part in parts if part.get("type") == "tool_use"]
    return str(said["type"]), "\n".join(texts), tools


# Codex


def _codex(lines: list[_Line]) -> list[Turn]:
    """Its events say what the user typed; its items also have what the program added, so they are second choice."""
    items = [(line, _payload(line.said)) for line in lines]
    typed = any(payload.get("type") == "user_message" for _, payload in items)
    turns: list[Turn] = []
    outside = False
    for line, payload in items:
        kind = payload.get("type")
        if kind in ("function_call", "web_search_call", "custom_tool_call"):
            outside = outside or kind == "web_search_call" or _is_from_outside(str(payload.get("name")))
            continue
        role, text = "", ""
        if kind == "user_message" and isinstance(payload.get("message"), str):
            role, text = _USER, payload["message"]
        elif kind == "message" and payload.get("role") in (_AGENT, *(() if typed else (_USER,))):
            role, text = str(payload["role"]), _codex_text(payload.get("content"))
            if role == _USER and text.lstrip().startswith("<"):  # <environment_context> and the like
                continue
        if text.strip():
            outside = outside and role != _USER
            turns.append(Turn(role, text, _time(line.said.get("timestamp")), line.at, outside))
    return turns


def _payload(said: Mapping[str, Any]) -> Mapping[str, Any]:
    found = said.get("payload")
    return found if isinstance(found, dict) else said  # older files have the items themselves


def _codex_text(content: object) -> str:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    wanted = ("input_text", "output_text", "text")
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") in wanted)


def _is_from_outside(tool: str) -> bool:
    name = tool.casefold()
    return not name.startswith("mcp__commonplace") and name.startswith(_FROM_OUTSIDE)


def _time(value: object) -> str:
    try:
        return read_time(value) if isinstance(value, str) and len(value) < 60 else ""
    except InvalidField:
        return ""
