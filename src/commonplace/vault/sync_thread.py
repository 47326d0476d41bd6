"""The thread that waits for the disk while the caller computes.

Syncing takes about as long as all the rest of a store, and Python waits for it without holding the interpreter. So one
thread of a book does the syncing, while the caller goes on with what does not depend on it. commit.py publishes nothing
before what it needs is synced, and acknowledges nothing before all of it is.
"""

from __future__ import annotations

import os
from _queue import SimpleQueue  # `queue` would load more, and every hook loads this module
from collections.abc import Callable
from threading import Lock, Thread
from typing import Protocol


class DiskJob(Protocol):
    """An action that was started, and that its starter waits for."""

    def wait(self) -> None:
        """Return when the action is done; raises what the action raised."""


StartJob = Callable[[Callable[[], None]], DiskJob]


class _FinishedJob:
    def wait(self) -> None:
        pass


def do_nothing() -> None:
    """Do nothing: for a caller with no work of its own while the disk is busy."""


def run_at_once(action: Callable[[], None]) -> DiskJob:
    """Run an action before returning: for a caller with no other work, whom a second thread would only slow down."""
    action()
    return _FinishedJob()


class SyncJob:
    """An action that the sync thread runs."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._error: BaseException | None = None
        self._done = Lock()
        self._done.acquire()

    def run(self) -> None:
        """Run the action and keep what it raises for `wait`."""
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001 - raised again by `wait`
            self._error = error
        finally:
            self._done.release()

    def wait(self) -> None:
        """Return when the action is done; raises what the action raised."""
        with self._done:
            error, self._error = self._error, None
        if error is not None:
            raise error


class SyncThread:
    """One thread, started with its first job; it runs jobs in the order they came."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[SyncJob | None] = SimpleQueue()
        self._pid = 0
        self._guard = Lock()

    def start_job(self, action: Callable[[], None]) -> SyncJob:
        """Queue an action and return its job. Runs it at once where no thread can be started."""
        job = SyncJob(action)
        with self._guard:
            if self._pid != os.getpid():  # the first job, or a forked child, which has no thread of its parent
                jobs = SimpleQueue[SyncJob | None]()
                try:
                    Thread(target=_run_jobs, args=(jobs,), name="commonplace-disk", daemon=True).start()
                except RuntimeError:  # too many threads, or the interpreter is shutting down
                    job.run()
                    return job
                self._jobs, self._pid = jobs, os.getpid()
            self._jobs.put(job)
        return job

    def close(self) -> None:
        """End the thread after the jobs it has; a later job starts a new one."""
        with self._guard:
            if self._pid == os.getpid():
                self._jobs.put(None)
            self._pid = 0

    def __del__(self) -> None:
        self._jobs.put(None)  # for a book that was never closed: its thread must end


def _run_jobs(jobs: SimpleQueue[SyncJob | None]) -> None:
    while (job := jobs.get()) is not None:
        job.run()
        del job  # or the job, and all it holds, would stay alive until the next one comes
