"""A command at a terminal of its own: what it shows is read, and a person's answers are typed."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from unittest import mock

import pytest

from commonplace.cli.main import main
from tests.cli.calls import COMMAND

if sys.platform == "win32":
    pytest.skip("a pseudo-terminal is POSIX's", allow_module_level=True)

import fcntl
import pty
import termios

PATIENCE = 60.0  # seconds without a word: it hangs
COLOUR = re.compile(r"\x1b\[(?:0|1|2|31|32|33|36)m")  # all that we use


def _own_the_terminal() -> None:
    """So that Ctrl-C reaches it, also where whoever runs the tests, in the background, has none."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """`commonplace ...` at a terminal that is so many columns wide."""

    def __init__(
        self, *words: str, columns: int = 80, environment: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self._process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_own_the_terminal,
        )
        os.close(slave)
        self._seen = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    def expect(self, text: str) -> None:
        """Read on until this is shown."""
        start = len(self._seen)
        while text.encode() not in self._seen[start:]:
            if not self._read():
                raise AssertionError(f"{text!r} was never shown: {self._seen[start:].decode()}")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> tuple[int, str]:
        """The exit status, and all that was shown."""
        while self._read():
            pass
        return self._process.wait(PATIENCE), self._seen.decode().replace("\r\n", "\n")

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        if not ready:
            raise AssertionError(f"it hangs after: {self._seen.decode()}")
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # how Linux says that nobody holds the other end any more
            return False
        self._seen += data
        return bool(data)


def shown_at(*words: str, columns: int = 80, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """What a command that asks nothing shows at a terminal: run inside this process, to save its start."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    shown: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(master, shown))
    reader.start()
    with contextlib.ExitStack() as stack:
        given, out, err = (
            stack.enter_context(open(slave, mode, encoding="utf-8", closefd=False)) for mode in ("r", "w", "w")
        )
        stack.enter_context(mock.patch.dict(os.environ, {"TERM": "xterm-256color", **(environment or {})}))
        stack.enter_context(mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err))
        status = main(words)
    os.close(slave)
    reader.join()
    os.close(master)
    return status, b"".join(shown).decode().replace("\r\n", "\n")


def _drain(master: int, shown: list[bytes]) -> None:
    with contextlib.suppress(OSError):  # how Linux says that nobody holds the other end any more
        while data := os.read(master, 1 << 16):
            shown.append(data)


def without_colour(text: str) -> str:
    return COLOUR.sub("", text)
