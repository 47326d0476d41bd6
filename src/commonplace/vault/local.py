"""The vault on a disk of this machine: what verbs, hooks and tests open as a book's files.

It checks the space and the view of each call, reads through the disk port, and hands every change to commit.py, which
has the order of steps that makes it durable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import itemgetter

from commonplace.model.errors import CommonplaceError, InvalidPath, LinkRefused, NotFound, OutsideView
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.commit import Commit
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import (
    FOLDER_MODE,
    Disk,
    DiskFolder,
    LockFile,
    convert_os_error,
    converting_os_errors,
)
from commonplace.vault.locks import Locks
from commonplace.vault.paths import BookPath, View, is_temp, lock_path
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
    check_group,
    name_in,
)
from commonplace.vault.sync_thread import do_nothing


class LocalVault:
    """A book in a folder of this machine, for the one space `local/self`. Vault (port.py) describes its methods."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._locks = Locks(self._open_lock)

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
        _check_space(space)
        view.check_read(path)
        if not path.parts:
            raise LinkRefused(f"While reading {path}: it is a folder.")
        with self._opened_folder(path.parts[:-1], f"reading {path}") as folder:
            return Document(*folder.read(path.name))

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None:
        """Return the stat of a file or folder, None where there is neither."""
        _check_space(space)
        view.check_list(path)
        if not path.parts:
            return Stat(FileKind.FOLDER, 0, 0, 0, FOLDER_MODE)
        try:
            with self._opened_folder(path.parts[:-1], f"looking at {path}") as folder:
                return folder.stat(path.name)
        except NotFound:
            return None

    def survey(self, space: Space, view: View, path: BookPath, ending: str) -> Survey:
        """Return the files of a folder whose names have this ending, and its folders. Raises NotFound."""
        _check_space(space)
        view.check_list(path)
        with self._opened_folder(path.parts, f"listing {path}") as folder:
            found = folder.survey(ending)
        if view.reads is None and view.private:
            return found
        lines = [line for line in found.lines if _may_show(view, path, name_in(line) + ending)]
        return Survey(lines, [name for name in found.folders if _may_show(view, path, name)])

    def take_prestat(self, space: Space, path: BookPath) -> FolderPrestat | None:
        """Return, once, what prestat.py saw of a folder while this process was loading; None if it did not look."""
        _check_space(space)
        with self._opened_folder(path.parts, f"listing {path}") as folder:
            return folder.take_prestat()

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]:
        """Return the entries of a folder that the view may see, sorted by name. Raises NotFound."""
        _check_space(space)
        view.check_list(path)
        with self._opened_folder(path.parts, f"listing {path}") as folder:
            found = folder.scan()
        entries = [entry for entry in found if not is_temp(entry.name)]
        entries.sort(key=itemgetter(0))  # by name
        if view.reads is None and view.private:
            return entries
        return [entry for entry in entries if _may_show(view, path, entry.name)]

    def apply(self, space: Space, view: View, changes: Sequence[Change]) -> list[Stat | None]:
        """Make the changes durable, then return the new stat of each Write (None for the others)."""
        _check_space(space)
        check_group(view, changes)
        stats: list[Stat | None] = []
        with Commit(self._disk) as commit:
            commit.run(changes, do_nothing, stats.extend)
        return stats

    def apply_meanwhile(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None],
        visible: VisibleCallback,
    ) -> None:
        """Make the changes durable, as `apply` does, and call back while the medium is busy."""
        _check_space(space)
        check_group(view, changes)
        with Commit(self._disk, self._disk.start_job) as commit:
            commit.run(changes, meanwhile, visible)

    def lock(self, space: Space, name: str, timeout: float) -> AbstractContextManager[HeldLock]:
        """Return a context manager that holds the lock of a name. Entering it raises LockTimeout."""
        _check_space(space)
        return self._locks.hold(name, timeout)

    def sweep(self, space: Space, path: BookPath) -> int:
        """Remove the temporary files that a killed writer left in a folder, and return their number."""
        _check_space(space)
        removed = 0
        try:
            with self._opened_folder(path.parts, f"sweeping {path}") as folder:
                for name, stat in folder.scan():
                    if is_temp(name) and stat.kind is FileKind.FILE:
                        folder.remove(name)
                        removed += 1
        except NotFound:
            return 0
        return removed

    def list_temp_files(self, space: Space, path: BookPath) -> list[FolderEntry]:
        """Return the files that `sweep` would remove."""
        _check_space(space)
        try:
            with self._opened_folder(path.parts, f"listing {path}") as folder:
                found = folder.scan()
        except NotFound:
            return []
        return [entry for entry in sorted(found) if is_temp(entry.name) and entry.stat.kind is FileKind.FILE]

    def _open_lock(self, name: str) -> LockFile:
        path = lock_path(name)
        with Commit(self._disk) as commit:
            folder = commit.folder(path.parent, make=True)
            commit.sync_folders()
            return folder.open_lock(path.name)

    @contextmanager
    def _opened_folder(self, parts: Sequence[str], doing: str) -> Iterator[DiskFolder]:
        """Open a folder, close it afterwards, and convert every OSError of the block into an error of ours."""
        try:
            folder = self._disk.open(parts)
            try:
                yield folder
            finally:
                folder.close()
        except OSError as error:
            raise convert_os_error(error, doing) from error


def _may_show(view: View, path: BookPath, name: str) -> bool:
    try:
        return view.may_list(path / name)
    except CommonplaceError:
        return False  # a name that no book can hold: `doctor` reports it


def _check_space(space: Space) -> None:
    if space != LOCAL:
        raise OutsideView(f"This book is {LOCAL}; {space} is not here.")
