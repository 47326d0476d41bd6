"""The results of the verbs about the journal: what was recorded of runs, and what they taught."""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from collections.abc import Mapping
from typing import NamedTuple


class RecordRunResult(NamedTuple):
    """What `record_run` did. `warnings` say why a run was not recorded, or not in full."""

    run: str
    action: str  # recorded, completed (an earlier recording was interrupted), unchanged, not_recorded
    project: str | None = None
    path: str | None = None  # of the file with the whole manifest
    redacted: int = 0  # secrets that were removed
    lessons: tuple[str, ...] = ()  # keys of the proposed memories
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
    ref: str = ""  # what `show` takes
    error: str = ""  # of what failed: the beginning of it
    trust: str = "agent"
    author: str | None = None


class RecentEntries(NamedTuple):
    """The newest entries of the journal. Pass `next` as `cursor` to continue; it is empty at the end."""

    entries: tuple[JournalEntry, ...]
    truncated: bool
    next: str = ""


class JournalRun(NamedTuple):
    """One run, with everything that was recorded about it."""

    run: str
    project: str
    path: str
    complete: bool  # False: the recording was interrupted; record the run again
    manifest: Mapping[str, object]


class Lesson(NamedTuple):
    """What runs have taught: a failure that repeats, or a fix that worked."""

    key: str
    kind: str  # repeated, fixed
    worker: str
    summary: str
    text: str
    state: str  # new, or proposed (now or before)


class CompactResult(NamedTuple):
    """What compaction did: the months that it summarised, the runs in them, the files that it archived."""

    months: tuple[str, ...]
    runs: int
    archived: tuple[str, ...]
