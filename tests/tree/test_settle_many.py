"""Several processes ingest and settle one tree at once: no leaf is lost, and none is sealed twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace import Book
from commonplace.verbs.tree_opening import open_tree
from tests.depth import depths
from tests.tree.settle_checks import check_rows, count_sealed, find_faults, node_rows, read_nodes
from tests.tree.settle_scenes import dated_mail
from tests.tree.settle_worker import use_small_groups

pytestmark = pytest.mark.deep  # it starts many processes

BOOK = 10  # rounds in one book
CHECKED = 5  # rounds after which a book is looked at, where there are many
Worker = subprocess.Popen[str]


class Share(NamedTuple):
    """What one process ingests in one round: a mailbox, and the numbers of its mails."""

    path: Path
    numbers: Sequence[int]


def start() -> Worker:
    """Start a worker."""
    command = [sys.executable, "-m", "tests.tree.settle_worker"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(worker: Worker, root: Path, source: Path | None) -> None:
    """Tell a worker what to do; it begins at once."""
    assert worker.stdin is not None
    worker.stdin.write(json.dumps([str(root), source and str(source)]) + "\n")
    worker.stdin.flush()


def answer(worker: Worker) -> object:
    """Return what a worker did; None if it was killed before it said so."""
    assert worker.stdout is not None
    line = worker.stdout.readline()
    return json.loads(line) if line else None


@contextmanager
def start_workers(number: int) -> Iterator[list[Worker]]:
    """Start so many workers, and end them."""
    workers = [start() for _ in range(number)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def write_share(folder: Path, rng: random.Random, first: int) -> Share:
    """Write a mailbox of four mails: three new ones, some of which answer older mails, and one that others have too."""
    numbers = [*range(first, first + 3), max(0, first - rng.randrange(1, 30))]
    mails = [
        dated_mail(
            number,
            f"We agreed on case {number}. Who counts box {number * 3}? Bob will send list {number} by Friday.",
            f"2026-{number % 3 + 8:02}-{number % 27 + 1:02}",
            answers=f"n{number - 10}" if number % 4 == 0 and number >= 10 else "",
        )
        for number in numbers
    ]
    path = folder / f"box-{first}.mbox"
    path.write_text("".join(mails))
    return Share(path, numbers)


def check(root: Path, wanted: set[int]) -> tuple[int, int]:
    """Settle what is left, and return how many leaves there are and how many are sealed; fail unless every message is
    there once, each leaf and summary has one parent at most, and the index says what the files say, also built anew."""
    with Book.open(root) as book:
        book.tree_settle()
        tree = open_tree(book.context)
        files = {f"/{path.relative_to(root)}": path.read_bytes() for path in (root / "tree").rglob("*.md")}
        nodes = read_nodes(files)
        assert find_faults(files) == []
        assert {int(unit.native_id.rpartition("<n")[2].partition("@")[0]) for unit in nodes.units.values()} == wanted
        assert len(nodes.units) == len(wanted)
        check_rows(tree, files)
        assert book.tree_settle() == (0, 0, 0, 0)
        assert book.verify().ok
        return count_sealed(files)


def check_rebuilt(root: Path) -> None:
    """Fail unless an index that is built anew leads to the same nodes, topics and days, and changes no file."""
    files = {path: path.read_bytes() for path in (root / "tree").rglob("*.md")}
    with Book.open(root) as book:
        rows = node_rows(open_tree(book.context))
    for path in root.rglob("tree.db*"):
        path.unlink()
    with Book.open(root) as book:
        book.tree_settle()
        assert node_rows(open_tree(book.context)) == rows
    assert {path: path.read_bytes() for path in (root / "tree").rglob("*.md") if "_index" not in path.parts} == {
        path: data for path, data in files.items() if "_index" not in path.parts
    }


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("seal.MOST_CHILDREN", "seal._SEALED", "seal._DIVIDED", "digests._WRITTEN", "topics._WRITTEN"):
        monkeypatch.setattr(f"commonplace.tree.{name}", 1)  # which sets them back afterwards
    use_small_groups()


@pytest.mark.parametrize(("processes", "rounds"), depths((3, 2), (8, 3), (8, 1_000)))
def test_processes_ingest_and_seal_at_once(tmp_path: Path, processes: int, rounds: int) -> None:
    """In each round some processes, eight in the deep form, ingest mails that overlap, or settle, all at once: none is
    refused, every message is there once, no leaf is lost, and none has two summaries."""
    rng, lost, total = random.Random(rounds), 0, 0
    with start_workers(processes) as workers:
        for number in range(rounds):
            if number % BOOK == 0:
                root, wanted, first = tmp_path / f"book-{number}", set[int](), 0
            shares: list[Share | None] = []
            for at in range(processes):
                is_ingest = at <= processes // 2 or rng.random() < 0.3
                shares.append(write_share(tmp_path, rng, first) if is_ingest else None)
                first += 3 * is_ingest
            for worker, share in zip(workers, shares, strict=True):
                ask(worker, root, share.path if share is not None else None)
            answers = [answer(worker) for worker in workers]
            assert [found for found in answers if not isinstance(found, list)] == []
            wanted |= {at for share in shares if share is not None for at in share.numbers}
            if rounds <= BOOK or number % CHECKED == CHECKED - 1:
                leaves, sealed = check(root, wanted)
                lost += leaves - sealed
                total += leaves
            if number % BOOK == BOOK - 1:
                check_rebuilt(root)
    assert total > 0 and lost == 0  # all are older than a week, so none waits


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("processes", "rounds"), depths((3, 1), (8, 2), (8, 300)))
def test_some_of_the_processes_are_killed(tmp_path: Path, processes: int, rounds: int) -> None:
    """In each round two of the processes that ingest and settle are killed at some moment, and what they had begun is
    done again: every message is there once, no leaf is lost, and none has two summaries."""
    rng = random.Random(rounds)
    with start_workers(processes) as workers:
        for number in range(rounds):
            if number % BOOK == 0:
                root, wanted, first = tmp_path / f"book-{number}", set[int](), 0
            shares = [write_share(tmp_path, rng, first + 3 * at) for at in range(processes)]
            first += 3 * processes
            for worker, share in zip(workers, shares, strict=True):
                ask(worker, root, share.path)
            answers = [answer(worker) for worker in workers[: rng.randrange(min(3, processes - 1))]]
            for at in range(len(answers), len(answers) + 2):
                workers[at].send_signal(signal.SIGKILL)
                workers[at].communicate()
                workers[at] = start()
                ask(workers[at], root, shares[at].path)
            answers += [answer(worker) for worker in workers[len(answers) :]]
            assert [found for found in answers if not isinstance(found, list)] == []
            wanted |= {at for share in shares for at in share.numbers}
            leaves, sealed = check(root, wanted)
            assert leaves == sealed
            if number % BOOK == BOOK - 1:
                check_rebuilt(root)
