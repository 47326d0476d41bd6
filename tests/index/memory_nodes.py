"""The nodes of the tree and the marks of what is left to do, as plain dicts: a part of `tests.index.memory`.

Every change of a file, a unit or a label calls one of the `mark_...` methods here, as the triggers of a database do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from commonplace.index.nodes import AS_MADE, BROKEN, CHANGED, MentionSpan, NodeRow, TopicRow
from commonplace.index.units import Label, LabelCount
from commonplace.index.values import EntryCandidate, EntryInterval, Row, Window

_HOUR = len("2026-11-15T09")


class NodeState(NamedTuple):
    """What one space knows of nodes, topics and days, and what is left to do there."""

    nodes: dict[str, NodeRow]
    topics: dict[str, TopicRow]
    days: dict[str, str]
    files: set[tuple[str, str]]
    hours: set[str]

    @classmethod
    def make_empty(cls) -> NodeState:
        """Return the state of a space in which nothing happened."""
        return cls({}, {}, {}, set(), set())

    def copy(self) -> NodeState:
        """Return the same, to go back to."""
        return NodeState(dict(self.nodes), dict(self.topics), dict(self.days), set(self.files), set(self.hours))

    def go_back(self, before: NodeState) -> None:
        """Make this what it was."""
        for part in self:
            part.clear()
        self.nodes.update(before.nodes)
        self.topics.update(before.topics)
        self.days.update(before.days)
        self.files.update(before.files)
        self.hours.update(before.hours)


class LabelState:
    """What the units of one index mention, by the number of their entry, and which labels changed."""

    def __init__(self) -> None:
        self.put: dict[int, list[str]] = {}
        self.surfaces: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.changed: set[int] = set()

    def copy(self) -> tuple[dict[int, list[str]], dict[str, str], dict[str, int], set[int]]:
        """Return the same, to go back to."""
        return dict(self.put), dict(self.surfaces), dict(self.numbers), set(self.changed)

    def clear(self) -> None:
        """Forget everything."""
        self.put, self.surfaces, self.numbers, self.changed = {}, {}, {}, set()

    def mark(self, names: Iterable[str]) -> None:
        """Mark labels as changed."""
        self.changed |= {self.numbers[name] for name in names}


class MemoryNodes(ABC):
    """What the port asks of nodes and labels, in one space."""

    def __init__(self, state: NodeState, labels: LabelState) -> None:
        self._state, self._labels = state, labels
        self._state_before, self._labels_before = state.copy(), labels.copy()

    def undo_nodes(self) -> None:
        """Make nodes, marks and labels what they were when the transaction began."""
        self._state.go_back(self._state_before)
        labels = self._labels
        labels.put, labels.surfaces, labels.numbers, labels.changed = self._labels_before

    @abstractmethod
    def _said(self) -> list[EntryCandidate]: ...

    def _units(self) -> list[EntryCandidate]:
        return [item for item in self._said() if item.entry.id.startswith("u-")]

    # Labels

    def unlabelled(self, limit: int) -> Sequence[int]:
        today = [item.no for item in self._units() if item.end is None]
        return sorted(no for no in today if no not in self._labels.put)[:limit]

    def put_labels(self, labels: Mapping[int, Collection[Label]]) -> None:
        for label in (label for some in labels.values() for label in some):
            known = self._labels.surfaces.get(label.name, "")
            self._labels.surfaces[label.name] = min(known, label.surface, key=lambda surface: (-len(surface), surface))
            self._labels.numbers.setdefault(label.name, len(self._labels.numbers) + 1)
        for no, some in labels.items():
            new = {label.name for label in some}.difference(self._labels.put.get(no, ()))
            self._labels.put[no] = [label.name for label in some]
            self._mark_mentions(no, new)

    def unlabel_all(self) -> None:
        self._labels.put.clear()

    def find_labels(self, words: Collection[str], kinds: Collection[str], limit: int) -> Sequence[Label]:
        found = [
            Label(name, surface)
            for name, surface in sorted(self._labels.surfaces.items())
            if name.partition(":")[0] in kinds and all(word.lower() in f"{surface} {name}".lower() for word in words)
        ]
        return found[:limit]

    def _mentioning(self, name: str) -> list[EntryCandidate]:
        today = [item for item in self._units() if item.end is None]
        return [item for item in today if name in self._labels.put.get(item.no, ())]

    def count_mentions(self, names: Collection[str]) -> Sequence[LabelCount]:
        found = {name: list(map(_moment, self._mentioning(name))) for name in sorted(names)}
        return [LabelCount(name, len(moments), max(moments)) for name, moments in found.items() if moments]

    def mentioning(self, names: Collection[str], window: Window, limit: int) -> Sequence[int]:
        found = {item.no: item for name in names for item in self._mentioning(name)}
        inside = [it for it in found.values() if window.since <= _moment(it) <= (window.until or _moment(it))]
        return [item.no for item in sorted(inside, key=_moment, reverse=True)][:limit]

    def labels_of(self, numbers: Collection[int]) -> Mapping[int, Sequence[str]]:
        return {no: sorted(set(self._labels.put[no])) for no in sorted(numbers) if self._labels.put.get(no)}

    def count_labels(self, kinds: Collection[str]) -> int:
        return sum(name.partition(":")[0] in kinds for name in self._labels.surfaces)

    # What changes leave

    def drop_mentions(self, numbers: Iterable[int]) -> None:
        """Take away what units mention that go or end."""
        for no in numbers:
            names = self._labels.put.get(no, ())
            self._mark_mentions(no, names)
            self._labels.put.pop(no, None)

    def _mark_mentions(self, no: int, names: Iterable[str]) -> None:
        """Mark what a unit mentions that comes or goes, and the next unit of whom it mentions first."""
        self._labels.mark(names)
        known = {item.no: item for item in self._units()}
        if no not in known:
            return
        for name in names:
            moments = sorted(_moment(item) for item in self._mentioning(name) if item.no != no)
            later = [moment for moment in moments if moment > _moment(known[no])]
            if name.startswith("person:") and later and moments[0] >= _moment(known[no]):
                self._state.hours.add(later[0][:_HOUR])

    def mark_file(self, folder: str, name: str, old: Row | None, new: Row | None) -> None:
        """Mark a file of the tree whose text is another one."""
        if f"{folder}/".startswith("/tree/") and (old and old.revision) != (new and new.revision):
            self._state.files.add((folder, name))

    def mark_units(self, entries: Iterable[EntryInterval]) -> None:
        """Mark the hours of units that come, go or end."""
        units = [item.entry for item in entries if item.entry.id.startswith("u-")]
        self._state.hours.update((entry.occurred or entry.time)[:_HOUR] for entry in units)

    # What is left to do

    def changed_files(self, limit: int) -> Sequence[tuple[str, str]]:
        return sorted(self._state.files)[:limit]

    def count_changed_files(self) -> int:
        return len(self._state.files)

    def count_changed_labels(self) -> int:
        return len(self._labels.changed)

    def changed_hours(self) -> Sequence[str]:
        return sorted(self._state.hours)

    def mark_hours(self, hours: Collection[str]) -> None:
        self._state.hours.update(hours)

    def unmark_hours(self, hours: Collection[str]) -> None:
        self._state.hours.difference_update(hours)

    def changed_labels(self, limit: int) -> Sequence[tuple[int, str]]:
        names = {number: name for name, number in self._labels.numbers.items()}
        return [(number, names.get(number, "")) for number in sorted(self._labels.changed)][:limit]

    def mark_labels(self, names: Collection[str]) -> None:
        self._labels.mark(name for name in names if name in self._labels.numbers)

    def unmark_labels(self, numbers: Collection[int]) -> None:
        self._labels.changed.difference_update(numbers)

    # Nodes

    def set_nodes(self, folder: str, name: str, nodes: Sequence[NodeRow]) -> None:
        wanted = {node.id for node in nodes}
        for node in self.nodes_of(folder, name):
            if node.id not in wanted:
                del self._state.nodes[node.id]
                self._unseal(node.id)
                self._raise_state(node.parent, BROKEN)
        for node in nodes:
            old = self._state.nodes.get(node.id)
            if old is not None:
                node = node._replace(parent=old.parent, state=old.state)
            self._state.nodes[node.id] = node
            if old is not None and old.print != node.print:
                self._raise_state(old.parent, CHANGED)
        self._state.files.discard((folder, name))

    def adopt(self, parent: str, children: Collection[str], state: int) -> None:
        self._unseal(parent)
        for child in children:
            self._change(child, parent=parent)
        self._change(parent, state=state)

    def _unseal(self, parent: str) -> None:
        for node in self.children(parent):
            self._change(node.id, parent="")

    def _raise_state(self, ident: str, state: int) -> None:
        if ident in self._state.nodes:
            self._change(ident, state=max(state, self._state.nodes[ident].state))

    def _change(self, ident: str, **fields: str | int) -> None:
        if ident in self._state.nodes:
            self._state.nodes[ident] = self._state.nodes[ident]._replace(**fields)  # type: ignore[arg-type]

    def nodes(self, idents: Collection[str]) -> Sequence[NodeRow]:
        return [self._state.nodes[ident] for ident in sorted({*idents}) if ident in self._state.nodes]

    def nodes_of(self, folder: str, name: str) -> Sequence[NodeRow]:
        found = [node for node in self._state.nodes.values() if (node.folder, node.name) == (folder, name)]
        return sorted(found, key=attrgetter("place", "id"))

    def children(self, parent: str) -> Sequence[NodeRow]:
        found = [node for node in self._state.nodes.values() if parent and node.parent == parent]
        return sorted(found, key=attrgetter("first", "id"))

    def waiting(self, source: str, level: int, limit: int, after: tuple[str, str] = ("", "")) -> Sequence[NodeRow]:
        found = [
            node
            for node in self._state.nodes.values()
            if (node.source, node.level, node.parent) == (source, level, "") and (node.first, node.id) > after
        ]
        return sorted(found, key=attrgetter("first", "id"))[:limit]

    def nodes_in_state(self, state: int, limit: int) -> Sequence[NodeRow]:
        found = [node for node in self._state.nodes.values() if node.state == state != AS_MADE]
        return sorted(found, key=attrgetter("level", "id"))[:limit]

    def count_in_states(self) -> int:
        return sum(node.state != AS_MADE for node in self._state.nodes.values())

    def nodes_not_by(self, model: str, limit: int) -> Sequence[NodeRow]:
        found = [node for node in self._state.nodes.values() if node.level > 0 and node.model != model]
        return sorted(found, key=attrgetter("level", "id"))[:limit]

    def count_nodes(self, source: str | None = None) -> Mapping[int, tuple[int, int]]:
        found = [node for node in self._state.nodes.values() if source in (None, node.source)]
        counts, waiting = (
            Counter(node.level for node in found),
            Counter(node.level for node in found if not node.parent),
        )
        return {level: (counts[level], waiting[level]) for level in sorted(counts)}

    def count_waiting(self, source: str) -> Mapping[int, int]:
        return {level: waiting for level, (_, waiting) in self.count_nodes(source).items() if waiting}

    def sealed_in(self, numbers: Collection[int]) -> Mapping[int, str]:
        found: dict[int, str] = {}
        places = Counter[tuple[str, str]]()
        for item in self._said():
            file = item.folder, item.name
            before = [node for node in self.nodes_of(*file) if node.level == 0 and node.place <= places[file]]
            places[file] += 1
            if item.no in numbers and before and before[-1].parent:
                found[item.no] = before[-1].parent
        return found

    def entry_numbers(self, folder: str, name: str) -> Sequence[int]:
        return [item.no for item in self._said() if (item.folder, item.name, item.end) == (folder, name, None)]

    # Topics

    def set_topic(self, folder: str, name: str, topic: TopicRow | None) -> None:
        topics = self._state.topics
        for entity in [row.entity for row in topics.values() if (row.folder, row.name) == (folder, name)]:
            del topics[entity]
        if topic is not None:
            topics[topic.entity] = topic
        self._state.files.discard((folder, name))

    def topics_about(self, entities: Collection[str]) -> Sequence[TopicRow]:
        return [self._state.topics[entity] for entity in sorted({*entities}) if entity in self._state.topics]

    def topic_rows(self, state: str | None, limit: int) -> Sequence[TopicRow]:
        found = [row for row in self._state.topics.values() if state in (None, row.state)]
        return sorted(found, key=lambda row: (row.state, -row.hotness, row.entity))[:limit]

    def surfaces(self, names: Collection[str]) -> Mapping[str, str]:
        return {name: self._labels.surfaces[name] for name in names if name in self._labels.surfaces}

    def mention_spans(self, names: Collection[str], limit: int) -> Sequence[MentionSpan]:
        found = {item.no: item for name in names for item in self._mentioning(name)}
        items = sorted(found.values(), key=lambda item: (_moment(item), item.entry.id), reverse=True)
        spans = [
            MentionSpan(item.no, item.folder, item.name, _moment(item), entry.author, frozenset(signals.split(",")))
            for item in items
            for entry in (item.entry,)
            for signals in (dict(entry.extra).get("signals", ""),)
        ]
        return spans[:limit]

    # Days

    def units_between(self, since: str, until: str) -> Sequence[int]:
        today = [item for item in self._units() if item.end is None and since <= _moment(item) < until]
        return [item.no for item in sorted(today, key=lambda item: (_moment(item), item.entry.id))]

    def is_mentioned_before(self, name: str, moment: str) -> bool:
        return any(_moment(item) < moment for item in self._mentioning(name))

    def days(self, first: str, last: str) -> Mapping[str, str]:
        return {day: data for day, data in sorted(self._state.days.items()) if first <= day <= last}

    def list_days(self, first: str, last: str) -> Sequence[str]:
        return [*self.days(first, last)]

    def put_day(self, day: str, data: str) -> None:
        if data:
            self._state.days[day] = data
        else:
            self._state.days.pop(day, None)


def _moment(item: EntryCandidate) -> str:
    return item.entry.occurred or item.entry.time
