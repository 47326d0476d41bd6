"""The books that a server has open: one for each project and session that its callers name, the latest few of them.

A host may start one server for several folders and conversations, so a call may say whose memory it means. What was
said when the server was started, by flag or setting, stands: a call cannot leave that session or project. A book that
cannot be opened, or that broke, is an answer to one call; the next one opens it anew.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import suppress
from typing import NamedTuple

from commonplace.book import Book
from commonplace.model.errors import CommonplaceError, InvalidField, InvalidScope, NotPermitted

MOST_BOOKS = 8


class Launch(NamedTuple):
    """What a server was started with."""

    root: str | None = None
    role: str = "agent"
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    read_only: bool = False
    protocol: str | None = None
    extra: tuple[str, ...] = ()
    folder: str | None = None  # where it was started, if that is still there


class Shelf:
    """Used by one thread."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._own: tuple[str | None, bool] | None = None
        self._books: OrderedDict[tuple[str | None, str | None], Book] = OrderedDict()

    def book(self, cwd: str | None, session: str | None) -> Book:
        """The book as a caller in this folder and session sees it."""
        known = self._session(session)
        place = (self._folder(cwd or self._told(known)), known)
        book = self._books.get(place)
        if book is None:
            while len(self._books) >= MOST_BOOKS:
                self._books.popitem(last=False)[1].close()
            book = self._books[place] = self._open(*place)
        self._books.move_to_end(place)
        return book

    def open_books(self) -> list[Book]:
        return list(self._books.values())

    def _told(self, session: str | None) -> str | None:
        """The folder that a hook noted when this session began: some hosts start their servers in another one."""
        if session is None or self._launch.project is not None or "COMMONPLACE_PROJECT" in os.environ:
            return None
        known = next(iter(self._books.values()), None)
        if known is None:
            known = self._books[self._launch.folder, session] = self._open(self._launch.folder, session)
        return known.session_folder(session)

    def drop(self, book: Book) -> None:
        """It broke: open it anew for the next call."""
        for place in [place for place, held in self._books.items() if held is book]:
            del self._books[place]
        with suppress(CommonplaceError, OSError):
            book.close()

    def close(self) -> None:
        for book in list(self._books.values()):
            self.drop(book)

    def _open(self, folder: str | None, session: str | None) -> Book:
        launch = self._launch
        book = Book.open(
            launch.root, project=launch.project, agent=launch.agent, session=session, role=launch.role, cwd=folder,
            surface="mcp",
        )  # fmt: skip
        book.watch()
        return book

    def _folder(self, cwd: str | None) -> str | None:
        if not cwd:
            return self._launch.folder
        _check_word("cwd", cwd)
        if not os.path.isabs(cwd):
            raise InvalidField("cwd is the whole path of a folder.", hint="Send the folder you work in, from / on.")
        return os.path.normpath(cwd) if self._launch.project is None else self._launch.folder

    def _launched(self) -> tuple[str | None, bool]:
        """The session that this server was started in, by flag or setting, and whether it is sealed in that."""
        if self._own is None:
            self._own = Book.launched(self._launch.root, session=self._launch.session)
        return self._own

    def _session(self, session: str | None) -> str | None:
        fixed, sealed = self._launched()
        if sealed and fixed is None:
            raise unknown_session()
        if session and fixed is not None and session != fixed:
            raise NotPermitted("This server serves one session, and that is another.", hint="Leave session out.")
        if session:
            _check_word("session", session)
        return fixed or session or None


def check_launch(launch: Launch) -> None:
    """Refuse to serve sealed and without a session: no call could be answered. Whatever else is wrong with the book may
    be mended meanwhile, and is an error of the calls."""
    try:
        session, sealed = Book.launched(launch.root, session=launch.session)
    except CommonplaceError:
        return
    if sealed and session is None:
        raise unknown_session()


def unknown_session() -> CommonplaceError:
    return InvalidScope(
        "This book is sealed to one session, and none is known.", hint="Give --session, or set COMMONPLACE_SESSION."
    )


def _check_word(name: str, value: str) -> None:
    if len(value) > 1_000 or not value.isprintable():
        raise InvalidField(f"{name} is at most 1,000 printable characters.")
