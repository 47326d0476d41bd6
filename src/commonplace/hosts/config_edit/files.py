"""Read and replace files of other programs with the same care as a book's own files.

No link below the base folder is followed. A file is replaced in one step and keeps its mode. It is left alone when it
changed since it was read, belongs to another user, or has a second name. New files are for the user only. Removing a
file also removes the folders that are then empty, up to the base.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from commonplace.model.errors import (
    AlreadyExists,
    CommonplaceError,
    HostFileChanged,
    HostFileUnusable,
    LinkRefused,
    NotFound,
)
from commonplace.model.ids import new_id
from commonplace.vault.disk import open_disk
from commonplace.vault.os_errors import as_our_error
from commonplace.vault.port import Kind
from commonplace.vault.seam import FILE_MODE, Disk, Folder

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
    try:
        disk = open_disk(base)
        folder = disk.open(folders)
    except (FileNotFoundError, NotADirectoryError):
        return snapshot
    except OSError as error:
        raise _to_host_error(snapshot, error) from None
    try:
        stat = folder.stat(name)
        if stat is None:
            return snapshot
        if stat.kind is not Kind.FILE:
            raise HostFileUnusable(f"{snapshot.path} is a link or not a file; it was not changed.", hint=_BY_HAND)
        if stat.size > _MOST_BYTES:
            raise HostFileUnusable(f"{snapshot.path} is too large to be a configuration.")
        data, stat = folder.read(name)
    except OSError as error:
        raise _to_host_error(snapshot, error) from None
    finally:
        folder.close()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise HostFileUnusable(f"{snapshot.path} is not UTF-8 text.") from None
    return snapshot._replace(data=data, mode=stat.mode)


def write(snapshot: FileSnapshot, text: str | None, *, is_executable: bool = False) -> None:
    """Replace a file by this text, or remove it (None); raise HostFileChanged where it is not as it was read."""
    try:
        _refuse_shared(snapshot)
        if text is None:
            _remove(snapshot)
        else:
            _replace(snapshot, text.encode("utf-8"), _RUN_MODE if is_executable else snapshot.mode)
    except OSError as error:
        raise _to_host_error(snapshot, error) from None


def _replace(snapshot: FileSnapshot, data: bytes, mode: int) -> None:
    *folders, name = snapshot.file.split("/")
    folder = _open_or_make(open_disk(snapshot.base), folders)
    draft = f".{name}.{new_id()[:12]}.tmp"
    try:
        file = folder.create(draft, mode)
        try:
            file.write(data)
            file.sync()
        finally:
            file.close()
        try:
            _publish(snapshot, folder, draft, name)
        except BaseException:
            folder.remove(draft)
            raise
        folder.sync()
    finally:
        folder.close()


def _publish(snapshot: FileSnapshot, folder: Folder, draft: str, name: str) -> None:
    if snapshot.data is not None:
        _require_same(snapshot, folder, name)
        folder.rename(draft, folder, name)
        return
    try:
        moved = not folder.link(draft, folder, name)
    except FileExistsError:
        raise HostFileChanged(f"{snapshot.path} was created by another program in the meantime.") from None
    if not moved:
        folder.remove(draft)


def _remove(snapshot: FileSnapshot) -> None:
    *folders, name = snapshot.file.split("/")
    disk = open_disk(snapshot.base)
    folder = disk.open(folders)
    try:
        _require_same(snapshot, folder, name)
        folder.remove(name)
        folder.sync()
    finally:
        folder.close()
    while folders:
        last = folders.pop()
        outer = disk.open(folders)
        try:
            outer.remove_folder(last)
        except OSError:  # something else is in it
            return
        finally:
            outer.close()


def _require_same(snapshot: FileSnapshot, folder: Folder, name: str) -> None:
    try:
        data, _ = folder.read(name)
    except FileNotFoundError:
        data = b""
    if data != snapshot.data:
        raise HostFileChanged(f"{snapshot.path} was changed by another program in the meantime.")


def _open_or_make(disk: Disk, folders: list[str]) -> Folder:
    """Return the folder at the end of a path; folders that are missing are made."""
    folder = disk.open([])
    for number, name in enumerate(folders):
        try:
            stat = folder.stat(name)
            if stat is None:
                folder.make_folder(name)
                folder.sync()
        except FileExistsError:  # another program made it just now
            pass
        finally:
            folder.close()
        folder = disk.open(folders[: number + 1])
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


def _to_host_error(snapshot: FileSnapshot, error: OSError) -> CommonplaceError:
    ours = as_our_error(error, f"changing {snapshot.path}")
    if isinstance(ours, (LinkRefused, NotFound, AlreadyExists)):
        return HostFileUnusable(
            f"{snapshot.path} cannot be used: a link or something else is in the way.", hint=_BY_HAND
        )
    return ours
