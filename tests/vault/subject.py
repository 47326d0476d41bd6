"""What a conformance test of the vault works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.model.scope import LOCAL
from commonplace.vault.paths import EVERYTHING, BookPath, View
from commonplace.vault.port import Change, Vault


@dataclass(frozen=True)
class Subject:
    vault: Vault
    raw: Callable[[], dict[str, bytes | None]]  # every path that is there: a file's bytes, None for a folder

    def read(self, path: BookPath, view: View = EVERYTHING) -> bytes:
        return self.vault.read(LOCAL, view, path).data

    def apply(self, *changes: Change, view: View = EVERYTHING) -> None:
        self.vault.apply(LOCAL, view, changes)

    def names(self, path: BookPath, view: View = EVERYTHING) -> list[str]:
        return [item.name for item in self.vault.list_folder(LOCAL, view, path)]
