"""The vectors of an open book, and the thread that goes on embedding while no call is running.

`BookContext` has one `BookEmbedding` for each open book, which its roles share; `Verb` tells it when a call begins and
ends. A recall spends a second on entries without a vector. Where more are left, as after a change of embedder, a
process that lives on embeds them in a daemon thread: batches of about 50 ms, each stored at once, and none while a call
runs or has just ended, so that a call waits for one batch at most. It holds no lock of the index or of a scope while it
computes. Of several threads and processes with the same book, one does the work.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError, LockTimeout
from commonplace.model.lazy import Log

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex
    from commonplace.tree.store import TreeStore

log = Log("commonplace.book")
_LOCK = "embedding"
_QUIET_SECONDS = 0.2  # since the last call: where calls follow each other closely, none has to share the processor
_PAUSE_SECONDS = 0.005  # between batches


class BookEmbedding:
    """The semantic index of an open book, once it is needed, and the thread beside the calls."""

    def __init__(self, memories: MemoryStore, *, goes_on: bool) -> None:
        self.semantic: SemanticIndex | None = None
        self._memories, self._goes_on = memories, goes_on
        self._calls: list[None] = []  # one for each that runs: `append` and `pop` need no lock, which a fork may break
        self._last_call = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin_call(self) -> None:
        """Keep the thread from its next batch until the call ends."""
        self._calls.append(None)

    def end_call(self) -> None:
        """Let the thread go on, and start it if entries wait for their vectors."""
        self._calls.pop()
        self._last_call = time.monotonic()
        if self._goes_on and self.semantic is not None and self.semantic.waiting and not self._is_running():
            self._stop = threading.Event()
            arguments = (self.semantic, self._stop)
            self._thread = threading.Thread(target=self._run, args=arguments, name="commonplace-embed", daemon=True)
            self._thread.start()

    def embed_all(self, semantic: SemanticIndex) -> int:
        """Embed every entry that has no vector yet, with progress, and return how many these were."""
        memories = self._memories
        with ExitStack() as stack:
            with suppress(CommonplaceError):  # without the lock another process may do the same: slower, and no harm
                stack.enter_context(memories.vault.lock(memories.space, _LOCK, memories.lock_timeout))
            return semantic.embed_pending(progress=memories.progress, must_store=True)

    def join(self) -> None:
        """Wait until the thread has nothing left to do."""
        if self._thread is not None and self._is_running():
            self._thread.join()

    def close(self) -> None:
        """Stop the thread, which finishes its batch."""
        self._goes_on = False
        if self._is_running():
            self._stop.set()
            self.join()

    def _is_running(self) -> bool:
        """Return whether there is a thread. A forked child has none of its parent's."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self, semantic: SemanticIndex, stop: threading.Event) -> None:
        memories, pause = self._memories, 0.0
        try:
            while not stop.wait(pause):
                is_busy = self._calls or time.monotonic() - self._last_call < _QUIET_SECONDS
                pause = _QUIET_SECONDS if is_busy else _PAUSE_SECONDS
                if not is_busy:
                    with memories.vault.lock(memories.space, _LOCK, 0):
                        if not semantic.embed_some():
                            return
        except LockTimeout:
            log.debug("event=embedded_elsewhere")
        except Exception as error:  # noqa: BLE001 - no caller waits, and the next recall goes on and says what is wrong
            log.warning("event=embedding_stopped error=%s", type(error).__name__)


class SharedParts:
    """What all callers of one open book share, and a verb opens when it first needs it."""

    def __init__(self) -> None:
        self.tree: TreeStore | None = None
        self.tree_semantic: SemanticIndex | None = None

    def close(self) -> None:
        """Close what is open."""
        if self.tree is not None:
            self.tree.close()
