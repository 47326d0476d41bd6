"""The one order of steps in which files change, so that an acknowledged write survives a power cut.

    make temporary files -> write all -> sync all -> publish in order (rename, or link where there must be no file) ->
    sync every folder that changed, and the parent of every new one -> acknowledge

local.py runs a commit for every group of changes. Syncing runs on a second thread (disk_files.py), so the caller can
do other work meanwhile.

A folder is synced before a change in the next one is published, so changes are durable in the order given, folder by
folder: the copy in the history is safe before the note that replaces it is published. Consecutive changes in one folder
share its sync.

Before the first publish nothing is visible, and a failure removes what was made. A failure after it raises an error and
acknowledges nothing; each file is then whole, old or new. A failed sync is never tried again on the same file: the
system may have dropped what it could not write.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Sequence
from functools import partial

from commonplace.model.errors import AlreadyExists, CommonplaceError, LinkRefused, NotFound, RevisionMismatch
from commonplace.model.names import revision_of
from commonplace.vault.disk_port import (
    FILE_MODE,
    Action,
    Disk,
    DiskFile,
    DiskFolder,
    StartJob,
    convert_os_error,
    run_at_once,
)
from commonplace.vault.paths import TEMP_PREFIX, TEMP_SUFFIX, BookPath
from commonplace.vault.port import (
    ABSENT,
    ANY,
    Change,
    Delete,
    FileKind,
    Move,
    Stat,
    VisibleCallback,
    Write,
    WrittenCallback,
    do_nothing,
)

MAX_OPEN = 64  # files open for writing at a time: bulk writes stay far below the system's limit
_HALF_DONE = "The write is not acknowledged, but a part of it may be visible. Read before you write again."
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})


class Commit:
    """One group of changes on its way to the disk; a context manager that closes what it opened."""

    def __init__(self, disk: Disk, start_job: StartJob = run_at_once, confirm: Action = do_nothing) -> None:
        """`confirm` is called before the first change is visible, and raises what forbids that."""
        self._disk, self._start_job, self._confirm = disk, start_job, confirm
        self._folders: dict[BookPath, DiskFolder] = {}
        self._dirty: dict[BookPath, DiskFolder] = {}
        self._made: list[BookPath] = []
        self._temps: dict[BookPath, str] = {}  # names of the temporary files of writes that are not visible yet
        self._stats: dict[BookPath, Stat] = {}  # of the files that are written
        self._syncing: list[tuple[Action, Sequence[DiskFile]]] = []
        self._published = False

    def __enter__(self) -> Commit:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._end_syncing()
        for folder in self._folders.values():
            with contextlib.suppress(OSError):
                folder.close()

    def run(
        self,
        changes: Sequence[Change],
        meanwhile: Action | None,
        visible: VisibleCallback | None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        """Make the changes durable, call back while the medium is busy, and return the stats, as Vault.apply says."""
        try:
            for change in changes:
                self._check(change)
            self._stage([change for change in changes if isinstance(change, Write)], written)
            if meanwhile:
                meanwhile()
            self._end_syncing()
            self._confirm()
            for change in changes:
                self._publish(change)
            wait_for_folders = self._start_job(self.sync_folders)
            stats = [self._stats.get(change.path) for change in changes]
            try:
                if visible:
                    visible(stats)
            finally:
                wait_for_folders()
            return stats
        except OSError as error:
            self._undo()
            if not self._published:
                raise convert_os_error(error, "writing to the book") from error
            converted = convert_os_error(error, "finishing a write")
            converted.hint = _HALF_DONE
            raise converted from error
        except CommonplaceError:
            self._undo()
            raise

    def folder(self, path: BookPath, *, make: bool = False) -> DiskFolder:
        """Return the open folder at a path, opened once per commit; `make` creates what is missing, level by level.

        Raises OSError when it is missing or cannot be opened.
        """
        known = self._folders.get(path)
        if known is not None:
            return known
        try:
            folder = self._disk.open(path.parts)
        except FileNotFoundError:
            if not make or not path.parts:
                raise
            parent = self.folder(path.parent, make=True)
            with contextlib.suppress(FileExistsError):  # another process made it first
                parent.make_folder(path.name)
                self._made.append(path)
            self._dirty[path.parent] = parent
            folder = self._disk.open(path.parts)
        if len(self._folders) >= MAX_OPEN:  # stay far below the limit: a bulk write may touch hundreds of folders
            for other in [other for other in self._folders if other not in self._dirty][: MAX_OPEN // 2]:
                self._folders.pop(other).close()
        self._folders[path] = folder
        return folder

    def sync_folders(self) -> None:
        """Wait until every changed folder is on the medium. Raises OSError when a sync fails."""
        for folder in self._dirty.values():
            folder.sync()
        self._dirty.clear()

    def _check(self, change: Change) -> None:
        """Refuse what can be refused before anything is written: a file that is not as its change expects."""
        if isinstance(change, Move):
            self._check_present(change.path, "moved")
            self._check_absent(change.to)
        elif change.expected == ABSENT:
            self._check_absent(change.path)
        elif change.expected != ANY:
            try:
                data, _ = self.folder(change.path.parent).read(change.path.name)
            except FileNotFoundError:
                raise RevisionMismatch(f"{change.path} is gone.") from None
            if revision_of(data) != change.expected:
                raise RevisionMismatch(f"{change.path} was changed after it was read.")
        elif isinstance(change, Delete):
            self._check_present(change.path, "deleted")

    def _check_present(self, path: BookPath, doing: str) -> None:
        found = self._stat(path)
        if found is None:
            raise NotFound(f"{path} is not there to be {doing}.")
        if found.kind is not FileKind.FILE:
            raise LinkRefused(f"{path} is not a file.")

    def _check_absent(self, path: BookPath) -> None:
        if self._stat(path) is not None:
            raise AlreadyExists(f"{path} is there already.")

    def _stat(self, path: BookPath) -> Stat | None:
        try:
            return self.folder(path.parent).stat(path.name)
        except FileNotFoundError:
            return None

    def _stage(self, writes: Sequence[Write], written: WrittenCallback | None = None) -> None:
        """Write each new text to a temporary file in its folder, and start syncing it."""
        for start in range(0, len(writes), MAX_OPEN):
            self._end_syncing()
            opened: list[DiskFile] = []
            try:
                for write in writes[start : start + MAX_OPEN]:
                    file = self._new_temp(write)
                    opened.append(file)
                    file.write(write.data)
                    self._stats[write.path] = file.stat()
                if len(opened) > 1:
                    for file in opened:
                        file.start_sync()
                wait = self._start_job(partial(_sync_all, opened))
            except BaseException:
                _close_all(opened)
                raise
            self._syncing.append((wait, opened))
            if written and len(writes) > MAX_OPEN:
                written(start + len(opened), len(writes))

    def _end_syncing(self) -> None:
        """Wait until all staged files are on the medium. Raises what a sync raised."""
        while self._syncing:
            wait, files = self._syncing.pop()
            try:
                wait()
            finally:
                _close_all(files)

    def _new_temp(self, write: Write) -> DiskFile:
        """Create the temporary file of a write, with the mode of the file it replaces, and return it open."""
        folder = self.folder(write.path.parent, make=True)
        old = None if write.expected == ABSENT else folder.stat(write.path.name)
        if old is not None and old.kind is not FileKind.FILE:
            raise OSError(errno.ELOOP, "not a regular file")
        name = temp_name()
        file = folder.create(name, old.mode if old is not None else FILE_MODE)
        self._temps[write.path] = name
        return file

    def _publish(self, change: Change) -> None:
        """Make one change visible."""
        folder = self._change_folder(change.path.parent)
        name = change.path.name
        if isinstance(change, Write):
            temp = self._temps[change.path]
            if change.expected != ABSENT:
                folder.rename(temp, folder, name)
            elif _link_or_move(folder, temp, folder, name):
                folder.remove(temp)
            del self._temps[change.path]
        elif isinstance(change, Move):
            target = self._change_folder(change.to.parent)
            if _link_or_move(folder, name, target, change.to.name):
                self._change_folder(change.path.parent).remove(name)
            self._dirty[change.path.parent] = folder
        else:
            folder.remove(name)
        self._published = True

    def _change_folder(self, path: BookPath) -> DiskFolder:
        """Return the folder of the next change, marked as changed; first sync any other changed folder."""
        folder = self.folder(path, make=True)
        if path not in self._dirty:
            self.sync_folders()
        self._dirty[path] = folder
        return folder

    def _undo(self) -> None:
        """Remove the temporary files, and the folders made for a write that did not happen."""
        with contextlib.suppress(OSError):
            self._end_syncing()
        for path, name in self._temps.items():
            with contextlib.suppress(OSError):
                self.folder(path.parent).remove(name)
        for made in reversed(self._made):
            with contextlib.suppress(OSError):
                self.folder(made.parent).remove_folder(made.name)


def _sync_all(files: Sequence[DiskFile]) -> None:
    for file in files:
        file.sync()


def _close_all(files: Sequence[DiskFile]) -> None:
    for file in files:
        file.close()


def _link_or_move(folder: DiskFolder, name: str, target: DiskFolder, to: str) -> bool:
    """Give a file a second name; returns False when it could only be moved.

    Raises AlreadyExists where there is a file.
    """
    try:
        return folder.link(name, target, to)
    except FileExistsError:
        raise AlreadyExists(f"{to} is there already.") from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    # No hard links on this file system (FAT, some shares). The scope's lock keeps our own writers out, so only another
    # program could create the file between these two steps.
    if target.stat(to) is not None:
        raise AlreadyExists(f"{to} is there already.")
    folder.rename(name, target, to)
    return False


def temp_name() -> str:
    """Return a name that no other process or thread makes, so that two writers in one folder never share a file."""
    return f"{TEMP_PREFIX}{os.getpid():x}-{os.urandom(6).hex()}{TEMP_SUFFIX}"
