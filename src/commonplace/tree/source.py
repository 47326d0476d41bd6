"""What the readers of sources yield: one value for each message or section, before anything is cleaned or joined.

A reader streams: it holds one message at a time, however large the source is. It never raises for a broken message:
it yields a `SkippedUnit` that says where and why, and goes on. It raises `SourceRefused` or the like only for a source
that cannot be read at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, Literal, NamedTuple, Protocol

SourceKind = Literal["email", "chat", "document"]
Signal = Literal["bulk", "bot", "spam", "trash", "sent"]
"""What the source itself says of a message: from a mailing list or a machine, in Spam or Trash, sent by the user."""
SkipReason = Literal[
    "unreadable",
    "too_large",
    "too_many_parts",
    "too_deep",
    "empty",
    "bad_zip",
    "unknown_format",
    "other_format",
    "extra_missing",
    "link",
    "not_a_file",
]

MAX_MESSAGE = 64_000_000  # bytes
MAX_PARTS = 1_000  # of one message
MAX_LEVELS = 100  # of nested parts
MAX_MEMBERS = 100_000  # of a zip
MAX_RATIO = 200  # of the size of a zip member to its compressed size


class Person(NamedTuple):
    """A name as the source writes it, and what identifies its owner there: an address in lower case, or a handle."""

    name: str = ""
    address: str = ""


class SourceUnit(NamedTuple):
    """One message of mail or chat, or one section of a document, as a reader found it.

    The text is decoded, with `\\n` between lines and without NUL; nothing is cut from it yet.
    """

    kind: SourceKind
    text: str
    place: str  # where in the source, for reports: "message 12 at byte 40321", "general/2026-11-01.json, message 3"
    native_id: str = ""  # what identifies it in every export: "mail:<id@host>", "slack:TEAM/CHANNEL/TS"
    title: str = ""  # subject, heading, or the name of the channel
    author: Person = Person()
    recipients: tuple[Person, ...] = ()
    occurred: str = ""  # UTC, with Z; empty if unknown
    offset: int | None = None  # minutes of the sender's clock east of UTC
    thread: str = ""  # the conversation or document that it belongs to, where the source says so; mail says `parents`
    parents: tuple[str, ...] = ()  # native ids of the messages it answers, oldest first
    labels: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()  # their names
    signals: frozenset[Signal] = frozenset()
    is_whole: bool = True  # False if the source cut it


class SkippedUnit(NamedTuple):
    """A part of a source that could not be read."""

    place: str
    reason: SkipReason


class ReadOptions(NamedTuple):
    """What the user said about a source."""

    me: frozenset[str] = frozenset()  # their addresses and names there, in lower case
    timezone: str = ""  # of times without one, as "Europe/Berlin"; empty: this machine's


class FileSet(Protocol):
    """The files of what the user named: of a folder, of a zip, or one file alone. None of them is ever changed."""

    @property
    def given(self) -> str:
        """The path that the user named."""

    @property
    def names(self) -> Sequence[str]:
        """The paths of the files in it, with `/`, sorted; of one file alone, its name."""

    def size(self, name: str) -> int:
        """Return how many bytes a file has, unpacked."""

    def modified(self, name: str) -> str:
        """Return when a file was changed last, as a timestamp; "" if that is not known."""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for reading. Raises Unreadable for one that cannot be read, or that was replaced meanwhile."""


class SourceReader(Protocol):
    """A module below `readers` that reads one format."""

    NAME: str  # "mbox", "slack"
    KIND: SourceKind

    @staticmethod
    def matches(files: FileSet) -> bool:
        """Return whether the files look like this format. It reads the beginnings of a few at most."""

    @staticmethod
    def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
        """Yield the messages or sections, in the order of the source, and what could not be read."""
