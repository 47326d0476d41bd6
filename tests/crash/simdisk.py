"""SimDisk: a disk in memory that forgets what was not synced.

It implements the disk port (vault/disk_port.py), so the shipped vault runs on it unchanged. What a power cut leaves is
decided afterwards, by a seed, as the worst a file system may do:

- a file's unsynced content is kept, dropped (back to what was synced last, or nothing) or garbled
- entries of folders are separate from files: a name that was added, moved or removed since its folder was synced is
  there or not. SCATTERED takes each such change or leaves it, by itself; ORDERED keeps a prefix of them, in the order
  they were made, as file systems with a journal do.

Every call that changes something is a point where the power may fail. `fail_at` cuts it there.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from commonplace.vault.disk_port import FILE_MODE, Action, DiskFile, DiskFolder, LockFile, LogFile, run_at_once
from commonplace.vault.port import FileKind, FolderEntry, Stat, Survey, survey_entries


class PowerCut(BaseException):  # not an Exception: nothing in the code may catch it and go on
    """The machine is off."""


class Left(StrEnum):
    ORDERED = "ordered"
    SCATTERED = "scattered"


@dataclass(slots=True)
class Node:
    """A file or a folder: what programs see, and what is on the medium."""

    number: int
    kind: FileKind
    data: bytes = b""
    synced: bytes | None = None
    mode: int = FILE_MODE
    names: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of a folder's entries: `name` now stands for `node`, or (None) for nothing."""

    folder: int
    name: str
    node: int | None
    together: int  # changes of one call share a number: a rename within a folder is one change


class SimDisk:
    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {1: Node(1, FileKind.FOLDER)}
        self.durable: dict[int, dict[str, int]] = {1: {}}  # folder -> entries on the medium
        self.pending: list[Entry] = []
        self.calls = 0
        self.fail_at: int | None = None
        self.fault: Callable[[str, int], None] | None = None  # may raise OSError, or do something in between
        self.held: set[str] = set()
        self.sync_files = True
        self.sync_folders = True
        self._next = 2
        self._changes = 0
        self._busy = False

    def open(self, parts: Sequence[str]) -> DiskFolder:
        folder = SimFolder(self, 1)
        for name in parts:
            folder = folder.open_folder(name)
        return folder

    def start_job(self, action: Action, /) -> Action:
        return run_at_once(action)  # every run of a test has the same calls in the same order

    def close(self) -> None:
        pass

    def step(self, what: str) -> None:
        """A point where the power may fail, and where a test may interfere."""
        self.calls += 1
        if self.fail_at is not None and self.calls >= self.fail_at:
            raise PowerCut(what)
        if self.fault is not None and not self._busy:
            self._busy = True
            try:
                self.fault(what, self.calls)
            finally:
                self._busy = False

    def new_node(self, kind: FileKind, mode: int = FILE_MODE) -> Node:
        node = Node(self._next, kind, mode=mode)
        self._next += 1
        self.nodes[node.number] = node
        if kind is FileKind.FOLDER:
            self.durable[node.number] = {}
        return node

    def change(self, *entries: tuple[int, str, int | None]) -> None:
        self._changes += 1
        for folder, name, node in entries:
            if node is None:
                del self.nodes[folder].names[name]
            else:
                self.nodes[folder].names[name] = node
            self.pending.append(Entry(folder, name, node, self._changes))

    def sync_folder(self, folder: int) -> None:
        for entry in self.pending:
            if entry.folder == folder:
                _apply(self.durable, entry)
        self.pending = [entry for entry in self.pending if entry.folder != folder]

    def copy(self) -> SimDisk:
        """The disk as it is now, on which nothing fails and nothing is locked."""
        twin = SimDisk()
        twin.nodes = {number: replace(node, names=dict(node.names)) for number, node in self.nodes.items()}
        twin.durable = {folder: dict(names) for folder, names in self.durable.items()}
        twin.pending, twin.calls = list(self.pending), self.calls
        twin.sync_files, twin.sync_folders = self.sync_files, self.sync_folders
        twin._next, twin._changes = self._next, self._changes
        return twin

    def after_power_cut(self, seed: int, left: Left) -> SimDisk:
        """The disk as the next boot finds it."""
        rng = random.Random(seed)
        disk = SimDisk()
        disk._next = self._next
        disk.sync_files, disk.sync_folders = self.sync_files, self.sync_folders
        entries = {folder: dict(names) for folder, names in self.durable.items()}
        for entry in _survivors(self.pending, rng, left):
            _apply(entries, entry)
        disk.durable = {1: {}}
        _rebuild(self.nodes, entries, disk, rng, 1)
        return disk

    def files(self) -> dict[str, bytes]:
        """Every file a reader can see, by path."""
        found: dict[str, bytes] = {}
        waiting = [("", 1)]
        while waiting:
            path, number = waiting.pop()
            for name, child in self.nodes[number].names.items():
                node = self.nodes[child]
                if node.kind is FileKind.FOLDER:
                    waiting.append((f"{path}/{name}", child))
                else:
                    found[f"{path}/{name}"] = node.data
        return found


def _apply(entries: dict[int, dict[str, int]], entry: Entry) -> None:
    names = entries.setdefault(entry.folder, {})
    if entry.node is None:
        names.pop(entry.name, None)
    else:
        names[entry.name] = entry.node


def _survivors(pending: list[Entry], rng: random.Random, left: Left) -> list[Entry]:
    calls = list(dict.fromkeys(entry.together for entry in pending))
    if left is Left.ORDERED:
        kept = set(calls[: rng.randint(0, len(calls))])
        return [entry for entry in pending if entry.together in kept]
    # One call on one folder is one change; a call on two folders is two, and each may be lost alone.
    fates = {(entry.together, entry.folder): rng.random() < 0.5 for entry in pending}
    return [entry for entry in pending if fates[entry.together, entry.folder]]


def _rebuild(
    nodes: dict[int, Node], entries: dict[int, dict[str, int]], disk: SimDisk, rng: random.Random, number: int
) -> None:
    """Copy what can be reached, with each file's content as the cut left it."""
    disk.durable[number] = dict(entries.get(number, {}))
    disk.nodes[number] = Node(number, FileKind.FOLDER, names=dict(entries.get(number, {})))
    for child in sorted(set(entries.get(number, {}).values())):
        if nodes[child].kind is FileKind.FOLDER:
            _rebuild(nodes, entries, disk, rng, child)
        elif child not in disk.nodes:
            data = _content(nodes[child], rng)
            disk.nodes[child] = Node(child, FileKind.FILE, data, data, nodes[child].mode)


def _content(node: Node, rng: random.Random) -> bytes:
    if node.synced == node.data:
        return node.data
    fate = rng.randrange(4)
    if fate == 0:
        return node.data
    if fate == 1:
        return node.synced or b""
    if fate == 2:
        return node.data[: rng.randint(0, max(0, len(node.data) - 1))]
    return bytes(len(node.data)) if rng.random() < 0.5 else rng.randbytes(len(node.data))


class SimFile:
    def __init__(self, disk: SimDisk, node: Node) -> None:
        self._disk, self._node = disk, node

    def write(self, data: bytes) -> None:
        half = len(data) // 2
        for part in (data[:half], data[half:]):
            self._disk.step("write")
            self._node.data += part

    def start_sync(self) -> None:
        """Promises nothing, so nothing happens."""

    def sync(self) -> None:
        self._disk.step("sync")
        if self._disk.sync_files:
            self._node.synced = self._node.data

    def stat(self) -> Stat:
        return _stat(self._node)

    def close(self) -> None:
        pass


class SimLock:
    def __init__(self, disk: SimDisk, node: Node, name: str) -> None:
        self._disk, self._node, self._name, self._mine = disk, node, name, False

    def try_hold(self) -> bool:
        if self._name in self._disk.held:
            return False
        self._disk.held.add(self._name)
        self._mine = True
        return True

    def release(self) -> None:
        if self._mine:
            self._disk.held.discard(self._name)
            self._mine = False

    def is_gone(self) -> bool:
        return False

    def read(self) -> bytes:
        return self._node.data

    def write(self, data: bytes) -> None:
        self._node.data = data

    def close(self) -> None:
        self.release()


class SimLog:
    """Nobody syncs it: after a power cut any of it may be gone, or garbled."""

    def __init__(self, disk: SimDisk, node: Node) -> None:
        self._disk, self._node = disk, node

    def is_empty(self) -> bool:
        return not self._node.data

    def is_gone(self) -> bool:
        return False

    def append(self, line: bytes) -> None:
        self._disk.step("append")
        self._node.data += line

    def close(self) -> None:
        pass


class SimFolder:
    def __init__(self, disk: SimDisk, number: int) -> None:
        self._disk, self._number = disk, number

    @property
    def _names(self) -> dict[str, int]:
        return self._disk.nodes[self._number].names

    def _node(self, name: str) -> Node:
        if name not in self._names:
            raise FileNotFoundError(errno.ENOENT, "no such file", name)
        return self._disk.nodes[self._names[name]]

    def scan(self) -> list[FolderEntry]:
        return [FolderEntry(name, _stat(self._disk.nodes[number])) for name, number in self._names.items()]

    def survey(self, ending: str) -> Survey:
        return survey_entries(self.scan(), ending)

    def take_prestat(self) -> None:
        """Return None: nothing stats files ahead here."""

    def stat(self, name: str) -> Stat | None:
        return _stat(self._node(name)) if name in self._names else None

    def read(self, name: str, limit: int | None = None) -> tuple[bytes, Stat]:
        node = self._node(name)
        if node.kind is not FileKind.FILE:
            raise IsADirectoryError(errno.EISDIR, "a folder", name)
        if limit is not None and len(node.data) > limit:
            raise OSError(errno.EFBIG, "too large", name)
        return node.data, _stat(node)

    def create(self, name: str, mode: int = FILE_MODE) -> DiskFile:
        self._disk.step("create")
        if name in self._names:
            raise FileExistsError(errno.EEXIST, "exists", name)
        node = self._disk.new_node(FileKind.FILE, mode)
        self._disk.change((self._number, name, node.number))
        return SimFile(self._disk, node)

    def link(self, name: str, folder: DiskFolder, to: str) -> bool:
        assert isinstance(folder, SimFolder)
        self._disk.step("link")
        if to in folder._names:
            raise FileExistsError(errno.EEXIST, "exists", to)
        self._disk.change((folder._number, to, self._node(name).number))
        return True

    def rename(self, name: str, folder: DiskFolder, to: str) -> None:
        assert isinstance(folder, SimFolder)
        self._disk.step("rename")
        self._disk.change((folder._number, to, self._node(name).number), (self._number, name, None))

    def remove(self, name: str) -> None:
        self._disk.step("remove")
        self._node(name)
        self._disk.change((self._number, name, None))

    def make_folder(self, name: str) -> None:
        self._disk.step("make_folder")
        if name in self._names:
            raise FileExistsError(errno.EEXIST, "exists", name)
        self._disk.change((self._number, name, self._disk.new_node(FileKind.FOLDER).number))

    def remove_folder(self, name: str) -> None:
        self._disk.step("remove_folder")
        if self._node(name).names:
            raise OSError(errno.ENOTEMPTY, "not empty", name)
        self._disk.change((self._number, name, None))

    def open_folder(self, name: str) -> SimFolder:
        node = self._node(name)
        if node.kind is not FileKind.FOLDER:
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", name)
        return SimFolder(self._disk, node.number)

    def open_lock(self, name: str) -> LockFile:
        if name not in self._names:
            self._disk.change((self._number, name, self._disk.new_node(FileKind.FILE).number))
        return SimLock(self._disk, self._node(name), name)

    def open_log(self, name: str) -> LogFile:
        if name not in self._names:
            self._disk.change((self._number, name, self._disk.new_node(FileKind.FILE).number))
        return SimLog(self._disk, self._node(name))

    def overwrite(self, name: str, changes: Sequence[tuple[int, bytes]]) -> None:
        self._disk.step("overwrite")
        node = self._node(name)
        for at, data in changes:
            node.data = node.data[:at] + data + node.data[at + len(data) :]
        node.synced = node.data

    def sync(self) -> None:
        self._disk.step("sync_folder")
        if self._disk.sync_folders:
            self._disk.sync_folder(self._number)

    def close(self) -> None:
        pass


def _stat(node: Node) -> Stat:
    return Stat(node.kind, len(node.data), node.number, node.number, node.mode)
