"""Run the product as a user does: the `commonplace` command and its MCP server, in processes of their own.

Nothing of the machine's settings reaches them: an empty home, an empty folder to stand in, a stopped clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
START = int(datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp())
PROJECT = "github.com/acme/app"
_TIMEOUT = 300
_MCP_VERSION = "2025-06-18"


@dataclass(frozen=True)
class Outcome:
    """How one call of the command ended."""

    exit_status: int
    output: str
    errors: str


@dataclass
class Product:
    """The installed product, with a scratch folder that holds its home, its book and its working folder."""

    scratch: Path
    seconds: int = START
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (self.home, self.working_folder, self.scratch / "tmp"):
            folder.mkdir(parents=True)
        home, temporary, programs = str(self.home), str(self.scratch / "tmp"), str(Path(sys.executable).parent)
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "PATHEXT", "COMSPEC") if name in os.environ}
        self.environment = {
            **kept,
            **dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), home),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
            "PATH": programs,
            "COMMONPLACE_PROJECT": PROJECT,
            "PYTHONPATH": os.pathsep.join((str(HERE / "clock"), str(REPOSITORY))),
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            "TZ": "UTC",
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }

    @property
    def root(self) -> Path:
        """The folder of the book."""
        return self.scratch / "book"

    @property
    def home(self) -> Path:
        """The home folder, empty at first."""
        return self.scratch / "home"

    @property
    def working_folder(self) -> Path:
        """The folder in which commands are run."""
        return self.scratch / "here"

    @property
    def places(self) -> dict[str, str]:
        """What stands for each folder of this machine in the record, longest folder first."""
        found = {self.scratch: "<scratch>", Path(sys.executable).parent: "<programs>", REPOSITORY: "<repository>"}
        return dict(sorted(((str(path), name) for path, name in found.items()), key=lambda item: -len(item[0])))

    def start(self, command: Sequence[str], stdin: bytes = b"", **variables: str) -> Outcome:
        """Run a program with this environment, at this moment of the stopped clock."""
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            cwd=self.working_folder,
            env={**self.environment, "BASELINE_CLOCK": str(self.seconds), **variables},
            timeout=_TIMEOUT,
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def run(self, *words: str, stdin: bytes = b"", **variables: str) -> Outcome:
        """Run the command with these words."""
        return self.start([*_command(), *words], stdin, **variables)

    def serve(self, options: Sequence[str], methods: Sequence[str]) -> tuple[int, list[dict[str, Any]]]:
        """Start the MCP server, send it one request for each method, and return its exit status and its results."""
        client = {
            "protocolVersion": _MCP_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "baseline", "version": "1"},
        }
        messages: list[dict[str, Any]] = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            *(
                {"jsonrpc": "2.0", "id": number, "method": method, "params": {}}
                for number, method in enumerate(methods, start=1)
            ),
        ]
        stdin = "".join(json.dumps(message) + "\n" for message in messages).encode()
        done = self.run("mcp", *options, stdin=stdin)
        answers = [json.loads(line) for line in done.output.splitlines()]
        by_id = {answer.get("id"): answer for answer in answers}
        results = [by_id[number].get("result", {}) for number in range(len(methods) + 1) if number in by_id]
        return done.exit_status, results


def _command() -> list[str]:
    """Return the installed script, or the module where there is none."""
    script = Path(sys.executable).with_name("commonplace.exe" if os.name == "nt" else "commonplace")
    return [str(script)] if script.exists() else [sys.executable, "-m", "commonplace"]
