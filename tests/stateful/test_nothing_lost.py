"""A person and two agents on one book, with an editor, git, a wrong clock and a bad disk: no text is lost in silence.

Every text has a word of its own. A word that was acknowledged, or that the index has had, must afterwards be in a note,
the history, the trash or the index, or `doctor` must name the file that had it. Only a purge may take it away. And an
agent never sees a word that another agent stored for itself.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from commonplace import Book
from commonplace.model import names, times
from commonplace.model.choices import ScopeChoice, StoreMode
from commonplace.model.errors import CommonplaceError
from tests.depth import depths
from tests.stateful.books import DATABASES, PROJECT

WORD = re.compile(rb"zq\d{5}x")
AGENTS = ("alice", "bob")
CALLERS = ("person", *AGENTS)
PRIVATE_SCOPES = ("agent", "session")
callers = st.sampled_from(CALLERS)
agents = st.sampled_from(AGENTS)
scopes = st.sampled_from(["project", "global", *PRIVATE_SCOPES])
keys = st.sampled_from(["alpha", "beta", "deep/gamma"])
GIT = shutil.which("git")


class NothingLost(RuleBasedStateMachine):
    """What may happen to a book, and the words that must still be somewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="nothing-lost-"))
        self.root = self.home / "book"
        self.offset = 0.0  # seconds by which the clock is wrong
        self.books = {caller: self.open(caller) for caller in CALLERS}
        self.number = 0
        self.known: set[bytes] = set()  # acknowledged, or seen in the index
        self.owner: dict[bytes, str] = {}  # of words in private scopes
        self.held_by: dict[bytes, set[str]] = {}  # the files that ever had a word
        if GIT:
            self.git("init", "--quiet")

    def teardown(self) -> None:
        try:
            for book in self.books.values():
                book.close()
        finally:
            self.set_clock(0.0)
            shutil.rmtree(self.home)

    # The world

    def open(self, caller: str) -> Book:
        if caller == "person":
            return Book.open(self.root, project=PROJECT, role="person")
        return Book.open(self.root, project=PROJECT, agent=caller, session=f"s-{caller}", role="agent")

    def git(self, *words: str) -> None:
        """Run git in the book; what it refuses is no matter."""
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = [str(GIT), *identity, *words]
        subprocess.run(command, cwd=self.root, env=environment, capture_output=True, check=False)

    def set_clock(self, offset: float) -> None:
        """Make the clock wrong by so many seconds, as a later process would find it."""
        self.offset = offset
        if not offset:
            times.time = names.time = time  # type: ignore[attr-defined]
            return
        shifted = SimpleNamespace(
            strftime=time.strftime,
            monotonic=time.monotonic,
            gmtime=lambda seconds=None: time.gmtime(time.time() + offset if seconds is None else seconds),
            time_ns=lambda: time.time_ns() + int(offset * 1e9),
            time=lambda: time.time() + offset,
        )
        times.time = names.time = shifted  # type: ignore[attr-defined,assignment]
        names._last = 0

    def new_text(self) -> tuple[bytes, str]:
        self.number += 1
        word = f"zq{self.number:05d}x"
        return word.encode(), f"Entry {word} of many."

    def notes(self) -> list[Path]:
        """The files of all memories, whatever they are now."""
        found = (self.root / "memories").rglob("*.md")
        return sorted(
            path for path in found if path.name not in ("index.md", "_scope.md") and "_index" not in path.parts
        )

    def files_with_words(self) -> Iterator[tuple[Path, set[bytes]]]:
        places = [self.root / "memories", *(self.root / ".commonplace" / name for name in ("history", "trash"))]
        for place in places:
            for path in place.rglob("*.md") if place.is_dir() and not place.is_symlink() else ():
                if path.is_file() and not path.is_symlink():
                    yield path, set(WORD.findall(path.read_bytes()))

    def indexed_words(self) -> set[bytes]:
        path = self.root / ".commonplace" / "index.db"
        try:
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            try:
                texts = [text for (text,) in connection.execute("SELECT text FROM entry")]
            finally:
                connection.close()
        except sqlite3.Error:
            return set()
        return set(WORD.findall("\n".join(texts).encode()))

    @contextmanager
    def may_refuse(self) -> Iterator[None]:
        """Whatever the state of the book, a call answers or raises an error of ours."""
        with suppress(CommonplaceError):
            yield

    # Calls

    @rule(caller=callers, scope=scopes, key=keys, mode=st.sampled_from(["append", "append", "replace"]))
    def store(self, caller: str, scope: ScopeChoice, key: str, mode: StoreMode) -> None:
        word, text = self.new_text()
        with self.may_refuse():
            self.books[caller].store(text, key=key, scope=scope, mode=mode)
            self.known.add(word)
            if scope in PRIVATE_SCOPES and caller in AGENTS:
                self.owner[word] = caller

    @rule(caller=callers, scope=scopes, key=keys, verb=st.sampled_from(["forget", "undo", "restore"]))
    def change(self, caller: str, scope: ScopeChoice, key: str, verb: str) -> None:
        with self.may_refuse():
            getattr(self.books[caller], verb)(key, scope)

    @rule(scope=st.sampled_from(["project", "global"]), key=keys)
    def purge(self, scope: ScopeChoice, key: str) -> None:
        before = {word for _, words in self.files_with_words() for word in words}
        with self.may_refuse():
            self.books["person"].forget(key, scope, purge=True)
            after = {word for _, words in self.files_with_words() for word in words}
            self.known -= before - after

    @rule(caller=callers)
    def look(self, caller: str) -> None:
        with self.may_refuse():
            self.books[caller].list()
        with self.may_refuse():
            self.books[caller].recall("entry")

    def look_at_all(self) -> None:
        """A person reads every scope."""
        with self.may_refuse():
            self.books["person"].list(everything=True)

    @rule(caller=callers)
    def open_again(self, caller: str) -> None:
        self.books[caller].close()
        self.books[caller] = self.open(caller)

    @rule()
    def retire(self) -> None:
        """What was forgotten more than 30 days ago, by the clock of then and of now, may go for good."""
        before = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + self.offset - 30 * 86_400))
        old = {word for path, words in self.files_with_words() if path.name < before for word in words}
        with self.may_refuse():
            self.books["person"].retire()
            kept = {word for _, words in self.files_with_words() for word in words}
            self.known -= old - kept

    @rule(jump=st.sampled_from([-400, -1, 0, 0, 20, 400]))
    def jump_clock(self, jump: int) -> None:
        """The clock is wrong by so many days from now on."""
        self.set_clock(jump * 86_400.0)

    # A person with an editor

    @precondition(lambda self: self.notes())
    @rule(data=st.data(), how=st.sampled_from(["replace", "add", "empty", "nul", "crlf", "bom", "conflict"]))
    def edit_by_hand(self, data: st.DataObject, how: str) -> None:
        path = data.draw(st.sampled_from(self.notes()))
        if not path.is_file() or path.is_symlink():
            return
        _, text = self.new_text()
        old = path.read_bytes()
        new = {
            "replace": text.encode() + b"\n",
            "add": old + f"\n{text}\n".encode(),
            "empty": b"",
            "nul": b"\0" * len(old),
            "crlf": old.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
            "bom": b"\xef\xbb\xbf" + old.removeprefix(b"\xef\xbb\xbf"),
            "conflict": b"<<<<<<< HEAD\n" + old + b"=======\n" + text.encode() + b"\n>>>>>>> theirs\n",
        }[how]
        path.write_bytes(new)

    @precondition(lambda self: self.notes())
    @rule(data=st.data(), key=keys, how=st.sampled_from(["delete", "move", "copy"]))
    def move_by_hand(self, data: st.DataObject, key: str, how: str) -> None:
        path = data.draw(st.sampled_from(self.notes()))
        if not path.is_file() or path.is_symlink():
            return
        to = self.root / "memories" / "global" / f"{key}.md"
        if how == "delete":
            path.unlink()
        elif not to.exists() and not to.is_symlink():
            for word in WORD.findall(path.read_bytes()):
                self.owner.pop(word, None)  # a person made it known to all
            to.parent.mkdir(parents=True, exist_ok=True)
            (path.rename if how == "move" else lambda to: shutil.copy2(path, to))(to)

    @precondition(lambda _: GIT is not None)
    @rule(how=st.sampled_from(["commit", "back", "discard", "stash"]))
    def use_git(self, how: str) -> None:
        """Commit, check out the notes of before the last commit, or put away what is not committed."""
        if how == "commit":
            self.git("add", "--all")
            self.git("commit", "--quiet", "--message", "All of it")
        elif how == "back":
            self.git("checkout", "--quiet", "HEAD~1", "--", "memories")
        elif how == "discard":
            self.git("checkout", "--quiet", "--", "memories")
        else:
            self.git("stash", "--quiet", "--", "memories")

    # A bad disk

    @precondition(lambda self: self.notes())
    @rule(data=st.data())
    def rot(self, data: st.DataObject) -> None:
        """A bit flips in a file that looks as before."""
        path = data.draw(st.sampled_from(self.notes()))
        if not path.is_file() or path.is_symlink() or not path.stat().st_size:
            return
        self.look_at_all()  # what nobody has read or indexed since it was written cannot be told from rot
        found, bytes_ = path.stat(), bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(bytes_) - 1))
        bytes_[at] ^= 1 << data.draw(st.integers(0, 6))
        with path.open("r+b") as file:
            file.write(bytes_)
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    @precondition(lambda self: self.notes())
    @rule(data=st.data(), how=st.sampled_from(["folder", "link", "sparse"]))
    def block(self, data: st.DataObject, how: str) -> None:
        """Something that cannot be read as a note stands where one was."""
        path = data.draw(st.sampled_from(self.notes()))
        if not path.is_file() or path.is_symlink():
            return
        self.look_at_all()
        path.unlink()
        if how == "folder":
            path.mkdir()
        elif how == "link":
            path.symlink_to(self.home / "nowhere")
        else:
            with path.open("wb") as file:
                file.truncate(64_000_000)

    @rule(how=st.sampled_from(["delete", "rubbish", "state"]))
    def lose_database(self, how: str) -> None:
        """The index is deleted or damaged, after what it alone knew was saved; or the state is."""
        with self.may_refuse():
            self.books["person"].reindex()  # which saves what only the index knows of files that cannot be read
        for book in self.books.values():
            book.close()
        wanted = "state.db" if how == "state" else "index.db"
        folder = self.root / ".commonplace"
        for name in DATABASES:
            if name.startswith(wanted):
                (folder / name).unlink(missing_ok=True)
        if how == "rubbish":
            (folder / "index.db").write_bytes(b"rubbish" * 1000)
        self.books = {caller: self.open(caller) for caller in CALLERS}

    # What must be so

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every word is still in a note, the history, the trash or the index, or doctor names the file that had it."""
        indexed = self.indexed_words()
        self.known |= indexed
        there = set(indexed)
        for path, words in self.files_with_words():
            there |= words
            for word in words:
                self.held_by.setdefault(word, set()).add("/" + path.relative_to(self.root).as_posix())
        missing = self.known - there
        if missing:
            named = {finding.path for finding in self.books["person"].doctor()}
            assert {word for word in missing if not self.held_by.get(word, set()) & named} == set()

    @invariant()
    def nobody_sees_anothers(self) -> None:
        """What an agent is shown has no word that another agent stored for itself."""
        for caller in AGENTS:
            theirs = {word.decode() for word, owner in self.owner.items() if owner != caller}
            with self.may_refuse():
                shown = repr([self.books[caller].list(), self.books[caller].recall("entry many", limit=100)])
                assert [word for word in theirs if word in shown] == []


@pytest.mark.parametrize(("runs", "steps"), depths((3, 10), (40, 15), (2000, 20)))
def test_no_text_is_lost_in_silence(runs: int, steps: int) -> None:
    """Whatever people, agents, git, the clock and the disk do to a book, each text is kept or its loss is named."""
    checks = settings(
        max_examples=runs, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(NothingLost, settings=checks)
