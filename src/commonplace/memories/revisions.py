"""The texts that a memory had, oldest first, and the change that ended each of them.

`history` lists them, `show --revision` reads one, `undo` brings one back, and `history --diff` compares each with the
next. A text that an entry was only appended to has no file of its own: it is the next text without that entry.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence, Set
from typing import NamedTuple

from commonplace.memories.history import (
    MOVED,
    RESTORED,
    SAME_TEXT,
    TRANSFERRED,
    OldVersion,
    list_own,
    list_renamed,
    list_versions,
    normalise_entry,
)
from commonplace.memories.lifecycle import is_held
from commonplace.memories.lookup import read_note
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import AmbiguousKey, NotFound
from commonplace.model.memory import Entry, Memory, Trust, mark_external
from commonplace.model.names import is_uuid7
from commonplace.model.results import Revision
from commonplace.model.scope import Scope
from commonplace.text.notes import Note
from commonplace.vault.paths import BookPath, View, note_path

CURRENT = "current"
_LEAST_DIGITS = 4  # of a revision that a person types


class PastText(NamedTuple):
    """A text that a memory had, and the change that ended it; the last one is what it has now."""

    id: str  # of that change: greater than those of what happened before
    revision: Revision
    note: Note | None  # None where there was none, or the file cannot be read
    action: str  # the reason in the name of the version

    @property
    def is_text(self) -> bool:
        """Whether something was said, and the change was one of the text or its labels."""
        return self.note is not None and self.action not in SAME_TEXT

    @property
    def came_by_verdict(self) -> bool:
        """Whether the change moved a proposal here: what was before was never accepted."""
        return self.action == MOVED


def list_texts(memories: MemoryStore, view: View, folder: BookPath, key: str) -> list[PastText]:
    """Return the texts of a memory, oldest first: each in history and trash, each that an entry was appended to, and
    the present one."""
    path = note_path(folder, key)
    view.check_read(path)
    found, last, known = list[PastText](), "", frozenset[str]()
    now = read_note(memories, path)
    for item in _list_versions(memories, folder, key, now):
        is_gap = item.action == RESTORED  # until then there was no text
        note = None if is_gap else read_note(memories, item.path)
        entries = memories.provenance.entries_of(note) if note is not None else ()
        found += _list_appended(note, entries, str(item.path), last, known)
        action = MOVED if item.action == TRANSFERRED else item.action  # as the verb is called
        revision = Revision("" if is_gap else item.revision, item.time, item.who, action, str(item.path))
        found.append(PastText(item.id, revision, note, item.action))
        last, known = item.id, frozenset(entry.id for entry in entries)
    if now is None or now.in_conflict:  # what it said until then is in the history
        return found
    document = memories.vault.read(memories.space, view, path)
    note = memories.provenance.read(document.data, document.stat.time)
    entries = [normalise_entry(entry) for entry in memories.provenance.reader_of(folder)(note)]
    found += _list_appended(note, entries, str(path), last, known)
    author = _shown_author(entries[-1]) if entries else None
    revision = Revision(document.revision, note.dates[1], author, CURRENT, str(path))
    return [*found, PastText("", revision, note, CURRENT)]


def _list_versions(memories: MemoryStore, folder: BookPath, key: str, now: Note | None) -> list[OldVersion]:
    """Return the old versions of the memory that a key has now, under its other keys, too; where there is none, those
    of all that had it."""
    versions = list_versions(memories.files, folder, key)
    if now is None or not now.meta.id:
        return versions
    versions = list_own(memories.files, versions, now.meta, lambda ident: is_held(memories, ident))
    if now.meta.key not in ("", key):  # its file was renamed
        versions += list_renamed(memories.files, folder, key, {now.meta.id})
    return sorted(versions)


def _list_appended(
    note: Note | None, entries: Sequence[Entry], path: str, last: str, known: Set[str]
) -> list[PastText]:
    """Return the texts that entries were appended to after the `last` old version, by the note that has them all.

    Entries that replaced the last version have ids from before it was put aside; appended ones have greater ids.
    """
    if note is None:
        return []
    new = [entry for entry in entries if entry.id > last and entry.id not in known] if last else entries[1:]
    found = list[PastText]()
    for entry in reversed([entry for entry in new if is_uuid7(entry.id)]):
        while any(block.entry.id == entry.id for block in note.blocks):
            note = note.without_newest()
        revision = Revision("", entry.time, _shown_author(entry), "appended", path)
        found.append(PastText(entry.id, revision, note, "appended"))
    return found[::-1]


def _shown_author(entry: Entry) -> str | None:
    """Return who wrote an entry; what came from outside may claim any name."""
    return mark_external(entry.author) if entry.author and entry.trust is Trust.EXTERNAL else entry.author


def find_text(texts: Sequence[PastText], key: str, revision: str) -> PastText:
    """Return the text with a revision, of which the first digits are enough. Raises NotFound and AmbiguousKey."""
    wanted = revision.strip().lower()
    found = [item for item in texts if item.revision.revision.startswith(wanted) and item.note is not None]
    if len(wanted) < _LEAST_DIGITS or not found:
        hint = f"`commonplace history {key}` lists its revisions; {_LEAST_DIGITS} digits of one are enough."
        raise NotFound(f"{key!a} has no revision {revision[:64]!a}.", hint=hint)
    if len({item.revision.revision[:12] for item in found}) > 1:
        raise AmbiguousKey(f"{key!a} has several revisions that begin with {revision!a}.", hint="Give more digits.")
    return found[-1]


def as_memory(memories: MemoryStore, scope: Scope, folder: BookPath, key: str, text: PastText) -> Memory | None:
    """Return the memory as it was when it had a text; None where that cannot be read."""
    if text.note is None:
        return None
    entries = tuple(map(normalise_entry, memories.provenance.reader_of(folder)(text.note)))
    created, updated = text.note.dates
    meta = text.note.meta._replace(created=created, updated=updated)
    return Memory(meta, scope, key, text.revision.path, text.revision.revision, entries)


def add_diffs(texts: Sequence[PastText]) -> list[Revision]:
    """Return the revisions of some texts, each with the lines that its change took away and added."""
    lines = [_list_lines(item.note) for item in texts]
    found = []
    for number, item in enumerate(texts):
        after = lines[number + 1] if number + 1 < len(texts) else lines[number]
        diff = [*difflib.unified_diff(lines[number], after, lineterm="", n=2)][2:]
        found.append(item.revision._replace(diff="\n".join(diff)))
    return found


def _list_lines(note: Note | None) -> list[str]:
    """Return what a note says as lines: its labels that have a value, then each entry."""
    if note is None or not (note.entries or note.meta.id):
        return []
    meta = note.meta
    labels = {
        "key": meta.key, "type": meta.type.value, "status": meta.status.value, "summary": meta.summary,
        "tags": ", ".join(meta.tags), "pinned": "yes" if meta.pinned else "",
    }  # fmt: skip
    lines = [f"{name}: {value}" for name, value in labels.items() if value]
    lines += [f"link: {link.rel} {link.to} ({link.status})" for link in meta.links]
    for entry in note.entries:
        lines += ["", f"{entry.time} {entry.author or ''}".rstrip(), *entry.text.splitlines()]
    return lines
