"""A process that reads a book while something is wrong, and prints what each command said; test_matrix.py starts it.

It first runs every command on a copy of the book without the fault: that is what must be said, and loads all modules.
Then the fault is set up, and every command is run on the book. A wait for a lock would last an hour, so the test ends
this process and fails.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import io
import json
import os
import sqlite3
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import commonplace.index.sqlite.database as index_database
import commonplace.state.database as state_database
from commonplace.cli.main import main
from commonplace.vault.disk import PosixFolder
from commonplace.vault.port import Stat
from tests.hooks.hooking import tell

COMMANDS = {
    "recall": ("recall", "which port does staging use", "--json"),
    "recall by words": ("recall", "zebra", "--mode", "lexical", "--json"),
    "show": ("show", "staging", "--json"),
    "list": ("list", "--json"),
    "timeline": ("timeline", "--json"),
    "brief": ("brief", "--json", "--prompt", "Which port does staging use?"),
    "status": ("status", "--json"),
    "verify": ("doctor", "verify", "--json"),
    "doctor": ("doctor", "--json"),
}
HOOKS: dict[str, dict[str, object]] = {
    "session-start": {"session_id": "s1", "source": "startup"},
    "prompt": {"session_id": "s2", "prompt": "Which port does the staging database use?"},
}
BROKEN_NOTE = "broken.md"


def run(*words: str) -> dict[str, Any]:
    """Run a command in this process; return its status, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.multiple(sys, stdin=io.StringIO(), stdout=out, stderr=err):
        status = main(words)
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


def read_all(root: str) -> dict[str, Any]:
    """Return what every hook and every command says about a book. Hooks come first: they bring nothing up to date."""
    os.environ["COMMONPLACE_ROOT"] = root
    said: dict[str, Any] = {}
    for event, given in HOOKS.items():
        text = tell(Path(root), event, "claude-code", {**given, "cwd": "/"})
        said[event] = {"status": 0, "out": text, "err": ""}
    for name, words in COMMANDS.items():
        gc.collect()  # each command is a process of its own: none leaves files open for the next
        said[name] = run(*words)
    return said


# The faults


def no_fault(_: str) -> None:
    """What another process does is set up by the test."""


def no_growth(_: str) -> None:
    """No file can get a byte more, as on a full disk. The system says EFBIG."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def no_room(_: str) -> None:
    """The system says that the disk is full, and makes no file."""
    real, real_open = os.statvfs, os.open

    def full(path: str) -> object:
        found = real(path)
        names = [name for name in dir(found) if name.startswith("f_")]
        return mock.Mock(**{**{name: getattr(found, name) for name in names}, "f_bavail": 0})

    def refuse(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "full")
        return real_open(path, flags, *rest, **more)

    os.statvfs = full  # type: ignore[assignment]
    os.open = refuse


def read_only(root: str) -> None:
    """Nobody may write into the book; root gives up the right to do so all the same."""
    for folder, _, names in os.walk(root):
        for name in names:
            os.chmod(os.path.join(folder, name), 0o400)
        os.chmod(folder, 0o500)
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        header, data = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
        libc.capget(header, data)
        effective, permitted, *others = struct.unpack("6I", data.raw)
        less = ~0b1110  # without the three capabilities that override the mode of a file
        if libc.capset(header, struct.pack("6I", effective & less, permitted & less, *others)) != 0:
            raise OSError(ctypes.get_errno(), "capset")


def index_error(_: str, file: str = "index.db") -> None:
    """Every read and write of the index file fails with EIO."""
    real = sqlite3.connect

    class Broken(sqlite3.Connection):
        def execute(self, *_: Any) -> Any:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error

    def connect(place: str, *rest: Any, **more: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = real(place, *rest, **({**more, "factory": Broken} if file in place else more))
        return made

    sqlite3.connect = connect  # type: ignore[assignment]


def state_error(root: str) -> None:
    """Every read and write of the state file fails with EIO."""
    index_error(root, "state.db")


def note_error(_: str) -> None:
    """The disk does not give the bytes of one note."""
    real = PosixFolder.read

    def read(folder: PosixFolder, name: str, limit: int | None = None) -> tuple[bytes, Stat]:
        if name == BROKEN_NOTE:
            raise OSError(errno.EIO, "broken")
        return real(folder, name, limit)

    PosixFolder.read = read  # type: ignore[method-assign,assignment]


def few_handles(_: str, spare: int = 8) -> None:
    """Only a few more files can be open at the same time: fewer than the book wants beside two databases."""
    import resource

    opened = len(os.listdir("/dev/fd")) - 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + spare, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def no_handles(root: str) -> None:
    """No more files can be opened at all."""
    few_handles(root, spare=0)


FAULTS: dict[str, Callable[[str], None]] = {
    "none": no_fault,
    "no growth": no_growth,
    "no room": no_room,
    "read-only": read_only,
    "index error": index_error,
    "state error": state_error,
    "note error": note_error,
    "few handles": few_handles,
    "no handles": no_handles,
}


if __name__ == "__main__":
    copy, book, fault = sys.argv[1:]
    index_database._BUSY_SECONDS = state_database.WAIT = 3600.0
    os.environ["COMMONPLACE_LOCK_TIMEOUT"] = "3600"
    expected = read_all(copy)
    FAULTS[fault](book)
    sys.stdout.write(json.dumps([expected, read_all(book)]))
    sys.stdout.flush()
    os._exit(0)
