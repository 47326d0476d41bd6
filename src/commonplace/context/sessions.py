"""What is remembered of a running session: where it works, what it was told, how often its user has spoken.

It is a fact of the state, `session/ID`, as JSON: hooks write it, and the MCP server reads which project a session
belongs to. Losing it tells an agent something twice, and no more. Hashes of the sentences an agent was told are kept,
so that what it says after us is never captured as news; what is a month old is swept when the book is cared for.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from commonplace.model.ids import short_hash
from commonplace.model.patterns import lazy
from commonplace.model.space import Space
from commonplace.model.times import is_stamp, shift
from commonplace.state.port import State

PREFIX = "session/"
_MOST_TOLD = 400  # memories, and
_MOST_HASHES = 2_000  # sentences that are remembered of one session
_KEPT_SECONDS = 30 * 86_400
_SENTENCE = lazy(r"(?<=[.!?;])\s+|\n+")
_WORD = lazy(r"\w+")
_FEWEST_WORDS = 3


class Session(NamedTuple):
    id: str
    host: str = ""
    agent: str = ""
    cwd: str = ""
    transcript: str = ""
    project: str = ""
    begun: str = ""
    messages: int = 0  # of the user
    nudge: str = ""  # why one is due; empty when none is
    note: str = ""  # what the next prompt says of files that the last turn left out of the host's own index
    noted: str = ""  # the hash of the last such note, so that it is given once
    told: Mapping[str, str] = {}  # path of a memory: the revision that is in the context window
    hashes: tuple[str, ...] = ()

    def with_told(self, told: Mapping[str, str], texts: Iterable[str]) -> "Session":
        """With these memories, at these revisions, and what they say, told."""
        merged = {**self.told, **told}
        kept = dict(list(merged.items())[-_MOST_TOLD:])
        hashes = dict.fromkeys((*self.hashes, *(mark for text in texts for mark in sentence_hashes(text))))
        return self._replace(told=kept, hashes=tuple(hashes)[-_MOST_HASHES:])


def find_session(state: State, space: Space, ident: str) -> Session | None:
    """What is remembered of a session; None when nothing is, or nothing that can be understood."""
    return _read(ident, state.remembered(space, PREFIX + ident) or "")


def sessions(state: State, space: Space) -> list[Session]:
    """Every session that is remembered, the one begun last first."""
    found = state.remembered_like(space, PREFIX)
    known = [_read(name.removeprefix(PREFIX), value) for name, value in found.items()]
    return sorted((one for one in known if one is not None), key=lambda one: one.begun, reverse=True)


def keep_session(state: State, space: Space, session: Session, *, lasting: bool = False) -> None:
    value = json.dumps({name: getattr(session, name) for name in Session._fields[1:]})
    state.remember(space, PREFIX + session.id, value, lasting=lasting)


def sweep_sessions(state: State, space: Space, now: str) -> None:
    """Forget what is a month old."""
    before = shift(now, -_KEPT_SECONDS)
    for one in sessions(state, space):
        if one.begun < before:
            state.remember(space, PREFIX + one.id, None, lasting=False)


def forget_told(state: State, space: Space, path: str) -> None:
    """Forget that anybody was told of a memory. The marks of its sentences stay: they say nothing, and keep it from
    being captured again from the mouth of an agent that was told."""
    for one in sessions(state, space):
        if path in one.told:
            told = {other: revision for other, revision in one.told.items() if other != path}
            keep_session(state, space, one._replace(told=told), lasting=True)


def sentence_hashes(text: str) -> Sequence[str]:
    """A mark for each sentence of a text that says something, the same in whatever case and punctuation."""
    marks = [words_hash(sentence) for sentence in _SENTENCE.split(text)]
    return [mark for mark in marks if mark]


def words_hash(sentence: str) -> str:
    words = _WORD.findall(sentence.casefold())
    return short_hash(" ".join(words)) if len(words) >= _FEWEST_WORDS else ""


def _read(ident: str, value: str) -> Session | None:
    try:
        said = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    words = {
        name: _text(said.get(name))
        for name in ("host", "agent", "cwd", "transcript", "project", "nudge", "note", "noted")
    }
    told, hashes, messages, begun = (said.get(name) for name in ("told", "hashes", "messages", "begun"))
    return Session(
        id=ident,
        **words,
        begun=begun if isinstance(begun, str) and is_stamp(begun) else "",
        messages=messages if isinstance(messages, int) else 0,
        told={str(path): str(mark) for path, mark in told.items()} if isinstance(told, dict) else {},
        hashes=tuple(map(str, hashes)) if isinstance(hashes, list) else (),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
