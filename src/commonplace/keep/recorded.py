"""From when until when the book said something: worked out from the files alone.

A memory's versions are the texts that were put aside, oldest first, and the note as it is. An entry is said from when
it was recorded, or from when a version brought it back, until the end of the last version in a row that has it. What a
version says that was put aside before anybody accepted it was never said: it ends as it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.index.port import Recorded
from commonplace.keep import past
from commonplace.model.errors import NotFound
from commonplace.model.ids import short_hash
from commonplace.model.memory import Entry, Status
from commonplace.model.space import Space
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Vault, Write
from commonplace.vault.view import KEEPER

UNACCEPTED = (Status.PROPOSED, Status.QUARANTINED)
EntriesOf = Callable[[Note], Sequence[Entry]]  # what a note says, as it is believed here


def named(entry: Entry) -> Entry:
    """An entry as the index takes it: text that a person wrote by hand gets an id from what it says, and bytes that
    are no UTF-8, which the file keeps, are shown as replacement characters."""
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


def intervals(versions: Sequence[tuple[Sequence[Entry], str | None]]) -> list[Recorded]:
    """The entries of all versions (each with the time it was put aside; None for the present), in the order said."""
    done: list[Recorded] = []
    said: dict[str, Recorded] = {}
    since = ""
    for entries, end in versions:
        now = {entry.id: entry for entry in map(named, entries)}
        for ident in [ident for ident, item in said.items() if ident not in now or now[ident].text != item.entry.text]:
            done.append(said.pop(ident)._replace(end=since))
        for ident, entry in now.items():
            start = said[ident].start if ident in said else max(entry.time, since)
            said[ident] = Recorded(entry, start)
        if end is not None:
            since = end
    if versions and versions[-1][1] is not None:
        return done + [item._replace(end=since) for item in said.values()]
    return done + list(said.values())


def recorded_of(
    vault: Vault,
    space: Space,
    scope_folder: BookPath,
    key: str,
    note: Note | None,
    entries_of: EntriesOf,
    *,
    without: Sequence[BookPath] = (),
    also: Sequence[Write] = (),
) -> list[Recorded]:
    """All that a key ever said, by the files: those put aside (but `without`, and `also` these), then the note."""
    coming = {write.path: write.data for write in also}
    aside = [
        item
        for place in (past.HISTORY, past.TRASH)
        for item in past.list_past(vault, space, place, scope_folder, key)
        if item.path not in without
    ]
    aside += [item for path in coming if (item := past.read_name(path)) is not None]
    versions: list[tuple[Sequence[Entry], str | None]] = []
    never: list[Recorded] = []
    for item in sorted(aside, key=past.in_order):
        try:
            data = coming[item.path] if item.path in coming else vault.read(space, KEEPER, item.path).data
        except NotFound:
            continue
        then, end = parse(data), past.stamp_of(item)
        unsaid = then.meta.status in UNACCEPTED or item.action == past.MOVED
        if unsaid:
            never += [Recorded(entry, end, end) for entry in map(named, entries_of(then))]
        versions.append((() if unsaid else entries_of(then), end))
    if note is not None:
        versions.append((entries_of(note), None))
    return never + intervals(versions)
