"""Seeing what others change while a process lives long: an MCP server, a web server.

While questions come in, a thread looks at the files every 0.7 seconds, so that an edit is seen within a second. After a
minute without a question it rests, so that an idle server costs nothing; the next question then looks first itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import Log

log = Log("commonplace.memories")
EVERY = 0.7  # seconds between two looks
REST = 60.0  # seconds without a question until it rests


class Watch:
    """A thread that calls `look` while questions come in, and rests when none has come for a while."""

    def __init__(
        self,
        look: Callable[[], None],
        *,
        every: float = EVERY,
        rest: float = REST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._every, self._rest, self._clock = every, rest, clock
        self._asked = clock()
        self._change = threading.Condition()
        self._resting = self._closed = False
        self._thread = threading.Thread(target=self._run, name="commonplace-watch", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Report a question; return when the changes up to a moment ago are known."""
        with self._change:
            self._asked = self._clock()
            rested, self._resting = self._resting, False
            if rested:
                self._change.notify_all()
        if rested:
            self._look_once()

    def close(self) -> None:
        """Stop the thread and wait until it has ended."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while self._wait():
            self._look_once()

    def _wait(self) -> bool:
        """Wait until the next look is due; return False when the watch was closed."""
        with self._change:
            self._change.wait_for(lambda: self._closed, self._every)
            if self._clock() - self._asked > self._rest:
                self._resting = True
                self._change.notify_all()
                self._change.wait_for(lambda: self._closed or not self._resting)
            return not self._closed

    def _look_once(self) -> None:
        try:
            self._look()
        except CommonplaceError as error:  # the next question meets it, and says so
            log.warning("event=look_failed code=%s", error.code)
