"""The part of the facade about mail, chat and documents: `Book` has these methods, one for each verb of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from commonplace import verbs
from commonplace.model.scope import Scope
from commonplace.model.times import local_timestamp
from commonplace.verbs.opening import OpenBook
from commonplace.verbs.verb import R, Verb

if TYPE_CHECKING:
    from commonplace.model.tree_results import (
        CiteResult,
        DigestResult,
        EntityList,
        EntityMerge,
        IngestReport,
        LeafList,
        NodeHits,
        SettleResult,
        TopicInfo,
        TreeCost,
        TreeDrawing,
        TreeForgetResult,
        TreeHits,
        TreeSourceInfo,
        TreeStatus,
    )


def to_plain(value: object) -> object:
    """Return a value as requests have it: a scope and a time as text."""
    kind = type(value)  # an object of an orchestrator may raise for isinstance
    if issubclass(kind, Scope):
        return str(value)
    return local_timestamp(cast("datetime", value)) if issubclass(kind, datetime) else value


class BookTree(OpenBook):
    """What a book can do with mail, chat and documents."""

    def _run(self, verb: Verb[Any, R], *fields: object) -> R:
        """Call a verb with the fields of its request."""
        return verb(self._context, verb.request(*map(to_plain, fields)))

    def ingest(
        self,
        *paths: str,
        kind: str | None = None,
        name: str | None = None,
        me: Sequence[str] = (),
        timezone: str | None = None,
        brief: bool = False,
        update: bool = False,
        dry_run: bool = False,
    ) -> IngestReport:
        """Read mail, chat and documents into the tree: each path is a source. `update` reads the known ones again."""
        return self._run(verbs.ingest.ingest, paths, kind, name, me, timezone, brief, update, dry_run)

    def search_entities(self, query: str, kinds: Sequence[str] = (), limit: int = 5) -> EntityList:
        """Return people and things whose names or ids have all words of a query, those mentioned most first."""
        return self._run(verbs.tree_search.search_entities, query, kinds, limit)

    def query_topic(
        self, entity_id: str, time_window_days: int | None = None, query: str = "", limit: int = 10
    ) -> TreeHits:
        """Return what mentions a person or a thing: the latest, or the best for a query."""
        return self._run(verbs.tree_search.query_topic, entity_id, time_window_days, query, limit)

    def query_source(
        self,
        source_id: str | None = None,
        source_kind: str | None = None,
        time_window_days: int | None = None,
        query: str = "",
        limit: int = 10,
    ) -> TreeHits:
        """Return what sources say: the latest, or the best for a query; and who writes most."""
        return self._run(verbs.tree_search.query_source, source_id, source_kind, time_window_days, query, limit)

    def digest(self, period: str = "day", date: str | None = None, source: str | None = None) -> DigestResult:
        """Return the front page of a day, week, month or year; of today if no day in it is named."""
        return self._run(verbs.digest.digest, period, date, source)

    def query_global(self, window_days: int = 7, query: str = "") -> NodeHits:
        """Return a digest of the last days over all sources, and the days that it is made of."""
        return self._run(verbs.tree_nodes.query_global, window_days, query)

    def drill_down(self, node_id: str, max_depth: int = 1, query: str = "", limit: int = 20) -> NodeHits:
        """Return what a digest, topic, summary or leaf is made of."""
        return self._run(verbs.tree_nodes.drill_down, node_id, max_depth, query, limit)

    def tree_topics(self, limit: int = 200) -> list[TopicInfo]:
        """Return the people and things that much was said about, hottest first."""
        return self._run(verbs.tree_nodes.tree_topics, limit)

    def tree_show(self, source: str | None = None, limit: int = 200) -> TreeDrawing:
        """Return the summaries of the sources, as a drawing lists them."""
        return self._run(verbs.tree_nodes.tree_show, source, limit)

    def tree_settle(self, seconds: int | None = None) -> SettleResult:
        """Make the summaries, topics and digests that are due."""
        return self._run(verbs.digest.tree_settle, seconds)

    def fetch_leaves(self, chunk_ids: Sequence[str]) -> LeafList:
        """Return leaves and units whole, in the order of their ids. Only this text may be quoted."""
        return self._run(verbs.tree_search.fetch_leaves, chunk_ids)

    def cite(self, answer: str) -> CiteResult:
        """Check that every citation of an answer leads to a leaf, and that every quotation is in it."""
        return self._run(verbs.cite.cite, answer)

    def tree_status(self) -> TreeStatus:
        """Return how much the tree has."""
        return self._run(verbs.tree_sources.tree_status)

    def tree_sources(self) -> list[TreeSourceInfo]:
        """Return the sources of the tree."""
        return self._run(verbs.tree_sources.tree_sources)

    def tree_forget(self, source: str) -> TreeForgetResult:
        """Remove a source with everything that came from it alone."""
        return self._run(verbs.tree_sources.tree_forget, source)

    def tree_cost(self) -> TreeCost:
        """Return what summaries by a model cost so far."""
        return self._run(verbs.tree_cost.tree_cost)

    def merge_entities(self, first: str, second: str) -> EntityMerge:
        """Say that two ids are one person or thing."""
        return self._run(verbs.tree_sources.merge_entities, first, second)

    def undo_merge(self, entity: str) -> EntityMerge:
        """Take back that an id is one with others."""
        return self._run(verbs.tree_sources.undo_merge, entity)

    def list_merges(self) -> list[EntityMerge]:
        """Return which ids are one person or thing, and which may be."""
        return self._run(verbs.tree_sources.list_merges)
