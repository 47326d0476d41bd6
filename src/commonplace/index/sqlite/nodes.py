"""Nodes of the tree in SQLite: leaves, summaries, topics, days, and the marks of what is left to do.

The marks are set by triggers of the schema. In the index of memories these tables are empty. `SqliteTransaction` has
the methods.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence

from commonplace.index.nodes import BROKEN, CHANGED, MentionSpan, NodeRow, TopicRow
from commonplace.index.sqlite.units import UnitRows


class NodeRows(UnitRows):
    """What the port asks of nodes, in one space."""

    def changed_files(self, limit: int) -> Sequence[tuple[str, str]]:
        """Return files of the tree that changed since their nodes were set, in order."""
        return self._run_here("changed_files", limit).fetchall()

    def count_changed_files(self) -> int:
        """Return how many files changed."""
        return int(self._value("count_changed_files"))

    def count_changed_labels(self) -> int:
        """Return how many labels changed."""
        (number,) = self._run("count_changed_labels").fetchone()
        return int(number)

    def changed_hours(self) -> Sequence[str]:
        """Return the hours whose units changed, in order."""
        return self._column("changed_hours")

    def mark_hours(self, hours: Collection[str]) -> None:
        """Mark hours as changed."""
        self._run_each("mark_hour", [(self._space, hour) for hour in hours])

    def unmark_hours(self, hours: Collection[str]) -> None:
        """Take the marks off hours."""
        self._run_each("unmark_hour", [(self._space, hour) for hour in hours])

    def changed_labels(self, limit: int) -> Sequence[tuple[int, str]]:
        """Return numbers and names of labels that changed; a label that is gone has no name."""
        return self._run("changed_labels", limit).fetchall()

    def mark_labels(self, names: Collection[str]) -> None:
        """Mark labels as changed, as far as there are such."""
        self._run("mark_labels", json.dumps(sorted(names)))

    def unmark_labels(self, numbers: Collection[int]) -> None:
        """Take the marks off labels."""
        self._run_each("unmark_label", [(number,) for number in numbers])

    # Nodes

    def set_nodes(self, folder: str, name: str, nodes: Sequence[NodeRow]) -> None:
        """Set which nodes a file has, and take the mark off it."""
        wanted = {node.id for node in nodes}
        known = {node.id: node for node in self.nodes(wanted)}  # of whatever file: it may have been moved
        for node in self.nodes_of(folder, name):
            if node.id not in wanted:
                self._run("drop_node", self._space, node.id, folder, name)
                self._run("unseal", self._space, node.id)
                self._run("raise_state", BROKEN, self._space, node.parent)
        for node in nodes:
            old = known.get(node.id)
            self._run_here("put_node", *node)
            if old is not None and old.print != node.print:
                self._run("raise_state", CHANGED, self._space, old.parent)
        self._run_here("unmark_file", folder, name)

    def adopt(self, parent: str, children: Collection[str], state: int) -> None:
        """Record which children a node has, and in which state it is."""
        self._run("unseal", self._space, parent)
        self._run_each("seal", [(parent, self._space, child) for child in children])
        self._run("put_state", state, self._space, parent)

    def nodes(self, idents: Collection[str]) -> Sequence[NodeRow]:
        """Return the nodes with these ids, by id."""
        return self._nodes("nodes", json.dumps(sorted(idents)))

    def nodes_of(self, folder: str, name: str) -> Sequence[NodeRow]:
        """Return the nodes of a file, in their order."""
        return self._nodes("nodes_of", folder, name)

    def children(self, parent: str) -> Sequence[NodeRow]:
        """Return the nodes that a node has, by time and id."""
        return self._nodes("children", parent)

    def waiting(self, source: str, level: int, limit: int, after: tuple[str, str] = ("", "")) -> Sequence[NodeRow]:
        """Return the nodes of a level that no other has, by time and id, beyond a time and id."""
        return self._nodes("waiting_nodes", source, level, *after, limit)

    def nodes_in_state(self, state: int, limit: int) -> Sequence[NodeRow]:
        """Return nodes in a state, lower levels first."""
        return self._nodes("nodes_in_state", state, limit)

    def count_in_states(self) -> int:
        """Return how many nodes are not as their children are."""
        return int(self._value("count_in_states"))

    def nodes_not_by(self, model: str, limit: int) -> Sequence[NodeRow]:
        """Return summaries that another model wrote, lower levels first."""
        return self._nodes("nodes_not_by", model, limit)

    def _nodes(self, query: str, *values: object) -> list[NodeRow]:
        return list(map(NodeRow._make, self._run_here(query, *values)))

    def count_nodes(self, source: str | None = None) -> Mapping[int, tuple[int, int]]:
        """Return how many nodes each level has, and how many of them wait to be sealed."""
        return {level: (number, waiting) for level, number, waiting in self._run_here("count_nodes", source)}

    def count_waiting(self, source: str) -> Mapping[int, int]:
        """Return how many nodes of each level of a source wait to be sealed."""
        return dict(self._run_here("count_waiting", source).fetchall())

    def sealed_in(self, numbers: Collection[int]) -> Mapping[int, str]:
        """Return the summary of the leaf that each of these units is in."""
        return {no: parent for no, parent in self._run("sealed_in", json.dumps(sorted(numbers)), self._space) if parent}

    def entry_numbers(self, folder: str, name: str) -> Sequence[int]:
        """Return the numbers of the current entries of a file, in order."""
        return self._column("entry_numbers", folder, name)

    # Topics

    def set_topic(self, folder: str, name: str, topic: TopicRow | None) -> None:
        """Set which topic a file is about, and take the mark off it."""
        self._run_here("drop_topic", folder, name)
        if topic is not None:
            self._run_here("put_topic", *topic)
        self._run_here("unmark_file", folder, name)

    def topics_about(self, entities: Collection[str]) -> Sequence[TopicRow]:
        """Return the topics about these, by entity."""
        return list(map(TopicRow._make, self._run_here("topics_about", json.dumps(sorted(entities)))))

    def topic_rows(self, state: str | None, limit: int) -> Sequence[TopicRow]:
        """Return topics, of a state or all, hottest first."""
        return list(map(TopicRow._make, self._run_here("topic_rows", state, limit)))

    def surfaces(self, names: Collection[str]) -> Mapping[str, str]:
        """Return how what these labels name is written."""
        return dict(self._run("surfaces", json.dumps(sorted(names))).fetchall())

    def mention_spans(self, names: Collection[str], limit: int) -> Sequence[MentionSpan]:
        """Return the units that mention one of these labels, latest first."""
        asked = json.dumps(sorted(names))
        # With the latest of one label alone there are enough: what is before these need not be looked at.
        (since,) = self._run("nth_mention", asked, max(0, limit - 1)).fetchone()
        found = self._run("mention_spans", asked, since, self._space, limit)
        return [MentionSpan._make((*row, frozenset((signals or "").split(",")))) for *row, signals in found]

    # Days

    def units_between(self, since: str, until: str) -> Sequence[int]:
        """Return the numbers of the current units from a time on and before another, by time."""
        return self._column("units_between", since, until)

    def is_mentioned_before(self, name: str, moment: str) -> bool:
        """Return whether a unit before a time mentions a label."""
        return self._run("mentioned_before", name, self._space, moment).fetchone() is not None

    def days(self, first: str, last: str) -> Mapping[str, str]:
        """Return what is kept of the days from one to another, by day."""
        found = self._run_here("days", first, last)
        return {day: zlib.decompress(data).decode("utf-8", "surrogatepass") for day, data in found}

    def list_days(self, first: str, last: str) -> Sequence[str]:
        """Return the days from one to another of which something is kept."""
        return self._column("list_days", first, last)

    def put_day(self, day: str, data: str) -> None:
        """Keep what happened on a day."""
        if data:
            self._run_here("put_day", day, zlib.compress(data.encode("utf-8", "surrogatepass")))
        else:
            self._run_here("drop_day", day)
