"""Summaries as notes: the nodes of the tree above its leaves, how they are named, written and read back.

    tree/SOURCE/summary/L1-HASH.md      of leaves; L2-HASH.md of those, and so on

`seal` makes them, retrieval reads them. The id of a node is a hash of its level and its children, and nothing in its
note is of the time at which it was made: whoever makes it again makes the same bytes. Each sentence names the unit that
says it:

    ### Rollout of Atlas (Ann Lee, Bob Ray)
    - We decided to move on Friday. [u-5f0c1e9a7b3d2c4e6f80]
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from commonplace.index.nodes import NodeRow
from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import short_hash
from commonplace.text.frontmatter import Frontmatter, Writable
from commonplace.text.naming import cut, one_line
from commonplace.text.notes import Note
from commonplace.text.words import estimate_tokens
from commonplace.tree.periods import MONTHS
from commonplace.tree.subjects import strip_prefixes
from commonplace.tree.units import Leaf, TreeUnit
from commonplace.vault.paths import TREE, BookPath

SUMMARY_FOLDER = "summary"
EXTRACT = "extract"  # the model of what was chosen by rules
_ID = lazy(r"L([1-9]\d?)-([0-9a-f]{20})")
_LINE = lazy(r"- (.*) \[(u-[0-9a-f]{20})\]")
_HEADING = lazy(r"### (.*?)(?: \(([^()]*)\))?")
_MAX_SUMMARY, _MOST_TITLES, _MAX_TITLE, _MOST_PEOPLE = 200, 3, 80, 4
_MOST_ENTITIES = 12


class SummaryLine(NamedTuple):
    """One sentence of a summary, and the unit that says it."""

    text: str
    unit: str


class SummaryThread(NamedTuple):
    """What a summary says of one thread."""

    title: str
    people: str  # as they are shown
    lines: tuple[SummaryLine, ...]


class Summary(NamedTuple):
    """A node above the leaves, as its note says."""

    source: str
    level: int
    children: tuple[str, ...]
    first: str  # when its first and its last unit were
    last: str
    units: int
    threads: tuple[SummaryThread, ...]
    made_of: str  # what its children said
    entities: tuple[str, ...] = ()  # what its units mention most
    model: str = EXTRACT
    wanted: str = ""  # the model that could not write it, and will be asked again

    @property
    def id(self) -> str:
        """Its id, which follows from its level and its children."""
        return make_node_id(self.level, self.children)

    @property
    def text(self) -> str:
        """What it says, a line for each sentence."""
        return "\n".join(write_threads(self.threads))

    @property
    def title(self) -> str:
        """From when to when it is, and what it is about most."""
        titles = dict.fromkeys(cut(thread.title, _MAX_TITLE) for thread in self.threads if thread.title)
        about = "; ".join([*titles][:_MOST_TITLES]) or f"{self.units} messages"
        return cut(f"{describe_span(self.first, self.last)}: {about}", _MAX_SUMMARY)

    def row(self) -> NodeRow:
        """Return the node as the index has it."""
        folder, ident, text = str(summary_folder(self.source)), self.id, self.text
        return NodeRow(
            ident, self.source, self.level, folder, ident, 0, self.first, self.last, self.units,
            estimate_tokens(text), short_hash(text), self.model,
        )  # fmt: skip


def summary_folder(source: str) -> BookPath:
    """Return the folder of the summaries of a source."""
    return TREE / source / SUMMARY_FOLDER


def is_node_id(text: str) -> bool:
    """Return whether a text is the id of a summary."""
    return _ID.fullmatch(text) is not None


def make_node_id(level: int, children: Iterable[str]) -> str:
    """Return the id of the node of a level that has these children."""
    return f"L{level}-{short_hash(' '.join(children), 20)}"


def print_leaf(leaf: Leaf) -> str:
    """Return a hash of what a leaf says."""
    found = hashlib.sha256()
    for unit in leaf.units:
        found.update(f"{unit.id}\0{unit.author}\0{unit.occurred}\0{unit.text}\0".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:20]


def print_children(children: Iterable[NodeRow]) -> str:
    """Return a hash of what the children of a node say."""
    return short_hash(" ".join(f"{child.id} {child.print}" for child in children), 20)


def leaf_row(leaf: Leaf, place: int, moments: Sequence[str]) -> NodeRow:
    """Return a leaf as the index has it; `moments` say when its units were, or were recorded."""
    unit = leaf.units[0]
    return NodeRow(
        leaf.id, unit.source, 0, unit.folder, unit.name, place, min(moments), max(moments), len(leaf.units),
        leaf.tokens, print_leaf(leaf),
    )  # fmt: skip


def group_lines(chosen: Iterable[tuple[TreeUnit, str]]) -> tuple[SummaryThread, ...]:
    """Return sentences by the threads of their units, in the order in which these come first."""
    lines: dict[str, list[SummaryLine]] = {}
    titles: dict[str, str] = {}
    people: dict[str, dict[str, str]] = {}  # the fullest name of each, by what tells them apart
    for unit, text in chosen:
        # A document's sections have titles of their own; a thread has that of its first message.
        key, person = unit.thread or f"{unit.folder}/{unit.name}", unit.author
        titles.setdefault(key, strip_prefixes(unit.title) or unit.name)
        names = people.setdefault(key, {})
        names[person.address or person.name] = max(names.get(person.address, ""), person.name, key=len)
        lines.setdefault(key, []).append(SummaryLine(one_line(text), unit.id))
    found = []
    for key, some in lines.items():
        shown = [name or ident for ident, name in people[key].items() if name or ident][:_MOST_PEOPLE]
        # The people stand in brackets at the end of the line.
        who = one_line(", ".join(shown)).replace("(", " ").replace(")", " ").strip()
        found.append(SummaryThread(cut(one_line(titles[key]), _MAX_SUMMARY), cut(who, _MAX_SUMMARY), tuple(some)))
    return tuple(found)


def write_threads(threads: Iterable[SummaryThread]) -> Iterator[str]:
    """Yield the lines that say what was said in each thread."""
    for thread in threads:
        yield f"### {thread.title} ({thread.people})" if thread.people else f"### {thread.title}"
        for line in thread.lines:
            yield f"- {line.text} [{line.unit}]"


def read_threads(text: str) -> tuple[SummaryThread, ...]:
    """Return what the text of a summary says, thread by thread."""
    threads: list[SummaryThread] = []
    for row in text.split("\n"):
        heading, line = _HEADING.fullmatch(row), _LINE.fullmatch(row)
        if line is not None:
            last = threads.pop() if threads else SummaryThread("", "", ())
            threads.append(last._replace(lines=(*last.lines, SummaryLine(line[1], line[2]))))
        elif heading is not None:
            threads.append(SummaryThread(heading[1], heading[2] or "", ()))
    return tuple(threads)


def make_note(node: Summary) -> Note:
    """Return the note of a node."""
    text = node.text
    fields: dict[str, Writable] = {
        "tree": SUMMARY_FOLDER, "source": node.source, "level": node.level, "summary": node.title,
        "created": node.first, "children": list(node.children), "from": node.first, "to": node.last,
        "units": node.units,
        "entities": list(node.entities), "model": node.model, "wanted": node.wanted, "made_of": node.made_of,
        "body_hash": short_hash(text),
    }  # fmt: skip
    front = Frontmatter("---\n", (), "---\n")
    for name, value in fields.items():
        if value or name == "children":
            front = front.put(name, value)
    entry = Entry(time=node.last, text=text, id=node.id, trust=Trust.EXTERNAL, occurred=node.last)
    return Note(front, f"# {one_line(node.title)}\n\n", ()).append(entry)


def read_note(name: str, note: Note) -> Summary | None:
    """Return the node that a note is; None for one that is no summary, not that of its name, or was edited."""
    node, entry = identify_note(name, note), note.newest
    if node is None or entry is None or node.text != entry.text:
        return None
    return node if note.front.text("body_hash") == short_hash(entry.text) else None


def identify_note(name: str, note: Note) -> Summary | None:
    """Return the node that a note is by its frontmatter, also if its text was edited; None for one that is none."""
    front, entry = note.front, note.newest
    known = _ID.fullmatch(name)
    if known is None or entry is None or note.in_conflict or not front.text("units").isdecimal():
        return None
    node = Summary(
        front.text("source"), int(known[1]), front.texts("children"), front.text("from"), front.text("to"),
        int(front.text("units")), read_threads(entry.text), front.text("made_of"), front.texts("entities"),
        front.text("model"), front.text("wanted"),
    )  # fmt: skip
    return node if node.id == name and node.children else None


def choose_entities(labels: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return what units mention most, most first; `labels` are those of each unit."""
    counts: dict[str, int] = {}
    for some in labels:
        for name in dict.fromkeys(some):
            counts[name] = counts.get(name, 0) + 1
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_ENTITIES])


def describe_span(first: str, last: str) -> str:
    """Return from which day to which something was, as a person writes it."""
    try:
        start, end = (date.fromisoformat(moment[:10]) for moment in (first, last))
    except ValueError:
        return "undated"
    from_month, month = MONTHS[start.month - 1], MONTHS[end.month - 1]
    if start == end:
        return f"{end.day} {month} {end.year}"
    if (start.year, start.month) == (end.year, end.month):
        return f"{start.day} to {end.day} {month} {end.year}"
    if start.year == end.year:
        return f"{start.day} {from_month} to {end.day} {month} {end.year}"
    return f"{start.day} {from_month} {start.year} to {end.day} {month} {end.year}"
