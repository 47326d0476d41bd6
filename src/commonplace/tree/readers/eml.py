"""Read mail from .eml files, which most programs export, and from .emlx files, in which Apple Mail keeps its mail.

`ingest` finds this module through the table of formats. The folder of a file is a label of its message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from commonplace.model.errors import Unreadable
from commonplace.tree.readers.mail_message import MailOrigin, find_source_signals, read_message
from commonplace.tree.source import MAX_MESSAGE, FileSet, ReadOptions, Signal, SkippedUnit, SourceKind, SourceUnit

NAME = "eml"
KIND: SourceKind = "email"

_NOTES = (".md", ".markdown")
_MAX_TRIED = 20  # files whose beginning is looked at
_START = 8_000  # bytes
_HEADER = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:\d{1,12}\s*\n\s*)?(?:>?From [^\n]*\n)?[!-9;-~]{1,200}[ \t]*:")
_LENGTH = re.compile(rb"\A\s*(\d{1,12})[ \t]*\r?\n")  # of the message, in the first line of an .emlx
_APPLE_FLAGS = re.compile(rb"<key>flags</key>\s*<integer>(\d{1,18})</integer>")
_APPLE_DELETED, _APPLE_JUNK = 1 << 1, 1 << 24
_APPLE_FOLDERS = re.compile(r"\.mbox$", re.IGNORECASE)


def matches(files: FileSet) -> bool:
    """Return whether there is an .eml or .emlx file that begins with a header: a mail among notes makes no mailbox."""
    names = [name for name in files.names if _is_named_so(name)]
    if len(names) < sum(name.lower().endswith(_NOTES) for name in files.names):
        return False
    return any(begins_mail(files, name) for name in names[:_MAX_TRIED])


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages of all .eml and .emlx files."""
    of_source = find_source_signals(files.given)
    for name in files.names:
        if not _is_named_so(name):
            continue
        data = read_file(files, name)
        if isinstance(data, SkippedUnit):
            yield data
            continue
        signals: frozenset[Signal] = frozenset()
        if name.lower().endswith(".emlx"):
            data, signals = split_emlx(data)
        origin = MailOrigin(
            place=name,
            me=options.me,
            folders=_find_folders(name),
            signals=of_source | signals,
            file_time=partial(files.modified, name),
            is_whole=not name.lower().endswith(".partial.emlx"),
        )
        yield read_message(data, origin)


def begins_mail(files: FileSet, name: str) -> bool:
    """Return whether a file begins with a header."""
    try:
        with files.open(name) as file:
            return _HEADER.match(file.read(_START)) is not None
    except Unreadable:
        return False


def read_file(files: FileSet, name: str) -> bytes | SkippedUnit:
    """Return the bytes of a message that has a file of its own, or why it cannot be read."""
    try:
        if files.size(name) > MAX_MESSAGE:
            return SkippedUnit(name, "too_large")
        with files.open(name) as file:
            data = file.read(MAX_MESSAGE + 1)  # it may have grown
    except Unreadable:
        return SkippedUnit(name, "unreadable")
    return data.removeprefix(b"\xef\xbb\xbf")


def split_emlx(data: bytes) -> tuple[bytes, frozenset[Signal]]:
    """Return the message in an .emlx file, and what Apple Mail notes of it below."""
    length = _LENGTH.match(data)
    if length is None:
        return data, frozenset()
    end = length.end() + int(length[1])
    found = _APPLE_FLAGS.search(data, end)
    flags = int(found[1]) if found else 0
    signals: set[Signal] = set()
    if flags & _APPLE_DELETED:
        signals.add("trash")
    if flags & _APPLE_JUNK:
        signals.add("spam")
    return data[length.end() : end], frozenset(signals)


def _is_named_so(name: str) -> bool:
    return name.lower().endswith((".eml", ".emlx"))


def _find_folders(name: str) -> tuple[str, ...]:
    """Return the folder of mail that has a file. Apple Mail has folders of its own inside of it."""
    folders = name.split("/")[:-1]
    mailboxes = [_APPLE_FOLDERS.sub("", folder) for folder in folders if _APPLE_FOLDERS.search(folder)]
    folder = "/".join(mailboxes or folders)
    return (folder,) if folder else ()
