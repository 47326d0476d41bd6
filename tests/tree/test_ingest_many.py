"""Several processes change the tree at once: nothing is lost, nothing is there twice, and each of them says so."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from commonplace.guard.secrets import redact
from commonplace.memories.unit import Unit
from commonplace.model.errors import LockTimeout, NotFound
from commonplace.text.notes import parse
from commonplace.tree import ingest
from commonplace.tree.ingest import Ingestion
from commonplace.tree.readers import mbox
from commonplace.tree.source import FileSet, ReadOptions, SkippedUnit, SourceUnit
from commonplace.tree.store import TreeStore
from commonplace.tree.units import UNIT_PREFIX
from commonplace.vault.named_files import open_files
from commonplace.verbs.tree_opening import open_tree
from tests.bench.mailbox_maker import make_mailbox
from tests.cli.calls import COMMAND
from tests.depth import depths
from tests.tree.conftest import MESSAGES, write_mbox

pytestmark = pytest.mark.deep  # it starts many processes


def start(root: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command on a book."""
    command = [*COMMAND, "--root", str(root), *words, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait(*processes: subprocess.Popen[str]) -> list[Any]:
    """Wait for commands that must work, and return what they answered."""
    answers = []
    for process in processes:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, ""), (process.args, err)
        answers.append(json.loads(out))
    return answers


def unit_counts(root: Path, source: str = "*") -> Counter[str]:
    """Return how often each unit is in the files of a source, or of all."""
    found = Counter[str]()
    for path in (root / "tree").glob(f"{source}/*/*.md"):
        found.update(entry.id for entry in parse(path.read_bytes()).entries if entry.id.startswith(UNIT_PREFIX))
    return found


def check(root: Path, wanted: set[str]) -> None:
    """Fail unless the tree has these units, each once, no file of no source, and an index that agrees."""
    counts = unit_counts(root)
    assert {ident for ident, number in counts.items() if number > 1} == set()
    assert set(counts) == wanted
    with Book.open(root) as book:
        assert book.verify().ok
        known = {item.id for item in book.tree_sources()}
        assert sum(item.units for item in book.tree_sources()) == len(wanted)
    assert {path.parent.parent.name for path in (root / "tree").glob("*/*/*.md")} <= {*known, "digest", "topic"}
    assert list((root / "tree").rglob(".cp-*")) == []


def ingested_alone(tmp_path: Path, *paths: Path) -> set[str]:
    """Return the units that some sources have, from a book in which they were ingested one after the other."""
    root = tmp_path / "alone"
    with Book.open(root) as book:
        for path in paths:
            book.ingest(str(path))
    return set(unit_counts(root))


def write_share(path: Path, numbers: Sequence[int]) -> Path:
    """Write an mbox with the mails of these numbers; the mails of one number are the same in every file."""
    mails = tuple(
        (f"{number}", f"{number - 7}" if number > 7 else "", f"Ann {number % 5} <ann{number % 5}@example.org>",
         "bob@example.org", f"{number % 27 + 1} Nov 2026 09:00:00 +0100", f"Matter {number % 7}",
         f"Case {number} is open, and says what no other says.")
        for number in numbers
    )  # fmt: skip
    return write_mbox(path, mails)


def test_two_processes_ingest_one_mailbox(root: Path, tmp_path: Path) -> None:
    """Two processes that ingest the same mailbox into a new book at once make one source, with every message once."""
    path = tmp_path / "mail.mbox"
    make_mailbox(path, messages=340, threads=30, seed=3)
    answers = wait(*(start(root, "ingest", str(path)) for _ in range(2)))
    wanted = ingested_alone(tmp_path, path)
    check(root, wanted)
    assert {answer["source"] for answer in answers} == {"mail"}
    assert sum(answer["added"] for answer in answers) == len(wanted)


def test_two_sources_of_one_name_come_at_once(root: Path, tmp_path: Path) -> None:
    """Two mailboxes of the same name, ingested at once, become two sources; a message of both is in one of them."""
    paths = []
    for folder, numbers in (("a", range(60)), ("b", range(30, 90))):
        (tmp_path / folder).mkdir()
        paths.append(write_share(tmp_path / folder / "mail.mbox", numbers))
    answers = wait(*(start(root, "ingest", str(path)) for path in paths))
    assert {answer["source"] for answer in answers} == {"mail", "mail-2"}
    check(root, ingested_alone(tmp_path, *paths))


@pytest.mark.deep
def test_eight_processes_ingest_eight_files(root: Path, tmp_path: Path) -> None:
    """Eight mailboxes that share messages come in at once: each message once, and each process worked."""
    paths = [write_share(tmp_path / f"box{n}.mbox", range(20 * n, 20 * n + 80)) for n in range(8)]
    answers = wait(*(start(root, "ingest", str(path)) for path in paths))
    assert [answer["added"] + answer["known"] for answer in answers] == [80] * 8
    assert sum(answer["added"] for answer in answers) == 220
    check(root, ingested_alone(tmp_path, *paths))


def test_one_is_ingested_while_another_is_forgotten(root: Path, tmp_path: Path) -> None:
    """While a source is forgotten, another one that has some of its messages comes in: it has all of its own, once."""
    old, new = (
        write_share(tmp_path / f"{name}.mbox", numbers)
        for name, numbers in (("old", range(90)), ("new", range(45, 140)))
    )
    wait(start(root, "ingest", str(old)))
    _, answer = wait(start(root, "ingest", str(new)), start(root, "tree", "forget", "old", "--yes"))
    assert answer["source"] == "old"
    check(root, ingested_alone(tmp_path, new))
    assert not any(path.is_file() for path in (root / "tree" / "old").rglob("*"))


def forget_between(root: Path, source: str, path: Path) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield what is in a mailbox; after 25 messages another process forgets a source."""
    with open_files(str(path), str(root)) as files:
        for number, unit in enumerate(mbox.read(files, ReadOptions())):
            if number == 25:
                with Book.open(root) as other:
                    other.tree_forget(source)
            yield unit


def test_another_source_is_forgotten_between_two_batches(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source is forgotten in the midst of an ingest that has left some messages to it: they move, and the rest that
    both have comes in as new."""
    monkeypatch.setattr(ingest, "BATCH", 10)
    old, new = (write_share(tmp_path / f"{name}.mbox", range(60)) for name in ("old", "new"))
    with Book.open(root) as book:
        book.ingest(str(old))
        book.ingest(str(write_share(tmp_path / "few.mbox", range(5))), name="new")
        tree = open_tree(book.context)
        ingestion = Ingestion(tree, tree.source("new"), redact, lambda: None, dry=False)
        ingestion.run(forget_between(root, "old", new))
        assert (ingestion.counts.known, ingestion.counts.added) == (20, 40)
    check(root, ingested_alone(tmp_path, new))


def test_a_source_is_forgotten_while_it_is_read(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ingest whose source is forgotten in between stops and says so, and leaves no file without a source."""
    monkeypatch.setattr(ingest, "BATCH", 10)
    path = write_share(tmp_path / "mail.mbox", range(60))
    with Book.open(root) as book:
        book.ingest(str(write_share(tmp_path / "few.mbox", range(10))), name="mail")
        tree = open_tree(book.context)
        ingestion = Ingestion(tree, tree.source("mail"), redact, lambda: None, dry=False)
        with pytest.raises(NotFound, match="was forgotten"):
            ingestion.run(forget_between(root, "mail", path))
    assert list((root / "tree").glob("mail/**/*.md")) == []
    with Book.open(root) as book:
        assert book.ingest(str(path)).sources[0].added == 60
    check(root, ingested_alone(tmp_path, path))


def test_what_is_added_while_a_file_is_read_comes_the_next_time(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mail that arrives in a mailbox while it is being read is there after the next ingest."""
    path = write_mbox(tmp_path / "mail.mbox")
    late = write_mbox(tmp_path / "late", (("9", *MESSAGES[0][1:]),)).read_text()
    real = mbox.read

    def read_slowly(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
        yield from real(files, options)
        if late not in path.read_text():
            path.write_text(path.read_text() + "\n" + late)

    monkeypatch.setattr(mbox, "read", read_slowly)
    monkeypatch.setattr(Ingestion, "survey", lambda *_: None)
    assert book.ingest(str(path)).sources[0].added == 4
    assert book.ingest(str(path)).sources[0].added == 1


def test_what_the_index_lacks_is_mended_before_another_source_comes(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that wrote files and could not tell the index leaves no message to be stored again by another."""
    one, two = (write_share(tmp_path / f"{name}.mbox", range(20)) for name in ("one", "two"))
    with Book.open(root) as book:
        book.ingest(str(write_share(tmp_path / "few.mbox", range(5))), name="one")

    def lag(*_: object) -> None:
        raise LockTimeout("Another process is writing to it.")

    with Book.open(root) as book, monkeypatch.context() as patched:
        patched.setattr(Unit, "_update_index", lag)
        patched.setattr(TreeStore, "finish", lambda _: None)
        book.ingest(str(one), name="one")
    with Book.open(root) as book, monkeypatch.context() as patched:
        patched.setattr(TreeStore, "freshen", TreeStore.sources)  # as if it had begun before
        assert book.ingest(str(two)).sources[0].known == 20
    check(root, ingested_alone(tmp_path, one))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("messages", "moments"), depths((150, (0.6,)), (600, (0.3, 0.75)), (2_000, (0.02, 0.3, 0.5, 0.75, 0.98)))
)
def test_a_process_is_killed(tmp_path: Path, messages: int, moments: tuple[float, ...]) -> None:
    """An ingest that gets a SIGKILL at some part of the files it writes is run again, and has the same messages and the
    same files as one that was not killed."""
    path = tmp_path / "mail.mbox"
    make_mailbox(path, messages=messages, threads=messages // 12, seed=7)
    whole = tmp_path / "whole"
    done = run_killed(1_000_000, whole, path)
    assert done.returncode == 0, done.stderr
    files = int(done.stderr)
    wanted, total = unit_counts(whole), json.loads(done.stdout)["added"]
    assert len(wanted) == total == wanted.total() > 0.95 * messages
    for number, moment in enumerate(moments):
        root = tmp_path / f"killed-{number}"
        assert run_killed(round(files * moment), root, path).returncode == -signal.SIGKILL
        before = unit_counts(root).total()
        [answer] = wait(start(root, "ingest", str(path)))
        assert answer["added"] == total - before
        check(root, set(wanted))
        assert names(root) == names(whole)


def run_killed(most: int, root: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Ingest a source in a process that is killed when it has put so many files in place."""
    words = [
        sys.executable,
        "-m",
        "tests.tree.crash_killed",
        str(most),
        "--root",
        str(root),
        "ingest",
        str(path),
        "--json",
    ]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def names(root: Path) -> set[str]:
    """Return the paths of all files below tree/, but for sub-pages: they split when enough new lines have gathered."""
    files = (path.relative_to(root) for path in (root / "tree").rglob("*") if path.is_file())
    return {str(path) for path in files if "_index" not in path.parts}
