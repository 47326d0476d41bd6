"""Find what else is in a folder that was ingested: files of other formats, which have to be named by themselves.

A folder is read in one format. `ingest` names the files in it that another reader would read, so that nothing is left
out in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO

from commonplace.tree.formats import FORMATS, load_reader
from commonplace.tree.source import FileSet, SkippedUnit

_MOST_TRIED = 2_000  # files that are looked at
_DOCUMENTS = (".md", ".markdown", ".pdf", ".docx")  # among mail; text and HTML are also what mail programs keep there
_ZIP = ".zip"


class _OneFile:
    """One of the files of a source, as if it had been named."""

    def __init__(self, files: FileSet, name: str) -> None:
        self._files, self.names = files, [name]
        self.given = f"{files.given}/{name}"

    def size(self, name: str) -> int:
        """Return how many bytes the file has."""
        return self._files.size(name)

    def modified(self, name: str) -> str:
        """Return when the file was changed last."""
        return self._files.modified(name)

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open the file for reading."""
        return self._files.open(name)


def find_other_sources(files: FileSet, names: Sequence[str], taken: Collection[str], own: str) -> Iterator[SkippedUnit]:
    """Yield those of the names that are of another format. `taken` are the files that had something in the format
    `own`, in which the folder was read."""
    readers = [load_reader(name) for name in FORMATS if name not in (own, "documents")]
    endings = (*_DOCUMENTS, _ZIP) if FORMATS[own].kind == "email" else (_ZIP,) if own == "documents" else ()
    for name in [name for name in names if name not in taken and not _is_hidden(name)][:_MOST_TRIED]:
        one = _OneFile(files, name)
        if name.lower().endswith(endings or ("\0",)) or any(reader.matches(one) for reader in readers):
            yield SkippedUnit(name, "other_format")


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))
