"""The model that writes summaries, as the settings of an open book name it."""

from __future__ import annotations

from commonplace.model.costs import read_price
from commonplace.model.errors import InvalidSettings
from commonplace.model.settings import NO_SUMMARISER, Settings
from commonplace.tree.model_summaries import ModelSummaries
from commonplace.tree.summarise_remote import choose_summariser
from commonplace.verbs.context import BookContext


def open_model_summaries(context: BookContext) -> ModelSummaries | None:
    """Return what makes summaries with the model of the settings; None where there is none, as by default.

    Raises InvalidSettings for a setting that names none, and where the book's own settings name it and are not trusted.
    """
    settings = context.settings
    if settings.summariser == NO_SUMMARISER:
        return None
    is_trusted = context.is_trusted()
    if not is_trusted and context.config.get("summariser") == settings.summariser:
        raise InvalidSettings(
            "This book's own settings name a summariser, and are not trusted.",
            hint="Look at them with `commonplace config`, then `commonplace config trust`.",
        )
    daily_tokens = settings.summary_tokens
    if not is_trusted and context.config.get("summary_tokens") == daily_tokens:
        daily_tokens = min(daily_tokens, Settings().summary_tokens)  # a book that came from elsewhere spends no more
    summariser = choose_summariser(settings.summariser, key=settings.summariser_key)
    if summariser is None:
        return None
    memories = context.memories
    return ModelSummaries(
        summariser,
        context.state,
        memories.space,
        daily_tokens=daily_tokens,
        price=read_price(settings.summary_price),
        clock=memories.clock,
    )
