"""Seal leaves into summaries, summaries into higher ones, and make anew what does not say what its children say.

    leaves of a source, by time: each ten, or 50,000 tokens    ->  tree/SOURCE/summary/L1-HASH.md
    ten nodes of a level                                       ->  a node of the next level
    a rest in which nothing is younger than seven days         ->  a node, too

`settle` calls this under the lock of the tree. What is to be done follows from the marks in the index, and what was
done is a note whose id follows from its children; so a process that is killed leaves nothing half done that the next
one would do twice. A leaf that grew makes the nodes above it say the new text, under the same ids. A leaf that is gone
takes the nodes above it with it, and what they were made of is sealed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple

from commonplace.index.nodes import AS_MADE, BROKEN, CHANGED, NodeRow
from commonplace.index.port import Transaction
from commonplace.memories.lifecycle import keep_history
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry
from commonplace.model.times import is_timestamp, shift_time
from commonplace.text.notes import Note
from commonplace.tree.admission import is_admitted
from commonplace.tree.digests import DIGEST_PREFIX, HOUR, bounds_of, parse_digest_id
from commonplace.tree.extract import Passage, extract
from commonplace.tree.labels import INNER_KINDS
from commonplace.tree.nodes import (
    SUMMARY_FOLDER,
    Summary,
    choose_entities,
    group_lines,
    identify_note,
    leaf_row,
    make_note,
    print_children,
    read_note,
)
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.topics import TOPIC_FOLDER, read_topic
from commonplace.tree.units import Leaf, TreeUnit, divide_into_leaves, first_unit_of, read_unit
from commonplace.vault.paths import KEEPER, TREE, resolve

MOST_CHILDREN, MOST_TOKENS = 10, 50_000  # of a node
FLUSH_AFTER = 7 * 86_400  # seconds
_SEALED = 20  # notes in one unit of work
_DIVIDED = 200  # files in one transaction
_EVERYTHING = 1_000_000_000
_NO_ENTITIES = (*INNER_KINDS, "date:", "name:")  # a name in a text is only a candidate


class _Group(NamedTuple):
    """Nodes that are sealed together."""

    source: str
    level: int  # of the node that they make
    children: Sequence[NodeRow]


class Sealer:
    """Brings the nodes of one tree up to its leaves; the caller holds the lock of the tree."""

    def __init__(self, tree: TreeStore, wanted: str = "") -> None:
        """`wanted` is the model that is to write the summaries: until it does, their extracts say so."""
        self._tree, self._wanted = tree, wanted
        self.sealed = self.renewed = 0

    # What changed

    def divide(self) -> None:
        """Put into the index which nodes the changed files have. That changes no file."""
        with self._tree.reading() as index:
            changed = index.changed_files(_EVERYTHING)
        notes = [place for place in changed if _is_note_folder(place[0])]
        files = [place for place in changed if not _is_note_folder(place[0])]
        kinds: Mapping[str, str] = {str(source.folder): source.kind for source in self._tree.sources()}
        for at in range(0, len(files), _DIVIDED):
            with self._change() as index:
                for folder, name in files[at : at + _DIVIDED]:
                    rows = _divide_file(index, folder, name, kinds)
                    gone = {node.id for node in index.nodes_of(folder, name)} - {row.id for row in rows}
                    # A copy that somebody made of a file may be left: it has the node now.
                    for item in index.units([first_unit_of(ident) for ident in gone]):
                        if (item.folder, item.name) != (folder, name):
                            index.set_nodes(item.folder, item.name, _divide_file(index, item.folder, item.name, kinds))
                    index.set_nodes(folder, name, rows)
        # Lower levels first: a node is looked at when its children are known.
        for folder, name in sorted(notes, key=lambda place: (len(place[1].partition("-")[0]), place[1])):
            self._note_changed(folder, name)

    def _note_changed(self, folder: str, name: str) -> None:
        """Put into the index what a note of a summary or topic says now."""
        try:
            note = self._tree.read_note(resolve(f"{folder}/{name}.md"))
        except NotFound:
            note = None
        if not folder.endswith(f"/{SUMMARY_FOLDER}"):
            self._page_changed(folder, name, note)
            return
        node = identify_note(name, note) if note is not None else None
        is_there = node is not None and folder.split("/")[2] == node.source
        is_edited = note is not None and read_note(name, note) is None
        with self._change() as index:
            index.set_nodes(folder, name, [node.row()] if node is not None and is_there else [])
            if node is None or not is_there:
                return
            children = _in_order(index.nodes(node.children), node.children)
            if len(children) < len(node.children) or any(child.parent not in ("", node.id) for child in children):
                index.adopt(node.id, (), BROKEN)
            else:
                is_as_made = print_children(children) == node.made_of and not is_edited
                index.adopt(node.id, node.children, AS_MADE if is_as_made else CHANGED)

    def _page_changed(self, folder: str, name: str, note: Note | None) -> None:
        """Have the page of a topic or digest made again: we did not make it, or it is gone, or another one."""
        topic = read_topic(folder, name, note) if note is not None and folder == str(TOPIC_FOLDER) else None
        period = parse_digest_id(f"{DIGEST_PREFIX}{name}")
        members = self._tree.people().members
        with self._change() as index:
            rows = [row for row in index.topic_rows(None, _EVERYTHING) if (row.folder, row.name) == (folder, name)]
            rows += [topic] if topic is not None else []
            index.mark_labels({label for row in rows for label in members(row.entity)})
            index.set_topic(folder, name, topic)
            if period is not None:
                index.mark_hours([bounds_of(period.start, period.start)[0][:HOUR]])

    def _change(self) -> AbstractContextManager[Transaction]:
        return self._tree.memories.index.transaction(self._tree.memories.space)

    # What is done about it

    def remove_broken(self) -> bool:
        """Remove the notes of nodes that lost a child, with all above them; return whether there was one."""
        return self._each_in_state(BROKEN, self._remove)

    def renew_changed(self) -> bool:
        """Make nodes of one level anew whose children say something else now; return whether there was one."""
        return self._each_in_state(CHANGED, self._renew)

    def _each_in_state(self, state: int, change: Callable[[Unit, NodeRow], None]) -> bool:
        with self._tree.reading() as index:
            found = index.nodes_in_state(state, _SEALED)
        found = [node for node in found if node.level == found[0].level]
        for source in sorted({node.source for node in found}):
            with self._tree.memories.unit(TREE / source, KEEPER) as unit:
                for node in found:
                    if node.source == source:
                        change(unit, node)
                unit.commit()
        for node in found:  # also where the file is what it was, and has no mark
            self._note_changed(node.folder, node.name)
        self.divide()
        return bool(found)

    def _remove(self, unit: Unit, node: NodeRow) -> None:
        note = unit.find(f"{SUMMARY_FOLDER}/{node.name}")
        if note is not None:
            self._keep_edited(unit, node.name, note)
            unit.remove(note)

    def _keep_edited(self, unit: Unit, name: str, stored: StoredNote) -> None:
        """Save the text of a note that somebody edited, before it is replaced or removed."""
        node = read_note(name, stored.note)
        if node is None or make_note(node).render() != stored.data:
            keep_history(unit, f"{SUMMARY_FOLDER}/{name}", "replaced", None, self._tree.memories.clock())

    def _renew(self, unit: Unit, node: NodeRow) -> None:
        stored = unit.find(f"{SUMMARY_FOLDER}/{node.name}")
        known = identify_note(node.name, stored.note) if stored is not None else None
        with self._tree.reading() as index:
            # In the order of the note, which its id is made of, though a child may be earlier now than it was.
            children = _in_order(index.children(node.id), known.children) if known is not None else []
        if known is not None and len(children) == len(known.children):  # else it was changed by hand just now
            self._write(unit, _Group(node.source, node.level, children))
            self.renewed += 1

    def seal(self, source: TreeSource, now: str) -> bool:
        """Seal what can be sealed of a source, a few nodes at a time; return whether there was something."""
        with self._tree.reading() as index:
            groups: list[_Group] = []
            for level in index.count_waiting(source.id):
                groups += _make_groups(index, source, level, now, _SEALED)
                if groups:
                    break
        if not groups:
            return False
        with self._tree.memories.unit(source.folder, KEEPER) as unit:
            for group in groups:
                self._write(unit, group)
            unit.commit()
        self.sealed += len(groups)
        self.divide()
        return True

    def _write(self, unit: Unit, group: _Group) -> None:
        node = self.summarise(group.source, group.level, group.children)
        key = f"{SUMMARY_FOLDER}/{node.id}"
        stored = unit.find(key)  # what is there is replaced
        if stored is not None:
            self._keep_edited(unit, node.id, stored)
        note = make_note(node)
        unit.put(key, note, None)

    def summarise(self, source: str, level: int, children: Sequence[NodeRow]) -> Summary:
        """Return the node that has these children, made of an extract of them."""
        said = self._read_children(level, children)
        with self._tree.reading() as index:
            numbers = [item.no for item in index.units({unit.id for unit, _ in said})]
            labels = index.labels_of(numbers)
        people = self._tree.people()
        entities = choose_entities(
            [people.canonical(name) for name in names if not name.startswith(_NO_ENTITIES)] for names in labels.values()
        )
        units = {unit.id: unit for unit, _ in said}
        chosen = extract([_make_passage(unit, text) for unit, text in said])
        return Summary(
            source=source,
            level=level,
            children=tuple(child.id for child in children),
            first=min(child.first for child in children),
            last=max(child.last for child in children),
            units=sum(child.units for child in children),
            threads=group_lines((units[one.passage.unit], one.text) for one in chosen),
            made_of=print_children(children),
            entities=entities,
            wanted=self._wanted,
        )

    def read_inputs(self, node: NodeRow) -> tuple[Sequence[NodeRow], list[tuple[TreeUnit, str]]]:
        """Return what a node is made of: its children, in the order of its note, and what they say, unit by unit."""
        known = self._read_summary(node)
        with self._tree.reading() as index:
            children = _in_order(index.children(node.id), known.children if known is not None else ())
        return children, self._read_children(node.level, children)

    def replace_text(self, node: NodeRow, made_of: str, model: str, lines: Sequence[tuple[TreeUnit, str]]) -> bool:
        """Write what a model said in the place of an extract; return False if the node is made of something else."""
        with self._tree.memories.unit(TREE / node.source, KEEPER) as unit:
            stored = unit.find(f"{SUMMARY_FOLDER}/{node.name}")
            known = read_note(node.name, stored.note) if stored is not None else None
            if known is None or known.made_of != made_of or not lines:
                return False
            new = known._replace(threads=group_lines(lines), model=model, wanted="")
            unit.put(f"{SUMMARY_FOLDER}/{node.name}", make_note(new), None)
            unit.commit()
        return True

    def _read_summary(self, node: NodeRow) -> Summary | None:
        with suppress(NotFound):
            return read_note(node.name, self._tree.read_note(resolve(f"{node.folder}/{node.name}.md")))
        return None

    def _read_children(self, level: int, children: Sequence[NodeRow]) -> list[tuple[TreeUnit, str]]:
        with self._tree.reading() as index:
            return self._read_leaves(index, children) if level == 1 else self._read_summaries(index, children)

    def _read_leaves(self, index: Transaction, children: Sequence[NodeRow]) -> list[tuple[TreeUnit, str]]:
        """Return the units of leaves with their texts."""
        found: list[tuple[TreeUnit, str]] = []
        leaves: dict[tuple[str, str], dict[str, Leaf]] = {}  # of each file, which several children may be of
        for child in children:
            place = (child.folder, child.name)
            if place not in leaves:
                leaves[place] = {leaf.id: leaf for leaf in divide_into_leaves(_read_units(index, *place, ""))}
            leaf = leaves[place].get(child.id)
            found += [(unit, unit.text) for unit in leaf.units] if leaf is not None else []
        return found

    def _read_summaries(self, index: Transaction, children: Sequence[NodeRow]) -> list[tuple[TreeUnit, str]]:
        """Return the sentences of summaries with their units."""
        lines = []
        for child in children:
            node = self._read_summary(child)
            lines += [line for thread in node.threads for line in thread.lines] if node is not None else []
        units = {
            item.entry.id: read_unit(item.entry, kind="", folder=item.folder, name=item.name)
            for item in index.units({line.unit for line in lines})
        }
        return [(units[line.unit], line.text) for line in lines if line.unit in units]


def count_groups(index: Transaction, source: TreeSource, now: str) -> int:
    """Return about how many nodes can be made of what waits in a source now."""
    groups = 0
    for level, waiting in index.count_waiting(source.id).items():
        groups += waiting // MOST_CHILDREN or len(_make_groups(index, source, level, now, 1))
    return groups


def _is_note_folder(folder: str) -> bool:
    """Return whether a folder of the tree has notes that are made of units, and no units."""
    names = folder.split("/")
    return len(names) > 2 and (names[2] in ("topic", "digest") or names[3:] == [SUMMARY_FOLDER])


def _divide_file(index: Transaction, folder: str, name: str, kinds: Mapping[str, str]) -> list[NodeRow]:
    """Return the leaves of a file, as the index has its units; `kinds` are those of the sources, by folder."""
    kind = kinds.get("/".join(folder.split("/")[:3]), "document")
    moments: dict[str, str] = {}
    places: dict[str, int] = {}
    for place, known in enumerate(index.entries(folder, name)):
        if known.end is None:
            moments[known.entry.id] = _read_moment(known.entry)
            places[known.entry.id] = place
    leaves = divide_into_leaves(_read_units(index, folder, name, kind))
    return [leaf_row(leaf, places[leaf.units[0].id], [moments[unit.id] for unit in leaf.units]) for leaf in leaves]


def _read_moment(entry: Entry) -> str:
    """Return when a unit was; where its file says nothing of the kind, when it was recorded."""
    return entry.occurred if entry.occurred and is_timestamp(entry.occurred) else entry.time


def _read_units(index: Transaction, folder: str, name: str, kind: str) -> Iterator[TreeUnit]:
    for known in index.entries(folder, name):
        if known.end is None and known.entry.id.startswith("u-"):
            yield read_unit(known.entry, kind=kind, folder=folder, name=name)


def _in_order(found: Sequence[NodeRow], idents: Sequence[str]) -> list[NodeRow]:
    known: Mapping[str, NodeRow] = {node.id: node for node in found}
    return [known[ident] for ident in idents if ident in known]


def _make_groups(index: Transaction, source: TreeSource, level: int, now: str, most: int) -> list[_Group]:
    """Return what of a level can be sealed, up to a number of nodes."""
    groups: list[_Group] = []
    group: list[NodeRow] = []
    for node in index.waiting(source.id, level, most * MOST_CHILDREN + 1):
        group.append(node)
        if len(group) == MOST_CHILDREN or sum(child.tokens for child in group) >= MOST_TOKENS:
            groups.append(_Group(source.id, level + 1, group))
            group = []
            if len(groups) == most:
                return groups
    is_old = bool(group) and max(node.last for node in group) < shift_time(now, -FLUSH_AFTER)
    if is_old and (level == 0 or len(group) > 1):
        groups.append(_Group(source.id, level + 1, group))
    return groups


def _make_passage(unit: TreeUnit, text: str) -> Passage:
    return Passage(
        unit.id, unit.thread or f"{unit.folder}/{unit.name}", unit.title, unit.author.name or unit.author.address,
        unit.occurred, text, is_admitted(unit.signals),
    )  # fmt: skip
