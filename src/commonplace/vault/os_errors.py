"""What the operating system said, in our words. No OSError leaves the vault."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.model.errors import (
    AlreadyExists,
    CommonplaceError,
    DiskFull,
    InvalidPath,
    LinkRefused,
    LockUnsupported,
    NotFound,
    ReadOnly,
    StorageError,
    TooManyFiles,
    Unreadable,
    WriteFailed,
)

_BY_NUMBER: dict[int, type[CommonplaceError]] = {
    errno.ENOENT: NotFound,
    errno.EEXIST: AlreadyExists,
    errno.ENOTDIR: NotFound,
    errno.EISDIR: LinkRefused,
    errno.ELOOP: LinkRefused,
    errno.ENXIO: LinkRefused,
    errno.ENOSPC: DiskFull,
    errno.EDQUOT: DiskFull,
    errno.EFBIG: DiskFull,
    errno.EROFS: ReadOnly,
    errno.EACCES: ReadOnly,
    errno.EPERM: ReadOnly,
    errno.EMFILE: TooManyFiles,
    errno.ENFILE: TooManyFiles,
    errno.ENAMETOOLONG: InvalidPath,
    errno.EINVAL: InvalidPath,
    errno.ENOLCK: LockUnsupported,
    errno.EIO: WriteFailed,
}


_LOOKING = ("reading ", "listing ", "looking ")


def as_our_error(error: OSError, doing: str) -> CommonplaceError:
    """The error of ours that says the same, with what was being done and without any path of the machine."""
    number = error.errno or 0
    kind = _BY_NUMBER.get(number, StorageError)
    if kind is ReadOnly and doing.startswith(_LOOKING):
        kind = Unreadable
    said = (kind.__doc__ or "").strip()
    return kind(f"While {doing}: {said[:1].lower()}{said[1:]} ({errno.errorcode.get(number, f'error {number}')})")


@contextmanager
def mapped(doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise as_our_error(error, doing) from error
