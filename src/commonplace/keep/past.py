"""What was: earlier versions, forgotten memories and tombstones, all of them plain files.

    .commonplace/history/SCOPE/KEY/20261116T080000Z.replaced.claude-code.0a1b2c3d4e5f.ID.md   the text before
    .commonplace/trash/SCOPE/KEY/20261116T080000Z.forgotten.human.0a1b2c3d4e5f.ID.md          the text that was
    .commonplace/tombstones/ID                                                               empty: this id was purged

The name says when the text was put aside, why, by whom, and its revision; the content is the old file, byte for byte.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.index.port import Row
from commonplace.model.errors import LinkRefused, NotFound
from commonplace.model.ids import new_id, revision_of
from commonplace.model.memory import Entry, MemoryType, Meta, Status
from commonplace.model.names import name_fault
from commonplace.model.patterns import lazy
from commonplace.model.space import Space
from commonplace.model.times import compact
from commonplace.text.notes import Note, new_note
from commonplace.text.percent import quote, unquote
from commonplace.vault.paths import MAX_LEVELS, MEMORIES, PRIVATE, BookPath
from commonplace.vault.port import ABSENT, Kind, Vault, Write
from commonplace.vault.view import KEEPER

HISTORY = PRIVATE / "history"
TRASH = PRIVATE / "trash"
TOMBSTONES = PRIVATE / "tombstones"
_NAME = lazy(r"(\d{8}T\d{6}Z)\.([a-z]+)\.([^.]+)\.([0-9a-f]{12})\.([0-9a-f-]{36})\.md", re.ASCII)
_IDENT = lazy(r"[0-9A-Za-z-]{1,64}", re.ASCII)
_NOBODY = "-"
FORGOTTEN, RESTORED, OUTSIDE = "forgotten", "restored", "edited"
DELETED = "deleted"  # outside: somebody removed the file
LINKED, JUDGED = "linked", "judged"  # a link was added; somebody gave a verdict on the memory or on a link of it
MOVED = "moved"  # here, from another scope, when somebody accepted it
STANDS = "stands"  # again: what superseded it was forgotten or undone


class Past(NamedTuple):
    """One text that was put aside."""

    path: BookPath
    time: str
    action: str
    who: str | None
    revision: str  # its first 12 digits
    id: str  # of the putting aside: it orders those of one second


class PastLabel(NamedTuple):
    time: str
    action: str
    who: str | None


def put_aside(place: BookPath, scope_folder: BookPath, key: str, data: bytes, revision: str, label: PastLabel) -> Write:
    """The change that keeps a text below `place` (HISTORY or TRASH)."""
    who = quote(label.who).replace(".", "%2E")[:80] if label.who else _NOBODY
    name = f"{compact(label.time)}.{label.action}.{who}.{revision[:12]}.{new_id()}.md"
    return Write(past_folder(place, scope_folder, key) / name, data, ABSENT)


def outside_change(
    scope_folder: BookPath, key: str, row: Row, entries: Sequence[Entry], action: str, time: str
) -> Write:
    """Return the write that saves what a note said before it was changed outside, as well as the index knows it.

    `action` is OUTSIDE for a file that was edited or replaced, DELETED for one that was removed.
    """
    meta = Meta(
        row.id, key, MemoryType(row.type), Status(row.status), row.summary, row.tags, row.pinned, row.created,
        row.updated,
    )  # fmt: skip
    by_hand = [entry.text for entry in entries if entry.id.startswith("hand-")]
    note = new_note(meta, [entry for entry in entries if not entry.id.startswith("hand-")])
    note = Note(note.front, note.lead + "".join(f"{text}\n\n" for text in by_hand), note.blocks)
    data = note.render()
    return put_aside(HISTORY, scope_folder, key, data, revision_of(data), PastLabel(time, action, None))


def past_folder(place: BookPath, scope_folder: BookPath, key: str) -> BookPath:
    return BookPath(*place.parts, *scope_folder.parts[len(MEMORIES.parts) :], *key.split("/"))


def list_past(vault: Vault, space: Space, place: BookPath, scope_folder: BookPath, key: str) -> list[Past]:
    """What was put aside of one memory, oldest first."""
    folder = past_folder(place, scope_folder, key)
    try:
        listed = vault.list_folder(space, KEEPER, folder)
    except NotFound:
        return []
    found = [read_name(folder / item.name) for item in listed if item.stat.kind is Kind.FILE]
    return sorted((past for past in found if past is not None), key=in_order)


def list_restorable(vault: Vault, space: Space, scope_folder: BookPath, key: str) -> list[Past]:
    """Return what `restore` can bring back of a memory, oldest first: from the trash, and what was deleted outside."""
    history = list_past(vault, space, HISTORY, scope_folder, key)
    restored = max((item.id for item in history if item.action == RESTORED), default="")
    deleted = [item for item in history if item.action == DELETED and item.id > restored]
    return sorted([*deleted, *list_past(vault, space, TRASH, scope_folder, key)], key=in_order)


def is_outside_edit(item: Past) -> bool:
    """Return whether a text was saved because its file was edited outside, and not by the verb `edit`."""
    return item.action == OUTSIDE and item.who is None


def in_order(item: Past) -> tuple[str, str]:
    """When it was put aside; with its name, so that the same text in history and trash has one order too."""
    return (item.id, str(item.path))


def read_name(path: BookPath) -> Past | None:
    """What the name of a text that was put aside says; None for a file that is none."""
    match = _NAME.fullmatch(path.name)
    if not match:
        return None
    time, action, who, revision, ident = match.groups()
    return Past(path, time, action, None if who == _NOBODY else unquote(who), revision, ident)


def stamp_of(item: Past) -> str:
    """When something was put aside, as a timestamp."""
    return stamp_in(item.path.name)


def stamp_in(name: str) -> str:
    """The same, from the name of its file."""
    return f"{name[:4]}-{name[4:6]}-{name[6:11]}:{name[11:13]}:{name[13:16]}"


def key_of_past(scope_folder: BookPath, path: BookPath) -> str:
    """The key of a text that was put aside."""
    return "/".join(path.parts[len(HISTORY.parts) + len(scope_folder.parts) - len(MEMORIES.parts) : -1])


def past_keys(
    vault: Vault, space: Space, scope_folder: BookPath, places: Sequence[BookPath] = (HISTORY, TRASH)
) -> dict[str, str]:
    """The keys of a scope of which something was put aside, and when the last of each was."""
    keys: dict[str, str] = {}
    for place in places:
        base = BookPath(*place.parts, *scope_folder.parts[len(MEMORIES.parts) :])
        waiting = [base]
        while waiting:
            folder = waiting.pop()
            try:
                listed = vault.list_folder(space, KEEPER, folder)
            except (NotFound, LinkRefused):
                continue
            for item in listed:
                if item.stat.kind is Kind.FOLDER and len(folder.parts) < MAX_LEVELS - 1 and not name_fault(item.name):
                    waiting.append(folder / item.name)
                elif folder != base and _NAME.fullmatch(item.name):
                    key = "/".join(folder.parts[len(base.parts) :])
                    keys[key] = max(keys.get(key, ""), stamp_in(item.name))
    return keys


def tombstone(ident: str) -> BookPath | None:
    """Where the tombstone of an id stands; None for an id that a person made up and no file name can hold."""
    return TOMBSTONES / ident if _IDENT.fullmatch(ident) and name_fault(ident) is None else None


def purged_ids(vault: Vault, space: Space) -> list[str]:
    """The ids of which there is a tombstone."""
    try:
        return sorted(item.name for item in vault.list_folder(space, KEEPER, TOMBSTONES))
    except (NotFound, LinkRefused):
        return []
