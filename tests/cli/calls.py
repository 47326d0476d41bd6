"""Calls of the command line, as tests make them: inside this process, or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

from commonplace.cli.main import main

COMMAND = (sys.executable, "-m", "commonplace")


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def answer(self) -> Any:
        """The one JSON object on standard output."""
        assert self.out.endswith("\n") and self.out.count("\n") == 1, self
        return json.loads(self.out)

    def error(self) -> dict[str, str]:
        """The one error object on standard error."""
        assert self.err.count("\n") == 1, self
        said = json.loads(self.err)
        assert list(said) == ["error"] and list(said["error"]) == ["code", "message", "hint"]
        return dict(said["error"])


def run(*words: str, stdin: bytes = b"", encoding: str = "utf-8") -> Outcome:
    """A call inside this process: no terminal, streams of its own."""
    data = [io.BytesIO(stdin), io.BytesIO(), io.BytesIO()]
    given, out, err = (io.TextIOWrapper(item, encoding=encoding) for item in data)
    with mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err):
        status = main(words)
    for stream in (out, err):
        stream.flush()
    return Outcome(status, data[1].getvalue().decode(encoding), data[2].getvalue().decode(encoding))


def process(*words: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> Outcome:
    """A call in a process of its own, piped."""
    done = subprocess.run(
        [*COMMAND, *words], input=stdin, capture_output=True, env={**os.environ, **(environment or {})}, check=False
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def fine(*words: str, stdin: bytes = b"") -> Any:
    """What a call that must work answers."""
    outcome = run(*words, "--json", stdin=stdin)
    assert (outcome.status, outcome.err) == (0, ""), outcome
    return outcome.answer()


def status(host: str) -> dict[str, Any]:
    """What `connect --list` says about an agent program."""
    found: dict[str, Any] = next(item for item in fine("connect", "--list")["hosts"] if item["host"] == host)
    return found
