"""A purge leaves nothing of a memory on the disk; where another program stops it, it says so and is finished later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.index.sqlite import database
from tests.book.opened import holds, open_book
from tests.depth import examples

WORD = "Wolverine"
TEXT = f"The {WORD} lives in the north."
READER = """
import sqlite3, sys
index = sqlite3.connect(sys.argv[1], isolation_level=None)
index.execute("BEGIN")
print(index.execute("SELECT count(*) FROM sqlite_master").fetchone(), flush=True)
sys.stdin.read()
"""
KILLED = """
import os, sys
from commonplace import Book
book = Book.open(sys.argv[1], project="github.com/acme/app")
for name in ("link", "rename", "replace"):
    setattr(os, name, lambda *_, **__: os._exit(9))
book.forget("animal")
"""


@contextmanager
def reader(root: Path) -> Iterator[None]:
    """Another program that reads the index, in the middle of a transaction."""
    command = [sys.executable, "-c", READER, str(root / ".commonplace/index.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.stdin.close()


def command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COMMONPLACE_ROOT": str(root), "COMMONPLACE_PROJECT": "github.com/acme/app"}
    return subprocess.run(
        [sys.executable, "-m", "commonplace", *words], capture_output=True, text=True, env=environment, check=False
    )


def test_nothing_is_left_of_a_forget_that_was_killed(root: Path) -> None:
    """A forget that dies in the middle leaves a temporary file in the trash; a purge removes that, too."""
    with open_book(root) as book:
        book.store(TEXT, key="animal")
        book.store(f"{TEXT} And eats.", key="animal", mode="replace")
    assert subprocess.run([sys.executable, "-c", KILLED, str(root)], check=False).returncode == 9
    assert any(".tmp" in name for name in holds(root, WORD))
    done = command(root, "forget", "animal", "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    assert holds(root, WORD) == []


def test_a_reader_delays_it_and_the_answer_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another program reads the index, the answer says that text may be left; the next command removes it."""
    monkeypatch.setattr(database, "SCRUB_SECONDS", 0.01)
    with open_book(root) as book:
        for number in range(40):
            book.store(f"{TEXT} Number {number}.", key=f"animal-{number}")
    with reader(root):
        with open_book(root) as book:
            results = [book.forget(f"animal-{number}", purge=True) for number in range(40)]
        assert results[-1].action == "purging"
        assert holds(root, WORD)
        assert command(root, "list").returncode in (0, 1) and holds(root, WORD)  # it is still being read
    assert command(root, "list").returncode in (0, 1)
    assert holds(root, WORD) == [] and not (root / ".commonplace/index.db.unscrubbed").exists()


@pytest.mark.deep
def test_the_command_line_says_what_is_left(root: Path) -> None:
    """`forget --purge` prints what a reader made it leave, and has it in its JSON."""
    with open_book(root) as book:
        book.store(TEXT, key="animal")
        book.store(TEXT, key="other")
    with reader(root):
        assert "may stay in index.db" in command(root, "forget", "animal", "--purge", "--yes").stdout
        assert '"action": "purging"' in command(root, "forget", "other", "--purge", "--yes", "--json").stdout
    with open_book(root) as book:
        assert "index.db.unscrubbed" not in [finding.path.rpartition("/")[2] for finding in book.doctor()]
    assert holds(root, WORD) == []


FOLDERS = (
    "memories/SCOPE",
    "memories/SCOPE/deep",
    ".commonplace/history/SCOPE/animal",
    ".commonplace/trash/SCOPE/animal",
)
ACTS = ("replace", "undo", "forget and restore", "label")


@examples(40, quick=5)
@given(st.lists(st.sampled_from(ACTS), max_size=4), st.sets(st.sampled_from(FOLDERS)), st.booleans())
def test_no_trace_is_left(acts: list[str], leftovers: set[str], is_forgotten: bool) -> None:
    """Whatever happened to a memory, and wherever a killed writer left its text, a purge leaves no copy."""
    with TemporaryDirectory() as place:
        root = Path(place)
        with open_book(root) as book:
            path = book.store(TEXT, key="animal").path
            for number, act in enumerate(acts):
                book.store(f"{WORD} {number}.", key="animal", mode="replace" if act == "replace" else "append")
                if act == "undo":
                    book.undo("animal")
                elif act == "forget and restore":
                    book.forget("animal")
                    book.restore("animal")
                elif act == "label":
                    book.store(f"{WORD} with a tag {number}.", key="animal", tags=[WORD.lower()])
            scope = str(Path(path).parent).removeprefix("/memories/")
            for number, folder in enumerate(leftovers):
                where = root / folder.replace("SCOPE", scope)
                where.mkdir(parents=True, exist_ok=True)
                (where / f".cp-{number}.tmp").write_text(TEXT, encoding="utf-8")
            if is_forgotten:
                book.forget("animal")
            assert book.forget("animal", purge=True).action == "purged"
            assert holds(root, WORD) == []
        assert holds(root, WORD) == []


def test_a_hand_written_note_that_was_renamed_leaves_no_trace(root: Path) -> None:
    """A note without an id was deleted by hand, restored and renamed: its purge takes what its old key kept, too."""
    folder = root / "memories" / "global"
    with open_book(root) as book:
        book.store("Something else.", "other", scope="global")
    (folder / "animal.md").write_text(f"{TEXT}\n", encoding="utf-8")
    with open_book(root) as book:
        assert book.list(scope="global")
    (folder / "animal.md").unlink()
    with open_book(root) as book:
        assert book.restore("animal", "global").action == "restored"
    (folder / "animal.md").rename(folder / "beast.md")
    with open_book(root) as book:
        book.forget("beast", "global", purge=True)
        assert not holds(root, WORD)
