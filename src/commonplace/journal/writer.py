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
    About,
    Part,
    artifact_text,
    attributes_of,
    date_of,
    event_base,
    failure_base,
    failure_entry,
    fixed_entry,
    read_part,
    run_entry,
    run_folder,
    short_name,
    summary_base,
    task_entry,
    task_file,
    work_of,
    worker_base,
)
from commonplace.journal.manifest import Manifest, as_json, read_manifest
from commonplace.keep.unit import Found, Keep, Unit
from commonplace.model.errors import CommonplaceError, JournalDamaged, NotFound
from commonplace.model.memory import Entry
from commonplace.model.space import Space
from commonplace.text.frontmatter import Frontmatter
from commonplace.text.notes import Note
from commonplace.text.yaml_values import Writable
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Vault, Write
from commonplace.vault.view import KEEPER, View

SEARCHED_PARTS = 4  # of a worker's failures: what is older than these is not looked through at every recording

Labels = Mapping[str, str]
"""The frontmatter of a file that is begun: what kind it is, its project, its one line on index pages."""


class Written(NamedTuple):
    """What recording did."""

    action: str  # recorded, completed, unchanged
    path: BookPath  # of run.json
    differs: bool  # an earlier recording of this run said something else, and stands


def parts_in(vault: Vault, space: Space, view: View, folder: BookPath) -> dict[str, list[int]]:
    """The files of a journal: the numbers of the parts of each, in order."""
    try:
        names = vault.survey(space, view, folder, ".md").files
    except NotFound:
        return {}
    found: dict[str, list[int]] = {}
    for name in names:
        part = read_part(name.removesuffix(".md"))
        if part is not None:
            found.setdefault(part.base, []).append(part.number)
    return {base: sorted(numbers) for base, numbers in found.items()}


def timeline_parts(parts: Mapping[str, Sequence[int]]) -> list[Part]:
    """The files of the timeline, newest first; the summary of a month comes after its days."""
    dated = sorted(((date, base) for base in parts if (date := date_of(base)) is not None), reverse=True)
    return [Part(base, number) for _, base in dated for number in reversed(parts[base])]


class Chains:
    """The files of one journal, as a unit sees and changes them."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.parts = parts_in(unit.keep.vault, unit.keep.space, unit.view, unit.folder)

    def notes(self, base: str, most: int | None = None) -> Iterator[Found]:
        """The parts of a file, newest first; at most so many."""
        numbers = list(reversed(self.parts.get(base, [])))
        for number in numbers[:most]:
            found = self.unit.find(Part(base, number).name)
            if found is not None:
                yield found

    def has(self, base: str, ident: str) -> bool:
        """Whether some part has an entry with this id."""
        sign = f"<!-- entry id={ident} ".encode()
        return any(sign in found.data for found in self.notes(base))

    def append(self, base: str, entries: Sequence[Entry], labels: Labels) -> None:
        """Stage entries at the end, in a new part where the newest is full."""
        numbers = self.parts.setdefault(base, [])
        waiting = list(entries)
        while waiting:
            part = Part(base, numbers[-1] if numbers else 1)
            found = self.unit.find(part.name)
            note = found.note if found is not None else _begun(part, labels, waiting[0].time)
            taken: list[Entry] = []
            size = len(found.data) if found is not None else 0
            while waiting and (size + _size(waiting[0]) <= ROLL_AT or not note.blocks):
                taken.append(waiting.pop(0))
                size += _size(taken[-1])
                note = note.append(taken[-1])
            if not taken:
                numbers.append(part.number + 1)
                continue
            if not numbers:
                numbers.append(part.number)
            expected = found.revision if found is not None else ABSENT
            self.unit.put(self.unit.path(part.name), _counted(note), expected, taken)


def _size(entry: Entry) -> int:
    """About as many bytes as an entry takes."""
    return len(entry.text.encode("utf-8", "replace")) + sum(len(value) + 12 for _, value in entry.extra) + 160


def _begun(part: Part, labels: Labels, time: str) -> Note:
    front = Frontmatter("---\n", (), "---\n")
    fields: dict[str, Writable] = {**labels, "created": time, "updated": time, "entry_count": 0}
    for name, value in fields.items():
        front = front.put(name, value)
    return Note(front, f"# {part.name}\n\n", ())


def _counted(note: Note) -> Note:
    """With frontmatter that says when the newest entry was, and how many there are."""
    front = note.front.put("updated", max(note.front.text("updated"), note.blocks[-1].entry.time))
    return Note(front.put("entry_count", len(note.blocks)), note.lead, note.blocks)


def view_of_journal(folder: BookPath) -> View:
    """The view of whoever records: one project's journal."""
    return View(frozenset({folder}), frozenset({folder}))


def record(keep: Keep, folder: BookPath, manifest: Manifest, about: About, *, dated: bool = True) -> Written:
    """Put a run into the journal of a project. `dated`: the manifest itself said when the run ended."""
    path = run_folder(folder, manifest.run_id) / RUN_FILE
    with keep.unit(folder, view_of_journal(folder)) as unit:
        known = load(keep, view_of_journal(folder), path)
        differs = known is not None and _said(known, dated=dated) != _said(manifest, dated=dated)
        run = known if known is not None else manifest
        again = known is not None
        chains = Chains(unit)
        if again and _is_complete(chains, run, about):
            return Written("unchanged", path, differs)
        keep.vault.sweep(keep.space, path.parent)  # what a killed recording left half-made
        _stage_artifacts(unit, run, about, path)
        _stage_notes(chains, run, about, again=again)
        unit.commit()
        last = Unit(keep, unit.view, folder, unit.generation)  # under the same lock, durable after all of the above
        labels = labels_of("events", f"Runs of {run.finished[:10]}", about)
        Chains(last).append(event_base(run.finished), [run_entry(run, about)], labels)
        last.commit()
    return Written("completed" if again else "recorded", path, differs)


def load(keep: Keep, view: View, path: BookPath) -> Manifest | None:
    """A run as it was recorded; None when it was not."""
    try:
        data = keep.vault.read(keep.space, view, path).data
    except NotFound:
        return None
    try:
        given = json.loads(data.decode("utf-8"))
        return read_manifest(given, str(given["finished"]))
    except (ValueError, KeyError, TypeError, CommonplaceError, RecursionError):
        raise JournalDamaged(f"{path} is not what was written there.") from None


def rendered(manifest: Manifest) -> bytes:
    return (json.dumps(as_json(manifest), ensure_ascii=False, indent=1) + "\n").encode()


def _said(manifest: Manifest, *, dated: bool) -> object:
    """What two recordings of one run are compared by; a time that is only that of recording tells nothing."""
    said = as_json(manifest)
    if not dated:
        del said["finished"]
    return said


def _is_complete(chains: Chains, run: Manifest, about: About) -> bool:
    """Whether the timeline, or the summary of its month, has the run."""
    ident = run_entry(run, about).id
    return any(chains.has(base, ident) for base in (event_base(run.finished), summary_base(run.finished[:7])))


def _stage_artifacts(unit: Unit, run: Manifest, about: About, path: BookPath) -> None:
    """run.json first: once it is there, it stands. Files are not there, or are what they would be anyway."""
    wanted = {path: rendered(run)}
    for task in run.tasks:
        wanted[path.parent / task_file(task.id)] = artifact_text(run, task, about.project).encode()
    for place, data in wanted.items():
        stat = unit.keep.vault.stat(unit.keep.space, KEEPER, place)
        if stat is None:
            unit.put_aside(Write(place, data, ABSENT))
        elif place != path and unit.keep.vault.read(unit.keep.space, KEEPER, place).data != data:
            unit.put_aside(Write(place, data))  # a power cut left the file of a recording that never counted


def _stage_notes(chains: Chains, run: Manifest, about: About, *, again: bool) -> None:
    """What each worker did, and how it failed. Only a run that was begun before can be in there already."""
    for worker in dict.fromkeys(task.worker for task in run.tasks):
        tasks = [task for task in run.tasks if task.worker == worker]
        done = [task_entry(run, task, about) for task in tasks]
        _append(
            chains,
            worker_base(worker),
            done,
            labels_of("worker", f"What {short_name(worker)} did", about, worker),
            again,
        )
        failures = _failures(chains, run, about, worker)
        labels = labels_of("failures", f"How {short_name(worker)} failed, and what fixed it", about, worker)
        _append(chains, failure_base(worker), failures, labels, again)


def _append(chains: Chains, base: str, new: Sequence[Entry], labels: dict[str, str], again: bool) -> None:
    missing = [entry for entry in new if not (again and chains.has(base, entry.id))]
    if missing:
        chains.append(base, missing, labels)


def _failures(chains: Chains, run: Manifest, about: About, worker: str) -> list[Entry]:
    """The failures of a worker in this run, and what it did in spite of failures before, in the order of the tasks."""
    tasks = [task for task in run.tasks if task.worker == worker]
    if not any(task.status in (FAILED, "done") for task in tasks):
        return []
    before = open_failures(chains, worker, but=run.run_id)
    new: list[Entry] = []
    for task in tasks:
        work = work_of(worker, task.description)
        if task.status == FAILED:
            entry = failure_entry(run, task, about)
            new.append(entry)
            if work:
                before.setdefault(work, []).append(entry)
        elif task.status == "done" and work in before:
            new.append(fixed_entry(run, task, about, before.pop(work)))
    return new


def open_failures(chains: Chains, worker: str, *, but: str) -> dict[str, list[Entry]]:
    """The failures of a worker that nothing has fixed yet, by their work, oldest first; without those of one run."""
    found: dict[str, list[Entry]] = {}
    for entry in failures_of(chains, worker):
        said = attributes_of(entry)
        work = said.get("work", "")
        if not work or said.get("run") == but:
            continue
        if said.get("kind") == "fixed":
            found.pop(work, None)
        else:
            found.setdefault(work, []).append(entry)
    return found


def failures_of(chains: Chains, worker: str) -> list[Entry]:
    """The newest failures of a worker and what fixed them, oldest first."""
    notes = list(chains.notes(failure_base(worker), SEARCHED_PARTS))
    return [block.entry for found in reversed(notes) for block in found.note.blocks]


def labels_of(kind: str, summary: str, about: About, worker: str | None = None) -> dict[str, str]:
    labels = {"journal": kind, "project": about.project}
    if worker is not None:
        labels["worker"] = worker
    return {**labels, "summary": summary}
