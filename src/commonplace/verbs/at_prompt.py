"""Recall at the prompt by meaning, for a book that is open: `brief --prompt`, and the server that answers a hook.

A hook by itself goes by words. Both give what `context.prompt_recall` decides to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.context.prompt_recall import PromptRecall, recall_for_prompt
from commonplace.context.records import BriefSources
from commonplace.model.errors import EmbedderError, StorageError
from commonplace.model.settings import INCLUDED
from commonplace.recall.search import index_pending
from commonplace.verbs.context import BookContext, log

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

_EMBED_SECONDS = 1.0  # that a prompt spends on entries without a vector


def recall_at_prompt(
    context: BookContext, prompt: str, told: Mapping[str, str], seconds: float = _EMBED_SECONDS
) -> PromptRecall:
    """Return what to add to a prompt, by meaning and by words; `told` maps what the agent has seen to its revisions.

    The entries stored last are indexed first, and embedded for about so many seconds.
    """
    context.folders_to_search(None)
    memories = context.memories
    index_pending(memories.index, memories.space)
    sources, now = brief_sources(context), memories.clock()
    semantic = _prompt_semantic_index(context)
    if semantic is not None:
        try:
            with suppress(StorageError):  # the vectors cannot be stored now: those there are will do
                semantic.embed_pending(None if semantic.is_quick else seconds)
            return recall_for_prompt(sources, prompt, told, now, semantic=semantic)
        except EmbedderError as error:
            log.warning("event=prompt_by_words code=%s", error.code)
    return recall_for_prompt(sources, prompt, told, now)


def brief_sources(context: BookContext) -> BriefSources:
    """Return what the caller's brief and recall at the prompt read from."""
    memories = context.memories
    return BriefSources(
        memories.vault, memories.space, context.view(), memories.index, context.own_folders(), context.unproved
    )


def _prompt_semantic_index(context: BookContext) -> SemanticIndex | None:
    """Return the vectors to compare a prompt with; None where a service would get every prompt to read."""
    return context.semantic_index() if context.settings.embedder in INCLUDED else None
