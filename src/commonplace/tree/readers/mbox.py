"""Read mail from mbox files: of Gmail Takeout, Thunderbird, Apple Mail and Unix.

A file may have 32 GB: it is read in blocks, and one message is held at a time. Python's `mailbox` begins a message at
every line with "From "; here it takes an empty line before it and a header after it, as every program writes them.
`ingest` finds this module through the table of formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, NamedTuple

from commonplace.model.errors import Unreadable
from commonplace.tree.readers.mail_message import MailOrigin, find_source_signals, read_message
from commonplace.tree.source import MAX_MESSAGE, FileSet, ReadOptions, SkippedUnit, SourceKind, SourceUnit

NAME = "mbox"
KIND: SourceKind = "email"

_BLOCK = 1 << 20
_LOOKAHEAD = 2_000  # bytes that are enough for a From_ line and the name of the header below it
_MAX_TRIED = 50  # files whose beginning is looked at
_MARK = b"\nFrom "
# A From_ line has a time, or at most one word: "From ann@example.org Sun Nov 15 09:30:00 2026", "From -". The line
# below it is a header, and no address of the web, which has "//" behind its colon.
_FROM_LINE = re.compile(
    rb"From (?=\S*[ \t]*\r?\n|[^\n]*\d:\d\d)([^\n]{0,900})\n(?:>?From [^\n]{0,900}\n)?[!-9;-~]{1,100}[ \t]*:(?!//)"
)
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_ENDINGS = (".mbox", ".mbx", ".mail")
_WITHIN = re.compile(r"\.(?:mbox|mbx|sbd)$", re.IGNORECASE)  # endings of folders and files that are no part of a name


class MboxMessage(NamedTuple):
    """A message in an mbox file."""

    offset: int  # of its From_ line
    envelope: str  # what the From_ line says
    data: bytes | None  # None if it is larger than what is read


def matches(files: FileSet) -> bool:
    """Return whether one of the files begins with a From_ line."""
    names = list(files.names)
    if len(names) > 1:
        names = [name for name in names if "." not in name.rpartition("/")[2] or name.lower().endswith(_ENDINGS)]
    return any(_is_mbox(files, name) for name in names[:_MAX_TRIED])


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages of all files that are mbox files."""
    for name in files.names:
        yield from _read_mailbox(files, name, options)


def _is_mbox(files: FileSet, name: str) -> bool:
    try:
        with files.open(name) as file:
            start = file.read(4 * _LOOKAHEAD)
    except Unreadable:
        return False
    return _FROM_LINE.match(start.lstrip(b"\r\n")) is not None


def _read_mailbox(files: FileSet, name: str, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    before = f"{name}, " if len(files.names) > 1 else ""
    folder = _name_folder(files, name)
    of_source = find_source_signals(files.given)
    place = name
    try:
        with files.open(name) as file:
            for number, message in enumerate(split_mbox(file), 1):
                place = f"{before}message {number} at byte {message.offset}"
                if message.data is None:
                    yield SkippedUnit(place, "too_large")
                    continue
                is_labelled = b"\nX-Gmail-Labels:" in b"\n" + message.data[:20_000]
                origin = MailOrigin(
                    place=place,
                    me=options.me,
                    folders=() if is_labelled else folder,  # Takeout names its file "All mail"
                    signals=of_source,
                    envelope=message.envelope,
                    file_time=partial(files.modified, name),
                )
                yield read_message(message.data, origin)
    except Unreadable:
        yield SkippedUnit(place if place == name else f"after {place}", "unreadable")


def _name_folder(files: FileSet, name: str) -> tuple[str, ...]:
    """Return the folder of mail that a file is: Inbox.sbd/Work is Inbox/Work, Archive.mbox/mbox is Archive."""
    parts = name.split("/")
    if parts[-1] == "mbox":
        parts = parts[:-1] or [re.split(r"[\\/]", files.given.rstrip("\\/"))[-2:][0]]
    names = [_WITHIN.sub("", part) for part in parts]
    return ("/".join(names),)


def split_mbox(file: BinaryIO, limit: int = MAX_MESSAGE) -> Iterator[MboxMessage]:
    """Yield the messages of an mbox file; none of a file that does not begin with a From_ line.

    What is held is one message and one block. A message above the limit is passed over.
    """
    buffer = bytearray(b"\n\n")  # a file begins as if after an empty line
    base = -len(buffer)  # of the buffer, in the file
    offset = -1  # of the message that the buffer begins with; -1 before the first
    scanned = 0
    is_dropped = is_at_end = False
    while True:
        is_found, scanned = _find_boundary(buffer, scanned, is_at_end=is_at_end)
        if offset < 0 and buffer[:scanned].strip():
            return
        if is_found or is_at_end:
            if offset >= 0:
                message = _take_message(
                    buffer, scanned if is_found else len(buffer), offset, limit, is_dropped=is_dropped
                )
            if is_found:
                del buffer[: scanned + 1]
            else:
                buffer.clear()
            if offset >= 0:
                yield message
            if not is_found:
                return
            base += scanned + 1
            offset, scanned, is_dropped = base, 0, False
            continue
        if offset >= 0 and scanned > limit + _LOOKAHEAD:
            is_dropped = True
            cut = scanned - 2  # the end of the line before may be an empty one
            del buffer[:cut]
            base, scanned = base + cut, 2
        block = file.read(_BLOCK if offset >= 0 else 4 * _LOOKAHEAD)  # of a file of another kind, little is read
        is_at_end = not block
        buffer += block


def _find_boundary(buffer: bytearray, position: int, *, is_at_end: bool) -> tuple[bool, int]:
    """Return whether a message begins after `position`, and where: the place of the line end before its From_ line.

    If none does, the place is where to look when there is more.
    """
    while True:
        at = buffer.find(_MARK, position)
        if at < 0:
            return False, max(position, len(buffer) - len(_MARK) + 1)
        if len(buffer) - at < _LOOKAHEAD and not is_at_end:
            return False, at
        is_after_empty = buffer[at - 1 : at] == b"\n" or buffer[max(0, at - 2) : at] == b"\n\r"
        if is_after_empty and _FROM_LINE.match(buffer, at + 1):
            return True, at
        position = at + 1


def _take_message(buffer: bytearray, end: int, offset: int, limit: int, *, is_dropped: bool) -> MboxMessage:
    """Return the message that the buffer begins with, and that ends before `end`."""
    line_end = buffer.find(b"\n", 0, end)
    if is_dropped or end - line_end > limit:
        return MboxMessage(offset, "", None)
    with memoryview(buffer) as view:
        data = bytes(view[line_end + 1 : end])
        envelope = bytes(view[5:line_end]).decode("ascii", "replace").strip()
    if b">From " in data:
        data = _QUOTED.sub(rb"\1", data)
    return MboxMessage(offset, envelope, data.removesuffix(b"\r"))
