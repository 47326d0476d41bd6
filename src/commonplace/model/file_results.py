"""The results of the verbs about the book as files: folders, texts, lines that match, and the shell.

Each says whether it is cut off (`truncated`) and how to continue (`next`, in words; `next_offset`, to pass as
`offset`).
"""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from typing import NamedTuple


class FileItem(NamedTuple):
    """A folder, a note (a Markdown file) or any other file."""

    path: str
    kind: str  # folder, note, file
    summary: str
    updated: str
    entries: int  # entries of a note, items in a folder; 0 for any other file
    status: str  # of a note; else ""
    size: int  # in bytes; 0 for a folder


class FileList(NamedTuple):
    """The files in a folder."""

    path: str
    items: tuple[FileItem, ...]
    hidden: int  # superseded and expired notes that are not listed
    truncated: bool
    next: str
    next_offset: int | None


class FileText(NamedTuple):
    """The text of a file, or a part of it."""

    path: str
    text: str
    size: int  # bytes of the whole requested text, even where it is cut off
    entries: int  # requested entries of a note; else 0
    binary: bool  # a binary file has no text
    revision: str
    truncated: bool
    next: str
    next_offset: int | None
    trust: str = "external"  # the least of its entries; of a file that is no note nothing is known
    author: str | None = None  # of all its entries


class LineMatch(NamedTuple):
    """A line that a search matched; trust and author are those of its file."""

    path: str
    line: int
    text: str
    trust: str = "external"
    author: str | None = None


class LineMatches(NamedTuple):
    """The lines that a search matched."""

    matches: tuple[LineMatch, ...]
    files: int  # how many were searched
    truncated: bool
    next: str
    next_offset: int | None
    skipped: tuple[str, ...] = ()  # what could not be searched, and why; the first few


class ShellResult(NamedTuple):
    """The output of a command of the read-only shell."""

    stdout: str
    stderr: str
    exit_code: int
    cwd: str
    truncated: bool
    next: str = ""
