"""The tree of an open book, as the verbs use it: opened where one first needs it, and its units as hits.

The tree has an index of its own, beside that of memories: `tree.db`. It is opened only where `tree/` has a source, so a
book without one never has the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from commonplace.embed import StaticEmbedder
from commonplace.index.sqlite.database import SqliteIndex
from commonplace.index.values import EntryCandidate
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import NotPermitted, StorageError
from commonplace.model.memory import Trust
from commonplace.model.results import Hit, HitKind
from commonplace.model.scope import ScopeKind
from commonplace.recall.candidates import cut_passage
from commonplace.recall.meaning import SemanticIndex
from commonplace.recall.ranking import ScoredCandidate
from commonplace.state.port import last_look
from commonplace.text.naming import make_summary
from commonplace.text.words import QueryTerms, query_terms
from commonplace.tree.labels import INNER_KINDS
from commonplace.tree.retrieve import OpenLeaf
from commonplace.tree.store import TreeSource, TreeStore, list_sources
from commonplace.tree.units import TreeUnit, read_unit
from commonplace.vault.paths import TREE
from commonplace.verbs.context import BookContext

TREE_DATABASE = "tree.db"
_PASSAGES = 8  # of a long message that have a vector of their own: one of all of it says too little of each
_NO_TERMS = QueryTerms(())


class TreeFacts:
    """What the tree remembers between processes, in the state of the book."""

    def __init__(self, context: BookContext) -> None:
        self._state, self._space = context.state, context.memories.space

    def get(self, name: str) -> str | None:
        """Return a fact."""
        with suppress(StorageError):
            return self._state.get_fact(self._space, name)
        return None

    def set(self, name: str, value: str) -> None:
        """Remember a fact. Where that cannot be done, more is looked at the next time."""
        with suppress(StorageError):
            self._state.set_fact(self._space, name, value)


def has_tree(context: BookContext) -> bool:
    """Return whether the caller has a tree to ask."""
    return context.settings.enabled and context.view().may_read(TREE) and bool(list_sources(context.memories))


def open_tree(context: BookContext) -> TreeStore:
    """Return the tree of a book. Raises NotPermitted for a caller who may not see it: a sealed session."""
    if not context.view().may_read(TREE):
        raise NotPermitted("A sealed session sees nothing but its own memories.")
    if context.shared.tree is None:
        memories, settings = context.memories, context.settings
        index = SqliteIndex(os.path.join(context.database_folder, TREE_DATABASE))
        store = MemoryStore(
            memories.vault, index, space=memories.space, lock_timeout=settings.lock_timeout,
            clock=memories.system_clock, floor=partial(last_look, context.state, memories.space),
        )  # fmt: skip
        context.shared.tree = TreeStore(store, partial(_open_semantic, context, store), TreeFacts(context))
    return context.shared.tree


def _open_semantic(context: BookContext, store: MemoryStore) -> SemanticIndex | None:
    """Return the vectors of the tree, by the table inside the install; None where meaning is switched off."""
    if context.settings.embedder == "off":
        return None
    if context.shared.tree_semantic is None:  # the table: the model inside the install would take hours for a mailbox
        context.shared.tree_semantic = SemanticIndex(store.index, store.space, StaticEmbedder(), passages=_PASSAGES)
    return context.shared.tree_semantic


def make_unit_hits(
    tree: TreeStore, sources: Sequence[TreeSource], found: Sequence[ScoredCandidate], query: str, *, is_listed: bool
) -> tuple[Hit, ...]:
    """Return units as hits. `is_listed`: they were not searched for, so they have neither score nor strength."""
    kinds = {str(source.folder): source.kind for source in sources}
    with tree.reading() as index:
        labels = index.labels_of([item.candidate.no for item in found])
    people = tree.people()
    terms = query_terms(query) if query.strip() else _NO_TERMS
    hits = []
    for item in found:
        unit = read_candidate(item.candidate, kinds)
        own = [name for name in labels.get(item.candidate.no, ()) if not name.startswith(INNER_KINDS)]
        hit = make_hit(unit, item.candidate, terms, tuple(dict.fromkeys(map(people.canonical, own))))
        score = 0.0 if is_listed else round(item.score, 4)
        hits.append(hit._replace(score=score, strong=is_listed or item.is_strong))
    return tuple(hits)


def read_candidate(item: EntryCandidate, kinds: Mapping[str, str]) -> TreeUnit:
    """Return the unit that an entry of the index is; `kinds` are those of the sources, by folder."""
    kind = kinds.get("/".join(item.folder.split("/")[:3]), "document")
    return read_unit(item.entry, kind=kind, folder=item.folder, name=item.name)


def make_hit(
    unit: TreeUnit, item: EntryCandidate | None = None, terms: QueryTerms = _NO_TERMS, entities: tuple[str, ...] = ()
) -> Hit:
    """Return a unit as a hit; `item` is how the index has it."""
    key = f"{unit.folder.removeprefix(f'{TREE}/')}/{unit.name}"
    when = unit.occurred or (item.entry.time if item is not None else "")
    row = item.row if item is not None else None
    text = cut_passage(unit.text, terms) or ", ".join(f"[{name}]" for name in unit.attachments)
    return Hit(
        kind=HitKind.LEAF, ref=unit.id, key=key, scope=ScopeKind.GLOBAL, scope_id=None,
        path=f"{unit.folder}/{unit.name}.md", entry=unit.id, text=text,
        summary=unit.title or make_summary(unit.text), author=unit.author.name or unit.author.address or None,
        trust=Trust.EXTERNAL.value, time_start=when, time_end=when, updated=row.updated if row is not None else when,
        score=0.0, revision=row.revision if row is not None else "", sources=(describe_source(unit),),
        title=unit.title, tree=unit.source, level=0, entities=entities,
    )  # fmt: skip


def describe_source(unit: TreeUnit) -> str:
    """Return the reference of a unit as a footnote cites it: its id, and what its source calls it."""
    return f"{unit.id} · {unit.native_id}" if unit.native_id else unit.id


def make_leaf_hit(leaf: OpenLeaf) -> Hit:
    """Return a leaf or a unit, as it was opened by its id: whole, and with every unit that it is made of."""
    first = make_hit(leaf.units[0])
    times = [unit.occurred for unit in leaf.units if unit.occurred]
    return first._replace(
        ref=leaf.id, text=leaf.text or first.text, sources=tuple(map(describe_source, leaf.units)),
        time_start=min(times, default=""), time_end=max(times, default=""),
        child_ids=tuple(unit.id for unit in leaf.units) if leaf.id == leaf.leaf else (),
    )  # fmt: skip
