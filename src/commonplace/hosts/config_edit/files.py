"""Read and replace files of other programs with the same care as a book's own files.

No link below the base folder is followed. A file is replaced in one step and keeps its mode. It is left alone when it
changed since it was read, belongs to another user, or has a second name. New files are for the user only. Removing a
file also removes the folders that are then empty, up to the base.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from commonplace.model.errors import (
    AlreadyExists,
    HostFileChanged,
    HostFileUnusable,
    LinkRefused,
    NotFound,
)
from commonplace.model.ids import new_id
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import FILE_MODE, Disk, DiskFolder, convert_os_error
from commonplace.vault.port import FileKind

_MOST_BYTES = 20_000_000
_RUN_MODE = 0o700
_BY_HAND = "Connect as its owner, or with the real file; or add by hand what `--print` shows."


class FileSnapshot(NamedTuple):
    """A file as it was read; `data` is None where there is none."""

    base: str
    file: str
    data: bytes | None = None
    mode: int = FILE_MODE

    @property
    def path(self) -> str:
        """Its full path."""
        return os.path.join(self.base, *self.file.split("/"))

    @property
    def text(self) -> str | None:
        """Its text; None where there is no file."""
        return None if self.data is None else self.data.decode("utf-8")


def read(base: str, file: str) -> FileSnapshot:
    """Return a file as it is now; raise HostFileUnusable for a link, a folder, another encoding or a huge file."""
    snapshot = FileSnapshot(base, file)
    *folders, name = file.split("/")
    with _as_host_errors(snapshot):
        try:
            disk = open_disk(base)
            folder = disk.open(folders)
        except (FileNotFoundError, NotADirectoryError):
            return snapshot
        with closing(folder):
            stat = folder.stat(name)
            if stat is None:
                return snapshot
            if stat.kind is not FileKind.FILE:
                raise HostFileUnusable(f"{snapshot.path} is a link or not a file; it was not changed.", hint=_BY_HAND)
            if stat.size > _MOST_BYTES:
                raise HostFileUnusable(f"{snapshot.path} is too large to be a configuration.")
            data, stat = folder.read(name)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise HostFileUnusable(f"{snapshot.path} is not UTF-8 text.") from None
    return snapshot._replace(data=data, mode=stat.mode)


def write(snapshot: FileSnapshot, text: str | None, *, is_executable: bool = False) -> None:
    """Replace a file by this text, or remove it (None); raise HostFileChanged where it is not as it was read."""
    with _as_host_errors(snapshot):
        _refuse_shared(snapshot)
        if text is None:
            _remove(snapshot)
        else:
            _replace(snapshot, text.encode("utf-8"), _RUN_MODE if is_executable else snapshot.mode)


def _replace(snapshot: FileSnapshot, data: bytes, mode: int) -> None:
    *folders, name = snapshot.file.split("/")
    draft = f".{name}.{new_id()[:12]}.tmp"
    with closing(_open_or_make(open_disk(snapshot.base), folders)) as folder:
        with closing(folder.create(draft, mode)) as file:
            file.write(data)
            file.sync()
        try:
            _publish(snapshot, folder, draft, name)
        except BaseException:
            folder.remove(draft)
            raise
        folder.sync()


def _publish(snapshot: FileSnapshot, folder: DiskFolder, draft: str, name: str) -> None:
    """Give the draft its name: over the file as it was read, or where no file may be."""
    if snapshot.data is not None:
        _require_same(snapshot, folder, name)
        folder.rename(draft, folder, name)
        return
    try:
        is_draft_left = folder.link(draft, folder, name)
    except FileExistsError:
        raise HostFileChanged(f"{snapshot.path} was created by another program in the meantime.") from None
    if is_draft_left:
        folder.remove(draft)


def _remove(snapshot: FileSnapshot) -> None:
    *folders, name = snapshot.file.split("/")
    disk = open_disk(snapshot.base)
    with closing(disk.open(folders)) as folder:
        _require_same(snapshot, folder, name)
        folder.remove(name)
        folder.sync()
    while folders:
        *folders, last = folders
        with closing(disk.open(folders)) as folder:
            try:
                folder.remove_folder(last)
            except OSError:  # something else is in it
                return


def _require_same(snapshot: FileSnapshot, folder: DiskFolder, name: str) -> None:
    try:
        data, _ = folder.read(name)
    except FileNotFoundError:
        data = b""
    if data != snapshot.data:
        raise HostFileChanged(f"{snapshot.path} was changed by another program in the meantime.")


def _open_or_make(disk: Disk, folders: list[str]) -> DiskFolder:
    """Return the folder at the end of a path; folders that are missing are made."""
    folder = disk.open([])
    for depth, name in enumerate(folders, 1):
        with closing(folder), suppress(FileExistsError):  # another program may make it first
            if folder.stat(name) is None:
                folder.make_folder(name)
                folder.sync()
        folder = disk.open(folders[:depth])
    return folder


def _refuse_shared(snapshot: FileSnapshot) -> None:
    """Raise HostFileUnusable for a file of another user or with a second name: replacing would make it another file."""
    if snapshot.data is None:
        return
    found = os.lstat(snapshot.path)
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise HostFileUnusable(f"{snapshot.path} belongs to another user.", hint=_BY_HAND)
    if found.st_nlink > 1:
        raise HostFileUnusable(f"{snapshot.path} has a second name (a hard link); replacing it would separate them.")


@contextmanager
def _as_host_errors(snapshot: FileSnapshot) -> Iterator[None]:
    """Turn errors of the system into ours, with the file's path."""
    try:
        yield
    except OSError as error:
        ours = convert_os_error(error, f"changing {snapshot.path}")
        if isinstance(ours, (LinkRefused, NotFound, AlreadyExists)):
            message = f"{snapshot.path} cannot be used: a link or something else is in the way."
            raise HostFileUnusable(message, hint=_BY_HAND) from None
        raise ours from None
