"""Let the user's model write summaries in the place of extracts, where one is configured.

`settle` calls `rewrite_summaries` when all else is done. A call takes seconds, so it is made without the lock of the
tree; its answer is written only if the node is still made of the same. A node that the model could not write keeps its
extract, whose note names the model that is wanted, and the model is asked again another time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from commonplace.index.nodes import AS_MADE, NodeRow
from commonplace.text.words import estimate_tokens
from commonplace.tree.model_summaries import SummaryOutcome
from commonplace.tree.nodes import describe_span, print_children
from commonplace.tree.seal import Sealer
from commonplace.tree.store import TreeStore
from commonplace.tree.summarise import SummaryPassage, SummaryRequest
from commonplace.tree.units import TreeUnit

_SHARE, _LEAST, _MOST = 0.15, 60, 5_000  # tokens of a summary
_LISTED = 200  # nodes at a time
_ENDS = frozenset({"budget_spent", "stopped", "state_unusable"})  # no other call would be made


class ModelWriter(Protocol):
    """Whoever asks a model, and keeps to a budget: `ModelSummaries`."""

    model: str

    def summarise_with_budget(self, name: str, request: SummaryRequest) -> SummaryOutcome:
        """Return the sentences of a summary, or the reason why there are none."""


def rewrite_summaries(tree: TreeStore, models: ModelWriter, tried: set[str], is_late: Callable[[], bool]) -> int:
    """Ask the model for the summaries of the lowest level that it did not write, once for each; return how many it
    wrote. What stands above them is made anew before it is asked for that. `tried` are the nodes that it was asked for.
    """
    written, level = 0, 0
    while not is_late():
        with tree.reading() as index:
            rows = index.nodes_not_by(models.model, _LISTED + len(tried))
        node = next((row for row in rows if row.id not in tried and row.state == AS_MADE), None)
        if node is None or (written and node.level > level):
            break
        tried.add(node.id)
        level = node.level
        reader = Sealer(tree)
        children, said = reader.read_inputs(node)
        made_of = print_children(children)
        outcome = models.summarise_with_budget(f"{node.id} {made_of}", _make_request(node, said))
        if outcome.reason in _ENDS:
            break
        if outcome.sentences:
            units = {unit.id: unit for unit, _ in said}
            lines = [(units[one.children[0]], one.text) for one in outcome.sentences if one.children[0] in units]
            written += _write(tree, node, made_of, models.model, lines)
    return written


def _make_request(node: NodeRow, said: Sequence[tuple[TreeUnit, str]]) -> SummaryRequest:
    passages = [
        SummaryPassage(unit.id, text, unit.author.name or unit.author.address, unit.occurred) for unit, text in said
    ]
    titles: Mapping[str, None] = dict.fromkeys(unit.title for unit, _ in said if unit.title)
    tokens = sum(estimate_tokens(text) for _, text in said)
    most = max(_LEAST, min(_MOST, int(_SHARE * tokens)))
    return SummaryRequest("; ".join([*titles][:5]), describe_span(node.first, node.last), passages, most)


def _write(tree: TreeStore, node: NodeRow, made_of: str, model: str, lines: Sequence[tuple[TreeUnit, str]]) -> bool:
    """Write what a model said of a node, unless the node is gone or made of something else by now."""
    with tree.lock():
        sealer = Sealer(tree)
        sealer.divide()
        with tree.reading() as index:
            found = index.nodes([node.id])
        if not found or found[0].state != AS_MADE or not sealer.replace_text(found[0], made_of, model, lines):
            return False
        sealer.divide()
        return True
