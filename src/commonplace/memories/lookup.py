"""Reading memories through a view: by key, in the nearest scope that has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from commonplace.memories import history
from commonplace.memories.history import named
from commonplace.memories.unit import MemoryStore
from commonplace.model.errors import AmbiguousKey, NotFound
from commonplace.model.ids import is_uuid7
from commonplace.model.memory import Entry, Memory, Meta, Status
from commonplace.model.names import check_key
from commonplace.model.results import Revision
from commonplace.model.scope import Scope
from commonplace.text.notes import parse
from commonplace.vault.paths import KEEPER, BookPath, View, note_path
from commonplace.vault.port import FileKind


def load(keep: MemoryStore, view: View, scope: Scope, folder: BookPath, key: str) -> Memory | None:
    """The memory of a key in one scope, from its file; None when there is none."""
    path = note_path(folder, check_key(key))
    try:
        document = keep.vault.read(keep.space, view, path)
    except NotFound:
        return None
    note = keep.provenance.read(document.data)
    return Memory(
        note.meta, scope, key, str(path), document.revision, tuple(map(named, keep.provenance.entries_of(note)))
    )


def where(keep: MemoryStore, view: View, folders: Mapping[Scope, BookPath], key: str) -> list[Scope]:
    """The scopes that have a key, nearest first."""
    found = []
    for scope, folder in folders.items():
        stat = keep.vault.stat(keep.space, view, note_path(folder, check_key(key)))
        if stat is not None and stat.kind is FileKind.FILE:
            found.append(scope)
    return found


def the_one(keep: MemoryStore, view: View, folders: Mapping[Scope, BookPath], key: str) -> Scope:
    """The scope in which a key is to be changed when the caller named none: there must be one, and only one."""
    found = where(keep, view, folders, key)
    if not found:
        raise NotFound(f"There is no memory {key!a} in your scopes.")
    return only(found, key)


def only(found: Sequence[Scope], key: str) -> Scope:
    if len(found) > 1:
        names = ", ".join(scope.kind.value for scope in found)
        raise AmbiguousKey(f"{key!a} is in several of your scopes: {names}.")
    return found[0]


def revisions(keep: MemoryStore, view: View, scope: Scope, folder: BookPath, key: str) -> list[Revision]:
    """What became of a memory, oldest first: each text that was put aside, each that an entry was added
    to, which stands in the next one, and the one that is there."""
    view.check_read(note_path(folder, check_key(key)))
    found, last, known = list[Revision](), "", frozenset[str]()
    for item in _aside(keep, folder, key):
        entries = _entries(keep, item)
        found += _appended(entries, str(item.path), last, known)
        found.append(Revision(item.revision, history.stamp_of(item), item.who, item.action, str(item.path)))
        last, known = item.id, frozenset(entry.id for entry in entries)
    memory = load(keep, view, scope, folder, key)
    if memory is not None:
        found += _appended(memory.entries, memory.path, last, known)
        author = memory.newest.author if memory.newest else None
        found.append(Revision(memory.revision, memory.meta.updated, author, "current", memory.path))
    return found


def was_superseded(keep: MemoryStore, folder: BookPath, key: str, moment: str) -> bool:
    """Whether a memory was superseded at an earlier moment, by the files: the text that was put aside next says so, or
    the note, if none was. Old texts may have been cleared away, so what superseded it must have been there, too."""
    later = [item.path for item in _aside(keep, folder, key) if history.stamp_of(item) > moment]
    then = _meta(keep, later[0] if later else note_path(folder, key))
    if then is None or then.status is not Status.SUPERSEDED:
        return False
    newer = [_meta(keep, note_path(folder, link.to)) for link in then.links if link.rel == "superseded_by"]
    return not newer or any(meta is None or meta.created <= moment for meta in newer)


def _meta(keep: MemoryStore, path: BookPath) -> Meta | None:
    try:
        return parse(keep.vault.read(keep.space, KEEPER, path).data).meta
    except NotFound:
        return None


def _aside(keep: MemoryStore, folder: BookPath, key: str) -> list[history.OldVersion]:
    """All that was put aside of a memory, oldest first."""
    places = (history.HISTORY, history.TRASH)
    aside = [item for place in places for item in history.list_past(keep.vault, keep.space, place, folder, key)]
    return sorted(aside, key=history.in_order)


def _entries(keep: MemoryStore, item: history.OldVersion) -> Sequence[Entry]:
    try:
        return parse(keep.vault.read(keep.space, KEEPER, item.path).data).entries
    except NotFound:
        return ()


def _appended(entries: Sequence[Entry], path: str, last: str, known: Set[str]) -> list[Revision]:
    """The texts that entries were added to since the `last` one was put aside. Nobody kept them: they have no revision.

    What was put in place of the last one has the ids of before it was put aside; what was added later has greater ones.
    """
    new = [entry for entry in entries if entry.id > last and entry.id not in known] if last else entries[1:]
    return [Revision("", entry.time, entry.author, "appended", path) for entry in new if is_uuid7(entry.id)]
