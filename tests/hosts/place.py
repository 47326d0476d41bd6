"""Where a host's program runs in these tests: a home of its own with nothing in it, and our server's command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import commonplace

FOLDER = Path(__file__).parents[2] / ".venv" / "hosts"
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")


class Failed(Exception):
    """The program does not say what it should."""


class Place(NamedTuple):
    home: Path
    prefix: Path  # where its package is installed
    path: str

    @property
    def server(self) -> list[str]:
        """The command line of our server: this code, whatever is installed. Some hosts refuse to pass PYTHONPATH on."""
        source = str(Path(commonplace.__file__).parents[1])
        start = self.home / "start.py"
        start.write_text(
            f"import sys\nsys.path.insert(0, {source!r})\nfrom commonplace.cli.main import main\nsys.exit(main())\n",
            encoding="utf-8",
        )
        return [sys.executable, str(start), "mcp"]

    @property
    def server_environment(self) -> dict[str, str]:
        """What our server needs to know: where its book is."""
        return {"COMMONPLACE_ROOT": str(self.home / "book")}

    @property
    def work(self) -> Path:
        """The folder in which the host is started."""
        folder = self.home / "work"
        folder.mkdir(exist_ok=True)
        return folder

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        folders = {
            "HOME": self.home, "USERPROFILE": self.home, "XDG_CONFIG_HOME": self.home / ".config",
            "XDG_DATA_HOME": self.home / ".local" / "share", "XDG_CACHE_HOME": self.home / ".cache",
            "XDG_STATE_HOME": self.home / ".local" / "state", "CODEX_HOME": self.home / ".codex",
        }  # fmt: skip
        return {
            **kept,
            "PATH": self.path,
            "CI": "1",
            "NO_COLOR": "1",
            **{k: str(v) for k, v in folders.items()},
            **more,
        }

    def program(self, name: str) -> str:
        return str(self.prefix / "node_modules" / ".bin" / name)

    def ask(self, name: str, *words: str, timeout: float = 120, stdin: str = "", **more: str) -> str:
        """What a program prints, on both of its streams."""
        done = self.run([self.program(name), *words], timeout, stdin, **more)
        if done.returncode != 0:
            raise Failed(
                f"`{name} {' '.join(words[:3])}` ended with {done.returncode}: {_end(done.stderr or done.stdout)}"
            )
        return done.stdout + done.stderr

    def run(self, line: Sequence[str], timeout: float, stdin: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(line), cwd=self.work, env=self.environment(**more), input=stdin, capture_output=True, text=True,
            check=False, timeout=timeout,
        )  # fmt: skip


def _end(text: str) -> str:
    return " | ".join(text.strip().splitlines()[-3:])[:300]
