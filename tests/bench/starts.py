"""What a fresh process costs beyond `python -c pass`: the command line, as a user starts it.

A budget in milliseconds is scaled by how long `python -c pass` takes in the same run (13 ms on a quiet machine): so a
busy or slow machine is not taken for slow code.
"""

from __future__ import annotations

import compileall
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import commonplace
from tests.bench.made import Bench, project
from tests.bench.measure import Row, Start, alternate, high, turns

ASKED = ("recall", "staging database port")
COMMANDS = {
    "commonplace --help": (("--help",), 60.0),
    "commonplace --version": (("--version",), 60.0),
    "commonplace recall, {large:,}, words and vectors": (ASKED, 250.0),
    "commonplace recall --mode lexical, {large:,}": ((*ASKED, "--mode", "lexical"), 80.0),
}
HOOKS = {  # by their budgets at p50 and at p95; the prompt's are our own
    "session-start": (60.0, 120.0),
    "prompt": (90.0, 180.0),
}


def _start(start: Callable[..., None], command: tuple[str, ...], _: int) -> None:
    start(*command)


def run(bench: Bench) -> list[Row]:
    """Each command and hook as the installed script is started: compiled once, as an installer does."""
    compileall.compile_dir(Path(commonplace.__file__).parent, quiet=2, force=True)  # one second of two edits fools it
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
    begun: list[Row] = [
        Start(name.format(large=large), floor_ms, ours_ms, budget)
        for (name, (_, budget)), ours_ms in zip(COMMANDS.items(), found, strict=True)
    ]
    return begun + _hooks(environment, bench.rounds, large)


def _hooks(environment: dict[str, str], rounds: int, large: int) -> list[Row]:
    """Hooks, each a fresh process with a session of its own, against a bare Python that reads nothing."""
    script = Path(sys.executable).with_name("commonplace-hook")
    ours = (
        [str(script)] if script.exists() else [sys.executable, "-c", "from commonplace.hooks.main import main; main()"]
    )
    patient = {**environment, "COMMONPLACE_HOOK_DEADLINE_MS": "10000"}  # all of the work is timed, also when it is slow

    def floor(_: int) -> None:
        subprocess.run([sys.executable, "-c", "pass"], env=environment, stdin=subprocess.DEVNULL, check=False)

    def hook(event: str, turn: int) -> None:
        said = {
            "session_id": f"{event}-{turn}",
            "cwd": os.getcwd(),
            "source": "startup",
            "prompt": "staging database port",
        }
        command = [*ours, event, "--host", "claude-code"]
        done = subprocess.run(command, input=json.dumps(said).encode(), env=patient, capture_output=True, check=False)
        assert done.stdout, "a hook that says nothing is not what is to be timed"

    floor_ms, *found = turns(max(40, rounds // 3), floor, *(partial(hook, event) for event in HOOKS))
    begun: list[Row] = []
    for (event, (usual, at_most)), spent in zip(HOOKS.items(), found, strict=True):
        p50, p95 = statistics.median(spent), high(spent)
        begun.append(Start(f"hook {event} p50, {large:,}", statistics.median(floor_ms), p50, usual))
        begun.append(Start(f"hook {event} p95, {large:,}", high(floor_ms), p95, at_most))
    return begun
