"""Every error a caller can meet, in one tree.

Each has a stable `code` (for scripts), an `exit_code` (for the shell), an `http_status` and a `hint` that says what to
do. The docstring of a class is its default message. Errors of lower layers (OSError, UnicodeError) never
leave a room unmapped.

    CommonplaceError
    ├── InvalidInput                 the caller's words
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
    ├── Conflict                     the book is not as the caller thought
    │   ├── AlreadyExists
    │   ├── RevisionMismatch
    │   ├── AmbiguousKey
    │   └── DecisionNeeded
    ├── Refused                      not allowed, whatever the words
    │   ├── OutsideView
    │   ├── LinkRefused
    │   ├── SecretFound
    │   ├── NotPermitted
    │   └── Disabled
    ├── StorageError                 the machine
    │   ├── LockTimeout
    │   ├── LockUnsupported
    │   ├── DiskFull
    │   ├── ReadOnly
    │   ├── Unreadable
    │   ├── TooManyFiles
    │   ├── WriteFailed
    │   ├── StateUnusable
    │   └── JournalDamaged
    ├── EmbedderError                texts as vectors; recall by words goes on without
    │   ├── EmbedderMissing
    │   └── EmbedderFailed
    ├── HostError                    an agent program and its files
    │   ├── UnknownHost
    │   ├── HostFileUnusable
    │   ├── NotOurs
    │   └── HostFileChanged
    └── SourceRefused                what was to be imported
        ├── UnknownFormat
        └── AmbiguousFormat
"""

from __future__ import annotations

from typing import ClassVar


class CommonplaceError(Exception):
    """Commonplace could not do that."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 10
    http_status: ClassVar[int] = 500
    default_hint: ClassVar[str] = "Run `commonplace doctor` and read what it finds."

    def __init__(self, message: str | None = None, *, hint: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.hint = hint or self.default_hint
        super().__init__(self.message)

    def as_dict(self) -> dict[str, str]:
        """The shape every surface prints: code, message, hint."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class InvalidInput(CommonplaceError):
    """Something in the request cannot be used."""

    code = "invalid_input"
    exit_code = 11
    http_status = 422
    default_hint = "Correct the value that the message names and try again."


class InvalidKey(InvalidInput):
    """That is not a key."""

    code = "invalid_key"
    exit_code = 12
    default_hint = "A key is 1 to 60 of a-z, 0-9 and -, in up to 4 levels joined by /, such as people/alice."


class InvalidScope(InvalidInput):
    """That is not a scope."""

    code = "invalid_scope"
    exit_code = 13
    default_hint = "Use session, agent, project, global or team; session, agent and project need an id."


class InvalidContent(InvalidInput):
    """The text cannot be stored."""

    code = "invalid_content"
    exit_code = 14
    default_hint = "Send valid Unicode text."


class InvalidField(InvalidInput):
    """A field has a value it cannot have."""

    code = "invalid_field"
    exit_code = 15


class InvalidPath(InvalidInput):
    """That path cannot exist in a book."""

    code = "invalid_path"
    exit_code = 16
    default_hint = "Paths start at / (the book), have no .. and no name that Windows reserves."


class InvalidPattern(InvalidInput):
    """That pattern cannot be used."""

    code = "invalid_pattern"
    exit_code = 70
    default_hint = "Patterns are RE2's: no back-references, no looking ahead or back. Or search for plain words."


class TooLarge(InvalidInput):
    """That is too large to be read here."""

    code = "too_large"
    exit_code = 71
    http_status = 413
    default_hint = "Open the file with a program of your own."


class InvalidSettings(InvalidInput):
    """A setting is unknown or has a value it cannot have."""

    code = "invalid_settings"
    exit_code = 17
    default_hint = "`commonplace config` lists the settings; remove or correct the one that the message names."


class InvalidManifest(InvalidInput):
    """That is not the manifest of a run."""

    code = "invalid_manifest"
    exit_code = 75
    default_hint = (
        "docs/run-manifest.schema.json says what a manifest holds; only run_id and each worker must be there."
    )


class NotFound(CommonplaceError):
    """There is nothing there."""

    code = "not_found"
    exit_code = 1
    http_status = 404
    default_hint = "List what is there: `commonplace list`."


class Conflict(CommonplaceError):
    """The book has changed since it was read."""

    code = "conflict"
    exit_code = 30
    http_status = 409
    default_hint = "Read it again, then decide."


class AlreadyExists(Conflict):
    """Something with that name is there already."""

    code = "already_exists"
    exit_code = 31
    default_hint = "Choose another name, or change the one that is there."


class RevisionMismatch(Conflict):
    """It was changed after you read it."""

    code = "revision_mismatch"
    exit_code = 32
    default_hint = "Read it again and repeat the write with the new revision."


class AmbiguousKey(Conflict):
    """That key is in several scopes."""

    code = "ambiguous_key"
    exit_code = 33
    default_hint = "Say which scope you mean."


class DecisionNeeded(Conflict):
    """This may be kept already, or nobody looked; nothing was stored."""

    code = "decision_needed"
    exit_code = 83
    default_hint = "Read what is there, or repeat with decision=create, decision=update:KEY or decision=supersede:KEY."


class Refused(CommonplaceError):
    """That is not allowed here."""

    code = "refused"
    exit_code = 40
    http_status = 403
    default_hint = "Ask whoever runs this book."


class OutsideView(Refused):
    """That is outside what this caller may see or change."""

    code = "outside_view"
    exit_code = 41
    default_hint = "Use your own session, agent or project, or global."


class LinkRefused(Refused):
    """A symbolic link or special file is in the way; a book never follows one."""

    code = "link_refused"
    exit_code = 42
    default_hint = "Replace the link by a real file or folder, or set the root to where the files are."


class SecretFound(Refused):
    """The text has a secret in it; nothing was stored."""

    code = "secret_found"
    exit_code = 43
    http_status = 422
    default_hint = (
        "Store where the secret is kept (a vault, a variable, a file) instead of the secret itself. "
        "If it is none, write commonplace:not-a-secret on the same line."
    )


class NotPermitted(Refused):
    """Your role may not do that."""

    code = "not_permitted"
    exit_code = 44
    default_hint = "Ask a person, or use a scope that is yours."


class Disabled(Refused):
    """Memory is switched off here."""

    code = "disabled"
    exit_code = 45
    default_hint = "Set enabled = true in config.toml to use it again."


class StorageError(CommonplaceError):
    """The disk did not do what was asked; nothing was acknowledged."""

    code = "storage_error"
    exit_code = 50
    http_status = 503
    default_hint = "Check the disk, then try again: storing the same text twice does no harm."


class LockTimeout(StorageError):
    """Somebody else is writing to the same scope and did not finish in time."""

    code = "lock_timeout"
    exit_code = 51
    default_hint = "Try again; if the holder hangs, end that process. Reading is never blocked."


class LockUnsupported(StorageError):
    """This file system has no locks, so two writers could destroy each other's work."""

    code = "lock_unsupported"
    exit_code = 52
    default_hint = "Put the book on a local disk, or mount the share with locking (NFSv4, or nolock removed)."


class DiskFull(StorageError):
    """The disk, or your quota on it, is full; nothing was written."""

    code = "disk_full"
    exit_code = 53
    http_status = 507
    default_hint = "Free some space and try again."


class ReadOnly(StorageError):
    """The book cannot be written: the file system is read-only or the permissions say no."""

    code = "read_only"
    exit_code = 54
    default_hint = "Check who owns the folder and how it is mounted. Reading still works."


class Unreadable(StorageError):
    """The permissions of this machine do not let you read that."""

    code = "unreadable"
    exit_code = 58
    default_hint = "Check who owns the file or folder, and its mode."


class TooManyFiles(StorageError):
    """The process or the machine has no file handles left."""

    code = "too_many_files"
    exit_code = 55
    default_hint = "Close programs or raise the limit (ulimit -n), then try again."


class WriteFailed(StorageError):
    """The disk reported an error while writing; the write is not acknowledged."""

    code = "write_failed"
    exit_code = 56
    default_hint = "Look at the system's log for the disk's error. Do not trust this disk until it is checked."


class StateUnusable(StorageError):
    """The state (usage, queue, ledger) cannot be used; no memory is affected."""

    code = "state_unusable"
    exit_code = 57
    default_hint = "Close other programs that use this book, or move its state.db away: losing it loses no memory."


class JournalDamaged(StorageError):
    """A file of the journal does not say what was written into it."""

    code = "journal_damaged"
    exit_code = 76
    default_hint = "Look at the file that the message names: take it from a backup, or move it away and record again."


class EmbedderError(CommonplaceError):
    """Texts could not be turned into vectors; no memory is affected."""

    code = "embedder_error"
    exit_code = 60
    http_status = 503
    default_hint = "Recall by words works without: `--mode lexical`."


class EmbedderMissing(EmbedderError):
    """The embedder that the settings name is not here."""

    code = "embedder_missing"
    exit_code = 61
    default_hint = "Install what the message names, or set the embedder back to static."


class EmbedderFailed(EmbedderError):
    """The embedder was asked and did not give vectors."""

    code = "embedder_failed"
    exit_code = 62
    http_status = 502
    default_hint = "Check that the service runs and the model's name is right, then try again."


class HostError(CommonplaceError):
    """The agent program could not be connected; its files are as they were."""

    code = "host_error"
    exit_code = 85
    default_hint = "`commonplace connect HOST --print` shows what would be written, to do it by hand."


class UnknownHost(HostError):
    """That is no host that Commonplace knows."""

    code = "unknown_host"
    exit_code = 86
    http_status = 404
    default_hint = "`commonplace hosts` lists them. For any other: `commonplace connect agents-md`."


class HostFileUnusable(HostError):
    """A file of the host cannot be read or changed safely."""

    code = "host_file_unusable"
    exit_code = 87
    http_status = 422
    default_hint = "Mend the file that the message names, or add by hand what `--print` shows."


class NotOurs(HostError):
    """Something of the user's own has our name there; it was not touched."""

    code = "not_ours"
    exit_code = 88
    http_status = 409
    default_hint = "Rename or remove it, then try again."


class HostFileChanged(HostError):
    """The file changed while it was being worked on; it was left as it is."""

    code = "host_file_changed"
    exit_code = 89
    http_status = 409
    default_hint = "Try again when the host is not writing to it."


class SourceRefused(CommonplaceError):
    """That cannot be imported; nothing was taken."""

    code = "source_refused"
    exit_code = 90
    http_status = 422
    default_hint = "Name a file or a folder that another tool keeps its memories in."


class UnknownFormat(SourceRefused):
    """The source looks like none of the formats that can be imported."""

    code = "unknown_format"
    exit_code = 91
    default_hint = "Name its format; docs/import.md describes those that can be imported."


class AmbiguousFormat(SourceRefused):
    """The source looks like more than one format."""

    code = "ambiguous_format"
    exit_code = 92
    default_hint = "Name the one you mean; docs/import.md describes those that can be imported."
