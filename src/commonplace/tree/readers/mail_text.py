"""The text of a mail: which of its parts are text, what they say, and what the attachments are called.

`mail_message` calls `read_body`. Of alternatives the plain text is taken, unless it says less than the HTML does.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.tree.readers.html_text import html_to_text
from commonplace.tree.readers.mail_dates import read_mail_date
from commonplace.tree.readers.mail_encodings import decode_bytes
from commonplace.tree.readers.mail_headers import clean_line, decode_header, read_people
from commonplace.tree.readers.mail_parts import MailPart

_PLAIN = frozenset({"text/plain", "text/markdown", "text/x-markdown", "text/enriched", "text/x-patch", "text/x-diff"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_MAX_STUB = 400  # characters: a plain text that only says that the mail is in HTML is short
_STUB_RATIO = 3  # and the HTML has so many times its words
_MAX_FLOWED = 1_000_000  # characters of a text whose lines are joined: a longer one was not written by a person
_FORWARD = "---------- Forwarded message ---------"
_HTML_START = re.compile(
    r"\s{0,100}(?:<!--.{0,200}?-->\s{0,100})?<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_HTML_CHARSET = re.compile(rb"<meta[^<>]{1,200}?charset\s{0,9}=[\s\"']{0,9}([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_LINE_ENDS = re.compile(r"\r\n?")
_UUENCODED = re.compile(r"^begin [0-7]{3,4} (\S.{0,250})\n(?:[!-`][ -`]{0,90}\n)*(?:[ `]?\n)?end[ \t]*$", re.MULTILINE)
_SOFT_BREAK = re.compile(rb"=\r?\n")
_NOT_QUOTED = re.compile(rb"=(?![0-9A-F]{2}|\r?\n|\Z)")
_SIGNATURE = "-- "


class MailBody(NamedTuple):
    """What is below the headers of a mail."""

    text: str
    attachments: tuple[str, ...]  # their names


def read_body(mail: MailPart) -> MailBody:
    """Return the text and the names of the attachments of a mail."""
    names = [name for part in mail.walk() if (name := _file_name(part))]
    text, encoded = _take_uuencoded(_read_part(mail, is_root=True))
    return MailBody(text, tuple(dict.fromkeys(names + encoded)))


def _read_part(part: MailPart, *, is_root: bool = False) -> str:
    """Return the text of a part and of those in it; empty if it is an attachment."""
    if part.parts:
        if part.type == "multipart/alternative":
            return _choose_alternative(part.parts)
        if part.type == "multipart/related":
            return next(filter(None, map(_read_part, part.parts)), "")
        if not part.type.startswith("multipart/"):
            return _read_forward(part.parts[0])
        return "\n\n".join(filter(None, map(_read_part, part.parts)))
    if part.disposition == "attachment" and not is_root:
        return ""
    if part.type in _HTML:
        return _html_text(part)
    # A mail of many parts that has none is text, and so is one of an unknown type without a name.
    if part.type in _PLAIN or part.type.startswith("multipart/") or (is_root and part.type.startswith("text/")):
        return _plain_text(part)
    return ""


def _choose_alternative(parts: Sequence[MailPart]) -> str:
    """Return the text of the best of several parts that say the same."""
    plain = next((part for part in parts if part.type in _PLAIN), None)
    text = _read_part(plain) if plain else ""
    if len(text) > _MAX_STUB:
        return text
    others = (_read_part(part) for part in reversed(parts) if part is not plain)
    rich = next(filter(None, others), "")
    return rich if len(rich.split()) > _STUB_RATIO * len(text.split()) else text


def _read_forward(mail: MailPart) -> str:
    """Return the text of a mail that is a part of another."""
    date = read_mail_date(decode_header(mail.header("date")))
    people = read_people(mail.header("from"), is_one=True)
    lines = [
        ("From", " ".join(filter(None, (people[0].name, f"<{people[0].address}>"))) if people else ""),
        ("Date", date.timestamp if date else ""),
        ("Subject", decode_header(mail.header("subject"))),
    ]
    head = "\n".join([_FORWARD, *(f"{name}: {value}" for name, value in lines if value)])
    return f"{head}\n\n{_read_part(mail, is_root=True)}".strip()


def _plain_text(part: MailPart) -> str:
    data = part.content
    if part.transfer_encoding not in ("base64", "quoted-printable") and _is_quoted_printable(data):
        data = binascii.a2b_qp(data)
    text = _clean_text(decode_bytes(data, part.parameters.get("charset", "")))
    if _HTML_START.match(text):
        return html_to_text(text).strip()
    if part.parameters.get("format", "").lower() == "flowed" and len(text) < _MAX_FLOWED:
        text = join_flowed(text, is_space_deleted=part.parameters.get("delsp", "").lower() == "yes")
    return text.rstrip().lstrip("\n")


def _html_text(part: MailPart) -> str:
    data = part.content
    charset = part.parameters.get("charset", "")
    if not charset:
        found = _HTML_CHARSET.search(data[:2_000])
        charset = found[1].decode() if found else ""
    return _clean_text(html_to_text(_clean_text(decode_bytes(data, charset)))).strip()


def _clean_text(text: str) -> str:
    """Return a text with `\\n` between lines, without NUL."""
    text = text.removeprefix("\ufeff").replace("\x00", "")
    return _LINE_ENDS.sub("\n", text) if "\r" in text else text


def _is_quoted_printable(data: bytes) -> bool:
    """Return whether a text is quoted-printable though nothing says so: each `=` in it is one of that encoding."""
    return b"=" in data and bool(_SOFT_BREAK.search(data)) and not _NOT_QUOTED.search(data)


def _take_uuencoded(text: str) -> tuple[str, list[str]]:
    """Return a text without the files that are written into it, as it was done before MIME, and their names."""
    if "begin " not in text:
        return text, []
    names = [clean_line(name) for name in _UUENCODED.findall(text)]
    return _UUENCODED.sub("", text).strip("\n"), names


def join_flowed(text: str, *, is_space_deleted: bool) -> str:
    """Return a text of format=flowed with each of its paragraphs in one line, behind its quote marks."""
    lines: list[str] = []
    paragraph: list[str] = []  # pieces of a paragraph that goes on in the next line
    depth = -1  # of its quotes
    for line in text.split("\n"):
        content = line.lstrip(">")
        level = len(line) - len(content)
        content = content.removeprefix(" ")  # stuffed in, so that the line cannot begin with a mark
        if paragraph and (level != depth or content == _SIGNATURE):
            lines.append(_quote("".join(paragraph).rstrip(), depth))
            paragraph = []
        depth = level
        is_flowed = content.endswith(" ") and content != _SIGNATURE
        paragraph.append(content[:-1] if is_flowed and is_space_deleted else content)
        if not is_flowed:
            lines.append(_quote("".join(paragraph), depth))
            paragraph = []
    if paragraph:
        lines.append(_quote("".join(paragraph).rstrip(), depth))
    return "\n".join(lines)


def _quote(line: str, depth: int) -> str:
    return f"{'>' * depth} {line}" if depth else line


def _file_name(part: MailPart) -> str:
    """Return the name of the file that a part is; empty if it has none."""
    name = part.disposition_parameters.get("filename") or part.parameters.get("name") or ""
    return decode_header(name).replace("\\", "/").rpartition("/")[2].strip()
