"""The formats of sources, and the choice of the reader for what a user named. The verb `ingest` calls `find_reader`.

This is the one table of readers; a reader is loaded when its format is tried. A format that leaves no doubt is tried
before one that takes much: documents come last.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, cast

from commonplace.model.errors import UnknownFormat
from commonplace.tree.source import FileSet, SourceKind, SourceReader


class SourceFormat(NamedTuple):
    """A format of sources."""

    module: str  # of its reader, below `readers`
    kind: SourceKind
    is_read_by_file: bool = (
        False  # whether each file can be read without the others, so that known ones can be left out
    )


FORMATS: Mapping[str, SourceFormat] = {
    "claude-code": SourceFormat("claude_code", "chat", is_read_by_file=True),
    "codex": SourceFormat("codex", "chat", is_read_by_file=True),
    "mbox": SourceFormat("mbox", "email", is_read_by_file=True),
    "maildir": SourceFormat("maildir", "email", is_read_by_file=True),
    "eml": SourceFormat("eml", "email", is_read_by_file=True),
    "chatgpt": SourceFormat("chatgpt", "chat"),
    "claude": SourceFormat("claude_export", "chat"),
    "slack": SourceFormat("slack", "chat"),
    "whatsapp": SourceFormat("whatsapp", "chat"),
    "documents": SourceFormat("documents", "document", is_read_by_file=True),
}
_KINDS = frozenset(source_format.kind for source_format in FORMATS.values())
_HINT = f"The kinds are {', '.join(sorted(_KINDS))}; the formats are {', '.join(FORMATS)}."


def load_reader(name: str) -> SourceReader:
    """Return the reader of a format."""
    return cast("SourceReader", import_module(f"commonplace.tree.readers.{FORMATS[name].module}"))


def find_reader(files: FileSet, wanted: str | None) -> SourceReader:
    """Return the reader of the format that is wanted, else the first one that the files look like.

    `wanted` is a format, or a kind, which leaves the choice among its formats. Raises UnknownFormat, also where the
    files do not look like the wanted format: nothing would be read, and an empty source would be made of it.
    """
    if wanted is not None and wanted not in FORMATS and wanted not in _KINDS:
        raise UnknownFormat(f"{wanted[:40]!a} is neither a kind nor a format of sources.", hint=_HINT)
    if not files.names:
        raise UnknownFormat(f"There are no files to read in {files.given!a}.", hint="Check the path.")
    for name, source_format in FORMATS.items():
        if wanted in (None, name, source_format.kind):
            reader = load_reader(name)
            if reader.matches(files):
                return reader
    if wanted in FORMATS:
        raise UnknownFormat(f"{files.given!a} does not look like {wanted}.", hint=f"Leave --kind out. {_HINT}")
    looked_for = f"of the kind {wanted}" if wanted else "that can be ingested"
    raise UnknownFormat(f"{files.given!a} is in no format {looked_for}.", hint=f"Name one with --kind. {_HINT}")


def is_read_by_file(reader: SourceReader) -> bool:
    """Return whether a reader reads each file without the others: then those that have not changed can be left out."""
    return FORMATS[reader.NAME].is_read_by_file
