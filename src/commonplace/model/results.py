"""What the verbs answer: the same values on every surface. A hit has one shape from every retrieval.

Answers about files say whether they were cut off (`truncated`) and how to go on (`next`, in words; `next_offset`, to be
passed as `offset`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from commonplace.model.memory import mark_external


class SimilarMemory(NamedTuple):
    key: str
    scope: str
    similarity: float
    summary: str
    relation: str = "same"  # same: it says this already; contradicts: it says otherwise of the same thing


class StoreResult(NamedTuple):
    key: str
    scope: str
    scope_id: str | None
    path: str
    revision: str
    entry: str
    action: str
    similar: tuple[SimilarMemory, ...] = ()


class RetireResult(NamedTuple):
    """What was too old: the keys that the caller may see, and how many texts went from the trash for good."""

    trashed: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    swept: int = 0


class NearMemory(NamedTuple):
    """A memory that may have to do with a question, though not surely enough to answer it."""

    key: str
    scope: str
    summary: str


class RecallResult(NamedTuple):
    hits: tuple[Hit, ...]
    total: int  # how many matched; not counted beyond a thousand
    hidden: Mapping[str, int] = MappingProxyType({})
    explained: tuple[Mapping[str, float], ...] = ()  # one per hit, when asked for
    notice: str = ""  # what a caller should know of how it was searched
    nearest: tuple[NearMemory, ...] = ()  # when there are no hits: what to look at before giving up


class Revision(NamedTuple):
    revision: str
    time: str
    author: str | None
    action: str
    path: str


class MemoryItem(NamedTuple):
    key: str
    scope: str
    scope_id: str | None
    path: str
    type: str
    status: str
    summary: str
    tags: tuple[str, ...]
    pinned: bool
    created: str
    updated: str
    revision: str
    outside: bool  # what it is summed up by came from outside

    @property
    def shown_summary(self) -> str:
        """The summary as it is shown to who reads a list."""
        return mark_external(self.summary) if self.outside else self.summary


class Proposal(NamedTuple):
    """Something that waits for a verdict: a memory, or one of its links."""

    kind: str  # memory, link
    key: str
    scope: str
    scope_id: str | None
    path: str
    status: str  # proposed, quarantined
    summary: str
    updated: str
    rel: str | None = None
    to: str | None = None


class Setting(NamedTuple):
    """A setting, its value, and where that comes from: flag, environment, config.toml or default."""

    name: str
    value: str
    source: str


class ScopeStatus(NamedTuple):
    scope: str
    scope_id: str | None
    path: str
    memories: int
    own: bool  # one of the caller's


class BookStatus(NamedTuple):
    """What is where."""

    version: str
    root: str
    book: str  # its id
    index_file: str
    index_bytes: int
    state_file: str
    state_bytes: int
    audit_folder: str | None  # None: no audit is written
    enabled: bool
    trusted: bool
    waiting: int  # for a verdict
    outside: int  # memories that came from outside, and that nobody has accepted
    scopes: tuple[ScopeStatus, ...]
    leaves_machine: tuple[str, ...]  # what is sent anywhere


class ScaffoldResult(NamedTuple):
    """What `init` did: where the book is, and the files it made."""

    root: str
    made: tuple[str, ...]


class ProjectInfo(NamedTuple):
    """Which project a folder is."""

    id: str
    source: str  # what it is known by: override, remote, marker, repository or folder
    memories: int
    unproved: str | None = None  # the project that it claims to be and cannot prove to be


class BriefResult(NamedTuple):
    """What an agent would be told: at the start, and at a prompt; and what each costs, in tokens, about."""

    text: str
    characters: int
    tokens: int
    prompt_text: str
    prompt_tokens: int
    memories: tuple[str, ...]  # what is told of, as SCOPE/KEY


class CaptureResult(NamedTuple):
    """What `capture` did: transcripts read and not readable, facts kept out for a secret, what waits for review."""

    transcripts: int
    failed: int
    refused: int
    proposed: tuple[StoreResult, ...]


class VerifyResult(NamedTuple):
    """What `verify` found: how many notes there are, and where the index or a page says something else."""

    ok: bool
    files: int
    differences: tuple[str, ...]


class Finding(NamedTuple):
    """One thing that `doctor` found: what is wrong, where, and what to do."""

    code: str  # stable; docs/doctor.md lists them all
    severity: str  # error, warning, note
    path: str  # in the book; a file beside the databases, where these are elsewhere, by its own path
    message: str
    hint: str


class SecretPlace(NamedTuple):
    """Where something that looks like a secret is. Never the secret itself."""

    path: str
    line: int  # 0: in the file's own name
    rule: str


class ScanResult(NamedTuple):
    """What `scan` found: how many files were read, where the secrets are, and what was not read, with why."""

    ok: bool
    files: int
    places: tuple[SecretPlace, ...]
    skipped: tuple[Finding, ...]


class ImportItemResult(NamedTuple):
    """What became of one item of a source."""

    place: str  # where in the source
    key: str
    scope: str
    action: str  # created, appended, trusted, unchanged
    entries: int  # how many entries it brought


class SkippedItem(NamedTuple):
    """Something in a source that was not taken, and why."""

    place: str
    reason: str  # stable; docs/import.md lists them all
    message: str


class ImportResult(NamedTuple):
    """What `import` did, or with `dry_run` would do."""

    format: str
    dry_run: bool
    trust: str  # of the entries it brought
    created: int
    appended: int
    trusted: int  # were here, as from outside, and are now trusted
    unchanged: int
    links: int  # made between what was imported
    redacted: int  # secrets taken out of what was imported
    items: tuple[ImportItemResult, ...]
    left: tuple[SkippedItem, ...]


class HostFile(NamedTuple):
    """A file of an agent program, and what was done with it: created, changed, removed, unchanged."""

    path: str
    action: str


class ConnectResult(NamedTuple):
    """What `connect` and `disconnect` did."""

    host: str
    scope: str  # user, project
    action: str  # connected, disconnected, unchanged; would-connect, would-disconnect with --print
    installed: bool  # whether the host seems to be on this machine
    files: tuple[HostFile, ...]
    notes: tuple[str, ...]  # what to know or do now
    diff: str = ""  # with --print: what would change


class HostStatus(NamedTuple):
    """How an agent program stands."""

    host: str
    title: str
    installed: bool
    connected: tuple[str, ...]  # user, project
    works: bool  # connected, and what was written is whole and can be started
    problems: tuple[str, ...]


class FileItem(NamedTuple):
    """A folder, a note (a Markdown file) or any other file."""

    path: str
    kind: str  # folder, note, file
    summary: str
    updated: str
    entries: int  # entries of a note, items in a folder; 0 for any other file
    status: str  # of a note; "" for what has none
    size: int  # in bytes; 0 for a folder


class FileList(NamedTuple):
    path: str
    items: tuple[FileItem, ...]
    hidden: int  # superseded and expired notes that were left out
    truncated: bool
    next: str
    next_offset: int | None


class FileText(NamedTuple):
    """A file's text, or a part of it."""

    path: str
    text: str
    size: int  # bytes of all the text that was asked for, whether or not it is here
    entries: int  # entries that were asked for, of a note; else 0
    binary: bool  # then there is no text
    revision: str
    truncated: bool
    next: str
    next_offset: int | None


class LineMatch(NamedTuple):
    path: str
    line: int
    text: str


class LineMatches(NamedTuple):
    matches: tuple[LineMatch, ...]
    files: int  # how many were searched
    truncated: bool
    next: str
    next_offset: int | None


class ShellResult(NamedTuple):
    stdout: str
    stderr: str
    exit_code: int
    cwd: str
    truncated: bool
    next: str = ""


class RecordRunResult(NamedTuple):
    """What became of a run that was handed to the journal. `warnings`: why it was not recorded, or not all of it."""

    run: str
    action: str  # recorded, completed (an earlier recording was cut off), unchanged, not_recorded
    project: str | None = None
    path: str | None = None  # of the file with all that was handed over
    redacted: int = 0  # secrets that were taken out
    lessons: tuple[str, ...] = ()  # keys of the memories that were proposed
    warnings: tuple[str, ...] = ()


class JournalEntry(NamedTuple):
    """One entry of the journal."""

    id: str
    kind: str  # run, task, failure, fixed, month
    time: str
    run: str
    task: str | None
    worker: str | None
    status: str
    project: str
    text: str
    path: str


class RecentEntries(NamedTuple):
    """The newest entries of the journal. `next`, given as `cursor`, goes on where these end; empty at the end."""

    entries: tuple[JournalEntry, ...]
    truncated: bool
    next: str = ""


class JournalRun(NamedTuple):
    """One run, with everything that was recorded of it."""

    run: str
    project: str
    path: str
    complete: bool  # False: the recording was cut off; record the run again
    manifest: Mapping[str, object]


class Lesson(NamedTuple):
    """Something that runs taught: a failure that came again, or a fix that worked. `state` is what became of it."""

    key: str
    kind: str  # repeated, fixed
    worker: str
    summary: str
    text: str
    state: str  # new, proposed (now or before)


class CompactResult(NamedTuple):
    """What compaction did: months that became summaries, runs in them, files that went to the archive."""

    months: tuple[str, ...]
    runs: int
    archived: tuple[str, ...]


class HitKind(StrEnum):
    MEMORY = "memory"
    JOURNAL = "journal"
    LEAF = "leaf"
    SUMMARY = "summary"
    DIGEST = "digest"


class Hit(NamedTuple):
    kind: HitKind
    ref: str
    key: str
    scope: str
    scope_id: str | None
    path: str
    entry: str
    text: str
    summary: str
    author: str | None
    trust: str
    time_start: str
    time_end: str
    updated: str
    score: float
    revision: str
    sources: tuple[str, ...] = ()
    status: str = "active"  # of its memory; for a question about an earlier time, as it was then

    @property
    def mark(self) -> str:
        """What whoever reads the text has to know of it: nothing of one that stands."""
        return "" if self.status == "active" else self.status
