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
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from commonplace.context.sessions import hash_words
from commonplace.model.errors import InvalidContent, InvalidField, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType, Trust
from commonplace.model.times import read_time

MAX_TRANSCRIPT_BYTES = 64_000_000
_USER, _AGENT = "user", "assistant"
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
_RULES: tuple[tuple[str, re.Pattern[str], MemoryType, tuple[str, ...]], ...] = (
    (
        "preference",
        lazy(
            r"\bI(?:'d| would)? (?:always |really |strongly )?(?:prefer|hate|dislike|don't like|never want)\b"
            r"|^(?:please )?(?:always|never) [a-z]+\b|\bfrom now on\b",
            re.I,
        ),
        MemoryType.FEEDBACK,
        ("user",),
    ),
    (
        "correction",
        lazy(
            r"^(?:no|actually|that's wrong|that is wrong|that's not right|wrong)[,:.]? .*\b(?:is|are|not|use|has)\b",
            re.I,
        ),
        MemoryType.FEEDBACK,
        ("user",),
    ),
    (
        "decision",
        lazy(
            r"\b(?:we|I)(?:'ve| have)? (?:decided|chose|agreed|settled on|will go with|are going with|went with)\b"
            r"|\blet's (?:go with|use|stick with)\b",
            re.I,
        ),
        MemoryType.PROJECT,
        ("user", "assistant"),
    ),
    (
        "found out",
        lazy(r"\bturn(?:s|ed) out\b|\broot cause (?:is|was)\b|\bthe (?:real )?(?:problem|culprit) was\b", re.I),
        MemoryType.PROJECT,
        ("assistant", "user"),
    ),
)


class Turn(NamedTuple):
    """One message of a conversation."""

    role: str  # user, assistant
    text: str
    time: str  # a timestamp; empty if unknown
    at: int  # the offset of its line, in bytes
    is_external: bool = False  # since the user's last message, the agent has read something from outside this machine


class _TranscriptLine(NamedTuple):
    at: int
    fields: Mapping[str, Any]


def read_transcript(path: str, host: str, end: int) -> list[Turn]:
    """Return the messages in the first `end` bytes of a file. Raise NotFound or InvalidContent if it is unreadable."""
    return parse_transcript(_read_bytes(path, end), host)


def parse_transcript(data: bytes, host: str) -> list[Turn]:
    """Return the messages of a transcript in the format of its host."""
    lines = list(_parse_lines(data))
    return _codex_turns(lines) if host == "codex" else _claude_turns(lines)


def _read_bytes(path: str, end: int) -> bytes:
    """Return the first `end` bytes of a file; the whole of a compressed one."""
    is_compressed = path.endswith(".zst")
    try:
        found = os.stat(path)
        if not st.S_ISREG(found.st_mode):  # a pipe would wait for a writer
            raise InvalidContent("The transcript is not a file.")
        if (found.st_size if is_compressed else min(found.st_size, end)) > MAX_TRANSCRIPT_BYTES:
            raise InvalidContent(f"The transcript is longer than {MAX_TRANSCRIPT_BYTES:,} bytes.")
        with open(path, "rb") as file:
            data = file.read(MAX_TRANSCRIPT_BYTES if is_compressed else max(0, min(end, MAX_TRANSCRIPT_BYTES)))
    except (OSError, ValueError):
        raise NotFound("The transcript is missing or cannot be read.") from None
    return _decompress(data) if is_compressed else data


def _decompress(data: bytes) -> bytes:
    """Return the content of a Zstandard file up to the limit, if Python or an installed package can read it."""
    try:
        from compression import zstd  # type: ignore[import-not-found]  # noqa: PLC0415 - Python 3.14
    except ImportError:
        zstd = None
    if zstd is not None:
        try:
            return bytes(zstd.ZstdDecompressor().decompress(data, MAX_TRANSCRIPT_BYTES))
        except zstd.ZstdError:
            raise InvalidContent("The transcript cannot be decompressed.") from None
    try:
        import zstandard  # type: ignore[import-not-found]  # noqa: PLC0415 - used only where it is installed
    except ImportError:
        raise InvalidContent("The transcript is compressed with Zstandard; install `zstandard` to read it.") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            return bytes(reader.read(MAX_TRANSCRIPT_BYTES))
    except zstandard.ZstdError:
        raise InvalidContent("The transcript cannot be decompressed.") from None


def _parse_lines(data: bytes) -> Iterator[_TranscriptLine]:
    at = 0
    for raw in data.split(b"\n"):
        start, at = at, at + len(raw) + 1
        if not raw.startswith(b"{"):
            continue
        try:
            fields = json.loads(raw)
        except (ValueError, RecursionError):  # also the last line, while it is still being written
            continue
        if isinstance(fields, dict):
            yield _TranscriptLine(start, fields)


def _claude_turns(lines: list[_TranscriptLine]) -> list[Turn]:
    by_id = {str(line.fields["uuid"]): line for line in lines if isinstance(line.fields.get("uuid"), str)}
    branch: list[_TranscriptLine] = []
    seen: set[str] = set()
    here = next((line.fields["uuid"] for line in reversed(lines) if _is_message(line.fields)), None)
    while isinstance(here, str) and here in by_id and here not in seen:
        seen.add(here)
        branch.append(by_id[here])
        here = by_id[here].fields.get("parentUuid")
    turns: list[Turn] = []
    is_external = False
    for line in reversed(branch):
        if not _is_message(line.fields):
            continue
        role, text, tools = _claude_message(line.fields)
        if role == _USER and text:
            is_external = False
        is_external = is_external or any(_is_external_tool(tool) for tool in tools)
        if text:
            turns.append(Turn(role, text, _parse_time(line.fields.get("timestamp")), line.at, is_external))
    return turns


def _is_message(fields: Mapping[str, Any]) -> bool:
    """Return whether a line is a message of the user or the agent: no side conversation, program note or summary."""
    if fields.get("type") not in (_USER, _AGENT) or not isinstance(fields.get("uuid"), str):
        return False
    return not any(fields.get(mark) is True for mark in ("isSidechain", "isMeta", "isCompactSummary"))


def _claude_message(fields: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return str(fields["type"]), content, []
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str)]
    tools = [str(part.get("name")) for part in parts if part.get("type") == "tool_use"]
    return str(fields["type"]), "\n".join(texts), tools


def _codex_turns(lines: list[_TranscriptLine]) -> list[Turn]:
    """Return the messages of a Codex transcript. Its items include what the program added, so its events come first."""
    items = [(line, _payload(line.fields)) for line in lines]
    has_typed = any(payload.get("type") == "user_message" for _, payload in items)
    turns: list[Turn] = []
    is_external = False
    for line, payload in items:
        kind = payload.get("type")
        if kind in ("function_call", "web_search_call", "custom_tool_call"):
            is_external = is_external or kind == "web_search_call" or _is_external_tool(str(payload.get("name")))
            continue
        role, text = "", ""
        if kind == "user_message" and isinstance(payload.get("message"), str):
            role, text = _USER, payload["message"]
        elif kind == "message" and payload.get("role") in (_AGENT, *(() if has_typed else (_USER,))):
            role, text = str(payload["role"]), _codex_text(payload.get("content"))
            if role == _USER and text.lstrip().startswith("<"):  # <environment_context> and the like
                continue
        if text.strip():
            is_external = is_external and role != _USER
            turns.append(Turn(role, text, _parse_time(line.fields.get("timestamp")), line.at, is_external))
    return turns


def _payload(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    found = fields.get("payload")
    return found if isinstance(found, dict) else fields  # older files have the items themselves


def _codex_text(content: object) -> str:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    wanted = ("input_text", "output_text", "text")
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") in wanted)


def _is_external_tool(tool: str) -> bool:
    name = tool.casefold()
    return not name.startswith("mcp__commonplace") and name.startswith(_EXTERNAL_TOOLS)


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
    if asked and turn.role == "user" and len(asked[1].split()) >= _MIN_WORDS - 1:
        text = asked[1][:1].upper() + asked[1][1:]
        return Fact(text, MemoryType.PROJECT, "asked to remember", trust, turn.role, turn.time)
    for why, pattern, kind, roles in _RULES:
        if turn.role in roles and pattern.search(sentence):
            return Fact(sentence, kind, why, trust, turn.role, turn.time)
    return None
