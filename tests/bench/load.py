"""Hooks on a machine that is busy: how many give no answer before their deadline, and how long they take.

Eight processes spin, each hook is a fresh process with a session of its own, and its deadline is the one it has for
users. A hook that says nothing here was lost: the book has a brief, and memories about the prompt.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commonplace.maintenance.lost_hooks import find_lost_hooks
from commonplace.model.times import now
from tests.bench.measure import Amount, Duration, Note, Row, high
from tests.bench.scratch_books import Bench, project

SPINNING = 8
HOOKS = 40  # of each event
MEMORIES = 1_000
EVENTS = ("session-start", "prompt")


def load(bench: Bench) -> list[Row]:
    """Session starts and prompts take turns on a book of a thousand memories, while eight processes spin."""
    memories = min(MEMORIES, bench.large)
    root = bench.root(memories)
    before = {name: value for name, value in os.environ.items() if name != "COMMONPLACE_HOOK_DEADLINE_MS"}
    environment = {**before, "COMMONPLACE_ROOT": str(root), "COMMONPLACE_PROJECT": project(memories)}
    silent, spent = dict.fromkeys(EVENTS, 0), {event: list[float]() for event in EVENTS}
    count = HOOKS if bench.rounds > 2 else bench.rounds
    others = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    with _spinning(SPINNING if bench.rounds > 2 else 1):
        for turn in range(count):
            for event in EVENTS:
                started = time.perf_counter()
                silent[event] += not _answer(event, turn, environment)
                spent[event].append((time.perf_counter() - started) * 1000)
    rows: list[Row] = [Note("what else this machine did", f"{others} processes wanted to run")] if others else []
    for event in EVENTS:
        name = f"hook {event}, {memories:,}, {SPINNING} busy processes"
        rows += [
            Amount(f"{name}: no answer", silent[event], f"of {count}", 0),
            Duration(f"{name}: p50", statistics.median(spent[event]), None),
            Duration(f"{name}: p95", high(spent[event]), None),
            Duration(f"{name}: longest", max(spent[event]), None),
        ]
    return rows + [Note(one.host, one.message) for one in find_lost_hooks(str(root), now())]


def _answer(event: str, turn: int, environment: dict[str, str]) -> bytes:
    """Run one hook and return what it prints."""
    said = {"session_id": f"load-{event}-{turn}", "cwd": "/", "source": "startup", "prompt": "staging database port"}
    script = Path(sys.executable).with_name("commonplace-hook")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "commonplace.hooks.main"]
    command = [*start, event, "--host", "claude-code"]
    done = subprocess.run(command, input=json.dumps(said).encode(), env=environment, capture_output=True, check=True)
    return done.stdout


@contextmanager
def _spinning(count: int) -> Iterator[None]:
    """So many processes use all the processor time that they get."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()
