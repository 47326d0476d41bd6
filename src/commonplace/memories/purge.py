"""Removing a memory for good inside a unit: its file, its old versions under every name, and its records.

`verbs.forget` calls it, and removes what the index, the state and the audit know.
"""

from __future__ import annotations

from collections.abc import Collection

from commonplace.memories.history import (
    OldVersion,
    format_records,
    key_of_past,
    list_renamed,
    list_versions,
    past_keys,
    read_records,
    records_path,
    tombstone,
)
from commonplace.memories.lifecycle import ChangeResult, check_revision, is_held, read_old_meta
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import NotFound
from commonplace.vault.port import Write


def find_purged_ids(unit: Unit, key: str) -> set[str]:
    """Return the ids that a memory has and had, without those that another memory has too, being a copy or copied.

    Raises NotFound where there is nothing of the memory.
    """
    unit.look_again()  # the index may still know it by a name it had before
    found = unit.find(key)
    aside = list_versions(unit.memories.files, unit.folder, key, strict=True)
    if found is None and not aside:
        raise NotFound(f"There is nothing left of {key!a} to purge.")
    idents = {read_old_meta(unit, item).id for item in aside} | ({found.note.meta.id} if found else set())
    return {ident for ident in idents - {""} if not is_held(unit.memories, ident, besides=unit.path(key))}


def purge_renamed(unit: Unit, key: str, idents: Collection[str]) -> set[str]:
    """Remove the old versions of memories with these ids that are under other keys than this; return those keys."""
    renamed = list_renamed(unit.memories.files, unit.folder, key, idents)
    for item in renamed:
        unit.remove_other(item.path)
    return {key_of_past(unit.folder, item.path) for item in renamed}


def _find_same_text(unit: Unit, note: StoredNote) -> list[OldVersion]:
    """Return the old versions, under keys that no note has now, with just the text of a note without an id.

    Its file was renamed by hand, and nothing else tells that they are of one memory.
    """
    if note.note.meta.id:
        return []
    files, folder = unit.memories.files, unit.folder
    gone = [key for key in past_keys(files, folder) if unit.find(key) is None]
    return [
        item for key in gone for item in list_versions(files, folder, key) if note.revision.startswith(item.revision)
    ]


def purge(unit: Unit, key: str, *, if_revision: str | None = None) -> tuple[ChangeResult, set[str], set[str]]:
    """Remove a memory from the files, the history and the trash; return the ids and the other keys it had, too.

    Those ids stay as tombstones, so that a sync cannot bring it back. Of a memory whose file was renamed, the old
    versions under its old names go as well.
    """
    idents = find_purged_ids(unit, key)
    files = unit.memories.files
    found = unit.find(key)
    check_revision(found, key, if_revision)
    names = purge_renamed(unit, key, idents)
    for ident in sorted(idents):
        stone = tombstone(ident)
        if stone is not None and files.stat(stone) is None:
            unit.put_tombstone(Write(stone, b""))  # a writer of another scope may make the same one
    for item in list_versions(files, unit.folder, key):
        unit.remove_other(item.path)
    if found is not None:
        for item in _find_same_text(unit, found):
            unit.remove_other(item.path)
        unit.remove(found)
    records = read_records(files, unit.folder)
    if records.pop(key, None) is not None:
        unit.put_aside(Write(records_path(unit.folder), format_records(records.items())))
    return ChangeResult(key, unit.path(key), "", "", "purged"), idents, names
