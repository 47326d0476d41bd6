"""A second pair of hands: the disk is waited for while the caller computes.

Syncing takes about as long as all the rest of a store, and Python waits for it without holding anything that others
need. So one thread of a book does the syncing, and whoever stores goes on with what does not depend on it. Nothing is
published before what it needs is synced, and nothing acknowledged before all of it is.
"""

from __future__ import annotations

import os
from _queue import SimpleQueue
from collections.abc import Callable
from threading import Lock
from typing import Protocol


class StartedJob(Protocol):
    """Something that was begun. Whoever began it waits for it."""

    def wait(self) -> None:
        """Returns when it is done; raises what it raised."""


Begin = Callable[[Callable[[], None]], StartedJob]


class _FinishedJob:
    def wait(self) -> None:
        pass


def nothing() -> None:
    """For who waits and has nothing else to do."""


def at_once(action: Callable[[], None]) -> StartedJob:
    """For who has nothing else to do: the way there and back would cost more than it saves."""
    action()
    return _FinishedJob()


class SyncJob:
    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._error: BaseException | None = None
        self._done = Lock()
        self._done.acquire()

    def run(self) -> None:
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        finally:
            self._done.release()

    def wait(self) -> None:
        with self._done:
            error, self._error = self._error, None
        if error is not None:
            raise error


class SyncThread:
    """One thread, begun when it is first needed; what it is given is done in that order."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[SyncJob | None] = SimpleQueue()
        self._pid = 0
        self._guard = Lock()

    def begin(self, action: Callable[[], None]) -> SyncJob:
        job = SyncJob(action)
        with self._guard:
            if self._pid != os.getpid():  # the first, or a forked child, which has none of its parent's threads
                from threading import Thread  # noqa: PLC0415 - whoever only reads does without

                jobs = SimpleQueue[SyncJob | None]()
                try:
                    Thread(target=_work, args=(jobs,), name="commonplace-disk", daemon=True).start()
                except RuntimeError:  # no more threads here, or the interpreter is about to end
                    job.run()
                    return job
                self._jobs, self._pid = jobs, os.getpid()
            self._jobs.put(job)
        return job

    def close(self) -> None:
        with self._guard:
            if self._pid == os.getpid():
                self._jobs.put(None)
            self._pid = 0

    def __del__(self) -> None:
        self._jobs.put(None)  # of a book that nobody closed: its thread ends


def _work(jobs: SimpleQueue[SyncJob | None]) -> None:
    while (job := jobs.get()) is not None:
        job.run()
        del job  # or it would be kept, with all it holds, until the next one comes
