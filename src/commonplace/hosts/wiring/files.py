"""Files of other programs, read and replaced with the care that a book's own files get.

Nothing below the base folder is followed through a link. A file is replaced in one step, keeps its mode, and is left
alone when it changed since it was read, belongs to somebody else, or has another name. New files are for the user
only. What is gone takes the folders with it that are empty then, up to the base.
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


class Held(NamedTuple):
    """A file as it was read; `data` is None where there is none."""

    base: str
    file: str
    data: bytes | None = None
    mode: int = FILE_MODE

    @property
    def path(self) -> str:
        return os.path.join(self.base, *self.file.split("/"))

    @property
    def text(self) -> str | None:
        return None if self.data is None else self.data.decode("utf-8")


def read(base: str, file: str) -> Held:
    held = Held(base, file)
    *folders, name = file.split("/")
    try:
        disk = open_disk(base)
        folder = disk.open(folders)
    except (FileNotFoundError, NotADirectoryError):
        return held
    except OSError as error:
        raise _unusable(held, error) from None
    try:
        stat = folder.stat(name)
        if stat is None:
            return held
        if stat.kind is not Kind.FILE:
            raise HostFileUnusable(f"{held.path} is a link or no file; it was not touched.", hint=_BY_HAND)
        if stat.size > _MOST_BYTES:
            raise HostFileUnusable(f"{held.path} is too large to be a configuration.")
        data, stat = folder.read(name)
    except OSError as error:
        raise _unusable(held, error) from None
    finally:
        folder.close()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise HostFileUnusable(f"{held.path} is not UTF-8 text.") from None
    return held._replace(data=data, mode=stat.mode)


def write(held: Held, text: str | None, *, executable: bool = False) -> None:
    """Replace the file as it was read by this text, or remove it; what is there must be what was read."""
    try:
        _refuse_others(held)
        if text is None:
            _remove(held)
        else:
            _replace(held, text.encode("utf-8"), _RUN_MODE if executable else held.mode)
    except OSError as error:
        raise _unusable(held, error) from None


def _replace(held: Held, data: bytes, mode: int) -> None:
    *folders, name = held.file.split("/")
    folder = _made(open_disk(held.base), folders)
    draft = f".{name}.{new_id()[:12]}.tmp"
    try:
        file = folder.create(draft, mode)
        try:
            file.write(data)
            file.sync()
        finally:
            file.close()
        try:
            _publish(held, folder, draft, name)
        except BaseException:
            folder.remove(draft)
            raise
        folder.sync()
    finally:
        folder.close()


def _publish(held: Held, folder: Folder, draft: str, name: str) -> None:
    if held.data is not None:
        _require_same(held, folder, name)
        folder.rename(draft, folder, name)
        return
    try:
        moved = not folder.link(draft, folder, name)
    except FileExistsError:
        raise HostFileChanged(f"{held.path} was made by somebody else in the meantime.") from None
    if not moved:
        folder.remove(draft)


def _remove(held: Held) -> None:
    *folders, name = held.file.split("/")
    disk = open_disk(held.base)
    folder = disk.open(folders)
    try:
        _require_same(held, folder, name)
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


def _require_same(held: Held, folder: Folder, name: str) -> None:
    try:
        data, _ = folder.read(name)
    except FileNotFoundError:
        data = b""
    if data != held.data:
        raise HostFileChanged(f"{held.path} was changed by somebody else in the meantime.")


def _made(disk: Disk, folders: list[str]) -> Folder:
    """The folder at the end of a path, made where it is missing."""
    folder = disk.open([])
    for number, name in enumerate(folders):
        try:
            stat = folder.stat(name)
            if stat is None:
                folder.make_folder(name)
                folder.sync()
        except FileExistsError:  # somebody else made it just now
            pass
        finally:
            folder.close()
        folder = disk.open(folders[: number + 1])
    return folder


def _refuse_others(held: Held) -> None:
    """A file of another user, or with a second name, would not be the same file after it is replaced."""
    if held.data is None:
        return
    found = os.lstat(held.path)
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise HostFileUnusable(f"{held.path} belongs to another user.", hint=_BY_HAND)
    if found.st_nlink > 1:
        raise HostFileUnusable(f"{held.path} has a second name (a hard link); replacing it would part them.")


_BY_HAND = "Connect as its owner, or with the real file; or add by hand what `--print` shows."


def _unusable(held: Held, error: OSError) -> CommonplaceError:
    ours = as_our_error(error, f"changing {held.path}")
    if isinstance(ours, (LinkRefused, NotFound, AlreadyExists)):
        return HostFileUnusable(f"{held.path} cannot be used: a link or something else is in the way.", hint=_BY_HAND)
    return ours
