"""Read chats that WhatsApp exported: _chat.txt, or "WhatsApp Chat with Ann.txt", alone or in a zip or folder.

Every phone writes dates as its own region does, and no file says how: `readers/whatsapp_dates.py` finds out from all
dates of a file, so a file is read twice, line by line. The rest is the same in every language: what WhatsApp itself
says has no author, or begins with a left-to-right mark. Messages have no ids. `tree/formats.py` chooses this reader.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from commonplace.model.errors import Unreadable
from commonplace.model.lazy import lazy
from commonplace.tree.readers.clock import SourceClock
from commonplace.tree.readers.lines import base_name, iterate_lines, read_beginning
from commonplace.tree.readers.whatsapp_dates import DateOrder, LineHead, split_head
from commonplace.tree.source import MAX_MESSAGE, FileSet, Person, ReadOptions, SkippedUnit, SourceKind, SourceUnit

NAME = "whatsapp"
KIND: SourceKind = "chat"
_CHAT, _ENDING, _PRODUCT = "_chat", ".txt", "whatsapp"
_NOTES = (".md", ".markdown")
_MOST_LINE = 1_000_000  # bytes; what is longer is no line of a chat
_MOST_AUTHORS = 5_000  # of a file, to be told apart from a name of a chat
_LOOKED_AT, _FIRST_LINES = 5, 20
_AUTHOR = lazy(r"(?:~\s*)?([^:\n\"“”„«»]{1,100}?)\s?:(?:\s|$)")
_PHONE = lazy(r"\+?[\d\s().-]{6,30}", re.ASCII)
_MARK = "\u200e"  # before what WhatsApp, and not the author, wrote
_MARKS = lazy("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FILE = r"[^<>:\n/\\]{1,200}\.\w{1,5}"
_IN_BRACKETS = lazy(rf"<[^<>:\n]{{1,40}}:\s({_FILE})>")  # <attached: 00001.jpg>
_BEFORE_NOTE = lazy(rf"\A(?:{_MARK}({_FILE})|(\S{{1,200}}\.\w{{1,5}}))\s\([^()\n]{{1,60}}\)[^\S\n]*$", re.MULTILINE)
_WITH_PAGES = lazy(rf"\A{_MARK}?({_FILE})()\s•\s{_MARK}[^\n]*")
_ONLY_BRACKETS = lazy(r"<([^<>\n]{1,60})>")  # <Media omitted>
_MOST_NOTE = 30  # characters: "image omitted" in any language; what WhatsApp says of a chat is longer


class ChatNames(NamedTuple):
    """What the names of a chat are: its own, and those of pictures that were not exported."""

    title: str
    notes: frozenset[str]


class ChatMessage(NamedTuple):
    """A message of a chat before its text is taken apart."""

    number: int  # of its line
    head: LineHead
    author: str
    lines: list[str]
    size: int  # characters


def matches(files: FileSet) -> bool:
    """Return whether there are chats of WhatsApp: a folder of notes with one exported chat in it is none."""
    return any(_is_chat(files, name) for name in _find_chats(files)[:_LOOKED_AT])


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages of each chat, and what could not be read."""
    clock = SourceClock(options.timezone)
    for name in _find_chats(files):
        if _is_chat(files, name):
            yield from _read_chat(files, name, clock, options)


def _find_chats(files: FileSet) -> list[str]:
    """Return the files that may be chats: by their names, or the only text that there is."""
    texts = [name for name in files.names if name.lower().endswith(_ENDING)]
    chats = [name for name in texts if base_name(name).lower().startswith(_CHAT)]
    if chats or any(name.lower().endswith(_NOTES) for name in files.names):
        return chats
    return [name for name in texts if _PRODUCT in base_name(name).lower()] or (texts if len(texts) == 1 else [])


def _is_chat(files: FileSet, name: str) -> bool:
    """Return whether a file begins as a chat does: with a date, and soon with a name after one."""
    text = read_beginning(files, name).decode("utf-8-sig", "replace")
    lines = [line for line in text.split("\n", _FIRST_LINES)[:_FIRST_LINES] if line.strip()]
    heads = [split_head(line) for line in lines]
    return bool(heads) and heads[0] is not None and any(head and _AUTHOR.match(head.rest) for head in heads)


def _read_chat(
    files: FileSet, name: str, clock: SourceClock, options: ReadOptions
) -> Iterator[SourceUnit | SkippedUnit]:
    order = DateOrder()
    authors: set[str] = set()
    notes: set[str] = set()  # what WhatsApp wrote in place of a picture
    for _, line in _read_lines(files, name):
        head = split_head(line) if isinstance(line, str) else None
        if head is not None:
            order.add(head)
            author = _AUTHOR.match(head.rest)
            if author is not None and len(authors) + len(notes) < _MOST_AUTHORS:
                authors.add(_read_name(author[1]))
                notes.add(_find_note(head.rest[author.end() :], author[1]))
    order.decide()
    chat = ChatNames(_name_chat(files, name, authors), frozenset(filter(None, notes)))
    for message in _join_lines(files, name, order):
        if isinstance(message, SkippedUnit):
            yield message
            continue
        unit = _make_unit(message, f"{name}, line {message.number}", chat, order.find_time(message.head), clock)
        if unit is not None:
            is_sent = not options.me.isdisjoint((unit.author.name.lower(), unit.author.address))
            yield unit._replace(signals=frozenset({"sent"})) if is_sent else unit


def _read_lines(files: FileSet, name: str) -> Iterator[tuple[int, str | SkippedUnit]]:
    """Yield the lines of a file with their numbers, and what cannot be read."""
    number = 0
    try:
        with files.open(name) as file:
            for number, data in iterate_lines(file.read, _MOST_LINE):
                if data is None:
                    yield number, SkippedUnit(f"{name}, line {number}", "too_large")
                else:
                    text = data.decode("utf-8", "replace").replace("\0", "").rstrip("\r").replace("\r", " ")
                    yield number, text.removeprefix("\ufeff") if number == 1 else text
    except Unreadable:
        yield number + 1, SkippedUnit(f"{name}, line {number + 1}", "unreadable")


def _join_lines(files: FileSet, name: str, order: DateOrder) -> Iterator[ChatMessage | SkippedUnit]:
    """Yield the messages of a file, each with all its lines, without what WhatsApp says of the chat."""
    message: ChatMessage | None = None
    for number, line in _read_lines(files, name):
        if isinstance(line, SkippedUnit):
            yield line
            continue
        head = split_head(line)
        if head is not None and order.is_head(head):
            if message is not None:
                yield message
            author = _AUTHOR.match(head.rest)
            message = None
            if author is not None:
                text = head.rest[author.end() :]
                message = ChatMessage(number, head, _read_name(author[1]), [text], len(text))
        elif message is not None:
            message.lines.append(line)
            message = message._replace(size=message.size + len(line) + 1)
            if message.size > MAX_MESSAGE:
                yield SkippedUnit(f"{name}, line {message.number}", "too_large")
                message = None
    if message is not None:
        yield message


def _make_unit(
    message: ChatMessage, place: str, chat: ChatNames, local: datetime | None, clock: SourceClock
) -> SourceUnit | None:
    text, attachments = _read_text("\n".join(message.lines), message.author, chat.notes)
    if not text and not attachments:
        return None
    occurred, offset = clock.to_utc(local) if local is not None else ("", None)
    day = local.date().isoformat() if local is not None else "-".join(map(str, message.head.numbers))
    phone = "".join(filter(str.isdigit, message.author)) if _PHONE.fullmatch(message.author) else ""
    return SourceUnit(
        kind="chat",
        text=text,
        place=place,
        title=chat.title,
        author=Person(message.author, f"+{phone}" if phone else ""),
        occurred=occurred,
        offset=offset,
        thread=f"{chat.title}/{day}",
        attachments=attachments,
    )


def _read_text(text: str, author: str, notes: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """Return what the author wrote, and the names of files, or what stands for one that was not exported."""
    names = _IN_BRACKETS.findall(text)
    text = _IN_BRACKETS.sub("", text)
    for pattern in (_BEFORE_NOTE, _WITH_PAGES):
        found = pattern.match(text)
        if found is not None:
            names = names or [found[1] or found[2]]
            text = text[found.end() :]
    only = _ONLY_BRACKETS.fullmatch(_strip_marks(text))
    if only is not None:
        names, text = names or [only[1]], ""
    elif text.startswith(_MARK) and "\n" not in text.rstrip():
        note = _find_note(text, author)
        names, text = names or ([note] if note else []), ""
    else:
        written, mark, last = text.rpartition(_MARK)
        if mark and (_ONLY_BRACKETS.fullmatch(last.strip()) or last.strip() in notes):
            text = written  # that it was edited, or a picture below its caption
            names = names or ([last.strip()] if last.strip() in notes else [])
    return _strip_marks(text), tuple(filter(None, map(_strip_marks, names)))


def _find_note(text: str, author: str) -> str:
    """Return what WhatsApp wrote in place of a picture; "" for what an author wrote, and what it says of the chat."""
    if not text.startswith(_MARK) or "\n" in text.strip():
        return ""
    note = _strip_marks(text)
    is_about_chat = len(note) > _MOST_NOTE or note.endswith((".", "。")) or author in note
    return "" if is_about_chat else note


def _name_chat(files: FileSet, name: str, authors: Collection[str]) -> str:
    """Return what a chat is called: its file has the name at the end, behind words in the language of the phone."""
    stem = base_name(name)[: -len(_ENDING)]
    if base_name(name).lower().startswith(_CHAT):
        folder = name.rpartition("/")[0] or files.given.replace("\\", "/").rstrip("/")
        stem = base_name(folder).removesuffix(".zip")
    stem = _read_name(stem)
    found = max((author for author in authors if author and stem.endswith(author)), key=len, default="")
    for mark in (" - ", " with "):
        found = found or (stem.partition(mark)[2].strip() if _PRODUCT in stem.lower() else "")
    return found or stem


def _strip_marks(text: str) -> str:
    """Return a text without the marks of direction that WhatsApp puts around names and notes."""
    return _MARKS.sub("", text).strip()


def _read_name(text: str) -> str:
    return " ".join(_strip_marks(text).split())
