"""Reading the journal: the newest entries, one run, through the view of whoever asks.

Files are bounded in size and their names say how new they are, so the newest entries cost a file or two, however long
the journal is.
"""

from collections.abc import Iterator, Mapping, Sequence

from commonplace.journal.entries import (
    RUN_FILE,
    Part,
    attributes_of,
    entry_id,
    event_base,
    failure_base,
    read_part,
    run_folder,
    summary_base,
    worker_base,
)
from commonplace.journal.manifest import as_json
from commonplace.journal.writer import load, parts_in, timeline_parts
from commonplace.keep.unit import Keep
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.memory import Entry
from commonplace.model.runs import JournalEntry, JournalRun, Recent
from commonplace.text.notes import parse
from commonplace.vault.paths import BookPath
from commonplace.vault.view import View

MOST = 100
MOST_FILES = 40  # files that one question reads: a rare status may be far back


def recent(
    keep: Keep,
    view: View,
    folder: BookPath,
    limit: int,
    worker: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
) -> Recent:
    """The newest entries, latest first: of the timeline, or of one worker. A run has the status that it ended with and
    those of its tasks."""
    if not 1 <= limit <= MOST:
        raise InvalidField(f"limit is a number from 1 to {MOST}.")
    parts = parts_in(keep.vault, keep.space, view, folder)
    if worker is None:
        order = timeline_parts(parts)
    else:
        base = worker_base(worker)
        order = [Part(base, number) for number in reversed(parts.get(base, []))]
    found: list[JournalEntry] = []
    place = ""
    for files, (part, after) in enumerate(_from(order, cursor), start=1):
        path = folder / f"{part.name}.md"
        for entry in _newest_first(keep, view, path, after):
            said = attributes_of(entry)
            if len(found) >= limit:
                return Recent(tuple(found), truncated=True, next=place)
            place = f"{part.name}:{entry.id}"
            if _fits(said, worker, status):
                found.append(journal_entry(entry, said, path))
        if files >= MOST_FILES and part != order[-1]:
            following = order[order.index(part) + 1]
            return Recent(tuple(found), truncated=True, next=f"{following.name}:")
    return Recent(tuple(found), truncated=False)


def run(keep: Keep, view: View, folder: BookPath, run_id: str, project: str) -> JournalRun:
    """Everything that was recorded of one run."""
    path = run_folder(folder, run_id) / RUN_FILE
    manifest = load(keep, view, path)
    if manifest is None:
        raise NotFound(
            f"There is no run {run_id[:60]!a} in the journal of this project.",
            hint="List what is there: `commonplace journal list`.",
        )
    ident = f"<!-- entry id={entry_id('run', folder.name, run_id)} ".encode()
    parts = parts_in(keep.vault, keep.space, view, folder)
    bases = (event_base(manifest.finished), summary_base(manifest.finished[:7]))
    places = [folder / f"{Part(base, number).name}.md" for base in bases for number in parts.get(base, [])]
    complete = any(ident in keep.vault.read(keep.space, view, place).data for place in places)
    return JournalRun(run_id, project, str(path), complete, as_json(manifest))


def workers(keep: Keep, view: View, folder: BookPath) -> list[str]:
    """Everybody who failed at something, as their files name them."""
    found = []
    for base, numbers in parts_in(keep.vault, keep.space, view, folder).items():
        if base.startswith("failure-"):
            note = parse(keep.vault.read(keep.space, view, folder / f"{Part(base, numbers[-1]).name}.md").data)
            worker = note.front.text("worker")
            if failure_base(worker) == base:  # else somebody changed the file by hand
                found.append(worker)
    return sorted(found)


def journal_entry(entry: Entry, said: Mapping[str, str], path: BookPath) -> JournalEntry:
    return JournalEntry(
        id=entry.id,
        kind=said.get("kind", ""),
        time=entry.time,
        run=said.get("run", ""),
        task=said.get("task"),
        worker=said.get("worker"),
        status=said.get("status", ""),
        project=said.get("project", ""),
        text=entry.text,
        path=str(path),
    )


def _fits(said: Mapping[str, str], worker: str | None, status: str | None) -> bool:
    if worker is not None and said.get("worker") != worker:
        return False
    return status is None or status == said.get("status") or status in said.get("statuses", "").split(",")


def _from(order: Sequence[Part], cursor: str | None) -> Iterator[tuple[Part, str]]:
    """The files to read, and the entry in the first of them after which to go on."""
    if not cursor:
        yield from ((part, "") for part in order)
        return
    name, _, ident = cursor.partition(":")
    first = read_part(name)
    if first is None or first not in order:
        raise InvalidField(f"{cursor[:60]!a} is no place in this journal.", hint="Give `next` of the last answer.")
    at = order.index(first)
    yield first, ident
    yield from ((part, "") for part in order[at + 1 :])


def _newest_first(keep: Keep, view: View, path: BookPath, after: str) -> Iterator[Entry]:
    try:
        note = parse(keep.vault.read(keep.space, view, path).data)
    except NotFound:  # it was compacted just now
        return
    waiting = bool(after)
    for block in reversed(note.blocks):
        if not waiting:
            yield block.entry
        elif block.entry.id == after:
            waiting = False
