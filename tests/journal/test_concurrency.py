"""Several processes record at once: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from commonplace.text.notes import parse
from tests.book.opened import open_book
from tests.depth import depths
from tests.journal.runs import PLACE
from tests.journal.worker import __file__ as worker

PROCESSES = [f"{letter}-worker" for letter in "abcdefgh"]
EACH = 4


def entries(root: Path, base: str) -> list[dict[str, str]]:
    """What the entry lines of a file and its parts say."""
    found = sorted((root / "journal" / PLACE).glob(f"{base}*.md"))
    return [dict(block.entry.extra) for path in found for block in parse(path.read_bytes()).blocks]


@pytest.mark.parametrize("processes", depths(PROCESSES[:3], PROCESSES))
def test_processes_lose_nothing(root: Path, processes: list[str]) -> None:
    """Each records runs of its own, all with one worker in common, and runs that all of them record: every run is on
    the timeline once, every task with its worker once, and the index says what the files say."""
    with open_book(root):
        pass
    here = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    started = [
        subprocess.Popen(
            [sys.executable, worker, str(root), name, str(EACH)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for name in processes
    ]  # fmt: skip
    said = [process.communicate() for process in started]
    assert [errors for _, errors in said if errors] == []
    lines = Counter(line for output, _ in said for line in output.splitlines())
    own = {f"{name}-{number}" for name in processes for number in range(EACH)}
    same = {f"same-{number}" for number in range(EACH)}
    assert all(lines[f"recorded {run}"] == 1 for run in own | same)
    assert all(lines[f"unchanged {run}"] == len(processes) - 1 for run in same)
    assert sum(lines.values()) == 2 * EACH * len(processes)
    assert Counter(item["run"] for item in entries(root, "event-")) == Counter(own | same)
    assert Counter(item["run"] for item in entries(root, "worker-everybody")) == Counter(own)
    assert Counter(item["run"] for item in entries(root, "failure-everybody")) == Counter(own)
    assert Counter(item["run"] for item in entries(root, "worker-one")) == Counter(same)
    for name in processes:
        assert len(entries(root, f"worker-{name}")) == EACH
    assert not list((root / "journal").rglob(".cp-*"))
    with open_book(root) as book:
        assert book.verify().ok
        assert len(book.recent_memory(100).entries) == len(own | same)
