"""Locks: one writer per name, across processes and threads; readers never wait.

A lock is the operating system's lock on a small file, so it ends with the process that holds it, even a killed one. The
file has one line. It says who holds the lock, for the error of a process that waited too long, and counts how often the
lock was taken: a process that finds its own count knows that no other has written since. local.py uses it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from commonplace.model.errors import CommonplaceError, LockTimeout
from commonplace.model.times import now
from commonplace.vault.disk_port import LockFile, converting_os_errors
from commonplace.vault.port import HeldLock

_LINE = 240  # bytes, always the same, so that one write replaces the whole line


class _Slot:
    """What this process holds for a name: a lock among its own threads, and the open lock file."""

    def __init__(self) -> None:
        self.threads = Lock()
        self.file: LockFile | None = None


class Locks:
    """The locks of one book. `opener` opens the file of a name, and makes it if needed."""

    def __init__(self, opener: Callable[[str], LockFile]) -> None:
        self._opener = opener
        self._slots: dict[str, _Slot] = {}
        self._pid = os.getpid()
        self._guard = Lock()

    @contextmanager
    def hold(self, name: str, timeout: float) -> Iterator[HeldLock]:
        """Hold the lock of a name while the block runs. Raises LockTimeout after `timeout` seconds of waiting."""
        deadline = time.monotonic() + timeout
        slot = self._slot(name)
        if not slot.threads.acquire(timeout=max(timeout, 0)):
            raise LockTimeout(f"Another thread of this process has held {name} for {timeout:g} s.")
        try:
            with converting_os_errors(f"locking {name}"):
                file, generation = self._acquire(slot, name, timeout, deadline)
            try:
                yield HeldLock(name, generation)
            finally:
                with converting_os_errors(f"unlocking {name}"):
                    file.release()
        finally:
            slot.threads.release()

    def close(self) -> None:
        """Close the lock files that no thread holds."""
        with self._guard:
            for slot in self._slots.values():
                if slot.file is not None and not slot.threads.locked():
                    slot.file.close()
                    slot.file = None

    def _slot(self, name: str) -> _Slot:
        with self._guard:
            if self._pid != os.getpid():
                # A forked child shares its parent's open files, and would hold the lock after the parent is killed.
                # Closing them leaves the parent's lock held; the child then opens files of its own.
                for slot in self._slots.values():
                    if slot.file is not None:
                        slot.file.close()
                self._slots = {}
                self._pid = os.getpid()
            return self._slots.setdefault(name, _Slot())

    def _acquire(self, slot: _Slot, name: str, timeout: float, deadline: float) -> tuple[LockFile, int]:
        pause = 0.0005
        while True:
            if slot.file is None:
                slot.file = self._opener(name)
            if slot.file.try_hold():
                if not slot.file.is_gone():
                    return slot.file, _sign(slot.file)
                slot.file.close()  # the lock file was removed, so this lock protects nothing
                slot.file = None
                continue
            if time.monotonic() >= deadline:
                raise _timeout(name, timeout, slot.file)
            # A random part, so that waiting processes do not retry together.
            time.sleep(pause * (0.5 + os.urandom(1)[0] / 256))
            pause = min(pause * 1.5, 0.02)


@cache
def _host() -> str:
    return (os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", ""))[:60]


def _line(generation: int) -> bytes:
    # The host's name stays inside the user's own book.
    who = f"{generation:020d} pid={os.getpid()} host={_host()} since={now()}"
    return who.encode("utf-8", "replace")[: _LINE - 1].ljust(_LINE - 1) + b"\n"


def _sign(file: LockFile) -> int:
    """Write our line into the file we now hold, and return how often it has been held."""
    try:
        generation = _generation(file.read()) + 1
        file.write(_line(generation))
    except OSError:
        file.release()
        raise
    return generation


def _generation(line: bytes) -> int:
    head = line[:20]
    return int(head) if head.isdigit() else 0


def _timeout(name: str, timeout: float, file: LockFile) -> CommonplaceError:
    try:
        holder = file.read().decode("utf-8", "replace")[21:].strip()
    except OSError:
        holder = ""
    shown = holder if holder.isprintable() and holder else "another process"
    return LockTimeout(f"{name} is being written by {shown}; waited {timeout:g} s.")
