"""Open the nodes of the tree by their ids, go down from one to what it is made of, and rank what is found there.

    digest-2026-11         a month   ->  its days  ->  their messages
    topic-NAME-HASH        a topic   ->  the messages that mention it, latest first
    L2-HASH                a summary ->  lower summaries  ->  leaves (leaf-HASH)  ->  messages (u-HASH)

The verbs `drill_down`, `query_global`, `tree_show` and `recall --kinds summary` call this. A digest is worked out from
the index when it is asked for, so the newest days are in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from commonplace.index.nodes import NodeRow, TopicRow
from commonplace.index.port import Transaction
from commonplace.model.errors import NotFound
from commonplace.recall.ranking import ScoredCandidate
from commonplace.tree.admission import is_admitted
from commonplace.tree.digests import DIGEST_FOLDER, DIGEST_PREFIX, DigestReader, digest_id, digest_key, parse_digest_id
from commonplace.tree.nodes import Summary, is_node_id, read_note, summary_folder
from commonplace.tree.periods import Period, PeriodKind, period_of
from commonplace.tree.retrieve import open_leaves, search_entries
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.topics import TOPIC_FOLDER, topic_text
from commonplace.tree.units import LEAF_PREFIX, UNIT_PREFIX, TreeUnit, read_unit
from commonplace.vault.paths import resolve

TOPIC_PREFIX = "topic-"
UNIT, LEAF, SUMMARY, DIGEST, TOPIC = "unit", "leaf", "summary", "digest", "topic"
MOST_CHILDREN = 1_000  # of a digest of a day, or of a topic
_PARTS: Mapping[str, PeriodKind] = {"year": "month", "month": "day", "week": "day", "window": "day"}


class TreeNode(NamedTuple):
    """A node as it was opened: what it says, and what it is made of."""

    id: str
    kind: str  # unit, leaf, summary, digest, topic
    title: str
    text: str
    first: str
    last: str
    source: str = ""
    level: int | None = None
    children: tuple[str, ...] = ()
    units: tuple[str, ...] = ()  # that its sentences name
    entities: tuple[str, ...] = ()
    path: str = ""
    author: str | None = None
    unit: TreeUnit | None = None  # of a node that is one unit
    numbers: tuple[int, ...] = ()  # of the entries of the index that it is searched by


class NodeReader:
    """Opens nodes of one tree, within one call of a verb."""

    def __init__(self, tree: TreeStore, sources: Sequence[TreeSource]) -> None:
        self._tree, self._sources = tree, sources
        self.digests = DigestReader(tree, sources)

    def load(self, idents: Iterable[str]) -> dict[str, TreeNode]:
        """Return the nodes with these ids, by id, in their order; those that are not there are left out."""
        wanted = list(dict.fromkeys(idents))
        if not wanted:
            return {}
        found = self._open_summaries([ident for ident in wanted if is_node_id(ident)])
        found |= self._open_topics([ident for ident in wanted if ident.startswith(TOPIC_PREFIX)])
        found |= self._open_units([ident for ident in wanted if ident.startswith((UNIT_PREFIX, LEAF_PREFIX))])
        for ident in wanted:
            period = parse_digest_id(ident)
            if period is not None and (node := self.open_digest(period)) is not None:
                found[ident] = node
        return {ident: found[ident] for ident in wanted if ident in found}

    def open_digest(self, period: Period, only: Collection[str] | None = None) -> TreeNode | None:
        """Return the digest of a period; None where nothing happened."""
        found = self.digests.read(period, only)
        if not found.text:
            return None
        children = self._list_children(period, found.units, only)
        return TreeNode(
            digest_id(period), DIGEST, period.title, found.text, f"{period.start}T00:00:00Z", f"{period.end}T23:59:59Z",
            children=tuple(children), units=tuple(found.units),
        )  # fmt: skip

    def _list_children(self, period: Period, cited: Iterable[str], only: Collection[str] | None) -> list[str]:
        """Return what a digest is made of: days or months in which there was something, or the units of a day, those
        first that it names."""
        if period.kind == "day":
            with self._tree.reading() as index:
                units = self.digests.read_units(index, period.start, period.end, only)
                there = [unit.id for unit in units if is_admitted(unit.signals)]
            named = [ident for ident in dict.fromkeys(cited) if ident in set(there)]
            return list(dict.fromkeys([*named, *there]))[:MOST_CHILDREN]
        kind = _PARTS[period.kind]
        parts = dict.fromkeys(period_of(kind, day) for day in period.days())
        with self._tree.reading() as index:
            known = {
                date.fromisoformat(day) for day in index.list_days(period.start.isoformat(), period.end.isoformat())
            }
            known |= self.digests.find_changed(index, period)
        return [digest_id(part) for part in parts if any(part.start <= day <= part.end for day in known)]

    def _open_summaries(self, idents: Sequence[str]) -> dict[str, TreeNode]:
        with self._tree.reading() as index:
            rows = index.nodes(idents)
        found = {}
        for row in rows:
            node = self._read_summary(row)
            if node is not None:
                units = tuple(line.unit for thread in node.threads for line in thread.lines)
                found[row.id] = TreeNode(
                    row.id, SUMMARY, node.title, node.text, row.first, row.last, row.source, row.level, node.children,
                    units, node.entities, f"{row.folder}/{row.name}.md",
                )  # fmt: skip
        return found

    def _read_summary(self, row: NodeRow) -> Summary | None:
        with suppress(NotFound):
            return read_note(row.name, self._tree.read_note(resolve(f"{row.folder}/{row.name}.md")))
        return None

    def _open_topics(self, idents: Sequence[str]) -> dict[str, TreeNode]:
        if not idents:
            return {}
        with self._tree.reading() as index:
            rows = {topic_id(row): row for row in index.topic_rows(None, 1_000_000)}
        return {ident: self.open_topic(rows[ident]) for ident in idents if ident in rows}

    def open_topic(self, row: TopicRow) -> TreeNode:
        """Return the node of a topic."""
        names = self._tree.people().members(row.entity)
        path = TOPIC_FOLDER / f"{row.name}.md"
        text = ""
        with suppress(NotFound):
            text = topic_text(self._tree.read_note(path))
        with self._tree.reading() as index:
            spans = [span for span in index.mention_spans(names, MOST_CHILDREN) if is_admitted(span.signals)]
            by_number = {item.no: item.entry.id for item in index.candidates([span.no for span in spans])}
        children = tuple(by_number[span.no] for span in spans if span.no in by_number)
        return TreeNode(
            topic_id(row), TOPIC, row.title, text, row.first, row.last, children=children, entities=(row.entity,),
            path=str(path),
        )  # fmt: skip

    def _open_units(self, idents: Sequence[str]) -> dict[str, TreeNode]:
        """Return units as the index has them, and leaves from their files."""
        kinds = {str(source.folder): source.kind for source in self._sources}
        with self._tree.reading() as index:
            items = index.units([ident for ident in idents if ident.startswith(UNIT_PREFIX)])
        found = {}
        for item in items:
            kind = kinds.get("/".join(item.folder.split("/")[:3]), "document")
            unit = read_unit(item.entry, kind=kind, folder=item.folder, name=item.name)
            found[unit.id] = TreeNode(
                unit.id, UNIT, unit.title, unit.text, unit.occurred, unit.occurred, unit.source, 0, units=(unit.id,),
                path=f"{unit.folder}/{unit.name}.md", author=unit.author.name or unit.author.address or None, unit=unit,
            )  # fmt: skip
        leaves = [one for one in idents if one.startswith(LEAF_PREFIX)]
        for ident, leaf in open_leaves(self._tree, leaves).items() if leaves else ():
            first, moments = leaf.units[0], [unit.occurred for unit in leaf.units if unit.occurred]
            units = tuple(unit.id for unit in leaf.units)
            found[ident] = TreeNode(
                ident, LEAF, first.title, leaf.text, min(moments, default=""), max(moments, default=""), first.source,
                0, units, units, path=f"{first.folder}/{first.name}.md",
            )  # fmt: skip
        return found

    def go_down(self, node: TreeNode, depth: int) -> list[TreeNode]:
        """Return what is below a node, breadth first, each once."""
        found: dict[str, TreeNode] = {}
        level = [node]
        for _ in range(depth):
            idents = dict.fromkeys(child for one in level for child in one.children if child not in found)
            opened = self.load(idents)
            level = list(opened.values())
            found |= opened
        found.pop(node.id, None)
        return list(found.values())

    def rank(self, nodes: Sequence[TreeNode], query: str) -> list[tuple[TreeNode, ScoredCandidate | None]]:
        """Return nodes, those first that answer a question best, with the entry that does; then the others."""
        with self._tree.reading() as index:
            numbers = {node.id: self._find_numbers(index, node) for node in nodes}
        places = sorted({folder for node in nodes for folder in _folders_of(node)})
        only = frozenset(no for some in numbers.values() for no in some)
        if not only:
            return [(node, None) for node in nodes]
        hits = search_entries(self._tree, query, places, min(len(only), 100), only=only).hits
        best: Mapping[int, tuple[int, ScoredCandidate]] = {hit.candidate.no: (at, hit) for at, hit in enumerate(hits)}

        def place(node: TreeNode) -> int:
            return min((best[no][0] for no in numbers[node.id] if no in best), default=len(hits))

        found = []
        for node in sorted(nodes, key=place):
            at = place(node)
            found.append((node, hits[at] if at < len(hits) else None))
        return found

    def _find_numbers(self, index: Transaction, node: TreeNode) -> list[int]:
        """Return the numbers of the entries that a node is searched by: its note, or its units."""
        if node.kind in (SUMMARY, TOPIC):
            folder, _, name = node.path.rpartition("/")
            return list(index.entry_numbers(folder, name.removesuffix(".md")))
        if node.kind == DIGEST:
            period = parse_digest_id(node.id)
            return list(index.entry_numbers(*_digest_place(period))) if period is not None else []
        return [item.no for item in index.units(node.units)]

    @staticmethod
    def last_days(number: int, today: date) -> Period:
        """Return the period of the last so many days."""
        start = date.fromordinal(max(1, today.toordinal() - number + 1))
        return Period("window", start, today)


def topic_id(row: TopicRow) -> str:
    """Return the id of a topic's node."""
    return f"{TOPIC_PREFIX}{row.name}"


def is_tree_id(text: str) -> bool:
    """Return whether a text is the id of a node of the tree, of whatever kind."""
    return is_node_id(text) or text.startswith((UNIT_PREFIX, LEAF_PREFIX, TOPIC_PREFIX, DIGEST_PREFIX))


def _digest_place(period: Period) -> tuple[str, str]:
    """Return folder and name of the page of a digest."""
    folder, _, name = f"{DIGEST_FOLDER}/{digest_key(period)}".rpartition("/")
    return folder, name


def _folders_of(node: TreeNode) -> list[str]:
    if node.kind == SUMMARY:
        return [str(summary_folder(node.source))]
    if node.kind == DIGEST:
        period = parse_digest_id(node.id)
        return [_digest_place(period)[0]] if period is not None else []
    return [str(TOPIC_FOLDER)] if node.kind == TOPIC else [f"/tree/{node.source}"]
