"""The first writers of a new project, at once: every one takes the lock of the scope, so none is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import Book
from commonplace.model.errors import CommonplaceError, LockTimeout
from commonplace.vault.disk import PosixFolder
from tests.depth import depths

PROJECT = "acme/new"
RUN = {"run_id": "r1", "finished": "2026-11-15T09:30:00Z", "tasks": [{"worker": "one", "error": "code 1"}]}
TWICE = {**RUN, "run_id": "r2", "tasks": [{"worker": "two", "error": "x", "description": "d"}] * 2}
FIRST: dict[str, Callable[[Book], object]] = {
    "store": lambda book: book.store("The port is 8042.", key="port"),
    "store beside": lambda book: book.store("Use pytest.", key="tests"),
    "store for all": lambda book: book.store("Use ruff.", key="lint", scope="global"),
    "record": lambda book: book.record_run(RUN, strict=True),
    "record and learn": lambda book: book.record_run(TWICE, strict=True),
    "data": lambda book: book.data_put("prices.csv", b"1,2\n"),
    "open": lambda book: open_book(Path(book.context.root)).close(),
}
CALLS = ("create", "link", "rename", "remove", "make_folder", "sync")


def open_book(root: Path) -> Book:
    return Book.open(root, project=PROJECT, agent="lead", role="person")


@contextmanager
def interrupted(at: int, action: Callable[[], None]) -> Iterator[None]:
    """Do something at one call of the disk, as a second process would, and go on."""
    calls, is_busy = 0, False

    def step(real: Callable[..., object]) -> Callable[..., object]:
        def call(self: object, *arguments: object) -> object:
            nonlocal calls, is_busy
            if not is_busy:
                calls += 1
                if calls == at:
                    is_busy = True
                    action()
                    is_busy = False
            return real(self, *arguments)

        return call

    with ExitStack() as patches:
        for name in CALLS:
            patches.enter_context(mock.patch.object(PosixFolder, name, step(getattr(PosixFolder, name))))
        yield


@pytest.mark.skipif(os.name == "nt", reason="interrupts the disk of POSIX systems")
@settings(max_examples=settings.default.max_examples // 3)  # each opens two books
@given(st.sampled_from(sorted(FIRST)), st.sampled_from(sorted(FIRST)), st.integers(1, 45), st.sets(st.integers(0, 3)))
def test_two_first_writers(
    tmp_path_factory: pytest.TempPathFactory, one: str, other: str, at: int, missing: set[int]
) -> None:
    """Whatever two processes do first in a new project, the second one coming in at any call of the disk, and
    whichever pages of the book are deleted: both do it, or the second one waits for a lock, and then does it."""
    root = tmp_path_factory.mktemp("root") / "book"
    Book.init(root)
    pages = ("index.md", "memories/global/index.md", "data/index.md", "system/definition.md")
    with open_book(root) as first, open_book(root) as second:
        second.context.memories.lock_timeout = 0
        for number in missing:
            (root / pages[number]).unlink()
        errors: list[CommonplaceError] = []

        def come_in() -> None:
            try:
                FIRST[other](second)
            except CommonplaceError as error:
                errors.append(error)

        with mock.patch.dict(os.environ, {"COMMONPLACE_LOCK_TIMEOUT": "0"}), interrupted(at, come_in):
            FIRST[one](first)
        assert [error for error in errors if not isinstance(error, LockTimeout)] == []
        FIRST[other](second)
        assert first.verify().differences == ()
        keys = {item.key for item in first.list()}
        wanted = {"store": "port", "store beside": "tests", "store for all": "lint"}
        assert keys >= {wanted[name] for name in (one, other) if name in wanted}
        for name, ident in (("record", "r1"), ("record and learn", "r2")):
            if name in (one, other):
                assert first.journal_run(ident).complete


WORKER = """
import sys
from commonplace import Book
root, verb, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(rounds):
    print("ready", flush=True)
    sys.stdin.readline()
    with Book.open(root, project=f"acme/p{number}") as book:
        if verb == "store":
            print(book.store("The port is 8042.", key="port").action, flush=True)
        else:
            run = {"run_id": verb, "finished": "2026-11-15T09:30:00Z", "tasks": [{"worker": verb}]}
            print(book.record_run(run).action, flush=True)
"""


@pytest.mark.parametrize("rounds", depths(6, 150))
def test_a_run_beside_the_first_store(tmp_path: Path, rounds: int) -> None:
    """In each of many new projects, one process stores and two record a run at the same moment: all is stored and
    recorded."""
    root = tmp_path / "book"
    Book.init(root)
    arguments = [[sys.executable, "-c", WORKER, str(root), verb, str(rounds)] for verb in ("store", "one", "two")]
    environment = {**os.environ, "COMMONPLACE_LOCK_TIMEOUT": "300"}
    with ExitStack() as processes:
        started = [
            processes.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            )
            for command in arguments
        ]
        said: list[tuple[str, ...]] = []
        for _ in range(rounds):
            assert [process.stdout.readline() for process in started if process.stdout] == ["ready\n"] * 3
            for process in started:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            said.append(tuple(process.stdout.readline().strip() for process in started if process.stdout))
    assert said == [("created", "recorded", "recorded")] * rounds
