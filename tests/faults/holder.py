"""Another process that writes to a book and does not get on; test_matrix.py starts it.

`locks` holds the lock of every scope, and a write transaction on both databases. `fsync` is in the middle of a store,
and waits for the disk. It says "ready" when it has got there, and ends when its standard input does.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
import threading

from commonplace import Book


def hold_locks(root: str) -> None:
    private = os.path.join(root, ".commonplace")
    held = []
    for name in os.listdir(os.path.join(private, "locks")):
        held.append(open(os.path.join(private, "locks", name), "r+b"))  # noqa: SIM115 - held until the end
        fcntl.flock(held[-1], fcntl.LOCK_EX)
    for name in ("index.db", "state.db"):
        connection = sqlite3.connect(os.path.join(private, name), isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        held.append(connection)  # type: ignore[arg-type]
    wait()


def wait_in_fsync(root: str) -> None:
    book = Book.open(root, role="person")
    os.fsync = lambda fd: wait()
    # In a thread: the store itself waits for the disk until this process ends.
    threading.Thread(target=lambda: book.store("Another one.", key="another", scope="global"), daemon=True).start()
    threading.Event().wait()


def wait() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    {"locks": hold_locks, "fsync": wait_in_fsync}[sys.argv[1]](sys.argv[2])
