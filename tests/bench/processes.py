"""What our processes cost: the command line and hooks as they start, the MCP server, and the size of the install.

A budget in milliseconds is scaled by how long `python -c pass` takes in the same run (13 ms on a quiet machine): so a
busy or slow machine is not taken for slow code.
"""

from __future__ import annotations

import compileall
import contextlib
import importlib.metadata
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement

import commonplace
from commonplace.context.prompt_servers import list_servers
from commonplace.hooks.events import open_event
from commonplace.hooks.host_io import SHAPES, HookInput
from commonplace.hooks.prompt_client import ask_server
from commonplace.model import DISTRIBUTION
from tests.bench.measure import Amount, Duration, Measure, Note, Row, Start, alternate, high, turns
from tests.bench.scratch_books import Bench, project, questions

ASKED = ("recall", "staging database port")
COMMANDS = {
    "commonplace --help": (("--help",), 60.0),
    "commonplace --version": (("--version",), 60.0),
    "commonplace recall, {large:,}, words and vectors": (ASKED, 280.0),
    "commonplace recall --mode lexical, {large:,}": ((*ASKED, "--mode", "lexical"), 100.0),
}
HOOKS: dict[str, tuple[float, float | None]] = {  # by their budgets at p50 and at p95
    "session-start": (60.0, 120.0),
    "prompt": (60.0, None),  # by words: what a hook does without a running server
}

WHOLE_BOOK = ("list", "doctor verify", "doctor")

_SESSIONS = itertools.count()  # one for each hook: what a session was told is not said to it again

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip


def _start(start: Callable[..., None], command: tuple[str, ...], _: int) -> None:
    start(*command)


def starts(bench: Bench) -> list[Row]:
    """Each command and hook as the installed script is started: compiled once, as an installer does."""
    _compile()
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


def _compile() -> None:
    compileall.compile_dir(Path(commonplace.__file__).parent, quiet=2, force=True)  # one second of two edits fools it


def whole_book(bench: Bench) -> list[Row]:
    """The commands that read a whole book, in a large one and in the largest: how time grows, and the memory taken."""
    if not hasattr(os, "wait4"):
        return [Note("list, verify and doctor", "Windows does not tell how much memory a process took")]
    seconds: dict[str, list[float]] = {command: [] for command in WHOLE_BOOK}
    rows: list[Row] = []
    for size in (bench.large, bench.largest):
        environment = {
            **os.environ,
            "COMMONPLACE_ROOT": str(bench.root(size)),
            "COMMONPLACE_PROJECT": project(size),
        }
        for command, spent in seconds.items():
            started = time.perf_counter()
            memory = measure_process(command.split(), environment).megabytes
            spent.append((time.perf_counter() - started) * 1000)
            if size == bench.largest:
                rows.append(Amount(f"commonplace {command}, {size:,}: memory", memory, "MB", 250.0))
    times: list[Row] = [
        Measure(f"commonplace {command}, {bench.largest:,} to {bench.large:,}", spent[0], spent[1], 12.0)
        for command, spent in seconds.items()
    ]
    return times + rows


# A process counts the memory of the one that started it until it runs its own program, so a small one starts it.
_MEASURE_MEMORY = """
import os, subprocess, sys
running = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(running.pid, 0)
running.returncode = os.waitstatus_to_exitcode(status)
print(running.returncode, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)
"""


class ProcessCost(NamedTuple):
    """What a process took."""

    megabytes: float  # the most memory that it had
    cpu_seconds: float


def measure_process(words: list[str], environment: Mapping[str, str]) -> ProcessCost:
    """Run a command to its end and return what it took."""
    script = str(Path(sys.executable).with_name("commonplace"))
    command = [sys.executable, "-c", _MEASURE_MEMORY, script, *words]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    code, memory, cpu = answer.stdout.split()
    if code not in ("0", "1", "3"):  # 1: doctor has findings, 3: some messages could not be read
        raise RuntimeError(f"{words} ended with {code}")
    return ProcessCost(int(memory) / (1_000_000 if sys.platform == "darwin" else 1_000), float(cpu))


def _hooks(environment: dict[str, str], rounds: int, large: int) -> list[Row]:
    """Hooks, each a fresh process with a session of its own, against a bare Python that reads nothing."""
    floor_ms, *found = turns(
        max(40, rounds // 3), partial(_bare, environment), *(partial(run_hook, environment, event) for event in HOOKS)
    )
    begun: list[Row] = []
    for (event, (usual, at_most)), spent in zip(HOOKS.items(), found, strict=True):
        p50, p95 = statistics.median(spent), high(spent)
        begun.append(Start(f"hook {event} p50, {large:,}", statistics.median(floor_ms), p50, usual))
        begun.append(Start(f"hook {event} p95, {large:,}", high(floor_ms), p95, at_most))
    return begun


def _bare(environment: Mapping[str, str], _: int) -> None:
    subprocess.run([sys.executable, "-c", "pass"], env=environment, stdin=subprocess.DEVNULL, check=False)


def run_hook(environment: Mapping[str, str], event: str, _: int) -> bytes:
    """Run a hook and return what it says, which is never nothing. All of its work is done, also where that is slow."""
    script = Path(sys.executable).with_name("commonplace-hook")
    ours = (
        [str(script)] if script.exists() else [sys.executable, "-c", "from commonplace.hooks.main import main; main()"]
    )
    said = {
        "session_id": f"{event}-{next(_SESSIONS)}",
        "cwd": os.getcwd(),
        "source": "startup",
        "prompt": "staging database port",
    }
    done = subprocess.run(
        [*ours, event, "--host", "claude-code"], input=json.dumps(said).encode(), capture_output=True, check=False,
        env={**environment, "COMMONPLACE_HOOK_DEADLINE_MS": "10000"},
    )  # fmt: skip
    assert done.stdout, "a hook that says nothing is not what is to be timed"
    return done.stdout


def prompts(bench: Bench) -> list[Row]:
    """A hook at a prompt, by words, and by meaning with the server of its host running."""
    _compile()
    large = bench.large
    environment = {**os.environ, "COMMONPLACE_ROOT": str(bench.root(large)), "COMMONPLACE_PROJECT": project(large)}
    if sys.platform == "win32":
        return [Note("hook at a prompt by meaning", "on Windows a hook goes by words")]
    with tempfile.TemporaryDirectory(prefix="bench") as folder:  # a state of its own has no server in it
        state = {**environment, "XDG_STATE_HOME": folder}
        with contextlib.closing(McpServer(state)) as served:
            served.request("tools/list")
            first = _wait_for_meaning(state)
            alone = {**environment, "XDG_STATE_HOME": f"{folder}/none"}
            actions = (partial(run_hook, alone, "prompt"), partial(run_hook, state, "prompt"))
            floor_ms, words_ms, meaning_ms = turns(max(40, bench.rounds // 3), partial(_bare, environment), *actions)
    floor = statistics.median(floor_ms)
    return [
        Start(f"hook prompt by words, no server, p50, {large:,}", floor, statistics.median(words_ms), 60.0),
        Start(f"hook prompt by meaning, p50, {large:,}", floor, statistics.median(meaning_ms), 90.0),
        Start(f"hook prompt by meaning, p95, {large:,}", high(floor_ms), high(meaning_ms), None),
        Duration("from the first prompt until a server answers by meaning", first, None),
    ]


def _wait_for_meaning(environment: Mapping[str, str]) -> float:
    """Ask like a hook until the server answers; return the milliseconds from the first question until then."""
    said = HookInput("bench", os.getcwd())
    event = open_event("prompt", "claude-code", SHAPES["claude-code"], said, environment)
    assert event is not None
    folder = os.path.join(environment["XDG_STATE_HOME"], "commonplace", "run")
    begun, asked = time.perf_counter(), 0.0
    while ask_server(event, folder, "staging database port", {}) is None:
        asked = asked or (time.perf_counter() if list_servers(folder) else 0.0)
        assert time.perf_counter() - begun < 60, "the server does not answer"
        time.sleep(0.01)
    return (time.perf_counter() - (asked or begun)) * 1000


class McpServer:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "commonplace", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.ask(HELLO)
        self._number = 1

    def ask(self, message: Mapping[str, object]) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def request(self, method: str, **params: object) -> Any:
        self._number += 1
        return self.ask({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def server(bench: Bench) -> list[Row]:
    """From the spawn of the MCP server to the answered tools/list, the size of that, and the memory after recalls."""
    large = bench.large
    root, project_id = bench.root(large), project(large)
    environment = {**os.environ, "COMMONPLACE_ROOT": str(root), "COMMONPLACE_PROJECT": project_id}
    listed: list[str] = []

    def spawn(_: int) -> None:
        spawned = McpServer(environment)
        listed.append(json.dumps(spawned.request("tools/list")["result"], separators=(",", ":")))
        spawned.process.kill()
        spawned.close()

    def floor(_: int) -> None:
        subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)

    floor_ms, ours_ms = alternate(max(7, bench.rounds // 15), floor, spawn)
    return [
        Measure("MCP: spawn to tools/list, / import mcp.server", floor_ms, ours_ms, 1.6),
        Amount("tools/list of an agent, tools", len(json.loads(listed[0])["tools"]), "", 12),
        Amount("tools/list of an agent, characters", len(listed[0]), "", 12_000),
        _memory(environment, large),
    ]


def _memory(environment: Mapping[str, str], large: int) -> Row:
    name = f"MCP: memory after 1,000 recalls, {large:,}"
    if not sys.platform.startswith("linux"):
        return Note(name, "this system has no /proc")
    server = McpServer(environment)
    for question in questions(1_000):
        server.request("tools/call", name="memory_recall", arguments={"query": question})
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    server.close()
    kilobytes = int(re.findall(r"VmRSS:\s+(\d+)", status)[0])
    return Amount(name, kilobytes * 1024 / 1e6, "MB", 250)


def install(_: Bench) -> list[Row]:
    """Every package that `pip install commonplace-memory` brings here, ours too, and their files with bytecode."""
    names = required_packages(DISTRIBUTION)
    size = sum(map(size_mb, names))
    return [
        Amount("default install, packages", len(names), "", 45.0),
        Amount("default install, files on this disk", size, "MB", 200.0),
    ]


def required_packages(name: str, extra: str = "") -> list[str]:
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
