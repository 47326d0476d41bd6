"""Recall at the prompt by meaning, for a book that is open: `brief --prompt`, and the server that answers a hook.

A hook by itself goes by words. Both give what `context.prompt_recall` decides to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.context.prompt_recall import PromptRecall, recall_for_prompt
from commonplace.context.prompt_servers import PromptAnswer, PromptRequest, ToldMemory
from commonplace.context.records import BriefSources, list_sessions
from commonplace.model.errors import EmbedderError, NotPermitted, StorageError
from commonplace.model.settings import INCLUDED
from commonplace.model.times import shift_time
from commonplace.recall.query import parse_query
from commonplace.recall.search import index_pending
from commonplace.verbs.context import BookContext, log

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

_EMBED_SECONDS = 1.0  # that a person's look at a prompt spends on entries without a vector
_ANY_QUESTION = "What is known about this?"
_A_DAY = 86_400  # seconds
_MAX_HASHED = 4_000  # characters of a memory whose sentences a hook remembers


def recall_at_prompt(
    context: BookContext, prompt: str, told: Mapping[str, str], seconds: float = _EMBED_SECONDS
) -> PromptRecall:
    """Return what to add to a prompt, by meaning and by words; `told` maps what the agent has seen to its revisions.

    The entries stored last are indexed first, and embedded for about so many seconds; with 0 that is left for later.
    """
    context.folders_to_search(None)
    memories = context.memories
    index_pending(memories.index, memories.space)
    sources, now = brief_sources(context), memories.clock()
    semantic = _prompt_semantic_index(context)
    if semantic is not None:
        try:
            with suppress(StorageError):  # the vectors cannot be stored now: those there are will do
                if semantic.has_pending() and seconds:
                    semantic.embed_pending(seconds)
            return recall_for_prompt(sources, prompt, told, now, semantic=semantic)
        except EmbedderError as error:
            log.warning("event=prompt_by_words code=%s", error.code)
    return recall_for_prompt(sources, prompt, told, now)


def answer_hook(context: BookContext, request: PromptRequest) -> PromptAnswer:
    """Return what a hook adds to a prompt, in the view that the hook itself has; raise NotPermitted if that is another.

    Nothing counts as used and nothing is audited here: the hook does that once its host has the text. Entries without a
    vector are embedded after the answer.
    """
    asked = _see_as_hook(context, request)
    context.embedding.begin_call()
    try:
        found = recall_at_prompt(asked, request.prompt, request.told, 0)
    finally:
        context.embedding.end_call()
    told = [
        ToldMemory(memory.path, memory.revision, memory.id, memory.entry.text[:_MAX_HASHED])
        for memory in found.memories
    ]
    return PromptAnswer(found.text, tuple(told), dict(found.changed))


def prepare_for_hook(context: BookContext, request: PromptRequest) -> None:
    """Load what it takes to answer a hook's prompts in time: the model, the vectors of the book, and our own modules.

    Raises NotPermitted as `answer_hook` does.
    """
    _load(_see_as_hook(context, request), request.prompt)


def prepare_where_hooks_run(context: BookContext) -> None:
    """Load the same before the first prompt, if a session of the last day had hooks; raise NotPermitted if none had."""
    context.caller.check_reads()
    context.check_enabled()
    since = shift_time(context.memories.clock(), -_A_DAY)
    if not any(session.begun >= since for session in list_sessions(context.state, context.memories.space)):
        raise NotPermitted("No hook ran here of late.")
    _load(context, _ANY_QUESTION)


def _load(context: BookContext, prompt: str) -> None:
    semantic = _prompt_semantic_index(context)
    if semantic is not None:  # the prompt may have nothing to compare
        with context.reading() as reading:
            semantic.compare_entries(
                reading, parse_query(_ANY_QUESTION, reading.authors_named, context.memories.clock())
            )
    recall_at_prompt(context, prompt, {}, 0)


def _see_as_hook(context: BookContext, request: PromptRequest) -> BookContext:
    """Return the book as a hook's caller sees it: its scopes must be just those that the hook has found by itself."""
    context.caller.check_reads()
    context.check_enabled()
    asked = context.for_session(request.session, request.agent)
    own = {str(folder) for folder in asked.own_folders().values()}
    if own != set(request.folders) or asked.caller.sealed != request.sealed:
        raise NotPermitted("The hook's scopes are not this server's.")
    return asked


def brief_sources(context: BookContext) -> BriefSources:
    """Return what the caller's brief and recall at the prompt read from."""
    memories = context.memories
    return BriefSources(
        memories.vault, memories.space, context.view(), memories.index, context.own_folders(), context.unproved
    )


def _prompt_semantic_index(context: BookContext) -> SemanticIndex | None:
    """Return the vectors to compare a prompt with; None where a service would get every prompt to read."""
    return context.semantic_index() if context.settings.embedder in INCLUDED else None
