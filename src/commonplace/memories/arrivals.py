"""Memories that come from elsewhere: moved from another scope, imported from another tool, or brought by a book.

A move writes the new place first, so that a crash in between leaves both, with one id, and loses nothing. Imported
entries are `external` until a person vouches for them, and know their origin, so that a second import adds only what is
new. A book without a key gets one, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonplace.memories import history, lifecycle
from commonplace.memories.history import HISTORY, TRASH, UNACCEPTED, read_name, tombstone
from commonplace.memories.lifecycle import ChangeResult, Labels, full_link, relabel, store
from commonplace.memories.provenance import KEY, settle
from commonplace.memories.rows import key_of, split_path
from commonplace.memories.scopes import scope_folders
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import AlreadyExists, CommonplaceError, Conflict
from commonplace.model.ids import short_hash
from commonplace.model.memory import Entry, Link, Trust
from commonplace.model.names import check_new_key, find_name_fault, is_key_name
from commonplace.text.frontmatter import split
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import MAX_LEVELS, BookPath
from commonplace.vault.port import ABSENT, FileKind, Write


def move(unit: Unit, there: Unit, key: str, who: str | None) -> None:
    """Stage a memory that waits for a verdict in another unit, as it is, and its removal from this one."""
    found, kind = unit.get(key), there.folder.parts[1]
    if found.note.meta.status not in UNACCEPTED:
        raise Conflict(
            f"{key!a} does not wait for a verdict, and only what does is accepted into another scope.",
            hint="Store its text there, then forget this one.",
        )
    if there.find(check_new_key(key)) is not None:
        raise AlreadyExists(
            f"There is a memory {key!a} in {kind} already.",
            hint="Accept this one where it is; or add to the other what it lacks, and reject this one.",
        )
    time = unit.keep.clock()
    meta = lifecycle.own_meta(unit, found, key, time)
    links = tuple(_named_from(unit, there, meta.links))
    there.put(there.path(key), found.note.with_meta(meta._replace(links=links)), ABSENT)
    label = history.VersionLabel(time, history.MOVED, who)
    there.put_aside(history.put_aside(history.HISTORY, there.folder, key, found.data, found.revision, label))
    _move_past(unit, there, key, found.note.meta.id)
    unit.remove(found)


def _named_from(unit: Unit, there: Unit, links: Sequence[Link]) -> Iterator[Link]:
    """The links as they are said from there: with the scope they lead to. A scope of the same kind has no such name,
    and would take its own memories to be meant: those links stay behind, in the text that is put aside."""
    old, new = (place.folder.parts[1] for place in (unit, there))
    for link in links:
        to = lifecycle.full_link(unit, link.to)
        if old != new or to.partition("/")[0] != old:
            yield link._replace(to=to)


def _move_past(unit: Unit, there: Unit, key: str, ident: str) -> None:
    """What was put aside of this memory before; not of another that had its key."""
    files = unit.keep.files
    for item in history.list_past(files, history.HISTORY, unit.folder, key):
        data = files.read(item.path).data
        if not ident or parse(data).meta.id != ident:
            continue
        path = history.past_folder(history.HISTORY, there.folder, key) / item.path.name
        if files.stat(path) is None:  # else it came before, and then the power failed
            there.put_aside(Write(path, data, ABSENT))
        unit.remove_other(item.path)


ORIGIN, TEXTS = "imported_from", "imported"
_MARK = f"{ORIGIN}:".encode()


def text_hash(text: str) -> str:
    """Return a hash of a text that ignores white space. It starts with a letter, so that YAML reads it as a string."""
    return f"t{short_hash(' '.join(text.split()))}"


def taken_texts(note: Note) -> frozenset[str]:
    """Return the hashes of the texts that were imported into a note."""
    return frozenset(note.front.texts(TEXTS))


def origin_of(note: Note) -> str:
    """Return where a note was imported from, nothing if it was not."""
    return note.front.text(ORIGIN)


def origins(unit: Unit, keys: Iterable[str]) -> dict[str, str]:
    """Return the keys of the imported memories of a scope, by where they came from."""
    return {origin: key for key in keys for origin in _origin_at(unit, key)}


def _origin_at(unit: Unit, key: str) -> Iterator[str]:
    keep = unit.keep
    try:
        data = keep.vault.read(keep.space, unit.view, unit.path(key)).data
    except CommonplaceError:  # one bad file does not stop an import
        return
    if _MARK in data:
        origin = split(data.decode("utf-8", "surrogateescape"))[0].text(ORIGIN)
        if origin:
            yield origin


def take_in(unit: Unit, key: str, entries: Sequence[Entry], labels: Labels, origin: str) -> ChangeResult:
    """Put entries of one source item into a memory, new or there already, and note where they came from."""
    kept = store(unit, key, entries[0], labels)
    for entry in entries[1:]:
        store(unit, key, entry, Labels())
    found = unit.get(key)
    note = found.note
    texts = dict.fromkeys((*note.front.texts(TEXTS), *(text_hash(entry.text) for entry in entries)))
    front = note.front.put(ORIGIN, origin).put(TEXTS, list(texts))
    revision = unit.put(found.path, Note(front, note.lead, note.blocks, note.known), found.revision, ())
    return kept._replace(revision=revision)


def add_links(unit: Unit, key: str, links: Iterable[Link]) -> int:
    """Add the links that are not there yet, whatever their status; return how many."""
    there = unit.get(key).note.meta.links
    known = {(link.rel, full_link(unit, link.to)) for link in there}
    new = [link for link in dict.fromkeys(links) if (link.rel, full_link(unit, link.to)) not in known]
    if new:
        relabel(unit, key, Labels(links=(*there, *new)))
    return len(new)


def vouch(unit: Unit, key: str) -> int:
    """Trust a memory that a person has reviewed; return how many entries came from outside.

    They get the trust of a person's own words, and what another book wrote keeps the trust it claims. No text is
    replaced, so the history gets nothing.
    """
    found, provenance = unit.get(key), unit.keep.provenance
    outside = sum(entry.trust is Trust.EXTERNAL for entry in provenance.entries_of(found.note))
    if outside:
        note = found.note.with_trust(_vouched)
        write = provenance.vouch([note])
        if write is not None:
            unit.put_aside(write)
        unit.put(found.path, note, found.revision)
    return outside


def _vouched(entry: Entry) -> Trust:
    return Trust.HUMAN if entry.trust is Trust.EXTERNAL else entry.trust


def lift_tombstone(unit: Unit, key: str, there: Unit | None = None) -> None:
    """Stage the removal of a memory's tombstone: it was purged, has come back, and is to stay.

    `there` is the unit that the memory moves to, which is committed first. The tombstone goes before a page names the
    memory.
    """
    keep, stone = unit.keep, tombstone(unit.get(key).note.meta.id)
    if stone is not None and keep.files.stat(stone) is not None:
        (there or unit).remove_first(stone)


_LOCK = "scaffold"  # held while a book gets its key


def create_book_key(keep: MemoryStore, *, own: bool) -> None:
    """Give a key to a book that has none. `own`: it was written here before there were keys: trust its claims."""
    with keep.vault.lock(keep.space, _LOCK, keep.lock_timeout):
        if keep.files.stat(KEY) is None:
            notes = [*(note for _, note in _notes(keep)), *_put_aside(keep)]
            for write in settle(notes, own=own):  # the key is not there before what it stands on is durable
                keep.files.apply([write])


def vouch_for_all(keep: MemoryStore) -> int:
    """Trust what every memory claims of itself; return how many were not trusted so far."""
    with keep.vault.lock(keep.space, _LOCK, keep.lock_timeout):
        doubted = keep.provenance.doubted(_notes(keep))
        write = keep.provenance.vouch(doubted.values())
        if write is None:
            return 0
        _look_again(keep, doubted)  # before the write, too: a process killed after it would never do this
        try:
            keep.files.apply([write])
        except BaseException:
            keep.provenance.forget_pending()
            raise
    _look_again(keep, doubted)
    for folder in scope_folders(keep):
        keep.freshen(folder)
    return len(doubted)


def _look_again(keep: MemoryStore, paths: Iterable[BookPath]) -> None:
    """Make the index read these notes again, though their files look unchanged."""
    with keep.index.transaction(keep.space) as index:
        for path in paths:
            row = index.get(*split_path(path))
            if row is not None:
                index.put(row)  # which forgets what the file looks like


def _notes(keep: MemoryStore) -> Iterator[tuple[BookPath, Note]]:
    """Yield every note of the book that can be read, whatever the index knows."""
    for scope in scope_folders(keep):
        for path in _files(keep, [scope]):
            if path.name.endswith(".md") and all(map(is_key_name, key_of(scope, path).split("/"))):
                yield from ((path, note) for note in _read(keep, path))


def _put_aside(keep: MemoryStore) -> Iterator[Note]:
    """Yield every text in the history and in the trash, which undo and restore can bring back."""
    for path in _files(keep, (HISTORY, TRASH)):
        if read_name(path) is not None:
            yield from _read(keep, path)


def _files(keep: MemoryStore, folders: Iterable[BookPath]) -> Iterator[BookPath]:
    """Yield every file in some folders and below that can be named in a book."""
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        try:
            listed = keep.files.list_folder(folder)
        except CommonplaceError:
            continue
        for item in listed:
            if find_name_fault(item.name) is not None or len(folder.parts) >= MAX_LEVELS:
                continue
            if item.stat.kind is FileKind.FOLDER:
                waiting.append(folder / item.name)
            elif item.stat.kind is FileKind.FILE:
                yield folder / item.name


def _read(keep: MemoryStore, path: BookPath) -> Iterator[Note]:
    """Yield the note in a file, nothing if it cannot be read."""
    try:
        yield parse(keep.files.read(path).data)
    except CommonplaceError:  # it claims nothing
        return
