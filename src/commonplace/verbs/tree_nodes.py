"""The verbs about what stands above the leaves: digests of the last days, summaries and topics.

Agents have two tools for them where the book has a source. All of it is made of text from outside: every outlet labels
it, and none of it may be quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, NamedTuple

from commonplace.index.nodes import NodeRow
from commonplace.index.port import Transaction
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.memory import Entry, Memory, MemoryType, Meta, Trust
from commonplace.model.results import Hit, HitKind, RecallResult
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.tree_results import (
    NodeHits,
    TopicInfo,
    TreeDrawing,
    TreeLine,
    WaitingLeaves,
)
from commonplace.recall.candidates import cut_passage
from commonplace.recall.query import RecallQuery
from commonplace.recall.ranking import ScoredCandidate
from commonplace.text.naming import make_summary
from commonplace.text.words import query_terms
from commonplace.tree.digests import DIGEST_FOLDER, MOST_DAYS, parse_digest_id
from commonplace.tree.node_search import (
    DIGEST,
    LEAF,
    SUMMARY,
    TOPIC,
    UNIT,
    NodeReader,
    TreeNode,
    topic_id,
)
from commonplace.tree.nodes import summary_folder
from commonplace.tree.retrieve import UnitQuery, find_units, search_entries
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.verbs import tree_search
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import QUERY_LENGTH, ROWS, Answer, make_tool, result_schema
from commonplace.verbs.tree_opening import describe_source, has_tree, make_hit, open_tree
from commonplace.verbs.verb import Access, Arg, verb

_KINDS = {
    SUMMARY: HitKind.SUMMARY,
    TOPIC: HitKind.SUMMARY,
    DIGEST: HitKind.DIGEST,
    LEAF: HitKind.LEAF,
    UNIT: HitKind.LEAF,
}
_MOST_DEPTH = 5
_MOST_HITS, _DEFAULT_HITS = 100, 20
_MOST_SOURCES = 8  # references of one hit
_MOST_BELOW = 50  # units that are looked at for the summaries above them
_MOST_DRAWN = 200
_QUERY = Arg("rank by these words and their meaning", "QUERY", max_length=QUERY_LENGTH, tool_help="rank by this")


class QueryGlobalRequest(NamedTuple):
    """What `query_global` is asked."""

    window_days: Annotated[
        int,
        Arg("the last so many days, today included", "DAYS", option="window", minimum=1, maximum=MOST_DAYS,
            tool_help="last days"),
    ] = 7  # fmt: skip
    query: Annotated[str, _QUERY] = ""


class DrillDownRequest(NamedTuple):
    """What `drill_down` is asked."""

    node_id: Annotated[
        str,
        Arg("the id of a digest, topic, summary or leaf, as hits name it", "NODE", is_positional=True,
            max_length=QUERY_LENGTH, tool_help="ref of a hit"),
    ]  # fmt: skip
    max_depth: Annotated[
        int,
        Arg("how far down: 1 is what the node is made of", "N", option="depth", minimum=1, maximum=_MOST_DEPTH,
            tool_help="1: its children"),
    ] = 1  # fmt: skip
    query: Annotated[str, _QUERY] = ""
    limit: Annotated[int, Arg("show at most so many (1 to 100)", minimum=1, maximum=_MOST_HITS, tool_help="hits")] = (
        _DEFAULT_HITS
    )


class TreeShowRequest(NamedTuple):
    """What `tree_show` is asked."""

    source: Annotated[str | None, Arg("only this source, as tree sources shows it", "ID")] = None
    limit: Annotated[int, Arg("draw at most so many nodes", minimum=1)] = _MOST_DRAWN


class TopicsRequest(NamedTuple):
    """What `tree_topics` is asked."""

    limit: Annotated[int, Arg("list at most so many", minimum=1)] = _MOST_DRAWN


def today() -> date:
    """Return the day that it is here."""
    return datetime.now().astimezone().date()


@verb(
    Access.READ,
    command="tree query-global",
    examples=("commonplace tree query-global", "commonplace tree query-global --window 30 --query migration"),
)
def query_global(context: BookContext, request: QueryGlobalRequest) -> NodeHits:
    """Show what happened in the last days, over all sources: a digest of them, and the days it is made of.

    `tree drill-down` leads from a day to its messages.
    """
    _check_number("window_days", request.window_days, MOST_DAYS)
    if not context.settings.enabled:
        return NodeHits((), 0, truncated=False)
    tree = open_tree(context)
    sources = tree.freshen()
    reader = NodeReader(tree, sources)
    node = reader.open_digest(reader.last_days(request.window_days, today()))
    if node is None:
        return NodeHits((), 0, truncated=False)
    first, _ = make_hits(reader, [node], "", 1)
    days = list(reader.load(reversed(node.children)).values())
    others, total = make_hits(reader, days, request.query, _DEFAULT_HITS)
    return NodeHits((*first, *others), total + 1, truncated=total > len(others))


def _check_number(name: str, number: int, most: int) -> None:
    if not 1 <= number <= most:
        raise InvalidField(f"{name} is a number from 1 to {most:,}.")


@verb(
    Access.READ,
    command="tree drill-down",
    examples=(
        "commonplace tree drill-down digest-2026-11-15",
        "commonplace tree drill-down L2-5f0c1e9a7b3d2c4e6f80 --depth 3 --query 'who decided'",
    ),
)
def drill_down(context: BookContext, request: DrillDownRequest) -> NodeHits:
    """Show what a digest, topic or summary is made of: lower ones, then leaves, then messages.

    Breadth first, by time; or the best for --query.
    """
    _check_number("max_depth", request.max_depth, _MOST_DEPTH)
    _check_number("limit", request.limit, _MOST_HITS)
    if not context.settings.enabled:
        return NodeHits((), 0, truncated=False)
    tree = open_tree(context)
    sources = tree.freshen()
    reader = NodeReader(tree, sources)
    node = reader.load([request.node_id]).get(request.node_id)
    if node is None:
        raise NotFound(
            f"There is no node {request.node_id[:80]!a}.",
            hint="Ids of nodes are the refs of hits: digest-2026-11-15, topic-..., L1-..., leaf-..., u-...",
        )
    below = reader.go_down(node, request.max_depth)
    hits, total = make_hits(reader, below, request.query, request.limit)
    return NodeHits(hits, total, truncated=total > len(hits))


@verb(Access.READ, command="tree topics", examples=("commonplace tree topics", "commonplace tree topics --json"),
      no_tool="memory_tree_query_topic shows a topic's page")  # fmt: skip
def tree_topics(context: BookContext, request: TopicsRequest) -> list[TopicInfo]:
    """List the topics: people and things that much was said about, the hottest first.

    A topic has ten messages in three threads on three days of ninety. It is dormant when nothing was heard of it for
    ninety days.
    """
    if not context.settings.enabled:
        return []
    tree = open_tree(context)
    tree.freshen()
    with tree.reading() as index:
        rows = index.topic_rows(None, request.limit)
    return [
        TopicInfo(topic_id(row), row.entity, row.title, row.state, row.units, row.first, row.last, row.hotness)
        for row in rows
    ]


@verb(Access.READ, command="tree show", examples=("commonplace tree show", "commonplace tree show --source work-mail"),
      no_tool="memory_tree_drill_down goes down a tree")  # fmt: skip
def tree_show(context: BookContext, request: TreeShowRequest) -> TreeDrawing:
    """Draw the summaries of each source, the highest first, and say how many leaves wait to be sealed."""
    if not context.settings.enabled:
        return TreeDrawing((), (), truncated=False)
    tree = open_tree(context)
    sources = tree.freshen()
    chosen = [tree.source(request.source)] if request.source is not None else list(sources)
    reader = NodeReader(tree, sources)
    lines: list[TreeLine] = []
    waiting: list[WaitingLeaves] = []
    is_cut = False
    for source in chosen:
        with tree.reading() as index:
            levels = index.count_nodes(source.id)
            rows, more = _list_nodes(index, source.id, max(levels, default=0), request.limit - len(lines))
        is_cut = is_cut or more
        waiting.append(WaitingLeaves(source.id, levels.get(0, (0, 0))[1]))
        known = reader.load([row.id for row, _ in rows])
        for row, children in rows:
            title = known[row.id].title if row.id in known else ""
            lines.append(
                TreeLine(row.id, row.parent, row.source, row.level, title, row.first, row.last, row.units, children)
            )
    return TreeDrawing(tuple(lines), tuple(waiting), truncated=is_cut)


def _list_nodes(index: Transaction, source: str, highest: int, most: int) -> tuple[list[tuple[NodeRow, int]], bool]:
    """Return the summaries of a source in the order of a drawing, each with the number of its children; and whether
    there are more."""
    found: list[tuple[NodeRow, int]] = []
    roots = [row for level in range(highest, 0, -1) for row in index.waiting(source, level, most + 1)]
    stack = sorted(roots, key=lambda row: (row.first, row.id), reverse=True)
    while stack:
        if len(found) >= most:
            return found, True
        row = stack.pop()
        children = index.children(row.id)
        found.append((row, len(children)))
        stack += [child for child in reversed(children) if child.level > 0]
    return found, False


# Hits


def make_hits(reader: NodeReader, nodes: Sequence[TreeNode], query: str, limit: int) -> tuple[tuple[Hit, ...], int]:
    """Return nodes as hits, those that answer a question first; and how many there are."""
    ranked: list[tuple[TreeNode, ScoredCandidate | None]] = [(node, None) for node in nodes]
    if query.strip() and nodes:
        ranked = reader.rank(nodes, query)
    shown = ranked[:limit]
    named = {ident for node, _ in shown for ident in node.units[:_MOST_SOURCES]}
    units = {node.id: node for node in nodes if node.unit is not None}
    units |= reader.load(named - units.keys())
    return tuple(_make_hit(node, found, units, query) for node, found in shown), len(nodes)


def _make_hit(node: TreeNode, found: ScoredCandidate | None, units: Mapping[str, TreeNode], query: str) -> Hit:
    """Return a node as a hit; `units` are those that its sentences name."""
    score = round(found.score, 4) if found is not None else 0.0
    is_strong = found.is_strong if found is not None else not query.strip()
    if node.unit is not None:
        hit = make_hit(node.unit, None, query_terms(query))
        return hit._replace(score=score, strong=is_strong)
    named = [units[ident].unit for ident in node.units[:_MOST_SOURCES] if ident in units]
    return Hit(
        kind=_KINDS[node.kind], ref=node.id, key=node.id, scope=ScopeKind.GLOBAL, scope_id=None, path=node.path,
        entry=node.id, text=node.text if node.kind != LEAF else cut_passage(node.text, query_terms(query)),
        summary=make_summary(node.title), author=node.author, trust=Trust.EXTERNAL.value, time_start=node.first,
        time_end=node.last, updated=node.last, score=score, revision="", strong=is_strong,
        sources=tuple(describe_source(unit) for unit in named if unit is not None), title=node.title, tree=node.source,
        level=node.level, child_ids=node.children, entities=node.entities,
        topics=(node.id,) if node.kind == TOPIC else (),
    )  # fmt: skip


def find_topic_hits(tree: TreeStore, sources: Sequence[TreeSource], names: Sequence[str]) -> tuple[Hit, ...]:
    """Return the topics about one of these as hits."""
    with tree.reading() as index:
        rows = index.topics_about(names)
    reader = NodeReader(tree, sources)
    return make_hits(reader, [reader.open_topic(row) for row in rows], "", _MOST_HITS)[0]


def add_tree(context: BookContext, query: RecallQuery, found: RecallResult) -> RecallResult:
    """Return what recall found with what answers in the tree among it: leaves, summaries, digests, as it was asked."""
    if "leaf" in query.kinds:
        found = tree_search.add_leaves(context, query, found)
    return _add_nodes(context, query, found) if {SUMMARY, DIGEST} & {*query.kinds} else found


def _add_nodes(context: BookContext, query: RecallQuery, found: RecallResult) -> RecallResult:
    is_other = query.type is not None or query.tags or query.session is not None or query.as_of is not None
    if is_other or not has_tree(context):
        return found
    tree = open_tree(context)
    sources = tree.freshen()
    places = [str(summary_folder(source.id)) for source in sources] if SUMMARY in query.kinds else []
    places += [str(DIGEST_FOLDER)] if DIGEST in query.kinds else []
    answer = search_entries(
        tree, query.query, places, query.limit, since=query.since or "", until=query.until or "", mode=query.mode,
        is_strong=query.strong,
    )  # fmt: skip
    reader = NodeReader(tree, sources)
    entries = {_id_of(hit): hit for hit in answer.hits}
    below = _find_below(tree, sources, query) if SUMMARY in query.kinds and query.query.strip() else {}
    hits = [*found.hits]
    for ident, node in reader.load([*entries, *below]).items():
        # What is asked for may be in a message of which the summary says nothing: that one is named first.
        units = [hit.candidate.entry.id for hit in below.get(ident, ())]
        named = reader.load([*dict.fromkeys((*units, *node.units))][:_MOST_SOURCES])
        best = max((*below.get(ident, ()), *(entries[one] for one in (ident,) if one in entries)), key=_rank)
        hits.append(_make_hit(node._replace(units=tuple(named)), best, named, query.query))
    hits.sort(key=lambda hit: (not hit.strong, -hit.score))
    notice = " ".join(filter(None, (found.notice, answer.notice)))
    return RecallResult(
        tuple(hits[: query.limit]), found.total + answer.total, found.hidden, (), notice, "" if hits else found.reason
    )


def _find_below(tree: TreeStore, sources: Sequence[TreeSource], query: RecallQuery) -> dict[str, list[ScoredCandidate]]:
    """Return the units that answer a question by the summary of their leaf, the best first."""
    asked = UnitQuery(
        sources, query.query, query.since or "", query.until or "", limit=_MOST_BELOW, mode=query.mode,
        is_strong=query.strong,
    )  # fmt: skip
    units = find_units(tree, asked).hits
    with tree.reading() as index:
        parents = index.sealed_in([hit.candidate.no for hit in units])
    found: dict[str, list[ScoredCandidate]] = {}
    for hit in units:
        if hit.candidate.no in parents:
            found.setdefault(parents[hit.candidate.no], []).append(hit)
    return found


def _rank(hit: ScoredCandidate) -> tuple[bool, float]:
    return hit.is_strong, hit.score


def _id_of(hit: ScoredCandidate) -> str:
    """Return the id of the node that an entry of the index is."""
    item = hit.candidate
    return f"digest-{item.name}" if item.folder.startswith(f"{DIGEST_FOLDER}/") else item.name


def find_node(context: BookContext, ref: str) -> Memory | None:
    """Return a node above the leaves as `show` answers."""
    if not has_tree(context):
        return None
    tree = open_tree(context)
    reader = NodeReader(tree, tree.freshen())
    node = reader.load([ref]).get(ref)
    if node is None:
        return None
    meta = Meta(key=ref, id=ref, type=MemoryType.REFERENCE, summary=node.title, created=node.first, updated=node.last)
    entry = Entry(time=node.last, text=node.text, id=ref, trust=Trust.EXTERNAL, occurred=node.last)
    path = node.path or f"{DIGEST_FOLDER}/{parse_path(ref)}"
    return Memory(meta, Scope(ScopeKind.GLOBAL), ref, path, "", (entry,))


def parse_path(ref: str) -> str:
    """Return where below tree/digest the page of a digest is, or will be."""
    period = parse_digest_id(ref)
    return f"{period.name[:4]}/{period.name}.md" if period is not None else ref


# Tools


def _render_nodes(found: NodeHits, _: object) -> Answer:
    data = {
        "hits": [
            {**tree_search.unit_data(hit), "kind": str(hit.kind), "children": list(hit.child_ids[:_MOST_HITS])}
            for hit in found.hits
        ],
        "total": found.total,
        "truncated": found.truncated,
    }
    heading = f"{len(found.hits)} of {found.total}." if found.hits else "Nothing found."
    return Answer(data, tree_search.hits_text(found.hits, heading))


_NODES = result_schema("hits", "total", "truncated", hits=ROWS, total="integer", truncated="boolean")
TOOLS = (
    make_tool(
        query_global, "memory_tree_query_global", "What happened lately", "tree",
        "A digest of the last days of mail and chat, and its days. Quote only leaves.",
        _NODES, _render_nodes,
    ),
    make_tool(
        drill_down, "memory_tree_drill_down", "Go down from a digest", "tree",
        "What a digest, topic or summary is made of, down to the messages.", _NODES, _render_nodes,
    ),
)  # fmt: skip
