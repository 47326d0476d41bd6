"""Questions to the tree: units by words and meaning, by source, by time, and by what they mention.

The verbs call `find_units`; the ranking is that of memories. Without words in the question, the latest units come
first. `open_leaves` reads units and leaves from their files, which is what may be quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from commonplace.index.values import Window
from commonplace.model.errors import EmbedderError, NotFound
from commonplace.model.lazy import Log
from commonplace.recall.query import RecallQuery
from commonplace.recall.ranking import ScoredCandidate
from commonplace.recall.search import prepare_search, search_indexed
from commonplace.tree.admission import is_admitted
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.tree.units import LEAF_PREFIX, Leaf, TreeUnit, divide_into_leaves, first_unit_of, read_unit
from commonplace.vault.paths import resolve

_MOST_AUTHORS = 60  # names: some are of one person
_BULK_LOSS = 0.05
_EVERYTHING = 1_000_000_000
log = Log("commonplace.tree")


class UnitQuery(NamedTuple):
    """A question to the tree."""

    sources: Sequence[TreeSource]
    query: str = ""
    since: str = ""
    until: str = ""
    labels: Sequence[str] | None = None  # only units that mention one of these; None: all
    limit: int = 10
    mode: str = "hybrid"
    is_strong: bool = False  # only strong matches

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that are asked."""
        return tuple(str(source.folder) for source in self.sources)


class FoundUnits(NamedTuple):
    """The units that answer a question, how many there are, and who wrote most of those in its window."""

    hits: Sequence[ScoredCandidate]
    total: int
    authors: Sequence[tuple[str, int]]
    notice: str = ""


def find_units(tree: TreeStore, asked: UnitQuery) -> FoundUnits:
    """Return the best units for a question; without one, the latest in the window."""
    if not asked.sources:
        return FoundUnits((), 0, ())
    window = Window(asked.folders, asked.since, asked.until)
    with tree.reading() as index:
        if asked.labels is not None:
            only = index.mentioning(asked.labels, window, _EVERYTHING)
            window = window._replace(only=index.in_window(window._replace(only=only), _EVERYTHING))
        authors = tree.count_authors(index, window, _MOST_AUTHORS)
        if not asked.query.strip():
            latest = index.in_window(window, asked.limit)
            units = {item.no: item for item in index.candidates(latest)}
            hits = [ScoredCandidate(units[no], 0.0, {}) for no in latest if no in units]
            return FoundUnits(hits, index.measure(window).number, authors)
    question = RecallQuery(
        asked.query, asked.folders, since=asked.since or None, until=asked.until or None, limit=2 * asked.limit,
        mode=asked.mode, strong=asked.is_strong, names_later=False,
        only=frozenset(window.only) if window.only is not None else None,
    )  # fmt: skip
    found = _search(tree, question)
    return found._replace(hits=found.hits[: asked.limit], authors=authors)


def search_entries(
    tree: TreeStore, query: str, folders: Sequence[str], limit: int, *, only: frozenset[int] | None = None,
    since: str = "", until: str = "", mode: str = "hybrid", is_strong: bool = False,
) -> FoundUnits:  # fmt: skip
    """Return the best entries for a question in folders of the tree, whatever is in these."""
    question = RecallQuery(
        query, tuple(folders), since=since or None, until=until or None, limit=limit, mode=mode, strong=is_strong,
        names_later=False, only=only,
    )  # fmt: skip
    return _search(tree, question)


def _search(tree: TreeStore, question: RecallQuery) -> FoundUnits:
    """Return what a search found. Without vectors it goes by words alone, and says so."""
    memories, notice = tree.memories, ""
    semantic = None
    if question.mode != "lexical":
        try:
            semantic = tree.open_semantic()
        except EmbedderError as error:
            notice = f"Searched by words alone. {error.message}"
    notice = notice or prepare_search(memories.index, memories.space, question, semantic)
    found = search_indexed(
        memories.index, memories.space, question, now=memories.clock(), uses=lambda _: {}, semantic=semantic
    )
    hits = sorted(found.hits, key=_rank, reverse=True)
    return FoundUnits(hits, found.total, (), notice)


def _rank(hit: ScoredCandidate) -> float:
    """Return the score by which a hit is placed: mail of lists and machines has so many words that some always fit."""
    signals = dict(hit.candidate.entry.extra).get("signals", "").split(",")
    return hit.score if is_admitted(frozenset(signals)) else hit.score - _BULK_LOSS


class OpenLeaf(NamedTuple):
    """A leaf, or one unit, as it was asked for by its id."""

    id: str
    leaf: str  # the id of the leaf that has it
    units: tuple[TreeUnit, ...]

    @property
    def text(self) -> str:
        """Its text, which may be quoted; of a leaf with several units, each below a line that names it."""
        if len(self.units) == 1:
            return self.units[0].text
        return "\n\n".join(f"[{unit.id}] {_head(unit)}\n{unit.text}" for unit in self.units)


def _head(unit: TreeUnit) -> str:
    return ", ".join(filter(None, (unit.author.name or unit.author.address, unit.occurred)))


def open_leaves(tree: TreeStore, idents: Iterable[str]) -> dict[str, OpenLeaf]:
    """Return the leaves and units with these ids, by id, from their files. Those that are not there are left out."""
    wanted = list(dict.fromkeys(idents))
    kinds = {str(source.folder): source.kind for source in tree.sources()}
    firsts = {ident: first_unit_of(ident) if ident.startswith(LEAF_PREFIX) else ident for ident in wanted}
    with tree.reading() as index:
        places = {item.entry.id: (item.folder, item.name) for item in index.units(firsts.values())}
    leaves: dict[tuple[str, str], Sequence[Leaf]] = {}
    found: dict[str, OpenLeaf] = {}
    for ident, first in firsts.items():
        place = places.get(first)
        if place is None:
            continue
        if place not in leaves:
            leaves[place] = []
            with suppress(NotFound):  # moved or deleted by hand since the index was brought up to the files
                leaves[place] = _read_leaves(tree, *place, kinds)
        for leaf in leaves[place]:
            chosen = leaf.units if leaf.id == ident else tuple(unit for unit in leaf.units if unit.id == ident)
            if chosen:
                found[ident] = OpenLeaf(ident, leaf.id, chosen)
    return found


def _read_leaves(tree: TreeStore, folder: str, name: str, kinds: Mapping[str, str]) -> Sequence[Leaf]:
    note = tree.read_note(resolve(f"{folder}/{name}.md"))
    kind = kinds.get("/".join(folder.split("/")[:3]), "document")
    return list(divide_into_leaves(read_unit(entry, kind=kind, folder=folder, name=name) for entry in note.entries))
