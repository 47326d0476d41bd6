"""What a memory that moves, or gets another key, means for the links of others: they follow it.

    KEY                              a memory of the same scope
    SCOPE/KEY                        of another scope; of one with an id, the reader's own
    /memories/SCOPE/FOLDER/KEY.md    the file, where the reader's own scope is another one

The verbs `move` and `rename` make a Relocation. It writes anew the links that lead to the memory, and the wikilinks in
entries that were stored through this book. Text that was written into the file by hand, or came from outside, stays as
it is: the verbs name those memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from commonplace.memories.history import LINKED
from commonplace.memories.lifecycle import keep_history, own_meta
from commonplace.memories.rows import key_of, name_link_target
from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import ScopeKind
from commonplace.text.notes import Note, find_wikilinks, replace_wikilinks
from commonplace.vault.paths import MEMORIES, BookPath, note_path, resolve
from commonplace.vault.port import VaultHandle
from commonplace.vault.scope_pages import scope_folder_above

Folders = Mapping[str, BookPath]
"""The folders of a reader's own scopes, by kind."""


def find_target(folder: BookPath, to: str, own: Folders) -> BookPath | None:
    """Return the path of the note that a link in a memory of a scope leads to; None where that depends on the reader,
    or it can be no memory."""
    kind, _, key = name_link_target(folder.parts[1], to).partition("/")
    place = folder if kind == folder.parts[1] else own.get(kind)
    try:
        if to.startswith("/"):
            return resolve(to)
        if not ScopeKind(kind).has_id:
            place = MEMORIES / kind
        return note_path(place, key) if place is not None else None
    except CommonplaceError:
        return None


def name_target(folder: BookPath, path: BookPath, own: Folders) -> str:
    """Return how a memory of a scope names a note."""
    place = scope_folder_above(path)
    kind, key = place.parts[1], key_of(place, path)
    if place == folder:
        return key if name_link_target(kind, key) != key else f"{kind}/{key}"
    is_named_by_kind = kind != folder.parts[1] and own.get(kind) == place
    return f"{kind}/{key}" if is_named_by_kind or not ScopeKind(kind).has_id else str(path)


class Relocation(NamedTuple):
    """A memory that gets another path, and the mover's scopes, for which the links in those are meant."""

    files: VaultHandle
    old: BookPath
    new: BookPath
    own: Folders

    def own_of(self, folder: BookPath) -> Folders:
        """Return the scopes that links in a memory of a scope are read with: none where it is not the mover's."""
        return self.own if folder in self.own.values() else {}

    def follow(self, folder: BookPath, to: str) -> str:
        """Return a link of a memory in a scope, as it is to be now."""
        own = self.own_of(folder)
        return name_target(folder, self.new, own) if find_target(folder, to, own) == self.old else to

    def carry(self, to: str) -> str:
        """Return a link of the memory itself, as it is to be in its new place."""
        before, after = scope_folder_above(self.old), scope_folder_above(self.new)
        path = find_target(before, to, self.own_of(before))
        if path is None or (before == after and path != self.old):
            return to
        return name_target(after, self.new if path == self.old else path, self.own_of(after))

    def follow_wikilink(self, folder: BookPath, to: str) -> str:
        """Return the target of a wikilink of a memory in a scope, as it is to be now.

        A key alone may be that of a memory in any scope of the mover, if the memory's own scope has none.
        """
        old, new = (key_of(scope_folder_above(path), path) for path in (self.old, self.new))
        if to == old and self._means_old(folder, old):
            is_free = old == new or self.files.stat(note_path(folder, new)) is None
            return new if is_free else self._name(folder)
        is_named = to != old and not to.startswith("/") and find_target(folder, to, self.own_of(folder)) == self.old
        return self._name(folder) if is_named else to

    def _means_old(self, folder: BookPath, key: str) -> bool:
        place = scope_folder_above(self.old)
        if folder == place:
            return True
        own = {*self.own.values()}
        others = [other for other in own if other != place and self.files.stat(note_path(other, key)) is not None]
        return folder in own and place in own and not others

    def _name(self, folder: BookPath) -> str:
        return name_target(folder, self.new, self.own_of(folder)).removeprefix("/").removesuffix(".md")

    def is_in(self, folder: BookPath, note: Note) -> bool:
        """Return whether a link or a wikilink in a note of a scope has to follow the memory."""
        return any(self.follow(folder, link.to) != link.to for link in note.meta.links) or self.is_in_text(folder, note)

    def is_in_text(self, folder: BookPath, note: Note) -> bool:
        """Return whether a wikilink in a note of a scope has to follow the memory."""
        words = [to for entry in note.entries if "[[" in entry.text for to in find_wikilinks(entry.text)]
        return any(self.follow_wikilink(folder, to) != to for to in words)


def redirect_links(unit: Unit, relocation: Relocation, key: str, who: str | None) -> None:
    """Let the links of a memory, and the wikilinks in what was stored there through this book, follow another one."""
    found, provenance = unit.get(key), unit.memories.provenance

    def reword(text: str) -> str:
        return replace_wikilinks(text, lambda to: relocation.follow_wikilink(unit.folder, to))

    def reword_entry(entry: Entry) -> str:
        is_own = entry.trust is not Trust.EXTERNAL and provenance.is_signed(entry)
        return reword(entry.text) if is_own else entry.text

    note, links = found.note.with_texts(reword_entry), found.note.meta.links
    followed = tuple(link._replace(to=relocation.follow(unit.folder, link.to)) for link in links)
    if followed == links and note.blocks == found.note.blocks:
        return
    time = unit.memories.clock()
    meta = own_meta(unit, found, key, time)
    meta = meta._replace(links=followed, summary=reword(meta.summary), updated=time)
    keep_history(unit, key, LINKED, who, time)
    unit.put(key, note.with_meta(meta))
