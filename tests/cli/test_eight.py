"""Several processes at once, over the command line and over the library: no acknowledged update is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calls import COMMAND, fine
from tests.depth import depths

# One process each: says every text that was acknowledged, at the moment it was. A refusal to wait longer is none.
OVER_LIBRARY = """
import sys
from commonplace import Book
name, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    with Book.open() as book:
        for key in ("shared", f"own-{name}"):
            text = f"{name} says {number}."
            book.store(text, key, "project")
            print(key, text, flush=True)
"""
OVER_COMMAND = """
import subprocess, sys
name, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
for number in range(count):
    for key in ("shared", f"own-{name}"):
        text = f"{name} says {number}."
        subprocess.run([*command, "store", text, "--key", key], check=True, stdout=subprocess.DEVNULL)
        print(key, text, flush=True)
"""


@pytest.mark.parametrize(("names", "count"), depths(("ab", 1), ("abcdefgh", 3)))
def test_no_update_is_lost(root: Path, names: str, count: int) -> None:
    """Every text that any of the processes was told is kept is in the book once, and the index knows what is there."""
    started = []
    for number, name in enumerate(names):
        script, more = (OVER_COMMAND, COMMAND) if number % 2 else (OVER_LIBRARY, ())
        words = [sys.executable, "-c", script, name, str(count), *more]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    finished = [process.communicate() for process in started]
    assert [errors for _, errors in finished if errors] == []
    assert [process.returncode for process in started] == [0] * len(names)
    told = sorted(tuple(line.split(" ", 1)) for output, _ in finished for line in output.splitlines())
    found = sorted(
        (item["key"], entry["text"])
        for item in fine("list")["memories"]
        for entry in fine("show", item["key"])["entries"]
    )
    assert len(told) == len(names) * 2 * count
    assert found == told, json.dumps({"lost": [item for item in told if item not in found]})
    assert fine("verify")["ok"] and [path.name for path in root.rglob(".cp-*")] == []
