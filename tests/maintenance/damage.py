"""A book with something of everything in it, and ways to damage one file or folder of it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from commonplace import Book

PROJECT = "acme/app"
GATE, MILL = "The gate opens at nine.", "The mill grinds at ten."


def open_damaged(root: Path, **more: object) -> Book:
    return Book.open(root, project=PROJECT, **more)  # type: ignore[arg-type]


def make_book(root: Path) -> None:
    """Make a book with notes in two scopes, a folder of notes, history, trash, a tombstone and a journal."""
    with open_damaged(root) as book:
        book.store(GATE, key="gate", scope="global")
        book.store("Alice likes tea.", key="people/alice", scope="global")
        book.store("The bell was iron.", key="bell", scope="global")
        book.store("The bell is bronze.", key="bell", scope="global", mode="replace")
        book.store("The old fence.", key="fence", scope="global")
        book.forget("fence", "global")
        book.store("A secret hut.", key="hut", scope="global")
        book.forget("hut", "global", purge=True)
        book.store("Staging is on port 6000.", key="staging")
        book.record_run({"run_id": "r1", "tasks": [{"worker": "w", "status": "ok", "description": "Cut the hay"}]})


def damageable(root: Path) -> list[str]:
    """Return every file and folder of a book that damage may hit, below its root; databases are not among them."""
    found = []
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(folder, name).relative_to(root)
            if str(path).startswith(".git"):
                continue  # git's own: a book works without them
            if name.startswith(("index.db", "state.db")) or str(path) == ".commonplace" or "audit" in path.parts:
                continue
            found.append(str(path))
    return sorted(found)


def make_folder(path: Path) -> None:
    """Put a folder in the place of a file or folder."""
    _remove(path)
    path.mkdir(mode=0o700)


def make_file(path: Path) -> None:
    """Put a file in the place of a folder."""
    _remove(path)
    path.write_bytes(b"\0\xff what")
    path.chmod(0o600)


def make_link(path: Path) -> None:
    """Put a link to somewhere outside in the place of a file or folder."""
    is_folder = path.is_dir()
    _remove(path)
    outside = path.anchor + ("usr" if is_folder else "etc/hostname")
    path.symlink_to(outside)


def make_huge(path: Path) -> None:
    """Make a file large without using the disk: a gibibyte of nothing."""
    os.truncate(path, 1 << 30)


def make_binary(path: Path) -> None:
    """Put bytes that are no text into a file."""
    path.write_bytes(bytes(range(256)) * 3)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def unreadable(path: Path, number: int) -> Iterator[None]:
    """Let the system refuse a file or folder: EACCES when it is opened, EIO when it is read or listed.

    By its inode, so that neither root's rights nor a path that is opened name by name make a difference.
    """
    about = path.lstat()
    damaged = about.st_dev, about.st_ino

    def refusing(call: Callable[..., object]) -> Callable[..., object]:
        def guarded(fd: int, *rest: object, **more: object) -> object:
            if isinstance(fd, int):
                found = os.fstat(fd)
                if (found.st_dev, found.st_ino) == damaged:
                    raise OSError(errno.EIO, "Input/output error")
            return call(fd, *rest, **more)

        return guarded

    real_open, real_read, real_scan = os.open, os.read, os.scandir

    def guarded_open(*given: object, **more: object) -> int:
        fd = real_open(*given, **more)  # type: ignore[arg-type]
        found = os.fstat(fd)
        if (found.st_dev, found.st_ino) == damaged:
            os.close(fd)
            raise PermissionError(errno.EACCES, "Permission denied")
        return fd

    if number == errno.EACCES:
        with mock.patch.object(os, "open", guarded_open):
            yield
    else:
        with mock.patch.object(os, "read", refusing(real_read)), mock.patch.object(os, "scandir", refusing(real_scan)):
            yield
