"""The verb `cite`: check that every citation of an answer leads to a leaf, and every quotation is in it."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from commonplace.model.tree_results import CiteResult
from commonplace.text.fence import visible
from commonplace.tree.cite import CitedText, check_citations
from commonplace.tree.node_search import NodeReader
from commonplace.tree.retrieve import open_leaves
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import ROWS, Answer, make_tool, result_schema, shown_fields
from commonplace.verbs.tree_opening import describe_source, open_tree
from commonplace.verbs.verb import Access, Arg, verb

_ANSWER_LENGTH = 100_000  # characters


class CiteRequest(NamedTuple):
    """What `cite` is asked."""

    answer: Annotated[str, Arg("", max_length=_ANSWER_LENGTH, tool_help="your answer, with its footnotes")]


@verb(
    Access.READ,
    command="tree cite",
    examples=("commonplace tree cite answer.md", "pbpaste | commonplace tree cite -"),
)
def cite(context: BookContext, request: CiteRequest) -> CiteResult:
    """Check the citations of an answer.

    Every marker `[^1]` must have a footnote `[^1]: REF · SOURCE` that names a leaf, a unit or a summary of the tree,
    and every quotation must be in the leaf that it cites, word for word; `...` may stand for what was left out.
    Summaries may be cited, but not quoted. What does not hold is printed, and the exit status is 1.
    """
    context.check_enabled()
    tree = open_tree(context)
    reader = NodeReader(tree, tree.freshen())

    def open_node(ident: str) -> CitedText | None:
        leaf = open_leaves(tree, [ident]).get(ident)
        if leaf is not None:
            sources = [describe_source(unit) for unit in leaf.units]
            return CitedText("\n\n".join(unit.text for unit in leaf.units), sources)
        node = reader.load([ident]).get(ident)
        if node is None:
            return None
        units = (found.unit for found in reader.load(node.units).values())
        return CitedText(node.text, [describe_source(unit) for unit in units if unit is not None], is_leaf=False)

    return check_citations(request.answer, open_node)


def _render(result: CiteResult, _: object) -> Answer:
    faults = [shown_fields(fault, "line", "code", "text") for fault in result.faults]
    data = {"ok": result.ok, "citations": result.citations, "quotes": result.quotes, "faults": faults}
    lines = [f"line {fault.line}: {visible(fault.text)} ({fault.code})" for fault in result.faults]
    return Answer(data, "\n".join(lines) or f"All {result.citations} citations and {result.quotes} quotations hold.")


TOOLS = (
    make_tool(
        cite, "memory_tree_cite", "Check citations", "tree",
        "Check an answer: every [^1] leads to a leaf, every quotation is in it.",
        result_schema("ok", "faults", ok="boolean", citations="integer", quotes="integer",
                      faults=ROWS),
        _render,
    ),
)  # fmt: skip
