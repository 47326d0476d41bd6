"""The records that hooks and the book share with this room: sessions, spooled transcripts, and what a brief reads from.

A session is a fact of the state, `session/ID`, as JSON: hooks write it, and the MCP server reads which folder a session
works in. Losing it means that an agent is told something twice, and no more. Hashes of the sentences an agent was told
are kept, so that what it repeats is never captured as news. Records older than a month are deleted when `capture` or
retention runs.

The record also has what decides when a nudge to save is due (`nudges.py`).

The brief and recall at the prompt read from `BriefSources`: a book's files, its index if readable, and the caller's
scopes. A hook builds one with no more than it needs, a `Book` from what it has open; both give the same answer. A
memory that is shown is a `BriefMemory`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from commonplace.index.port import Readable
from commonplace.index.values import WISHES, Row
from commonplace.model.errors import LinkRefused, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import short_hash
from commonplace.model.scope import Scope, Space
from commonplace.model.times import is_timestamp, shift_time
from commonplace.state.port import State
from commonplace.vault.paths import BookPath, View
from commonplace.vault.port import Document, Vault

MAX_FILE_BYTES = 2_000_000  # larger files are not read while an agent waits
ACTIVE = "active"
TRANSCRIPT_SPOOL = "transcript"
STORED = "stored/"  # and a session or an agent: when it last stored something (`nudges.py`)
COMPACTION = "compaction"  # why a nudge is due
_PREFIX = "session/"
_MAX_TOLD = 400  # memories remembered of one session
_MAX_HASHES = 2_000  # sentences remembered of one session
_MAX_HASHED = 4_000  # characters of a memory whose sentences are remembered
_MAX_AGE_SECONDS = 30 * 86_400
_SENTENCE_END = lazy(r"(?<=[.!?;])\s+|\n+")
_WORD = lazy(r"\w+")
_MIN_WORDS = 3


class SessionRecord(NamedTuple):
    """What is remembered of one session. The field names are the JSON names in the state."""

    id: str
    host: str = ""
    agent: str = ""
    cwd: str = ""
    transcript: str = ""
    project: str = ""
    begun: str = ""
    messages: int = 0  # of the user
    nudge: str = ""  # why one waits for the next prompt; empty when none does
    quiet: int = 0  # messages since the last store or nudge
    stored: str = ""  # the mark of the last store that is known
    nudged: int = 0  # the number of the message with the last nudge
    note: str = ""  # for the next prompt: files that the last turn left out of the host's own index
    noted: str = ""  # the hash of the last such note, so that it is given once
    awaits_brief: bool = False  # the next prompt gets the brief, on hosts that take none at the start
    digest: str = ""  # the hash of the digest that is in the context window
    fetched: int = 0  # when the digest was last looked for with success, in seconds since 1970
    fetch_tried: int = 0  # the same, with success or without
    fetch_failures: int = 0  # in a row
    told: Mapping[str, str] = {}  # path of a memory: its revision in the context window
    hashes: tuple[str, ...] = ()  # of the sentences the agent was told

    def with_told(self, told: Mapping[str, str], texts: Iterable[str]) -> "SessionRecord":
        """Return the record with these memories, by path and revision, and their texts marked as told."""
        merged = {**self.told, **told}
        recent = dict(list(merged.items())[-_MAX_TOLD:])
        hashes = dict.fromkeys((*self.hashes, *(mark for text in texts for mark in hash_sentences(text))))
        return self._replace(told=recent, hashes=tuple(hashes)[-_MAX_HASHES:])

    def with_memories(self, memories: Sequence["BriefMemory"]) -> "SessionRecord":
        """Return the record with these memories marked as told."""
        revisions = {memory.path: memory.revision for memory in memories}
        return self.with_told(revisions, [memory.entry.text[:_MAX_HASHED] for memory in memories])

    def with_digest(self, text: str) -> "SessionRecord":
        """Return the record with this digest marked as told; its sentences are not news when the agent repeats them."""
        said = [part for line in text.split("\n")[2:-1] for part in (line, line.partition(": ")[2])]
        return self.with_told({}, said)._replace(digest=short_hash(text))

    def with_empty_window(self) -> "SessionRecord":
        """Return the record with nothing told: the context window is new, or about to be."""
        return self._replace(told={}, digest="", fetched=0, fetch_tried=0, fetch_failures=0)

    def with_compaction(self) -> "SessionRecord":
        """Return the record with a nudge due because of a compaction."""
        return self._replace(nudge=COMPACTION)


def find_session(state: State, space: Space, ident: str) -> SessionRecord | None:
    """Return what is remembered of a session; None if nothing is, or it cannot be parsed."""
    return _parse_session(ident, state.get_fact(space, _PREFIX + ident) or "")


def list_sessions(state: State, space: Space) -> list[SessionRecord]:
    """Return every session that is remembered, the latest first."""
    found = state.list_facts(space, _PREFIX)
    parsed = [_parse_session(name.removeprefix(_PREFIX), value) for name, value in found.items()]
    return sorted((one for one in parsed if one is not None), key=lambda one: one.begun, reverse=True)


def save_session(state: State, space: Space, session: SessionRecord, *, lasting: bool = False) -> None:
    """Write a session's record to the state; `lasting` waits until it is on disk."""
    value = json.dumps({name: getattr(session, name) for name in SessionRecord._fields[1:]})
    state.set_fact(space, _PREFIX + session.id, value, lasting=lasting)


def delete_old_sessions(state: State, space: Space, now: str) -> None:
    """Delete the records of sessions that began more than a month ago, and the marks of stores from then."""
    before = shift_time(now, -_MAX_AGE_SECONDS)
    for name, mark in state.list_facts(space, STORED).items():
        if mark < before:
            state.set_fact(space, name, None, lasting=False)
    for session in list_sessions(state, space):
        if session.begun < before:
            state.set_fact(space, _PREFIX + session.id, None, lasting=False)


def forget_told(state: State, space: Space, path: str) -> None:
    """Forget that any session was told of a memory.

    The hashes of its sentences stay: they reveal nothing, and keep what a told agent repeats from being captured.
    """
    for session in list_sessions(state, space):
        if path in session.told:
            told = {other: revision for other, revision in session.told.items() if other != path}
            save_session(state, space, session._replace(told=told), lasting=True)


def hash_sentences(text: str) -> Sequence[str]:
    """Return a hash for each sentence of a text that has enough words."""
    hashes = [hash_words(sentence) for sentence in _SENTENCE_END.split(text)]
    return [found for found in hashes if found]


def hash_words(sentence: str) -> str:
    """Return a hash of a sentence's words, ignoring case and punctuation; empty if there are too few."""
    words = _WORD.findall(sentence.casefold())
    return short_hash(" ".join(words)) if len(words) >= _MIN_WORDS else ""


def _parse_session(ident: str, value: str) -> SessionRecord | None:
    """Return a session from its JSON; a field that is not as we write it gets its default."""
    try:
        fields = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    defaults = SessionRecord._field_defaults
    same_type = {name: fields[name] for name in defaults if isinstance(fields.get(name), type(defaults[name]))}
    found = SessionRecord(ident, **same_type)
    hashes = fields.get("hashes")
    return found._replace(
        begun=found.begun if is_timestamp(found.begun) else "",
        told={str(path): str(revision) for path, revision in found.told.items()},
        hashes=tuple(map(str, hashes)) if isinstance(hashes, list) else (),
    )


class SpooledTranscript(NamedTuple):
    """A transcript that waits in the spool, and how long it was when a turn ended. Hooks add it, `capture` takes it."""

    path: str
    end: int  # its length in bytes then
    session: str
    host: str
    agent: str
    project: str = ""  # where the session worked, which the proposals are meant for

    def to_json(self) -> str:
        """Return the line for the spool."""
        return json.dumps(self._asdict())


def parse_spooled(text: str) -> SpooledTranscript | None:
    """Return the transcript that a line of the spool names; None for a line that we did not write."""
    try:
        found = SpooledTranscript(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None
    return found if [*map(type, found)] == [str, int, str, str, str, str] else None


class BriefMemory(NamedTuple):
    """A memory to show to an agent: its newest entry, and where that is stored."""

    scope: Scope
    key: str
    path: str
    id: str
    revision: str
    summary: str
    is_pinned: bool
    updated: str
    entry: Entry
    has_more: bool  # it has earlier entries
    type: str = "project"
    later: str = ""  # the memory that may contradict it, as SCOPE/KEY

    @property
    def is_wish(self) -> bool:
        """Whether it says what the user wants."""
        return self.type in WISHES

    @property
    def ref(self) -> str:
        """The memory as SCOPE/KEY."""
        return f"{self.scope.kind}/{self.key}"


class BriefSources(NamedTuple):
    """The files, index and scopes that one caller's brief is built from."""

    vault: Vault
    space: Space
    view: View
    index_reader: Readable | None  # None: it cannot be read, so only the files are used
    folders: Mapping[Scope, BookPath]  # the caller's scopes, nearest first
    unproved_project: str | None = None  # what the caller's folder may be, without proof
    notice: str = ""  # why the index cannot be read, where there is one

    def read(self, path: BookPath) -> Document:
        """Return a file of the book. Raise NotFound if it is missing, or too large to read while an agent waits."""
        stat = self.vault.stat(self.space, self.view, path)
        if stat is None or stat.size > MAX_FILE_BYTES:
            raise NotFound(f"{path} is missing, or too large to show.")
        return self.vault.read(self.space, self.view, path)

    def find_key(self, path: BookPath) -> tuple[Scope, str] | None:
        """Return the scope and the key of a note; None if it is in none of the caller's scopes."""
        for scope, own in self.folders.items():
            if path.is_within(own):
                return scope, "/".join(path.parts[len(own.parts) :]).removesuffix(".md")
        return None

    def make_memory(
        self, path: BookPath, row: Row, entry: Entry, *, has_more: bool, is_mixed: bool
    ) -> BriefMemory | None:
        """Return the memory of an index row; `is_mixed`: some of it is external, and so perhaps its summary."""
        place = self.find_key(path)
        if place is None:
            return None
        summary = "" if is_mixed else row.summary
        return BriefMemory(
            *place, str(path), row.id, row.revision, summary, row.pinned, row.updated, entry, has_more, row.type
        )

    def read_memory(self, path: BookPath) -> BriefMemory | None:
        """Return a memory as its file is now; None if it is missing, inactive, too large, or entirely external."""
        from commonplace.memories import provenance, rows  # noqa: PLC0415 - slow to load, and most briefs need no file

        try:
            document = self.read(path)
        except (NotFound, LinkRefused):
            return None
        origins = provenance.Provenance(self.vault, self.space)
        note = origins.read(document.data, document.stat.time)
        row = rows.row_of(path, note, document.revision)
        entries = [entry for entry in origins.entries_of(note) if entry.trust is not Trust.EXTERNAL]
        if not entries or row.status != ACTIVE:
            return None
        is_mixed = len(entries) < len(note.entries)
        return self.make_memory(path, row, entries[-1], has_more=len(entries) > 1, is_mixed=is_mixed)
