"""Ways to break a book for tests of doctor and scan, and to read what they report."""

from __future__ import annotations

import errno
import os
import stat as st
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.results import Finding
from tests.book.opened import DATABASES, open_book


def found(book: Book, code: str) -> list[Finding]:
    return [finding for finding in book.doctor() if finding.code == code]


def places(book: Book, code: str) -> list[str]:
    return [finding.path for finding in found(book, code)]


def examined(root: Path) -> list[Finding]:
    """What doctor says of a book that is opened for it, as the command does."""
    with open_book(root) as book:
        return list(book.doctor())


def codes(root: Path) -> set[str]:
    return {finding.code for finding in examined(root)}


def note(root: Path, name: str, text: str | bytes) -> Path:
    """A file below memories/, as a person or another program would put it there."""
    path = root / "memories" / name
    for folder in reversed([*path.relative_to(root).parents][:-1]):
        (root / folder).mkdir(exist_ok=True, mode=0o700)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    return path


def whole(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below a root: mode, time of change and bytes (a link's target); the databases aside."""
    seen: dict[str, tuple[int, int, bytes]] = {}
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(folder, name)
            if name.startswith(DATABASES):
                continue
            about = path.lstat()
            data = path.read_bytes() if st.S_ISREG(about.st_mode) else b""
            target = os.readlink(path).encode() if path.is_symlink() else b""
            # Where databases are made and removed, the folder's own time moves.
            moved = 0 if name == ".commonplace" else about.st_mtime_ns
            seen[str(path.relative_to(root))] = (about.st_mode, moved, data + target)
    return seen


def refuse(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """From now on the system does not let us open this name (tests may run as root, whom modes do not stop)."""
    real = os.open

    def guarded(path: object, flags: int, *rest: object, **more: object) -> int:
        if os.path.basename(str(path)) == name:
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return real(path, flags, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", guarded)


def flip(path: Path, at: int) -> None:
    """Another bit in one byte, as a bad disk does it: size, time and inode stay."""
    about = path.stat()
    with path.open("r+b") as file:
        file.seek(at)
        old = file.read(1)[0]
        file.seek(at)
        file.write(bytes([old ^ 0x01]))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
