"""What the brief and recall at the prompt read from: a book's files, its index if readable, and the caller's scopes.

A hook builds a `BriefSources` with no more than it needs, a `Book` builds one from what it has open; both give the same
answer. A memory that is shown is a `BriefMemory`.
"""

from collections.abc import Mapping
from typing import NamedTuple

from commonplace.index.port import Readable, Row
from commonplace.model.errors import LinkRefused, NotFound
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import Scope, Space
from commonplace.vault.paths import BookPath, View, resolve
from commonplace.vault.port import Document, Vault

MAX_FILE_BYTES = 2_000_000  # larger files are not read while an agent waits
ACTIVE = "active"


class BriefMemory(NamedTuple):
    """A memory to show to an agent: its newest entry, and where that is stored."""

    scope: Scope
    key: str
    path: str
    id: str
    revision: str
    summary: str
    is_pinned: bool
    updated: str
    entry: Entry
    has_more: bool  # it has earlier entries

    @classmethod
    def from_row(
        cls, scope: Scope, key: str, path: BookPath, row: Row, entry: Entry, *, has_more: bool, is_mixed: bool
    ) -> "BriefMemory":
        """Return the memory of an index row; `is_mixed`: some of it is external, and so perhaps its summary."""
        summary = "" if is_mixed else row.summary
        return cls(scope, key, str(path), row.id, row.revision, summary, row.pinned, row.updated, entry, has_more)


class BriefSources(NamedTuple):
    """The files, index and scopes that one caller's brief is built from."""

    vault: Vault
    space: Space
    view: View
    index_reader: Readable | None  # None: it cannot be read, so only the files are used
    folders: Mapping[Scope, BookPath]  # the caller's scopes, nearest first
    unproved_project: str | None = None  # what the caller's folder claims to be, without proof

    def read(self, path: BookPath) -> Document:
        """Return a file of the book. Raise NotFound if it is missing, or too large to read while an agent waits."""
        stat = self.vault.stat(self.space, self.view, path)
        if stat is None or stat.size > MAX_FILE_BYTES:
            raise NotFound(f"{path} is missing, or too large to show.")
        return self.vault.read(self.space, self.view, path)

    def find_key(self, folder: str, name: str) -> tuple[Scope, str] | None:
        """Return the scope and the key of a note; None if it is in none of the caller's scopes."""
        path = resolve(folder)
        for scope, own in self.folders.items():
            if path.is_within(own):
                return scope, "/".join([*path.parts[len(own.parts) :], name])
        return None

    def read_memory(self, scope: Scope, key: str, path: BookPath) -> BriefMemory | None:
        """Return a memory as its file is now; None if it is missing, inactive, too large, or entirely external."""
        from commonplace.memories.provenance import Provenance  # noqa: PLC0415 - slow to load, and most briefs need no file
        from commonplace.memories.rows import row_of  # noqa: PLC0415 - the same

        try:
            document = self.read(path)
        except (NotFound, LinkRefused):
            return None
        provenance = Provenance(self.vault, self.space)
        note = provenance.read(document.data)
        row = row_of(path, note, document.revision, document.stat)
        entries = [entry for entry in provenance.entries_of(note) if entry.trust is not Trust.EXTERNAL]
        if not entries or row.status != ACTIVE:
            return None
        is_mixed = len(entries) < len(note.entries)
        return BriefMemory.from_row(scope, key, path, row, entries[-1], has_more=len(entries) > 1, is_mixed=is_mixed)
