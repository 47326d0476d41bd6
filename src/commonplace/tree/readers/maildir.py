"""Read mail from Maildirs: a file for each message, in folders cur and new. Subfolders begin with a dot, or do not.

`ingest` finds this module through the table of formats. What is in tmp was never delivered, and is not read.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from commonplace.tree.readers.eml import begins_mail, read_file
from commonplace.tree.readers.mail_message import MailOrigin, find_source_signals, read_message
from commonplace.tree.source import FileSet, ReadOptions, Signal, SkippedUnit, SourceKind, SourceUnit

NAME = "maildir"
KIND: SourceKind = "email"

_MAX_TRIED = 20  # files whose beginning is looked at
_FLAGS = re.compile(r"[:!;]2,([A-Za-z]*)$")  # Windows allows no colon in a name
_SHIFTED = re.compile("&([A-Za-z0-9+,]*)-")


class MaildirMessage(NamedTuple):
    """What the name of a file in a Maildir says."""

    folder: str  # of mail: "Archive/2026"; empty for the inbox
    flags: str


def matches(files: FileSet) -> bool:
    """Return whether there are mails in a folder cur or new."""
    names = [name for name in files.names if parse_name(name, files.given)][:_MAX_TRIED]
    return any(begins_mail(files, name) for name in names)


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages of a Maildir and its subfolders, in the order of their names."""
    of_source = find_source_signals(files.given)
    for name in files.names:
        message = parse_name(name, files.given)
        if message is None:
            continue
        data = read_file(files, name)
        if isinstance(data, SkippedUnit):
            yield data
            continue
        deleted: set[Signal] = {"trash"} if "T" in message.flags else set()
        origin = MailOrigin(
            place=name,
            me=options.me,
            folders=(message.folder,) if message.folder else (),
            signals=of_source | deleted,
            file_time=partial(files.modified, name),
        )
        yield read_message(data, origin)


def parse_name(name: str, given: str) -> MaildirMessage | None:
    """Return what the path of a message says; None for any other file. `given` is the path of the source."""
    *folders, last = name.split("/")
    if not folders:  # the user named cur itself, or one file in it
        folders = re.split(r"[\\/]", given.rstrip("\\/"))[-2:]
        folders = folders if folders[-1] in ("cur", "new") else folders[:1]
        return None if folders[-1] not in ("cur", "new") or last.startswith(".") else _parse_flags(last, "")
    if folders[-1] not in ("cur", "new") or last.startswith("."):
        return None
    # .Archive.2026 is the subfolder 2026 of Archive.
    names = [
        part for folder in folders[:-1] for part in (folder[1:].split(".") if folder.startswith(".") else [folder])
    ]
    return _parse_flags(last, "/".join(map(_decode_folder, names)))


def _parse_flags(last: str, folder: str) -> MaildirMessage:
    flags = _FLAGS.search(last)
    return MaildirMessage(folder, flags[1] if flags else "")


def _decode_folder(name: str) -> str:
    """Return the name of a folder, which IMAP servers write in their own form of UTF-7: Entw&APw-rfe."""
    return _SHIFTED.sub(_decode_shifted, name)


def _decode_shifted(found: re.Match[str]) -> str:
    if not found[1]:
        return "&"
    data = found[1].replace(",", "/").encode()
    if len(data) % 4 == 1:
        return found[0]
    utf16 = binascii.a2b_base64(data + b"=" * (-len(data) % 4))
    return utf16[: len(utf16) // 2 * 2].decode("utf-16-be", "replace")
