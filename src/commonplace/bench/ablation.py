"""What each part of the ranking is worth: the same questions with one weight at nothing.

Every table of recall/fusion.py is here, with the mode that reads it and the entries that it is for. A weight that a set
cannot tell apart (no author is ever named in it) shows no difference; that is not a reason to drop it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from unittest.mock import patch

from commonplace.bench.data import Shelf
from commonplace.bench.recall import Result
from commonplace.bench.ways import Filled, asked
from commonplace.recall import fusion


class Table(NamedTuple):
    name: str
    mode: str  # that reads it
    threads: bool | None  # whether it is for entries of a conversation; None: for all


TABLES = (
    Table("CONVERSATION", "hybrid", threads=True),
    Table("LONE", "hybrid", threads=False),
    Table("LONE_FOREIGN", "hybrid", threads=False),
    Table("ANSWERED", "hybrid", threads=False),
    Table("LONE_ROUGH", "hybrid", threads=False),
    Table("WORDS_ONLY", "lexical", threads=None),
)


class Ablation(NamedTuple):
    table: str
    weight: str
    value: float
    whole: Result  # with all weights, of the same books in the same mode
    without: Result


def ablations(books: Filled) -> list[Ablation]:
    """One for each weight of the tables that the set's entries use."""
    found = []
    for table in TABLES:
        chosen = [pair for pair in books if table.threads in (None, _has_threads(pair[0]))]
        if not chosen:
            continue
        weights: Mapping[str, float] = getattr(fusion, table.name)
        whole = asked(table.mode, chosen, table.mode)
        for name, value in weights.items():
            with weighed_with(table.name, {**weights, name: 0.0}):
                without = asked(f"{table.mode} - {name}", chosen, table.mode)
            found.append(Ablation(table.name, name, value, whole, without))
    return found


@contextmanager
def weighed_with(table: str, weights: Mapping[str, float]) -> Iterator[None]:
    """The ranking with other weights in one of its tables, wherever that has been imported to."""
    own = getattr(fusion, table)
    rooms = [module for name, module in list(sys.modules.items()) if name.startswith("commonplace.recall.")]
    with ExitStack() as stack:
        for module in rooms:
            if getattr(module, table, None) is own:
                stack.enter_context(patch.object(module, table, weights))
        yield


def _has_threads(shelf: Shelf) -> bool:
    return any("thread" in item for item in shelf.items)
