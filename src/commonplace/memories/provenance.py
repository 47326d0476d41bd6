"""Which entries were written here: what files from elsewhere claim is trusted only after a person has vouched for it.

A book has a key of its own, `.commonplace/key`, and every id it makes is marked with it. So an entry tells by its id
alone whether this book wrote it, even if index and state are lost or its file was moved. What came by clone or sync has
ids of another book, and is `external` whatever its entry line claims, until a person vouches for it. The vouching is a
file, too: a seal of each entry, made with the key, so that a list of another book, or for another text, does not count.

Text that a person wrote by hand has no id. It is theirs, but for what stood in the book before it had a key here: that
came with a clone, and is listed in `.commonplace/received`. A copy or a backup of the whole folder, its key included,
is trusted like the book itself.

What was purged and comes back is quarantined until a reviewer accepts it.
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
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import MEMORIES, PRIVATE, BookPath
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
        self._files = VaultHandle(vault, space)
        self._key = ""
        self._received: frozenset[str] | None = None
        self._vouched: dict[str, frozenset[str]] = {}  # by file; none of them ever changes
        self._coming: set[str] = set()

    @property
    def key(self) -> str:
        """Return the key of the book; empty where it has none, as on a read-only disk."""
        if not self._key:
            self._key = self._text(KEY).strip()
        return self._key

    def read(self, data: bytes, purged: Collection[str] | None = None) -> Note:
        """Return a note; one that was purged and has come back is quarantined. `purged` are all ids with a tombstone,
        for callers that read many notes."""
        note = parse(data)
        if not (self._is_purged(note.meta.id) if purged is None else note.meta.id in purged):
            return note
        return Note(note.front, note.lead, note.blocks, note.meta._replace(status=Status.QUARANTINED))

    def _is_purged(self, ident: str) -> bool:
        stone = tombstone(ident)
        return stone is not None and self._files.stat(stone) is not None

    def reader_of(self, folder: BookPath) -> EntriesOf:
        """Return a function that reads the entries of notes in a folder. The list of vouched entries is read once for
        all of them. Notes of the journal are not memories: their ids have no mark."""
        if not folder.is_within(MEMORIES):
            return _recorded
        known: list[frozenset[str]] = []

        def seals() -> list[frozenset[str]]:
            if not known:
                known.append(frozenset().union(*self._seals()))
            return known

        return lambda note: self._entries(note, seals)

    def entries_of(self, note: Note) -> tuple[Entry, ...]:
        """Return the entries of a note, each with the trust that it has here."""
        return self._entries(note, self._seals)

    def _entries(self, note: Note, seals: _Seals) -> tuple[Entry, ...]:
        entries = note.entries
        by_hand = len(entries) - len(note.blocks)
        return (
            *(self._hand_written(entry, seals) for entry in entries[:by_hand]),
            *(self._claimed(entry, seals) for entry in entries[by_hand:]),
        )

    def is_outside(self, note: Note, newest: Entry | None, *, given: bool) -> bool:
        """Return whether the text that sums up a note came from outside: from its newest entry or, for a summary that
        was given, from the first."""
        if newest is not None and note.blocks and not given:  # almost always
            return self.believed(newest).trust is Trust.EXTERNAL
        return is_summed_up_outside(self.entries_of(note), given=given)

    def shown(self, path: BookPath, data: bytes) -> bytes:
        """Return a file as it may be shown: its entry lines claim no more trust than they have here."""
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
        """Return an entry with the trust it claims if it was written here or vouched for, else as external."""
        return self._claimed(entry, self._seals)

    def _claimed(self, entry: Entry, seals: _Seals) -> Entry:
        if entry.trust is Trust.EXTERNAL:
            return entry
        if self.key and (is_signed_id(entry.id, self.key) or self._is_vouched(entry, seals)):
            return entry
        return entry._replace(trust=Trust.EXTERNAL)

    def vouch(self, notes: Iterable[Note]) -> Write | None:
        """Return the write by which a person vouches for these notes; None where all of them are trusted already.

        It counts as made from now on, until `forget_pending` takes it back.
        """
        read = self.reader_of(MEMORIES)
        seals = [_seal(self.key, entry) for note in notes for entry in _doubted(note, read)] if self.key else []
        self._coming.update(seals)
        return _list_of(seals) if seals else None

    def forget_pending(self) -> None:
        """Take back what `vouch` counted as made: the commit that should have written it has failed."""
        self._coming.clear()

    def doubted(self, notes: Iterable[tuple[BookPath, Note]]) -> dict[BookPath, Note]:
        """Return the notes that claim more trust than they have here."""
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
        """Return the seals of all entries that were vouched for until now."""
        for name in self._names():
            if name not in self._vouched:
                self._vouched[name] = frozenset(self._text(VOUCHED / name).split())
        return list(self._vouched.values())

    def _names(self) -> Sequence[str]:
        try:
            listed = self._files.list_folder(VOUCHED)
        except CommonplaceError:
            return ()
        return [item.name for item in listed if item.stat.kind is FileKind.FILE]

    def _received_ids(self) -> frozenset[str]:
        if self._received is None:
            self._received = frozenset(self._text(RECEIVED).split())
        return self._received

    def _text(self, path: BookPath) -> str:
        try:
            return self._files.read(path).data.decode("utf-8", "replace")
        except CommonplaceError:
            return ""


def is_summed_up_outside(entries: Sequence[Entry], *, given: bool) -> bool:
    """Return whether the entry that sums up a note came from outside: the first for a given summary, else the last."""
    return bool(entries) and entries[0 if given else -1].trust is Trust.EXTERNAL


def _doubted(note: Note, read: EntriesOf) -> Iterator[Entry]:
    for entry, known in zip(note.entries, read(note), strict=True):
        if known.trust is not entry.trust:
            yield entry


def _recorded(note: Note) -> Sequence[Entry]:
    """Return the entries of a journal. The book writes none there as a person, so none is trusted as a person's."""
    return [entry._replace(trust=Trust.EXTERNAL) if entry.trust is Trust.HUMAN else entry for entry in note.entries]


def key_file() -> bytes:
    """Return the content of the key file of a new book."""
    return f"{new_signing_key()}\n".encode()


def settle(notes: Iterable[Note], *, own: bool) -> list[Write]:
    """Return the writes, to be made one after the other, that give a key to a book that has memories and no key.

    It came by clone, or was written here by a version of this program without keys (`own`). What the latter says is
    vouched for. Of the former, hand-written text is listed as received; a list that is there already is replaced.
    """
    data = key_file()
    key, write = data.decode().strip(), Write(KEY, data, ABSENT)
    if own:
        seals = [_seal(key, entry) for note in notes for entry in note.entries if entry.trust is not Trust.EXTERNAL]
        return [_list_of(seals), write] if seals else [write]
    received = [named(entry).id for note in notes for entry in note.entries[: len(note.entries) - len(note.blocks)]]
    return [Write(RECEIVED, _lines(received)), write] if received else [write]


def _seal(key: str, entry: Entry) -> str:
    """Return the seal that vouches for an entry: it is valid for this text and this key only."""
    entry = named(entry)
    return sign_text(key, f"{entry.id}\n{entry.trust}\n{entry.text}")


def _list_of(seals: Iterable[str]) -> Write:
    return Write(VOUCHED / f"{new_id()}.txt", _lines(seals), ABSENT)


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in dict.fromkeys(lines)).encode()
