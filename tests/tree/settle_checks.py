"""What holds of a tree in which nothing is left to do, whatever happened before: of its files, and of its index.

`find_faults` reads the files of a book and says what is wrong with its nodes; `node_rows` is what the index knows of
them, which is the same however it came to know it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from commonplace.index.sqlite import SqliteIndex
from commonplace.text.notes import parse
from commonplace.tree.nodes import Summary, is_node_id, read_note
from commonplace.tree.store import TreeStore
from commonplace.tree.units import TreeUnit, divide_into_leaves, read_unit

_ROWS = (
    "SELECT 'node', id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state"
    " FROM node",
    "SELECT 'topic', entity, folder, name, title, state, first, last, units, hotness FROM topic",
    "SELECT 'day', day, data FROM day",
    "SELECT 'marked', folder, name FROM changed_file",
    "SELECT 'marked', hour FROM changed_hour",
    "SELECT 'marked', label FROM changed_label",
)


class Nodes(NamedTuple):
    """The nodes that the files of a tree have."""

    leaves: Mapping[str, str]  # the file of each
    summaries: Mapping[str, Summary]
    spoiled: tuple[str, ...]  # notes of summaries that are none
    doubled: tuple[str, ...]  # leaves in two files
    units: Mapping[str, TreeUnit]


def read_nodes(files: Mapping[str, bytes]) -> Nodes:
    """Return the nodes of a tree, from its files by their paths, which begin with /tree/."""
    summaries: dict[str, Summary] = {}
    leaves = list[tuple[str, str]]()
    spoiled = []
    units: dict[str, TreeUnit] = {}
    for path, data in sorted(files.items()):
        parts = path.split("/")  # "", tree, SOURCE, FOLDER, NAME.md
        if len(parts) != 5 or not path.endswith(".md") or parts[2] in ("topic", "digest") or parts[4] == "index.md":
            continue
        name, note = parts[4].removesuffix(".md"), parse(data)
        if parts[3] == "summary":
            node = read_note(name, note)
            if node is not None and node.source == parts[2]:
                summaries[name] = node
            else:
                spoiled.append(path)
            continue
        found = [
            read_unit(entry, kind="", folder="/".join(parts[:4]), name=name)
            for entry in note.entries
            if entry.id.startswith("u-")
        ]
        units |= {unit.id: unit for unit in found}
        leaves += [(leaf.id, path) for leaf in divide_into_leaves(found)]
    doubled = tuple(ident for ident, number in Counter(ident for ident, _ in leaves).items() if number > 1)
    return Nodes(dict(leaves), summaries, tuple(spoiled), doubled, units)


def find_faults(files: Mapping[str, bytes]) -> list[str]:
    """Return what is wrong with the nodes of a tree in which nothing is left to do."""
    return list(_find_faults(read_nodes(files)))


def _find_faults(nodes: Nodes) -> Iterator[str]:
    parents = Counter(child for node in nodes.summaries.values() for child in node.children)
    yield from (f"{ident} is in two files" for ident in nodes.doubled)
    yield from (f"{path} is no summary" for path in nodes.spoiled)
    yield from (f"{child} has {number} parents" for child, number in parents.items() if number > 1)
    for ident, node in nodes.summaries.items():
        for child in node.children:
            if child not in nodes.leaves and child not in nodes.summaries:
                yield f"{child} of {ident} is not there"
            level = nodes.summaries[child].level if child in nodes.summaries else 0
            if level != node.level - 1:
                yield f"{child} of {ident} is of level {level}"
        for line in (line for thread in node.threads for line in thread.lines):
            unit = nodes.units.get(line.unit)
            if unit is None:
                yield f"{ident} names {line.unit}, which is not there"
            elif "".join(line.text.split()) not in "".join(unit.text.split()):
                yield f"{ident} says {line.text!r}, which {line.unit} does not say"


def count_sealed(files: Mapping[str, bytes]) -> tuple[int, int]:
    """Return how many leaves there are, and how many of them a summary has."""
    nodes = read_nodes(files)
    sealed = {child for node in nodes.summaries.values() for child in node.children}
    return len(nodes.leaves), len(sealed & set(nodes.leaves))


def node_rows(tree: TreeStore) -> list[str]:
    """Return all that the index says of nodes, topics and days, and what is marked in it."""
    index = tree.memories.index
    assert isinstance(index, SqliteIndex)
    return sorted(repr(row) for query in _ROWS for row in index.connection.execute(query))


def check_rows(tree: TreeStore, files: Mapping[str, bytes]) -> None:
    """Fail unless the index says of nodes what the files say, and nothing is marked."""
    nodes = read_nodes(files)
    with tree.reading() as index:
        rows = {row.id: row for row in index.nodes([*nodes.leaves, *nodes.summaries])}
        assert sum(number for number, _ in index.count_nodes().values()) == len(rows), "nodes of no file"
    assert set(rows) == {*nodes.leaves, *nodes.summaries}
    parents = {child: ident for ident, node in nodes.summaries.items() for child in node.children}
    assert {ident: row.parent for ident, row in rows.items() if row.parent} == parents
    assert [row for row in rows.values() if row.state] == []
    assert all(
        is_node_id(ident) or f"{rows[ident].folder}/{rows[ident].name}.md" == path
        for ident, path in nodes.leaves.items()
    )
    assert [row for row in node_rows(tree) if row.startswith("('marked'")] == []
