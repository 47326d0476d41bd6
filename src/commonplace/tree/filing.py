"""The files of a source: which thread is in which, what earlier ingests put there, and how new units are added.

    tree/SOURCE/2026-11/NAME.md, NAME-p2.md, ...    a thread, a day of a channel or a document, in parts of 128 KiB

`ingest` works under the lock of the tree, with a unit of work for each batch. Mail and chat are only ever appended, and
files never move, so what was cited stays where it was. A document that says something else is written anew, and its old
text goes to the history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from commonplace.index.port import Transaction
from commonplace.index.values import EntryCandidate, Window
from commonplace.memories.lifecycle import keep_history
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.memory import Entry
from commonplace.model.names import short_hash
from commonplace.text.frontmatter import Frontmatter, Writable
from commonplace.text.naming import cut, one_line
from commonplace.text.notes import Note, write_attributes
from commonplace.tree.labels import ANSWER, SUBJECT, THREAD
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.threads import SubjectThread, ThreadPlace, identify_person, people_of
from commonplace.tree.units import make_unit_id, read_thread, read_unit

MAX_PART = 128 << 10  # bytes: then a file goes on in the next part
_PART = re.compile(r"-p(\d+)\Z", re.ASCII)
_MAX_TITLE = 200
_MOST_SUBJECTS = 40  # mails of one subject that are looked at
_EVER = Window(())


class ThreadIndex:
    """The threads that earlier ingests of a source wrote, as its index knows them."""

    def __init__(self, tree: TreeStore, source: TreeSource) -> None:
        self._tree, self._source = tree, source
        self._below = f"{source.folder}/"

    def of_message(self, native_id: str) -> ThreadPlace | None:
        """Return the thread that has this message, or one that answers it."""
        ident = make_unit_id(native_id)
        with self._tree.reading() as index:
            found = self._own(index.units([ident])) or self._labelled(index, f"{ANSWER}{ident}", 1)
        return place_of(found[0]) if found else None

    def of_thread(self, thread: str) -> ThreadPlace | None:
        """Return the thread with this id."""
        with self._tree.reading() as index:
            found = self._labelled(index, f"{THREAD}{thread}", 1)
        return place_of(found[0]) if found else None

    def of_subject(self, key: str) -> Iterable[SubjectThread]:
        """Return the threads whose subject has this key, the last ones."""
        with self._tree.reading() as index:
            found = self._labelled(index, f"{SUBJECT}{short_hash(key)}", _MOST_SUBJECTS)
        for item in found:
            unit = read_unit(item.entry, kind=self._source.kind, folder=item.folder, name=item.name)
            yield SubjectThread(place_of(item), people_of(unit), unit.occurred, identify_person(unit.author))

    def _labelled(self, index: Transaction, label: str, limit: int) -> list[EntryCandidate]:
        # Another source may have the same label: then a few more are looked at.
        return self._own(index.candidates(index.mentioning([label], _EVER, limit + _MOST_SUBJECTS)))[:limit]

    def _own(self, found: Iterable[EntryCandidate]) -> list[EntryCandidate]:
        return [item for item in found if item.folder.startswith(self._below)]


def place_of(item: EntryCandidate) -> ThreadPlace:
    """Return where the thread of a stored unit is."""
    return ThreadPlace(read_thread(item.entry), item.folder.rpartition("/")[2], _PART.sub("", item.name))


class SourceFiles:
    """The files of one source, read and changed within a unit of work."""

    def __init__(self, unit: Unit, source: TreeSource) -> None:
        self._unit, self._source = unit, source

    def append(self, place: ThreadPlace, title: str, entries: Sequence[Entry]) -> None:
        """Stage entries at the end of a thread, in new parts where the last one is full."""
        number = max((number for number, _ in self._parts(place)), default=1)
        while entries:
            key = _key(place, number)
            found = self._unit.find(key)
            note = found.note if found is not None else self._begin(title, number, entries[0].time)
            taken = _take(entries, len(found.data) if found is not None else 0)
            if found is None or not found.note.in_conflict:
                taken = taken or (entries[:1] if not note.blocks else ())
                if taken:
                    self._unit.put(key, _dated(_extend(note, taken), taken[-1].time), taken)
                entries = entries[len(taken) :]
            number += 1

    def replace(self, place: ThreadPlace, title: str, entries: Sequence[Entry], time: str) -> bool:
        """Stage the whole text of a document; return whether it says something else than before."""
        number, is_changed = 0, False
        parts = dict(self._parts(place))
        texts: list[tuple[int, Sequence[Entry]]] = []
        while entries:
            number += 1
            taken = _take(entries, 0) or entries[:1]
            entries = entries[len(taken) :]
            texts.append((number, taken))
        # The last parts go first: a process that is killed leaves no gap, behind which nothing would be found.
        texts += [(other, ()) for other in sorted(parts, reverse=True) if other > number]
        for number, taken in texts:
            found = parts.get(number)
            if found is not None and [*map(_content, found.note.entries)] == [*map(_content, taken)]:
                continue
            key, is_changed = _key(place, number), is_changed or found is not None
            if found is None:
                self._unit.put(key, _dated(_extend(self._begin(title, number, time), taken), time), taken)
            else:
                self._rewrite(key, found, taken, time)
        return is_changed

    def replace_unit(self, place: ThreadPlace, parts: Sequence[Entry], time: str) -> None:
        """Stage another text of one unit, in whose thread all its parts are; what its files said goes to the history.

        The new text stands where the old one did, as far as the file has room; the other parts go to the end.
        """
        idents, first = {part.id for part in parts}, parts[0].id
        native_id = dict(parts[0].extra).get("source")
        left = parts
        # The file with the first part is written last: until then, a process that was killed finds the old text there.
        for number, found in sorted(self._parts(place), reverse=True):
            known = found.note.entries
            others = [
                entry for entry in known if entry.id not in idents and dict(entry.extra).get("source") != native_id
            ]
            if len(others) == len(known):
                continue
            if any(entry.id == first for entry in known):
                taken = _take(parts, sum(map(_measure, others))) or parts[:1]
                at = len([*takewhile(lambda entry: entry.id != first, known)])
                others[at:at] = taken
                left = parts[len(taken) :]
            self._rewrite(_key(place, number), found, others, time)
        if left:
            self.append(place, dict(parts[0].extra).get("title", ""), left)

    def _rewrite(self, key: str, found: StoredNote, entries: Sequence[Entry], time: str) -> None:
        """Stage other entries of a file, which goes to the history as it was; without any, it is removed."""
        keep_history(self._unit, key, "replaced", None, time)
        if entries:
            self._unit.put(key, _dated(found.note.with_entries(entries), time), None)
        else:
            self._unit.remove(found)

    def _parts(self, place: ThreadPlace) -> Iterator[tuple[int, StoredNote]]:
        """Yield the parts of a thread that are there, with their numbers."""
        number = 1
        while (found := self._unit.find(_key(place, number))) is not None:
            yield number, found
            number += 1

    def _begin(self, title: str, number: int, time: str) -> Note:
        shown = cut(one_line(title), _MAX_TITLE) or "(no subject)"
        shown = f"{shown} ({number})" if number > 1 else shown
        fields: dict[str, Writable] = {
            "tree": self._source.kind, "source": self._source.id, "summary": shown, "created": time,
        }  # fmt: skip
        front = Frontmatter("---\n", (), "---\n")
        for name, value in fields.items():
            front = front.put(name, value)
        return Note(front, f"# {shown}\n\n", ())


def _key(place: ThreadPlace, number: int) -> str:
    return f"{place.month}/{place.name}{f'-p{number}' if number > 1 else ''}"


def _extend(note: Note, entries: Iterable[Entry]) -> Note:
    for entry in entries:
        note = note.append(entry)
    return note


def _dated(note: Note, time: str) -> Note:
    front = note.front.put("updated", time).put("entry_count", len(note.blocks))
    return note.replace(front=front)


def _take(entries: Sequence[Entry], size: int) -> Sequence[Entry]:
    """Return as many entries, from the first on, as a file of some size has room for."""
    for number, entry in enumerate(entries):
        size += _measure(entry)
        if size > MAX_PART:
            return entries[:number]
    return entries


def _measure(entry: Entry) -> int:
    """Return about how many bytes an entry takes in a file."""
    return len(entry.text.encode("utf-8", "replace")) + len(write_attributes(entry)) + 60


def _content(entry: Entry) -> tuple[object, ...]:
    """Return what an entry says, without when it was stored."""
    return (entry.id, entry.text, entry.author, entry.occurred, entry.extra)
