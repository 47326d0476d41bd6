"""A process that lives long sees what others change, and costs nothing while nobody asks."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from commonplace import Book
from commonplace.memories.store import Watch
from commonplace.model.errors import StorageError
from commonplace.vault.paths import BookPath


class Looks:
    """Counts looks, and lets a test wait for the next."""

    def __init__(self) -> None:
        self.number = 0
        self._change = threading.Condition()

    def __call__(self) -> None:
        with self._change:
            self.number += 1
            self._change.notify_all()
            if self.number == 2:
                raise StorageError("The index could not be read.")

    def wait_for(self, number: int) -> bool:
        with self._change:
            return self._change.wait_for(lambda: self.number >= number, 60)


def test_it_looks_again_and_again() -> None:
    """As long as somebody asks it looks, a failed look is not its last, and closing ends it."""
    looks = Looks()
    watch = Watch(looks, every=0.001)
    assert looks.wait_for(5)
    watch.close()
    ended = looks.number
    watch.wake()
    assert looks.number == ended


def test_it_rests_when_nobody_asks() -> None:
    """Some time after the last question no look comes any more; the next question looks before it is answered."""
    looks, now = Looks(), [0.0]
    watch = Watch(looks, every=0.001, rest=60.0, clock=lambda: now[0])
    assert looks.wait_for(1)
    now[0] = 61.0
    deadline = time.monotonic() + 60
    while watch._awake.is_set() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not watch._awake.is_set()
    rested = looks.number
    watch.wake()
    assert looks.number > rested
    watch.close()


def test_an_edit_is_seen_by_a_book_that_is_open(tmp_path: Path) -> None:
    """A note that somebody edits while a book is open and watched is found by its new words without opening again."""
    with Book.open(tmp_path / "book", project="acme/app") as book:
        path = tmp_path / "book" / book.store("The gate opens at nine.", key="gate").path.lstrip("/")
        assert [hit.key for hit in book.recall("gate").hits] == ["gate"]
        edited, seen = threading.Event(), threading.Event()
        freshen = book.context.memories.freshen

        def looked(folder: BookPath) -> bool:
            since = edited.is_set() and folder.name == path.parent.name
            done = freshen(folder)
            if since:
                seen.set()
            return done

        book.context.memories.freshen = looked  # type: ignore[method-assign, assignment]
        book.watch()
        path.write_text(path.read_text("utf-8").replace("nine", "midnight sharp"), "utf-8")
        edited.set()
        assert seen.wait(60)
        assert [hit.key for hit in book.recall("midnight").hits] == ["gate"]
