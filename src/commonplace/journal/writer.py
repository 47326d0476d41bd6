"""Record a run: once, whatever happens in between.

    run.json and the whole results, synced -> worker and failure notes, synced -> the entry on the timeline, synced

The first durable file is run.json: the whole manifest, without secrets. From then on the run is what that file says,
and every later step follows from it, with ids that follow from run and task. So a recording that was interrupted is
completed by recording the run again, to the same bytes. The entry on the timeline comes last: once it is there, nothing
is missing.

Everything happens inside a unit of work: under the journal's lock, with the index and the pages in step. Entries are
appended to the newest part of a file; a full part is followed by the next.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from commonplace.journal.entries import (
    FAILED,
    ROLL_AT,
    RUN_FILE,
    FilePart,
    RunOrigin,
    entry_attributes,
    event_base,
    failure_base,
    make_failure_entry,
    make_fixed_entry,
    make_run_entry,
    make_task_entry,
    parse_part,
    render_artifact,
    run_folder,
    short_label,
    summary_base,
    task_file,
    timeline_date,
    work_signature,
    worker_base,
)
from commonplace.journal.manifest import Manifest, Task, manifest_to_json, read_manifest
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import CommonplaceError, JournalDamaged, NotFound
from commonplace.model.memory import Entry
from commonplace.text.frontmatter import Frontmatter, Writable
from commonplace.text.notes import Note
from commonplace.vault.paths import KEEPER, BookPath, View
from commonplace.vault.port import ABSENT, Write

SEARCHED_PARTS = 4  # of a worker's failures: older parts are not searched at every recording

Labels = Mapping[str, str]
"""The frontmatter of a new file: its kind, its project, its line on index pages."""


class RecordResult(NamedTuple):
    """What recording a run did."""

    action: str  # recorded, completed, unchanged
    path: BookPath  # of run.json
    differs: bool  # an earlier recording of this run differs, and stays


def list_parts(keep: MemoryStore, view: View, folder: BookPath) -> dict[str, list[int]]:
    """Return the files of a journal with the numbers of their parts, in order."""
    try:
        names = keep.vault.survey(keep.space, view, folder, ".md").files
    except NotFound:
        return {}
    found: dict[str, list[int]] = {}
    for name in names:
        part = parse_part(name.removesuffix(".md"))
        if part is not None:
            found.setdefault(part.base, []).append(part.number)
    return {base: sorted(numbers) for base, numbers in found.items()}


def order_timeline(parts: Mapping[str, Sequence[int]]) -> list[FilePart]:
    """Return the files of the timeline, newest first; the summary of a month comes after its days."""
    dated = sorted(((date, base) for base in parts if (date := timeline_date(base)) is not None), reverse=True)
    return [FilePart(base, number) for _, base in dated for number in reversed(parts[base])]


class JournalFiles:
    """The files of one journal, read and changed within a unit of work."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.parts = list_parts(unit.keep, unit.view, unit.folder)

    def read_parts(self, base: str, most: int | None = None) -> Iterator[StoredNote]:
        """Yield the parts of a file, newest first, at most `most` of them."""
        numbers = list(reversed(self.parts.get(base, [])))
        for number in numbers[:most]:
            found = self.unit.find(FilePart(base, number).name)
            if found is not None:
                yield found

    def has_entry(self, base: str, ident: str) -> bool:
        """Whether a part of the file has an entry with this id."""
        sign = f"<!-- entry id={ident} ".encode()
        return any(sign in found.data for found in self.read_parts(base))

    def append(self, base: str, entries: Sequence[Entry], labels: Labels) -> None:
        """Stage entries at the end of a file, in a new part if the newest is full."""
        numbers = self.parts.setdefault(base, [])
        waiting = list(entries)
        while waiting:
            part = FilePart(base, numbers[-1] if numbers else 1)
            found = self.unit.find(part.name)
            note = found.note if found is not None else _begin_note(part, labels, waiting[0].time)
            taken: list[Entry] = []
            size = len(found.data) if found is not None else 0
            while waiting and (size + _estimate_size(waiting[0]) <= ROLL_AT or not note.blocks):
                taken.append(waiting.pop(0))
                size += _estimate_size(taken[-1])
                note = note.append(taken[-1])
            if not taken:
                numbers.append(part.number + 1)
                continue
            if not numbers:
                numbers.append(part.number)
            expected = found.revision if found is not None else ABSENT
            self.unit.put(self.unit.path(part.name), _update_counts(note), expected, taken)


def _estimate_size(entry: Entry) -> int:
    """Return about how many bytes an entry takes."""
    return len(entry.text.encode("utf-8", "replace")) + sum(len(value) + 12 for _, value in entry.extra) + 160


def _begin_note(part: FilePart, labels: Labels, time: str) -> Note:
    front = Frontmatter("---\n", (), "---\n")
    fields: dict[str, Writable] = {**labels, "created": time, "updated": time, "entry_count": 0}
    for name, value in fields.items():
        front = front.put(name, value)
    return Note(front, f"# {part.name}\n\n", ())


def _update_counts(note: Note) -> Note:
    """Return the note with the time of its newest entry and the number of entries in its frontmatter."""
    front = note.front.put("updated", max(note.front.text("updated"), note.blocks[-1].entry.time))
    return Note(front.put("entry_count", len(note.blocks)), note.lead, note.blocks)


def journal_view(folder: BookPath) -> View:
    """Return the view for recording: the journal of one project."""
    return View(frozenset({folder}), frozenset({folder}))


def write_run(
    keep: MemoryStore, folder: BookPath, manifest: Manifest, origin: RunOrigin, *, dated: bool = True
) -> RecordResult:
    """Record a run in the journal of a project. `dated`: the manifest itself says when the run ended."""
    path = run_folder(folder, manifest.run_id) / RUN_FILE
    with keep.unit(folder, journal_view(folder)) as unit:
        known = load_run(keep, journal_view(folder), path)
        differs = known is not None and _comparable(known, dated=dated) != _comparable(manifest, dated=dated)
        run = known if known is not None else manifest
        again = known is not None
        files = JournalFiles(unit)
        if again and _is_complete(files, run, origin):
            return RecordResult("unchanged", path, differs)
        keep.vault.sweep(keep.space, path.parent)  # temporary files of a killed recording
        _stage_artifacts(unit, run, origin, path)
        _stage_notes(files, run, origin, again=again)
        unit.commit()
        last = Unit(keep, unit.view, folder, unit.generation)  # under the same lock, durable after everything above
        labels = file_labels("events", f"Runs of {run.finished[:10]}", origin)
        JournalFiles(last).append(event_base(run.finished), [make_run_entry(run, origin)], labels)
        last.commit()
    return RecordResult("completed" if again else "recorded", path, differs)


def load_run(keep: MemoryStore, view: View, path: BookPath) -> Manifest | None:
    """Return a recorded run, None if there is none; raises JournalDamaged for a file that cannot be read."""
    try:
        data = keep.vault.read(keep.space, view, path).data
    except NotFound:
        return None
    try:
        given = json.loads(data.decode("utf-8"))
        return read_manifest(given, str(given["finished"]))
    except (ValueError, KeyError, TypeError, CommonplaceError, RecursionError):
        raise JournalDamaged(f"{path} is damaged: it is not a recorded run.") from None


def _render_manifest(manifest: Manifest) -> bytes:
    return (json.dumps(manifest_to_json(manifest), ensure_ascii=False, indent=1) + "\n").encode()


def _comparable(manifest: Manifest, *, dated: bool) -> object:
    """Return what two recordings of a run are compared by; the time counts only if the manifest gave it."""
    fields = manifest_to_json(manifest)
    if not dated:
        del fields["finished"]
    return fields


def _is_complete(files: JournalFiles, run: Manifest, origin: RunOrigin) -> bool:
    """Whether the timeline or the summary of the month has the run."""
    ident = make_run_entry(run, origin).id
    return any(files.has_entry(base, ident) for base in (event_base(run.finished), summary_base(run.finished[:7])))


def _stage_artifacts(unit: Unit, run: Manifest, origin: RunOrigin, path: BookPath) -> None:
    """Stage run.json first, which is never replaced, then the whole result of each task."""
    wanted = {path: _render_manifest(run)}
    for task in run.tasks:
        wanted[path.parent / task_file(task.id)] = render_artifact(run, task, origin.project).encode()
    for place, data in wanted.items():
        stat = unit.keep.vault.stat(unit.keep.space, KEEPER, place)
        if stat is None:
            unit.put_aside(Write(place, data, ABSENT))
        elif place != path and unit.keep.vault.read(unit.keep.space, KEEPER, place).data != data:
            unit.put_aside(Write(place, data))  # left by a power cut during a recording that never completed


def _stage_notes(files: JournalFiles, run: Manifest, origin: RunOrigin, *, again: bool) -> None:
    """Stage what each worker did and how it failed. Only with `again` can entries be there already."""
    for worker in dict.fromkeys(task.worker for task in run.tasks):
        tasks = [task for task in run.tasks if task.worker == worker]
        done = [make_task_entry(run, task, origin) for task in tasks]
        labels = file_labels("worker", f"What {short_label(worker)} did", origin, worker)
        _append_missing(files, worker_base(worker), done, labels, again)
        failures = _find_failures(files, run, origin, worker, tasks)
        labels = file_labels("failures", f"How {short_label(worker)} failed, and what fixed it", origin, worker)
        _append_missing(files, failure_base(worker), failures, labels, again)


def _append_missing(files: JournalFiles, base: str, new: Sequence[Entry], labels: Labels, again: bool) -> None:
    missing = [entry for entry in new if not (again and files.has_entry(base, entry.id))]
    if missing:
        files.append(base, missing, labels)


def _find_failures(
    files: JournalFiles, run: Manifest, origin: RunOrigin, worker: str, tasks: Sequence[Task]
) -> list[Entry]:
    """Return the entries of a worker's failures in this run and of what it fixed, in the order of the tasks."""
    if not any(task.status in (FAILED, "done") for task in tasks):
        return []
    before = _find_open_failures(files, worker, but=run.run_id)
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


def _find_open_failures(files: JournalFiles, worker: str, *, but: str) -> dict[str, list[Entry]]:
    """Return the failures of a worker that are not fixed yet, by work signature, oldest first, but not of one run."""
    found: dict[str, list[Entry]] = {}
    for entry in newest_failures(files, worker):
        attributes = entry_attributes(entry)
        work = attributes.get("work", "")
        if not work or attributes.get("run") == but:
            continue
        if attributes.get("kind") == "fixed":
            found.pop(work, None)
        else:
            found.setdefault(work, []).append(entry)
    return found


def newest_failures(files: JournalFiles, worker: str) -> list[Entry]:
    """Return the newest failures of a worker and what fixed them, oldest first."""
    notes = list(files.read_parts(failure_base(worker), SEARCHED_PARTS))
    return [block.entry for found in reversed(notes) for block in found.note.blocks]


def file_labels(kind: str, summary: str, origin: RunOrigin, worker: str | None = None) -> Labels:
    """Return the frontmatter of a new journal file."""
    labels = {"journal": kind, "project": origin.project}
    if worker is not None:
        labels["worker"] = worker
    return {**labels, "summary": summary}
