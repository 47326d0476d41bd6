"""What the reading functions answer: the book as folders, files and lines, as one caller's view shows them.

Each says whether it was cut off (`truncated`) and how to go on (`next`, in words; `next_offset`, to be passed as
`offset`).
"""

from typing import NamedTuple


class FileItem(NamedTuple):
    """A folder, a note (a Markdown file) or any other file."""

    path: str
    kind: str  # folder, note, file
    summary: str
    updated: str
    entries: int  # entries of a note, items in a folder; 0 for any other file
    status: str  # of a note; "" for what has none
    size: int  # in bytes; 0 for a folder


class FileList(NamedTuple):
    path: str
    items: tuple[FileItem, ...]
    hidden: int  # superseded and expired notes that were left out
    truncated: bool
    next: str
    next_offset: int | None


class FileText(NamedTuple):
    """A file's text, or a part of it."""

    path: str
    text: str
    size: int  # bytes of all the text that was asked for, whether or not it is here
    entries: int  # entries that were asked for, of a note; else 0
    binary: bool  # then there is no text
    revision: str
    truncated: bool
    next: str
    next_offset: int | None


class FoundLine(NamedTuple):
    path: str
    line: int
    text: str


class FoundLines(NamedTuple):
    matches: tuple[FoundLine, ...]
    files: int  # how many were searched
    truncated: bool
    next: str
    next_offset: int | None


class ShellAnswer(NamedTuple):
    stdout: str
    stderr: str
    exit_code: int
    cwd: str
    truncated: bool
    next: str = ""
