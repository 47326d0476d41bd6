"""The books that a server has open, one for each project and session that callers name, and the thread that uses them.

A host may start one server for several folders and conversations, so a call may name its own. A session or project that
was given when the server was started, by flag or setting, is fixed: no call can leave it. A book that cannot be opened,
or that broke, fails one call; the next call opens it again.

All work with books is done by one thread: the event loop stays free to answer a ping, and a book is never used by two
threads at once.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from commonplace import verbs
from commonplace.book import Book
from commonplace.model.errors import CommonplaceError, InvalidField, InvalidScope, NotPermitted
from commonplace.model.scope import Role, read_role

_MAX_BOOKS = 8


class ServerOptions(NamedTuple):
    """What a server was started with."""

    root: str | None = None
    role: str = "agent"
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    read_only: bool = False
    protocol: str | None = None
    extra: tuple[str, ...] = ()  # groups of tools that a role has only on request
    folder: str | None = None  # where it was started, if that still exists

    def check(self) -> None:
        """Raise InvalidSettings if the root that was set is unusable, or for a coordinator is missing, and InvalidScope
        if the book is sealed and no session is known: no call could be answered.

        Whatever else is wrong with the book may be repaired while the server runs, and is an error of the calls.
        """
        verbs.opening.check_root(self.root, must_exist=self.role == Role.COORDINATOR)
        try:
            session, is_sealed = verbs.opening.read_launch(self.root, self.session)
        except CommonplaceError:
            return
        if is_sealed and session is None:
            raise _unknown_session()


class BookPool:
    """The latest few books that callers used. Not thread-safe: only the book thread uses it."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._fixed: tuple[str | None, bool] | None = None
        self._books: dict[tuple[str | None, str | None], Book] = {}

    def get(self, cwd: str | None, session: str | None) -> Book:
        """Return the book as a caller in this folder and session sees it; open it if needed."""
        known = self._check_session(session)
        key = (self._check_folder(cwd or self._find_folder(known)), known)
        book = self._books.pop(key, None)
        if book is None:
            while len(self._books) >= _MAX_BOOKS:
                self._books.pop(next(iter(self._books))).close()
            book = self._open(*key)
        self._books[key] = book  # at the end: the one used last
        return book

    def find(self, cwd: str | None, session: str | None) -> Book:
        """Return a book that is open for this folder, in whatever session; open one for this session if there is none.

        Raises as `get` does, so that no caller leaves a session or a folder that is fixed.
        """
        known, folder = self._check_session(session), self._check_folder(cwd)
        others = (book for key, book in self._books.items() if key[0] == folder)
        return self._books.get((folder, known)) or next(others, None) or self.get(cwd, session)

    def open_books(self) -> list[Book]:
        """Return the books that are open now."""
        return list(self._books.values())

    def drop(self, book: Book) -> None:
        """Close a book that broke, so that the next call opens it again."""
        self._books = {key: held for key, held in self._books.items() if held is not book}
        with suppress(CommonplaceError, OSError):
            book.close()

    def close(self) -> None:
        """Close all books."""
        for book in self.open_books():
            self.drop(book)

    def _open(self, folder: str | None, session: str | None) -> Book:
        options = self._options
        role = read_role(options.role)
        book = Book.open(
            options.root, project=options.project, agent=options.agent, session=session, role=role, cwd=folder,
            surface="mcp",
        )  # fmt: skip
        book.watch()
        return book

    def _find_folder(self, session: str | None) -> str | None:
        """Return the folder that a hook recorded when this session began: some hosts start servers in another one."""
        if session is None or self._options.project is not None or "COMMONPLACE_PROJECT" in os.environ:
            return None
        known = next(iter(self._books.values()), None)
        if known is None:
            known = self._books[self._options.folder, session] = self._open(self._options.folder, session)
        return verbs.brief.find_session_folder(known.context, session)

    def _check_folder(self, cwd: str | None) -> str | None:
        if not cwd:
            return self._options.folder
        _check_printable("cwd", cwd)
        if not os.path.isabs(cwd):
            raise InvalidField("cwd must be an absolute path.", hint="Send the folder you work in, from / on.")
        return os.path.normpath(cwd) if self._options.project is None else self._options.folder

    def _check_session(self, session: str | None) -> str | None:
        """Return the session of a call: the fixed one, if a flag or a setting gave one when the server was started."""
        if self._fixed is None:
            self._fixed = verbs.opening.read_launch(self._options.root, self._options.session)
        fixed, is_sealed = self._fixed
        if is_sealed and fixed is None:
            raise _unknown_session()
        if session and fixed is not None and session != fixed:
            raise NotPermitted("This server serves one session, and that is another.", hint="Leave session out.")
        if session:
            _check_printable("session", session)
        return fixed or session or None


def _unknown_session() -> CommonplaceError:
    return InvalidScope(
        "This book is sealed to one session, and none is known.", hint="Give --session, or set COMMONPLACE_SESSION."
    )


def _check_printable(name: str, value: str) -> None:
    if len(value) > 1_000 or not value.isprintable():
        raise InvalidField(f"{name} is at most 1,000 printable characters.")


class BookThread:
    """One thread that does jobs one after the other, in the order in which they came.

    A job whose caller gave up before its turn is skipped; one that has begun is finished, because it may be a write.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="commonplace-mcp-book", daemon=True)
        self._thread.start()

    def run(self, job: Callable[[], dict[str, Any]]) -> asyncio.Future[dict[str, Any]]:
        """Queue a job and return its result, or its error, to await."""
        return asyncio.wrap_future(self.run_later(job))

    def run_later(self, job: Callable[[], Any]) -> Future[Any]:
        """Queue a job; its caller need not wait for it."""
        future: Future[Any] = Future()
        self._jobs.put((future, job))
        return future

    def close(self, last: Callable[[], None], seconds: float) -> None:
        """Do one last job after the queued ones, and wait for it at most so long."""
        self.run_later(last)
        self._jobs.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None:
            future, job = item
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except Exception as error:  # noqa: BLE001 - the caller gets it
                    future.set_exception(error)
