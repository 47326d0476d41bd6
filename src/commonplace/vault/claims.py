"""Claims: what excludes other machines where the operating system's locks do not.

A claim is the file `NAME.holder` beside the lock file of a name. Creating it fails if it is there (O_EXCL), on every
file system, so one machine at a time has it. It is removed when the lock is given back. local.py makes one where the
book is on a file system of the network, or on one that turned out not to lock; elsewhere there are none.

A machine that died leaves its claim behind. It is taken over after a minute, by the file system's own clock, since
those of two machines may differ. A write that takes longer renews its claim before anything of it is visible, and is
refused if another machine has taken it over by then. A claim of this machine, by a process that no longer has the
system's lock, is taken over at once.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from commonplace.vault.commit import temp_name
from commonplace.vault.disk_port import DiskFolder
from commonplace.vault.paths import HOLDER_SUFFIX

STALE_NS = 60_000_000_000  # the age at which a claim is taken over
_RENEW_AFTER = 10.0  # seconds: most writes take much less
OpenFolder = Callable[[], AbstractContextManager[DiskFolder]]


class Claim:
    """The claim of one process on one name."""

    def __init__(self, open_folder: OpenFolder, name: str, who: str, machine: str | None) -> None:
        """`who` says which process of which machine this is; `machine` is the part that names the machine, if this
        process has a lock that excludes all others of the machine."""
        self._open_folder, self._file = open_folder, f"{name}{HOLDER_SUFFIX}"
        self._line = f"{who} {os.urandom(8).hex()}\n".encode("utf-8", "replace")
        self._machine = f" {machine} ".encode("utf-8", "replace") if machine else None
        self._renewed = time.monotonic()

    def take(self) -> bytes | None:
        """Make the claim and return None; or return what its present holder says of itself."""
        with self._open_folder() as folder:
            with contextlib.suppress(FileExistsError):
                _create(folder, self._file, self._line)
                return None
            try:
                held, stat = folder.read(self._file)
            except FileNotFoundError:
                return b""  # given back just now
            is_dead = self._machine is not None and self._machine in held
            if is_dead or _file_system_time(folder) - stat.mtime_ns > STALE_NS:
                self._take_away(folder, held)
                with contextlib.suppress(FileExistsError):
                    _create(folder, self._file, self._line)
                    return None
            return held

    def confirm(self) -> bytes | None:
        """Return None if the claim stands, and renew it if it is old; or return who has taken it over."""
        with self._open_folder() as folder:
            held = self._read(folder)
            if held != self._line:
                return held
            if time.monotonic() - self._renewed > _RENEW_AFTER:
                folder.overwrite(self._file, [(0, self._line)])
                self._renewed = time.monotonic()
            return None

    def give_back(self) -> None:
        """Remove the claim, if it is still this one. One that cannot be removed is taken over after a minute."""
        with contextlib.suppress(OSError), self._open_folder() as folder:
            if self._read(folder) == self._line:
                folder.remove(self._file)

    def _read(self, folder: DiskFolder) -> bytes:
        try:
            return folder.read(self._file)[0]
        except FileNotFoundError:
            return b""

    def _take_away(self, folder: DiskFolder, held: bytes) -> None:
        """Remove a claim whose holder is gone. Another process may be doing the same, and have made its own by now."""
        aside = temp_name()
        with contextlib.suppress(FileNotFoundError):
            folder.rename(self._file, folder, aside)
            if folder.read(aside)[0] == held:
                folder.remove(aside)
            else:
                folder.rename(aside, folder, self._file)


def _create(folder: DiskFolder, name: str, line: bytes) -> int:
    """Create a file and return its time, by the clock of the file system. Raises FileExistsError."""
    file = folder.create(name)
    try:
        file.write(line)
        return file.stat().mtime_ns
    finally:
        file.close()


def _file_system_time(folder: DiskFolder) -> int:
    """Return what time it is for this file system, by the time of a new file."""
    name = temp_name()
    now = _create(folder, name, b"now")
    folder.remove(name)
    return now
