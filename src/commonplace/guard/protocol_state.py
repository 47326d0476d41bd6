"""What the protocol remembers of one caller: its state, the values in it, of which a call is one (`Operation`), and the
JSON it is stored as.

A state lives for half an hour. JSON that cannot be read gives an empty state: losing one costs the caller one more note
and never a memory. It stays small: only the newest reads and keys are kept. What was asked or written does not stand in
it: of a question it has hashes of its words, of a call id a hash. guard/protocol.py changes states; `state_key` names
the place of one in the state port.
"""

import json
from enum import StrEnum
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.names import short_hash
from commonplace.model.times import FIRST, shift_time

LIFE_SECONDS = 30 * 60
MOST_READS, MOST_SEEN, MOST_UNINDEXED, MOST_CALLS = 24, 256, 32, 32
_MOST_TEXT = 200
_FORM = 2  # of the JSON


class CallKind(StrEnum):
    """The step of the protocol that a call is."""

    READ = "read"
    WRITE = "write"
    RETIRE = "retire"
    INDEX = "index"
    OTHER = "other"


class ReadReach(StrEnum):
    """What a read could have returned."""

    SCOPE = "scope"  # anything in its scopes that fits the query
    RETURNED = "returned"  # only what it did return: one memory, or those that passed a filter


class Operation(NamedTuple):
    """One tool call, as the protocol sees it."""

    kind: CallKind
    tool: str = ""
    scopes: tuple[str, ...] = ()  # empty: every scope that the caller sees
    keys: tuple[str, ...] = ()
    reach: ReadReach = ReadReach.SCOPE
    words: tuple[str, ...] | None = None  # hashes of what a read asked for; None: it asked for everything
    about: str = ""  # the text that is written, or its beginning; never kept
    settled: bool = False
    keeps_index: bool = True

    @property
    def scope(self) -> str:
        """The scope that a write goes to."""
        return self.scopes[0] if self.scopes else ""


class MemoryRef(NamedTuple):
    """A memory by scope and key; an empty scope stands for any scope."""

    scope: str
    key: str


class DuplicateCandidate(NamedTuple):
    """A memory that a write may repeat (`same`) or contradict (`contradicts`), found by the search for duplicates."""

    key: str
    scope: str
    similarity: float = 1.0
    relation: str = "same"
    updated: str = ""

    @property
    def ref(self) -> MemoryRef:
        """The memory's scope and key."""
        return MemoryRef(self.scope, self.key)


Candidates = tuple[DuplicateCandidate, ...]
Question = tuple[str, ...]
"""What a read asked, as hashes of its telling words."""


class CallOutcome(NamedTuple):
    """How a call ended."""

    ok: bool
    returned: tuple[MemoryRef, ...] = ()  # by a read
    complete: bool = True  # a read without a query returned everything there is
    written: MemoryRef | None = None  # by a write whose arguments did not name the memory
    candidates: Candidates = ()  # of a write, most similar first
    relevant: frozenset[Question] = frozenset()  # those questions of its reads that were about what it says
    nearest: MemoryRef | None = None  # the memory nearest to what a write says
    weak: tuple[MemoryRef, ...] = ()  # by a read, too, but perhaps about something else than it asked


class ReadRecord(NamedTuple):
    """A read that ended: what it covered, and when."""

    scopes: tuple[str, ...]  # empty: all scopes
    words: Question | None  # None: it asked for everything there is
    complete: bool
    at: int  # when it was answered
    time: str


class SeenMemory(NamedTuple):
    """A memory that the caller has read or written, and since when. A host's write may have no key: it is empty."""

    scope: str
    key: str
    at: int
    is_read: bool = (
        True  # else it was a weak match, or the caller wrote it: that tells nothing about what else is there
    )

    @property
    def ref(self) -> MemoryRef:
        """The memory's scope and key."""
        return MemoryRef(self.scope, self.key)


class IndexUpdate(NamedTuple):
    """An update of an index that the host keeps. It closed the cycle: what was read before counts no more."""

    scope: str  # empty: all scopes
    at: int


class PendingCall(NamedTuple):
    """A call that has begun and not ended."""

    id: str  # a hash of it
    operation: Operation
    at: int
    time: str = FIRST
    indexed: bool = False  # an index update ended meanwhile


class ProtocolState(NamedTuple):
    """What the protocol remembers of one caller.

    Every `at` in it orders the begins and ends of calls: on a clock that only rises and that all calls share, or
    counted from one.
    """

    time: str = FIRST
    tick: int = 0  # the latest `at`
    reads: tuple[ReadRecord, ...] = ()
    seen: tuple[SeenMemory, ...] = ()
    unindexed: tuple[SeenMemory, ...] = ()  # written, not yet in the index
    calls: tuple[PendingCall, ...] = ()
    missed: int = 0  # writes in a row that missed something
    updates: tuple[IndexUpdate, ...] = ()
    lead: str = ""  # of a session, without reads of its own: the state key of its first agent

    def to_json(self) -> str:
        """Return the state as a JSON text for the state port."""
        return json.dumps([_FORM, *self], separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> "ProtocolState":
        """Return the state that `to_json` wrote; an empty state for any other text."""
        try:
            form, *fields = json.loads(text or "")
            state: ProtocolState = _parse(_STATE, fields) if form == _FORM else cls()
            return state
        except (ValueError, TypeError, InvalidField, RecursionError):
            return cls()


class MissedSteps(NamedTuple):
    """What a write missed, and which write it was."""

    operation: Operation
    missing_read: bool = False
    unread: Candidates = ()  # top candidates that no read returned or could have returned
    near_duplicate: Candidates = ()
    drift: tuple[MemoryRef, ...] = ()  # earlier writes that never reached the index
    missed_before: int = 0  # how many writes in a row had missed something already
    unindexed: tuple[MemoryRef, ...] = ()  # what it wrote itself and the host has yet to put into its index

    @property
    def is_clean(self) -> bool:
        """Whether the write missed nothing; its own index update is still to come."""
        return not (self.missing_read or self.near_duplicate or self.drift)


def is_expired(state: ProtocolState, now: str) -> bool:
    """Whether the state is older than half an hour."""
    return now >= shift_time(state.time, LIFE_SECONDS)


def state_key(process_or_token: int | str, project: str | None, session: str | None, agent: str | None) -> str:
    """Return the name under which a caller's state is stored.

    A token is a string and always counts. A process id counts only where no session is known: two servers started by
    one session are one caller.
    """
    owner = f"token {process_or_token}"
    if not isinstance(process_or_token, str):
        owner = "session" if session else f"process {process_or_token}"
    words = (owner, project or "", session or "", agent or "")
    return "protocol " + short_hash("\n".join(ascii(word) for word in words), 32)


def parent_state_keys(
    process_or_token: int | str, project: str | None, session: str | None, agent: str | None
) -> list[str]:
    """Return the state keys of the agents above this one, nearest first; none without a session.

    `a/b` is a sub-agent of `a`, and every named agent is one of the session's own agent, which has no name.
    """
    if not session or not agent:
        return []
    levels = agent.split("/")
    above = ["/".join(levels[:size]) for size in range(len(levels) - 1, 0, -1)]
    return [state_key(process_or_token, project, session, name) for name in (*above, None)]


def shorten(text: str) -> str:
    """Return the text, or for a long one its beginning and a hash, so that two texts never become one."""
    if len(text) <= _MOST_TEXT and len(ascii(text)) <= _MOST_TEXT + 2:
        return text
    return f"{ascii(text[:100])[1:101]}#{short_hash(ascii(text), 32)}"


def _parse(shape: Any, given: Any) -> Any:
    """Return the value in parsed JSON that has this shape; raises ValueError, TypeError or InvalidField otherwise.

    A shape is a plain type, a function that parses one value, a tuple of a class and the shapes of its fields, or a
    list of the shape of all its items.
    """
    expected = list if isinstance(shape, (tuple, list)) else shape
    if expected in (list, str, bool) and type(given) is not expected:
        raise TypeError
    if isinstance(shape, tuple):
        make, *fields = shape
        return make(*(_parse(field, value) for field, value in zip(fields, given, strict=True)))
    if isinstance(shape, list):
        return tuple(_parse(shape[0], item) for item in given[-MOST_SEEN:])
    return shape(given)


def _time(given: Any) -> str:
    return shift_time(_parse(str, given), 0)


def _count(given: Any) -> int:
    if type(given) is not int or given < 0:
        raise TypeError
    return given


def _question(given: Any) -> Question | None:
    words: Question | None = None if given is None else _parse([str], given)
    return words


_READ = (ReadRecord, [str], _question, bool, _count, str)
_SEEN = (SeenMemory, str, str, _count, bool)
_OPERATION = (Operation, CallKind, str, [str], [str], ReadReach, _question, str, bool, bool)
_CALL = (PendingCall, str, _OPERATION, _count, _time, bool)
_UPDATE = (IndexUpdate, str, _count)
_STATE = (ProtocolState, _time, _count, [_READ], [_SEEN], [_SEEN], [_CALL], _count, [_UPDATE], str)
