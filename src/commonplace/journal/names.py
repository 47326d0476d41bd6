"""Where the journal of a project keeps what: names of files and ids of entries.

    journal/PROJECT/event-2026-11-15.md     the timeline: one entry for each run, in the file of the day it ended
    journal/PROJECT/worker-NAME.md          what a worker did, one entry for each task
    journal/PROJECT/failure-NAME.md         how a worker failed, and what fixed it later
    journal/PROJECT/summary-2026-08.md      a month whose timeline was compacted
    journal/PROJECT/_artifacts/RUN/         run.json, all that was handed over, and TASK.md with each whole result
    journal/PROJECT/_archive/               what was compacted, as it was
    journal/PROJECT/_lessons/ID.md          a mark: this lesson was proposed, and never will be again

A file that is full goes on in NAME.2.md, NAME.3.md. No id that anybody chooses leads out of its place: one that is not
already a plain name becomes SLUG-HASH, as the folders of scopes do.
"""

import re
from typing import NamedTuple

from commonplace.model.ids import short_hash
from commonplace.model.names import is_windows_reserved, slug
from commonplace.model.patterns import lazy
from commonplace.vault.paths import BookPath

ARTIFACTS, ARCHIVE, LESSONS = "_artifacts", "_archive", "_lessons"
RUN_FILE = "run.json"
ROLL_AT = 131_072  # bytes: a file that would grow beyond goes on in another
_PLAIN = lazy(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_HASHED = lazy(r".*-[0-9a-f]{12}", re.ASCII)
_PART = lazy(r"(?P<base>[a-z0-9_-]+)(?:\.(?P<number>[1-9]\d{0,8}))?", re.ASCII)
_DATED = lazy(r"(event-(?P<day>\d{4}-\d\d-\d\d)|summary-(?P<month>\d{4}-\d\d))", re.ASCII)


class Part(NamedTuple):
    """One file of several that go on from one another: `worker-coder.2` is part 2 of `worker-coder`."""

    base: str
    number: int

    @property
    def name(self) -> str:
        return self.base if self.number == 1 else f"{self.base}.{self.number}"


def plain_name(ident: str) -> str:
    """Any id as a file name: different ids have different names, on every file system."""
    if _PLAIN.fullmatch(ident) and not _HASHED.fullmatch(ident) and not is_windows_reserved(ident):
        return ident
    return f"{slug(ident, limit=40) or 'x'}-{short_hash(ident)}"


def read_part(name: str) -> Part | None:
    """The part that a file name (without .md) says; None for a file that is none of the journal's."""
    match = _PART.fullmatch(name)
    if match is None or match["number"] == "1":
        return None
    return Part(match["base"], int(match["number"] or 1))


def event_base(time: str) -> str:
    return f"event-{time[:10]}"


def summary_base(month: str) -> str:
    return f"summary-{month}"


def date_of(base: str) -> str | None:
    """The day of a timeline file, or the month of a summary; None for another file."""
    match = _DATED.fullmatch(base)
    return (match["day"] or match["month"]) if match else None


def worker_base(worker: str) -> str:
    return f"worker-{plain_name(worker)}"


def failure_base(worker: str) -> str:
    return f"failure-{plain_name(worker)}"


def run_folder(folder: BookPath, run_id: str) -> BookPath:
    return folder / ARTIFACTS / plain_name(run_id)


def task_file(task_id: str) -> str:
    return f"task-{plain_name(task_id)}.md"


def entry_id(kind: str, *words: str) -> str:
    """The id of an entry, which follows from what it is about: the same one is never written twice."""
    return f"{kind}-{short_hash(chr(0).join(words), 24)}"
