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
from tests.bench.made import Bench, project
from tests.bench.measure import Row, Start, alternate

ASKED = ("recall", "staging database port")
COMMANDS = {
    "commonplace --help": (("--help",), 60.0),
    "commonplace --version": (("--version",), 60.0),
    "commonplace recall, {large:,}, words and vectors": (ASKED, 250.0),
    "commonplace recall --mode lexical, {large:,}": ((*ASKED, "--mode", "lexical"), 80.0),
}


def _start(start: Callable[..., None], command: tuple[str, ...], _: int) -> None:
    start(*command)


def run(bench: Bench) -> list[Row]:
    """Each command as the installed script is started: compiled once, as an installer does."""
    compileall.compile_dir(Path(commonplace.__file__).parent, quiet=2)
    large = bench.large
    environment = {
        **os.environ,
        "COMMONPLACE_ROOT": str(bench.root(large)),
        "COMMONPLACE_PROJECT": project(large),
    }
    script = Path(sys.executable).with_name("commonplace")

    def start(*command: str) -> None:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

    floor = (sys.executable, "-c", "pass")
    actions = [partial(_start, start, (str(script), *words)) for words, _ in COMMANDS.values()]
    floor_ms, *found = alternate(max(15, bench.rounds // 5), lambda _: start(*floor), *actions)
    return [
        Start(name.format(large=large), floor_ms, ours_ms, budget)
        for (name, (_, budget)), ours_ms in zip(COMMANDS.items(), found, strict=True)
    ]
