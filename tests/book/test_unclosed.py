"""A book that a program forgets to close."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path

import pytest

from commonplace import Book


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not list what a process has open")
def test_a_forgotten_book_holds_nothing_open(root: Path) -> None:
    """Books that were opened, used and dropped without being closed leave no file open, and no thread, once they are
    collected."""
    gc.collect()
    before, threads = os.listdir("/dev/fd"), set(threading.enumerate())
    for number in range(10):
        book = Book.open(root, project="acme/app")
        book.store(f"Fact {number}.", f"fact-{number}")
        book.recall("fact")
        del book
    gc.collect()
    assert len(os.listdir("/dev/fd")) <= len(before)
    for thread in set(threading.enumerate()) - threads:
        thread.join(60)
        assert not thread.is_alive(), thread.name
