"""Write the journal: record a run, once, whatever happens in between; and compact what is old.

    run.json and the whole results, synced -> worker and failure notes, synced -> the entry on the timeline, synced

The first durable file is run.json: the whole manifest, without secrets. From then on the run is what that file says,
and every later step follows from it, with ids that follow from run and task. So a recording that was interrupted is
completed by recording the run again, to the same bytes. The entry on the timeline comes last: once it is there, nothing
is missing.

Compaction makes one summary of each old month of the timeline, and moves its files to the archive. A summary has an
entry for each run: when, how it ended, the goal, which tasks failed and why, and the link to run.json. It leaves out
the tasks that succeeded; the archive has the original files, and the whole results stay where they are. Full parts of
worker and failure notes that are as old move to the archive, too. The archive is plain files in the journal, shown by
the same view; recall and recent_memory do not search it.

Everything happens inside a unit of work: under the journal's lock, with the index and the pages in step. Entries are
appended to the newest part of a file; a full part is followed by the next. The verbs of the journal call `write_run`
and `compact`.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from commonplace.journal.entries import (
    ARCHIVE,
    FAILED,
    ROLL_AT,
    FilePart,
    RunOrigin,
    entry_attributes,
    entry_id,
    make_failure_entry,
    make_fixed_entry,
    make_run_entry,
    make_task_entry,
    parse_part,
    render_artifact,
    run_file,
    short_label,
    task_file,
    timeline_bases,
    timeline_date,
    work_signature,
    worker_base,
)
from commonplace.journal.manifest import Manifest, Task, is_same_run, manifest_to_json, read_stored_manifest
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import CommonplaceError, JournalDamaged, NotFound
from commonplace.model.journal_results import CompactResult
from commonplace.model.memory import Entry, Trust
from commonplace.model.times import shift_time
from commonplace.text.frontmatter import Frontmatter, Writable
from commonplace.text.notes import Note
from commonplace.vault.paths import KEEPER, BookPath, View
from commonplace.vault.port import ABSENT, UNUSABLE, Write

SEARCHED_PARTS = 4  # of a worker's failures: older parts are not searched at every recording

Labels = Mapping[str, str]
"""The frontmatter of a new file: its kind, its project, its line on index pages."""
_DAY = 86_400


class RecordResult(NamedTuple):
    """What recording a run did."""

    action: str  # recorded, completed, unchanged
    path: BookPath  # of run.json
    differs: bool  # an earlier recording of this run differs, and stays


def list_parts(memories: MemoryStore, view: View, folder: BookPath) -> dict[str, list[FilePart]]:
    """Return the files of a journal with their parts, in order."""
    try:
        names = memories.vault.survey(memories.space, view, folder, ".md").files
    except NotFound:
        return {}
    found: dict[str, list[FilePart]] = {}
    parts = [parse_part(name.removesuffix(".md")) for name in names]
    for part in sorted(part for part in parts if part is not None):
        found.setdefault(part.base, []).append(part)
    return found


class JournalFiles:
    """The files of one journal, read and changed within a unit of work."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.parts = list_parts(unit.memories, unit.view, unit.folder)

    def read_parts(self, base: str, most: int | None = None) -> Iterator[StoredNote]:
        """Yield the parts of a file, newest first, at most `most` of them."""
        newest_first = self.parts.get(base, [])[::-1]
        for part in newest_first[:most]:
            found = self.unit.find(part.name)
            if found is not None:
                yield found

    def has_entry(self, base: str, ident: str) -> bool:
        """Whether a part of the file has an entry with this id."""
        sign = f"<!-- entry id={ident} ".encode()
        return any(sign in found.data for found in self.read_parts(base))

    def append(self, base: str, entries: Sequence[Entry], labels: Labels) -> None:
        """Stage entries at the end of a file, in a new part if the newest is full."""
        parts = self.parts.setdefault(base, [FilePart(base, 1)])
        while entries:
            part = parts[-1]
            found = self.unit.find(part.name)
            if found is not None and found.note.in_conflict:  # a run is recorded all the same
                parts.append(FilePart(base, part.number + 1))
                continue
            note = found.note if found is not None else _begin_note(part, labels, entries[0].time)
            size = len(found.data) if found is not None else 0
            taken: list[Entry] = []
            for entry in entries:
                size += _estimate_size(entry)
                if size > ROLL_AT and note.blocks:
                    break
                taken.append(entry)
                note = note.append(entry)
            if taken:
                front = note.front.put("updated", max(note.front.text("updated"), note.blocks[-1].entry.time))
                front = front.put("entry_count", len(note.blocks))
                self.unit.put(part.name, note.replace(front=front), taken)
            entries = entries[len(taken) :]
            if entries:
                parts.append(FilePart(base, part.number + 1))


def _estimate_size(entry: Entry) -> int:
    """Return about how many bytes an entry takes."""
    return len(entry.text.encode("utf-8", "replace")) + sum(len(value) + 12 for _, value in entry.extra) + 160


def _begin_note(part: FilePart, labels: Labels, time: str) -> Note:
    front = Frontmatter("---\n", (), "---\n")
    fields: dict[str, Writable] = {**labels, "created": time, "updated": time, "entry_count": 0}
    for name, value in fields.items():
        front = front.put(name, value)
    return Note(front, f"# {part.name}\n\n", ())


def journal_view(folder: BookPath) -> View:
    """Return the view for recording: the journal of one project."""
    return View(frozenset({folder}), frozenset({folder}))


def write_run(
    memories: MemoryStore, folder: BookPath, manifest: Manifest, origin: RunOrigin, *, dated: bool = True
) -> RecordResult:
    """Record a run in the journal of a project. `dated`: the manifest itself says when the run ended."""
    path = run_file(folder, manifest.run_id)
    with memories.unit(folder, journal_view(folder)) as unit:
        known = load_run(memories, unit.view, path)
        run = known or manifest
        differs = not is_same_run(run, manifest, is_dated=dated)
        entry = make_run_entry(run, origin)
        files = JournalFiles(unit)
        again = known is not None
        if again and any(files.has_entry(base, entry.id) for base in timeline_bases(run.finished)):
            return RecordResult("unchanged", path, differs)
        memories.vault.sweep(memories.space, path.parent)  # temporary files of a killed recording
        _stage_artifacts(unit, run, origin, path)
        _stage_notes(files, run, origin, again=again)
        unit.commit()
        last = _next_unit(unit)
        labels = file_labels("events", f"Runs of {run.finished[:10]}", origin)
        JournalFiles(last).append(timeline_bases(run.finished)[0], [entry], labels)
        last.commit()
    return RecordResult("completed" if again else "recorded", path, differs)


def _next_unit(unit: Unit) -> Unit:
    """Return a unit under the same lock, whose changes are durable after those of the unit before."""
    return Unit(unit.memories, unit.view, unit.folder, unit.generation)


def read_file(memories: MemoryStore, view: View, path: BookPath) -> bytes | None:
    """Return the bytes of a file of the journal; None if there is none."""
    try:
        return memories.vault.read(memories.space, view, path).data
    except NotFound:
        return None


def load_run(memories: MemoryStore, view: View, path: BookPath) -> Manifest | None:
    """Return a recorded run, None if there is none; raises JournalDamaged for a file that cannot be read."""
    try:
        data = read_file(memories, view, path)
    except UNUSABLE as error:
        raise JournalDamaged(f"{path} cannot be read. {error.message}") from error
    if data is None:
        return None
    try:
        return read_stored_manifest(json.loads(data.decode("utf-8")))
    except (ValueError, KeyError, TypeError, CommonplaceError, RecursionError):
        raise JournalDamaged(f"{path} is damaged: it is not a recorded run.") from None


def _stage_artifacts(unit: Unit, run: Manifest, origin: RunOrigin, path: BookPath) -> None:
    """Stage run.json first, which is never replaced, then the whole result of each task."""
    wanted = {path: (json.dumps(manifest_to_json(run), ensure_ascii=False, indent=1) + "\n").encode()}
    for task in run.tasks:
        wanted[path.parent / task_file(task.id)] = render_artifact(run, task, origin.project).encode()
    for place, data in wanted.items():
        known = read_file(unit.memories, KEEPER, place)
        if known is None:
            unit.put_aside(Write(place, data, ABSENT))
        elif place != path and known != data:
            unit.put_aside(Write(place, data))  # left by a power cut during a recording that never completed


def _stage_notes(files: JournalFiles, run: Manifest, origin: RunOrigin, *, again: bool) -> None:
    """Stage what each worker did and how it failed. Only with `again` can entries be there already."""
    for worker in dict.fromkeys(task.worker for task in run.tasks):
        tasks = [task for task in run.tasks if task.worker == worker]
        done = [make_task_entry(run, task, origin) for task in tasks]
        failures = _find_failures(files, run, origin, worker, tasks)
        name = short_label(worker)
        for base, kind, entries, summary in (
            (worker_base("worker", worker), "worker", done, f"What {name} did"),
            (worker_base("failure", worker), "failures", failures, f"How {name} failed, and what fixed it"),
        ):
            missing = [entry for entry in entries if not (again and files.has_entry(base, entry.id))]
            files.append(base, missing, file_labels(kind, summary, origin, worker))


def _find_failures(
    files: JournalFiles, run: Manifest, origin: RunOrigin, worker: str, tasks: Sequence[Task]
) -> list[Entry]:
    """Return the entries of a worker's failures in this run and of what it fixed, in the order of the tasks."""
    if not any(task.status in (FAILED, "done") for task in tasks):
        return []
    before: dict[str, list[Entry]] = {}  # failures of earlier runs that are not fixed yet, by work signature
    for entry in newest_failures(files, worker):
        attributes = entry_attributes(entry)
        work = attributes.get("work", "")
        if not work or attributes.get("run") == run.run_id:
            continue
        if attributes.get("kind") == "fixed":
            before.pop(work, None)
        else:
            before.setdefault(work, []).append(entry)
    new: list[Entry] = []
    for task in tasks:
        work = work_signature(worker, task.description)
        if task.status == FAILED:
            entry = make_failure_entry(run, task, origin)
            new.append(entry)
            if work:
                before.setdefault(work, []).append(entry)
        elif task.status == "done" and work in before:
            new.append(make_fixed_entry(run, task, origin, before.pop(work)))
    return new


def newest_failures(files: JournalFiles, worker: str) -> list[Entry]:
    """Return the newest failures of a worker and what fixed them, oldest first."""
    notes = list(files.read_parts(worker_base("failure", worker), SEARCHED_PARTS))
    return [block.entry for found in reversed(notes) for block in found.note.blocks]


def file_labels(kind: str, summary: str, origin: RunOrigin, worker: str | None = None) -> Labels:
    """Return the frontmatter of a new journal file."""
    own = {"worker": worker} if worker is not None else {}
    return {"journal": kind, "project": origin.project, **own, "summary": summary}


def compact(memories: MemoryStore, folder: BookPath, origin: RunOrigin, *, days: int) -> CompactResult:
    """Compact what is older than `days`. Doing it again completes a compaction that was interrupted."""
    cutoff = shift_time(memories.clock(), -days * _DAY)
    archived: list[str] = []
    runs = 0
    with memories.unit(folder, journal_view(folder)) as first:
        memories.vault.sweep(memories.space, folder / ARCHIVE)  # temporary files of an interrupted compaction
        files = JournalFiles(first)
        months = _find_old_days(files, cutoff[:7])
        for month, notes in months.items():
            runs += _summarise(first, month, notes, origin)
            archived += _archive(first, notes)
        archived += _archive(first, _find_old_parts(files, cutoff))
    return CompactResult(tuple(months), runs, tuple(archived))


def _find_old_days(files: JournalFiles, before: str) -> dict[str, list[StoredNote]]:
    """Return the parts of the timeline of each month before this one, in order."""
    found: dict[str, list[StoredNote]] = {}
    for base in sorted(files.parts):
        day = timeline_date(base) or ""
        if len(day) == 10 and day[:7] < before:
            found.setdefault(day[:7], []).extend(reversed([*files.read_parts(base)]))
    return found


def _find_old_parts(files: JournalFiles, cutoff: str) -> list[StoredNote]:
    """Return the full parts of worker and failure notes whose newest entry is older than the cutoff."""
    found: list[StoredNote] = []
    for base, parts in sorted(files.parts.items()):
        if base.startswith(("worker-", "failure-")):
            notes = [files.unit.find(part.name) for part in parts[:-1]]
            found += [note for note in notes if note is not None and note.note.front.text("updated") < cutoff]
    return found


def _summarise(first: Unit, month: str, notes: Sequence[StoredNote], origin: RunOrigin) -> int:
    """Write the runs of a month to its summary, durably, and return how many were new there."""
    unit = _next_unit(first)
    files = JournalFiles(unit)
    _, base = timeline_bases(month)
    entries = [block.entry for found in notes for block in found.note.blocks]
    new = [_shorten_entry(entry) for entry in entries if not files.has_entry(base, entry.id)]
    if new:
        month_entry = _make_month_entry(unit, month, new, origin)
        files.append(base, [month_entry, *new], file_labels("summary", f"Runs of {month}", origin))
        unit.commit()
    return len(new)


def _shorten_entry(entry: Entry) -> Entry:
    """Return the entry of a run without the lines of tasks that succeeded."""
    lines = [line for line in entry.text.split("\n") if not line.startswith("- ") or "): failed." in line]
    return entry._replace(text="\n".join(lines))


def _make_month_entry(unit: Unit, month: str, new: Sequence[Entry], origin: RunOrigin) -> Entry:
    """Return the entry that counts the runs of a month and the tasks of each worker by outcome."""
    known = [entry_attributes(entry) for entry in new]
    outcomes = Counter(attributes.get("status", "") for attributes in known)
    tasks: dict[str, Counter[str]] = {}
    for attributes in known:
        with suppress(JournalDamaged):
            run = load_run(unit.memories, KEEPER, run_file(unit.folder, attributes.get("run", "")))
            for task in run.tasks if run is not None else ():
                tasks.setdefault(task.worker, Counter())[task.status] += 1
    lines = [f"{month}: {len(new)} runs ({_join_counts(outcomes)})"]
    lines += [
        f"- {json.dumps(worker, ensure_ascii=False)}: {_join_counts(counts)}"
        for worker, counts in sorted(tasks.items())
    ]
    ident = entry_id("month", origin.folder_name, month, *(entry.id for entry in new))
    extra = (("kind", "month"), ("project", origin.project), ("status", "summary"))
    return Entry(new[-1].time, "\n".join(lines), ident, Trust.AGENT, origin.author, extra=extra)


def _join_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))


def _archive(first: Unit, notes: Sequence[StoredNote]) -> list[str]:
    """Move notes to the archive and return their paths there: copies are durable before anything is removed."""
    places = []
    unit = _next_unit(first)
    for found in notes:
        place = unit.folder / ARCHIVE / found.path.name
        number = 1
        while (copy := read_file(unit.memories, KEEPER, place)) not in (None, found.data):  # of another note
            number += 1
            place = place.parent / f"{found.path.name.removesuffix('.md')}~{number}.md"
        if copy is None:  # else an interrupted compaction copied it there already
            unit.put_aside(Write(place, found.data, ABSENT))
        unit.remove(found)
        places.append(str(place))
    unit.commit()
    return places
