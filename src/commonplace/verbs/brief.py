"""The verbs `brief` and `prefetch`: what an agent is told at the start, and at a prompt."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from commonplace.context.brief import build_brief
from commonplace.context.prefetch_file import find_prefetch
from commonplace.context.records import find_session
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import BriefResult
from commonplace.text.words import estimate_tokens
from commonplace.verbs.at_prompt import brief_sources, recall_at_prompt
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.verb import Access, Arg, NoRequest, verb

_DIGEST = "the last seven days of the sources that you allowed"


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
    digest = _find_digest(context)
    made = build_brief(
        sources, session=context.caller.session, cwd=request.cwd, knows_doctrine=True, digest=digest
    )  # fmt: skip
    told = {memory.path: memory.revision for memory in made.memories}
    added, shown = "", made.memories
    if request.prompt:
        found = recall_at_prompt(context, request.prompt, told)
        added, shown = found.text, (*shown, *found.memories)
    refs = tuple(f"{memory.scope.kind}/{memory.key}" for memory in shown)
    explained: list[dict[str, object]] = []
    if request.explain:
        explained += [
            {"ref": one.memory.ref, "place": one.place, "why": one.why, "tokens": estimate_tokens(one.line)}
            for one in made.choices
        ]
        if made.has_digest:
            explained.append(
                {"ref": "tree/digest", "place": "digest", "why": _DIGEST, "tokens": estimate_tokens(digest)}
            )
    return BriefResult(
        made.text, len(made.text), estimate_tokens(made.text), added, estimate_tokens(added), refs,
        tuple(explained),
    )  # fmt: skip


@verb(Access.READ, no_tool="a hook or an adapter puts it beside the user's message")
def prefetch(context: BookContext, _: NoRequest) -> str:
    """Return the digest of the last seven days of the sources that the user allowed, fenced, as hooks tell it.

    Empty where there is none: no source is allowed, nothing was said, it is older than two days, or the caller is
    sealed. The function `prefetch` of the package says when to ask.
    """
    return _find_digest(context) if context.settings.enabled else ""


def _find_digest(context: BookContext) -> str:
    """Return the digest for the caller; empty if it cannot be read, too."""
    try:
        return find_prefetch(brief_sources(context), context.database_folder)
    except CommonplaceError as error:
        log.warning("event=prefetch_not_read code=%s", error.code)
        return ""


def find_session_folder(context: BookContext, session: str) -> str | None:
    """Return the folder in which a hook saw a session begin.

    None when no hook did, and for another session than its own in a sealed book.
    """
    if context.caller.sealed and session != context.caller.session:
        return None
    found = find_session(context.state, context.memories.space, session)
    return (found.cwd or None) if found is not None else None
