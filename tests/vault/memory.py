"""A second vault, in memory: it keeps the same promises without a disk, and tests that need no disk use it.

It holds any number of spaces.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from commonplace.model.errors import AlreadyExists, LinkRefused, LockTimeout, NotFound, RevisionMismatch, TooLarge
from commonplace.model.names import revision_of
from commonplace.model.scope import Space
from commonplace.vault.paths import ROOT, BookPath, View, lock_path, max_size
from commonplace.vault.port import (
    ABSENT,
    ANY,
    Change,
    Delete,
    Document,
    FileKind,
    FolderEntry,
    HeldLock,
    Move,
    Stat,
    Survey,
    VisibleCallback,
    Write,
    WrittenCallback,
    check_group,
    survey_entries,
)

_FOLDER = Stat(FileKind.FOLDER, 0, 0, 0, 0o700)


class _Tree:
    """The files and folders of one space."""

    def __init__(self) -> None:
        self.files: dict[BookPath, tuple[bytes, Stat]] = {}
        self.folders = {ROOT}

    def stat(self, path: BookPath) -> Stat | None:
        return self.files[path][1] if path in self.files else _FOLDER if path in self.folders else None

    def put(self, path: BookPath, data: bytes, stat: Stat) -> None:
        self.files[path] = (data, stat)
        while path.parts:
            path = path.parent
            self.folders.add(path)

    def copy(self) -> _Tree:
        other = _Tree()
        other.files, other.folders = dict(self.files), set(self.folders)
        return other


class MemoryVault:
    def __init__(self) -> None:
        self._spaces: dict[Space, _Tree] = {}
        self._locks: dict[tuple[Space, str], threading.Lock] = {}
        self._generations: dict[tuple[Space, str], int] = {}
        self._clock = itertools.count(1)
        self._guard = threading.RLock()

    def read(self, space: Space, view: View, path: BookPath) -> Document:
        view.check_read(path)
        with self._guard:
            tree = self._tree(space)
            if path in tree.folders:
                raise LinkRefused(f"While reading {path}: it is a folder.")
            if path not in tree.files:
                raise NotFound(f"While reading {path}: there is nothing there.")
            data, stat = tree.files[path]
        limit = max_size(path)
        if limit is not None and len(data) > limit:
            raise TooLarge(f"While reading {path}: it is too large.")
        return Document(data, stat)

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None:
        view.check_list(path)
        with self._guard:
            return self._tree(space).stat(path)

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]:
        view.check_list(path)
        with self._guard:
            tree = self._tree(space)
            if path not in tree.folders:
                raise NotFound(f"While listing {path}: there is no such folder.")
            inside = [place for place in (*tree.files, *tree.folders) if place.parts and place.parent == path]
            stats = {place: tree.files[place][1] if place in tree.files else _FOLDER for place in inside}
        return [FolderEntry(place.name, stats[place]) for place in sorted(inside) if view.may_list(place)]

    def survey(self, space: Space, view: View, path: BookPath, ending: str) -> Survey:
        return survey_entries(self.list_folder(space, view, path), ending)

    def take_prestat(self, space: Space, path: BookPath) -> None:
        """Return None: nothing stats files ahead here."""

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None] | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        if meanwhile:
            meanwhile()
        check_group(view, changes)
        with self._guard:
            tree = self._tree(space)
            for change in changes:
                _check(tree, change)
            after = tree.copy()
            stats = [self._do(after, change) for change in changes]
            self._spaces[space] = after
        if visible:
            visible(stats)
        return stats

    @contextmanager
    def lock(self, space: Space, name: str, timeout: float) -> Iterator[HeldLock]:
        place = (space, lock_path(name).name)
        with self._guard:
            lock = self._locks.setdefault(place, threading.Lock())
        if not lock.acquire(timeout=max(timeout, 0)):
            raise LockTimeout(f"Another thread of this process has held {name} for {timeout:g} s.")
        try:
            self._generations[place] = self._generations.get(place, 0) + 1
            yield HeldLock(name, self._generations[place])
        finally:
            lock.release()

    def can_lock(self, space: Space) -> bool:
        return True

    def sweep(self, space: Space, path: BookPath) -> int:
        return 0

    def append(self, space: Space, path: BookPath, lines: bytes) -> None:
        with self._guard:
            tree = self._tree(space)
            data = tree.files[path][0] if path in tree.files else b""
            tree.put(path, data + lines, Stat(FileKind.FILE, len(data + lines), next(self._clock), next(self._clock)))

    def list_temp_files(self, space: Space, path: BookPath) -> list[FolderEntry]:
        return []

    def _tree(self, space: Space) -> _Tree:
        return self._spaces.setdefault(space, _Tree())

    def _do(self, tree: _Tree, change: Change) -> Stat | None:
        if isinstance(change, Write):
            tick = next(self._clock)
            stat = Stat(FileKind.FILE, len(change.data), tick, tick)
            tree.put(change.path, change.data, stat)
            return stat
        data, old = tree.files.pop(change.path)
        if isinstance(change, Move):
            tree.put(change.to, data, old)
        return None


def _check(tree: _Tree, change: Change) -> None:
    _check_way(tree, change.path)
    found = tree.files.get(change.path)
    if isinstance(change, Move):
        _check_way(tree, change.to)
        if found is None and change.path not in tree.folders:
            raise NotFound(f"{change.path} is not there to be moved.")
        _refuse_folder(tree, change.path)
        if tree.stat(change.to) is not None:
            raise AlreadyExists(f"{change.to} is there already.")
        return
    if change.expected == ABSENT:
        if tree.stat(change.path) is not None:
            raise AlreadyExists(f"{change.path} is there already.")
        return
    _refuse_folder(tree, change.path)
    if change.expected == ANY:
        if isinstance(change, Delete) and found is None:
            raise NotFound(f"{change.path} is not there to be deleted.")
    elif found is None:
        raise RevisionMismatch(f"{change.path} is gone.")
    elif revision_of(found[0]) != change.expected:
        raise RevisionMismatch(f"{change.path} was changed after it was read.")


def _check_way(tree: _Tree, path: BookPath) -> None:
    while path.parts:
        path = path.parent
        if path in tree.files:
            raise NotFound(f"{path} is a file, not a folder.")


def _refuse_folder(tree: _Tree, path: BookPath) -> None:
    if path in tree.folders:
        raise LinkRefused(f"{path} is not a file.")
