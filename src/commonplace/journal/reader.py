"""Read the journal through the caller's view: the newest entries, one run.

Files are bounded in size and their names say how new they are, so the newest entries cost a file or two, however long
the journal is.
"""

from collections.abc import Iterator, Mapping, Sequence

from commonplace.journal.entries import (
    RUN_FILE,
    FilePart,
    entry_attributes,
    entry_id,
    event_base,
    failure_base,
    parse_part,
    run_folder,
    summary_base,
    worker_base,
)
from commonplace.journal.manifest import manifest_to_json
from commonplace.journal.writer import list_parts, load_run, order_timeline
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.memory import Entry
from commonplace.model.results import JournalEntry, JournalRun, RecentEntries
from commonplace.text.notes import parse
from commonplace.vault.paths import BookPath, View

MOST = 100
MOST_FILES = 40  # files that one call reads: a rare status may be far back


def list_recent(
    keep: MemoryStore,
    view: View,
    folder: BookPath,
    limit: int,
    worker: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
) -> RecentEntries:
    """Return the newest entries of the timeline or of one worker, newest first.

    A run matches the status it ended with and those of its tasks.
    """
    if not 1 <= limit <= MOST:
        raise InvalidField(f"limit must be a number from 1 to {MOST}.")
    parts = list_parts(keep, view, folder)
    if worker is None:
        order = order_timeline(parts)
    else:
        base = worker_base(worker)
        order = [FilePart(base, number) for number in reversed(parts.get(base, []))]
    found: list[JournalEntry] = []
    place = ""
    for count, (part, after) in enumerate(_start_at(order, cursor), start=1):
        path = folder / f"{part.name}.md"
        for entry in _newest_first(keep, view, path, after):
            attributes = entry_attributes(entry)
            if len(found) >= limit:
                return RecentEntries(tuple(found), truncated=True, next=place)
            place = f"{part.name}:{entry.id}"
            if _matches_filter(attributes, worker, status):
                found.append(_to_journal_entry(entry, attributes, path))
        if count >= MOST_FILES and part != order[-1]:
            following = order[order.index(part) + 1]
            return RecentEntries(tuple(found), truncated=True, next=f"{following.name}:")
    return RecentEntries(tuple(found), truncated=False)


def read_run(keep: MemoryStore, view: View, folder: BookPath, run_id: str, project: str) -> JournalRun:
    """Return everything recorded of one run; raises NotFound."""
    path = run_folder(folder, run_id) / RUN_FILE
    manifest = load_run(keep, view, path)
    if manifest is None:
        raise NotFound(
            f"No run {run_id[:60]!a} in the journal of this project.",
            hint="Run `commonplace journal list` to see the runs.",
        )
    ident = f"<!-- entry id={entry_id('run', folder.name, run_id)} ".encode()
    parts = list_parts(keep, view, folder)
    bases = (event_base(manifest.finished), summary_base(manifest.finished[:7]))
    places = [folder / f"{FilePart(base, number).name}.md" for base in bases for number in parts.get(base, [])]
    complete = any(ident in keep.vault.read(keep.space, view, place).data for place in places)
    return JournalRun(run_id, project, str(path), complete, manifest_to_json(manifest))


def list_failed_workers(keep: MemoryStore, view: View, folder: BookPath) -> list[str]:
    """Return the workers with a failure file, by name."""
    found = []
    for base, numbers in list_parts(keep, view, folder).items():
        if base.startswith("failure-"):
            note = parse(keep.vault.read(keep.space, view, folder / f"{FilePart(base, numbers[-1]).name}.md").data)
            worker = note.front.text("worker")
            if failure_base(worker) == base:  # else the file was edited by hand
                found.append(worker)
    return sorted(found)


def _to_journal_entry(entry: Entry, attributes: Mapping[str, str], path: BookPath) -> JournalEntry:
    return JournalEntry(
        id=entry.id,
        kind=attributes.get("kind", ""),
        time=entry.time,
        run=attributes.get("run", ""),
        task=attributes.get("task"),
        worker=attributes.get("worker"),
        status=attributes.get("status", ""),
        project=attributes.get("project", ""),
        text=entry.text,
        path=str(path),
    )


def _matches_filter(attributes: Mapping[str, str], worker: str | None, status: str | None) -> bool:
    if worker is not None and attributes.get("worker") != worker:
        return False
    return status is None or status == attributes.get("status") or status in attributes.get("statuses", "").split(",")


def _start_at(order: Sequence[FilePart], cursor: str | None) -> Iterator[tuple[FilePart, str]]:
    """Yield the files to read, the first with the id of the entry after which to continue."""
    if not cursor:
        yield from ((part, "") for part in order)
        return
    name, _, ident = cursor.partition(":")
    first = parse_part(name)
    if first is None or first not in order:
        raise InvalidField(f"{cursor[:60]!a} is not a cursor of this journal.", hint="Pass `next` of the last result.")
    at = order.index(first)
    yield first, ident
    yield from ((part, "") for part in order[at + 1 :])


def _newest_first(keep: MemoryStore, view: View, path: BookPath, after: str) -> Iterator[Entry]:
    try:
        note = parse(keep.vault.read(keep.space, view, path).data)
    except NotFound:  # compacted in the meantime
        return
    waiting = bool(after)
    for block in reversed(note.blocks):
        if not waiting:
            yield block.entry
        elif block.entry.id == after:
            waiting = False
