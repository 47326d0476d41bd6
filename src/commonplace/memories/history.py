"""Earlier versions, forgotten memories and tombstones, all of them plain files; and what they say about time.

    .commonplace/history/SCOPE/KEY/20261116T080000Z.replaced.claude-code.0a1b2c3d4e5f.ID.md   the text before
    .commonplace/trash/SCOPE/KEY/20261116T080000Z.forgotten.human.0a1b2c3d4e5f.ID.md          the text that was
    .commonplace/tombstones/ID                                                               empty: this id was purged
    .commonplace/revisions/SCOPE.txt     a line for each write of a note: REVISION SIZE MTIME_NS KEY

The name says when the text was put aside, why, by whom, and its revision; the content is the old file, byte for byte.

`read_intervals` works out from when until when the book said something. A memory's versions are the texts that were put
aside, oldest first, and the note as it is. An entry is said from when it was recorded, or from when a version brought
it back, until the end of the last version in a row that has it. A version that was put aside before it was accepted was
never said: it ends as it begins.

`find_owner` tells which of several notes with one id was there first, when a file was copied. It goes by the files
alone, so that a rebuilt index tells the same: the note whose frontmatter says the key that its path gives was not
copied there from another name; of several such, or none, the one that was written last through the book; where none was
written since, the older file.

The recorded revisions outlive the index. A file that has the size and the time of its last line there, and other bytes,
was damaged by the disk: an edit changes the time. Every commit appends lines, without waiting for the disk; the daily
upkeep adds what was written outside, and drops what is out of date. A line that a power cut took, or left by half,
costs only itself. The unit of work and the upkeep write these files; reconcile and `doctor` compare.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from io import StringIO
from typing import Any, NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.values import EntryInterval
from commonplace.memories.rows import EntriesOf, key_of
from commonplace.model.errors import CommonplaceError, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.memory import WAITING, Entry, Meta
from commonplace.model.names import find_name_fault, new_id, revision_of, short_hash
from commonplace.model.times import compact_time, is_timestamp
from commonplace.text.naming import quote, unquote
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import MAX_LEVELS, MEMORIES, PRIVATE, BookPath, note_path, resolve
from commonplace.vault.port import ABSENT, UNUSABLE, FileKind, FolderEntry, Stat, VaultHandle, Write
from commonplace.vault.scope_pages import scope_folder_above

HISTORY = PRIVATE / "history"
TRASH = PRIVATE / "trash"
TOMBSTONES = PRIVATE / "tombstones"
REVISIONS = PRIVATE / "revisions"
_NAME = lazy(r"(\d{8}T\d{6}Z)\.([a-z]+)\.([^.]+)\.([0-9a-f]{12})\.([0-9a-f-]{36})\.md", re.ASCII)
_IDENT = lazy(r"[0-9A-Za-z-]{1,64}", re.ASCII)
_NOBODY = "-"
_WORD_FIELDS = ("text", "id", "author", "host", "session", "occurred", "thread")
FORGOTTEN, RESTORED, OUTSIDE = "forgotten", "restored", "edited"
DELETED = "deleted"  # outside: the file was removed
DAMAGED = "damaged"  # the disk changed the bytes of the file: what it said before
MENDED = "mended"  # that text was brought back
LINKED, JUDGED = "linked", "judged"  # a link was added; a verdict was given on the memory or on a link of it
PINNED, UNPINNED = "pinned", "unpinned"
_SETTLING = ("replaced", OUTSIDE, MENDED, FORGOTTEN, DELETED)  # after which damage is no longer in a text
MOVED = "moved"  # here, from another scope, when it was accepted
TRANSFERRED, RENAMED = "transferred", "renamed"  # here, from another scope or key, by who may write to both
SAME_TEXT = (FORGOTTEN, RESTORED, DELETED, MOVED, TRANSFERRED, RENAMED)  # actions that change no text
RELOCATED = (MOVED, TRANSFERRED, RENAMED)
REMOVALS = (FORGOTTEN, DELETED)  # after which the key had no memory
STANDS = "stands"  # again: what superseded it was forgotten or undone


class OldVersion(NamedTuple):
    """One text that was put aside. Versions sort in the order in which that happened."""

    id: str  # of the putting aside: it orders them, whatever the clock said
    path: BookPath  # this orders a text in history and trash
    time: str
    action: str
    who: str | None
    revision: str  # its first 12 digits


def put_aside(folder: BookPath, data: bytes, time: str, action: str, who: str | None, *, after: str) -> Write:
    """Return the write that saves a text in a `past_folder`; its name says when, why and by whom it was put aside.

    `after` is the `latest_id` of the memory: a clock that was set back does not change the order of its versions.
    """
    quoted = quote(who).replace(".", "%2E")[:80] if who else _NOBODY
    name = f"{compact_time(time)}.{action}.{quoted}.{revision_of(data)[:12]}.{new_id(after=after)}.md"
    return Write(folder / name, data, ABSENT)


def past_folder(place: BookPath, scope_folder: BookPath, key: str) -> BookPath:
    """Return the folder below HISTORY or TRASH that holds the old versions of a key; without one, of the scope."""
    return BookPath(*place.parts, *_past_parts(scope_folder), *filter(None, key.split("/")))


def _past_parts(scope_folder: BookPath) -> tuple[str, ...]:
    """Return a scope as the folders of history and trash name it: without `memories`, which most share."""
    return scope_folder.parts[1:] if scope_folder.top == MEMORIES.top else scope_folder.parts


def list_past(
    files: VaultHandle, place: BookPath, scope_folder: BookPath, key: str, *, strict: bool = False
) -> list[OldVersion]:
    """Return what the history, or the trash, holds of one memory, oldest first.

    A folder that cannot be read has nothing, or, with `strict`, raises: for who must not miss anything.
    """
    folder = past_folder(place, scope_folder, key)
    try:
        listed = files.list_folder(folder)
    except NotFound:
        return []
    except UNUSABLE:
        if strict:
            raise
        return []
    found = [read_name(folder / item.name) for item in listed if item.stat.kind is FileKind.FILE]
    return sorted(past for past in found if past is not None)


def list_versions(files: VaultHandle, scope_folder: BookPath, key: str, *, strict: bool = False) -> list[OldVersion]:
    """Return what history and trash hold of a memory, oldest first. `strict` is as in `list_past`."""
    places = (HISTORY, TRASH)
    return sorted(item for place in places for item in list_past(files, place, scope_folder, key, strict=strict))


def list_renamed(files: VaultHandle, scope_folder: BookPath, key: str, idents: Collection[str]) -> list[OldVersion]:
    """Return what history and trash hold under other keys of memories with these ids: their files were renamed since.

    Left out is what a copy put aside before it got an id of its own. A copy has the date that its original was made.
    """
    found = []
    for other in past_keys(files, scope_folder) if idents else ():
        if other == key:
            continue
        there = _read_meta(files, note_path(scope_folder, other))
        for item in list_versions(files, scope_folder, other):
            then = _read_meta(files, item.path)
            is_of_copy = there is not None and then is not None and there.created == then.created
            if then is not None and then.id in idents and (item.action == DELETED or not is_of_copy):
                found.append(item)
    return sorted(found)


def _read_meta(files: VaultHandle, path: BookPath) -> Meta | None:
    """Return the frontmatter of a note or an old version; None for one that cannot be read."""
    try:
        return parse(files.read(path).data).meta
    except CommonplaceError:
        return None


def latest_id(versions: Sequence[OldVersion], note: Note | None) -> str:
    """Return the greatest id among a memory's old versions and its entries. What happens next gets a greater one."""
    entries = [block.entry.id for block in note.blocks] if note is not None else []
    return max([*entries, *(item.id for item in versions)], default="")


class RestorableText(NamedTuple):
    """The last text of a memory that was forgotten, or deleted outside. These sort as their versions do."""

    version: OldVersion
    memory_id: str  # empty for a text without one


def list_restorable(
    files: VaultHandle, scope_folder: BookPath, key: str, *, strict: bool = False
) -> list[RestorableText]:
    """Return what `restore` can bring back of a key, oldest first: of each memory that had it, other than the one that
    has it now, the last text in the trash, or what was deleted outside. `strict` is as in `list_past`."""
    removed = list[RestorableText]()
    for item in list_past(files, HISTORY, scope_folder, key, strict=strict):
        if item.action in REMOVALS:
            removed.append(_read_restorable(files, item))
        elif item.action == RESTORED and removed:
            restored = removed.pop()  # a restore takes the newest
            removed = [text for text in removed if text.memory_id != restored.memory_id]
    removed = [text for text in removed if text.version.action == DELETED]
    trash = list_past(files, TRASH, scope_folder, key, strict=strict)
    removed = sorted([*removed, *(_read_restorable(files, item) for item in trash)])
    now = _read_meta(files, note_path(scope_folder, key))
    last = {text.memory_id or text.version.revision: text for text in removed}
    return sorted(text for text in last.values() if now is None or text.memory_id != now.id)


def _read_restorable(files: VaultHandle, item: OldVersion) -> RestorableText:
    meta = _read_meta(files, item.path)
    return RestorableText(item, meta.id if meta is not None else "")


def list_own(
    files: VaultHandle, versions: Sequence[OldVersion], now: Meta, is_held: Callable[[str], bool]
) -> list[OldVersion]:
    """Return those of a key's old versions that are of the memory which has it now, and not of another that had it.

    What was replaced or deleted outside is of the memory that followed, whatever its id, unless that was moved here. A
    copy had the id of its original, which another memory holds (`is_held`), until it got one of its own. The gap before
    a restore goes with what was restored.
    """
    idents, found, gaps, is_in_place = {"", now.id}, list[OldVersion](), list[OldVersion](), True
    for item in reversed(versions):
        if item.action == RESTORED:
            gaps.append(item)
            continue
        was = _read_meta(files, item.path)
        if was is not None and is_in_place and item.who is None and item.action in (OUTSIDE, DAMAGED, DELETED):
            idents.add(was.id)
        is_own = was is None or was.id in idents or (was.created == now.created and is_held(was.id))
        if item.action in REMOVALS:
            gap = [gaps.pop()] if gaps else []
            found += gap if is_own else []
        is_in_place = is_in_place and is_own and item.action not in RELOCATED
        found += [item] if is_own else []
    return sorted([*found, *gaps])


def find_damage(files: VaultHandle, scope_folder: BookPath, key: str) -> OldVersion | None:
    """Return the text that was saved when the file of a memory was found damaged; None if all of the memory was
    written anew since."""
    found = None
    for item in list_versions(files, scope_folder, key):
        if item.action == DAMAGED:
            found = item
        elif item.action in _SETTLING:
            found = None
    return found


def read_name(path: BookPath) -> OldVersion | None:
    """Return what the name of an old version says; None for another file."""
    match = _NAME.fullmatch(path.name)
    if not match:
        return None
    _, action, who, revision, ident = match.groups()
    author = None if who == _NOBODY else unquote(who)
    return OldVersion(ident, path, _time_in(path.name), action, author, revision)


def _time_in(name: str) -> str:
    """Return when a version was put aside, as a timestamp, from the name of its file."""
    return f"{name[:4]}-{name[4:6]}-{name[6:11]}:{name[11:13]}:{name[13:16]}"


def key_of_past(scope_folder: BookPath, path: BookPath) -> str:
    """Return the key of an old version."""
    return "/".join(path.parts[len(HISTORY.parts) + len(_past_parts(scope_folder)) : -1])


def walk_files(
    list_folder: Callable[[BookPath], list[FolderEntry]], top: BookPath, missing: tuple[type[CommonplaceError], ...]
) -> Iterator[BookPath]:
    """Yield every file in a folder and below that can be named in a book; a folder with a `missing` error has none."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            listed = list_folder(folder)
        except missing:
            continue
        for item in listed:
            if find_name_fault(item.name) is not None or len(folder.parts) >= MAX_LEVELS:
                continue
            if item.stat.kind is FileKind.FOLDER:
                waiting.append(folder / item.name)
            elif item.stat.kind is FileKind.FILE:
                yield folder / item.name


def walk_folders(list_folder: Callable[[BookPath], list[FolderEntry]], top: BookPath) -> Iterator[BookPath]:
    """Yield a folder and all below it; nothing where there is none, or it cannot be read."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        with suppress(CommonplaceError):
            listed = list_folder(folder)
            yield folder
            names = [item.name for item in listed if item.stat.kind is FileKind.FOLDER]
            waiting += [folder / name for name in names if find_name_fault(name) is None]


def past_keys(
    files: VaultHandle,
    scope_folder: BookPath,
    places: Sequence[BookPath] = (HISTORY, TRASH),
    unreadable: list[BookPath] | None = None,
) -> dict[str, str]:
    """Return the keys of a scope that have old versions, and when the last of each was put aside. A folder that cannot
    be read has none, and is added to `unreadable`."""
    keys: dict[str, str] = {}

    def list_folder(folder: BookPath) -> list[FolderEntry]:
        try:
            return files.list_folder(folder)
        except UNUSABLE:
            if unreadable is not None:
                unreadable.append(folder)
            return []

    for place in places:
        base = past_folder(place, scope_folder, "")
        for path in walk_files(list_folder, base, (NotFound,)):
            if path.parent != base and _NAME.fullmatch(path.name):
                key = "/".join(path.parts[len(base.parts) : -1])
                keys[key] = max(keys.get(key, ""), _time_in(path.name))
    return keys


def tombstone(ident: str) -> BookPath | None:
    """Return the path of an id's tombstone; None for a made-up id that no file name can hold."""
    return TOMBSTONES / ident if _IDENT.fullmatch(ident) and find_name_fault(ident) is None else None


def purged_ids(files: VaultHandle) -> set[str]:
    """Return the ids that have a tombstone. Where their folder cannot be read, none has, and `doctor` says so."""
    try:
        return {item.name for item in files.list_folder(TOMBSTONES)}
    except (NotFound, *UNUSABLE):
        return set()


def normalise_entry(entry: Entry) -> Entry:
    """Return an entry as the index takes it: hand-written text gets an id made from the text, and bytes that are not
    UTF-8, which the file keeps, become replacement characters."""
    words = [getattr(entry, name) for name in _WORD_FIELDS]
    if not all(word is None or word.isascii() for word in (*words, *entry.tags)):
        valid: dict[str, Any] = {name: word and _valid(word) for name, word in zip(_WORD_FIELDS, words, strict=True)}
        entry = entry._replace(**valid, tags=tuple(map(_valid, entry.tags)))
    if not all(value.isascii() for _, value in entry.extra):
        entry = entry._replace(extra=tuple((_valid(name), _valid(value)) for name, value in entry.extra))
    return entry if entry.id else entry._replace(id=f"hand-{short_hash(entry.text)}")


def _valid(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def compute_intervals(versions: Sequence[tuple[Sequence[Entry], str | None]]) -> list[EntryInterval]:
    """Return when each entry was said, from all versions (each with the time it was put aside; None: the present)."""
    done: list[EntryInterval] = []
    said: dict[str, EntryInterval] = {}
    since = ""
    for entries, end in versions:
        now = {entry.id: entry for entry in map(normalise_entry, entries)}
        for ident in [ident for ident, item in said.items() if ident not in now or now[ident].text != item.entry.text]:
            done.append(said.pop(ident)._replace(end=since))
        for ident, entry in now.items():
            start = said[ident].start if ident in said else max(entry.time, since)
            said[ident] = EntryInterval(entry, start)
        said = {ident: said[ident] for ident in now}  # an entry whose text was changed stays where it stands
        since = end or since
    last = versions[-1][1] if versions else None
    return done + [item._replace(end=last) for item in said.values()]


def read_intervals(
    files: VaultHandle,
    scope_folder: BookPath,
    key: str,
    note: Note | None,
    entries_of: EntriesOf,
) -> list[EntryInterval]:
    """Return all that a key ever said: by its old versions, then by its note."""
    versions: list[tuple[Sequence[Entry], str | None]] = [(entries_of(note), None)] if note is not None else []
    never: list[EntryInterval] = []
    made = note.hand_time if note is not None else ""
    for item in reversed(list_versions(files, scope_folder, key)):
        try:
            # A file that a person wrote has no date in it; the text that followed has the one it had then.
            then = parse(files.read(item.path).data, made if made <= item.time else "")
        except (NotFound, *UNUSABLE):
            continue  # what it said is unknown, and costs no other version
        made, entries = then.hand_time, entries_of(then)
        if then.meta.status in WAITING or item.action == MOVED:
            never[:0] = [EntryInterval(entry, item.time, item.time) for entry in map(normalise_entry, entries)]
            entries = ()
        versions.insert(0, (entries, item.time))
    return never + compute_intervals(versions)


class Holder(NamedTuple):
    """A note that has an id."""

    path: BookPath
    has_own_key: bool  # its frontmatter says the key that its path gives
    written: tuple[str, str]  # when it last was through the book; its newest entry orders those of one second
    mtime_ns: int


def read_holder(path: BookPath, note: Note, mtime_ns: int) -> Holder:
    """Return what tells whether a note is the owner of its id."""
    key = key_of(scope_folder_above(path), path)
    updated, newest = note.meta.updated, note.blocks[-1].entry.id if note.blocks else ""
    return Holder(path, note.meta.key == key, (updated if is_timestamp(updated) else "", newest), mtime_ns)


def find_holders(files: VaultHandle, index: Transaction, ident: str) -> list[Holder]:
    """Return every memory that has an id, as its file is now."""
    found = []
    for folder, name in index.find_by_id(ident):
        path = resolve(folder) / f"{name}.md"
        with suppress(CommonplaceError):  # one that is gone, or cannot be read, claims nothing
            document = files.read(path)
            note = parse(document.data)
            if note.meta.id == ident and path.top == MEMORIES.top:
                found.append(read_holder(path, note, document.stat.mtime_ns))
    return found


def find_owner(found: Sequence[Holder]) -> BookPath:
    """Return the path of the note that an id belongs to, of all that have it."""
    oldest_first = sorted(found, key=lambda item: (item.mtime_ns, item.path))
    return max(oldest_first, key=lambda item: (item.has_own_key, item.written)).path


class RecordedRevision(NamedTuple):
    """What a note's file was when it was last written."""

    revision: str
    size: str
    mtime_ns: str

    def is_damaged(self, revision: str, stat: Stat) -> bool:
        """Return whether a file that looks like this one has other bytes."""
        return (self.size, self.mtime_ns) == (str(stat.size), str(stat.mtime_ns)) and self.revision != revision


def records_path(scope_folder: BookPath) -> BookPath:
    """Return the path of the records of a scope."""
    return REVISIONS / f"{'.'.join(scope_folder.parts[1:])}.txt"


def read_records(files: VaultHandle, scope_folder: BookPath) -> dict[str, RecordedRevision]:
    """Return the last record of each key of a scope; none where they cannot be read."""
    try:
        text = files.read_text(records_path(scope_folder)) or ""
    except UNUSABLE:
        return {}
    # Line by line: a list of all lines of a large scope would take as much memory as what is kept of them.
    lines = (line.rstrip("\n").split(" ", 3) for line in StringIO(text, newline="\n"))
    return {line[3]: RecordedRevision(*line[:3]) for line in lines if len(line) == 4}


def format_records(records: Iterable[tuple[str, RecordedRevision]]) -> bytes:
    """Return records by key as the lines of a file."""
    return "".join(f"{' '.join(record)} {key}\n" for key, record in records).encode("utf-8", "surrogateescape")
