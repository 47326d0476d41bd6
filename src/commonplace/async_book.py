"""The book for programs with an event loop: the methods of `Book`, each to be awaited.

All calls of one `AsyncBook` are made by one thread of its own, one after the other, so the loop stays free. A call that
is cancelled before its turn is skipped; one that has begun is finished, because it may be a write.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from commonplace.book import Book
from commonplace.model.errors import StorageError

if TYPE_CHECKING:
    from commonplace.model.choices import RoleChoice

P = ParamSpec("P")
R = TypeVar("R")


def _awaited(
    method: Callable[Concatenate[Book, P], R],
) -> Callable[Concatenate[AsyncBook, P], Coroutine[Any, Any, R]]:
    """Return a method of `Book` as one of `AsyncBook`."""

    async def call(self: AsyncBook, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._call(lambda book: method(book, *args, **kwargs))

    update_wrapper(call, method)
    return call


class AsyncBook:
    """One book, as one caller sees it, for a program with an event loop: see `Book` for what each method does."""

    def __init__(self, opening: Callable[[], Book], thread: ThreadPoolExecutor) -> None:
        self._opening, self._thread = opening, thread
        self._book: Book | None = None
        self._is_closed = False

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] | None = None,
        *,
        project: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        sealed: bool | None = None,
        role: RoleChoice | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Return a book that `async with`, or its first call, opens; what is missing in it is created."""
        opening = partial(
            Book.open, root, project=project, agent=agent, session=session, sealed=sealed, role=role, cwd=cwd
        )
        return cls(opening, ThreadPoolExecutor(1, "commonplace-book"))

    async def __aenter__(self) -> Self:
        try:
            await self._call(lambda _: None)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the files and databases, after the calls that are under way. Closing again does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            closed = self._thread.submit(self._close_book)
        except RuntimeError:  # the same book for another role was closed, and this one with it
            return
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(closed))

    def _close_book(self) -> None:
        if self._book is not None:
            self._book.close()

    async def as_role(self, role: RoleChoice) -> AsyncBook:
        """Return this book for another role: any for a person, else one that may do less. Closing one closes both."""
        narrower = await self._call(lambda book: book.as_role(role))
        return AsyncBook(lambda: narrower, self._thread)

    async def _call(self, job: Callable[[Book], R]) -> R:
        """Do a job with the book in its thread; the first one opens it."""

        def run() -> R:
            if self._book is None:
                self._book = self._opening()
            return job(self._book)

        try:
            future = self._thread.submit(run)
        except RuntimeError:  # the thread has ended
            raise StorageError("The book is closed.", hint="Open the book again.") from None
        return await asyncio.wrap_future(future)

    # Writing

    store = _awaited(Book.store)
    store_many = _awaited(Book.store_many)
    similar = _awaited(Book.similar)
    import_from = _awaited(Book.import_from)
    edit = _awaited(Book.edit)
    move = _awaited(Book.move)
    rename = _awaited(Book.rename)
    undo = _awaited(Book.undo)
    pin = _awaited(Book.pin)
    unpin = _awaited(Book.unpin)
    forget = _awaited(Book.forget)
    restore = _awaited(Book.restore)
    list_trash = _awaited(Book.list_trash)
    restore_all = _awaited(Book.restore_all)
    clear = _awaited(Book.clear)
    consolidate = _awaited(Book.consolidate)
    link = _awaited(Book.link)
    review = _awaited(Book.review)
    accept = _awaited(Book.accept)
    reject = _awaited(Book.reject)

    # Mail, chat and documents

    ingest = _awaited(Book.ingest)
    search_entities = _awaited(Book.search_entities)
    query_topic = _awaited(Book.query_topic)
    query_source = _awaited(Book.query_source)
    digest = _awaited(Book.digest)
    query_global = _awaited(Book.query_global)
    drill_down = _awaited(Book.drill_down)
    tree_topics = _awaited(Book.tree_topics)
    tree_show = _awaited(Book.tree_show)
    tree_settle = _awaited(Book.tree_settle)
    fetch_leaves = _awaited(Book.fetch_leaves)
    cite = _awaited(Book.cite)
    tree_status = _awaited(Book.tree_status)
    tree_sources = _awaited(Book.tree_sources)
    tree_forget = _awaited(Book.tree_forget)
    tree_cost = _awaited(Book.tree_cost)
    merge_entities = _awaited(Book.merge_entities)
    undo_merge = _awaited(Book.undo_merge)
    list_merges = _awaited(Book.list_merges)

    # Projects

    project = _awaited(Book.project)
    list_projects = _awaited(Book.list_projects)
    adopt_project = _awaited(Book.adopt_project)
    merge_projects = _awaited(Book.merge_projects)
    split_project = _awaited(Book.split_project)
    undo_project = _awaited(Book.undo_project)

    # The journal

    record_run = _awaited(Book.record_run)
    recent_memory = _awaited(Book.recent_memory)
    journal_run = _awaited(Book.journal_run)
    lessons = _awaited(Book.lessons)
    compact_journal = _awaited(Book.compact_journal)

    # Data files

    data_put = _awaited(Book.data_put)
    data_get = _awaited(Book.data_get)
    data_list = _awaited(Book.data_list)
    data_remove = _awaited(Book.data_remove)

    # Reading

    recall = _awaited(Book.recall)
    show = _awaited(Book.show)
    source = _awaited(Book.source)
    page = _awaited(Book.page)
    list = _awaited(Book.list)
    history = _awaited(Book.history)
    timeline = _awaited(Book.timeline)
    related = _awaited(Book.related)
    brief = _awaited(Book.brief)
    prefetch = _awaited(Book.prefetch)
    capture = _awaited(Book.capture)

    # The book as files

    list_memories = _awaited(Book.list_memories)
    read_memory = _awaited(Book.read_memory)
    search_memory = _awaited(Book.search_memory)
    shell = _awaited(Book.shell)

    # The book itself

    watch = _awaited(Book.watch)
    on_progress = _awaited(Book.on_progress)
    retire = _awaited(Book.retire)
    verify = _awaited(Book.verify)
    doctor = _awaited(Book.doctor)
    scan = _awaited(Book.scan)
    reindex = _awaited(Book.reindex)
    embed = _awaited(Book.embed)
    status = _awaited(Book.status)
    config = _awaited(Book.config)
    configure = _awaited(Book.configure)
    trust = _awaited(Book.trust)
    vouch = _awaited(Book.vouch)
