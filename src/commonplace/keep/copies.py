"""Whose an id is that several notes have: somebody copied a file.

It is told from the files alone, so that an index built anew tells the same, and in such a way that writing to the owner
never makes another the owner. The note whose frontmatter says the key that its path gives was not copied there from
another name. Of several such, or none, the one that was written last through the book is the owner: a write to a copy
would have given it an id of its own. Where none was written since, the older file is.
"""

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.index.port import Transaction
from commonplace.model.errors import CommonplaceError
from commonplace.model.scope import ScopeKind
from commonplace.model.space import Space
from commonplace.model.times import is_stamp
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import MEMORIES, BookPath, resolve
from commonplace.vault.port import Vault
from commonplace.vault.view import KEEPER


class Holder(NamedTuple):
    """A note that has an id."""

    path: BookPath
    named: bool  # its frontmatter says the key that its path gives
    written: tuple[str, str]  # when it last was through the book; its newest entry orders those of one second
    mtime_ns: int


def holder(path: BookPath, note: Note, mtime_ns: int) -> Holder:
    depth = 3 if ScopeKind(path.parts[1]).has_id else 2
    key = "/".join(path.parts[depth:]).removesuffix(".md")
    updated, newest = note.meta.updated, note.blocks[-1].entry.id if note.blocks else ""
    return Holder(path, note.meta.key == key, (updated if is_stamp(updated) else "", newest), mtime_ns)


def holders(vault: Vault, space: Space, index: Transaction, ident: str) -> list[Holder]:
    """Every memory that has an id, as its file says now."""
    found = []
    for folder, name in index.by_id(ident):
        path = resolve(folder) / f"{name}.md"
        if not path.is_within(MEMORIES):
            continue
        try:
            document = vault.read(space, KEEPER, path)
        except CommonplaceError:
            continue  # gone, or not to be read: it claims nothing
        note = parse(document.data)
        if note.meta.id == ident:
            found.append(holder(path, note, document.stat.mtime_ns))
    return found


def owner(found: Sequence[Holder]) -> BookPath:
    named = [item for item in found if item.named] or found
    latest = max(item.written for item in named)
    return min((item.mtime_ns, item.path) for item in named if item.written == latest)[1]
