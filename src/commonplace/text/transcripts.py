"""Parse the transcripts of agent programs: who said what, and which commands the agent ran. Nothing is opened here.

Claude Code writes a tree of lines (`uuid`, `parentUuid`): only the branch that leads to the last line was the
conversation. Codex writes a list, and notes which turns the user took back. A line of either that cannot be parsed is
skipped. `context/transcripts.py` parses a whole transcript for `capture`; the readers of the memory tree stream it, in
two passes: the first one feeds `ClaudeSurvey` or `CodexSurvey`, the second asks which messages count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.times import read_time
from commonplace.text.fence import strip_fences

USER, AGENT = "user", "assistant"
_CODEX_TEXTS = ("input_text", "output_text", "text")
_EXTERNAL_TOOLS = ("webfetch", "websearch", "web_search", "web_fetch", "mcp__", "browser", "fetch")
_SHELLS = ("bash", "shell", "exec_command", "local_shell", "shell_command", "container.exec")
_EDITS = ("edit", "write", "multiedit", "notebookedit", "apply_patch")
_EXIT_CODE = lazy(r"\A(?:Chunk ID.*\n|Wall time.*\n)*(?:Exit code:?|Process exited with code) (\d+)")
_REFUSED = lazy(r"\A\s*(?:The user doesn't want|\[Request interrupted|.{0,60}(?:rejected|aborted) by (?:the )?user)")
_CODEX_ADDED = ("<", "# AGENTS.md instructions")  # <environment_context> and the like
_CODEX_REQUEST = "\n## My request for Codex:"  # below what an editor adds to a prompt
_PRIVATE = lazy(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_CODE, _REMINDER = "```", "system-reminder"
_TAG_OR_CODE = lazy(rf"{_CODE}|^[ \t]*<({_REMINDER}|[a-z]+(?:[-_][a-z]+)+|INSTRUCTIONS)\b[^>\n]*>", re.MULTILINE)
_IMAGE = lazy(r"<image\b[^>\n]{0,1000}>\s{0,9}</image>")
_INTERRUPTED = "[Request interrupted by user"


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


class ToolCall(NamedTuple):
    """A call of a tool: its id, and the command if the tool is a shell."""

    tool: str
    id: str = ""
    command: str = ""


class TranscriptMessage(NamedTuple):
    """A message as a host writes it: a role, its text, tool calls, and which calls failed; any may be empty."""

    at: int
    time: object
    role: str
    text: str
    calls: Sequence[ToolCall] = ()
    outcomes: Mapping[str, bool] = {}  # id of a call: whether it failed
    is_typed: bool = False  # the program says that the user typed it


def parse_transcript(data: bytes, host: str) -> Transcript:
    """Return what a transcript in the format of its host says."""
    turns: list[Turn] = []
    runs: list[AgentCommand] = []
    waiting: dict[str, AgentCommand] = {}
    is_external = False
    for message in _codex_messages(data) if host == "codex" else _claude_messages(data):
        if message.text and message.role == USER:
            is_external = False
        is_external = is_external or any(map(_is_external, message.calls))
        time = parse_time(message.time)
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


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a line of a transcript; None if there is none, or the line is cut."""
    with suppress(ValueError, RecursionError):
        found = json.loads(line) if line.startswith(b"{") else None
        return found if isinstance(found, dict) else None
    return None


def parse_time(value: object) -> str:
    """Return a time in a transcript as a timestamp; "" if it is none."""
    try:
        return read_time(value) if isinstance(value, str) and len(value) < 60 else ""
    except InvalidField:
        return ""


def strip_additions(text: str) -> str:
    """Return a prompt as the user typed it: without private text, and what a program or this memory added.

    Programs mark what they add with tags that have `-` or `_` in their names, as no tag of HTML has. Of a command like
    `/review the parser`, the name stays with what was typed after it.
    """
    plain = strip_private(text)
    if plain.startswith(_INTERRUPTED):
        return ""
    if plain.startswith("<command-"):
        typed = _text_in_tag(plain, "command-args")
        return f"{_text_in_tag(plain, 'command-name')} {typed}".strip() if typed else ""
    if plain.startswith("# ") and _CODEX_REQUEST in plain:
        plain = plain.rpartition(_CODEX_REQUEST)[2]
    plain = _IMAGE.sub("", plain) if "</image>" in plain else plain
    return _strip_tags(plain).strip()


def strip_private(text: str) -> str:
    """Return a text without what is marked as private, and without what this memory told the agent."""
    return _PRIVATE.sub("", strip_fences(text)[0]).strip()


def _strip_tags(text: str) -> str:
    """Return a text without the blocks that begin a line with a tag of a program; in code, they are the user's own."""
    if "<" not in text:
        return text
    kept, start = [], 0
    is_code = False
    unclosed: set[str] = set()
    for mark in _TAG_OR_CODE.finditer(text):
        tag = mark[1]
        if mark.start() < start or tag in unclosed:
            continue
        if tag is None:
            is_code = not is_code
        elif not is_code or tag == _REMINDER:
            end = text.find(f"</{tag}>", mark.end())
            if end < 0:
                unclosed.add(tag)
                continue
            kept.append(text[start : mark.start()])
            start = end + len(tag) + 3
    return "".join((*kept, text[start:]))


def _text_in_tag(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


class ClaudeSurvey:
    """What the lines of one transcript of Claude Code say together: the branch that was the conversation, and names."""

    def __init__(self) -> None:
        self.title = ""  # that the user or the program gave
        self._links: dict[str, tuple[object, str]] = {}  # uuid: the parent, and the message before it in the file
        self._last = ""
        self._summaries: dict[str, str] = {}  # uuid of the last message of a conversation: its summary
        self._rank = 0

    def add(self, fields: Mapping[str, Any]) -> None:
        """Take in the next line."""
        ident = fields.get("uuid")
        if isinstance(ident, str):
            # Where a conversation was compacted, the line has no parent but a logical one.
            parent = fields.get("parentUuid") or fields.get("logicalParentUuid")
            self._links[ident] = parent, self._last
            self._last = ident if is_claude_message(fields) else self._last
            return
        for rank, name in enumerate(("aiTitle", "customTitle"), 1):
            title = fields.get(name)
            if isinstance(title, str) and title.strip() and rank >= self._rank:
                self.title, self._rank = title, rank
        leaf, summary = fields.get("leafUuid"), fields.get("summary")
        if isinstance(leaf, str) and isinstance(summary, str):
            self._summaries[leaf] = summary

    def find_branch(self) -> list[str]:
        """Return the ids of the lines that lead to the last message, first to last."""
        branch: dict[str, None] = {}
        here: object = self._last
        while isinstance(here, str) and here in self._links and here not in branch:
            branch[here] = None  # once: a line may name itself as its parent
            parent, before = self._links[here]
            # A parent that is missing was a line that cannot be read: what came before it was said all the same.
            here = before if isinstance(parent, str) and parent not in self._links else parent
        return list(branch)[::-1]

    def find_summary(self) -> str:
        """Return the title of the conversation, or its summary; "" if it has neither."""
        # A file may hold summaries of other conversations, too.
        return self.title or next((text for leaf, text in self._summaries.items() if leaf in self._links), "")


class CodexSurvey:
    """What the lines of one transcript of Codex say together: which of its messages count."""

    def __init__(self) -> None:
        self._typed: list[int] = []  # where the messages begin that Codex says were typed
        self._items: list[int] = []  # where the other messages of the user begin
        self._taken_back: list[tuple[int, int]] = []
        self._has_typed = False

    def add(self, at: int, fields: Mapping[str, Any]) -> None:
        """Take in the line at an offset."""
        payload = _payload(fields)
        count = payload.get("num_turns")
        if payload.get("type") == "thread_rolled_back" and isinstance(count, int) and count > 0:
            starts = self._typed or self._items
            if starts:
                self._taken_back.append((starts[max(0, len(starts) - count)], at))
                del starts[-count:]
            return
        message = read_codex_line(at, fields)
        if message is not None and message.text and message.role == USER:
            (self._typed if message.is_typed else self._items).append(at)
            self._has_typed = self._has_typed or message.is_typed

    def counts(self, message: TranscriptMessage) -> bool:
        """Return whether a message was said: it was not taken back, and no program added it.

        The items of a transcript include what the program added, so its events come first.
        """
        if message.role == USER and self._has_typed and not message.is_typed:
            return False
        return not any(start <= message.at < end for start, end in self._taken_back)


def is_claude_message(fields: Mapping[str, Any]) -> bool:
    """Return whether a line is a message of the user or the agent: no side conversation, program note or summary."""
    if not isinstance(fields.get("uuid"), str) or not (fields.get("type") in (USER, AGENT) or _queued_prompt(fields)):
        return False
    return not any(fields.get(mark) is True for mark in ("isSidechain", "isMeta", "isCompactSummary"))


def read_claude_line(at: int, fields: Mapping[str, Any]) -> TranscriptMessage:
    """Return the text of a line that is a message, the tools it calls, and the outcomes it reports."""
    queued = _queued_prompt(fields)
    found = TranscriptMessage(at, fields.get("timestamp"), USER if queued else str(fields["type"]), "")
    message = fields.get("message")
    content = queued or (message.get("content") if isinstance(message, dict) else None)
    if isinstance(content, str):
        return found._replace(text=content)
    texts, calls, outcomes = [], [], {}
    for part in dicts_in(content):
        kind = part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "tool_use":
            calls.append(_tool_call(part.get("name"), part.get("id"), part.get("input")))
        elif kind == "tool_result" and not _REFUSED.match(_text_in(part.get("content"))):
            outcomes[str(part.get("tool_use_id"))] = part.get("is_error") is True
    return found._replace(text="\n".join(texts), calls=calls, outcomes=outcomes)


def read_codex_line(at: int, fields: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return what one line says; None if it is of no use."""
    payload = _payload(fields)
    found = TranscriptMessage(at, fields.get("timestamp"), "", "")
    kind, role = payload.get("type"), payload.get("role")
    if kind == "web_search_call":
        return found._replace(calls=[ToolCall("web_search")])
    if kind in ("function_call", "custom_tool_call"):
        return found._replace(calls=[_tool_call(payload.get("name"), payload.get("call_id"), payload.get("arguments"))])
    if kind in ("function_call_output", "custom_tool_call_output"):
        has_failed = _codex_outcome(payload.get("output"))
        return None if has_failed is None else found._replace(outcomes={str(payload.get("call_id")): has_failed})
    if kind == "user_message" and isinstance(payload.get("message"), str):
        text = payload["message"]
        return found._replace(role=USER, text=text if text.strip() else "", is_typed=True)
    if kind != "message" or role not in (USER, AGENT):
        return None
    parts = [part for part in dicts_in(payload.get("content")) if part.get("type") in _CODEX_TEXTS]
    text = "\n".join(str(part.get("text", "")) for part in parts)
    is_added = role == USER and text.lstrip().startswith(_CODEX_ADDED)
    return found._replace(role=role, text=text) if text.strip() and not is_added else None


def dicts_in(content: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none if it is no list."""
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _split_lines(data: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects in the lines of a transcript, each with its offset, one at a time: lines may be long."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        fields = parse_line(data[start:end]) if data.startswith(b"{", start) else None
        if fields is not None:
            yield start, fields
        start = end + 1


def _claude_messages(data: bytes) -> list[TranscriptMessage]:
    """Return the messages on the branch that leads to the last one, first to last."""
    survey = ClaudeSurvey()
    messages: dict[str, TranscriptMessage] = {}
    for at, fields in _split_lines(data):
        survey.add(fields)
        if is_claude_message(fields):
            messages[fields["uuid"]] = read_claude_line(at, fields)
    return [messages[ident] for ident in survey.find_branch() if ident in messages]


def _codex_messages(data: bytes) -> list[TranscriptMessage]:
    """Return the messages of a Codex transcript."""
    survey = CodexSurvey()
    messages: list[TranscriptMessage] = []
    for at, fields in _split_lines(data):
        survey.add(at, fields)
        message = read_codex_line(at, fields)
        if message is not None:
            messages.append(message)
    return [message for message in messages if survey.counts(message)]


def _queued_prompt(fields: Mapping[str, Any]) -> Any:
    """Return what the user typed while the agent worked, which Claude Code notes as an attachment; else None."""
    attachment = fields.get("attachment")
    if fields.get("type") != "attachment" or not isinstance(attachment, dict):
        return None
    is_prompt = attachment.get("type") == "queued_command" and attachment.get("commandMode") == "prompt"
    origin = attachment.get("origin")
    is_human = not isinstance(origin, dict) or origin.get("kind") == "human"
    return attachment.get("prompt") if is_prompt and is_human else None


def _is_external(call: ToolCall) -> bool:
    """Return whether a tool reads something from outside this machine."""
    tool = call.tool.casefold()
    return tool.startswith(_EXTERNAL_TOOLS) and not tool.startswith("mcp__commonplace")


def _tool_call(tool: object, ident: object, given: object) -> ToolCall:
    """Return a call as its line describes it; `given` are its arguments, which Codex writes as JSON."""
    name = str(tool)
    if name.casefold() not in _SHELLS:
        return ToolCall(name, str(ident))
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
    return ToolCall(name, str(ident), command if isinstance(command, str) else "")


def _text_in(content: object) -> str:
    """Return the text of a tool's answer."""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in dicts_in(content))


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


def _payload(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    found = fields.get("payload")
    return found if isinstance(found, dict) else fields  # older files have the items themselves
