"""Capture: reading the transcripts of agent programs, and finding facts in them that are worth proposing.

Claude Code writes a tree of lines (`uuid`, `parentUuid`): only the branch that leads to the last line was the
conversation. Codex writes a list. A line of either that cannot be parsed is skipped. Transcripts are outside the book:
only a regular file whose path a hook gave us is opened, for reading, up to a limit.

Facts are found by rule, without a model: requests to remember, decisions, corrections, preferences, and what was hard
to find out. The rules are few and cautious, and every fact is only proposed, for a person to accept. Text in <private>
tags, code, quotes or other tags is ignored, and so is what we told the agent. The verb `capture` calls
`read_transcript` and `find_facts`.
"""

import json
import os
import re
import stat as st
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

from commonplace.context.records import hash_words
from commonplace.model.errors import InvalidContent, InvalidField, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType, Trust
from commonplace.model.times import read_time

MAX_TRANSCRIPT_BYTES = 64_000_000
_USER, _AGENT = "user", "assistant"
_CODEX_TEXTS = ("input_text", "output_text", "text")
_EXTERNAL_TOOLS = ("webfetch", "websearch", "web_search", "web_fetch", "mcp__", "browser", "fetch")
_MAX_FACTS = 20  # of one transcript
_MAX_SENTENCE, _MIN_WORDS, _MAX_MESSAGE = 400, 4, 20_000  # characters, words, characters
_PRIVATE = lazy(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_CODE_OR_TAG = lazy(r"```.*?(?:```|\Z)|<([a-z][a-z_-]{0,40})\b[^>\n]{0,400}>.*?(?:</\1>|\Z)", re.DOTALL)
_QUOTED = lazy(r"^\s*(?:>|\||\$ |#!).*$", re.M)
_SENTENCE_END = lazy(r"(?<=[.!?])\s+|\n+")
_MARKUP = lazy(r"^[\s*#>-]+|\*\*|__")
_REMEMBER = lazy(
    r"\b(?:please )?(?:remember|note|keep in mind|don't forget|do not forget|make a note)(?: that|:|,)\s*(.+)", re.I
)
_RULES: tuple[tuple[str, re.Pattern[str], MemoryType], ...] = (
    (
        "preference",
        lazy(
            r"\bI(?:'d| would)? (?:always |really |strongly )?(?:prefer|hate|dislike|don't like|never want)\b"
            r"|^(?:please )?(?:always|never) [a-z]+\b|\bfrom now on\b",
            re.I,
        ),
        MemoryType.FEEDBACK,
    ),
    (
        "correction",
        lazy(
            r"^(?:no|actually|that's wrong|that is wrong|that's not right|wrong)[,:.]? .*\b(?:is|are|not|use|has)\b",
            re.I,
        ),
        MemoryType.FEEDBACK,
    ),
    (
        "decision",
        lazy(
            r"\b(?:we|I)(?:'ve| have)? (?:decided|chose|agreed|settled on|will go with|are going with|went with)\b"
            r"|\blet's (?:go with|use|stick with)\b",
            re.I,
        ),
        MemoryType.PROJECT,
    ),
    (
        "found out",
        lazy(r"\bturn(?:s|ed) out\b|\broot cause (?:is|was)\b|\bthe (?:real )?(?:problem|culprit) was\b", re.I),
        MemoryType.PROJECT,
    ),
)


class Turn(NamedTuple):
    """One message of a conversation."""

    role: str  # user, assistant
    text: str
    time: str  # a timestamp; empty if unknown
    at: int  # the offset of its line, in bytes
    is_external: bool = False  # since the user's last message, the agent has read something from outside this machine


class _Message(NamedTuple):
    """A message as a host writes it: a role, its text, and the tools that were called; any may be empty."""

    at: int
    time: object
    role: str
    text: str
    tools: Sequence[str] = ()


def read_transcript(path: str, host: str, end: int) -> list[Turn]:
    """Return the messages in the first `end` bytes of a file. Raise NotFound or InvalidContent if it is unreadable."""
    return parse_transcript(_read_bytes(path, end), host)


def parse_transcript(data: bytes, host: str) -> list[Turn]:
    """Return the messages of a transcript in the format of its host."""
    lines = _parse_lines(data)
    turns: list[Turn] = []
    is_external = False
    for message in _codex_messages(lines) if host == "codex" else _claude_messages(lines):
        if message.text and message.role == _USER:
            is_external = False
        tools = [tool.casefold() for tool in message.tools]
        others = [tool for tool in tools if not tool.startswith("mcp__commonplace")]
        is_external = is_external or any(tool.startswith(_EXTERNAL_TOOLS) for tool in others)
        if message.text:
            turns.append(Turn(message.role, message.text, _parse_time(message.time), message.at, is_external))
    return turns


def _read_bytes(path: str, end: int) -> bytes:
    """Return the first `end` bytes of a file; the whole of a compressed one."""
    is_compressed = path.endswith(".zst")
    try:
        found = os.stat(path)
        if not st.S_ISREG(found.st_mode):  # a pipe would wait for a writer
            raise InvalidContent("The transcript is not a file.")
        size = found.st_size if is_compressed else min(found.st_size, end)
        if size > MAX_TRANSCRIPT_BYTES:
            raise InvalidContent(f"The transcript is longer than {MAX_TRANSCRIPT_BYTES:,} bytes.")
        with open(path, "rb") as file:
            data = file.read(max(0, size))
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


def _parse_lines(data: bytes) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the JSON objects in the lines of a transcript, each with its offset."""
    lines = []
    at = 0
    for raw in data.split(b"\n"):
        start, at = at, at + len(raw) + 1
        with suppress(ValueError, RecursionError):  # also the last line, while it is still being written
            if raw.startswith(b"{"):
                lines.append((start, json.loads(raw)))
    return lines


def _claude_messages(lines: Sequence[tuple[int, Mapping[str, Any]]]) -> list[_Message]:
    """Return the messages on the branch that leads to the last one, first to last."""
    by_id = {fields["uuid"]: (at, fields) for at, fields in lines if isinstance(fields.get("uuid"), str)}
    messages: list[_Message] = []
    here: Any = next((fields["uuid"] for _, fields in reversed(lines) if _is_message(fields)), None)
    while isinstance(here, str) and here in by_id:
        at, fields = by_id.pop(here)  # once: a line may name itself as its parent
        if _is_message(fields):
            messages.append(_Message(at, fields.get("timestamp"), fields["type"], *_claude_text(fields)))
        here = fields.get("parentUuid")
    return messages[::-1]


def _is_message(fields: Mapping[str, Any]) -> bool:
    """Return whether a line is a message of the user or the agent: no side conversation, program note or summary."""
    if fields.get("type") not in (_USER, _AGENT) or not isinstance(fields.get("uuid"), str):
        return False
    return not any(fields.get(mark) is True for mark in ("isSidechain", "isMeta", "isCompactSummary"))


def _claude_text(fields: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the text of a message and the tools it calls."""
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content, []
    parts = _dicts_in(content)
    texts = [part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str)]
    tools = [str(part.get("name")) for part in parts if part.get("type") == "tool_use"]
    return "\n".join(texts), tools


def _codex_messages(lines: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[_Message]:
    """Yield the messages of a Codex transcript. Its items include what the program added, so its events come first."""
    items = [(at, fields.get("timestamp"), _payload(fields)) for at, fields in lines]
    has_typed = any(payload.get("type") == "user_message" for _, _, payload in items)
    for at, time, payload in items:
        kind, role = payload.get("type"), payload.get("role")
        if kind == "web_search_call":
            yield _Message(at, time, "", "", ["web_search"])
        elif kind in ("function_call", "custom_tool_call"):
            yield _Message(at, time, "", "", [str(payload.get("name"))])
        elif kind == "user_message" and isinstance(payload.get("message"), str):
            yield _Message(at, time, _USER, payload["message"] if payload["message"].strip() else "")
        elif kind == "message" and (role == _AGENT or (role == _USER and not has_typed)):
            parts = [part for part in _dicts_in(payload.get("content")) if part.get("type") in _CODEX_TEXTS]
            text = "\n".join(str(part.get("text", "")) for part in parts)
            is_added = role == _USER and text.lstrip().startswith("<")  # <environment_context> and the like
            if text.strip() and not is_added:
                yield _Message(at, time, role, text)


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


class Fact(NamedTuple):
    """A statement worth proposing as a memory."""

    text: str
    kind: MemoryType
    why: str  # the rule that found it
    trust: Trust
    role: str
    time: str


def find_facts(turns: Iterable[Turn], told: Collection[str]) -> list[Fact]:
    """Return the facts in these turns, each once; `told` has the hashes of the sentences that the agent got from us."""
    known = set(told)
    found: list[Fact] = []
    for turn in turns:
        for sentence in _split_sentences(turn.text):
            fact = _match_rules(sentence, turn)
            if fact is None:
                continue
            hashes = {hash_words(sentence), hash_words(fact.text)} - {""}
            if not hashes & known:
                found.append(fact)
            known |= hashes
            if len(found) >= _MAX_FACTS:
                return found
    return found


def keep_own_words(text: str) -> str:
    """Return a message without private text, code, text in tags and quotes."""
    plain = _PRIVATE.sub("\n", text)[:_MAX_MESSAGE]
    return _QUOTED.sub("", _CODE_OR_TAG.sub("\n", plain))


def _split_sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE_END.split(keep_own_words(text)):
        sentence = " ".join(_MARKUP.sub("", part).split())
        if len(sentence) <= _MAX_SENTENCE and len(sentence.split()) >= _MIN_WORDS and not sentence.endswith("?"):
            yield sentence


def _match_rules(sentence: str, turn: Turn) -> Fact | None:
    trust = Trust.EXTERNAL if turn.is_external else Trust.AGENT
    asked = _REMEMBER.search(sentence)
    if asked and turn.role == _USER and len(asked[1].split()) >= _MIN_WORDS - 1:
        text = asked[1][:1].upper() + asked[1][1:]
        return Fact(text, MemoryType.PROJECT, "asked to remember", trust, turn.role, turn.time)
    for why, pattern, kind in _RULES:
        # Feedback is what the user says: an agent that writes the same talks about its own work.
        if (turn.role == _USER or kind is not MemoryType.FEEDBACK) and pattern.search(sentence):
            return Fact(sentence, kind, why, trust, turn.role, turn.time)
    return None
