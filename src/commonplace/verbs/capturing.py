"""The verb `capture`: transcripts that wait in the spool are read, and what is worth keeping is proposed, for review.

Each reading goes on where the last one ended, so that a fact is proposed once. What fails is tried three times, and
then given up: a transcript that cannot be read loses no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.context.capture import Fact, find_facts, read_transcript
from commonplace.context.sessions import (
    TRANSCRIPT_SPOOL,
    SpooledTranscript,
    delete_old_sessions,
    find_session,
    parse_spooled,
)
from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle
from commonplace.model.errors import CommonplaceError, NotPermitted, SecretFound
from commonplace.model.ids import short_hash
from commonplace.model.lazy import Log
from commonplace.model.memory import Entry, Status
from commonplace.model.results import CaptureResult, StoreResult
from commonplace.model.scope import Scope, ScopeKind
from commonplace.recall.duplicates import find_near_duplicates
from commonplace.state.port import SpoolItem
from commonplace.vault.paths import KEEPER
from commonplace.verbs.changing import check_writes
from commonplace.verbs.desk import Desk
from commonplace.verbs.storing import store_one

log = Log("commonplace.book")

TAG = "captured"
_READ = "captured/"
_AT_ONCE, _LEASE_SECONDS, _TRIES = 200, 600, 3
_COMPARED = 20


class _Taken(NamedTuple):
    waiting: SpooledTranscript
    ids: list[str]
    tries: int


def capture(desk: Desk) -> CaptureResult:
    """Read what waits. Unless `capture = auto`, what waits is dropped unread: the user does not want it."""
    check_writes(desk)
    if desk.caller.sealed:
        raise NotPermitted("`capture` reads what every session left, and is for one who is not sealed in.")
    state, space = desk.state, desk.keep.space
    now = desk.keep.clock()
    delete_old_sessions(state, space, now)
    spooled = state.spool_take(space, TRANSCRIPT_SPOOL, _AT_ONCE, now, _LEASE_SECONDS)
    taken = _by_transcript(spooled)
    named = {ident for item in taken for ident in item.ids}
    state.spool_done(space, [item.id for item in spooled if item.id not in named])
    if desk.settings.capture != "auto":
        state.spool_done(space, named)
        return CaptureResult(0, 0, 0, ())
    proposed: list[StoreResult] = []
    read = refused = failed = 0
    for item in taken:
        try:
            stored, secrets = _captured(desk, item.waiting)
        except CommonplaceError as error:
            log.warning("event=capture_failed code=%s tries=%d", error.code, item.tries)
            failed += 1
            if item.tries < _TRIES:
                continue
            stored, secrets = [], 0
        else:
            read += 1
        proposed += stored
        refused += secrets
        state.spool_done(space, item.ids)
    return CaptureResult(read, failed, refused, tuple(proposed))


def _by_transcript(spooled: Sequence[SpoolItem]) -> list[_Taken]:
    """One reading for each transcript, as far as it is known to go."""
    found: dict[str, _Taken] = {}
    for item in spooled:
        waiting = parse_spooled(item.payload)
        if waiting is None:
            continue
        before = found.get(waiting.path)
        if before is None:
            found[waiting.path] = _Taken(waiting, [item.id], item.tries)
        else:
            further = waiting if waiting.end > before.waiting.end else before.waiting
            found[waiting.path] = _Taken(further, [*before.ids, item.id], max(before.tries, item.tries))
    return list(found.values())


def _captured(desk: Desk, waiting: SpooledTranscript) -> tuple[list[StoreResult], int]:
    """The facts of one transcript that are new, proposed; and how many were kept out because they hold a secret."""
    check_secrets(waiting.session)
    state, space = desk.state, desk.keep.space
    mark = f"{_READ}{short_hash(waiting.path, 32)}"
    done = int(state.get_fact(space, mark) or "0")
    turns = [turn for turn in read_transcript(waiting.path, waiting.host, waiting.end) if turn.at >= done]
    session = find_session(state, space, waiting.session)
    stored: list[StoreResult] = []
    secrets = 0
    scope = Scope(ScopeKind.SESSION, waiting.session)
    for fact in find_facts(turns, session.hashes if session is not None else ()):
        try:
            check_secrets(fact.text)
        except SecretFound:
            secrets += 1
            continue
        if not _is_known(desk, fact, scope):
            stored.append(_proposed(desk, waiting, scope, fact))
    state.set_fact(space, mark, str(waiting.end))
    return [item for item in stored if item.action == "created"], secrets


def _is_known(desk: Desk, fact: Fact, scope: Scope) -> bool:
    """Whether a memory that the caller sees, or one of that session, says nearly this already."""
    folders = [str(folder) for folder in (*desk.asked(None), desk.folder(scope))]
    with desk.keep.index.reading(desk.keep.space) as index:
        return bool(find_near_duplicates(fact.text, index.find_same_words(fact.text, folders, _COMPARED), limit=1))


def _proposed(desk: Desk, waiting: SpooledTranscript, scope: Scope, fact: Fact) -> StoreResult:
    entry = Entry(
        time="",
        text=fact.text,
        trust=fact.trust,
        author="user" if fact.role == "user" else waiting.agent or waiting.host,
        host=waiting.host or None,
        session=waiting.session,
        occurred=fact.time or None,
    )
    labels = lifecycle.Labels(fact.kind, (TAG,), status=Status.PROPOSED)
    with desk.keep.unit(desk.folder(scope), KEEPER) as unit:
        kept = store_one(desk, unit, scope, None, entry, labels, "append", None)
        unit.commit()
    return kept
