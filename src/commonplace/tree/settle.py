"""Do what is left to do in the tree: nodes, topics and digests, until nothing is, or the time is up.

The verbs `ingest` and `tree_settle` call `settle`. There is no queue: what is left follows from the marks in the index,
and these from the files. Each step takes the lock of the tree, does a part whose notes are durable when it ends, and
lets go; another process may ingest or settle meanwhile. Killed at any point, the next call ends with the same files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from commonplace.tree.digests import DigestPages
from commonplace.tree.rewrite import ModelWriter, rewrite_summaries
from commonplace.tree.seal import Sealer, count_groups
from commonplace.tree.store import TreeStore
from commonplace.tree.topics import TopicPages


class SettleCounts(NamedTuple):
    """What was done, and how much is left."""

    sealed: int  # summaries that were made, or made anew
    digests: int
    topics: int
    pending: int


def settle(
    tree: TreeStore,
    seconds: float | None = None,
    tell: Callable[[int, int], None] | None = None,
    models: ModelWriter | None = None,
) -> SettleCounts:
    """Do what is left to do; of several processes, one at a time does a part. A model, if there is one, comes last."""
    deadline = time.monotonic() + seconds if seconds is not None else None
    now = tree.memories.clock()
    sealed = digests = topics = 0
    before = count_pending(tree)
    wanted = models.model if models is not None else ""
    tried: set[str] = set()

    def is_late() -> bool:
        return deadline is not None and time.monotonic() >= deadline

    while not is_late():
        if tell is not None:
            tell(max(0, before - count_pending(tree)), before)
        with tree.lock():
            sealer, pages, digest_pages = Sealer(tree, wanted), TopicPages(tree, now), DigestPages(tree)
            tree.label_pending()  # a process that was killed may have left that, and digests say who is new
            sealer.divide()
            is_done = not (
                sealer.remove_broken()
                or sealer.renew_changed()
                or any(sealer.seal(source, now) for source in tree.sources())
                or digest_pages.renew()
                or pages.renew()
            )
            sealer.divide()
        sealed += sealer.sealed + sealer.renewed
        digests += digest_pages.written
        topics += pages.written
        if is_done:
            rewritten = rewrite_summaries(tree, models, tried, is_late) if models is not None else 0
            sealed += rewritten
            if not rewritten:
                break
    if sealed or digests or topics:
        tree.renew_sizes_locked()
    return SettleCounts(sealed, digests, topics, count_pending(tree))


def count_pending(tree: TreeStore) -> int:
    """Return how much is left to do: files whose nodes are not known yet, nodes to be made anew, hours and groups."""
    sources, now = tree.sources(), tree.memories.clock()
    with tree.reading() as index:
        marks = index.count_changed_files() + len(index.changed_hours()) + index.count_changed_labels()
        return marks + index.count_in_states() + sum(count_groups(index, source, now) for source in sources)
