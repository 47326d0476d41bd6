"""The revision of every note when it was last written, in files that outlive the index.

    .commonplace/revisions/SCOPE.txt     a line for each write: REVISION SIZE MTIME_NS KEY

A file that has the size and the time of its last line, and other bytes, was damaged by the disk: an edit changes the
time. Every commit appends lines, without waiting for the disk; the daily upkeep adds what was written outside, and
drops what is out of date. A line that a power cut took, or left by half, costs only itself. The unit of work and the
upkeep write these files; reconcile and `doctor` compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from commonplace.vault.paths import PRIVATE, BookPath
from commonplace.vault.port import UNUSABLE, Stat, VaultHandle

REVISIONS = PRIVATE / "revisions"


class RecordedRevision(NamedTuple):
    """What a note's file was when it was last written."""

    revision: str
    size: str
    mtime_ns: str

    def is_damaged(self, revision: str, stat: Stat) -> bool:
        """Return whether a file that looks like this one has other bytes."""
        return (self.size, self.mtime_ns) == (str(stat.size), str(stat.mtime_ns)) and self.revision != revision


def records_path(scope_folder: BookPath) -> BookPath:
    """Return the path of the records of a scope."""
    return REVISIONS / f"{'.'.join(scope_folder.parts[1:])}.txt"


def read_records(files: VaultHandle, scope_folder: BookPath) -> dict[str, RecordedRevision]:
    """Return the last record of each key of a scope; none where they cannot be read."""
    try:
        text = files.read_text(records_path(scope_folder)) or ""
    except UNUSABLE:
        return {}
    lines = (line.split(" ", 3) for line in text.split("\n"))
    return {line[3]: RecordedRevision(*line[:3]) for line in lines if len(line) == 4}


def format_records(records: Iterable[tuple[str, RecordedRevision]]) -> bytes:
    """Return records by key as the lines of a file."""
    return "".join(f"{' '.join(record)} {key}\n" for key, record in records).encode("utf-8", "surrogateescape")
