"""A small ext4 of our own, in a file on a loop device: to cut its power, to fill it, to make it read-only.

Needs root on Linux. Whatever is set up here is taken down again, however the test ends: each undoing is registered
before the thing is done. `Unavailable` says in words why a machine cannot do it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from commonplace.vault.disk import PosixDisk

MS_RDONLY, MS_REMOUNT, MNT_DETACH = 1, 32, 2
FS_IOC_SHUTDOWN = 0x8004587D  # _IOR('X', 125, __u32)
NO_LOG_FLUSH = 2  # nothing in memory reaches the medium any more, the journal's open transaction included


class Unavailable(Exception):
    """This machine cannot mount an ext4 for us."""


class Ext4:
    """A file system on a loop device, mounted at `place` or not."""

    def __init__(self, device: str, place: str) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._device = device
        self.place = place

    def mount(self, flags: int = 0) -> None:
        self._call("mount", self._device.encode(), self.place.encode(), b"ext4", ctypes.c_ulong(flags), None)

    def remount(self, *, read_only: bool) -> None:
        self.mount(MS_REMOUNT | (MS_RDONLY if read_only else 0))

    def unmount(self, flags: int = 0) -> None:
        self._call("umount2", self.place.encode(), flags)

    def sync(self) -> None:
        """Everything so far is on the medium: what a test starts from."""
        fd = os.open(self.place, os.O_RDONLY)
        try:
            self._call("syncfs", fd)
        finally:
            os.close(fd)

    def cut_power(self) -> None:
        import fcntl

        fd = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(fd)

    def report_error(self) -> None:
        """The kernel finds something wrong with the file system, as after a bad block."""
        with open(f"/sys/fs/ext4/{os.path.basename(self._device)}/trigger_fs_error", "w") as file:
            file.write("1")

    def boot(self) -> None:
        """After a cut: mounted again, with the journal replayed."""
        self.unmount()
        self.mount()

    def take_down(self) -> None:
        while os.path.ismount(self.place):
            try:
                self.unmount()
            except OSError:
                self.unmount(MNT_DETACH)

    def _call(self, name: str, *arguments: object) -> None:
        if getattr(self._libc, name)(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")


@contextmanager
def small_ext4(mib: int, *options: str) -> Iterator[Ext4]:
    """A new file system, mounted; `options` are those of mkfs.ext4."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        raise Unavailable("needs root on Linux")
    missing = [tool for tool in ("losetup", "mkfs.ext4") if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"needs {' and '.join(missing)}")
    with ExitStack() as stack:
        stack.enter_context(_ended_in_order())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="commonplace-ext4-"))
        image, place = f"{folder}/image", f"{folder}/mount"
        os.mkdir(place)
        try:
            with open(image, "wb") as file:
                file.truncate(mib << 20)
            _run("mkfs.ext4", "-q", "-F", *options, image)
            stack.callback(_detach, image)
            system = Ext4(_run("losetup", "--find", "--show", image), place)
            stack.callback(system.take_down)
            system.mount()
        except OSError as error:
            raise Unavailable(f"no ext4 on a loop device here: {error}") from error
        yield system


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM, as a CI's time limit sends it, unwinds like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _detach(image: str) -> None:
    for line in _run("losetup", "--associated", image).splitlines():
        with contextlib.suppress(OSError):
            _run("losetup", "--detach", line.split(":")[0])


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command[:2])}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def _raise(error: OSError) -> None:
    raise error


class RealBook(PosixDisk):
    """A book on a real file system, with what tests.crash.check asks of a disk."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.path = root

    def copy(self) -> RealBook:
        return self  # its readers change nothing; what mends it comes last

    def files(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for folder, _, names in os.walk(self.path, onerror=_raise):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[path.removeprefix(self.path)] = file.read()
        return found

    def replace_by(self, files: dict[str, bytes]) -> None:
        """These files and no others; not synced."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.mkdir(self.path, 0o700)
        for path, data in files.items():
            os.makedirs(os.path.dirname(self.path + path), 0o700, exist_ok=True)
            with open(self.path + path, "xb") as file:
                file.write(data)
