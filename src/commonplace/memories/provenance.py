"""Which entries were written here: what files from elsewhere claim of themselves is not believed until a person has.

A book has a key of its own, `.commonplace/key`, and every id it makes is marked with it. So an entry tells by its id
alone whether this book wrote it, whatever became of index and state, and wherever its file was moved. What came by
clone or sync has ids of another book, and is `external` whatever its entry line claims, until somebody vouches for it.
That is a file, too: a seal of each entry, made with the key, so that nobody else's list counts, nor for another text.

Text that a person wrote by hand has no id. It is theirs, but for what stood in the book before it had a key here: that
came with a clone, and is listed in `.commonplace/received`. Who has the whole folder, its key included, has the book:
a copy or a backup of it is believed as the book itself is.

What was purged and comes back is nobody's memory either: it is quarantined, until a reviewer says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from commonplace.memories.history import EntriesOf, named, tombstone
from commonplace.model.errors import CommonplaceError
from commonplace.model.ids import is_signed_id, new_id, new_signing_key, sign_text
from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, Status, Trust
from commonplace.model.scope import Space
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import KEEPER, MEMORIES, PRIVATE, BookPath
from commonplace.vault.port import ABSENT, FileKind, Vault, Write

KEY = PRIVATE / "key"
VOUCHED = PRIVATE / "vouched"
RECEIVED = PRIVATE / "received"
_FROM_OUTSIDE = f"<!-- entry trust={Trust.EXTERNAL.value} -->"  # above a text by hand that has no line of its own
_Seals = Callable[[], Iterable[frozenset[str]]]
_LINE = lazy(r"^<!-- entry(?: id=([0-9a-f-]{36}))?", re.M)


class Provenance:
    """What one book knows of where its entries come from."""

    def __init__(self, vault: Vault, space: Space) -> None:
        self._vault, self._space = vault, space
        self._key = ""
        self._received: frozenset[str] | None = None
        self._vouched: dict[str, frozenset[str]] = {}  # by file; none of them ever changes
        self._coming: set[str] = set()

    @property
    def key(self) -> str:
        """The key of the book; empty where it has none, as when nothing may be written there."""
        if not self._key:
            self._key = self._text(KEY).strip()
        return self._key

    def new_id(self) -> str:
        return new_id(self.key)

    def read(self, data: bytes, purged: Collection[str] | None = None) -> Note:
        """A note as this book takes it: one that was purged, and has come back, waits for a verdict. `purged`: all ids
        with a tombstone, where many notes are read."""
        note = parse(data)
        if not (self._is_purged(note.meta.id) if purged is None else note.meta.id in purged):
            return note
        return Note(note.front, note.lead, note.blocks, note.meta._replace(status=Status.QUARANTINED))

    def _is_purged(self, ident: str) -> bool:
        stone = tombstone(ident)
        return stone is not None and self._vault.stat(self._space, KEEPER, stone) is not None

    def reader_of(self, folder: BookPath) -> EntriesOf:
        """How the notes of a folder are read, at one look at it: what was vouched for is read once, for all of them.
        What stands in the journal is nobody's memory, and has other ids."""
        if not folder.is_within(MEMORIES):
            return _recorded
        known: list[frozenset[str]] = []

        def seals() -> list[frozenset[str]]:
            if not known:
                known.append(frozenset().union(*self._seals()))
            return known

        return lambda note: self._entries(note, seals)

    def entries_of(self, note: Note) -> tuple[Entry, ...]:
        """What a note says, each entry with the trust that it has here."""
        return self._entries(note, self._seals)

    def _entries(self, note: Note, seals: _Seals) -> tuple[Entry, ...]:
        entries = note.entries
        by_hand = len(entries) - len(note.blocks)
        return (
            *(self._hand_written(entry, seals) for entry in entries[:by_hand]),
            *(self._claimed(entry, seals) for entry in entries[by_hand:]),
        )

    def is_outside(self, note: Note, *, given: bool) -> bool:
        """Whether what a note is summed up by came from outside: its newest entry, or, where somebody gave the summary,
        whoever said the first."""
        if note.blocks and not given:  # almost always, and the newest is known
            return self.believed(note.blocks[-1].entry).trust is Trust.EXTERNAL
        return is_summed_up_outside(self.entries_of(note), given=given)

    def shown(self, path: BookPath, data: bytes) -> bytes:
        """A file as it may be shown to who does not know whose it is: entry lines claim no more than is believed."""
        if not path.is_within(MEMORIES) or not path.name.endswith(".md"):
            return data
        idents = _LINE.findall(data.decode("latin-1"))
        if self.key and not self._received_ids() and all(is_signed_id(ident, self.key) for ident in idents):
            return data
        note = parse(data).with_trust(lambda entry: self.believed(entry).trust)
        by_hand = note.entries[: len(note.entries) - len(note.blocks)]
        if any(self._hand_written(entry, self._seals).trust is not entry.trust for entry in by_hand):
            note = note.with_hand_line(_FROM_OUTSIDE)
        return note.render()

    def believed(self, entry: Entry) -> Entry:
        """An entry that has a line of its own: with the trust it claims, if it was written here or somebody vouched."""
        return self._claimed(entry, self._seals)

    def _claimed(self, entry: Entry, seals: _Seals) -> Entry:
        if entry.trust is Trust.EXTERNAL:
            return entry
        if self.key and (is_signed_id(entry.id, self.key) or self._is_vouched(entry, seals)):
            return entry
        return entry._replace(trust=Trust.EXTERNAL)

    def vouch(self, notes: Iterable[Note]) -> Write | None:
        """The change by which a person says that what these notes claim is true; None where nobody doubts it. It counts
        as made from now on, unless it turns out that it was not."""
        read = self.reader_of(MEMORIES)
        seals = [_seal(self.key, entry) for note in notes for entry in _doubted(note, read)] if self.key else []
        self._coming.update(seals)
        return _list_of(seals) if seals else None

    def was_not_made(self) -> None:
        self._coming.clear()

    def doubted(self, notes: Iterable[tuple[BookPath, Note]]) -> dict[BookPath, Note]:
        """The notes that claim something which is not believed."""
        read = self.reader_of(MEMORIES)
        return {path: note for path, note in notes if any(True for _ in _doubted(note, read))}

    def _hand_written(self, entry: Entry, seals: _Seals) -> Entry:
        if self.key and (named(entry).id not in self._received_ids() or self._is_vouched(entry, seals)):
            return entry
        return entry._replace(trust=Trust.EXTERNAL)

    def _is_vouched(self, entry: Entry, seals: _Seals) -> bool:
        said = _seal(self.key, entry)
        return said in self._coming or any(said in some for some in seals())

    def _seals(self) -> Iterable[frozenset[str]]:
        """All that was vouched for until now."""
        for name in self._names():
            if name not in self._vouched:
                self._vouched[name] = frozenset(self._text(VOUCHED / name).split())
        return list(self._vouched.values())

    def _names(self) -> Sequence[str]:
        try:
            listed = self._vault.list_folder(self._space, KEEPER, VOUCHED)
        except CommonplaceError:
            return ()
        return [item.name for item in listed if item.stat.kind is FileKind.FILE]

    def _received_ids(self) -> frozenset[str]:
        if self._received is None:
            self._received = frozenset(self._text(RECEIVED).split())
        return self._received

    def _text(self, path: BookPath) -> str:
        try:
            return self._vault.read(self._space, KEEPER, path).data.decode("utf-8", "replace")
        except CommonplaceError:
            return ""


def is_summed_up_outside(entries: Sequence[Entry], *, given: bool) -> bool:
    return bool(entries) and entries[0 if given else -1].trust is Trust.EXTERNAL


def _doubted(note: Note, read: EntriesOf) -> Iterator[Entry]:
    for entry, known in zip(note.entries, read(note), strict=True):
        if known.trust is not entry.trust:
            yield entry


def _recorded(note: Note) -> Sequence[Entry]:
    """What a journal says. No entry of ours in it is a person's word, so nobody else's is either."""
    return [entry._replace(trust=Trust.EXTERNAL) if entry.trust is Trust.HUMAN else entry for entry in note.entries]


def key_file() -> bytes:
    """What the key file of a new book says."""
    return f"{new_signing_key()}\n".encode()


def settle(notes: Iterable[Note], *, own: bool) -> list[Write]:
    """The changes, to be made one after the other, that give a key to a book that has memories and none: one that came
    by clone, or that a version of this program without keys has kept here (`own`). What the latter says is vouched for;
    of the former, what was written by hand is noted, whatever list of another book or of a killed process is there."""
    data = key_file()
    key, write = data.decode().strip(), Write(KEY, data, ABSENT)
    if own:
        seals = [_seal(key, entry) for note in notes for entry in note.entries if entry.trust is not Trust.EXTERNAL]
        return [_list_of(seals), write] if seals else [write]
    received = [named(entry).id for note in notes for entry in note.entries[: len(note.entries) - len(note.blocks)]]
    return [Write(RECEIVED, _lines(received)), write] if received else [write]


def _seal(key: str, entry: Entry) -> str:
    """What says that an entry may claim what it claims: worth nothing for another text, or with another key."""
    entry = named(entry)
    return sign_text(key, f"{entry.id}\n{entry.trust}\n{entry.text}")


def _list_of(seals: Iterable[str]) -> Write:
    return Write(VOUCHED / f"{new_id()}.txt", _lines(seals), ABSENT)


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in dict.fromkeys(lines)).encode()
