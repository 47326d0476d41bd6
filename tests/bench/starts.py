"""What a fresh process costs beyond `python -c pass`: the command line, as a user starts it.

A budget in milliseconds is scaled by how long `python -c pass` takes in the same run (13 ms on a quiet machine): so a
busy or slow machine is not taken for slow code.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import commonplace
from commonplace.book import Book
from tests.bench.books import texts
from tests.bench.measure import Start, alternate

QUIET_MS = 13.0
COMMANDS = {
    "commonplace --help": (["--help"], 60.0),
    "commonplace --version": (["--version"], 60.0),
    "commonplace recall --mode lexical, {large:,}": (["recall", "staging database port", "--mode", "lexical"], 80.0),
}


def _start(start: Callable[..., None], command: tuple[str, ...], _: int) -> None:
    start(*command)


def run(root: Path, rounds: int, large: int) -> list[Start]:
    """Each command as the installed script is started: compiled once, as an installer does."""
    compileall.compile_dir(Path(commonplace.__file__).parent, quiet=2)
    book = root / "started"
    with Book.open(book, project="bench/start") as filled:
        filled.store_many({"content": text, "key": f"fact-{n:05d}"} for n, text in enumerate(texts(large)))
        filled.recall("warm up")
    environment = {**os.environ, "COMMONPLACE_ROOT": str(book), "COMMONPLACE_PROJECT": "bench/start"}
    script = Path(sys.executable).with_name("commonplace")

    def start(*command: str) -> None:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)

    floor = (sys.executable, "-c", "pass")
    actions = [partial(_start, start, (str(script), *words)) for words, _ in COMMANDS.values()]
    floor_ms, *found = alternate(max(15, rounds // 5), lambda _: start(*floor), *actions)
    return [
        Start(name.format(large=large), floor_ms, ours_ms, budget, QUIET_MS)
        for (name, (_, budget)), ours_ms in zip(COMMANDS.items(), found, strict=True)
    ]
