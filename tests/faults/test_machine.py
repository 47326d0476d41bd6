"""A book that is used while faults come and go: what it answers is what its files say, at every step."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import commonplace.index.sqlite.database as index_database
import commonplace.index.sqlite_file as sqlite_file
import commonplace.state.database as state_database
from commonplace import Book
from commonplace.model.errors import StorageError
from tests.depth import DEPTH

KEYS = st.sampled_from(["ant", "bee", "cat"])
WORDS = st.sampled_from(["amber", "birch", "cedar", "daisy"])


def _broken_connect(place: str, *rest: Any, **more: Any) -> Any:
    if "index.db" in place:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error
    return _REAL_CONNECT(place, *rest, **more)


_REAL_CONNECT = sqlite3.connect


class FaultyBook(RuleBasedStateMachine):
    """One process stores, edits files by hand and reads, while the disk is full, the index locked or out of reach."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="commonplace-faults-")
        self.root = Path(self.folder.name) / "book"
        self.faults = contextlib.ExitStack()
        self.has_fault = False
        self.clock = 0.0
        self.patches = contextlib.ExitStack()
        self.patches.enter_context(mock.patch.object(index_database, "_BUSY_SECONDS", 0.0))
        self.patches.enter_context(mock.patch.object(state_database, "WAIT", 0.0))
        for module in (sqlite_file, index_database, state_database):
            self.patches.enter_context(mock.patch.object(module, "BRIEF", 0.0))
        clock = SimpleNamespace(
            monotonic=lambda: self.clock, sleep=lambda _: None, strftime=time.strftime,
            gmtime=time.gmtime,
        )  # fmt: skip
        self.patches.enter_context(mock.patch.object(index_database, "time", clock))
        self.book = Book.open(self.root, role="person")
        self.book.context.memories.lock_timeout = 0.0  # nobody lets go of a lock
        self.texts: dict[str, str] = {}

    def teardown(self) -> None:
        self.faults.close()
        self.book.close()
        self.patches.close()
        self.folder.cleanup()

    def _note(self, key: str) -> Path:
        return self.root / "memories" / "global" / f"{key}.md"

    @rule(key=KEYS, word=WORDS)
    def store(self, key: str, word: str) -> None:
        """A store replaces a text, or is refused in our words and changes nothing."""
        try:
            self.book.store(
                f"It is {word}.", key=key, scope="global", mode="replace" if key in self.texts else "append"
            )
        except StorageError:
            assert self.has_fault
        else:
            self.texts[key] = f"It is {word}."

    @rule(key=KEYS, word=WORDS)
    def edit(self, key: str, word: str) -> None:
        """A person writes a note by hand."""
        self._note(key).parent.mkdir(parents=True, exist_ok=True)
        self._note(key).write_text(f"By hand: {word}.\n", encoding="utf-8")
        self.texts[key] = f"By hand: {word}."

    @rule()
    def open_again(self) -> None:
        """Another process takes over."""
        self.book.close()
        self.book = Book.open(self.root, role="person")

    @rule()
    def wait_a_while(self) -> None:
        """So much time passes that a reader tries the file again."""
        self.clock += 10.0

    @precondition(lambda self: not self.has_fault)
    @rule(fault=st.sampled_from(["full", "locked", "broken"]))
    def begin_fault(self, fault: str) -> None:
        """Something goes wrong with the index alone: notes can be read and written."""
        self.has_fault = True
        if fault == "full":
            found = SimpleNamespace(f_blocks=1, f_bavail=0, f_frsize=1, f_files=0, f_ffree=0)
            self.faults.enter_context(mock.patch.object(os, "statvfs", lambda _: found))
        elif fault == "broken":
            self.faults.enter_context(mock.patch.object(sqlite3, "connect", _broken_connect))
        else:
            other = sqlite3.connect(self.root / ".commonplace" / "index.db", isolation_level=None)
            self.faults.callback(other.close)
            other.execute("BEGIN IMMEDIATE")

    @precondition(lambda self: self.has_fault)
    @rule()
    def end_fault(self) -> None:
        """The fault is gone."""
        self.faults.close()
        self.has_fault = False
        self.clock += 10.0

    @invariant()
    def answers_are_what_the_files_say(self) -> None:
        """Listing and searching give every note with the text that it has now, with a fault as without; a notice is
        given only with one; and a sound index is never moved away."""
        self.book.context._checked.clear()  # as a new question of a server's would
        assert {item.key for item in self.book.list()} == set(self.texts)
        found = self.book.recall("", limit=100)
        current = {hit.key: hit.text for hit in found.hits}
        assert current == self.texts
        assert not self.book.notice or self.has_fault
        private = self.root / ".commonplace"
        assert not [path.name for path in private.iterdir() if "unusable" in path.name]


TestFaultyBook = pytest.mark.skipif(sys.platform == "win32", reason="needs statvfs")(FaultyBook.TestCase)
TestFaultyBook.settings = settings(max_examples=60 if DEPTH else 6, stateful_step_count=20 if DEPTH else 12)
