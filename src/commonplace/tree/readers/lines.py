"""Read the beginning of a file of a source, and its lines, however long they are.

The readers of chats and transcripts look at beginnings to tell whether a file is theirs, and go through the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from commonplace.model.errors import Unreadable
from commonplace.tree.source import FileSet

BEGINNING = 65_536  # bytes
_STEP = 262_144


class SourceLine(NamedTuple):
    """A line of a file, without its end; None if it is longer than was allowed."""

    number: int  # from 1
    data: bytes | None


def base_name(name: str) -> str:
    """Return the last part of the path of a file."""
    return name.rpartition("/")[2]


def read_beginning(files: FileSet, name: str, size: int = BEGINNING) -> bytes:
    """Return the first bytes of a file; nothing if it cannot be read."""
    try:
        with files.open(name) as file:
            return file.read(size)
    except Unreadable:
        return b""


def spread(names: Sequence[str], most: int) -> Sequence[str]:
    """Return at most so many of some names, from all over: the first ones may all be alike."""
    step = max(1, -(-len(names) // most))
    return names[::step]


def iterate_lines(read: Callable[[int], bytes], limit: int) -> Iterator[SourceLine]:
    """Yield the lines of what `read` gives piece by piece. A line longer than `limit` is never held as a whole."""
    number = 1
    held: list[bytes] = []
    size = 0
    while data := read(_STEP):
        pieces = data.split(b"\n")
        for piece in pieces[:-1]:
            yield SourceLine(number, b"".join((*held, piece)) if size + len(piece) <= limit else None)
            number += 1
            held, size = [], 0
        size += len(pieces[-1])
        if size <= limit:
            held.append(pieces[-1])
        else:
            held = []
    if size:
        yield SourceLine(number, b"".join(held) if size <= limit else None)
