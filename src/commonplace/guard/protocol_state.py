"""What the protocol remembers of a caller: a small value that lives for half an hour, and the words it is made of.

A state can be written as JSON and read back; what cannot be read is an empty state, because losing it costs a caller
one more note and never a memory. It does not grow: the newest reads and keys are kept.
"""

import json
from typing import Any, Final, NamedTuple

from commonplace.guard.vocabulary import Kind, Operation, Reach
from commonplace.model.errors import InvalidField
from commonplace.model.ids import short_hash
from commonplace.model.times import FIRST, shift

LIFE_SECONDS: Final = 30 * 60
MOST_READS, MOST_SEEN, MOST_OPEN, MOST_CALLS = 24, 256, 32, 32
_MOST_TEXT = 200
_FORM = 1  # of the JSON


class Candidate(NamedTuple):
    """A memory that a write may repeat (`same`) or deny (`contradicts`). Found and weighed by somebody else."""

    key: str
    scope: str
    similarity: float = 1.0
    relation: str = "same"
    updated: str = ""


class Place(NamedTuple):
    """A memory by scope and key. Without a scope it is the key in any scope."""

    scope: str
    key: str


class Outcome(NamedTuple):
    """How a call ended."""

    ok: bool
    returned: tuple[Place, ...] = ()  # by a read
    complete: bool = True  # a read without a question returned all there is
    written: Place | None = None  # by a write, when its arguments did not say
    candidates: tuple[Candidate, ...] = ()  # of a write, most alike first
    relevant: frozenset[str] = frozenset()  # which of `questions(state)` could have found the candidates


class Read(NamedTuple):
    scopes: tuple[str, ...]  # none: all
    query: str  # "": whatever there is
    complete: bool
    at: int
    time: str


class Seen(NamedTuple):
    scope: str
    key: str
    at: int


class Call(NamedTuple):
    """A call in flight."""

    id: str
    operation: Operation
    at: int
    time: str = FIRST
    indexed: bool = False  # an update of the index ended meanwhile


class State(NamedTuple):
    time: str = FIRST
    tick: int = 0  # counts beginnings and ends: what was before what
    reads: tuple[Read, ...] = ()
    seen: tuple[Seen, ...] = ()
    open: tuple[Seen, ...] = ()  # written, and not in the index
    calls: tuple[Call, ...] = ()
    missed: int = 0  # writes in a row that missed something

    def to_json(self) -> str:
        return json.dumps([_FORM, *self], separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> "State":
        """A state that was kept; an empty one from anything else."""
        try:
            form, *fields = json.loads(text or "")
            return _state(*fields) if form == _FORM else cls()
        except (ValueError, TypeError, InvalidField, RecursionError):
            return cls()


class Findings(NamedTuple):
    """What a write missed."""

    operation: Operation
    missing_read: bool = False
    unread: tuple[Candidate, ...] = ()  # top candidates that no read has returned or could have
    near_duplicate: tuple[Candidate, ...] = ()
    drift: tuple[Place, ...] = ()  # earlier writes that never reached the index
    before: int = 0  # how many writes in a row had missed something already

    @property
    def clean(self) -> bool:
        return not (self.missing_read or self.near_duplicate or self.drift)


def expired(state: State, now: str) -> bool:
    return now >= shift(state.time, LIFE_SECONDS)


def state_key(process_or_token: int | str, project: str | None, session: str | None, agent: str | None) -> str:
    """Under which name a caller's state is kept.

    A token is a text and always counts. A process id counts only where no session is known: two servers that one
    session started are one caller.
    """
    owner = f"token {process_or_token}" if isinstance(process_or_token, str) else f"process {process_or_token}"
    if session and not isinstance(process_or_token, str):
        owner = "session"
    words = (owner, project or "", session or "", agent or "")
    return "protocol " + short_hash("\n".join(ascii(word) for word in words), 32)


def parent_keys(process_or_token: int | str, project: str | None, session: str | None, agent: str | None) -> list[str]:
    """Where to look for the state of the agent that started this one, nearest first: `a/b` is a sub-agent of `a`, and
    every agent of a session one of that session's own, who has no name. None without a session."""
    if not session or not agent:
        return []
    levels = agent.split("/")
    above = ["/".join(levels[:size]) for size in range(len(levels) - 1, 0, -1)]
    return [state_key(process_or_token, project, session, name) for name in (*above, None)]


def short(text: str) -> str:
    """A text that is not too long to keep; a long one as its beginning and a hash, so that two never become one."""
    if len(text) <= _MOST_TEXT and len(ascii(text)) <= _MOST_TEXT + 2:
        return text
    return f"{ascii(text[:100])[1:101]}#{short_hash(ascii(text), 32)}"


def _state(time: Any, tick: Any, reads: Any, seen: Any, still: Any, calls: Any, missed: Any) -> State:
    """A state from what JSON made of one; ValueError, TypeError or InvalidField when it is none."""
    shift(_str(time), 0)
    return State(
        time,
        _number(tick),
        tuple(
            Read(_texts(one[0]), _str(one[1]), one[2] is True, _number(one[3]), _str(one[4])) for one in _list(reads, 5)
        ),
        tuple(Seen(_str(one[0]), _str(one[1]), _number(one[2])) for one in _list(seen, 3)),
        tuple(Seen(_str(one[0]), _str(one[1]), _number(one[2])) for one in _list(still, 3)),
        tuple(
            Call(_str(one[0]), _operation(*one[1]), _number(one[2]), shift(_str(one[3]), 0), one[4] is True)
            for one in _list(calls, 5)
        ),
        _number(missed),
    )


def _operation(
    kind: Any, tool: Any, scopes: Any, keys: Any, reach: Any, query: Any, about: Any, settled: Any, keeps: Any
) -> Operation:
    words = _str(tool), _texts(scopes), _texts(keys), Reach(reach), _str(query), _str(about)
    return Operation(Kind(kind), *words, settled is True, keeps is True)


def _list(given: Any, size: int) -> list[Any]:
    if not isinstance(given, list) or not all(isinstance(one, list) and len(one) == size for one in given):
        raise TypeError
    return given[-MOST_SEEN:]


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise TypeError
    return tuple(_str(one) for one in given[:MOST_SEEN])


def _str(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError
    return given


def _number(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise TypeError
    return given
