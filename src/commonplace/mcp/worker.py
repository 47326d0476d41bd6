"""One thread for the book: the event loop stays free to answer a ping, and a book is never in two hands at once.

Jobs are done one after the other, in the order in which they came. A job whose caller has given up before its turn is
left out; one that has begun is finished, because it may be a write.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="commonplace-mcp-book", daemon=True)
        self._thread.start()

    async def do(self, job: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            if future.cancelled():
                return
            result: T | None = None
            failure: Exception | None = None
            try:
                result = job()
            except Exception as error:  # noqa: BLE001 - whoever waits for it gets it
                failure = error
            with suppress(RuntimeError):  # the loop has ended: nobody waits
                loop.call_soon_threadsafe(_settle, future, result, failure)

        self._jobs.put(run)
        return await future

    def later(self, job: Callable[[], None]) -> None:
        """Something for which nobody waits, after what is under way."""
        self._jobs.put(job)

    def close(self, last: Callable[[], None], patience: float) -> None:
        """Do one last thing after what is under way, if that is done in time."""
        self._jobs.put(last)
        self._jobs.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _settle(future: asyncio.Future[Any], result: object, failure: Exception | None) -> None:
    if future.cancelled():
        return
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(result)
