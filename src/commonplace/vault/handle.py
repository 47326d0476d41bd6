"""A handle on the vault: the space and the view of the book's own upkeep, bound once.

The room `memories` reads pages, history and notes of the whole book with it, on the book's own behalf. What a caller
asked for is read with the caller's view instead, by a call of the vault itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.model.errors import NotFound
from commonplace.model.scope import Space
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import Change, Document, FolderEntry, Stat, Vault


class VaultHandle(NamedTuple):
    """The files of one space, as the book itself sees them."""

    vault: Vault
    space: Space

    def read(self, path: BookPath) -> Document:
        """Return a file. Raises NotFound where there is none, LinkRefused for what is not a file."""
        return self.vault.read(self.space, KEEPER, path)

    def read_text(self, path: BookPath) -> str | None:
        """Return the text of a file, None where there is none. Bytes that are not UTF-8 become lone surrogates."""
        try:
            return self.read(path).data.decode("utf-8", "surrogateescape")
        except NotFound:
            return None

    def stat(self, path: BookPath) -> Stat | None:
        """Return what a file or folder looks like, None where there is none."""
        return self.vault.stat(self.space, KEEPER, path)

    def list_folder(self, path: BookPath) -> list[FolderEntry]:
        """Return what is in a folder, by name. Raises NotFound where there is none."""
        return self.vault.list_folder(self.space, KEEPER, path)

    def apply(self, changes: Sequence[Change]) -> None:
        """Make changes to files durable, in this order."""
        self.vault.apply(self.space, KEEPER, changes)
