"""Earlier versions, forgotten memories and tombstones, all of them plain files; and what they say about time.

    .commonplace/history/SCOPE/KEY/20261116T080000Z.replaced.claude-code.0a1b2c3d4e5f.ID.md   the text before
    .commonplace/trash/SCOPE/KEY/20261116T080000Z.forgotten.human.0a1b2c3d4e5f.ID.md          the text that was
    .commonplace/tombstones/ID                                                               empty: this id was purged

The name says when the text was put aside, why, by whom, and its revision; the content is the old file, byte for byte.

`recorded_of` works out from when until when the book said something. A memory's versions are the texts that were put
aside, oldest first, and the note as it is. An entry is said from when it was recorded, or from when a version brought
it back, until the end of the last version in a row that has it. A version that was put aside before anybody accepted it
was never said: it ends as it begins.

`find_owner` tells which of several notes with one id was there first, when a file was copied. It goes by the files
alone, so that a rebuilt index tells the same: the note whose frontmatter says the key that its path gives was not
copied there from another name; of several such, or none, the one that was written last through the book; where none was
written since, the older file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from commonplace.index.port import EntryInterval, Row, Transaction
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound
from commonplace.model.ids import new_id, revision_of, short_hash
from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, MemoryType, Meta, Status
from commonplace.model.names import find_name_fault
from commonplace.model.scope import ScopeKind
from commonplace.model.times import compact_time, is_timestamp
from commonplace.text.naming import quote, unquote
from commonplace.text.notes import Note, new_note, parse
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import MAX_LEVELS, MEMORIES, PRIVATE, BookPath, resolve
from commonplace.vault.port import ABSENT, FileKind, Write

HISTORY = PRIVATE / "history"
TRASH = PRIVATE / "trash"
TOMBSTONES = PRIVATE / "tombstones"
_NAME = lazy(r"(\d{8}T\d{6}Z)\.([a-z]+)\.([^.]+)\.([0-9a-f]{12})\.([0-9a-f-]{36})\.md", re.ASCII)
_IDENT = lazy(r"[0-9A-Za-z-]{1,64}", re.ASCII)
_NOBODY = "-"
FORGOTTEN, RESTORED, OUTSIDE = "forgotten", "restored", "edited"
DELETED = "deleted"  # outside: the file was removed
LINKED, JUDGED = "linked", "judged"  # a link was added; a verdict was given on the memory or on a link of it
MOVED = "moved"  # here, from another scope, when it was accepted
STANDS = "stands"  # again: what superseded it was forgotten or undone


class OldVersion(NamedTuple):
    """One text that was put aside."""

    path: BookPath
    time: str
    action: str
    who: str | None
    revision: str  # its first 12 digits
    id: str  # of the putting aside: it orders those of one second


class VersionLabel(NamedTuple):
    """What the name of an old version says: when it was put aside, why, and by whom."""

    time: str
    action: str
    who: str | None


def put_aside(
    place: BookPath, scope_folder: BookPath, key: str, data: bytes, revision: str, label: VersionLabel
) -> Write:
    """Return the write that saves a text below `place` (HISTORY or TRASH)."""
    who = quote(label.who).replace(".", "%2E")[:80] if label.who else _NOBODY
    name = f"{compact_time(label.time)}.{label.action}.{who}.{revision[:12]}.{new_id()}.md"
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
    return put_aside(HISTORY, scope_folder, key, data, revision_of(data), VersionLabel(time, action, None))


def past_folder(place: BookPath, scope_folder: BookPath, key: str) -> BookPath:
    """Return the folder below HISTORY or TRASH that holds the old versions of a key."""
    return BookPath(*place.parts, *scope_folder.parts[len(MEMORIES.parts) :], *key.split("/"))


def list_past(files: VaultHandle, place: BookPath, scope_folder: BookPath, key: str) -> list[OldVersion]:
    """Return what the history, or the trash, holds of one memory, oldest first."""
    folder = past_folder(place, scope_folder, key)
    try:
        listed = files.list_folder(folder)
    except NotFound:
        return []
    found = [read_name(folder / item.name) for item in listed if item.stat.kind is FileKind.FILE]
    return sorted((past for past in found if past is not None), key=in_order)


def list_versions(files: VaultHandle, scope_folder: BookPath, key: str) -> list[OldVersion]:
    """Return what history and trash hold of a memory, oldest first."""
    found = [*list_past(files, HISTORY, scope_folder, key), *list_past(files, TRASH, scope_folder, key)]
    return sorted(found, key=in_order)


def list_restorable(files: VaultHandle, scope_folder: BookPath, key: str) -> list[OldVersion]:
    """Return what `restore` can bring back of a memory, oldest first: from the trash, and what was deleted outside."""
    history = list_past(files, HISTORY, scope_folder, key)
    restored = max((item.id for item in history if item.action == RESTORED), default="")
    deleted = [item for item in history if item.action == DELETED and item.id > restored]
    return sorted([*deleted, *list_past(files, TRASH, scope_folder, key)], key=in_order)


def is_outside_edit(item: OldVersion) -> bool:
    """Return whether a text was saved because its file was edited outside, and not by the verb `edit`."""
    return item.action == OUTSIDE and item.who is None


def in_order(item: OldVersion) -> tuple[str, str]:
    """Return the sort key of a version: when it was put aside; then its path, for a text in history and trash."""
    return (item.id, str(item.path))


def read_name(path: BookPath) -> OldVersion | None:
    """Return what the name of an old version says; None for another file."""
    match = _NAME.fullmatch(path.name)
    if not match:
        return None
    time, action, who, revision, ident = match.groups()
    return OldVersion(path, time, action, None if who == _NOBODY else unquote(who), revision, ident)


def stamp_of(item: OldVersion) -> str:
    """Return when a version was put aside, as a timestamp."""
    return stamp_in(item.path.name)


def stamp_in(name: str) -> str:
    """Return when a version was put aside, from the name of its file."""
    return f"{name[:4]}-{name[4:6]}-{name[6:11]}:{name[11:13]}:{name[13:16]}"


def key_of_past(scope_folder: BookPath, path: BookPath) -> str:
    """Return the key of an old version."""
    return "/".join(path.parts[len(HISTORY.parts) + len(scope_folder.parts) - len(MEMORIES.parts) : -1])


def past_keys(
    files: VaultHandle, scope_folder: BookPath, places: Sequence[BookPath] = (HISTORY, TRASH)
) -> dict[str, str]:
    """Return the keys of a scope that have old versions, and when the last of each was put aside."""
    keys: dict[str, str] = {}
    for place in places:
        base = BookPath(*place.parts, *scope_folder.parts[len(MEMORIES.parts) :])
        waiting = [base]
        while waiting:
            folder = waiting.pop()
            try:
                listed = files.list_folder(folder)
            except (NotFound, LinkRefused):
                continue
            for item in listed:
                if (
                    item.stat.kind is FileKind.FOLDER
                    and len(folder.parts) < MAX_LEVELS - 1
                    and not find_name_fault(item.name)
                ):
                    waiting.append(folder / item.name)
                elif folder != base and _NAME.fullmatch(item.name):
                    key = "/".join(folder.parts[len(base.parts) :])
                    keys[key] = max(keys.get(key, ""), stamp_in(item.name))
    return keys


def tombstone(ident: str) -> BookPath | None:
    """Return the path of an id's tombstone; None for a made-up id that no file name can hold."""
    return TOMBSTONES / ident if _IDENT.fullmatch(ident) and find_name_fault(ident) is None else None


def purged_ids(files: VaultHandle) -> list[str]:
    """Return the ids that have a tombstone."""
    try:
        return sorted(item.name for item in files.list_folder(TOMBSTONES))
    except (NotFound, LinkRefused):
        return []


UNACCEPTED = (Status.PROPOSED, Status.QUARANTINED)
EntriesOf = Callable[[Note], Sequence[Entry]]  # what a note says, as it is believed here


def named(entry: Entry) -> Entry:
    """Return an entry as the index takes it: hand-written text gets an id made from the text, and bytes that are not
    UTF-8, which the file keeps, become replacement characters."""
    words = (entry.text, entry.id, entry.author, entry.host, entry.session, entry.occurred, entry.thread, *entry.tags)
    if not all(word is None or word.isascii() or _is_valid(word) for word in words):
        entry = entry._replace(
            text=_valid(entry.text),
            id=_valid(entry.id),
            author=entry.author and _valid(entry.author),
            host=entry.host and _valid(entry.host),
            session=entry.session and _valid(entry.session),
            occurred=entry.occurred and _valid(entry.occurred),
            thread=entry.thread and _valid(entry.thread),
            tags=tuple(_valid(tag) for tag in entry.tags),
        )
    return entry if entry.id else entry._replace(id=f"hand-{short_hash(entry.text)}")


def _is_valid(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _valid(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def intervals(versions: Sequence[tuple[Sequence[Entry], str | None]]) -> list[EntryInterval]:
    """Return when each entry was said, from all versions (each with the time it was put aside; None: the present)."""
    done: list[EntryInterval] = []
    said: dict[str, EntryInterval] = {}
    since = ""
    for entries, end in versions:
        now = {entry.id: entry for entry in map(named, entries)}
        for ident in [ident for ident, item in said.items() if ident not in now or now[ident].text != item.entry.text]:
            done.append(said.pop(ident)._replace(end=since))
        for ident, entry in now.items():
            start = said[ident].start if ident in said else max(entry.time, since)
            said[ident] = EntryInterval(entry, start)
        if end is not None:
            since = end
    if versions and versions[-1][1] is not None:
        return done + [item._replace(end=since) for item in said.values()]
    return done + list(said.values())


def recorded_of(
    files: VaultHandle,
    scope_folder: BookPath,
    key: str,
    note: Note | None,
    entries_of: EntriesOf,
    *,
    without: Sequence[BookPath] = (),
    also: Sequence[Write] = (),
) -> list[EntryInterval]:
    """Return all that a key ever said: by its old versions (not `without`, but `also` these), then by its note."""
    coming = {write.path: write.data for write in also}
    aside = [item for item in list_versions(files, scope_folder, key) if item.path not in without]
    aside += [item for path in coming if (item := read_name(path)) is not None]
    versions: list[tuple[Sequence[Entry], str | None]] = []
    never: list[EntryInterval] = []
    for item in sorted(aside, key=in_order):
        try:
            data = coming[item.path] if item.path in coming else files.read(item.path).data
        except NotFound:
            continue
        then, end = parse(data), stamp_of(item)
        unsaid = then.meta.status in UNACCEPTED or item.action == MOVED
        if unsaid:
            never += [EntryInterval(entry, end, end) for entry in map(named, entries_of(then))]
        versions.append((() if unsaid else entries_of(then), end))
    if note is not None:
        versions.append((entries_of(note), None))
    return never + intervals(versions)


class Holder(NamedTuple):
    """A note that has an id."""

    path: BookPath
    named: bool  # its frontmatter says the key that its path gives
    written: tuple[str, str]  # when it last was through the book; its newest entry orders those of one second
    mtime_ns: int


def read_holder(path: BookPath, note: Note, mtime_ns: int) -> Holder:
    """Return what tells whether a note is the owner of its id."""
    depth = 3 if ScopeKind(path.parts[1]).has_id else 2
    key = "/".join(path.parts[depth:]).removesuffix(".md")
    updated, newest = note.meta.updated, note.blocks[-1].entry.id if note.blocks else ""
    return Holder(path, note.meta.key == key, (updated if is_timestamp(updated) else "", newest), mtime_ns)


def find_holders(files: VaultHandle, index: Transaction, ident: str) -> list[Holder]:
    """Return every memory that has an id, as its file says now."""
    found = []
    for folder, name in index.find_by_id(ident):
        path = resolve(folder) / f"{name}.md"
        if not path.is_within(MEMORIES):
            continue
        try:
            document = files.read(path)
        except CommonplaceError:
            continue  # gone, or not to be read: it claims nothing
        note = parse(document.data)
        if note.meta.id == ident:
            found.append(read_holder(path, note, document.stat.mtime_ns))
    return found


def find_owner(found: Sequence[Holder]) -> BookPath:
    """Return the path of the note that an id belongs to, of all that have it."""
    named = [item for item in found if item.named] or found
    latest = max(item.written for item in named)
    return min((item.mtime_ns, item.path) for item in named if item.written == latest)[1]
