"""Settling the tree of an open book: what the tree makes of itself, and the digest that agents get with a prompt.

The verbs `ingest`, `tree_settle` and `tree_forget` end with `settle_tree`, so that the file of the digest follows the
messages and what the user allows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from commonplace.context.prefetch import MOST_CHARACTERS, format_prefetch
from commonplace.context.prefetch_file import PREFETCH_FILE, read_prefetch_file, write_prefetch_file
from commonplace.model.errors import CommonplaceError
from commonplace.tree.digest_page import render_digest
from commonplace.tree.digests import DigestReader
from commonplace.tree.node_search import NodeReader
from commonplace.tree.settle import SettleCounts, settle
from commonplace.tree.store import TreeStore
from commonplace.vault.paths import PRIVATE
from commonplace.vault.port import UNUSABLE, Write
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.summarising import open_model_summaries
from commonplace.verbs.tree_nodes import today

_DAYS = 7
_LEAST_PAGE = 200  # characters: a page that is shorter says nothing
_TOOL = "memory_tree_query_global"  # shows what the digest leaves out
_OWN_MARK, _IGNORED = "# Made by Commonplace", ("/tree.db*", f"/{PREFETCH_FILE}")


def settle_tree(
    context: BookContext, tree: TreeStore, seconds: float | None = None, tell: Callable[[int, int], None] | None = None
) -> SettleCounts:
    """Do what is left to do in the tree, then bring the digest for agents up to it."""
    done = settle(tree, seconds, tell, open_model_summaries(context))
    try:
        _renew_prefetch(context, tree)
    except CommonplaceError as error:  # what was settled stays; an old digest is told for two days at most
        log.warning("event=prefetch_not_written code=%s", error.code)
    return done


def drop_prefetch(context: BookContext) -> None:
    """Remove the digest for agents before a source is forgotten, so that it does not outlast its messages."""
    try:
        write_prefetch_file(context.database_folder, "")
    except CommonplaceError as error:  # it is not told any more, since its sources are not those that are allowed
        log.warning("event=prefetch_not_removed code=%s", error.code)


def ignore_derived(context: BookContext) -> None:
    """Have git leave out what the tree derives, in a book that was made before there was one."""
    files, path = context.memories.files, PRIVATE / ".gitignore"
    page = files.read_text(path)
    missing = [line for line in _IGNORED if page is not None and line not in page]
    if page is not None and page.startswith(_OWN_MARK) and missing:
        lines = "\n".join([page.rstrip(), *missing])
        files.apply([Write(path, f"{lines}\n".encode("utf-8", "surrogateescape"))])


def _renew_prefetch(context: BookContext, tree: TreeStore) -> None:
    """Write the digest of the last days of the sources that the user allowed, or remove it if there is none."""
    folder = context.database_folder
    if not any(source.is_briefed for source in tree.sources()) and not _has_file(folder):
        return
    ignore_derived(context)
    with tree.lock():  # or another process, which began earlier, could write what is forgotten by now
        write_prefetch_file(folder, _make_prefetch(tree, today()))


def _has_file(folder: str) -> bool:
    try:
        return read_prefetch_file(folder) is not None
    except UNUSABLE:
        return True


def _make_prefetch(tree: TreeStore, day: date) -> str:
    """Return the digest of the days up to this one as agents are told it; empty if there is nothing to tell."""
    sources = tree.sources()
    allowed = [source.id for source in sources if source.is_briefed]
    key = tree.memories.provenance.key
    if not (allowed and key):
        return ""
    period = NodeReader.last_days(_DAYS, day)
    only = allowed if len(allowed) < len(sources) else None  # of all sources, what was worked out before is used
    digest = DigestReader(tree, sources).gather(period, only)
    room = MOST_CHARACTERS - len(format_prefetch("", day, allowed, key))
    while digest.messages and room >= _LEAST_PAGE:  # escapes of the fence count, too
        page = render_digest(digest, period, most=room, command=_TOOL)
        text = format_prefetch(page, day, allowed, key)
        if len(text) <= MOST_CHARACTERS:
            return text
        room -= len(text) - MOST_CHARACTERS
    return ""
