"""What the readers of transcripts of Claude Code and Codex have in common: lines, also of a compressed file, and units.

`text/transcripts.py` says what the lines mean; here are files, limits, and what becomes of a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from commonplace.model.errors import Unreadable
from commonplace.model.lazy import load_any
from commonplace.text.transcripts import USER, TranscriptMessage, parse_line, parse_time, strip_additions, strip_private
from commonplace.tree.readers.json_stream import read_line, read_text
from commonplace.tree.readers.lines import base_name, iterate_lines
from commonplace.tree.source import (
    MAX_MESSAGE,
    MAX_RATIO,
    FileSet,
    Person,
    Signal,
    SkippedUnit,
    SkipReason,
    SourceUnit,
)

PACKED = ".zst"
_SMALL = 1_000_000  # bytes to which a file may be unpacked at any ratio
_PACKED_STEP = 1_024  # bytes: at most 30 MB come out of so many
_TITLE = 80  # characters of the first prompt
_NOTES = (".md", ".markdown")
_SENT: frozenset[Signal] = frozenset({"sent"})


class _Stopped(Exception):
    """The rest of a file cannot be read."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__()
        self.reason: SkipReason = reason


class SessionLine(NamedTuple):
    """A line of a transcript: an object, or why there is none."""

    number: int
    fields: dict[str, Any] | None
    reason: SkipReason = "unreadable"


class Session(NamedTuple):
    """The session that messages belong to."""

    program: str  # "claude-code", "codex"
    ident: str
    title: str


def iterate_session(files: FileSet, name: str) -> Iterator[SessionLine]:
    """Yield the lines of a transcript that are not empty; last, why the rest cannot be read, if that is so."""
    number = 0
    try:
        with files.open(name) as file:
            read = _unpack(file, files.size(name)) if name.endswith(PACKED) else file.read
            for number, data in iterate_lines(read, MAX_MESSAGE):
                if data is None:
                    yield SessionLine(number, None, "too_large")
                elif data.strip():
                    yield SessionLine(number, parse_line(data.strip()))
    except Unreadable:
        yield SessionLine(number + 1, None)
    except _Stopped as stopped:
        yield SessionLine(number + 1, None, stopped.reason)


def read_start(files: FileSet, name: str, size: int) -> list[dict[str, Any]]:
    """Return the objects in the first lines of a transcript, up to so many bytes."""
    found: list[dict[str, Any]] = []
    with suppress(Unreadable, _Stopped), files.open(name) as file:
        read = _unpack(file, files.size(name)) if name.endswith(PACKED) else file.read
        data = b""
        while len(data) < size and (piece := read(size - len(data))):
            data += piece
        found = [fields for line in data.split(b"\n", 200) if (fields := parse_line(line.strip())) is not None]
    return found


def has_notes(files: FileSet) -> bool:
    """Return whether there are notes among the files: a transcript among notes is a file of theirs."""
    return any(name.lower().endswith(_NOTES) for name in files.names)


def name_session(name: str) -> str:
    """Return what a session is called by its file."""
    return base_name(name).removesuffix(PACKED).removesuffix(".jsonl")


def make_title(prompt: str) -> str:
    """Return a title for a session that has none: the first line of its first prompt, in short."""
    line = read_line(next(filter(str.strip, strip_additions(prompt).splitlines()), ""))
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"


def make_unit(message: TranscriptMessage, session: Session, ident: str, place: str) -> SourceUnit | SkippedUnit | None:
    """Return the unit of a message; None if nothing is left of what the user or the agent said."""
    is_user = message.role == USER
    text = read_text(strip_additions(message.text) if is_user else strip_private(message.text))
    if not text.strip():
        return None
    if len(text) > MAX_MESSAGE:
        return SkippedUnit(place, "too_large")
    return SourceUnit(
        kind="chat",
        text=text,
        place=place,
        native_id=f"{session.program}:{session.ident}/{ident}",
        title=session.title,
        author=Person(message.role),
        occurred=parse_time(message.time),
        thread=session.ident,
        signals=_SENT if is_user else frozenset(),
    )


def _unpack(file: BinaryIO, size: int) -> Callable[[int], bytes]:
    """Return a function that gives the next piece of a file compressed with Zstandard, of any size; b"" at its end.

    It raises _Stopped for what is damaged or cut, and for what unpacks to far more than its size.
    """
    zstd = load_any("compression.zstd", "zstandard")  # Python has the first since 3.14
    if zstd is None:
        raise _Stopped("extra_missing")
    pieces = _iterate_pieces(file, zstd, max(_SMALL, MAX_RATIO * size))
    return lambda _: next(pieces, b"")


def _iterate_pieces(file: BinaryIO, zstd: Any, left: int) -> Iterator[bytes]:
    def begin() -> Any:
        decompressor = zstd.ZstdDecompressor()
        return decompressor.decompressobj() if hasattr(decompressor, "decompressobj") else decompressor

    frame = begin()
    while data := file.read(_PACKED_STEP):
        while data:  # a file may have several frames
            frame = begin() if frame.eof else frame
            try:
                piece = frame.decompress(data)
            except zstd.ZstdError:
                raise _Stopped("unreadable") from None
            data = frame.unused_data if frame.eof else b""
            left -= len(piece)
            if left < 0:
                raise _Stopped("too_large")
            if piece:
                yield piece
    if not frame.eof:
        raise _Stopped("unreadable")
