"""The process that works on a book while its power is cut, and says what it does over a pipe.

Its words: ("begins", the model after the operation) before the first write, ("done", None) when it is acknowledged, and
("wrong", why) for an error that is not the disk's, or a file that stayed open. It ends when the disk is gone.
"""

from __future__ import annotations

import logging
import os
import random
import warnings
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError, StorageError
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import converting_os_errors
from commonplace.vault.local import LocalVault
from tests.crash.mounts import RealBook
from tests.crash.ops import KINDS, Model, Op, filler, open_keep, run

KEYS = ("release-rule", "review-rule", "people/alice", "people/bob/phone")
PHRASES = (  # what happens to one key, one after the other; what has no object is refused, and that is part of it
    ("store",),
    ("store", "store"),
    ("rewrite",),
    ("store", "rewrite", "undo"),
    ("store", "forget", "restore"),
    ("forget", "store"),
    ("rewrite", "forget"),
    ("restore",),
    ("purge",),
)


def start_writer(book: RealBook, vault: type[LocalVault], plan: list[Op], model: Model) -> tuple[Connection, int]:
    """The end of the pipe to listen at, and the number of the process, which the caller waits for."""
    reading, writing = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons: of forking beside other threads
        child = os.fork()
    if child == 0:
        status = 1
        try:
            reading.close()
            logging.disable()  # a parent page that lags says so, and here every last one does
            _write(book, vault, plan, model, writing)
            status = 0
        finally:
            os._exit(status)
    writing.close()
    return reading, child


def make_plan(rng: random.Random, model: Model, length: int, *, bulk: bool) -> list[Op]:
    numbers = iter(range(len(model.notes), 800))
    if bulk:
        return [filler(next(numbers)) for _ in range(length)]
    keys = (*KEYS, *rng.sample(sorted(model.notes), min(2, len(model.notes))))
    plan: list[Op] = []
    while len(plan) < length:
        if rng.random() < 0.25:
            plan.append(filler(next(numbers)))
        else:
            key = rng.choice(keys)
            plan += [KINDS[kind](key) for kind in rng.choice(PHRASES)]
    return plan


def _write(book: RealBook, vault: type[LocalVault], plan: list[Op], model: Model, pipe: Connection) -> None:
    """The writer's process: work until the disk says that it is gone."""
    keep = open_keep(book, vault)
    try:
        with converting_os_errors("making the book"):
            open_disk(book.path, make=True)
        for op in plan:
            model = run(keep, _announced(op, pipe), model)
            pipe.send(("done", None))
    except StorageError:
        pass  # the cut
    except CommonplaceError as error:
        pipe.send(("wrong", f"the cut was reported as {error.code}: {error.message}"))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        pipe.send(("wrong", f"{type(error).__name__} left the keep: {error}"))
    if isinstance(keep.vault, LocalVault):
        keep.vault.close()
    open_files = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)]
    if any(path.startswith(book.path) for path in open_files):
        pipe.send(("wrong", f"files left open after the cut: {open_files}"))


def _is_open(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def _announced(op: Op, pipe: Connection) -> Op:
    """The same operation; what it leads to is told before its first write."""

    def told(unit: Unit, model: Model) -> Model:
        after = op(unit, model)
        pipe.send(("begins", after))
        return after

    return told
