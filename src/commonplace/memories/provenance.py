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
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache

from commonplace.memories.history import normalise_entry, tombstone
from commonplace.memories.layout import KEY, KEY_CHECK, check_write, new_key_writes
from commonplace.memories.rows import EntriesOf
from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, Status, Trust
from commonplace.model.names import is_signed_id, new_id, short_hash, sign_text
from commonplace.model.scope import Space
from commonplace.text.notes import IN_CONFLICT, Note, has_conflict, parse
from commonplace.vault.paths import MEMORIES, PRIVATE, TREE, BookPath
from commonplace.vault.port import ABSENT, UNUSABLE, FileKind, Vault, VaultHandle, Write

VOUCHED = PRIVATE / "vouched"
RECEIVED = PRIVATE / "received"
_FROM_OUTSIDE = f"<!-- entry trust={Trust.EXTERNAL.value} -->"  # above a text by hand that has no line of its own
_Seals = Callable[[], frozenset[str]]
_SESSION = lazy(r'^(<!-- entry\b[^\n]*? session=)("(?:[^"\\\n]|\\.)*"|[^\s"]+)', re.M)
_LINE = lazy(r"^<!-- entry(?: id=([0-9a-f-]{36}))?", re.M)


class Provenance:
    """What one book knows of where its entries come from."""

    def __init__(self, vault: Vault, space: Space) -> None:
        self._files = VaultHandle(vault, space)
        self._key = ""
        self._received: frozenset[str] | None = None
        self._vouched: dict[str, frozenset[str]] = {}  # by file; none of them ever changes

    @property
    def key(self) -> str:
        """Return the key of the book; empty where it has none, as on a read-only disk."""
        if not self._key:
            self._key = self._text(KEY).strip()
        return self._key

    def is_key_damaged(self) -> bool:
        """Return whether the key is not the one that the book was given; also if it was lost, and another was made."""
        check = self._text(KEY_CHECK).strip()
        return bool(self.key and check) and check_write(self.key).data.decode().strip() != check

    def is_signed(self, entry: Entry) -> bool:
        """Return whether this book, with the key it has now, wrote an entry."""
        return is_signed_id(entry.id, self.key)

    def read(self, data: bytes, file_time: str = "", purged: Collection[str] | None = None) -> Note:
        """Return a note; one that was purged and has come back is quarantined. `file_time` is as for `parse`; `purged`
        are all ids with a tombstone, for callers that read many notes."""
        note = parse(data, file_time)
        ident = note.meta.id
        if purged is None:
            purged = (ident,) if self._is_purged(ident) else ()
        if ident not in purged:
            return note
        return note.replace(known=note.meta._replace(status=Status.QUARANTINED))

    def _is_purged(self, ident: str) -> bool:
        stone = tombstone(ident)
        try:
            return stone is not None and self._files.stat(stone) is not None
        except UNUSABLE:  # the folder of tombstones cannot be read: `doctor` says so
            return False

    def reader_of(self, folder: BookPath) -> EntriesOf:
        """Return a function that reads the entries of notes in a folder. The list of vouched entries is read once for
        all of them. Notes of the journal are not memories: their ids have no mark."""
        if folder.top == TREE.top:
            return _tree_entries
        if folder.top != MEMORIES.top:
            return _journal_entries
        seals = cache(self._seals)

        def read(note: Note) -> Sequence[Entry]:
            entries = note.entries
            by_hand = len(entries) - len(note.blocks)
            return [self.limit_trust(entry, seals, by_hand=place < by_hand) for place, entry in enumerate(entries)]

        return read

    def entries_of(self, note: Note) -> Sequence[Entry]:
        """Return the entries of a note, each with the trust that it has here."""
        return self.reader_of(MEMORIES)(note)

    def limit_file_trust(self, path: BookPath, data: bytes) -> bytes:
        """Return a file as it may be shown to an agent: its entry lines claim no more trust than they have here."""
        if path.top != MEMORIES.top or not path.name.endswith(".md"):
            return data
        text = data.decode("latin-1")
        if has_conflict(text):
            return f"{IN_CONFLICT}\n".encode()
        idents = _LINE.findall(text)
        if self.key and not self._received_ids() and all(is_signed_id(ident, self.key) for ident in idents):
            return data
        note = parse(data).with_trust(lambda entry: self.limit_trust(entry).trust)
        if _doubted(_hand_written(note), self.entries_of):
            note = note.with_hand_line(_FROM_OUTSIDE)
        return note.render()

    def hide_sessions(self, data: bytes, own: str | None) -> bytes:
        """Return a file whose entry lines name no session but the caller's own: who knows a session's id is let into
        it. Entries of one session still show that they are of one."""

        def hide(match: re.Match[str]) -> str:
            name = match[2].strip('"')
            return match[0] if name == own else f"{match[1]}hidden-{short_hash(self.key + name, 8)}"

        if b" session=" not in data:
            return data
        return _SESSION.sub(hide, data.decode("latin-1")).encode("latin-1")  # a session's id is printable ASCII

    def limit_trust(self, entry: Entry, seals: _Seals | None = None, *, by_hand: bool = False) -> Entry:
        """Return an entry with the trust it claims if it was written here or vouched for, else as external. One by hand
        has no entry line, and is a person's. `seals` returns those that vouch for entries."""
        if entry.trust is Trust.EXTERNAL:
            return entry
        key = self.key
        is_own = normalise_entry(entry).id not in self._received_ids() if by_hand else is_signed_id(entry.id, key)
        if key and (is_own or _seal(key, entry) in (seals or self._seals)()):
            return entry
        return entry._replace(trust=Trust.EXTERNAL)

    def vouch(self, notes: Iterable[Note]) -> Write | None:
        """Return the write by which a person vouches for these notes; None where all of them are trusted already.

        It counts as made from now on, until `forget_pending` takes it back.
        """
        read = self.reader_of(MEMORIES)
        seals = [_seal(self.key, entry) for note in notes for entry in _doubted(note, read)] if self.key else []
        if not seals:
            return None
        write = _list_of(seals)
        self._vouched[write.path.name] = frozenset(seals)
        return write

    def forget_pending(self) -> None:
        """Take back what `vouch` counted as made: the commit that should have written it has failed."""
        self._vouched.clear()

    def doubted(self, notes: Iterable[tuple[BookPath, Note]]) -> dict[BookPath, Note]:
        """Return the notes that claim more trust than they have here."""
        read = self.reader_of(MEMORIES)
        return {path: note for path, note in notes if _doubted(note, read)}

    def _seals(self) -> frozenset[str]:
        """Return the seals of all entries that were vouched for until now."""
        try:
            listed = self._files.list_folder(VOUCHED)
        except CommonplaceError:
            listed = []
        for item in listed:
            if item.stat.kind is FileKind.FILE and item.name not in self._vouched:
                self._vouched[item.name] = frozenset(self._text(VOUCHED / item.name).split())
        return frozenset().union(*self._vouched.values())

    def _received_ids(self) -> frozenset[str]:
        if self._received is None:
            self._received = frozenset(self._text(RECEIVED).split())
        return self._received

    def _text(self, path: BookPath) -> str:
        try:
            return self._files.read(path).data.decode("utf-8", "replace")
        except CommonplaceError:
            return ""


def _hand_written(note: Note) -> Note:
    """Return a note without the entries that have an entry line."""
    return note.replace(blocks=())


def _doubted(note: Note, read: EntriesOf) -> list[Entry]:
    """Return the entries that claim more trust than they have here."""
    return [entry for entry, known in zip(note.entries, read(note), strict=True) if known.trust is not entry.trust]


def limit_journal_trust(entry: Entry) -> Entry:
    """Return an entry of a journal. The book writes none there as a person, so none is trusted as a person's."""
    return entry._replace(trust=Trust.EXTERNAL) if entry.trust is Trust.HUMAN else entry


def _journal_entries(note: Note) -> Sequence[Entry]:
    return [*map(limit_journal_trust, note.entries)]


def _tree_entries(note: Note) -> Sequence[Entry]:
    """Return the entries of a note of the tree: mail, chat and documents are from outside, whatever a file claims."""
    return [entry._replace(trust=Trust.EXTERNAL) for entry in note.entries]


def make_key_writes(notes: Iterable[Note], *, own: bool) -> list[Write]:
    """Return the writes, to be made one after the other, that give a key to a book that has memories and no key.

    It came by clone, or was written here by a version of this program without keys (`own`). What the latter says is
    vouched for. Of the former, hand-written text is listed as received; a list that is there already is replaced.
    """
    writes = new_key_writes()
    key = writes[0].data.decode().strip()
    if own:
        seals = [_seal(key, entry) for note in notes for entry in note.entries if entry.trust is not Trust.EXTERNAL]
        return [_list_of(seals), *writes] if seals else writes
    received = [normalise_entry(entry).id for note in notes for entry in _hand_written(note).entries]
    return [Write(RECEIVED, _lines(received)), *writes] if received else writes


def _seal(key: str, entry: Entry) -> str:
    """Return the seal that vouches for an entry: it is valid for this text and this key only."""
    entry = normalise_entry(entry)
    return sign_text(key, f"{entry.id}\n{entry.trust}\n{entry.text}")


def _list_of(seals: Iterable[str]) -> Write:
    return Write(VOUCHED / f"{new_id()}.txt", _lines(seals), ABSENT)


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in dict.fromkeys(lines)).encode()
