"""What the index knows of the nodes of the tree: leaves, summaries, topics, days, and what is left to do about them.

It is a part of the index port, and holds for the tree's own index. There is no queue of jobs: whatever changes an entry
of the tree marks its file, its hour and what it mentions in the same transaction, and `tree.settle` clears a mark in
the transaction that does what it stands for. An index that is built anew has everything marked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

AS_MADE, CHANGED, BROKEN = 0, 1, 2
"""The states of a node: as its children are; one of them says something else now; one of them is gone."""


class NodeRow(NamedTuple):
    """A leaf (level 0), which is of a file of units, or a summary, which is a note."""

    id: str
    source: str
    level: int
    folder: str
    name: str
    place: int  # of the first unit of a leaf, in its file
    first: str  # when its first and its last unit were
    last: str
    units: int
    tokens: int
    print: str  # of what it says
    model: str = ""  # what wrote it; empty for a leaf
    parent: str = ""  # the node that has it; empty: it waits to be sealed
    state: int = AS_MADE


class TopicRow(NamedTuple):
    """What the page of a topic says of the person or thing that it is about."""

    entity: str
    folder: str
    name: str
    title: str
    state: str  # awake, dormant
    first: str
    last: str
    units: int
    hotness: float


class MentionSpan(NamedTuple):
    """A unit that mentions something: its number, its file, when it was, and what tells how much it matters."""

    no: int
    folder: str
    name: str
    moment: str
    author: str | None
    signals: frozenset[str]


class NodeQueries(Protocol):
    """The queries and changes about nodes."""

    # What is left to do

    def changed_files(self, limit: int) -> Sequence[tuple[str, str]]:
        """Return folder and name of files of the tree that changed since their nodes were set, in order."""

    def count_changed_files(self) -> int:
        """Return how many there are."""

    def count_changed_labels(self) -> int:
        """Return how many labels units began or ceased to mention."""

    def changed_hours(self) -> Sequence[str]:
        """Return the hours (2026-11-15T09, UTC) whose units changed since `unmark_hours`, in order.

        Where the first unit that mentions a person comes or goes, the hour of the next one is among them.
        """

    def mark_hours(self, hours: Collection[str]) -> None:
        """Mark hours as changed."""

    def unmark_hours(self, hours: Collection[str]) -> None:
        """Take the marks off hours."""

    def changed_labels(self, limit: int) -> Sequence[tuple[int, str]]:
        """Return numbers and names of labels that units began or ceased to mention since `unmark_labels`."""

    def mark_labels(self, names: Collection[str]) -> None:
        """Mark labels as changed, as far as there are such."""

    def unmark_labels(self, numbers: Collection[int]) -> None:
        """Take the marks off labels."""

    # Nodes

    def set_nodes(self, folder: str, name: str, nodes: Sequence[NodeRow]) -> None:
        """Set which nodes a file has, and take the mark off it.

        A node that stays keeps its parent. Where one says something else, its parent becomes CHANGED, and where one is
        gone, BROKEN; the children of a node that is gone wait to be sealed again.
        """

    def adopt(self, parent: str, children: Collection[str], state: int) -> None:
        """Record which children a node has, and in which state it is. Those it had before wait to be sealed again."""

    def nodes(self, idents: Collection[str]) -> Sequence[NodeRow]:
        """Return the nodes with these ids, by id."""

    def nodes_of(self, folder: str, name: str) -> Sequence[NodeRow]:
        """Return the nodes of a file, in their order."""

    def children(self, parent: str) -> Sequence[NodeRow]:
        """Return the nodes that a node has, by time and id."""

    def waiting(self, source: str, level: int, limit: int, after: tuple[str, str] = ("", "")) -> Sequence[NodeRow]:
        """Return the nodes of a level that no other has, by time and id, beyond a time and id."""

    def nodes_in_state(self, state: int, limit: int) -> Sequence[NodeRow]:
        """Return nodes in a state, lower levels first."""

    def count_in_states(self) -> int:
        """Return how many nodes are not as their children are."""

    def nodes_not_by(self, model: str, limit: int) -> Sequence[NodeRow]:
        """Return summaries that another model wrote, lower levels first."""

    def count_nodes(self, source: str | None = None) -> Mapping[int, tuple[int, int]]:
        """Return how many nodes each level has, and how many of them wait to be sealed."""

    def count_waiting(self, source: str) -> Mapping[int, int]:
        """Return how many nodes of each level of a source wait to be sealed. The cost does not grow with the others."""

    def sealed_in(self, numbers: Collection[int]) -> Mapping[int, str]:
        """Return the summary of the leaf that each of these units is in; units of leaves without one are left out."""

    def entry_numbers(self, folder: str, name: str) -> Sequence[int]:
        """Return the numbers of the current entries of a file, in order."""

    # Topics

    def set_topic(self, folder: str, name: str, topic: TopicRow | None) -> None:
        """Set which topic a file is about, and take the mark off it."""

    def topics_about(self, entities: Collection[str]) -> Sequence[TopicRow]:
        """Return the topics about these, by entity."""

    def topic_rows(self, state: str | None, limit: int) -> Sequence[TopicRow]:
        """Return topics, of a state or all, hottest first."""

    def surfaces(self, names: Collection[str]) -> Mapping[str, str]:
        """Return how what these labels name is written."""

    def mention_spans(self, names: Collection[str], limit: int) -> Sequence[MentionSpan]:
        """Return the units that mention one of these labels, latest first; of one time, by their ids, last first."""

    # Days

    def units_between(self, since: str, until: str) -> Sequence[int]:
        """Return the numbers of the current units from a time on and before another, by time. The cost does not grow
        with what is outside of it."""

    def is_mentioned_before(self, name: str, moment: str) -> bool:
        """Return whether a unit before a time mentions a label."""

    def days(self, first: str, last: str) -> Mapping[str, str]:
        """Return what is kept of the days from one to another, by day."""

    def list_days(self, first: str, last: str) -> Sequence[str]:
        """Return the days from one to another of which something is kept, without reading it."""

    def put_day(self, day: str, data: str) -> None:
        """Keep what happened on a day; empty: nothing."""
