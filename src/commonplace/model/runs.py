"""What the verbs of the journal answer. Apart from the other answers, which every start defines."""

from collections.abc import Mapping
from typing import NamedTuple


class Recorded(NamedTuple):
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


class Recent(NamedTuple):
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


class Compacted(NamedTuple):
    """What compaction did: months that became summaries, runs in them, files that went to the archive."""

    months: tuple[str, ...]
    runs: int
    archived: tuple[str, ...]
