"""A process that forks while one of its threads stores: the child reads and stores by itself, and never hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# The thread is stopped where it holds the lock in question; then the process forks, and the child uses the book.
PROGRAM = """
import os, sys, threading
from commonplace import Book
from commonplace.model import names

root, where = sys.argv[1:]
book = Book.open(root, role="person", project="app")
book.store("The zebra is striped.", key="zebra", scope="global")
held, never = threading.Event(), threading.Event()
context, vault = book.context, book.context.memories.vault

def stop(*_):
    held.set()
    never.wait()

def hold():
    locks = {
        "disk": (vault._disk._guard,), "locks": (vault._locks._guard,), "audit": (context._audit_log._lock,),
        "uses": (context.state._uses.writing, context.state._uses._lock), "ids": (names._lock,),
    }
    for lock in locks[where]:
        lock.acquire()
    stop()

def store():
    vault.apply = stop
    book.store("Another.", key="another", scope="global")

threading.Thread(target=store if where == "index" else hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    vars(vault).pop("apply", None)
    print(*[hit.key for hit in book.recall("zebra").hits])
    try:
        print(book.store("From the child.", key="child", scope="project").action)
    except Exception as error:
        print(getattr(error, "code", repr(error)))
    book.close()
    sys.stdout.flush()
    os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("where", ["index", "disk", "locks", "uses", "audit", "ids"])
def test_a_child_has_its_own_locks(tmp_path: Path, where: str) -> None:
    """Whichever lock a thread of the parent holds at the fork, the child recalls and stores; while the parent's store
    holds the index, the child's own is refused in our words."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "book"), where]
    environment = {**os.environ, "COMMONPLACE_LOCK_TIMEOUT": "0"}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    recalled, stored = done.stdout.splitlines()
    assert (done.returncode, recalled) == (0, "zebra"), done.stderr
    assert stored == "created" or (where, stored) == ("index", "lock_timeout"), done.stderr
