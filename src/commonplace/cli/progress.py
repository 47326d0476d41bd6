"""A line on the terminal that says how far long work is. Nothing is shown of work that is soon done, or to a pipe."""

from __future__ import annotations

import time
from typing import TextIO

_PATIENCE = 0.5  # seconds until anything is shown
_EVERY = 0.1
_CELLS = 24


class ProgressBar:
    """Told of progress, it draws itself over itself; `close` takes it off the screen."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + _PATIENCE
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next, self._drawn = now + _EVERY, True
        full = _CELLS * done // max(total, done, 1)
        bar = "#" * full + "." * (_CELLS - full)
        self._stream.write(f"\r\x1b[K  [{bar}] {done:,} of {total:,} notes")
        self._stream.flush()

    def close(self) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False
