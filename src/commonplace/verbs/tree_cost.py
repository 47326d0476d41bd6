"""The verb `tree_cost`: what a model that writes summaries cost."""

from __future__ import annotations

from commonplace.model.tree_results import TreeCost
from commonplace.verbs.context import BookContext
from commonplace.verbs.verb import Access, NoRequest, verb


@verb(
    Access.READ,
    command="tree cost",
    examples=("commonplace tree cost", "commonplace tree cost --json"),
    no_tool="about the tree itself: for a person",
)
def tree_cost(context: BookContext, _: NoRequest) -> TreeCost:
    """Show what summaries by a model cost so far: its calls, its tokens, and dollars.

    Without a model, as by default, that is nothing. Dollars are counted by the setting `summary_price`.
    """
    rows = context.state.costs(context.memories.space)
    calls, tokens_in, tokens_out, billionths = (
        sum(getattr(row, name) for row in rows) for name in ("calls", "tokens_in", "tokens_out", "billionths")
    )
    return TreeCost(calls, tokens_in, tokens_out, billionths / 1e9, tuple(rows))
