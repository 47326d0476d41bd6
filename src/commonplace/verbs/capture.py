"""The verb `capture`: read the transcripts that hooks left in the spool, and propose what is worth keeping, for review.

Each reading starts where the last one ended, so that a fact is proposed once. What fails is tried three times and then
dropped: a transcript that cannot be read loses no memory. A proposal goes to the project of its session, or to the
global scope if it had none, and is told to no agent before a person has accepted it. There are at most five of one
transcript, and fifty that wait: what is over is counted and dropped. What a person rejected is remembered by hashes,
and not proposed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.context.capture import Fact, find_facts
from commonplace.context.records import (
    TRANSCRIPT_SPOOL,
    SpooledTranscript,
    delete_old_sessions,
    find_session,
    parse_spooled,
)
from commonplace.context.transcripts import read_transcript
from commonplace.guard.audit import Facts
from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle, lookup
from commonplace.model.errors import CommonplaceError, NotPermitted, SecretFound
from commonplace.model.memory import CAPTURED, Entry, Status
from commonplace.model.names import short_hash
from commonplace.model.results import CaptureResult, StoreResult
from commonplace.model.scope import GLOBAL, Scope, ScopeKind
from commonplace.project.identity import identify_caller
from commonplace.project.matching import match_project
from commonplace.project.root_commit import gather_evidence
from commonplace.recall.duplicates import find_near_duplicates
from commonplace.state.port import SpoolItem
from commonplace.text.words import fingerprint, word_hashes
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import Write
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.store import Draft, store_draft
from commonplace.verbs.verb import Access, NoRequest, verb

MOST_OF_SESSION, MOST_PENDING = 5, 50
_READ, _REJECTED = "captured/", "rejected/"
_AT_ONCE, _LEASE_SECONDS, _TRIES = 200, 600, 3
_COMPARED = 20
_MOST_REJECTED = 1_000
_SALT = "rejected"


class _SpooledReading(NamedTuple):
    """One transcript to read, and the items of the spool that name it."""

    transcript: SpooledTranscript
    ids: list[str]
    tries: int


class _Outcome(NamedTuple):
    """What became of the facts of one reading."""

    stored: Sequence[StoreResult] = ()
    secrets: int = 0
    dropped: int = 0


def _describe_capture(result: CaptureResult, _: NoRequest) -> Facts | None:
    if not (result.transcripts or result.failed or result.refused):
        return None
    keys = tuple(f"{item.scope}/{item.key}" for item in result.proposed)
    return {"keys": keys, "count": len(keys), "refused": result.refused, "failed": result.failed}


@verb(
    Access.WRITE,
    audit=_describe_capture,
    command="capture",
    examples=("commonplace review --capture", "commonplace review --capture --json"),
    no_tool="the server does it by itself",
)
def capture(context: BookContext, _: NoRequest) -> CaptureResult:
    """Propose what conversations taught, for review.

    Hooks record where the transcripts of connected agents are. This command reads what is new in them, finds
    corrections, preferences, decisions, requests to remember, and commands that worked after failing, by rule, and
    proposes up to five for each session; `commonplace review` decides. It leaves out what is marked <private>, what
    looks like a secret, what you rejected before, and what this book itself told the agent. The MCP server does the
    same by itself. `commonplace config set capture off` turns it off.
    """
    if context.caller.sealed:
        raise NotPermitted("`capture` reads what every session left: a sealed caller may not use it.")
    state, space = context.state, context.memories.space
    now = context.memories.clock()
    delete_old_sessions(state, space, now)
    spooled = state.spool_take(space, TRANSCRIPT_SPOOL, _AT_ONCE, now, _LEASE_SECONDS)
    taken = _by_transcript(spooled)
    named = {ident for item in taken for ident in item.ids}
    state.spool_done(space, [item.id for item in spooled if item.id not in named])
    if context.settings.capture != "auto":
        state.spool_done(space, named)
        return CaptureResult(0, 0, 0, ())
    proposed: list[StoreResult] = []
    read = refused = failed = dropped = 0
    for item in taken:
        try:
            outcome = _capture_one(context, item.transcript)
        except CommonplaceError as error:
            log.warning("event=capture_failed code=%s tries=%d", error.code, item.tries)
            failed += 1
            if item.tries < _TRIES:
                continue
            outcome = _Outcome()
        else:
            read += 1
        proposed += outcome.stored
        refused += outcome.secrets
        dropped += outcome.dropped
        state.spool_done(space, item.ids)
    return CaptureResult(read, failed, refused, tuple(proposed), dropped)


def _by_transcript(spooled: Sequence[SpoolItem]) -> list[_SpooledReading]:
    """One reading for each transcript, as far as it is known to go."""
    found: dict[str, _SpooledReading] = {}
    for item in spooled:
        transcript = parse_spooled(item.payload)
        if transcript is None:
            continue
        before = found.get(transcript.path)
        if before is None:
            found[transcript.path] = _SpooledReading(transcript, [item.id], item.tries)
        else:
            further = transcript if transcript.end > before.transcript.end else before.transcript
            found[transcript.path] = _SpooledReading(further, [*before.ids, item.id], max(before.tries, item.tries))
    return list(found.values())


def _capture_one(context: BookContext, transcript: SpooledTranscript) -> _Outcome:
    """Propose the facts of one transcript that are new."""
    check_secrets(transcript.session)
    check_secrets(transcript.project)
    state, space = context.state, context.memories.space
    mark = f"{_READ}{short_hash(transcript.path, 32)}"
    done, proposed = _parse_mark(state.get_fact(space, mark))
    if transcript.end <= done:
        return _Outcome()
    session = find_session(state, space, transcript.session)
    told = session.hashes if session is not None else ()
    scope = Scope(ScopeKind.PROJECT, transcript.project) if transcript.project else GLOBAL
    left = min(MOST_OF_SESSION - proposed, MOST_PENDING - count_captured(context))
    stored: list[StoreResult] = []
    secrets = dropped = 0
    for fact in find_facts(read_transcript(transcript.path, transcript.host, transcript.end), told, done):
        try:
            check_secrets(fact.text)
        except SecretFound:
            secrets += 1
            continue
        if _was_rejected(context, fact.text) or _is_known(context, fact, scope):
            continue
        if len(stored) >= left:
            dropped += 1
            continue
        result = _propose(context, transcript, scope, fact)
        stored += [result] if result.action == "created" else []
    state.set_fact(space, mark, f"{transcript.end} {proposed + len(stored)}")
    return _Outcome(stored, secrets, dropped)


def _parse_mark(mark: str | None) -> tuple[int, int]:
    """Return how far a transcript was read, and how many proposals were made of it."""
    end, _, proposed = (mark or "0").partition(" ")
    return int(end), int(proposed or "0")


def count_captured(context: BookContext) -> int:
    """Return how many proposals of `capture` wait in the whole book."""
    with context.reading() as index:
        return sum(CAPTURED in row.tags and row.status == Status.PROPOSED for row in index.rows_to_review())


def _is_known(context: BookContext, fact: Fact, scope: Scope) -> bool:
    """Whether a memory that the caller sees, or one of that scope, says nearly this already."""
    folders = [str(folder) for folder in (*context.folders_to_search(None), context.folder(scope))]
    with context.reading() as index:
        return bool(find_near_duplicates(fact.text, index.find_same_words(fact.text, folders, _COMPARED), limit=1))


def _propose(context: BookContext, transcript: SpooledTranscript, scope: Scope, fact: Fact) -> StoreResult:
    entry = Entry(
        time="",
        text=fact.text,
        trust=fact.trust,
        author="user" if fact.role == "user" else transcript.agent or transcript.host,
        host=transcript.host or None,
        session=transcript.session,
        occurred=fact.time or None,
    )
    labels = lifecycle.Labels(fact.kind, (CAPTURED,), status=Status.PROPOSED)
    folder = context.folder(scope)
    with context.memories.unit(folder, KEEPER) as unit:
        page = _page_of_other(context, transcript, scope, folder)
        if page is not None:
            unit.put_aside(page)
        result = store_draft(context, unit, scope, Draft(entry, labels))
        unit.commit()
    return result


def _page_of_other(context: BookContext, transcript: SpooledTranscript, scope: Scope, folder: BookPath) -> Write | None:
    """Return the write that makes the `_scope.md` of another project than the caller's, as its own caller would.

    Without what its folder can be known by, the project could never prove that the memories are its own.
    """
    if scope.kind is not ScopeKind.PROJECT or scope.id == context.caller.project:
        return None
    session = find_session(context.state, context.memories.space, transcript.session)
    here = session.cwd if session is not None and os.path.isdir(session.cwd) else None
    identity = identify_caller(context.state, context.settings._replace(project=None), context.root, here)
    if identity is None or match_project(context.memories.files, identity, context.repositories).id != scope.id:
        return None
    return lookup.describe(context.memories, scope, folder, gather_evidence(identity.backing, context.repositories))


# What a person rejected


def remember_rejected(context: BookContext, text: str) -> None:
    """Remember by hashes of its words that a person rejected a proposal."""
    state, space = context.state, context.memories.space
    name = fingerprint(text)
    if not name:
        return
    known = state.list_facts(space, _REJECTED)
    if len(known) >= _MOST_REJECTED:
        oldest = min(known, key=lambda fact: json.loads(known[fact])["at"])
        state.set_fact(space, oldest, None, lasting=False)
    value = {"at": context.memories.clock(), "words": word_hashes(text, _SALT)}
    state.set_fact(space, f"{_REJECTED}{name}", json.dumps(value))


def _was_rejected(context: BookContext, text: str) -> bool:
    """Return whether a person rejected a proposal with these words, or most of them."""
    words = set(word_hashes(text, _SALT))
    for value in context.state.list_facts(context.memories.space, _REJECTED).values():
        rejected = json.loads(value)["words"]
        if words and 4 * len(words.intersection(rejected)) >= 3 * max(len(words), len(rejected)):
            return True
    return False
