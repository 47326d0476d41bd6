"""Reading memories through a view: by key, in the nearest scope that has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from commonplace.memories import history
from commonplace.memories.history import named
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import AmbiguousKey, NotFound
from commonplace.model.ids import is_uuid7
from commonplace.model.memory import Entry, Memory, Meta, Status
from commonplace.model.names import check_key
from commonplace.model.results import Revision
from commonplace.model.scope import Scope
from commonplace.text.notes import parse
from commonplace.vault.paths import BookPath, View, note_path
from commonplace.vault.port import FileKind


def load(store: MemoryStore, view: View, scope: Scope, folder: BookPath, key: str) -> Memory | None:
    """Return the memory of a key in one scope, from its file; None when there is none."""
    path = note_path(folder, check_key(key))
    try:
        document = store.vault.read(store.space, view, path)
    except NotFound:
        return None
    note = store.provenance.read(document.data)
    return Memory(
        note.meta, scope, key, str(path), document.revision, tuple(map(named, store.provenance.entries_of(note)))
    )


def find_scopes(store: MemoryStore, view: View, folders: Mapping[Scope, BookPath], key: str) -> list[Scope]:
    """Return the scopes that have a key, nearest first."""
    found = []
    for scope, folder in folders.items():
        stat = store.vault.stat(store.space, view, note_path(folder, check_key(key)))
        if stat is not None and stat.kind is FileKind.FILE:
            found.append(scope)
    return found


def find_single_scope(store: MemoryStore, view: View, folders: Mapping[Scope, BookPath], key: str) -> Scope:
    """Return the scope in which to change a key when the caller named none. Raises NotFound and AmbiguousKey."""
    found = find_scopes(store, view, folders, key)
    if not found:
        raise NotFound(f"There is no memory {key!a} in your scopes.")
    return require_single(found, key)


def require_single(found: Sequence[Scope], key: str) -> Scope:
    """Return the one scope that was found for a key. Raises AmbiguousKey if there are several."""
    if len(found) > 1:
        names = ", ".join(scope.kind.value for scope in found)
        raise AmbiguousKey(f"{key!a} is in several of your scopes: {names}.")
    return found[0]


def list_revisions(store: MemoryStore, view: View, scope: Scope, folder: BookPath, key: str) -> list[Revision]:
    """Return the revisions of a memory, oldest first: each text in history and trash, each that an entry was
    appended to (it is contained in the next one), and the present one."""
    view.check_read(note_path(folder, check_key(key)))
    found, last, known = list[Revision](), "", frozenset[str]()
    for item in history.list_versions(store.files, folder, key):
        entries = _entries(store, item)
        found += _appended(entries, str(item.path), last, known)
        found.append(Revision(item.revision, history.stamp_of(item), item.who, item.action, str(item.path)))
        last, known = item.id, frozenset(entry.id for entry in entries)
    memory = load(store, view, scope, folder, key)
    if memory is not None:
        found += _appended(memory.entries, memory.path, last, known)
        author = memory.newest.author if memory.newest else None
        found.append(Revision(memory.revision, memory.meta.updated, author, "current", memory.path))
    return found


def was_superseded(store: MemoryStore, folder: BookPath, key: str, moment: str) -> bool:
    """Return whether a memory was superseded at an earlier moment. The next text that was put aside says so, or
    the note if there is none. Old texts may have been cleared away, so what superseded it must have existed, too."""
    later = [item.path for item in history.list_versions(store.files, folder, key) if history.stamp_of(item) > moment]
    then = _meta(store, later[0] if later else note_path(folder, key))
    if then is None or then.status is not Status.SUPERSEDED:
        return False
    newer = [_meta(store, note_path(folder, link.to)) for link in then.links if link.rel == "superseded_by"]
    return not newer or any(meta is None or meta.created <= moment for meta in newer)


def _meta(store: MemoryStore, path: BookPath) -> Meta | None:
    try:
        return parse(store.files.read(path).data).meta
    except NotFound:
        return None


def _entries(store: MemoryStore, item: history.OldVersion) -> Sequence[Entry]:
    try:
        return parse(store.files.read(item.path).data).entries
    except NotFound:
        return ()


def _appended(entries: Sequence[Entry], path: str, last: str, known: Set[str]) -> list[Revision]:
    """Return the texts that entries were appended to after the `last` old version. No file has them, so they have no
    revision.

    Entries that replaced the last version have ids from before it was put aside; appended ones have greater ids.
    """
    new = [entry for entry in entries if entry.id > last and entry.id not in known] if last else entries[1:]
    return [Revision("", entry.time, entry.author, "appended", path) for entry in new if is_uuid7(entry.id)]
