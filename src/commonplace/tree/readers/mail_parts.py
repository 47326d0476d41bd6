"""The parts of a mail: its headers, and where in its bytes each part lies. Nothing is decoded before it is asked for.

`mail_message` calls `parse_mail`. Python's `email` package makes a string of every line, which takes 1.5 GB for a
message of 60 MB in short lines, and has no limits. This holds the bytes of the message and little more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.tree.readers.mail_encodings import decode_transfer
from commonplace.tree.readers.mail_headers import read_parameters
from commonplace.tree.source import MAX_LEVELS, MAX_PARTS, SkipReason

_MAX_HEADERS = 1_000_000  # bytes of the headers of one part; what is beyond is passed over
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LEADING_LINES = re.compile(rb"\A\s*\n")
_HEADER = re.compile(r"([!-9;-~]{1,200})[ \t]*:(.*)", re.DOTALL)
_DELIMITER_END = re.compile(rb"(--)?[ \t]*(?:\r?\n|\Z)")
_GUESSED_BOUNDARY = re.compile(rb"^--([^\s-][^\r\n]{0,100}?)[ \t]*\r?\nContent-[A-Za-z-]{1,60}:", re.MULTILINE)
_TYPE = re.compile(r"[^\s/;,\"]{1,80}/[^\s/;,\"]{1,80}")
_ENVELOPE = ("From ", ">From ")  # lines that a mailbox adds above the headers
_EMBEDDED = frozenset({"message/rfc822", "message/global", "message/news"})


class LimitExceeded(Exception):
    """A message has too many parts, or they are too deep."""

    def __init__(self, reason: SkipReason) -> None:
        self.reason: SkipReason = reason
        super().__init__(reason)


class MailPart:
    """A part of a mail, or the whole of it."""

    def __init__(self, data: bytes, headers: dict[str, list[str]], start: int, end: int, default_type: str) -> None:
        self._data, self._start, self._end = data, start, end
        self.headers = headers  # raw values by lower-case name, in the order of the message
        value, self.parameters = read_parameters(self.header("content-type"))
        found = _TYPE.match(value)
        self.type = found[0] if found else default_type
        self.disposition, self.disposition_parameters = read_parameters(self.header("content-disposition"))
        self.parts: list[MailPart] = []
        self.is_cut = False  # whether a closing boundary is missing

    def header(self, name: str) -> str:
        """Return the raw value of the first header of a lower-case name; empty if there is none."""
        values = self.headers.get(name)
        return values[0] if values else ""

    @property
    def transfer_encoding(self) -> str:
        """How the bytes of the part are encoded, in lower case."""
        words = read_parameters(self.header("content-transfer-encoding"))[0].split()
        return words[0].strip("\"'") if words else ""

    @property
    def raw_content(self) -> bytes:
        """The bytes of the part below its headers, as they are in the message."""
        return self._data[self._start : self._end]

    @property
    def content(self) -> bytes:
        """The bytes of the part below its headers, decoded."""
        return decode_transfer(self.raw_content, self.transfer_encoding)

    def walk(self) -> Iterator[MailPart]:
        """Yield the part and all parts below it, in the order of the message."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting += reversed(part.parts)


def parse_mail(data: bytes) -> MailPart:
    """Return a message with all its parts. Raises LimitExceeded."""
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    return _MailParser().parse(data, 0, len(data), level=0)


class _MailParser:
    """Parses one message, and counts its parts."""

    def __init__(self) -> None:
        self._count = 0

    def parse(self, data: bytes, start: int, end: int, *, level: int, default_type: str = "text/plain") -> MailPart:
        """Return the part that begins with the headers at `start`. Raises LimitExceeded."""
        if level > MAX_LEVELS:
            raise LimitExceeded("too_deep")
        if level:
            self._count += 1
        if self._count > MAX_PARTS:
            raise LimitExceeded("too_many_parts")
        headers, body = _read_headers(data, start, end, is_root=level == 0)
        part = MailPart(data, headers, body, end, default_type)
        if part.type.startswith("multipart/"):
            default = "message/rfc822" if part.type == "multipart/digest" else "text/plain"
            boundary = part.parameters.get("boundary", "").rstrip().encode("utf-8", "surrogateescape")
            for first, last in _find_parts(data, body, end, boundary, part):
                part.parts.append(self.parse(data, first, last, level=level + 1, default_type=default))
        elif part.type in _EMBEDDED:
            if part.transfer_encoding in ("base64", "quoted-printable"):  # forbidden, but done
                inner = part.content
                part.parts.append(self.parse(inner, 0, len(inner), level=level + 1))
            else:
                part.parts.append(self.parse(data, body, end, level=level + 1))
        return part


def _find_parts(data: bytes, start: int, end: int, boundary: bytes, part: MailPart) -> Iterator[tuple[int, int]]:
    """Yield where the parts between boundaries lie. A missing or wrong boundary is guessed from the first part."""
    is_any = False
    if boundary:
        for place in _split_at(data, start, end, boundary, part):
            is_any = True
            yield place
    if not is_any:
        guess = _GUESSED_BOUNDARY.search(data, start, min(end, start + _MAX_HEADERS))
        if guess and guess[1] != boundary:
            yield from _split_at(data, start, end, guess[1], part)


def _split_at(data: bytes, start: int, end: int, boundary: bytes, part: MailPart) -> Iterator[tuple[int, int]]:
    mark = b"--" + boundary
    first = -1
    at = data.find(mark, start, end)
    while at >= 0:
        position = at + len(mark)
        line_end = _DELIMITER_END.match(data, position, end)
        if line_end and (at == start or data[at - 1] in b"\r\n"):
            if first >= 0:
                yield first, at
            if line_end[1]:
                return
            first = position = line_end.end()
        at = data.find(mark, position, end)
    if first >= 0:
        part.is_cut = True
        yield first, end


def _read_headers(data: bytes, start: int, end: int, *, is_root: bool) -> tuple[dict[str, list[str]], int]:
    """Return the headers of a part, and where its body begins."""
    if is_root:
        leading = _LEADING_LINES.match(data[:1_000])
        start += leading.end() if leading else 0
    if data[start : start + 1] == b"\n" or data[start : start + 2] == b"\r\n":
        return {}, data.index(b"\n", start) + 1
    blank = _BLANK_LINE.search(data, start, end)
    block_end, body = (blank.start(), blank.end()) if blank else (end, end)
    block = data[start : min(block_end, start + _MAX_HEADERS)].decode("ascii", "surrogateescape")
    lines = block.split("\n")
    if len(block) < block_end - start:
        lines.pop()  # it was cut
    last_header = next((index for index in reversed(range(len(lines))) if _HEADER.match(lines[index])), -1)
    headers: dict[str, list[list[str]]] = {}
    pieces: list[str] = []  # of the value of the header above
    text_start = start
    for index, line in enumerate(lines):
        is_folded = line[:1] in (" ", "\t")
        is_envelope = line.startswith(_ENVELOPE)
        if index > last_header and not is_folded and not is_envelope:
            body = text_start  # no empty line after the headers, or no headers at all
            break
        match = _HEADER.match(line)
        if match:
            pieces = [match[2]]
            headers.setdefault(match[1].lower(), []).append(pieces)
        elif not is_envelope:  # folded; some programs forget to indent the line
            pieces.append(line)
        text_start += len(line) + 1
    return {
        name: [" ".join(map(str.strip, value)).strip() for value in values] for name, values in headers.items()
    }, body
