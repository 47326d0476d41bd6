"""The one conformance suite of the index, for each index there is."""

from __future__ import annotations

from commonplace.index.port import Index
from commonplace.index.sqlite import SqliteIndex
from tests.index.conformance import IndexConformance
from tests.index.conformance_nodes import NodeConformance
from tests.index.memory import MemoryIndex


class TestMemoryIndex(IndexConformance, NodeConformance):
    def fresh(self) -> Index:
        return MemoryIndex()


class TestSqliteIndex(IndexConformance, NodeConformance):
    def fresh(self) -> Index:
        return SqliteIndex(":memory:")
