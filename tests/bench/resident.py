"""How much memory a process has that recalls again and again, and how much an install takes on the disk."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

import commonplace
from commonplace.model.version import DISTRIBUTION
from tests.bench.made import Bench, project, questions
from tests.bench.measure import Amount, Note, Row

RECALLS = 1_000
# A process of its own, as a server is one. It loads the server's package too, which it must hold besides the book.
PROGRAM = """
import sys
import mcp.server
from commonplace.book import Book

root, project, *asked = sys.argv[1:]
with Book.open(root, project=project) as book:
    for question in asked:
        book.recall(question)
    print(open("/proc/self/status").read())
"""


def memory(bench: Bench) -> list[Row]:
    """What is resident at the end, as Linux tells it; other systems tell only the most there ever was."""
    name = f"memory after {RECALLS:,} recalls at {bench.large:,}, mcp.server loaded"
    if not Path("/proc/self/status").exists():
        return [Note(name, "this system has no /proc")]
    if importlib.util.find_spec("mcp") is None:
        return [Note(name, "mcp is not installed")]
    command = [sys.executable, "-c", PROGRAM, str(bench.root(bench.large)), project(bench.large), *questions(RECALLS)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kilobytes = {found[0]: int(found[1]) for found in re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", said, re.M)}
    return [
        Amount(name, kilobytes["VmRSS"] * 1024 / 1e6, "MB", 200.0),
        Amount("... the most it had at any time", kilobytes["VmHWM"] * 1024 / 1e6, "MB", None),
    ]


def install(_: Bench) -> list[Row]:
    """Every package that `pip install commonplace-memory` brings here, ours too, and their files with bytecode."""
    names = brought(DISTRIBUTION)
    size = sum(map(size_mb, names))
    return [
        Amount("default install, packages", len(names), "", 45.0),
        Amount("default install, files on this disk", size, "MB", 200.0),
    ]


def brought(name: str, extra: str = "") -> list[str]:
    """A package and all that it requires on this machine, by name, each once."""
    found: dict[tuple[str, str], str] = {}
    waiting = [(_plain(name), extra)]
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        distribution = importlib.metadata.distribution(at[0])
        found[at] = distribution.name
        for text in distribution.requires or ():
            wanted = Requirement(text)
            if wanted.marker is None or wanted.marker.evaluate({"extra": at[1]}):
                waiting += [(_plain(wanted.name), part) for part in ("", *wanted.extras)]
    return sorted({_plain(name) for name in found.values()})


def size_mb(name: str) -> float:
    """What is on the disk of a package: its files, and what Python compiled from them."""
    if name == DISTRIBUTION:  # may be installed as a link to its sources
        files = {path for path in Path(commonplace.__file__).parent.rglob("*") if path.is_file()}
    else:
        listed = importlib.metadata.files(name) or []
        files = {path for path in (Path(str(file.locate())) for file in listed) if path.is_file()}
        for source in [path for path in files if path.suffix == ".py"]:
            files |= set((source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"))
    return sum(path.stat().st_size for path in files) / 1e6


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
