"""Safety item 4: SIGKILL before the n-th system call of the command line, for every n until it runs through.

The command is the real one, in a process of its own under strace, which kills it on entering the n-th call of one kind:
that call does not happen any more. Counting starts where the book is first touched, because nothing before can change
it. Whatever a process does to a book it does by system calls, so these are all the states that a kill can leave.

After each kill: what was acknowledged before, by earlier commands or by this one if its answer came out, is there and
whole; nothing is half there; the next command works; `verify` is content; no temporary file is left beside memories.
"""

from __future__ import annotations

import collections
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from unittest import mock

from commonplace.cli.main import main as command_line
from tests.crash.check import Tally, check_texts
from tests.crash.cli_scenes import SCENES, Scene, make_book
from tests.crash.mounts import RealBook, Unavailable
from tests.crash.ops import Model
from tests.crash.seeded_cli import BUGS, CAUGHT_AS, TO_THE_END

CHANGING = (
    "write", "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir",
    "mkdirat", "rmdir", "ftruncate", "exit_group",
)  # fmt: skip
OTHERS = (
    "openat",
    "close",
    "flock",
    "fchmod",
    "pwrite64",
)  # of databases most often, or without an effect of their own
AT_LEAST = 200
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
_CALL = re.compile(r"(?:\d+ +)?(\w+)\(")


@dataclass
class Kills:
    """What the harness counted: it cannot pass by testing nothing."""

    points: int = 0
    acknowledged: int = 0  # by the killed command itself: its answer was out
    tally: Tally = field(default_factory=Tally)
    litter: list[str] = field(default_factory=list)

    @property
    def violations(self) -> int:
        return self.tally.violations + len(self.litter)

    @property
    def lost(self) -> list[str]:
        return self.tally.lost

    @property
    def torn(self) -> list[str]:
        return self.tally.torn

    def add(self, other: Kills) -> None:
        self.points += other.points
        self.acknowledged += other.acknowledged
        self.tally.add(other.tally)
        self.litter += other.litter

    def __str__(self) -> str:
        found = self.tally
        return (
            f"{self.points:,} kill points, {self.acknowledged} with the answer already out; lost {len(found.lost)}, "
            f"torn {len(found.torn)}, errors {len(found.errors) + len(found.pages)}, litter {len(self.litter)}"
        )


@dataclass(frozen=True)
class Task:
    """One scene, killed at every call of one kind from `first` on, or at every `step`-th of them."""

    scene: str
    call: str
    first: int
    step: int = 1
    bug: str = ""


def check_available() -> None:
    """Say why a machine cannot do it: no strace, or no right to trace."""
    strace = shutil.which("strace")
    if strace is None:
        raise Unavailable("strace is not installed")
    words = [strace, "-e", "inject=write:signal=KILL:when=1", "-o", os.devnull, sys.executable, "-c", "print(1)"]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.stdout or done.returncode not in KILLED:
        raise Unavailable(f"strace cannot kill here: {done.stderr.decode(errors='replace')[:200]}")


class Bench:
    """A place to kill commands in: a book to start from, copied for each of them."""

    def __init__(self, place: str) -> None:
        self._place, self.root = place, f"{place}/book"
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("COMMONPLACE_", "PYTHONUNBUFFERED"))
        } | {"PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/commonplace-kill-pycache", "PYTHONDONTWRITEBYTECODE": ""}
        with mock.patch.dict(os.environ, self._environment, clear=True):
            self.before = make_book(f"{place}/start")

    def start(self, scene: Scene, traced: Sequence[str], bug: str = "") -> tuple[int, str]:
        """Run the command on a fresh copy, under strace; its status, and what it said."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(f"{self._place}/start", self.root)
        program = ["tests.crash.seeded_cli", bug] if bug else ["commonplace"]
        words = ["strace", "-f", "-o", f"{self._place}/trace", *traced, sys.executable, "-m", *program]
        done = subprocess.run(
            [*words, "--root", self.root, *scene.words],
            capture_output=True, text=True, check=False, cwd=os.getcwd(), env=self._environment,
        )  # fmt: skip
        return done.returncode, done.stdout

    def calls(self, scene: Scene) -> dict[str, int]:
        """Run it through once: each kind of call after the book was touched, with the number of its first."""
        kinds = ",".join(f"?{name}" for name in (*CHANGING, *OTHERS))
        self.start(scene, ["-e", f"trace={kinds}"])  # once for Python, which keeps what it compiled
        status, said = self.start(scene, ["-e", f"trace={kinds}"])
        if status != 0 or not said:
            raise AssertionError(f"{scene.words[0]} does not even work without a kill: {status} {said}")
        seen: collections.Counter[str] = collections.Counter()
        first: dict[str, int] = {}
        touched = False
        with open(f"{self._place}/trace", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name = _CALL.match(line)
                if name is not None:
                    seen[name[1]] += 1
                    touched = touched or f'"{self.root}' in line
                    if touched:
                        first.setdefault(name[1], seen[name[1]])
        return first

    def kill(self, task: Task, number: int, kills: Kills) -> bool:
        """Kill it before its n-th call of a kind, and look; False when it ran through."""
        scene = SCENES[task.scene]
        inject = ["-e", f"trace={task.call}", "-e", f"inject={task.call}:signal=KILL:when={number}"]
        status, said = self.start(scene, inject, task.bug)
        acknowledged = said.endswith("\n")
        where = f"{task.scene}, killed before {task.call} {number}"
        if status not in KILLED:
            if status != 0 or not acknowledged:
                raise AssertionError(f"{where}: it was not killed, and ended with {status}")
            return False
        kills.points += 1
        kills.acknowledged += acknowledged
        after = scene.after(self.before)
        before = after if acknowledged else self.before
        files = RealBook(self.root).files()
        check_texts(files, before, after, where, kills.tally)
        if acknowledged:
            kills.tally.lost.extend(f"{where}: not purged from {name}" for name in _holding(files, scene.purged))
        self._go_on(scene, where, before, after, kills, task.bug)
        return True

    def _go_on(self, scene: Scene, where: str, before: Model, after: Model, kills: Kills, bug: str) -> None:
        """The next command works, and after it the book is in order; what was being purged can be purged."""
        wrong = kills.tally.errors
        for words in (("store", "Life goes on.", "--key", "next", "--scope", "global"), ("verify",)):
            status, said = self._call(*words, bug=bug)
            if status != 0:
                wrong.append(f"{where}: then {words[0]} ended with {status}: {said[:200]}")
        now = [model.with_note("next", ("Life goes on.",)) for model in (before, after)]
        check_texts(RealBook(self.root).files(), now[0], now[1], f"{where}, and went on", kills.tally)
        kills.litter += [f"{where}: {name} is left" for name in _litter(f"{self.root}/memories")]
        if scene.purged:
            status, said = self._call(*scene.words[:-1], bug=bug)
            if status not in (0, 1):
                wrong.append(f"{where}: purging again ended with {status}: {said[:200]}")
            left = _holding(RealBook(self.root).files(), scene.purged)
            kills.tally.lost.extend(f"{where}: purged again, and still in {name}" for name in left)

    def _call(self, *words: str, bug: str) -> tuple[int, str]:
        """One more command, inside this process: what matters is what the killed one left."""
        out, err = io.StringIO(), io.StringIO()
        streams = mock.patch.multiple(sys, stdin=io.StringIO(), stdout=out, stderr=err)
        with streams, mock.patch.dict(os.environ, self._environment, clear=True):
            try:
                if bug in TO_THE_END:
                    BUGS[bug]()
                status = command_line([*words, "--root", self.root, "--json"])
            finally:
                mock.patch.stopall()
        return status, out.getvalue() + err.getvalue()


def _holding(files: dict[str, bytes], texts: Sequence[str]) -> list[str]:
    return [name for name, data in files.items() for text in texts if text.encode() in data]


def _litter(folder: str) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if name.startswith(".cp-")]


def run_task(task: Task) -> Kills:
    """Kill until the command runs through."""
    kills = Kills()
    with tempfile.TemporaryDirectory(prefix="commonplace-kill-") as place:
        bench = Bench(place)
        number = task.first
        while bench.kill(task, number, kills):
            number += task.step
    return kills


def tasks(*, short: bool) -> list[Task]:
    """Every scene with every kind of call that it makes; in short, those that change files, and some to databases."""
    found = []
    with tempfile.TemporaryDirectory(prefix="commonplace-kill-") as place:
        bench = Bench(place)
        for name, scene in SCENES.items():
            first = bench.calls(scene)
            kinds = [*CHANGING, "pwrite64"] if short else [*CHANGING, *OTHERS]
            found += [
                Task(name, call, first[call], step=20 if short and call == "pwrite64" else 1)
                for call in kinds
                if call in first
            ]
    return found


def killed(todo: Sequence[Task]) -> Kills:
    total = Kills()
    with ProcessPoolExecutor(max_workers=2) as pool:
        for kills in pool.map(run_task, todo):
            total.add(kills)
    return total


def seeded(todo: Sequence[Task]) -> dict[str, Kills]:
    """Each seeded bug in the same kills of one scene that find nothing without it."""
    some = [task for task in todo if task.scene == "store, one more entry" and task.call in CHANGING]
    return {bug: killed([Task(task.scene, task.call, task.first, bug=bug) for task in some]) for bug in BUGS}


def main_part(*, short: bool) -> int:
    """The part of `make crash`: prints the figures, answers how many of them are wrong."""
    began = time.monotonic()
    try:
        check_available()
    except Unavailable as error:
        print(f"Command line killed at system calls: skipped: {error}", flush=True)
        return 0
    todo = tasks(short=short)
    total = killed(todo)
    print(f"Command line killed at system calls: {total} ({time.monotonic() - began:.0f} s)", flush=True)
    for line in (*total.tally.lost, *total.tally.torn, *total.tally.pages, *total.tally.errors, *total.litter)[:20]:
        print(f"    {line[:400]}")
    if total.points < AT_LEAST:
        print(f"    these are fewer than {AT_LEAST} kill points: the harness does not reach what it should")
    found = seeded(todo)
    caught = sum(1 for bug, kills in found.items() if getattr(kills, CAUGHT_AS[bug]))
    print(f"Command line killed at system calls, seeded bugs caught: {caught} of {len(found)}", flush=True)
    for name, kills in found.items():
        print(f"    {name}: {kills}")
    return total.violations + (total.points < AT_LEAST) + len(found) - caught


if __name__ == "__main__":
    sys.exit(1 if main_part(short="--short" in sys.argv) else 0)
