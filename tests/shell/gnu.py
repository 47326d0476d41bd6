"""The shell beside the real tools: the same words in the same folder, and what each of the two said."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from commonplace.model.scope import LOCAL
from commonplace.shell.session import ShellSession
from commonplace.shell.view_reader import ViewReader
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, resolve

TOOLS = ("cat", "head", "tail", "wc", "ls", "grep", "find")
_number = itertools.count()


class Said(NamedTuple):
    out: bytes
    err: bytes
    status: int


@cache
def has_gnu_tools() -> bool:
    """Whether this machine has the tools that ours are held against."""
    for tool in TOOLS:
        path = shutil.which(tool)
        if path is None:
            return False
        said = subprocess.run([path, "--version"], capture_output=True, check=False).stdout
        if b"GNU" not in said:
            return False
    return True


class Bench:
    """A book on the disk, with a folder of its own for each tree."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._vault = LocalVault.at(root)
        self.folder = root

    def plant(self, tree: dict[str, bytes | None]) -> None:
        """A new folder with these files; None is a folder."""
        self.folder = self._root / "data" / f"t{next(_number)}"
        self.folder.mkdir(parents=True)
        for name, data in tree.items():
            path = self.folder / name
            (path if data is None else path.parent).mkdir(parents=True, exist_ok=True)
            if data is not None:
                path.write_bytes(data)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def ours(self, words: Sequence[str]) -> Said:
        return self.ours_of_line(" ".join(map(shlex.quote, words)))

    def ours_of_line(self, line: str) -> Said:
        cwd = resolve(f"/data/{self.folder.name}")
        session = ShellSession(lambda: ViewReader(self._vault, LOCAL, EVERYTHING), cwd)
        ran = session.run(line)
        return Said(ran.stdout, ran.stderr, ran.exit_code)

    def real(self, words: Sequence[str], locale: str = "C") -> Said:
        done = subprocess.run(
            list(words), cwd=self.folder, env={**os.environ, "LC_ALL": locale}, stdin=subprocess.DEVNULL,
            capture_output=True, check=False,
        )  # fmt: skip
        return Said(done.stdout, done.stderr, done.returncode)

    def compare(self, *words: str, ordered: bool = True, locale: str = "C") -> None:
        """The same words, the same answer; `ordered` false where the real tool prints names as they come."""
        self._compare(words, self.ours(words), self.real(words, locale), ordered=ordered)

    def compare_line(self, line: str) -> None:
        """The same line in ours and in the machine's own shell, the same answer."""
        self._compare([line], self.ours_of_line(line), self.real(["/bin/sh", "-c", line]), ordered=True)

    def _compare(self, words: Sequence[str], ours: Said, real: Said, *, ordered: bool) -> None:
        assert _lines(ours.out, ordered) == _lines(real.out, ordered), words
        assert ours.status == real.status, (words, ours.err, real.err)
        if "".join(words).isascii():  # the C locale has no name for the others; ours shows them as they are
            assert _errors(ours.err) == _errors(real.err), words


def _lines(data: bytes, ordered: bool) -> bytes | list[bytes]:
    return data if ordered else sorted(data.split(b"\n"))


def _errors(data: bytes) -> list[bytes]:
    """What was said, without the pointers to help, which differ by design."""
    lines = data.split(b"\n")
    return sorted(line for line in lines if not line.startswith((b"Try '", b"Usage: ")) and b": warning: " not in line)
