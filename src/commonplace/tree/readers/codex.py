"""Read the transcripts of Codex: rollout-*.jsonl, also compressed (.zst), usually below ~/.codex/sessions.

What the user typed and what the agent answered are units. Tools, what programs added to a prompt, turns that were
taken back, and what this memory told the agent are left out. A message is named by its line, which never changes:
transcripts only grow. A file is read twice, line by line: first to find what was said. `tree/formats.py` chooses this
reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.model.lazy import lazy
from commonplace.text.transcripts import USER, CodexSurvey, read_codex_line
from commonplace.tree.readers.json_stream import read_line
from commonplace.tree.readers.lines import base_name, read_beginning, spread
from commonplace.tree.readers.sessions import (
    PACKED,
    Session,
    SessionLine,
    has_notes,
    iterate_session,
    make_title,
    make_unit,
    name_session,
    read_start,
)
from commonplace.tree.source import FileSet, ReadOptions, SkippedUnit, SourceKind, SourceUnit

NAME = "codex"
KIND: SourceKind = "chat"
_ENDINGS = (".jsonl", f".jsonl{PACKED}")
_SESSION_FILE = lazy(r"rollout-.*\.jsonl(?:\.zst)?", re.DOTALL)
_MAGIC = b"\x28\xb5\x2f\xfd"  # of Zstandard
_LOOKED_AT, _BEGINNING = 8, 1_000_000


def matches(files: FileSet) -> bool:
    """Return whether there are transcripts of Codex: by their names, or where there are no notes beside them."""
    named = [name for name in files.names if _SESSION_FILE.fullmatch(base_name(name))]
    if any(_is_packed(files, name) or _is_transcript(files, name) for name in spread(named, _LOOKED_AT)):
        return True
    others = [] if named or has_notes(files) else [name for name in files.names if name.endswith(_ENDINGS)]
    return any(_is_transcript(files, name) for name in spread(others, _LOOKED_AT))


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:  # noqa: ARG001 - times are in UTC
    """Yield what was said in each session, and the lines that could not be read."""
    for name in files.names:
        is_ours = _SESSION_FILE.fullmatch(base_name(name)) and _is_packed(files, name)
        if is_ours or (name.endswith(_ENDINGS) and _is_transcript(files, name)):
            yield from _read_session(files, name)


def _is_packed(files: FileSet, name: str) -> bool:
    """Return whether a file is compressed: it may be that nothing is installed with which to look into it."""
    return name.endswith(PACKED) and read_beginning(files, name, len(_MAGIC)) == _MAGIC


def _is_transcript(files: FileSet, name: str) -> bool:
    """Return whether a transcript says of which session it is, as Codex does in the first line; older ones plainly."""
    lines = read_start(files, name, _BEGINNING)
    if any(fields.get("type") == "session_meta" and isinstance(fields.get("payload"), dict) for fields in lines[:3]):
        return True
    is_named = _SESSION_FILE.fullmatch(base_name(name)) is not None
    return is_named and any({"id", "timestamp"} <= fields.keys() or "payload" in fields for fields in lines[:3])


def _read_session(files: FileSet, name: str) -> Iterator[SourceUnit | SkippedUnit]:
    survey = CodexSurvey()
    ident = typed = title = ""
    for line in iterate_session(files, name):
        if line.fields is not None:
            survey.add(line.number, line.fields)
            ident = ident or _find_session(line)
            message = read_codex_line(line.number, line.fields)
            if message is not None and message.role == USER and not typed:
                title = title or make_title(message.text)
                typed = make_title(message.text) if message.is_typed else ""
    session = Session(NAME, ident or name_session(name), typed or title)
    for line in iterate_session(files, name):
        place = f"{name}, line {line.number}"
        if line.fields is None:
            yield SkippedUnit(place, line.reason)
            continue
        message = read_codex_line(line.number, line.fields)
        if message is not None and message.text and survey.counts(message):
            unit = make_unit(message, session, str(line.number), place)
            if unit is not None:
                yield unit


def _find_session(line: SessionLine) -> str:
    """Return the session that a transcript says that it is of; a fork goes on with the lines of another one."""
    fields = line.fields or {}
    payload = fields.get("payload")
    if fields.get("type") == "session_meta" and isinstance(payload, dict):
        return read_line(payload.get("id"))
    return read_line(fields.get("id")) if line.number == 1 and "type" not in fields else ""
