"""The vault on a disk: the one order of steps in which files change.

    make temporary files -> write all -> sync all -> publish in order (rename, or link where nothing may be) ->
    sync every folder that changed, and the parent of every new one -> acknowledge

Syncing goes on beside the caller (vault/beside.py), who may do something else meanwhile.

A folder is synced before the next one is touched, so changes are durable in the order given, folder by folder: a text
that was put aside is safe before the note that replaces it is published. Changes of one folder in a row share its sync.

Up to the first publish nothing is visible, and a failure removes what was made. A failure after it is an error that
acknowledges nothing; each file is then whole, old or new. Never is a failed sync tried again on the same file.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from operator import itemgetter

from commonplace.model.errors import (
    AlreadyExists,
    CommonplaceError,
    InvalidPath,
    LinkRefused,
    NotFound,
    OutsideView,
    RevisionMismatch,
)
from commonplace.model.ids import revision_of
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import (
    FILE_MODE,
    FOLDER_MODE,
    Disk,
    DiskFile,
    DiskFolder,
    LockFile,
    as_our_error,
    mapped,
)
from commonplace.vault.locks import Locks
from commonplace.vault.paths import TEMP_PREFIX, TEMP_SUFFIX, BookPath, View, is_temp, lock_path
from commonplace.vault.port import (
    ABSENT,
    ANY,
    Change,
    Delete,
    Document,
    FileKind,
    FolderEntry,
    FolderGlance,
    HeldLock,
    Move,
    Stat,
    Survey,
    Visible,
    Write,
    check_group,
    name_in,
)
from commonplace.vault.sync_thread import Begin, StartedJob, at_once, nothing

MAX_OPEN = 64  # files being written at one time: bulk writes stay far below the limit of open files
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})


class LocalVault:
    """A book in a folder of this machine, for the one space `local/self`."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._locks = Locks(self._open_lock)

    @classmethod
    def at(cls, root: str | os.PathLike[str], *, make: bool = False) -> LocalVault:
        try:
            with mapped("opening the book's root"):
                return cls(open_disk(os.fspath(root), make=make))
        except ValueError:  # NUL, or half of a surrogate pair
            raise InvalidPath("The root has a character in it that no path of this machine can have.") from None

    def close(self) -> None:
        self._locks.close()
        self._disk.close()

    def read(self, space: Space, view: View, path: BookPath) -> Document:
        _check_space(space)
        view.check_read(path)
        if not path.parts:
            raise LinkRefused(f"While reading {path}: it is a folder.")
        try:
            folder = self._disk.open(path.parts[:-1])
            try:
                data, stat = folder.read(path.name)
            finally:
                folder.close()
        except OSError as error:
            raise as_our_error(error, f"reading {path}") from error
        return Document(data, stat)

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None:
        _check_space(space)
        view.check_list(path)
        if not path.parts:
            return Stat(FileKind.FOLDER, 0, 0, 0, FOLDER_MODE)
        try:
            folder = self._disk.open(path.parts[:-1])
            try:
                return folder.stat(path.name)
            finally:
                folder.close()
        except OSError as error:
            ours = as_our_error(error, f"looking at {path}")
            if isinstance(ours, NotFound):
                return None
            raise ours from error

    def survey(self, space: Space, view: View, path: BookPath, ending: str) -> Survey:
        _check_space(space)
        view.check_list(path)
        with mapped(f"listing {path}"), _opened(self._disk, path) as folder:
            found = folder.survey(ending)
        if view.reads is None and view.private:
            return found
        lines = [line for line in found.lines if _may_show(view, path, name_in(line) + ending)]
        return Survey(lines, [name for name in found.folders if _may_show(view, path, name)])

    def glance(self, space: Space, path: BookPath) -> FolderGlance | None:
        _check_space(space)
        with mapped(f"listing {path}"), _opened(self._disk, path) as folder:
            return folder.glance()

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]:
        _check_space(space)
        view.check_list(path)
        with mapped(f"listing {path}"), _opened(self._disk, path) as folder:
            found = folder.scan()
        shown = [item for item in found if not is_temp(item.name)]
        shown.sort(key=itemgetter(0))  # by name
        if view.reads is None and view.private:
            return shown
        return [item for item in shown if _may_show(view, path, item.name)]

    def apply(self, space: Space, view: View, changes: Sequence[Change]) -> list[Stat | None]:
        stats: list[Stat | None] = []
        self._apply(space, view, changes, nothing, stats.extend, at_once)
        return stats

    def apply_meanwhile(
        self, space: Space, view: View, changes: Sequence[Change], meanwhile: Callable[[], None], visible: Visible
    ) -> None:
        self._apply(space, view, changes, meanwhile, visible, self._disk.begin)

    def _apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None],
        visible: Visible,
        begin: Begin,
    ) -> None:
        _check_space(space)
        check_group(view, changes)
        with _Commit(self._disk, begin) as commit:
            commit.run(changes, meanwhile, visible)

    def lock(self, space: Space, name: str, timeout: float) -> AbstractContextManager[HeldLock]:
        _check_space(space)
        return self._locks.hold(name, timeout)

    def sweep(self, space: Space, path: BookPath) -> int:
        _check_space(space)
        removed = 0
        try:
            with mapped(f"sweeping {path}"), _opened(self._disk, path) as folder:
                for name, stat in folder.scan():
                    if is_temp(name) and stat.kind is FileKind.FILE:
                        folder.remove(name)
                        removed += 1
        except NotFound:
            return 0
        return removed

    def left_over(self, space: Space, path: BookPath) -> list[FolderEntry]:
        _check_space(space)
        try:
            with mapped(f"listing {path}"), _opened(self._disk, path) as folder:
                found = folder.scan()
        except NotFound:
            return []
        return [FolderEntry(name, stat) for name, stat in sorted(found) if is_temp(name) and stat.kind is FileKind.FILE]

    def _open_lock(self, name: str) -> LockFile:
        path = lock_path(name)
        with _Commit(self._disk) as commit:
            folder = commit.folder(path.parent, make=True)
            commit.sync_folders()
            return folder.open_lock(path.name)


class _Commit:
    """One group of changes on its way to the disk."""

    def __init__(self, disk: Disk, begin: Begin = at_once) -> None:
        self._disk, self._begin = disk, begin
        self._folders: dict[tuple[str, ...], DiskFolder] = {}
        self._dirty: dict[tuple[str, ...], DiskFolder] = {}
        self._made: list[tuple[str, ...]] = []
        self._temps: set[tuple[BookPath, str]] = set()
        self._staged: dict[BookPath, tuple[str, Stat]] = {}
        self._syncing: list[tuple[StartedJob, Sequence[DiskFile]]] = []
        self._published = False

    def __enter__(self) -> _Commit:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._end_syncing()
        for folder in self._folders.values():
            with contextlib.suppress(OSError):
                folder.close()

    def run(self, changes: Sequence[Change], meanwhile: Callable[[], None], visible: Visible) -> None:
        try:
            for change in changes:
                self._check(change)
            self._stage([change for change in changes if isinstance(change, Write)])
            meanwhile()
            self._end_syncing()
            for change in changes:
                self._publish(change)
            settling = self._begin(self.sync_folders)
            try:
                visible([self._stat_of(change) for change in changes])
            finally:
                settling.wait()
        except OSError as error:
            self._undo()
            raise self._explained(error) from error
        except CommonplaceError:
            self._undo()
            raise

    def _stat_of(self, change: Change) -> Stat | None:
        return self._staged[change.path][1] if isinstance(change, Write) else None

    def folder(self, path: BookPath, *, make: bool = False) -> DiskFolder:
        """The open folder at a path, opened once per commit; made, level by level, if asked to."""
        known = self._folders.get(path.parts)
        if known is not None:
            return known
        try:
            folder = self._disk.open(path.parts)
        except FileNotFoundError:
            if not make or not path.parts:
                raise
            parent = self.folder(path.parent, make=True)
            with contextlib.suppress(FileExistsError):  # another process was first
                parent.make_folder(path.name)
                self._made.append(path.parts)
            self._dirty[path.parent.parts] = parent
            folder = self._disk.open(path.parts)
        self._close_some()
        self._folders[path.parts] = folder
        return folder

    def _close_some(self) -> None:
        """Keep far from the limit of open files: a bulk write may touch hundreds of folders."""
        if len(self._folders) >= MAX_OPEN:
            for parts in [parts for parts in self._folders if parts not in self._dirty][: MAX_OPEN // 2]:
                self._folders.pop(parts).close()

    def sync_folders(self) -> None:
        for folder in self._dirty.values():
            folder.sync()
        self._dirty.clear()

    def _check(self, change: Change) -> None:
        """Everything that can be refused is refused before anything is written."""
        if isinstance(change, Move):
            if self._file_stat(change.path) is None:
                raise NotFound(f"{change.path} is not there to be moved.")
            if self._stat(change.to) is not None:
                raise AlreadyExists(f"{change.to} is there already.")
            return
        if change.expected == ANY:
            if isinstance(change, Delete) and self._file_stat(change.path) is None:
                raise NotFound(f"{change.path} is not there to be deleted.")
            return
        if change.expected == ABSENT:
            if self._stat(change.path) is not None:
                raise AlreadyExists(f"{change.path} is there already.")
            return
        try:
            data, _ = self.folder(change.path.parent).read(change.path.name)
        except FileNotFoundError:
            raise RevisionMismatch(f"{change.path} is gone.") from None
        if revision_of(data) != change.expected:
            raise RevisionMismatch(f"{change.path} was changed after it was read.")

    def _stat(self, path: BookPath) -> Stat | None:
        try:
            return self.folder(path.parent).stat(path.name)
        except FileNotFoundError:
            return None

    def _file_stat(self, path: BookPath) -> Stat | None:
        found = self._stat(path)
        if found is not None and found.kind is not FileKind.FILE:
            raise LinkRefused(f"{path} is not a file.")
        return found

    def _stage(self, writes: Sequence[Write]) -> None:
        """Every new content in a temporary file beside its place, on its way to the medium."""
        for start in range(0, len(writes), MAX_OPEN):
            self._end_syncing()
            opened: list[DiskFile] = []
            try:
                for write in writes[start : start + MAX_OPEN]:
                    name, file = self._new_temp(write)
                    opened.append(file)
                    file.write(write.data)
                    self._staged[write.path] = (name, file.stat())
                if len(opened) > 1:
                    for file in opened:
                        file.start_sync()
                job = self._begin(partial(_sync_all, opened))
            except BaseException:
                _close_all(opened)
                raise
            self._syncing.append((job, opened))

    def _end_syncing(self) -> None:
        """Wait until all that was staged is on the medium."""
        while self._syncing:
            job, files = self._syncing.pop()
            try:
                job.wait()
            finally:
                _close_all(files)

    def _new_temp(self, write: Write) -> tuple[str, DiskFile]:
        folder = self.folder(write.path.parent, make=True)
        old = None if write.expected == ABSENT else folder.stat(write.path.name)
        if old is not None and old.kind is not FileKind.FILE:
            raise OSError(errno.ELOOP, "not a regular file")
        name = _temp_name()
        file = folder.create(name, old.mode if old is not None else FILE_MODE)
        self._temps.add((write.path.parent, name))
        return name, file

    def _publish(self, change: Change) -> None:
        folder = self._turn_to(change.path.parent)
        name = change.path.name
        if isinstance(change, Write):
            temp = self._staged[change.path][0]
            if change.expected == ABSENT:
                _publish_new(folder, temp, name)
            else:
                folder.rename(temp, folder, name)
            self._temps.discard((change.path.parent, temp))
        elif isinstance(change, Move):
            target = self._turn_to(change.to.parent)
            if _linked(folder, name, target, change.to.name):
                self._turn_to(change.path.parent).remove(name)
            self._dirty[change.path.parent.parts] = folder
        else:
            folder.remove(name)
        self._published = True

    def _turn_to(self, path: BookPath) -> DiskFolder:
        """The folder of the next change; whatever changed in another one is synced first."""
        folder = self.folder(path, make=True)
        if path.parts not in self._dirty:
            self.sync_folders()
        self._dirty[path.parts] = folder
        return folder

    def _undo(self) -> None:
        """Leave no litter: temporary files, and folders that were made for a write that did not happen."""
        with contextlib.suppress(OSError):
            self._end_syncing()
        for path, name in self._temps:
            with contextlib.suppress(OSError):
                self.folder(path).remove(name)
        for parts in reversed(self._made):
            with contextlib.suppress(OSError):
                self.folder(BookPath(*parts[:-1])).remove_folder(parts[-1])

    def _explained(self, error: OSError) -> CommonplaceError:
        if not self._published:
            return as_our_error(error, "writing to the book")
        ours = as_our_error(error, "finishing a write")
        ours.hint = "The write is not acknowledged, but a part of it may be visible. Read before you write again."
        return ours


def _sync_all(files: Sequence[DiskFile]) -> None:
    for file in files:
        file.sync()


def _close_all(files: Sequence[DiskFile]) -> None:
    for file in files:
        file.close()


def _publish_new(folder: DiskFolder, temp: str, name: str) -> None:
    """Give the file its name only if nothing has it."""
    if _linked(folder, temp, folder, name):
        folder.remove(temp)


def _linked(folder: DiskFolder, name: str, target: DiskFolder, to: str) -> bool:
    """Give a file a second name where there is none; False when it could only be moved there instead."""
    try:
        return folder.link(name, target, to)
    except FileExistsError:
        raise AlreadyExists(f"{to} is there already.") from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    # No hard links here (FAT, some shares). Under the scope's lock only an outsider could come between.
    if target.stat(to) is not None:
        raise AlreadyExists(f"{to} is there already.")
    folder.rename(name, target, to)
    return False


def _may_show(view: View, path: BookPath, name: str) -> bool:
    try:
        return view.may_list(path / name)
    except CommonplaceError:
        return False  # a name no book can hold: `doctor` reports it


def _check_space(space: Space) -> None:
    if space != LOCAL:
        raise OutsideView(f"This book is {LOCAL}; {space} is not here.")


@contextmanager
def _opened(disk: Disk, path: BookPath) -> Iterator[DiskFolder]:
    folder = disk.open(path.parts)
    try:
        yield folder
    finally:
        folder.close()


def _temp_name() -> str:
    """A name that no other process or thread makes: two writers in one folder must not meet in it."""
    return f"{TEMP_PREFIX}{os.getpid():x}-{os.urandom(6).hex()}{TEMP_SUFFIX}"
