"""A machine's clock that a test sets, and processes that begin with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from unittest import mock

from commonplace import Book
from commonplace.model import names, times
from tests.book.opened import open_book

NOON = int(datetime.fromisoformat("2026-11-16T12:00:00+00:00").timestamp())
DAY = 86_400
YEAR = 365 * DAY


class WallClock:
    """Shows `seconds` since 1970 to everything that dates or numbers what a book keeps."""

    def __init__(self, seconds: int = NOON) -> None:
        self.seconds = seconds
        self._patches = [mock.patch.object(module, "time", self) for module in (names, times)]

    def __enter__(self) -> WallClock:
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for patch in self._patches:
            patch.stop()

    strftime = staticmethod(time.strftime)
    monotonic = staticmethod(time.monotonic)

    def time_ns(self) -> int:
        return self.seconds * 1_000_000_000

    def time(self) -> float:
        return float(self.seconds)

    def gmtime(self, seconds: float | None = None) -> object:
        return time.gmtime(self.seconds if seconds is None else seconds)

    def stamp(self) -> str:
        return times.now()

    def begin_process(self, seconds: int) -> None:
        """Set the clock, and forget which ids an earlier process made."""
        self.seconds = seconds
        names._last = 0

    @contextmanager
    def process(self, root: Path, wrong_by: int = 0, role: str = "person") -> Iterator[Book]:
        """Open a book as a new process does, on a machine whose clock is wrong for as long as that."""
        self.begin_process(self.seconds + wrong_by)
        try:
            with open_book(root, role=role) as book:
                yield book
        finally:
            self.seconds -= wrong_by
