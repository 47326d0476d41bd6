"""Read the transcripts of Claude Code: one .jsonl file for each session, usually below ~/.claude/projects.

What the user typed and what the agent answered are units. Tools, what programs added to a prompt, side conversations,
and what this memory told the agent are left out, and so are prompts that the user took back. A file is read twice,
line by line: first to find what was said. `tree/formats.py` chooses this reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from commonplace.model.lazy import lazy
from commonplace.text.transcripts import USER, ClaudeSurvey, is_claude_message, read_claude_line
from commonplace.tree.readers.json_stream import read_line
from commonplace.tree.readers.lines import base_name, spread
from commonplace.tree.readers.sessions import (
    Session,
    has_notes,
    iterate_session,
    make_title,
    make_unit,
    name_session,
    read_start,
)
from commonplace.tree.source import FileSet, ReadOptions, SkippedUnit, SourceKind, SourceUnit

NAME = "claude-code"
KIND: SourceKind = "chat"
_ENDING = ".jsonl"
_SESSION_FILE = lazy(r"(?:[0-9a-f]{8}-[0-9a-f-]{27}|agent-\w+)\.jsonl")
_LOOKED_AT, _BEGINNING = 8, 1_000_000


def matches(files: FileSet) -> bool:
    """Return whether there are transcripts of Claude Code: by their names, or where there are no notes beside them."""
    found = [name for name in files.names if _SESSION_FILE.fullmatch(base_name(name))]
    if not found and not has_notes(files):
        found = [name for name in files.names if name.endswith(_ENDING)]
    return any(_is_transcript(files, name) for name in spread(found, _LOOKED_AT))


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:  # noqa: ARG001 - times are in UTC
    """Yield what was said in each session, and the lines that could not be read."""
    for name in files.names:
        if name.endswith(_ENDING) and _is_transcript(files, name):
            yield from _read_session(files, name)


def _is_transcript(files: FileSet, name: str) -> bool:
    """Return whether a line is one of a session of Claude Code: it has the session, itself, and what came before."""
    needed = {"sessionId", "uuid", "parentUuid", "type"}
    return any(needed <= fields.keys() for fields in read_start(files, name, _BEGINNING))


def _read_session(files: FileSet, name: str) -> Iterator[SourceUnit | SkippedUnit]:
    survey = ClaudeSurvey()
    title = ""
    for line in iterate_session(files, name):
        if line.fields is not None:
            survey.add(line.fields)
            title = title or _find_prompt(line.fields)
    branch = set(survey.find_branch())
    title = read_line(survey.find_summary()) or title
    for line in iterate_session(files, name):
        place = f"{name}, line {line.number}"
        if line.fields is None:
            yield SkippedUnit(place, line.reason)
        elif is_claude_message(line.fields) and line.fields["uuid"] in branch and not _is_notice(line.fields):
            branch.discard(line.fields["uuid"])
            message = read_claude_line(line.number, line.fields)
            session, ident = _find_origin(line.fields, name)
            unit = make_unit(message, Session(NAME, session, title), ident, place)
            if unit is not None:
                yield unit


def _find_prompt(fields: dict[str, Any]) -> str:
    """Return the first line of a prompt; "" if a line is no prompt."""
    message = read_claude_line(0, fields) if is_claude_message(fields) else None
    return make_title(message.text) if message is not None and message.role == USER else ""


def _is_notice(fields: dict[str, Any]) -> bool:
    """Return whether the program, and no model, wrote an answer: that the service failed, or nothing was requested."""
    message = fields.get("message")
    model = message.get("model") if isinstance(message, dict) else None
    return fields.get("isApiErrorMessage") is True or model == "<synthetic>"


def _find_origin(fields: dict[str, Any], name: str) -> tuple[str, str]:
    """Return the session and the id under which a message was first said: a fork has copies of what was said before."""
    origin = fields.get("forkedFrom")
    forked = origin if isinstance(origin, dict) else {}
    session = read_line(forked.get("sessionId")) or read_line(fields.get("sessionId")) or name_session(name)
    return session, read_line(forked.get("messageUuid")) or read_line(fields["uuid"])
