"""The vault on a disk of this machine, and its locks: what verbs, hooks and tests open as a book's files.

It checks the space and the view of each call, reads through the disk port, and hands every change to commit.py, which
has the order of steps that makes it durable.

There is one writer per lock name, across processes and threads; readers never wait. A lock is the operating system's
lock on a small file, so it ends with the process that holds it, even a killed one. The file has one line. It says who
holds the lock, for the error of a process that waited too long, and counts how often the lock was taken: a process that
finds its own count knows that no other has written since.

Some file systems grant a lock to everyone who asks. The first lock of a process is asked for twice to find that out.
There, and on file systems of the network, claims.py excludes other machines.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from threading import Lock, get_ident
from typing import TYPE_CHECKING

from commonplace.model.errors import (
    SYSTEM_ERRORS,
    CommonplaceError,
    InvalidPath,
    LinkRefused,
    LockTimeout,
    LockUnsupported,
    NotFound,
    OutsideView,
)
from commonplace.model.scope import LOCAL, Space
from commonplace.model.times import FORMAT
from commonplace.vault.commit import Commit
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import (
    FOLDER_MODE,
    Action,
    Disk,
    DiskFolder,
    LockFile,
    converting_os_errors,
    run_at_once,
)
from commonplace.vault.paths import LOCKS, BookPath, View, is_temp, lock_path, max_size
from commonplace.vault.port import (
    Change,
    Document,
    FileKind,
    FolderEntry,
    FolderPrestat,
    HeldLock,
    Stat,
    Survey,
    VisibleCallback,
    WrittenCallback,
    check_group,
    name_in,
)

if TYPE_CHECKING:
    from commonplace.vault.claims import Claim, OpenFolder


class LocalVault:
    """A book in a folder of this machine, for the one space `local/self`. Vault (port.py) describes its methods."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._locks = Locks(self._open_lock, self._lock_folder)

    @classmethod
    def at(cls, root: str | os.PathLike[str], *, make: bool = False) -> LocalVault:
        """Return the vault in a root folder; `make` creates the folder if it is missing.

        Raises InvalidPath for a root that no path can be, and a StorageError when the folder cannot be made.
        """
        try:
            with converting_os_errors("opening the book's root"):
                return cls(open_disk(os.fspath(root), make=make))
        except ValueError:  # NUL, or half of a surrogate pair
            raise InvalidPath("The root has a character in it that no path of this machine can have.") from None

    def close(self) -> None:
        """Close the lock files and end the thread that syncs."""
        self._locks.close()
        self._disk.close()

    def read(self, space: Space, view: View, path: BookPath) -> Document:
        """Return a file. Raises NotFound, and LinkRefused for a folder, a link or a device."""
        view.check_read(path)
        if not path.parts:
            raise LinkRefused(f"While reading {path}: it is a folder.")
        with self._opened_folder(space, path.parent, f"reading {path}") as folder:
            return Document(*folder.read(path.name, max_size(path)))

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None:
        """Return the stat of a file or folder, None where there is neither."""
        _check_space(space)
        view.check_list(path)
        if not path.parts:
            return Stat(FileKind.FOLDER, 0, 0, 0, FOLDER_MODE)
        try:
            with self._opened_folder(space, path.parent, f"looking at {path}") as folder:
                return folder.stat(path.name)
        except NotFound:
            return None

    def survey(self, space: Space, view: View, path: BookPath, ending: str) -> Survey:
        """Return the files of a folder whose names have this ending, and its folders. Raises NotFound."""
        view.check_list(path)
        with self._opened_folder(space, path, f"listing {path}") as folder:
            found = folder.survey(ending)
        if view.reads is None and view.private:
            return found
        lines = [line for line in found.lines if _may_show(view, path, name_in(line) + ending)]
        return Survey(lines, [name for name in found.folders if _may_show(view, path, name)])

    def take_prestat(self, space: Space, path: BookPath) -> FolderPrestat | None:
        """Return, once, what prestat.py saw of a folder while this process was loading; None if it did not look."""
        with self._opened_folder(space, path, f"listing {path}") as folder:
            return folder.take_prestat()

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]:
        """Return the entries of a folder that the view may see, sorted by name. Raises NotFound."""
        view.check_list(path)
        with self._opened_folder(space, path, f"listing {path}") as folder:
            entries = sorted(entry for entry in folder.scan() if not is_temp(entry.name))
        if view.reads is None and view.private:
            return entries
        return [entry for entry in entries if _may_show(view, path, entry.name)]

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Action | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        """Make the changes durable, then return the new stat of each Write (None for the others)."""
        _check_space(space)
        check_group(view, changes)
        # Without other work of the caller, a second thread would only make it slower.
        start_job = self._disk.start_job if meanwhile else run_at_once
        with Commit(self._disk, start_job, self._locks.confirm) as commit:
            return commit.run(changes, meanwhile, visible, written)

    def append(self, space: Space, path: BookPath, lines: bytes) -> None:
        """Append whole lines to a file, which is made if needed. They are not synced: a power cut may take them."""
        _check_space(space)
        with converting_os_errors(f"adding to {path}"), Commit(self._disk) as commit:
            log_file = commit.folder(path.parent, make=True).open_log(path.name)
            with closing(log_file):
                log_file.append(lines)

    def lock(self, space: Space, name: str, timeout: float) -> AbstractContextManager[HeldLock]:
        """Return a context manager that holds the lock of a name. Entering it raises LockTimeout."""
        _check_space(space)
        return self._locks.hold(name, timeout)

    def claim_locks(self, is_network: Callable[[], bool]) -> None:
        """Exclude other machines by claims, too, if this says that the book is on a file system of the network."""
        self._locks.is_network = is_network

    def can_lock(self, space: Space) -> bool:
        """Return whether the locks of this file system exclude anyone; True where that cannot be tried."""
        _check_space(space)
        return self._locks.can_lock()

    def sweep(self, space: Space, path: BookPath) -> int:
        """Remove the temporary files that a killed writer left in a folder, and return their number."""
        leftovers = self.list_temp_files(space, path)
        if leftovers:
            with self._opened_folder(space, path, f"sweeping {path}") as folder:
                for entry in leftovers:
                    folder.remove(entry.name)
        return len(leftovers)

    def list_temp_files(self, space: Space, path: BookPath) -> list[FolderEntry]:
        """Return the files that `sweep` would remove."""
        try:
            with self._opened_folder(space, path, f"listing {path}") as folder:
                entries = sorted(folder.scan())
        except NotFound:
            return []
        return [entry for entry in entries if is_temp(entry.name) and entry.stat.kind is FileKind.FILE]

    def _open_lock(self, name: str) -> LockFile:
        path = lock_path(name)
        with self._lock_folder() as folder:
            return folder.open_lock(path.name)

    @contextmanager
    def _lock_folder(self) -> Iterator[DiskFolder]:
        with Commit(self._disk) as commit:
            folder = commit.folder(LOCKS, make=True)
            commit.sync_folders()
            yield folder

    @contextmanager
    def _opened_folder(self, space: Space, path: BookPath, doing: str) -> Iterator[DiskFolder]:
        """Open a folder, close it afterwards, and convert every OSError of the block into an error of ours."""
        _check_space(space)
        with converting_os_errors(doing), closing(self._disk.open(path.parts)) as folder:
            yield folder


def _may_show(view: View, path: BookPath, name: str) -> bool:
    try:
        return view.may_list(path / name)
    except CommonplaceError:
        return False  # a name that no book can hold: `doctor` reports it


def _check_space(space: Space) -> None:
    if space != LOCAL:
        raise OutsideView(f"This book is {LOCAL}; {space} is not here.")


_BOOT_ID, _NO_BOOT = "/proc/sys/kernel/random/boot_id", "boot=-"
_PROBE = "scaffold"  # a lock that is hardly ever taken
_LINE = 240  # bytes, always the same, so that one write replaces the whole line


class _Slot:
    """What this process holds for a name: a lock among its own threads, and the open lock file."""

    def __init__(self) -> None:
        self.threads = Lock()
        self.file: LockFile | None = None
        self.claim: Claim | None = None
        self.holder = 0  # the thread that has the lock

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


class Locks:
    """The locks of one book. `opener` opens the file of a name, and makes it if needed; `open_folder` its folder."""

    def __init__(self, opener: Callable[[str], LockFile], open_folder: OpenFolder) -> None:
        self._opener, self._open_folder = opener, open_folder
        self.is_network: Callable[[], bool] = lambda: False
        self._excludes: bool | None = None  # whether the system's locks do; None: not tried yet
        self._claims = False
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
            slot.holder = get_ident()
            try:
                yield HeldLock(name, generation)
            finally:
                slot.holder = 0
                with converting_os_errors(f"unlocking {name}"):
                    self._release(slot, file)
        finally:
            slot.threads.release()

    def confirm(self) -> None:
        """Check that this thread still has what it locked. Raises LockTimeout if another machine has taken it over."""
        if self._claims:
            for slot in list(self._slots.values()):
                if slot.claim is not None and slot.holder == get_ident():
                    other = slot.claim.confirm()
                    if other is not None:
                        raise LockTimeout(f"{_describe_holder(other)} took the lock over while this was being written.")

    def can_lock(self) -> bool:
        """Return whether the system's locks exclude anyone; True where that cannot be tried."""
        if self._excludes is None:
            try:
                with closing(self._opener(_PROBE)) as file:
                    return not file.try_hold() or self._is_excluding(_PROBE)
            except OSError as error:
                return SYSTEM_ERRORS.get(error.errno or 0) is not LockUnsupported
        return self._excludes

    def close(self) -> None:
        """Close the lock files that no thread holds."""
        if self._pid != os.getpid():  # a forked child that never used them: its guard may be held by no thread it has
            for slot in self._slots.values():
                slot.close()
            return
        with self._guard:
            for slot in self._slots.values():
                if not slot.threads.locked():
                    slot.close()

    def _slot(self, name: str) -> _Slot:
        if self._pid != os.getpid():
            # A forked child shares its parent's open files, and would hold the lock after the parent is killed.
            # Closing them leaves the parent's lock held; the child then opens files of its own. Its guard may have been
            # held by a thread that it does not have.
            self._guard, self._pid = Lock(), os.getpid()
            slots, self._slots = self._slots, {}
            for slot in slots.values():
                slot.close()
        with self._guard:
            return self._slots.setdefault(name, _Slot())

    def _acquire(self, slot: _Slot, name: str, timeout: float, deadline: float) -> tuple[LockFile, int]:
        pause = 0.0005
        while True:
            if slot.file is None:
                slot.file = self._opener(name)
            holder = None
            if slot.file.try_hold():
                if slot.file.is_gone():
                    slot.close()  # the lock file was removed, so this lock protects nothing
                    continue
                holder = self._make_claim(slot, name)
                if holder is None:
                    return slot.file, _sign(slot.file)
                slot.file.release()
            if time.monotonic() >= deadline:
                raise _timeout(name, timeout, slot.file if holder is None else holder)
            # A random part, so that waiting processes do not retry together.
            time.sleep(pause * (0.5 + os.urandom(1)[0] / 256))
            pause = min(pause * 1.5, 0.02)

    def _make_claim(self, slot: _Slot, name: str) -> bytes | None:
        """Exclude other machines where the system's lock does not, and return None; or return who has a claim."""
        if self._excludes is None:
            self._excludes = self._is_excluding(name)
            self._claims = not self._excludes or self.is_network()
        if not self._claims:
            return None
        from commonplace.vault.claims import Claim  # noqa: PLC0415 - few books need it, and every hook loads this module

        machine = this_machine()
        is_known = self._excludes and not machine.endswith(_NO_BOOT)
        try:
            claim = Claim(self._open_folder, name, _describe_process(), machine if is_known else None)
            holder = claim.take()
        except OSError:
            slot.close()
            raise
        slot.claim = claim if holder is None else None
        return holder

    def _is_excluding(self, name: str) -> bool:
        """Return whether the lock that this process has on a file keeps out another that opens the file."""
        with closing(self._opener(name)) as second:
            return not second.try_hold()

    def _release(self, slot: _Slot, file: LockFile) -> None:
        claim, slot.claim = slot.claim, None
        if claim is None:
            file.release()
            return
        claim.give_back()
        slot.close()  # which releases the lock; the next holder opens the file, and sees what other machines wrote


@cache
def this_machine() -> str:
    """Return the name of this machine and which of its boots this is (`-` where the system does not tell)."""
    # The host's name stays inside the user's own book.
    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            boot = f"boot={file.read(36)}"
    except (OSError, ValueError):
        boot = _NO_BOOT
    return f"host={host[:60]} {boot}"


def _describe_process() -> str:
    """Return which process this is, and since when, for the line of a lock that it takes."""
    return f"pid={os.getpid()} {this_machine()} since={time.strftime(FORMAT, time.gmtime())}"


def _sign(file: LockFile) -> int:
    """Write our line into the file we now hold, and return how often it has been held."""
    try:
        head = file.read()[:20]
        generation = int(head) + 1 if head.isdigit() else 1
        who = f"{generation:020d} {_describe_process()}"
        file.write(who.encode("utf-8", "replace")[: _LINE - 1].ljust(_LINE - 1) + b"\n")
    except OSError:
        file.release()
        raise
    return generation


def _timeout(name: str, timeout: float, holder: LockFile | bytes) -> CommonplaceError:
    try:
        line = holder if isinstance(holder, bytes) else holder.read()[21:]
    except OSError:
        line = b""
    return LockTimeout(f"{name} is being written by {_describe_holder(line)}; waited {timeout:g} s.")


def _describe_holder(line: bytes) -> str:
    """Return what a line says of the holder of a lock, if it can be shown."""
    text = line.decode("utf-8", "replace").strip()
    return text if text and text.isprintable() else "another process"
