"""The verbs `brief` and `capture`: what an agent is told at the start, and what its conversations taught.

`capture` reads the transcripts that hooks left in the spool, and proposes what is worth keeping, for review. Each
reading starts where the last one ended, so that a fact is proposed once. What fails is tried three times and then
dropped: a transcript that cannot be read loses no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from commonplace.context.brief import build_brief
from commonplace.context.capture import Fact, find_facts, read_transcript
from commonplace.context.records import (
    TRANSCRIPT_SPOOL,
    SpooledTranscript,
    delete_old_sessions,
    find_session,
    parse_spooled,
)
from commonplace.guard.audit import Facts
from commonplace.guard.secrets import check_secrets
from commonplace.memories import lifecycle
from commonplace.model.errors import CommonplaceError, NotPermitted, SecretFound
from commonplace.model.memory import Entry, Status
from commonplace.model.names import short_hash
from commonplace.model.results import BriefResult, CaptureResult, StoreResult
from commonplace.model.scope import Scope, ScopeKind
from commonplace.recall.duplicates import find_near_duplicates
from commonplace.state.port import SpoolItem
from commonplace.text.words import estimate_tokens
from commonplace.vault.paths import KEEPER
from commonplace.verbs.at_prompt import brief_sources, recall_at_prompt
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.store import Draft, store_draft
from commonplace.verbs.verb import Access, Arg, NoRequest, verb


class BriefRequest(NamedTuple):
    """What `brief` is asked."""

    prompt: Annotated[
        str | None, Arg("also show what this prompt would be given; - reads it", "TEXT", reads_stdin=True)
    ] = None
    cwd: Annotated[str | None, Arg()] = None
    explain: Annotated[bool, Arg("say for each memory why it is in or out, and what it costs in tokens")] = False


@verb(
    Access.READ,
    command="brief",
    examples=(
        "commonplace brief",
        'commonplace brief --prompt "Which port does staging use?"',
        "commonplace brief --explain",
        "commonplace brief --json",
    ),
    no_tool="hooks and the server's prompt `brief` give it",
)
def brief(context: BookContext, request: BriefRequest) -> BriefResult:
    """Show what an agent is told at the start, and what it costs.

    The exact text that a connected agent gets at the start of a context window in this folder. --prompt also shows what
    would be added to that prompt. The cost in tokens is an estimate. Nothing is counted as used.
    """
    if not context.settings.enabled:
        return BriefResult("", 0, 0, "", 0, ())
    context.folders_to_search(None)
    sources = brief_sources(context)
    made = build_brief(sources, session=context.caller.session, cwd=request.cwd, knows_doctrine=True)
    told = {memory.path: memory.revision for memory in made.memories}
    added, shown = "", made.memories
    if request.prompt:
        found = recall_at_prompt(context, request.prompt, told)
        added, shown = found.text, (*shown, *found.memories)
    refs = tuple(f"{memory.scope.kind}/{memory.key}" for memory in shown)
    explained = tuple(
        {"ref": one.memory.ref, "place": one.place, "why": one.why, "tokens": estimate_tokens(one.line)}
        for one in (made.choices if request.explain else ())
    )
    return BriefResult(
        made.text, len(made.text), estimate_tokens(made.text), added, estimate_tokens(added), refs,
        explained,
    )  # fmt: skip


def find_session_folder(context: BookContext, session: str) -> str | None:
    """Return the folder in which a hook saw a session begin.

    None when no hook did, and for another session than its own in a sealed book.
    """
    if context.caller.sealed and session != context.caller.session:
        return None
    found = find_session(context.state, context.memories.space, session)
    return (found.cwd or None) if found is not None else None


TAG = "captured"
_READ = "captured/"
_AT_ONCE, _LEASE_SECONDS, _TRIES = 200, 600, 3
_COMPARED = 20


class _SpooledReading(NamedTuple):
    """One transcript to read, and the items of the spool that name it."""

    transcript: SpooledTranscript
    ids: list[str]
    tries: int


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

    After `commonplace config set capture auto`, hooks record where the transcripts of connected agents are. This
    command reads what is new in them, finds decisions, corrections, preferences and hard-won facts by rule, and
    proposes them; `commonplace review` decides. It leaves out what is marked <private>, what looks like a secret, and
    what this book itself told the agent.
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
    read = refused = failed = 0
    for item in taken:
        try:
            stored, secrets = _capture_one(context, item.transcript)
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


def _capture_one(context: BookContext, transcript: SpooledTranscript) -> tuple[list[StoreResult], int]:
    """The facts of one transcript that are new, proposed; and how many were kept out because they hold a secret."""
    check_secrets(transcript.session)
    state, space = context.state, context.memories.space
    mark = f"{_READ}{short_hash(transcript.path, 32)}"
    done = int(state.get_fact(space, mark) or "0")
    turns = [turn for turn in read_transcript(transcript.path, transcript.host, transcript.end) if turn.at >= done]
    session = find_session(state, space, transcript.session)
    stored: list[StoreResult] = []
    secrets = 0
    scope = Scope(ScopeKind.SESSION, transcript.session)
    for fact in find_facts(turns, session.hashes if session is not None else ()):
        try:
            check_secrets(fact.text)
        except SecretFound:
            secrets += 1
            continue
        if not _is_known(context, fact, scope):
            stored.append(_propose(context, transcript, scope, fact))
    state.set_fact(space, mark, str(transcript.end))
    return [item for item in stored if item.action == "created"], secrets


def _is_known(context: BookContext, fact: Fact, scope: Scope) -> bool:
    """Whether a memory that the caller sees, or one of that session, says nearly this already."""
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
    labels = lifecycle.Labels(fact.kind, (TAG,), status=Status.PROPOSED)
    with context.memories.unit(context.folder(scope), KEEPER) as unit:
        result = store_draft(context, unit, scope, Draft(entry, labels))
        unit.commit()
    return result
