"""What the brief and prompt-time recall stand on: a book's files, its index if it can be read, and the caller's scopes.

A hook makes one with no more than it needs, a Book makes one from its desk; what comes of it is the same.
"""

from collections.abc import Mapping
from typing import NamedTuple

from commonplace.index.port import Readable
from commonplace.model.errors import NotFound
from commonplace.model.scope import Scope
from commonplace.model.space import Space
from commonplace.vault.paths import BookPath, resolve
from commonplace.vault.port import Document, Vault
from commonplace.vault.view import View

LARGEST = 2_000_000  # bytes of a file that is read for an agent that waits


class Ground(NamedTuple):
    vault: Vault
    space: Space
    view: View
    reader: Readable | None  # the index; None: it cannot be read, and the files must do
    folders: Mapping[Scope, BookPath]  # the caller's scopes, nearest first
    unproved: str | None = None  # the project that the caller's folder claims to be and could not prove to be

    def read(self, path: BookPath) -> Document:
        """A file of the book; NotFound when it is gone, or so large that nobody can wait for it."""
        stat = self.vault.stat(self.space, self.view, path)
        if stat is None or stat.size > LARGEST:
            raise NotFound(f"{path} is not there, or too large to be told of.")
        return self.vault.read(self.space, self.view, path)

    def place_of(self, folder: str, name: str) -> tuple[Scope, str] | None:
        """The scope and the key of a note; None when it is in none of the caller's scopes."""
        place = resolve(folder)
        for scope, own in self.folders.items():
            if place.is_within(own):
                return scope, "/".join([*place.parts[len(own.parts) :], name])
        return None
