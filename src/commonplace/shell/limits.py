"""How much one command or one answer may take: bytes read, bytes said, things looked at.

Every command has an end, whatever is in the book and whatever the caller asks. What was cut off says so, and how to go
on.
"""

from __future__ import annotations

MAX_READ_BYTES = 65_536  # one answer of read_memory, and what a command of the shell prints
MAX_ERROR_BYTES = 8_192  # what a command says went wrong
MAX_SEARCH_RESULTS = 50  # matches of one search, over all its paths together
MAX_LISTED = 200  # items of one listing
MAX_LINE = 400  # characters of one line that a search found
MAX_FILE_BYTES = 16 << 20  # a larger file is not opened here at all
MAX_BYTES_LOOKED_AT = 64 << 20  # all files of one command together
MAX_ENTRIES = 50_000  # names that one walk meets
MAX_COMMAND = 10_000  # characters of one command line
MAX_PATTERN = 2_000  # characters of one pattern
PAGE_OF_BINARY = 8_000  # the first bytes, in which a binary is recognised


class Enough(Exception):
    """A command has used up what it may take. `said` tells the caller how to go on."""

    def __init__(self, said: str) -> None:
        self.said = said
        super().__init__(said)


class Budget:
    """What is left for one command."""

    def __init__(self) -> None:
        self._entries, self._bytes = MAX_ENTRIES, MAX_BYTES_LOOKED_AT

    def met(self, names: int) -> None:
        self._entries -= names
        if self._entries < 0:
            raise Enough(f"Stopped after {MAX_ENTRIES:,} files and folders: name a folder further down.")

    def read(self, size: int) -> None:
        self._bytes -= size
        if self._bytes < 0:
            raise Enough(f"Stopped after {MAX_BYTES_LOOKED_AT:,} bytes: name fewer files, or a folder further down.")


# What well-known files that are no text start with.
_SIGNATURES = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf",
    b"\x7fELF", b"MZ\x90", b"SQLite format 3", b"\x28\xb5\x2f\xfd", b"OggS", b"ID3", b"RIFF", b"wOFF",
    b"\xca\xfe\xba\xbe",
)  # fmt: skip


def is_binary(data: bytes) -> bool:
    """Whether a file is no text, as its first bytes tell: a NUL among them, or the signature of a known format."""
    return data.startswith(_SIGNATURES) or b"\0" in data[:PAGE_OF_BINARY]
