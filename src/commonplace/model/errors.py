"""Every error that Commonplace raises, in one tree. Every room raises them, every surface prints them.

Each has a stable `code` (for scripts: the name of its class in snake_case, InvalidKey is invalid_key), an `exit_code`
(for the shell), an `http_status` and a `hint` that says what to do next. The docstring of a class is its default
message. Errors of lower layers (OSError, UnicodeError) are mapped to
one of these before they leave a room.

    CommonplaceError
    ├── InvalidInput                 a value in the request
    │   ├── InvalidKey
    │   ├── InvalidScope
    │   ├── InvalidContent
    │   ├── InvalidField
    │   ├── InvalidPath
    │   ├── InvalidPattern
    │   ├── TooLarge
    │   ├── InvalidSettings
    │   └── InvalidManifest
    ├── NotFound
    ├── Conflict                     the book has changed, or the choice is not clear
    │   ├── AlreadyExists
    │   ├── RevisionMismatch
    │   ├── AmbiguousKey
    │   ├── NoteInConflict
    │   └── DecisionNeeded
    ├── Refused                      not allowed, whatever the values
    │   ├── OutsideView
    │   ├── LinkRefused
    │   ├── SecretFound
    │   ├── NotPermitted
    │   └── Disabled
    ├── StorageError                 the disk or the operating system
    │   ├── LockTimeout
    │   ├── LockUnsupported
    │   ├── DiskFull
    │   ├── ReadOnly
    │   ├── Unreadable
    │   ├── TooManyFiles
    │   ├── WriteFailed
    │   ├── StateUnusable
    │   ├── BookTooNew
    │   └── JournalDamaged
    ├── EmbedderError                vectors; search by words still works
    │   ├── EmbedderMissing
    │   └── EmbedderFailed
    ├── ServiceFailed                a service that was asked over the network
    ├── HostError                    an agent program and its files
    │   ├── UnknownHost
    │   ├── HostFileUnusable
    │   ├── NotOurs
    │   └── HostFileChanged
    └── SourceRefused                the source of an import
        ├── UnknownFormat
        └── AmbiguousFormat
"""

from __future__ import annotations

import errno
from typing import ClassVar, Self


class CommonplaceError(Exception):
    """The operation failed."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 10
    http_status: ClassVar[int] = 500
    default_hint: ClassVar[str] = "Run `commonplace doctor` to look for problems."

    def __init_subclass__(cls) -> None:
        words = "".join(f"_{ch}" if ch.isupper() else ch for ch in cls.__name__)
        cls.code = words[1:].lower()

    def __init__(self, message: str | None = None, *, hint: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.hint = hint or self.default_hint
        super().__init__(self.message)

    @classmethod
    def during(cls, doing: str, cause: str) -> Self:
        """Return the error for something that failed while `doing`; it says so, with the name of the cause."""
        meaning = (cls.__doc__ or "").strip()
        return cls(f"While {doing}: {meaning[:1].lower()}{meaning[1:]} ({cause})")

    def as_dict(self) -> dict[str, str]:
        """Return what every surface prints: code, message, hint."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class InvalidInput(CommonplaceError):
    """The request contains a value that cannot be used."""

    exit_code = 11
    http_status = 422
    default_hint = "Correct the value named in the message and try again."


class InvalidKey(InvalidInput):
    """That is not a valid key."""

    exit_code = 12
    default_hint = (
        "Use a-z, 0-9 and -, 1 to 60 characters per level, and up to 4 levels joined by /, such as people/alice."
    )


class InvalidScope(InvalidInput):
    """That is not a valid scope."""

    exit_code = 13
    default_hint = "Use session, agent, project or global; a person can name another one by its id: project:ID."


class InvalidContent(InvalidInput):
    """The text cannot be stored."""

    exit_code = 14
    default_hint = "Send valid Unicode text."


class InvalidField(InvalidInput):
    """A field has an invalid value."""

    exit_code = 15


class InvalidPath(InvalidInput):
    """That is not a valid path in a book."""

    exit_code = 16
    default_hint = "Paths start at / (the root of the book) and contain no .. and no name that Windows reserves."


class InvalidPattern(InvalidInput):
    """That pattern is not supported."""

    exit_code = 70
    default_hint = "Use RE2 syntax, without back-references, lookahead or lookbehind, or search for plain words."


class TooLarge(InvalidInput):
    """That is too large to read here."""

    exit_code = 71
    http_status = 413
    default_hint = "Open the file in another program."


class InvalidSettings(InvalidInput):
    """A setting is unknown or has an invalid value."""

    exit_code = 17
    default_hint = "Run `commonplace config` to list the settings, then correct or remove the one named in the message."


class InvalidManifest(InvalidInput):
    """That is not a valid run manifest."""

    exit_code = 75
    default_hint = "Give at least a run_id. `commonplace journal schema` prints what else can be in it."


class NotFound(CommonplaceError):
    """Nothing was found there."""

    exit_code = 1
    http_status = 404
    default_hint = "Run `commonplace list` to see what is there."


class Conflict(CommonplaceError):
    """The book has changed since you read it."""

    exit_code = 30
    http_status = 409
    default_hint = "Read it again, then decide."


class AlreadyExists(Conflict):
    """Something with that name already exists."""

    exit_code = 31
    default_hint = "Choose another name, or change the existing one."


class RevisionMismatch(Conflict):
    """It has changed since you read it."""

    exit_code = 32
    default_hint = "Read it again, then repeat the write with the new revision."


class AmbiguousKey(Conflict):
    """That key exists in several scopes."""

    exit_code = 33
    default_hint = "Name the scope you mean."


class NoteInConflict(Conflict):
    """A merge left two texts in the file of this memory."""

    exit_code = 34
    default_hint = (
        "A person chooses: run `commonplace edit KEY`, keep what is right, and delete the lines that start with"
        " <<<<<<<, ======= and >>>>>>>. `commonplace undo KEY` brings back the text from before the merge instead."
    )


class DecisionNeeded(Conflict):
    """Nothing was stored: a similar memory may exist, or nothing was read before the write."""

    exit_code = 83
    default_hint = "Read what is there, or repeat with decision=create, decision=update:KEY or decision=supersede:KEY."


class Refused(CommonplaceError):
    """That is not allowed here."""

    exit_code = 40
    http_status = 403
    default_hint = "Ask the owner of this book."


class OutsideView(Refused):
    """That is outside what you may see or change."""

    exit_code = 41
    default_hint = "Use your own session, agent or project, or global."


class LinkRefused(Refused):
    """The path contains a symbolic link or special file, which a book never follows."""

    exit_code = 42
    default_hint = "Replace the link with a real file or folder, or set the root to the folder that it points to."


class SecretFound(Refused):
    """The text contains a secret; nothing was stored."""

    exit_code = 43
    http_status = 422
    default_hint = (
        "Store where the secret is kept (a vault, a variable, a file) instead of the secret itself. "
        "False positive? Add commonplace:not-a-secret to that line."
    )


class NotPermitted(Refused):
    """Your role may not do that."""

    exit_code = 44
    default_hint = "Ask a person, or use a scope of your own."


class Disabled(Refused):
    """Memory is switched off here."""

    exit_code = 45
    default_hint = "`commonplace config set enabled true` turns it on."


class StorageError(CommonplaceError):
    """A disk operation failed; nothing was acknowledged."""

    exit_code = 50
    http_status = 503
    default_hint = "Check the disk, then try again. Storing the same text twice does no harm."


class LockTimeout(StorageError):
    """Another process is writing to the same scope and did not finish in time."""

    exit_code = 51
    default_hint = "Try again. If that process hangs, end it. Reading is never blocked."


class LockUnsupported(StorageError):
    """This file system does not support locks, so two writers could overwrite each other."""

    exit_code = 52
    default_hint = "Put the book on a local disk, or mount the share with locking (NFSv4, or without nolock)."


class DiskFull(StorageError):
    """The disk or your quota is full; nothing was written."""

    exit_code = 53
    http_status = 507
    default_hint = "Free some space and try again."


class ReadOnly(StorageError):
    """The book cannot be written: the file system is read-only, or you lack permission."""

    exit_code = 54
    default_hint = "Check the owner of the folder and how it is mounted. Reading still works."


class Unreadable(StorageError):
    """That cannot be read."""

    exit_code = 58
    default_hint = "Check the owner and the mode of the file or folder, and the disk."


class TooManyFiles(StorageError):
    """Too many files are open."""

    exit_code = 55
    default_hint = "Close programs or raise the limit (ulimit -n), then try again."


class WriteFailed(StorageError):
    """The disk reported an error while writing; the write was not acknowledged."""

    exit_code = 56
    default_hint = "Check the system log for disk errors. Do not trust this disk until it is checked."


class StateUnusable(StorageError):
    """The state database (usage, queue, costs) cannot be used; no memory is affected."""

    exit_code = 57
    default_hint = "Close other programs that use this book, or move its state.db away: no memory is lost with it."


class BookTooNew(StorageError):
    """A newer Commonplace wrote this book, in a format that this one does not know."""

    exit_code = 59
    default_hint = "Upgrade Commonplace: `uv tool upgrade commonplace-memory`, or as you installed it."


class JournalDamaged(StorageError):
    """A journal file is damaged."""

    exit_code = 76
    default_hint = "Restore the file named in the message from a backup, or move it away and record the run again."


class EmbedderError(CommonplaceError):
    """Texts could not be turned into vectors; no memory is affected."""

    exit_code = 60
    http_status = 503
    default_hint = "Search by words still works: `--mode lexical`."


class EmbedderMissing(EmbedderError):
    """The configured embedder is not installed."""

    exit_code = 61
    default_hint = "Install what the message names, or set embedder to model or static."


class EmbedderFailed(EmbedderError):
    """The embedder returned no vectors."""

    exit_code = 62
    http_status = 502
    default_hint = "Check that the service is running and that the model name is right, then try again."


class ServiceFailed(CommonplaceError):
    """A service gave no usable answer."""

    exit_code = 63
    http_status = 502
    default_hint = "Check that the service is running and that the model name is right, then try again."

    def __init__(self, message: str | None = None, *, hint: str | None = None, reason: str = "failed") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason  # stable: embed/service.py lists them


class HostError(CommonplaceError):
    """The host could not be connected; its files are unchanged."""

    exit_code = 85
    default_hint = "Run `commonplace connect HOST --dry-run` to see the changes and make them by hand."


class UnknownHost(HostError):
    """Unknown host."""

    exit_code = 86
    http_status = 404
    default_hint = "Run `commonplace connect --list`. For any other agent, run `commonplace connect agents-md`."


class HostFileUnusable(HostError):
    """A file of the host cannot be read or changed safely."""

    exit_code = 87
    http_status = 422
    default_hint = "Repair the file named in the message, or make the change that `--dry-run` shows by hand."


class NotOurs(HostError):
    """Something you made yourself has our name there; it was not changed."""

    exit_code = 88
    http_status = 409
    default_hint = "Rename or remove it, then try again."


class HostFileChanged(HostError):
    """The file changed during the update, so it was left as it is."""

    exit_code = 89
    http_status = 409
    default_hint = "Try again when the host is not writing to the file."


class SourceRefused(CommonplaceError):
    """The source cannot be imported; nothing was stored."""

    exit_code = 90
    http_status = 422
    default_hint = "Name a file or folder in which another tool keeps its memories."


class UnknownFormat(SourceRefused):
    """The source is not in a format that can be imported."""

    exit_code = 91
    default_hint = "Name its format: `commonplace import --help` lists them."


class AmbiguousFormat(SourceRefused):
    """The source looks like more than one format."""

    exit_code = 92
    default_hint = "Name the format you mean: `commonplace import --help` lists them."


SYSTEM_ERRORS: dict[int, type[CommonplaceError]] = {
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
"""The error for each number of an OSError; the vault and the state raise these."""
